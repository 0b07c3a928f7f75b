//! Sections 2, 6 and 7 of the conformance digest: what is taken from another router, and what is
//! not. `ledger.rs` says how the ids in the comments are used.
#![allow(clippy::unwrap_used)]

mod support;

use std::net::IpAddr;

use support::probe::{Probe, config6, message};
use support::rack::{A, B, LINK, Rack, member};
use support::*;
use vrrp_core::receive::{Outcome, Warning};
use vrrp_core::{
    Action, AddrsError, AdvertInterval, AdvertSpec, Audience, ChecksumMode, ConfigBuilder,
    ConfigWarning, GROUP_V4, Input, InsertError, Mode, Password, Priority, Profile, State,
    UnicastPeers, Version,
};

fn v2() -> ConfigBuilder {
    config().version(Version::V2)
}

fn rfc() -> ConfigBuilder {
    config().profile(Profile::Rfc)
}

fn pass(password: &[u8]) -> ConfigBuilder {
    v2().password(Some(Password::new(password)))
}

fn peers() -> ConfigBuilder {
    config().mode(unicast(&["192.0.2.2", "192.0.2.3"]))
}

fn warnings(probe: &Probe) -> Vec<Warning> {
    probe.accepted().warnings.iter().collect()
}

/// Each row has its packet: one that is as it should be, and one that is not.
#[test]
fn what_is_in_order_is_accepted_without_remark() {
    // digest: 2.02+ 2.03+ 2.04+ 2.05+ 2.06+ 2.07+ 2.08+ 2.09+ 2.10+ 2.11+ 2.12+ 2.14+ 2.16+ 2.17+
    // digest: 2.18+ 2.19+ 2.20+ 2.25+
    for builder in [config(), v2(), pass(b"secret"), rfc(), peers(), config6(&["fe80::10"])] {
        let probe = Probe::new(builder);
        let mut bench = Bench::started(probe.config.clone());
        let accepted = bench.packet(&probe.meta, &probe.message).unwrap();
        assert_eq!(accepted.outcome, Outcome::Followed);
        assert!(accepted.warnings.is_empty(), "{accepted:?}");
        assert_eq!(bench.router.stats().adverts_received, 1);
        assert_eq!(bench.router.stats().priority_zero_received, 0);
    }
}

#[test]
fn what_is_not_complete_is_discarded() {
    // digest: 2.02- 2.07-
    for builder in [config(), v2()] {
        let valid = Probe::new(builder);
        for length in 0..valid.message.len() {
            let mut probe = valid.clone();
            probe.message.truncate(length);
            probe.discarded("truncated");
        }
    }
}

#[test]
fn what_may_have_crossed_a_router_is_discarded() {
    // digest: 2.03-
    for builder in [config(), v2(), config6(&["fe80::10"])] {
        for ttl in [0, 1, 64, 254] {
            Probe::new(builder.clone()).ttl(ttl).discarded("ttl_not_255");
        }
    }
}

#[test]
fn another_version_type_or_count_is_discarded() {
    // digest: 2.04- 2.05- 2.06- A15+ A15-
    Probe::new(config()).set(0, 0x21).discarded("bad_version");
    Probe::new(v2()).set(0, 0x31).discarded("bad_version");
    Probe::new(config()).set(0, 0x30).discarded("bad_type");
    // The count comes before the length that follows from it.
    let mut probe = Probe::new(config()).set(3, 0);
    probe.discarded("count_zero");
    probe.message.truncate(8);
    probe.discarded("count_zero");
    probe.message[3] = 1;
    probe.discarded("truncated");
}

#[test]
fn what_follows_the_message_is_not_accepted() {
    // digest: 2.08- 8.18+ 8.18- A3+ A3- 6.11+ 6.11-
    for extra in [1, 4, 6, 28] {
        let valid = Probe::new(config());
        valid.accepted();
        let mut probe = valid;
        probe.message.extend(vec![0; extra]);
        probe.discarded("length_mismatch");
    }
}

#[test]
fn a_wrong_checksum_or_vrid_is_discarded() {
    // digest: 2.09- 2.10- 2.11-
    Probe::new(config()).damage(6, 0xaa).discarded("bad_checksum");
    Probe::new(config()).set(1, 0).discarded("vrid_zero");
    Probe::new(config()).set(1, 52).discarded("vrid_unknown");
}

#[test]
fn what_is_not_for_this_router_is_discarded() {
    // digest: 2.12- 7.07+ 7.07-
    Probe::new(config()).to("192.0.2.1").set(0, 0x31).discarded("bad_destination");
    Probe::new(config()).to("224.0.0.19").set(0, 0x31).discarded("bad_destination");
    Probe::new(peers()).to("224.0.0.18").set(0, 0x31).discarded("bad_destination");
    Probe::new(peers()).to("192.0.2.1").set(0, 0x31).accepted();
}

#[test]
fn an_ipv6_source_is_link_local_on_multicast_and_need_not_be_on_unicast() {
    // digest: 2.13+ 2.13- 7.08+ 7.08- A12+ A12-
    Probe::new(config6(&["fe80::10"])).accepted();
    Probe::new(config6(&["fe80::10"])).from("2001:db8::2").discarded("bad_source");
    let list = UnicastPeers::new(&[ip("2001:db8::2")]).unwrap();
    // Nor need the first VIP be link-local there.
    let unicast6 = config6(&["2001:db8::10"]).mode(Mode::Unicast(list));
    let probe = Probe::new(unicast6).from("2001:db8::2");
    assert_eq!(warnings(&probe), []);
    probe.from("fe80::2").discarded("unknown_peer");
}

#[test]
fn unicast_hears_its_peers_and_from_no_further_than_it_is_told() {
    // digest: 2.13a+ 2.13a- 7.05+ 7.05- 7.06+ 7.06- 7.12+ 7.12-
    Probe::new(peers()).accepted();
    Probe::new(peers()).from("192.0.2.9").set(0, 0x31).discarded("unknown_peer");
    // Off-link peers are the default, so any TTL is taken.
    Probe::new(peers()).ttl(1).accepted();
    Probe::new(peers().unicast_min_ttl(254)).ttl(254).accepted();
    Probe::new(peers().unicast_min_ttl(255)).ttl(254).discarded("ttl_out_of_range");
}

#[test]
fn its_own_packets_are_not_news() {
    // digest: 2.14- 4.306+ 4.306- A11+ A11-
    Probe::new(config()).from("192.0.2.1").set(0, 0x31).discarded("own_packet");
    // Nor is an Active moved by another router with its address and priority.
    let mut bench = Bench::active(config().build().unwrap());
    let probe = Probe::new(config()).from("192.0.2.1").set(2, 100);
    let before = bench.router.snapshot();
    assert!(bench.packet(&probe.meta, &probe.message).is_err());
    assert_eq!(bench.router.snapshot(), before);
    assert_eq!(bench.drain(), []);
    assert!(!bench.events().is_empty());
}

#[test]
fn an_owner_hears_others_unless_it_is_strict() {
    // digest: 2.15+ 2.15- 4.307+ 4.307- A2+ A2-
    let owner = || config().priority(Priority::OWNER);
    let accepted = Probe::new(owner()).accepted();
    assert_eq!(accepted.outcome, Outcome::Asserted);
    assert!(accepted.warnings.contains(Warning::OwnerReceived));
    Probe::new(owner().profile(Profile::Rfc)).discarded("owner_received");
}

#[test]
fn v2_authentication_is_what_is_configured() {
    // digest: 2.16- 2.17- 2.18- 6.08+ 6.08- 6.10+ 6.10-
    for unknown in [3, 4, 255] {
        Probe::new(v2()).set(4, unknown).discarded("auth_type_invalid");
    }
    Probe::new(v2()).set(4, 1).discarded("auth_mismatch");
    Probe::new(pass(b"secret")).set(4, 0).discarded("auth_mismatch");
    // AH is known by its number, and never configured.
    Probe::new(v2()).set(4, 2).discarded("auth_mismatch");
    Probe::new(pass(b"secret")).set(12, b'S').discarded("auth_failure");
    // Whatever is wrong, nothing happens but a count under its own name.
    let probe = Probe::new(pass(b"secret")).set(12, b'S');
    let mut bench = Bench::started(probe.config.clone());
    let due = bench.router.poll_timeout();
    let discard = bench.packet(&probe.meta, &probe.message).unwrap_err();
    assert_eq!(bench.router.stats().discarded(discard), 1);
    assert_eq!(bench.router.poll_timeout(), due);
}

#[test]
fn the_trailer_is_summed_and_means_nothing_without_a_password() {
    // digest: 6.01-
    Probe::new(v2()).set(15, 0xff).accepted();
    Probe::new(v2()).damage(15, 0xff).discarded("bad_checksum");
}

#[test]
fn a_password_is_eight_octets_all_of_which_count() {
    // digest: 6.02+ 6.02- 6.03+ 6.03-
    let probe = Probe::new(pass(b"secret"));
    assert_eq!(probe.message[12..], *b"secret\0\0");
    probe.accepted();
    for at in 12..20 {
        probe.clone().set(at, probe.message[at] ^ 1).discarded("auth_failure");
    }
    // What is longer is cut, and said to be: the peer's ninth octet does not matter.
    let long = pass(b"12345678ignored").build().unwrap();
    assert_eq!(long.warnings().collect::<Vec<_>>(), [ConfigWarning::PasswordCut]);
    let Probe { meta, message, .. } = Probe::new(pass(b"12345678"));
    Probe { config: long, meta, message }.accepted();
    assert_eq!(pass(b"s3cret!!").build().unwrap().warnings().count(), 0);
}

#[test]
fn an_interval_of_zero_is_discarded_and_moves_no_timer() {
    // digest: 2.19- A5+ A5-
    let probe = Probe::new(config()).set(5, 0);
    let mut bench = Bench::started(probe.config.clone());
    let due = bench.router.poll_timeout();
    bench.sleep(millis(500));
    assert!(bench.packet(&probe.meta, &probe.message).is_err());
    assert_eq!(bench.router.poll_timeout(), due);
    Probe::new(config()).set(5, 1).accepted();
}

#[test]
fn v2_wants_its_interval_and_v3_remarks_upon_another() {
    // digest: 2.20- 2.21+ 2.21-
    Probe::new(v2()).set(5, 0).discarded("interval_zero");
    Probe::new(v2()).set(5, 2).discarded("interval_mismatch");
    assert_eq!(warnings(&Probe::new(config()).set(5, 99)), [Warning::IntervalMismatch]);
    assert_eq!(warnings(&Probe::new(config())), []);
}

#[test]
fn the_first_ipv6_address_is_link_local_or_remarked_upon() {
    // digest: 2.22+ 2.22- A13+ A13-
    let rows = |builder: ConfigBuilder| Probe::new(builder).damage(8, 0x20);
    let both = || config6(&["fe80::10", "2001:db8::10"]);
    let expected = [Warning::FirstAddressNotLinkLocal, Warning::AddressListMismatch];
    let found = warnings(&rows(both()));
    assert!(expected.iter().all(|warning| found.contains(warning)), "{found:?}");
    rows(both().profile(Profile::Rfc)).discarded("first_address_not_link_local");
    // Clusters with one global VIP exist: sent too, with a warning at configuration.
    let global = config6(&["2001:db8::10"]);
    assert_eq!(global.clone().build().unwrap().warnings().count(), 1);
    assert!(global.profile(Profile::Rfc).build().is_err());
}

#[test]
fn another_address_list_is_an_event_unless_v2_is_strict() {
    // digest: 2.23+ 2.23- A6+ A6- A7+ A7-
    for builder in [config(), rfc(), v2()] {
        let expected = [Warning::AddressListMismatch];
        assert_eq!(warnings(&Probe::new(builder).set(11, 99)), expected);
    }
    let strict = || rfc().version(Version::V2);
    Probe::new(strict()).set(11, 99).discarded("address_list_mismatch");
    // The owner decides what the addresses are.
    assert_eq!(
        warnings(&Probe::new(strict()).set(11, 99).set(2, 255)),
        [Warning::AddressListMismatch]
    );
}

#[test]
fn reserved_bits_are_remarked_upon_and_ignored() {
    // digest: 2.24+ 2.24-
    assert_eq!(warnings(&Probe::new(config()).set(4, 0x10)), [Warning::ReservedNonzero]);
    assert_eq!(warnings(&Probe::new(config())), []);
}

#[test]
fn only_what_passed_reaches_the_state_machine() {
    // digest: 2.25-
    let zero = Probe::new(config()).set(2, 0);
    let mut bench = Bench::started(zero.config.clone());
    bench.packet(&zero.meta, &zero.message).unwrap();
    assert_eq!(bench.router.stats().priority_zero_received, 1);
    bench.packet(&zero.meta, &zero.message[..11]).unwrap_err();
    assert_eq!(bench.router.stats().adverts_received, 1);
}

#[test]
fn v2_over_ipv6_is_not_spoken() {
    // digest: 8.02+ 8.02-
    let v3 = Probe::new(config6(&["fe80::10"]));
    v3.accepted();
    v3.damage(0, 0x21).discarded("bad_version");
    assert!(config6(&["fe80::10"]).version(Version::V2).build().is_err());
}

#[test]
fn v2_expresses_whole_seconds_and_is_not_rounded() {
    // digest: 8.01+ 8.01- 8.15+ 8.15-
    let seconds = |centis| v2().interval(AdvertInterval::from_centis(centis).unwrap());
    let probe = Probe::new(seconds(200));
    assert_eq!(probe.message[5], 2);
    probe.accepted();
    for centis in [1, 50, 99, 101, 250] {
        assert!(seconds(centis).build().is_err(), "{centis}");
    }
}

// Section 7: unicast on sending.

fn copies(builder: ConfigBuilder) -> Vec<(IpAddr, Vec<u8>)> {
    let bench = Bench::active(builder.build().unwrap());
    let spec = AdvertSpec {
        audience: Audience::All,
        priority: Some(Priority::DEFAULT),
        interval: bench.router.config().interval(),
    };
    let destinations: Vec<IpAddr> = bench.router.destinations(&spec).collect();
    destinations.into_iter().map(|to| (to, message(&bench, to, 100))).collect()
}

#[test]
fn each_peer_gets_one_copy_and_the_group_none() {
    // digest: 7.01+ 7.01-
    let copies = copies(peers());
    let to: Vec<IpAddr> = copies.iter().map(|(to, _)| *to).collect();
    assert_eq!(to, [ip("192.0.2.2"), ip("192.0.2.3")]);
    let content = |at: usize| (&copies[at].1[..6], &copies[at].1[8..]);
    assert_eq!(content(0), content(1));
}

#[test]
fn b05_each_copys_pseudo_header_has_its_own_destination() {
    // digest: 7.02+ 7.02- 7.03-
    let differ = |builder: ConfigBuilder| {
        let copies = copies(builder);
        copies[0].1[6..8] != copies[1].1[6..8]
    };
    assert!(differ(peers()));
    assert!(!differ(peers().checksum(ChecksumMode::MessageOnly)));
    assert!(!differ(peers().version(Version::V2)));
    // Each peer takes its own copy, and nobody else's: nor one summed over the group's address.
    let copies = copies(peers());
    let peer = |own: &str, message: &[u8]| {
        let mut bench = Bench::new(config().mode(unicast(&["192.0.2.1"])).build().unwrap());
        let source = Some(ip(own));
        let facts = vrrp_core::Facts { source, ..bench.good_facts() };
        bench.input(Input::Facts(facts));
        bench.input(Input::Startup);
        let mut meta = Probe::new(config()).meta;
        (meta.source, meta.destination) = (OWN, ip(own));
        bench.packet(&meta, message).is_ok()
    };
    assert!(peer("192.0.2.2", &copies[0].1) && peer("192.0.2.3", &copies[1].1));
    assert!(!peer("192.0.2.2", &copies[1].1) && !peer("192.0.2.3", &copies[0].1));
    let bench = Bench::active(config().build().unwrap());
    assert!(!peer("192.0.2.2", &message(&bench, IpAddr::V4(GROUP_V4), 100)));
}

#[test]
fn a_vrid_may_repeat_on_a_link_where_peers_differ() {
    // digest: 7.10+ 7.10-
    let with = |id, peer| {
        let vips = member(id).build().unwrap().addresses().clone();
        let vrid = vrrp_core::Vrid::new(51).unwrap();
        vrrp_core::Config::builder(vrid, vips).mode(unicast(&[peer])).build().unwrap()
    };
    let mut rack = Rack::new(&[(A, with(A, "192.0.2.2")), (B, with(B, "192.0.2.3"))]);
    for (id, source) in [(A, "192.0.2.2"), (B, "192.0.2.3")] {
        let config = with(id, source);
        let (meta, message) = advert_from(&config, ip(source), 200, config.interval());
        assert_eq!(rack.set.handle_packet(rack.now, LINK, &meta, &message).unwrap().0, id);
    }
    let third = vrrp_core::RouterId(3);
    let refused = rack.set.insert(rack.now, third, LINK, with(third, "192.0.2.3"));
    assert_eq!(refused, Err(InsertError::SameGroup { other: B }));
}

#[test]
fn no_peers_is_said_in_words_and_never_means_multicast() {
    // digest: 7.11+ 7.11-
    assert_eq!(UnicastPeers::new(&[]).unwrap_err(), AddrsError::Empty);
    let bench = Bench::active(config().mode(Mode::Solo).build().unwrap());
    let (interval, audience) = (AdvertInterval::DEFAULT, Audience::All);
    let spec = AdvertSpec { audience, priority: None, interval };
    assert_eq!(bench.router.destinations(&spec).count(), 0);
}

#[test]
fn unicast_ties_are_broken_by_the_unicast_addresses() {
    // digest: 7.13+ 7.13-
    let mode = unicast(&["192.0.2.0", "192.0.2.2"]);
    let mut bench = Bench::active(config().mode(mode).build().unwrap());
    assert_eq!(bench.hear("192.0.2.0", 100).0.outcome, Outcome::Asserted);
    assert_eq!(bench.hear("192.0.2.2", 100).0.outcome, Outcome::Yielded);
}

#[test]
fn one_priority_zero_is_sent_with_the_real_addresses() {
    // digest: 8.06+ 8.06- 8.16+ 8.16-
    for builder in [config(), v2(), rfc()] {
        let mut bench = Bench::active(builder.build().unwrap());
        let mut actions = bench.input(Input::Shutdown);
        actions.extend(bench.pass(millis(60_000)));
        let adverts: Vec<_> =
            actions.iter().filter(|action| matches!(action, Action::SendAdvert(_))).collect();
        assert_eq!(adverts, [&resignation()]);
        assert_eq!(message(&bench, IpAddr::V4(GROUP_V4), 0)[8..12], [192, 0, 2, 10]);
        assert_eq!(bench.router.state(), State::Initialize);
    }
}
