//! Promise (B39): routers of one subnet do not lose their VIPs to each other. A VIP with a prefix
//! length may make another one secondary, and the kernel removes it with its primary.
#![allow(clippy::unwrap_used)]

use std::net::IpAddr;
use std::time::Duration;

use lab::eventually;
use promises::{Family, Router, SOON, Segment, adverts, vipd};

/// Two routers whose VIPs are in one subnet, in which the node has no address of its own.
fn pair(priority: u8) -> [Router; 2] {
    let one = |name: &str, vrid, vip: &str| Router {
        name: name.into(),
        vrid,
        vips: vec![format!("{vip}/24")],
        ..Router::new(priority, Family::V4)
    };
    [one("first", 51, "192.0.2.50"), one("second", 52, "192.0.2.51")]
}

fn toml(routers: &[Router]) -> String {
    routers.iter().map(Router::toml).collect()
}

/// Drops the router with this index, and sees the other one keep its VIP.
fn b39(dropped: usize) {
    let segment = Segment::new();
    let Segment { bridge, a, b, h, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let vips: [IpAddr; 2] = [[192, 0, 2, 50].into(), [192, 0, 2, 51].into()];
    let (gone, kept) = (vips[dropped], vips[1 - dropped]);
    let vipd = vipd!();
    let (on_a, on_b) = (pair(200), pair(100));
    let daemon = vipd.start(a, &toml(&on_a)).unwrap();
    let _other = vipd.start(b, &toml(&on_b[1 - dropped..2 - dropped])).unwrap();
    h.add_address("192.0.2.8/24").unwrap();
    a.exec(["ip", "route", "add", "192.0.2.0/24", "dev", "eth0"]).unwrap();
    let has = |vip: IpAddr| a.has(vip).unwrap();
    eventually(SOON, "a has both", || has(gone) && has(kept));
    let secondary = a.addresses("eth0").unwrap().iter().filter(|x| x.secondary).count();
    assert_eq!(secondary, 1, "one of them would go with the other");

    let _echo = a.echo().unwrap();
    let probe = h.probe(kept, Duration::from_millis(4)).unwrap();
    eventually(SOON, "the client hears a", || probe.owner().as_deref() == Some("a"));
    let since = capture.now();
    vipd.reload(a, &daemon, &toml(&on_a[1 - dropped..2 - dropped])).unwrap();
    eventually(SOON, "the dropped one is gone", || !has(gone));
    let (mine, theirs) = (52 - dropped as u8, 51 + dropped as u8);
    eventually(SOON, "the other goes on", || {
        adverts(&capture)
            .iter()
            .filter(|x| x.at > since && x.from == "a" && x.seen.vrid == mine && has(kept))
            .count()
            >= 10
    });
    let report = probe.finish().unwrap();
    let outage = report.longest_outage();
    assert!(outage < Duration::from_millis(100), "the VIP was gone for {outage:?}");
    let seen = adverts(&capture);
    assert!(seen.iter().all(|x| x.from == "a"), "nobody else claimed");
    assert!(seen.iter().any(|x| x.seen.vrid == theirs && x.seen.priority == 0));
    assert!(seen.iter().all(|x| x.seen.vrid == theirs || x.seen.priority == 200));
}

#[test]
fn b39_the_primary_is_dropped() {
    lab::require!();
    b39(0);
}

#[test]
fn b39_the_secondary_is_dropped() {
    lab::require!();
    b39(1);
}
