//! A packet that fails validation changes no timer and no state, whatever the router is doing.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;

use support::bad_packets::{Bad, bad_packets, edit};
use support::rack::{A, B, LINK, Rack};
use support::*;
use vrrp_core::receive::Discard;
use vrrp_core::{Event, Handoff, Input, ResignMode, State, Successor, VirtualRouter};

type Stage = (&'static str, fn(&Bad) -> Bench);

const STAGES: [Stage; 6] = [
    ("initialize", |bad| {
        let mut bench = Bench::new(bad.config.clone());
        bench.input(Input::Facts(bench.good_facts()));
        bench
    }),
    ("started", |bad| Bench::started(bad.config.clone())),
    ("about to claim", |bad| {
        let mut bench = Bench::started(bad.config.clone());
        bench.pass(bench.next_in() - millis(1));
        bench
    }),
    ("active", |bad| Bench::active(bad.config.clone())),
    ("installing", |bad| {
        let mut bench = Bench::new(bad.config.clone());
        bench.address_work = None;
        bench.input(Input::Facts(bench.good_facts()));
        bench.input(Input::Startup);
        if bench.router.state() != State::Active {
            bench.timeout();
        }
        bench
    }),
    ("holding", |bad| {
        let mut bench = Bench::active(bad.config.clone());
        let deadline = bench.now + millis(900);
        let successor = Successor::Anyone;
        bench.input(Input::Resign(Handoff { mode: ResignMode::Hold, deadline, successor }));
        bench
    }),
];

#[test]
fn no_discarded_packet_changes_a_timer_or_a_state() {
    let mut seen = BTreeSet::new();
    for bad in bad_packets() {
        // Shortly afterwards, and after a pause that any obeyed input would notice.
        for (pause, (stage, reach)) in
            [1, 60_000].into_iter().flat_map(|pause| STAGES.map(|stage| (pause, stage)))
        {
            let mut bench = reach(&bad);
            bench.events();
            let before = bench.router.clone();
            bench.sleep(millis(pause));
            let result = bench.packet(&bad.meta, &bad.message);
            let discard = result.expect_err(bad.discard);
            let what = format!("{}, {stage}, {pause} ms", bad.discard);
            assert_eq!(discard.name(), bad.discard, "{what}");
            let after = &bench.router;
            assert_eq!(after.snapshot(), before.snapshot(), "{what}");
            assert_eq!(after.poll_timeout(), before.poll_timeout(), "{what}");
            // What is left when counters and rate limits of reports are set aside: everything
            // that future behaviour depends on.
            let normal = |router: &VirtualRouter| router.normalized_at(bench.now);
            assert_eq!(normal(after), normal(&before), "{what}");
            assert_eq!(after.stats().discarded(discard), 1, "{what}");
            assert_eq!(after.stats().adverts_received, before.stats().adverts_received);
            assert_eq!(bench.drain(), [], "{what}");
            let source = bad.meta.source;
            assert_eq!(bench.events(), [Event::Discarded { source, discard }], "{what}");
        }
        seen.insert(bad.discard);
    }
    // Every reason has had its packet.
    assert_eq!(seen, Discard::ALL.map(Discard::name).into());
}

#[test]
fn the_same_packet_unspoilt_would_have_been_obeyed() {
    // Else the test above could pass on packets that nobody would obey anyway.
    for bad in bad_packets() {
        if bad.config.priority().is_owner() {
            continue;
        }
        let mut bench = Bench::started(bad.config.clone());
        let (mut meta, message) =
            advert_from(&bad.config, peer_of(&bad), 254, bad.config.interval());
        meta.checksum_verified = true;
        if bad.config.profile() == vrrp_core::Profile::Rfc {
            // Profile `Rfc` takes message-only checksums, which a default sender does not make.
            let mut sealed = message.clone();
            let last = sealed.len() - 1;
            let value = sealed[last];
            edit(&mut sealed, last, value);
            bench.packet(&meta, &sealed).unwrap();
        } else {
            bench.packet(&meta, &message).unwrap();
        }
        assert_eq!(bench.router.snapshot().active.unwrap().0, meta.source, "{}", bad.discard);
    }
}

fn peer_of(bad: &Bad) -> std::net::IpAddr {
    match bad.config.family() {
        vrrp_core::Family::V4 => ip("192.0.2.2"),
        vrrp_core::Family::V6 => ip("fe80::2"),
    }
}

#[test]
fn a_flood_of_bad_packets_keeps_no_backup_from_its_claim_and_no_active_from_its_cadence() {
    let bad = bad_packets().into_iter().find(|bad| bad.discard == "bad_checksum").unwrap();
    let mut bench = Bench::started(bad.config.clone());
    let due = bench.router.poll_timeout().unwrap();
    while bench.now < due {
        bench.pass(millis(10));
        let _ = bench.packet(&bad.meta, &bad.message);
    }
    assert_eq!(bench.router.state(), State::Active);
    let claimed = bench.router.snapshot().since;
    assert_eq!(claimed, due);
    for second in 1..5_u32 {
        for _ in 0..100 {
            bench.pass(millis(10));
            let _ = bench.packet(&bad.meta, &bad.message);
        }
        let next = bench.router.poll_timeout().unwrap();
        assert_eq!(next, claimed + millis(1000) * (second + 1));
    }
}

#[test]
fn reports_of_discards_are_limited_and_counters_are_not() {
    for bad in bad_packets() {
        let mut bench = Bench::started(bad.config.clone());
        bench.events();
        let mut reports = 0;
        for _ in 0..100 {
            let _ = bench.packet(&bad.meta, &bad.message);
            reports += bench.events().len();
            bench.sleep(millis(10));
        }
        assert_eq!(reports, 1, "{}", bad.discard);
        let kind = Discard::ALL.into_iter().find(|kind| kind.name() == bad.discard).unwrap();
        assert_eq!(bench.router.stats().discarded(kind), 100);
        bench.sleep(millis(4000));
        let _ = bench.packet(&bad.meta, &bad.message);
        assert_eq!(bench.events().len(), 1, "{}", bad.discard);
    }
}

#[test]
fn a_set_lets_no_packet_reach_a_router_that_it_is_not_for() {
    let mut rack = Rack::active();
    let before: Vec<_> = rack.set.iter().map(|(_, _, router)| router.clone()).collect();
    let config = rack.set.router(A).unwrap().config().clone();
    let (meta, message) = advert_from(&config, ip("192.0.2.2"), 254, config.interval());
    // A VRID that nobody has, another link, and too little to know whose it is.
    let mut other = message.clone();
    other[1] = 99;
    let wrong = [(LINK, &other[..]), (vrrp_core::LinkId(9), &message[..])];
    for (link, message) in wrong {
        let result = rack.set.handle_packet(rack.now, link, &meta, message);
        assert!(matches!(result, Err(Discard::VridUnknown { .. })), "{result:?}");
        assert_eq!(rack.set.take_unclaimed().unwrap().link, link);
    }
    for short in [&message[..0], &message[..1]] {
        let result = rack.set.handle_packet(rack.now, LINK, &meta, short);
        assert!(matches!(result, Err(Discard::Truncated { .. })), "{result:?}");
    }
    other[1] = 0;
    let result = rack.set.handle_packet(rack.now, LINK, &meta, &other);
    assert!(matches!(result, Err(Discard::VridZero)), "{result:?}");
    assert_eq!(rack.set.unclaimed_packets(), 5);
    let after: Vec<_> = rack.set.iter().map(|(_, _, router)| router.clone()).collect();
    assert_eq!(before, after);
    assert_eq!(rack.drain(), []);
    // One that is spoilt reaches its own router and no member of its group.
    let mut spoilt = message;
    spoilt[6] ^= 1;
    rack.set.handle_packet(rack.now, LINK, &meta, &spoilt).unwrap_err();
    let unchanged = |id| rack.set.router(id).unwrap() == &before[id.0 as usize - 1];
    assert!(!unchanged(A) && unchanged(B));
    assert_eq!(rack.states(), [State::Active; 3]);
}
