//! Promise (B23): an interface that is deleted and made again, with another index, is followed by
//! its name: the router speaks, hears and owns on it as before. Meanwhile the other one serves.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use lab::eventually;
use promises::{Family, Router, SOON, Segment, adverts_of, vipd, wait_for_advert};

fn index(host: &lab::Host) -> u32 {
    host.addresses("eth0").unwrap()[0].interface
}

fn b23_of_the_active(family: Family) {
    let segment = Segment::new();
    let Segment { bridge, a, b, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let (high, low) = (Router::new(200, family), Router::new(100, family));
    let on_a = vipd!().start(a, &high.toml()).unwrap();
    let _on_b = vipd!().start(b, &low.toml()).unwrap();
    segment.settles_on(&capture, a, family);

    let before = index(a);
    let deleted = capture.now();
    a.delete_interface().unwrap();
    let takeover = wait_for_advert(&capture, deleted, b, |_| true);
    let bound = low.active_down() + Duration::from_millis(300);
    assert!(takeover.at <= deleted + bound, "{:?} after {deleted:?}", takeover.at);
    segment.settles_on(&capture, b, family);
    assert!(on_a.is_running(), "{}", on_a.log());

    // A capture of all the bridge's ports has the new port as well.
    let again = capture.now();
    a.recreate_interface().unwrap();
    assert_ne!(index(a), before);
    let back = wait_for_advert(&capture, again, a, |_| true);
    let bound = Duration::from_secs(1) + high.active_down();
    assert!(back.at <= again + bound, "{:?} after {again:?}", back.at);
    segment.settles_on(&capture, a, family);
    let ping = ["ping", "-c1", "-W5", &family.vip().to_string()];
    segment.h.exec(ping).unwrap();
}

#[test]
fn b23_ipv4_of_the_active() {
    lab::require!();
    b23_of_the_active(Family::V4);
}

#[test]
fn b23_ipv6_of_the_active() {
    lab::require!();
    b23_of_the_active(Family::V6);
}

/// A Backup proves that it hears on the new interface by staying quiet, and by taking over when
/// the Active dies.
fn b23_of_the_backup(family: Family) {
    let segment = Segment::new();
    let Segment { bridge, a, b, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let low = Router::new(100, family);
    let on_a = vipd!().start(a, &Router::new(200, family).toml()).unwrap();
    let on_b = vipd!().start(b, &low.toml()).unwrap();
    segment.settles_on(&capture, a, family);

    for _ in 0..2 {
        b.delete_interface().unwrap();
        b.recreate_interface().unwrap();
    }
    // Two down intervals and more.
    let since = capture.now();
    eventually(SOON, "ten advertisements", || {
        adverts_of(&capture, a).iter().filter(|advert| advert.at > since).count() >= 10
    });
    assert!(adverts_of(&capture, b).is_empty(), "b hears a: {}", on_b.log());

    on_a.kill().unwrap();
    let last = capture.now();
    wait_for_advert(&capture, last, b, |_| true);
    eventually(SOON, "b has the VIP", || b.has(family.vip()).unwrap());
}

#[test]
fn b23_ipv4_of_the_backup() {
    lab::require!();
    b23_of_the_backup(Family::V4);
}

#[test]
fn b23_ipv6_of_the_backup() {
    lab::require!();
    b23_of_the_backup(Family::V6);
}
