//! Promise (B12): an IPv6 VIP works from the moment its owner has it, whoever else still has it:
//! it is never tentative and never `dadfailed`.
#![allow(clippy::unwrap_used)]

use std::net::IpAddr;
use std::time::Duration;

use lab::{Address, Host, eventually};
use promises::{Family, Router, SOON, Segment, adverts_of, vipd};

const VIPS: [&str; 2] = ["fd00::50", "fe80::50"];

fn vips_of(host: &Host) -> Vec<Address> {
    let vips = VIPS.map(|vip| vip.parse::<IpAddr>().unwrap());
    let addresses = host.addresses("eth0").unwrap();
    addresses.into_iter().filter(|address| vips.contains(&address.ip)).collect()
}

/// Watches for a dozen advertisements that the VIPs work, at every look.
#[track_caller]
fn works_from_the_start(segment: &Segment, capture: &lab::Capture, owner: &Host) {
    let since = capture.now();
    eventually(SOON, format!("{} has been watched", owner.name()), || {
        let vips = vips_of(owner);
        for vip in &vips {
            assert!(!vip.tentative && !vip.dad_failed, "on {}: {vip:?}", owner.name());
            assert!(vip.nodad && vip.deprecated && vip.noprefixroute, "{vip:?}");
        }
        let heard = adverts_of(capture, owner).iter().filter(|x| x.at > since).count();
        vips.len() == VIPS.len() && heard >= 12
    });
    let ping = ["ping", "-c1", "-W5", "fd00::50"];
    segment.h.exec(ping).unwrap();
}

#[test]
fn b12_an_address_that_another_host_still_has_works_at_once() {
    lab::require!();
    let segment = Segment::with_dad();
    let Segment { bridge, a, b, .. } = &segment;
    for host in [a, b] {
        eventually(SOON, "the hosts' own addresses work", || {
            host.addresses("eth0").unwrap().iter().all(|address| !address.tentative)
        });
    }
    // What a holder that was killed leaves behind, and answers neighbour solicitations for.
    for vip in VIPS {
        b.exec(["ip", "address", "add", &format!("{vip}/128"), "dev", "eth0", "nodad"]).unwrap();
    }
    let capture = bridge.capture().unwrap();
    let _vipd = vipd!().start(a, &Router::new(200, Family::V6).toml()).unwrap();
    works_from_the_start(&segment, &capture, a);
    // Also when the kernel has reason to check again.
    a.link_down().unwrap();
    eventually(SOON, "a gives up", || vips_of(a).is_empty());
    a.link_up().unwrap();
    works_from_the_start(&segment, &capture, a);
}

#[test]
fn b12_a_vip_that_goes_back_and_forth_works_on_every_new_owner() {
    lab::require!();
    let segment = Segment::with_dad();
    let Segment { bridge, a, b, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let vipd = vipd!();
    let fast = |priority| Router {
        interval: Duration::from_millis(100),
        ..Router::new(priority, Family::V6)
    };
    let _on_b = vipd.start(b, &fast(100).toml()).unwrap();
    works_from_the_start(&segment, &capture, b);
    for round in 0..4 {
        let on_a = vipd.start(a, &fast(200).toml()).unwrap();
        works_from_the_start(&segment, &capture, a);
        if round % 2 == 0 {
            // Killed: a keeps the VIP, and answers for it, while b takes over.
            on_a.kill().unwrap();
            on_a.wait(SOON).unwrap();
        } else {
            on_a.terminate().unwrap();
            assert!(on_a.wait(SOON).unwrap().success());
        }
        works_from_the_start(&segment, &capture, b);
    }
}
