//! Each counter of a router moves in some scenario, and by as much as it says.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use support::bad_packets::{bad_packets, edit};
use support::*;
use vrrp_core::{ActionResult, AdvertInterval, Config, Input, Priority, VirtualAddrs, Vrid};

/// Counters that no router can move, and why.
const DEAD: [(&str, &str); 1] = [(
    "warned_trailing_bytes",
    "no configuration accepts trailing octets; only `receive::validate` with a policy of one's own does",
)];

type Scenario = (&'static [(&'static str, u64)], fn() -> Bench);

/// What moves, and nothing else may, beyond what every life of a router moves.
const SCENARIOS: [Scenario; 12] = [
    (&[("adverts_sent", 1), ("to_backup", 1), ("to_active", 1)], || active()),
    (&[("adverts_sent", 2), ("priority_zero_sent", 1), ("to_initialize", 1)], || {
        after(|bench| drop(bench.input(Input::Shutdown)))
    }),
    (&[("adverts_undelivered", 1)], || {
        after(|bench| drop(bench.input(Input::AdvertResult { delivered: false })))
    }),
    (&[("adverts_received", 1), ("asserts", 1)], || {
        after(|bench| drop(bench.hear("192.0.2.2", 50)))
    }),
    (&[("adverts_received", 1), ("priority_zero_received", 1)], || {
        after(|bench| drop(bench.hear("192.0.2.2", 0)))
    }),
    (&[("stalls", 1), ("to_backup", 2)], || {
        after(|bench| {
            bench.sleep(millis(60_000));
            bench.timeout();
        })
    }),
    (&[("install_failures", 1)], || {
        let mut bench = Bench::started(config().build().unwrap());
        bench.address_work = Some(ActionResult::Partial);
        bench.timeout();
        bench
    }),
    (&[("remove_failures", 1)], || {
        after(|bench| {
            bench.address_work = Some(ActionResult::Failed);
            bench.input(Input::Shutdown);
        })
    }),
    (&[("events_lost", 4)], || {
        // There is room for 16, and nobody reads.
        let mut bench = active();
        for value in 1..=20 {
            bench.input(Input::PriorityChanged(priority(value)));
        }
        bench
    }),
    (&[("warned_interval_mismatch", 1), ("warned_reserved_nonzero", 1)], || {
        after(|bench| {
            let own = bench.router.config();
            let slow = AdvertInterval::from_centis(300).unwrap();
            let (meta, mut message) = advert_from(own, ip("192.0.2.2"), 50, slow);
            let octet = message[4] | 0xf0;
            edit(&mut message, 4, octet);
            bench.packet(&meta, &message).unwrap();
        })
    }),
    (&[("warned_owner_received", 1), ("warned_legacy_pseudo_header_checksum", 1)], || {
        let mut bench = Bench::active(config().priority(Priority::OWNER).build().unwrap());
        bench.hear("192.0.2.2", 50);
        bench
    }),
    (&[("warned_first_address_not_link_local", 1), ("warned_address_list_mismatch", 1)], || {
        let with = |address| {
            let vips = VirtualAddrs::new(&[ip(address)]).unwrap();
            Config::builder(Vrid::new(51).unwrap(), vips).build().unwrap()
        };
        let mut bench = Bench::active(with("fe80::10"));
        let theirs = with("2001:db8::10");
        let (meta, message) = advert_from(&theirs, ip("fe80::2"), 50, theirs.interval());
        bench.packet(&meta, &message).unwrap();
        bench
    }),
];

fn active() -> Bench {
    Bench::active(config().build().unwrap())
}

fn after(act: fn(&mut Bench)) -> Bench {
    let mut bench = active();
    act(&mut bench);
    bench
}

fn counters(bench: &Bench) -> BTreeMap<&'static str, u64> {
    bench.router.stats().named().collect()
}

#[test]
fn every_counter_moves() {
    let mut moved = BTreeSet::new();
    for (index, (expected, scenario)) in SCENARIOS.iter().enumerate() {
        let found = counters(&scenario());
        for (name, value) in *expected {
            assert_eq!(found[name], *value, "{name}, scenario {index}");
            moved.insert(*name);
        }
    }
    for bad in bad_packets() {
        let mut bench = Bench::started(bad.config.clone());
        let before = counters(&bench);
        let _ = bench.packet(&bad.meta, &bad.message);
        let name = format!("discarded_{}", bad.discard);
        for (counter, value) in counters(&bench) {
            let expected = before[counter] + u64::from(counter == name);
            assert_eq!(value, expected, "{counter} after {name}");
        }
        moved.extend(before.keys().copied().filter(|counter| *counter == name));
    }
    let dead: BTreeSet<_> = DEAD.iter().map(|(name, _)| *name).collect();
    let all: BTreeSet<_> = counters(&active()).into_keys().collect();
    assert!(dead.is_disjoint(&moved), "not dead any more: {dead:?}");
    assert_eq!(&all - &moved, dead);
}

#[test]
fn nothing_counts_in_a_router_that_nobody_has_touched() {
    let bench = Bench::new(config().build().unwrap());
    assert!(counters(&bench).values().all(|value| *value == 0));
}

#[test]
fn counters_only_rise() {
    let mut bench = active();
    let mut before = counters(&bench);
    for round in 0..200_u64 {
        match round % 5 {
            0 => drop(bench.hear("192.0.2.2", (round * 37 % 256) as u8)),
            1 => drop(bench.pass(millis(1700))),
            2 => drop(bench.input(Input::PriorityChanged(priority((round % 200) as u8 + 1)))),
            3 => bench.sleep(millis(round * 40)),
            _ => drop(bench.input(Input::AdvertResult { delivered: round % 2 == 0 })),
        }
        let after = counters(&bench);
        assert!(before.iter().all(|(name, value)| after[name] >= *value), "round {round}");
        before = after;
    }
}
