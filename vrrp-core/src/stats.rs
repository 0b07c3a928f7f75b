//! Counters, after RFC 8347 (YANG) and RFC 6527 (MIB).

/// Counters of one router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {}
