//! Section 1 of the conformance digest: what a message looks like, and what it may not.
//! `ledger.rs` says how the ids in the comments are used.
#![allow(clippy::unwrap_used)]

mod support;

use std::net::IpAddr;

use support::bad_packets::edit;
use support::probe::{Probe, config6, message};
use support::rack::{A, B, LINK, Rack, good};
use support::*;
use vrrp_core::receive::{
    AuthRule, ChecksumRule, DestinationRule, OwnerRule, ReceivePolicy, Warning, validate,
};
use vrrp_core::wire::{AdvertRepr, ChecksumStyle, PseudoHeader};
use vrrp_core::{
    AddrsError, AdvertInterval, AdvertSpec, Audience, ChecksumMode, Config, ConfigBuilder,
    ConfigError, ConfigWarning, GROUP_V4, GROUP_V6, Input, InsertError, Password, Priority,
    Profile, State, Version, VirtualAddrs, Vrid,
};

fn v2() -> ConfigBuilder {
    config().version(Version::V2)
}

fn group() -> IpAddr {
    IpAddr::V4(GROUP_V4)
}

fn plain() -> ConfigBuilder {
    config().checksum(ChecksumMode::MessageOnly)
}

/// What an Active with these settings sends.
fn sent(builder: ConfigBuilder) -> Vec<u8> {
    let bench = Bench::active(builder.build().unwrap());
    let value = bench.router.priority().value();
    message(&bench, group(), value)
}

fn addresses(count: usize) -> Vec<IpAddr> {
    (0..count).map(|n| IpAddr::from([10, 1, (n >> 8) as u8, n as u8])).collect()
}

fn with_count(count: usize) -> ConfigBuilder {
    Config::builder(Vrid::new(51).unwrap(), VirtualAddrs::new(&addresses(count)).unwrap())
}

fn sum(message: &[u8]) -> u16 {
    let words = message.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[test]
fn multicast_goes_to_the_group_of_its_family_and_unicast_never() {
    // digest: 1.02+ 1.02-
    let spec = |interval| AdvertSpec { audience: Audience::All, priority: None, interval };
    let to = |builder: ConfigBuilder| -> Vec<IpAddr> {
        let bench = Bench::new(builder.build().unwrap());
        bench.router.destinations(&spec(AdvertInterval::DEFAULT)).collect()
    };
    assert_eq!(to(config()), [ip("224.0.0.18")]);
    assert_eq!(to(v2()), [ip("224.0.0.18")]);
    assert_eq!(to(config6(&["fe80::10"])), [ip("ff02::12")]);
    assert_eq!(to(config().mode(unicast(&["192.0.2.2"]))), [ip("192.0.2.2")]);
}

#[test]
fn v2_is_for_ipv4_alone() {
    // digest: 1.11+ 1.11-
    assert!(v2().build().is_ok());
    let refused = config6(&["fe80::10"]).version(Version::V2).build();
    assert_eq!(refused.unwrap_err(), ConfigError::VersionFamily);
}

#[test]
fn one_vrid_is_two_routers_in_two_families_and_only_there() {
    // digest: 1.12+ 1.12-
    let six = config6(&["fe80::10"]).build().unwrap();
    let mut rack = Rack::new(&[(A, config().build().unwrap()), (B, six.clone())]);
    for (id, source) in [(A, "192.0.2.1"), (B, "fe80::1")] {
        rack.input(id, Input::Facts(vrrp_core::Facts { source: Some(ip(source)), ..good() }));
        rack.input(id, Input::Startup);
    }
    let (mut meta, message) = advert_from(&six, ip("fe80::2"), 200, six.interval());
    meta.checksum_verified = true;
    let (id, _) = rack.set.handle_packet(rack.now, LINK, &meta, &message).unwrap();
    assert_eq!(id, B);
    assert_eq!(rack.set.router(A).unwrap().snapshot().active, None);
    let third = Config::builder(Vrid::new(51).unwrap(), VirtualAddrs::new(&[OWN]).unwrap());
    let refused = rack.set.insert(rack.now, vrrp_core::RouterId(3), LINK, third.build().unwrap());
    assert_eq!(refused, Err(InsertError::SameGroup { other: A }));
}

#[test]
fn the_octets_of_v3_are_where_the_rfc_puts_them() {
    // digest: 1.20+ 1.21+ 1.22+ 1.24+ 1.25+ 1.26+ 1.28+ 1.30+
    let interval = AdvertInterval::from_centis(0x0abc).unwrap();
    let vips = VirtualAddrs::new(&[ip("192.0.2.20"), ip("192.0.2.10")]).unwrap();
    let builder = Config::builder(Vrid::new(51).unwrap(), vips).interval(interval);
    let wire = sent(builder);
    assert_eq!(wire[..4], [0x31, 51, 100, 2]);
    assert_eq!(wire[4..6], [0x0a, 0xbc]);
    assert_eq!(wire[8..], [192, 0, 2, 20, 192, 0, 2, 10]);
    assert_eq!(wire.len(), 8 + 2 * 4);
    let six = Bench::active(config6(&["fe80::10", "2001:db8::1"]).build().unwrap());
    let wire = message(&six, IpAddr::V6(GROUP_V6), 100);
    assert_eq!(wire.len(), 8 + 2 * 16);
}

#[test]
fn other_versions_and_types_are_not_taken_for_v3() {
    // digest: 1.20- 1.21-
    for version in (0..16).filter(|version| *version != 3) {
        Probe::new(config()).set(0, version << 4 | 1).discarded("bad_version");
    }
    for kind in (0..16).filter(|kind| *kind != 1) {
        Probe::new(config()).set(0, 0x30 | kind).discarded("bad_type");
    }
}

#[test]
fn vrid_count_and_interval_of_zero_are_never_valid() {
    // digest: 1.22- 1.24- 1.26-
    Probe::new(config()).set(1, 0).discarded("vrid_zero");
    Probe::new(config()).set(3, 0).discarded("count_zero");
    Probe::new(config()).set(5, 0).discarded("interval_zero");
    // The reserved bits do not make it another number.
    Probe::new(config()).set(4, 0xf0).set(5, 0).discarded("interval_zero");
    assert_eq!(Vrid::new(0), None);
}

#[test]
fn the_priority_says_who_sends() {
    // digest: 1.23+ 1.23-
    assert_eq!(sent(config())[2], 100);
    assert_eq!(sent(config().priority(Priority::OWNER))[2], 255);
    let mut bench = Bench::active(config().build().unwrap());
    assert_eq!(message(&bench, group(), 0)[2], 0);
    // No check makes an owner of a router that is none, and 0 is no priority to run with.
    bench.input(Input::PriorityChanged(Priority::OWNER));
    assert_eq!(bench.router.priority(), Priority::MAX_BACKUP);
    assert_eq!(Priority::new(0), None);
}

#[test]
fn reserved_bits_are_ignored() {
    // digest: 1.25-
    let accepted = Probe::new(config()).set(4, 0xf0).accepted();
    assert_eq!(accepted.warnings.iter().collect::<Vec<_>>(), [Warning::ReservedNonzero]);
    // They are inside the checksum all the same.
    Probe::new(config()).damage(4, 0xf0).discarded("bad_checksum");
}

#[test]
fn a_list_of_two_families_does_not_exist() {
    // digest: 1.28-
    let (first, other) = (ip("192.0.2.10"), ip("fe80::10"));
    let mixed = VirtualAddrs::new(&[first, other]);
    assert_eq!(mixed.unwrap_err(), AddrsError::MixedFamilies { first, other });
}

#[test]
fn the_first_ipv6_address_is_link_local() {
    // digest: 1.29+ 1.29-
    let strict = || config6(&["fe80::10", "2001:db8::10"]).profile(Profile::Rfc);
    Probe::new(strict()).accepted();
    Probe::new(strict()).damage(8, 0x20).discarded("first_address_not_link_local");
}

#[test]
fn v3_has_no_password() {
    // digest: 1.30- 6.09+ 6.09-
    let password = Some(Password::new(b"secret"));
    assert_eq!(config().password(password).build().unwrap_err(), ConfigError::PasswordVersion);
    assert!(v2().password(password).build().is_ok());
}

#[test]
fn the_octets_of_v2_are_where_the_rfc_puts_them() {
    // digest: 1.40+ 1.41+ 1.42+ 1.43+ 1.45+ 1.46+ 6.01+
    let three = AdvertInterval::from_centis(300).unwrap();
    let message = sent(v2().interval(three));
    assert_eq!(message[..6], [0x21, 51, 100, 1, 0, 3]);
    assert_eq!(message[8..12], [192, 0, 2, 10]);
    assert_eq!(message[12..], [0; 8]);
    let message = sent(v2().password(Some(Password::new(b"secret"))));
    assert_eq!(message[4], 1);
    assert_eq!(message[12..], *b"secret\0\0");
}

#[test]
fn v2_takes_nothing_that_is_not_as_configured() {
    // digest: 1.40- 1.41- 1.42- 1.43- 1.45- 1.46-
    Probe::new(v2()).set(0, 0x31).discarded("bad_version");
    Probe::new(v2()).set(0, 0x22).discarded("bad_type");
    Probe::new(v2()).set(1, 0).discarded("vrid_zero");
    Probe::new(v2()).set(3, 0).discarded("count_zero");
    Probe::new(v2()).set(4, 3).discarded("auth_type_invalid");
    Probe::new(v2()).set(4, 1).discarded("auth_mismatch");
    Probe::new(v2()).set(5, 2).discarded("interval_mismatch");
    Probe::new(v2().profile(Profile::Rfc)).set(11, 99).discarded("address_list_mismatch");
    let mut without_trailer = Probe::new(v2());
    without_trailer.message.truncate(12);
    without_trailer.discarded("truncated");
}

#[test]
fn a_v3_message_carries_the_checksum_that_is_asked_for() {
    // digest: 1.27+ 1.50+ 1.53+
    assert_eq!(sum(&sent(plain())), 0xffff);
}

#[test]
fn damage_is_found_in_every_octet() {
    // digest: 1.27- 1.50- 1.44-
    for builder in [config, v2] {
        let valid = Probe::new(builder());
        for at in 1..valid.message.len() {
            // The octets before the checksum's own place in the order have names of their own.
            let verdict = valid.clone().damage(at, valid.message[at] ^ 0x40).judge();
            assert!(verdict.is_err(), "octet {at}");
        }
        valid.clone().damage(6, valid.message[6] ^ 1).discarded("bad_checksum");
    }
}

#[test]
fn a_v2_checksum_covers_the_whole_message_and_no_pseudo_header() {
    // digest: 1.44+ 1.51+ 1.51-
    let message = sent(v2().password(Some(Password::new(b"secret"))));
    assert_eq!(sum(&message), 0xffff);
    // Whatever the style for v3.
    let pseudo = v2().checksum(ChecksumMode::PseudoHeader);
    assert_eq!(sum(&sent(pseudo)), 0xffff);
    let mut with_pseudo = Probe::new(v2());
    let header = [192, 0, 2, 2, 224, 0, 0, 18, 0, 112, 0, 20];
    let over = sum(&[&header[..], &with_pseudo.message[..6], &with_pseudo.message[8..]].concat());
    with_pseudo.message[6..8].copy_from_slice(&(!over).to_be_bytes());
    with_pseudo.discarded("bad_checksum");
}

#[test]
fn an_ipv6_checksum_covers_the_ipv6_pseudo_header() {
    // digest: 1.52+ 1.52-
    let config = config6(&["fe80::10"]).build().unwrap();
    let (meta, message) = advert_from(&config, ip("fe80::2"), 254, config.interval());
    let (IpAddr::V6(source), IpAddr::V6(group)) = (ip("fe80::2"), ip("ff02::12")) else { panic!() };
    let mut covered = [source.octets(), group.octets()].concat();
    covered.extend([0, 0, 0, 24, 0, 0, 0, 112]);
    covered.extend(&message);
    assert_eq!(sum(&covered), 0xffff);
    let mut probe = Probe { config, meta, message };
    probe.accepted();
    edit(&mut probe.message, 0, 0x31); // the message alone
    probe.discarded("bad_checksum");
}

#[test]
fn profile_rfc_takes_no_pseudo_header_over_ipv4() {
    // digest: 1.53-
    let rfc = || config().profile(Profile::Rfc);
    Probe::new(rfc()).accepted();
    let config = rfc().checksum(ChecksumMode::PseudoHeader).build().unwrap();
    let (meta, message) = advert_from(&config, ip("192.0.2.2"), 254, config.interval());
    Probe { config, meta, message }.discarded("bad_checksum");
}

#[test]
fn the_pseudo_header_over_ipv4_has_the_real_addresses() {
    // digest: 1.54+ 1.54-
    let message = sent(config().checksum(ChecksumMode::PseudoHeader));
    let header = [192, 0, 2, 1, 224, 0, 0, 18, 0, 112, 0, 12];
    assert_eq!(sum(&[&header[..], &message].concat()), 0xffff);
    let config = config().checksum(ChecksumMode::PseudoHeader).build().unwrap();
    let (meta, message) = advert_from(&config, ip("192.0.2.2"), 254, config.interval());
    let probe = Probe { config, meta, message };
    let warnings = probe.accepted().warnings;
    assert!(warnings.contains(Warning::LegacyPseudoHeaderChecksum));
    probe.from("192.0.2.3").discarded("bad_checksum");
}

#[test]
fn a_checksum_of_zero_is_sent_and_both_zeros_are_taken() {
    // digest: 1.57+ 1.57-
    let config_of = |host| {
        let vips = VirtualAddrs::new(&[IpAddr::from([10, 9, 9, host])]).unwrap();
        Config::builder(Vrid::new(51).unwrap(), vips).interval(AdvertInterval::MAX_V3)
    };
    let zero = (0..=255_u8)
        .flat_map(|host| (1..=254_u8).map(move |value| (host, value)))
        .map(|(host, value)| config_of(host).priority(priority(value)))
        .map(|builder| builder.checksum(ChecksumMode::MessageOnly).build().unwrap())
        .find(|config| {
            let bench = Bench::started(config.clone());
            message(&bench, group(), config.priority().value())[6..8] == [0, 0]
        });
    let config = zero.expect("one in 65535 messages has it");
    let bench = Bench::started(config.clone());
    let mut message = message(&bench, group(), config.priority().value());
    assert_eq!(sum(&message), 0xffff);
    let meta = Probe::new(support::config()).meta;
    for zero in [[0, 0], [0xff, 0xff]] {
        message[6..8].copy_from_slice(&zero);
        Probe { config: config.clone(), meta, message: message.clone() }.accepted();
    }
    message[6..8].copy_from_slice(&[0, 1]);
    Probe { config, meta, message }.discarded("bad_checksum");
}

#[test]
fn auto_follows_the_style_of_others_and_learns_nothing_from_a_packet_of_both() {
    // digest: 1.58+ 1.58- 8.03+ 8.03- 8.07+ 8.07- 8.10+ 8.10- A1+ A1-
    let style = |bench: &Bench| match sum(&message(bench, group(), 100)) {
        0xffff => ChecksumStyle::MessageOnly,
        _ => ChecksumStyle::PseudoHeader,
    };
    let hear = |bench: &mut Bench, mode, source| {
        let sender = config().checksum(mode).build().unwrap();
        let (meta, message) = advert_from(&sender, ip(source), 50, sender.interval());
        bench.packet(&meta, &message).unwrap()
    };
    let mut bench = Bench::started(config().build().unwrap());
    assert_eq!(style(&bench), ChecksumStyle::PseudoHeader);
    // A weaker router, not obeyed: heard all the same. Nothing sticks.
    for mode in [ChecksumMode::MessageOnly, ChecksumMode::PseudoHeader, ChecksumMode::MessageOnly] {
        let accepted = hear(&mut bench, mode, "192.0.2.2");
        let pseudo = mode == ChecksumMode::PseudoHeader;
        assert_eq!(accepted.warnings.contains(Warning::LegacyPseudoHeaderChecksum), pseudo);
        assert_eq!(style(&bench) == ChecksumStyle::PseudoHeader, pseudo);
    }
    // From 10.0.21.113, 12 octets to the group: the pseudo-header adds up to nothing.
    for mode in [ChecksumMode::PseudoHeader, ChecksumMode::MessageOnly] {
        let accepted = hear(&mut bench, mode, "10.0.21.113");
        assert!(accepted.warnings.is_empty(), "{accepted:?}");
        assert_eq!(style(&bench), ChecksumStyle::MessageOnly);
    }
    // Settings that name a style keep it.
    for mode in [ChecksumMode::PseudoHeader, ChecksumMode::MessageOnly] {
        let mut bench = Bench::started(config().checksum(mode).build().unwrap());
        let before = style(&bench);
        hear(&mut bench, ChecksumMode::PseudoHeader, "192.0.2.2");
        hear(&mut bench, ChecksumMode::MessageOnly, "192.0.2.2");
        assert_eq!(style(&bench), before);
    }
}

#[test]
fn octets_after_the_addresses_are_outside_the_checksum() {
    // digest: 1.59+ 1.59-
    let mut probe = Probe::new(config());
    probe.message.extend([0xde, 0xad]);
    probe.discarded("length_mismatch");
    let policy = ReceivePolicy {
        version: Version::V3,
        allow_v2_ipv6: false,
        vrid: Vrid::new(51).unwrap(),
        interval: AdvertInterval::DEFAULT,
        destination: DestinationRule::Multicast,
        min_ttl: 0,
        checksum: ChecksumRule::MessageOnly,
        auth: AuthRule::None,
        allow_trailing: true,
        require_first_link_local: false,
        require_link_local_source: false,
        sources: None,
        own_source: None,
        owner: OwnerRule::NotOwner,
        addresses: None,
        strict_v2_list: false,
    };
    let received = validate(&policy, &probe.meta, &probe.message).unwrap();
    assert_eq!(received.warnings.iter().collect::<Vec<_>>(), [Warning::TrailingBytes]);
}

#[test]
fn the_kernel_may_vouch_for_an_ipv6_checksum_and_for_no_other() {
    // digest: 1.60+ 1.60-
    let mut six = Probe::new(config6(&["fe80::10"])).damage(6, 0xaa);
    six.accepted();
    six.meta.checksum_verified = false;
    six.discarded("bad_checksum");
    let mut four = Probe::new(config()).damage(6, 0xaa);
    four.meta.checksum_verified = true;
    four.discarded("bad_checksum");
}

#[test]
fn the_largest_messages_are_as_large_as_the_format_says() {
    // digest: 1.70+ 1.70- 1.71+ 1.71- 1.72+ 1.72- 1.75+ 1.75-
    let six: Vec<IpAddr> =
        (1..=256_u16).map(|n| IpAddr::from([0xfe80, 0, 0, 0, 0, 0, 0, n])).collect();
    let six255 = VirtualAddrs::new(&six[..255]).unwrap();
    let six255 = Config::builder(Vrid::new(51).unwrap(), six255);
    for (builder, length) in [
        (with_count(255), 1028),
        (with_count(255).version(Version::V2), 1036),
        (six255, 4088),
        (with_count(1), 12),
    ] {
        let probe = Probe::new(builder);
        assert_eq!(probe.config.message_len(), length);
        assert_eq!(probe.message.len(), length);
        probe.accepted();
    }
    for list in [addresses(256), six] {
        let refused = VirtualAddrs::new(&list).unwrap_err();
        assert_eq!(refused, AddrsError::TooMany { count: 256, max: 255 });
    }
    assert_eq!(VirtualAddrs::new(&[]).unwrap_err(), AddrsError::Empty);
    // Below the configuration nothing refuses; what does not fit in the count is not sent.
    let list = addresses(300);
    let message = AdvertRepr {
        version: Version::V3,
        vrid: Vrid::new(51).unwrap(),
        priority: None,
        interval: AdvertInterval::DEFAULT,
        password: None,
        addresses: &list,
    };
    let header = PseudoHeader { source: OWN, destination: group() };
    let mut wire = [0; 2000];
    assert_eq!(message.emit(header, ChecksumStyle::MessageOnly, &mut wire), Ok(1028));
}

#[test]
fn many_addresses_are_remarked_upon_and_not_refused() {
    // digest: 1.76+ 1.76-
    let warnings = |count| with_count(count).build().unwrap().warnings().collect::<Vec<_>>();
    assert_eq!(warnings(20), []);
    assert_eq!(warnings(21), [ConfigWarning::ManyAddresses { count: 21 }]);
    assert_eq!(Bench::active(with_count(255).build().unwrap()).router.state(), State::Active);
}
