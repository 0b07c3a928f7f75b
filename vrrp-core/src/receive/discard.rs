//! Why a packet is discarded.

use core::fmt;

use crate::{AdvertInterval, Version};

/// Why a packet was discarded. It changed no timer and no state.
///
/// The variants stand in the order in which [`validate`](super::validate) checks, which is that of
/// the conformance digest's section 2; each names its row there. What a variant carries is for the
/// person who reads the log line: two discards of one kind have the same [`name`](Self::name) and
/// [`index`](Self::index) whatever they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Discard {
    /// Fewer octets than the header has, or than it announces (rows 2.02 and 2.07; RFC 9568
    /// section 7.1, "the complete VRRP packet").
    #[error("truncated: {found} octets of {needed}")]
    Truncated {
        /// The octets that arrived.
        found: u16,
        /// The octets that the header needs, or that it says there are.
        needed: u16,
    },
    /// A multicast advertisement that may have crossed a router (row 2.03; RFC 9568 sections
    /// 5.1.1.3, 5.1.2.3 and 7.1).
    #[error("TTL {found}, and a multicast advertisement has 255")]
    TtlNot255 {
        /// The TTL or hop limit.
        found: u8,
    },
    /// A unicast advertisement from further away than is configured (row 2.13a, in the place of
    /// 2.03; no RFC).
    #[error("TTL {found}, and at least {min} is required")]
    TtlOutOfRange {
        /// The TTL or hop limit.
        found: u8,
        /// The lowest that is accepted.
        min: u8,
    },
    /// Another version than the router's, or v2 over IPv6 (row 2.04; RFC 9568 sections 5.2.1 and
    /// 7.1). An IP authentication header is read as version 7, and is refused here.
    #[error("{}", BadVersion(*found, *expected))]
    BadVersion {
        /// The version of the message.
        found: u8,
        /// The version of the router.
        expected: Version,
    },
    /// Not an advertisement (row 2.05; RFC 9568 section 5.2.2).
    #[error("message type {found}, and 1 (advertisement) is the only one known")]
    BadType {
        /// The type of the message.
        found: u8,
    },
    /// No address at all (row 2.06; RFC 9568 section 5.2.5 and erratum 8299).
    #[error("no address is listed")]
    CountZero,
    /// More octets than the header announces (row 2.08; no RFC, but deployed routers agree).
    #[error("{found} octets, and the header says {expected}")]
    LengthMismatch {
        /// The octets that arrived.
        found: u16,
        /// The octets that the header says there are.
        expected: u16,
    },
    /// The message was damaged, or its checksum covers something else than it should (row 2.09;
    /// RFC 9568 section 5.2.8, RFC 3768 section 5.3.8).
    #[error("wrong checksum {found:#06x}")]
    BadChecksum {
        /// The checksum of the message.
        found: u16,
    },
    /// VRID 0, which no router has (row 2.10; RFC 9568 section 5.2.3).
    #[error("VRID 0")]
    VridZero,
    /// The VRID of another virtual router (row 2.11; RFC 9568 section 7.1). Harmless: other groups
    /// may share the link.
    #[error("VRID {found} is not configured here")]
    VridUnknown {
        /// The VRID of the message.
        found: u8,
    },
    /// Multicast to a unicast router, the reverse, or another group (row 2.12; RFC 9568 sections
    /// 5.1.1.2 and 5.1.2.2).
    #[error("not addressed to this router")]
    BadDestination,
    /// An IPv6 multicast advertisement from a source that is not link-local (row 2.13; RFC 9568
    /// section 5.1.2.1).
    #[error("the IPv6 source address is not link-local")]
    BadSource,
    /// The source is no configured peer (row 2.13a; no RFC).
    #[error("the source is not one of the configured routers")]
    UnknownPeer,
    /// The router's own advertisement, looped back (row 2.14; no RFC). Or another router has the
    /// same address.
    #[error("the source is this router's own address")]
    OwnPacket,
    /// Addressed to the owner of the addresses, which follows nobody (row 2.15; RFC 9568
    /// section 7.1 as published, without erratum 8298).
    #[error("this router owns the addresses and follows nobody")]
    OwnerReceived,
    /// v2: an authentication type that was never assigned (row 2.16; RFC 3768 section 7.1).
    #[error("authentication type {found} is unknown")]
    AuthTypeInvalid {
        /// The authentication type of the message.
        found: u8,
    },
    /// v2: another authentication type than the router's (row 2.17; RFC 3768 section 7.1).
    #[error("authentication type {found}, and {expected} is configured")]
    AuthMismatch {
        /// The authentication type of the message.
        found: u8,
        /// The authentication type of the router.
        expected: u8,
    },
    /// v2: another password than the router's (row 2.18; RFC 2338 section 5.3.6.2).
    #[error("wrong password")]
    AuthFailure,
    /// An interval of zero, which would make whoever believes it claim at once (rows 2.19 and
    /// 2.20; erratum 8301).
    #[error("an interval of zero")]
    IntervalZero,
    /// v2: another interval than the router's (row 2.20; RFC 3768 section 7.1).
    #[error("interval {found}, and {expected} is configured")]
    IntervalMismatch {
        /// The interval of the message.
        found: AdvertInterval,
        /// The interval of the router.
        expected: AdvertInterval,
    },
    /// v3 over IPv6: the first address is not link-local (row 2.22; RFC 9568 section 5.2.9 and
    /// erratum 8300).
    #[error("the first address is not link-local")]
    FirstAddressNotLinkLocal,
    /// v2: other addresses than the router's, from a sender that does not own them (row 2.23;
    /// RFC 3768 section 7.1).
    #[error("other addresses than configured here")]
    AddressListMismatch,
}

impl Discard {
    /// How many kinds there are.
    pub const COUNT: usize = 22;

    /// One of every kind, in the order of [`index`](Self::index). What they carry means nothing.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Truncated { found: 0, needed: 8 },
        Self::TtlNot255 { found: 1 },
        Self::TtlOutOfRange { found: 1, min: 255 },
        Self::BadVersion { found: 1, expected: Version::V3 },
        Self::BadType { found: 2 },
        Self::CountZero,
        Self::LengthMismatch { found: 16, expected: 12 },
        Self::BadChecksum { found: 0 },
        Self::VridZero,
        Self::VridUnknown { found: 1 },
        Self::BadDestination,
        Self::BadSource,
        Self::UnknownPeer,
        Self::OwnPacket,
        Self::OwnerReceived,
        Self::AuthTypeInvalid { found: 3 },
        Self::AuthMismatch { found: 0, expected: 1 },
        Self::AuthFailure,
        Self::IntervalZero,
        Self::IntervalMismatch { found: AdvertInterval::MIN, expected: AdvertInterval::DEFAULT },
        Self::FirstAddressNotLinkLocal,
        Self::AddressListMismatch,
    ];

    /// The kind as a short word that does not change between releases, for metrics and tests.
    pub const fn name(self) -> &'static str {
        self.entry().1.split_at("discarded_".len()).1
    }

    /// Lengths as the variants carry them; no IP payload is longer than they can say.
    pub(crate) fn truncated(found: usize, needed: usize) -> Self {
        let [found, needed] = [found, needed].map(saturate);
        Self::Truncated { found, needed }
    }

    /// See [`truncated`](Self::truncated).
    pub(crate) fn length_mismatch(found: usize, expected: usize) -> Self {
        let [found, expected] = [found, expected].map(saturate);
        Self::LengthMismatch { found, expected }
    }

    /// The name of the kind's counter in [`Stats::named`](crate::Stats::named).
    pub(crate) const fn counter_name(self) -> &'static str {
        self.entry().1
    }

    /// The kind as a position in [`ALL`](Self::ALL), for tables with a place for each.
    pub const fn index(self) -> usize {
        self.entry().0
    }

    /// The index and the counter's name, of which the kind's name is the end.
    const fn entry(self) -> (usize, &'static str) {
        match self {
            Self::Truncated { .. } => (0, "discarded_truncated"),
            Self::TtlNot255 { .. } => (1, "discarded_ttl_not_255"),
            Self::TtlOutOfRange { .. } => (2, "discarded_ttl_out_of_range"),
            Self::BadVersion { .. } => (3, "discarded_bad_version"),
            Self::BadType { .. } => (4, "discarded_bad_type"),
            Self::CountZero => (5, "discarded_count_zero"),
            Self::LengthMismatch { .. } => (6, "discarded_length_mismatch"),
            Self::BadChecksum { .. } => (7, "discarded_bad_checksum"),
            Self::VridZero => (8, "discarded_vrid_zero"),
            Self::VridUnknown { .. } => (9, "discarded_vrid_unknown"),
            Self::BadDestination => (10, "discarded_bad_destination"),
            Self::BadSource => (11, "discarded_bad_source"),
            Self::UnknownPeer => (12, "discarded_unknown_peer"),
            Self::OwnPacket => (13, "discarded_own_packet"),
            Self::OwnerReceived => (14, "discarded_owner_received"),
            Self::AuthTypeInvalid { .. } => (15, "discarded_auth_type_invalid"),
            Self::AuthMismatch { .. } => (16, "discarded_auth_mismatch"),
            Self::AuthFailure => (17, "discarded_auth_failure"),
            Self::IntervalZero => (18, "discarded_interval_zero"),
            Self::IntervalMismatch { .. } => (19, "discarded_interval_mismatch"),
            Self::FirstAddressNotLinkLocal => (20, "discarded_first_address_not_link_local"),
            Self::AddressListMismatch => (21, "discarded_address_list_mismatch"),
        }
    }
}

// A discard travels in events and results; data for the log line must not make those large.
const _: () = assert!(size_of::<Discard>() <= 8);

fn saturate(len: usize) -> u16 {
    u16::try_from(len).unwrap_or(u16::MAX)
}

/// The text of [`Discard::BadVersion`]. The right version is refused for its family alone.
struct BadVersion(u8, Version);

impl fmt::Display for BadVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(2, Version::V2) => f.write_str("version 2 over IPv6"),
            Self(found, expected) => write!(f, "version {found}, and {expected} is configured"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    #[test]
    fn each_kind_has_its_place_name_and_text() {
        for (place, discard) in Discard::ALL.into_iter().enumerate() {
            assert_eq!(discard.index(), place, "{discard:?}");
        }
        let names: BTreeSet<_> = Discard::ALL.map(Discard::name).into();
        let texts: BTreeSet<_> = Discard::ALL.map(|d| d.to_string()).into();
        assert_eq!(names.len(), Discard::ALL.len());
        assert_eq!(texts.len(), Discard::ALL.len());
    }
}
