//! A packet with many faults is discarded for the first one in the order of RFC 9568 section 7.1,
//! and every reason to discard, with its switch, does what it says.

#![allow(clippy::unwrap_used, reason = "also in the helpers of tests")]

use std::collections::BTreeSet;
use std::net::IpAddr;

use vrrp_core::receive::{
    AuthRule, ChecksumRule, DestinationRule, Discard, OwnerRule, ReceivePolicy, RxMeta, Warning,
    validate,
};
use vrrp_core::wire::{AdvertRepr, ChecksumStyle, PseudoHeader, group};
use vrrp_core::{AdvertInterval, Family, Password, Priority, Version, Vrid};

/// A receiver and a packet for it, to be spoilt and repaired.
struct Case {
    policy: ReceivePolicy<'static>,
    meta: RxMeta,
    packet: Vec<u8>,
}

impl Case {
    /// A packet that nothing is wrong with.
    fn valid(version: Version, source: &str, addresses: &'static [IpAddr]) -> Self {
        let source: IpAddr = source.parse().unwrap();
        let destination = group(Family::of(source));
        let mut case = Self {
            policy: ReceivePolicy {
                version,
                allow_v2_ipv6: false,
                vrid: Vrid::new(7).unwrap(),
                interval: AdvertInterval::DEFAULT,
                destination: DestinationRule::Multicast,
                min_ttl: 0,
                checksum: ChecksumRule::MessageOnly,
                auth: AuthRule::None,
                allow_trailing: false,
                require_first_link_local: true,
                require_link_local_source: true,
                sources: None,
                own_source: None,
                owner: OwnerRule::NotOwner,
                addresses: Some(addresses),
                strict_v2_list: true,
            },
            meta: RxMeta {
                source,
                destination,
                ttl: 255,
                received_at: None,
                checksum_verified: false,
            },
            packet: vec![0; 4096],
        };
        let advert = AdvertRepr {
            version,
            vrid: case.policy.vrid,
            priority: Some(Priority::DEFAULT),
            interval: case.policy.interval,
            password: None,
            addresses,
        };
        let header = PseudoHeader { source, destination };
        let style = ChecksumStyle::MessageOnly;
        let len = advert.emit(header, style, &mut case.packet).unwrap();
        case.packet.truncate(len);
        case.assert_accepted(&[]);
        case
    }

    fn v3_ipv4() -> Self {
        const VIPS: &[IpAddr] = &[v4(198, 51, 100, 1)];
        Self::valid(Version::V3, "192.0.2.2", VIPS)
    }

    fn v2() -> Self {
        const VIPS: &[IpAddr] = &[v4(198, 51, 100, 1)];
        Self::valid(Version::V2, "192.0.2.2", VIPS)
    }

    fn v3_ipv6() -> Self {
        const VIPS: &[IpAddr] = &[v6(0xfe80, 0x5e), v6(0x2001, 0x100)];
        Self::valid(Version::V3, "fe80::2", VIPS)
    }

    /// Changes an octet and makes the checksum right again (RFC 1624, one word at a time).
    fn set(&mut self, at: usize, value: u8) {
        let word = at & !1;
        let before = self.word(word);
        self.packet[at] = value;
        let after = self.word(word);
        let sum = u32::from(!self.word(6)) + u32::from(!before) + u32::from(after);
        let sum = (sum & 0xffff) + (sum >> 16);
        let sum = (sum & 0xffff) + (sum >> 16);
        self.packet[6..8].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    }

    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.packet[at], self.packet[at + 1]])
    }

    #[track_caller]
    fn assert_accepted(&self, warnings: &[Warning]) {
        let received = validate(&self.policy, &self.meta, &self.packet).unwrap();
        assert_eq!(received.warnings, warnings.iter().copied().collect());
    }

    #[track_caller]
    fn assert_discarded(&self, discard: Discard) {
        let result = validate(&self.policy, &self.meta, &self.packet);
        assert_eq!(result, Err(discard));
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(std::net::Ipv4Addr::new(a, b, c, d))
}

const fn v6(first: u16, last: u16) -> IpAddr {
    IpAddr::V6(std::net::Ipv6Addr::new(first, 0, 0, 0, 0, 0, 0, last))
}

/// Everything is wrong; what is found is repaired, and the next fault in the order is found.
#[test]
fn faults_are_found_in_the_order_of_the_rfc() {
    let mut seen = BTreeSet::new();
    let mut find = |case: &Case, name: &'static str| {
        let discard = validate(&case.policy, &case.meta, &case.packet).unwrap_err();
        assert_eq!(discard.name(), name);
        seen.insert(name);
    };

    // v3 over IPv6, multicast.
    let mut case = Case::v3_ipv6();
    let valid = case.packet.clone();
    case.policy.sources = Some(&[]);
    case.policy.own_source = Some(v6(0xfe80, 2));
    case.policy.owner = OwnerRule::Discard;
    case.meta.ttl = 254;
    case.meta.source = v6(0x2001, 2);
    case.meta.destination = v6(0xff02, 1);
    case.packet = vec![0xff; 7];
    find(&case, "truncated");
    case.packet = vec![0; 8];
    case.packet[..8].copy_from_slice(&[0x42, 0, 100, 0, 0, 0, 0xba, 0xad]);
    find(&case, "ttl_not_255");
    case.meta.ttl = 255;
    find(&case, "bad_version");
    case.packet[0] = 0x32;
    find(&case, "bad_type");
    case.packet[0] = 0x31;
    find(&case, "count_zero");
    case.packet[3] = 2;
    find(&case, "truncated");
    case.packet.extend(&valid[8..]);
    case.packet.extend([0; 4]);
    find(&case, "length_mismatch");
    case.packet.truncate(valid.len());
    find(&case, "bad_checksum");
    // From here on the kernel vouches for the checksum, which the further faults would change.
    case.meta.checksum_verified = true;
    find(&case, "vrid_zero");
    case.packet[1] = 8;
    find(&case, "vrid_unknown");
    case.packet[1] = 7;
    find(&case, "bad_destination");
    case.meta.destination = group(Family::V6);
    find(&case, "bad_source");
    case.meta.source = v6(0xfe80, 2);
    find(&case, "unknown_peer");
    case.policy.sources = None;
    find(&case, "own_packet");
    case.policy.own_source = None;
    find(&case, "owner_received");
    case.policy.owner = OwnerRule::NotOwner;
    case.packet[8] = 0x20;
    find(&case, "interval_zero");
    case.packet[5] = 100;
    find(&case, "first_address_not_link_local");
    case.packet[8] = 0xfe;
    case.assert_accepted(&[]);

    // v2, unicast: what v3 does not have.
    let mut case = Case::v2();
    case.policy.destination = DestinationRule::Unicast;
    case.policy.min_ttl = 100;
    case.policy.addresses = Some(&[]);
    case.policy.auth = AuthRule::Pass(Password::new(b"right"));
    case.policy.owner = OwnerRule::Discard;
    case.meta.ttl = 99;
    case.set(0, 0x31);
    case.set(4, 3);
    case.set(5, 0);
    case.set(12, b'w');
    find(&case, "ttl_out_of_range");
    case.meta.ttl = 100;
    find(&case, "bad_version");
    case.set(0, 0x21);
    find(&case, "bad_destination");
    case.meta.destination = v4(192, 0, 2, 3);
    find(&case, "owner_received");
    case.policy.owner = OwnerRule::NotOwner;
    find(&case, "auth_type_invalid");
    case.set(4, 2);
    find(&case, "auth_mismatch");
    case.set(4, 1);
    find(&case, "auth_failure");
    for (at, &octet) in b"right\0\0\0".iter().enumerate() {
        case.set(12 + at, octet);
    }
    find(&case, "interval_zero");
    case.set(5, 2);
    find(&case, "interval_mismatch");
    case.set(5, 1);
    find(&case, "address_list_mismatch");
    case.policy.addresses = None;
    case.assert_accepted(&[]);

    let all: BTreeSet<_> = Discard::ALL.map(Discard::name).into();
    assert_eq!(seen, all, "each reason was found at least once");
}

#[test]
fn discards_tell_what_was_found() {
    let mut case = Case::v3_ipv4();
    case.meta.ttl = 64;
    case.assert_discarded(Discard::TtlNot255 { found: 64 });

    for found in [6, 8] {
        let mut case = Case::v3_ipv4();
        case.set(1, found);
        case.assert_discarded(Discard::VridUnknown { found });
    }

    let mut case = Case::v3_ipv4();
    case.packet.pop();
    case.assert_discarded(Discard::Truncated { found: 11, needed: 12 });

    let mut case = Case::v3_ipv4();
    case.packet.extend([0; 5]);
    case.assert_discarded(Discard::LengthMismatch { found: 17, expected: 12 });

    let mut case = Case::v2();
    case.set(5, 3);
    let text = validate(&case.policy, &case.meta, &case.packet).unwrap_err().to_string();
    assert_eq!(text, "interval 3s, and 1s is configured");
}

#[test]
fn a_router_does_not_hear_itself() {
    let mut case = Case::v3_ipv4();
    case.policy.own_source = Some(case.meta.source);
    case.assert_discarded(Discard::OwnPacket);
}

#[test]
fn an_owner_hears_others_or_does_not() {
    let mut case = Case::v3_ipv4();
    case.policy.owner = OwnerRule::Process;
    case.assert_accepted(&[Warning::OwnerReceived]);
    case.policy.owner = OwnerRule::Discard;
    case.assert_discarded(Discard::OwnerReceived);
}

#[test]
fn a_list_of_sources_binds_multicast_too() {
    const KNOWN: &[IpAddr] = &[v4(192, 0, 2, 1), v4(192, 0, 2, 2)];
    let mut case = Case::v3_ipv4();
    case.policy.sources = Some(KNOWN);
    case.assert_accepted(&[]);
    case.policy.sources = Some(&KNOWN[..1]);
    case.assert_discarded(Discard::UnknownPeer);
}

#[test]
fn a_global_ipv6_source_is_accepted_on_request() {
    let mut case = Case::v3_ipv6();
    case.meta.source = v6(0x2001, 2);
    case.meta.checksum_verified = true;
    case.assert_discarded(Discard::BadSource);
    case.policy.require_link_local_source = false;
    case.assert_accepted(&[]);
}

#[test]
fn unicast_routers_take_anything_but_multicast() {
    let mut case = Case::v3_ipv4();
    case.policy.destination = DestinationRule::Unicast;
    case.assert_discarded(Discard::BadDestination);
    case.meta.destination = v4(203, 0, 113, 77);
    case.assert_accepted(&[]);

    // No IP packet has two families; a driver that mixed them up must not be believed.
    case.meta.destination = v6(0x2001, 77);
    case.assert_discarded(Discard::BadDestination);
}

#[test]
fn a_v2_router_takes_another_list_unless_told_to_be_strict() {
    let mut case = Case::v2();
    case.policy.addresses = Some(&[]);
    case.assert_discarded(Discard::AddressListMismatch);
    case.policy.strict_v2_list = false;
    case.assert_accepted(&[Warning::AddressListMismatch]);
    case.policy.strict_v2_list = true;
    case.set(2, 255);
    case.assert_accepted(&[Warning::AddressListMismatch]);
}

#[test]
fn the_kernel_is_believed_about_ipv6_checksums_only() {
    let mut case = Case::v3_ipv6();
    case.packet[6] ^= 1;
    let found = case.word(6);
    case.assert_discarded(Discard::BadChecksum { found });
    case.meta.checksum_verified = true;
    case.assert_accepted(&[]);

    // No kernel verifies VRRP over IPv4.
    let mut case = Case::v3_ipv4();
    case.packet[6] ^= 1;
    let found = case.word(6);
    case.meta.checksum_verified = true;
    case.assert_discarded(Discard::BadChecksum { found });
}

#[test]
fn v2_over_ipv6_has_no_place_for_a_password() {
    let mut case = Case::v3_ipv6();
    case.policy.version = Version::V2;
    case.policy.allow_v2_ipv6 = true;
    case.policy.auth = AuthRule::Pass(Password::new(b""));
    case.set(0, 0x21);
    case.set(4, 1);
    case.set(5, 1);
    case.assert_discarded(Discard::AuthFailure);
}

#[test]
fn only_v3_asks_for_a_link_local_first_address() {
    let mut case = Case::v3_ipv6();
    case.policy.version = Version::V2;
    case.policy.allow_v2_ipv6 = true;
    case.policy.addresses = None;
    case.set(0, 0x21);
    case.set(4, 0);
    case.set(5, 1);
    case.set(8, 0x20);
    case.assert_accepted(&[]);
}

#[test]
fn several_oddities_are_all_remarked_upon() {
    let mut case = Case::v3_ipv6();
    case.policy.require_first_link_local = false;
    case.policy.allow_trailing = true;
    case.policy.owner = OwnerRule::Process;
    case.set(4, 0xf1);
    case.set(8, 0x20);
    case.packet.push(0);
    case.assert_accepted(&[
        Warning::AddressListMismatch,
        Warning::IntervalMismatch,
        Warning::ReservedNonzero,
        Warning::TrailingBytes,
        Warning::FirstAddressNotLinkLocal,
        Warning::OwnerReceived,
    ]);

    // The seventh is of IPv4 alone, and of a receiver that takes both checksums.
    let mut case = Case::v3_ipv4();
    case.policy.checksum = ChecksumRule::Either;
    let len = case.packet.len() as u16;
    let sum = [0xc000, 0x0202, 0xe000, 0x0012, 112, len, !case.word(6)].map(u32::from);
    let sum: u32 = sum.into_iter().sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    case.packet[6..8].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    case.assert_accepted(&[Warning::LegacyPseudoHeaderChecksum]);
}
