//! Promise (B13): advertisements come from the same address whatever the order in which addresses
//! were added, never from a VIP, and from another only when that one is gone.
#![allow(clippy::unwrap_used)]

use std::net::IpAddr;
use std::time::Duration;

use lab::{Host, Process, eventually};
use promises::{Family, Router, SOON, Segment, adverts_of, vipd, wait_for_advert};

fn router(family: Family) -> Router {
    Router { interval: Duration::from_millis(100), ..Router::new(100, family) }
}

fn stop(daemon: &Process) {
    daemon.terminate().unwrap();
    assert!(daemon.wait(SOON).unwrap().success(), "{}", daemon.log());
}

/// Adds an address and waits until it works: one that is tentative is no source yet.
fn add(host: &Host, address: &str) {
    host.add_address(address).unwrap();
    eventually(SOON, "the address works", || {
        host.addresses("eth0").unwrap().iter().all(|address| !address.tentative)
    });
}

/// A daemon that was killed leaves its VIPs on the interface.
fn leave_behind(host: &Host, router: &Router) {
    let daemon = vipd!().start(host, &router.toml()).unwrap();
    let vips: Vec<IpAddr> = router.vips.iter().map(|vip| vip.parse().unwrap()).collect();
    eventually(SOON, "the VIPs are there", || vips.iter().all(|&vip| host.has(vip).unwrap()));
    daemon.kill().unwrap();
    daemon.wait(SOON).unwrap();
    assert!(vips.iter().all(|&vip| host.has(vip).unwrap()));
}

#[test]
fn b13_the_ipv6_source_does_not_depend_on_the_order_of_addresses() {
    lab::require!();
    let expected: IpAddr = "fe80::1".parse().unwrap();
    // The router's VIP fe80::50 is left behind before, between and after its own addresses.
    for order in [["1", "2", "vip"], ["2", "1", "vip"], ["vip", "2", "1"], ["2", "vip", "1"]] {
        let segment = Segment::new();
        let Segment { bridge, a, .. } = &segment;
        for address in order {
            match address {
                "vip" => leave_behind(a, &router(Family::V6)),
                n => add(a, &format!("fe80::{n}/64")),
            }
        }
        let capture = bridge.capture().unwrap();
        for _ in 0..2 {
            let since = capture.now();
            let daemon = vipd!().start(a, &router(Family::V6).toml()).unwrap();
            wait_for_advert(&capture, since, a, |_| true);
            segment.settles_on(&capture, a, Family::V6);
            stop(&daemon);
        }
        for advert in adverts_of(&capture, a) {
            assert_eq!(advert.seen.src, expected, "{order:?}: {advert:?}");
        }
    }
}

#[test]
fn b13_the_ipv6_source_changes_when_it_is_gone_and_only_then() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, .. } = &segment;
    let source = |text: &str| -> IpAddr { text.parse().unwrap() };
    add(a, "fe80::2/64");
    let capture = bridge.capture().unwrap();
    let _vipd = vipd!().start(a, &router(Family::V6).toml()).unwrap();
    let first = wait_for_advert(&capture, Duration::ZERO, a, |_| true);
    assert_eq!(first.seen.src, source("fe80::2"));

    // A router that moved to each lower address would be another router to its peers' tie-break.
    add(a, "fe80::1/64");
    let since = capture.now();
    eventually(SOON, "ten more advertisements", || {
        adverts_of(&capture, a).iter().filter(|advert| advert.at > since).count() >= 10
    });
    for advert in adverts_of(&capture, a) {
        assert_eq!(advert.seen.src, source("fe80::2"), "{advert:?}");
    }

    a.delete_address("fe80::2/64").unwrap();
    let gone = capture.now();
    let next = wait_for_advert(&capture, gone, a, |seen| seen.src != source("fe80::2"));
    assert_eq!(next.seen.src, source("fe80::1"));
    // The VIP fe80::50 is now the lowest on the interface, below the one that the kernel made.
    a.delete_address("fe80::1/64").unwrap();
    let gone = capture.now();
    let next = wait_for_advert(&capture, gone, a, |seen| seen.src != source("fe80::1"));
    assert_ne!(next.seen.src, source("fe80::50"));
    assert!(a.has(Family::V6.vip()).unwrap(), "another source is no reason to give up");
    assert!(adverts_of(&capture, a).iter().all(|advert| advert.seen.priority == 100));
}

#[test]
fn b13_the_ipv4_source_is_the_interfaces_own_address_never_a_vip() {
    lab::require!();
    let expected: IpAddr = [10, 0, 0, 1].into();
    let segment = Segment::new();
    let Segment { bridge, a, .. } = &segment;
    // The own address comes after a VIP that was left behind, and before a second own one.
    leave_behind(a, &router(Family::V4));
    a.delete_address("10.0.0.1/24").unwrap();
    a.add_address("10.0.0.1/24").unwrap();
    a.add_address("10.0.0.3/24").unwrap();
    let capture = bridge.capture().unwrap();
    for _ in 0..3 {
        let since = capture.now();
        let daemon = vipd!().start(a, &router(Family::V4).toml()).unwrap();
        wait_for_advert(&capture, since, a, |_| true);
        segment.settles_on(&capture, a, Family::V4);
        stop(&daemon);
    }
    for advert in adverts_of(&capture, a) {
        assert_eq!(advert.seen.src, expected, "{advert:?}");
    }
}
