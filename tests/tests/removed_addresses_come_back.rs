//! Promise (B28): a VIP that another program removes is back within milliseconds and is announced
//! again, and ownership does not move. Who fights on and on wins in the end: then the other router
//! serves.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use lab::eventually;
use promises::{Family, Router, SOON, Segment, adverts, adverts_of, vipd};

/// How long the VIP may be gone. It is a millisecond on a machine at rest.
const BACK_WITHIN: Duration = Duration::from_millis(90);

fn cidr(family: Family) -> String {
    let prefix = if family == Family::V4 { 32 } else { 128 };
    format!("{}/{prefix}", family.vip())
}

fn b28(family: Family) {
    let segment = Segment::new();
    let Segment { bridge, a, b, h, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let _on_a = vipd!().start(a, &Router::new(200, family).toml()).unwrap();
    let _on_b = vipd!().start(b, &Router::new(100, family).toml()).unwrap();
    segment.settles_on(&capture, a, family);
    let vip = family.vip();
    let announced = || {
        let frames = capture.frames();
        let own = frames.iter().filter(|frame| *frame.port == *a.name());
        own.filter(|frame| match family {
            Family::V4 => frame.garp().is_some_and(|garp| garp.sender == vip),
            Family::V6 => frame.unsolicited_na().is_some_and(|na| na.target == vip),
        })
        .count()
    };
    // The second burst of the takeover is out, so that what comes is about the removals.
    eventually(SOON, "the takeover has been announced", || announced() >= 10);

    let before = announced();
    let mut slowest = Duration::ZERO;
    let start = Instant::now();
    for round in 0..30 {
        // Every 100 ms: the pace is the promise's, see B28.
        eventually(SOON, "the next removal is due", || start.elapsed() >= round * BEAT);
        a.delete_address(&cidr(family)).unwrap();
        let removed = Instant::now();
        eventually(SOON, "the VIP is back", || a.has(vip).unwrap());
        slowest = slowest.max(removed.elapsed());
    }
    assert!(slowest < BACK_WITHIN, "the VIP was gone for {slowest:?}");
    eventually(SOON, "each return was announced", || announced() >= before + 30);
    assert!(adverts_of(&capture, b).iter().all(|advert| advert.seen.priority == 0), "b is Backup");
    segment.settles_on(&capture, a, family);
    h.exec(["ping", "-c1", "-W5", &vip.to_string()]).unwrap();
    let resigned = adverts(&capture).iter().any(|advert| advert.seen.priority == 0);
    assert!(!resigned, "nobody resigned");

    // All addresses, the node's own too: B24 rules until it is back.
    let addresses = a.addresses("eth0").unwrap();
    a.flush_addresses().unwrap();
    segment.settles_on(&capture, b, family);
    for address in addresses.iter().filter(|address| address.proto != 112) {
        a.add_address(&address.cidr().to_string()).unwrap();
    }
    segment.settles_on(&capture, a, family);
}

const BEAT: Duration = Duration::from_millis(100);

#[test]
fn b28_ipv4() {
    lab::require!();
    b28(Family::V4);
}

#[test]
fn b28_ipv6() {
    lab::require!();
    b28(Family::V6);
}

#[test]
fn b28_a_fight_without_end_is_given_up_and_the_other_router_serves() {
    lab::require!();
    let family = Family::V4;
    let segment = Segment::new();
    let Segment { bridge, a, b, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let _on_a = vipd!().start(a, &Router::new(200, family).toml()).unwrap();
    let _on_b = vipd!().start(b, &Router::new(100, family).toml()).unwrap();
    segment.settles_on(&capture, a, family);
    let mut removals = 0;
    let end = Instant::now() + SOON;
    while !b.has(family.vip()).unwrap() {
        assert!(Instant::now() < end, "given up after {removals} removals");
        removals += usize::from(a.delete_address(&cidr(family)).is_ok());
    }
    assert!(removals >= 50, "not for a few: {removals}");
    // It stays away, although it has the higher priority and nobody fights any more.
    segment.settles_on(&capture, b, family);
}
