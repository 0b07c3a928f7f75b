//! Virtual router identifiers.

use core::fmt;
use core::num::NonZeroU8;

/// A virtual router identifier (VRID), 1–255 (RFC 9568 section 5.2.3).
///
/// It names a virtual router on one link and for one address family: the same VRID on another
/// link, or for the other family, is another router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vrid(NonZeroU8);

impl Vrid {
    /// `None` for 0, which is never valid.
    pub const fn new(value: u8) -> Option<Self> {
        match NonZeroU8::new(value) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }

    /// The value as it stands on the wire.
    pub const fn value(self) -> u8 {
        self.0.get()
    }
}

impl fmt::Display for Vrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
