//! What is odd about packets that are accepted all the same.

use core::fmt;

/// What is odd about a packet that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// Other addresses than the local ones (row 2.23).
    AddressListMismatch,
    /// v3 over IPv4 with a pseudo-header in its checksum, as keepalived and FRR send it, while
    /// RFC 9568 section 5.2.8 has none (row 2.09). Expected in a mixed group.
    LegacyPseudoHeaderChecksum,
    /// A v3 interval that differs from the local one (row 2.21; RFC 9568 section 7.1).
    IntervalMismatch,
    /// v3: the reserved bits are not zero (row 2.24; RFC 9568 section 5.2.6).
    ReservedNonzero,
    /// Octets after the message were cut off (row 2.08).
    TrailingBytes,
    /// v3 over IPv6 multicast: the first address is not link-local (row 2.22; RFC 9568
    /// section 5.2.9).
    FirstAddressNotLinkLocal,
    /// Another router advertises although this one owns the addresses (row 2.15; erratum 8298).
    OwnerReceived,
}

impl Warning {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// All of them, in the order of [`index`](Self::index).
    pub const ALL: [Self; Self::COUNT] = [
        Self::AddressListMismatch,
        Self::LegacyPseudoHeaderChecksum,
        Self::IntervalMismatch,
        Self::ReservedNonzero,
        Self::TrailingBytes,
        Self::FirstAddressNotLinkLocal,
        Self::OwnerReceived,
    ];

    /// A short word that does not change between releases, for metrics and tests.
    pub const fn name(self) -> &'static str {
        self.counter_name().split_at("warned_".len()).1
    }

    /// The name of the warning's counter in [`Stats::named`](crate::Stats::named), of which the
    /// warning's own name is the end.
    pub(crate) const fn counter_name(self) -> &'static str {
        match self {
            Self::AddressListMismatch => "warned_address_list_mismatch",
            Self::LegacyPseudoHeaderChecksum => "warned_legacy_pseudo_header_checksum",
            Self::IntervalMismatch => "warned_interval_mismatch",
            Self::ReservedNonzero => "warned_reserved_nonzero",
            Self::TrailingBytes => "warned_trailing_bytes",
            Self::FirstAddressNotLinkLocal => "warned_first_address_not_link_local",
            Self::OwnerReceived => "warned_owner_received",
        }
    }

    /// The position in [`ALL`](Self::ALL), for tables with a place for each.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddressListMismatch => "other addresses than configured here",
            Self::LegacyPseudoHeaderChecksum => {
                "the checksum has a pseudo-header, which RFC 9568 does not"
            }
            Self::IntervalMismatch => "another interval than configured here",
            Self::ReservedNonzero => "reserved bits are not zero",
            Self::TrailingBytes => "octets after the message were ignored",
            Self::FirstAddressNotLinkLocal => "the first address is not link-local",
            Self::OwnerReceived => "another router advertises the addresses that this one owns",
        })
    }
}

/// A set of [`Warning`]s.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Warnings(u16);

impl Warnings {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `warning` is among them.
    pub const fn contains(self, warning: Warning) -> bool {
        self.0 & Self::bit(warning) != 0
    }

    /// Adds `warning`.
    pub const fn insert(&mut self, warning: Warning) {
        self.0 |= Self::bit(warning);
    }

    /// Those in the set, in the order of [`Warning::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Warning> {
        Warning::ALL.into_iter().filter(move |&w| self.contains(w))
    }

    const fn bit(warning: Warning) -> u16 {
        1 << warning.index()
    }
}

impl FromIterator<Warning> for Warnings {
    fn from_iter<I: IntoIterator<Item = Warning>>(warnings: I) -> Self {
        let mut set = Self::NONE;
        for warning in warnings {
            set.insert(warning);
        }
        set
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn each_warning_has_its_place_name_and_text() {
        for (place, warning) in Warning::ALL.into_iter().enumerate() {
            assert_eq!(warning.index(), place, "{warning:?}");
        }
        let names: BTreeSet<_> = Warning::ALL.map(Warning::name).into();
        let texts: BTreeSet<_> = Warning::ALL.map(|w| w.to_string()).into();
        assert_eq!(names.len(), Warning::ALL.len());
        assert_eq!(texts.len(), Warning::ALL.len());
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        for chosen in 0..1u16 << Warning::ALL.len() {
            let put: Vec<_> =
                Warning::ALL.into_iter().filter(|w| chosen >> w.index() & 1 == 1).collect();
            let set: Warnings = put.iter().copied().collect();
            assert_eq!(set.iter().collect::<Vec<_>>(), put);
            assert_eq!(set.is_empty(), put.is_empty());
        }
    }
}
