//! Promise (B10): a router that starts while its interface is down takes part as soon as the
//! interface can be used: at once over IPv4, and over IPv6 when duplicate address detection has
//! ended.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use lab::{Host, eventually};
use promises::{Family, Router, SOON, Segment, adverts, vipd, wait_for_advert};

/// Down in the two ways there are: by the administrator, and for lack of a carrier.
#[derive(Clone, Copy, Debug)]
enum Down {
    Administratively,
    NoCarrier,
}

impl Down {
    fn begin(self, host: &Host) {
        match self {
            Self::Administratively => host.own_link_down().unwrap(),
            Self::NoCarrier => host.link_down().unwrap(),
        }
    }

    fn end(self, host: &Host) {
        match self {
            Self::Administratively => host.own_link_up().unwrap(),
            Self::NoCarrier => host.link_up().unwrap(),
        }
    }
}

/// A link-local address that works: what an IPv6 router sends from.
fn has_source(host: &Host, family: Family) -> bool {
    host.addresses("eth0").unwrap().iter().any(|address| match address.ip {
        std::net::IpAddr::V4(_) => family == Family::V4,
        std::net::IpAddr::V6(v6) => {
            family == Family::V6 && v6.is_unicast_link_local() && !address.tentative
        }
    })
}

fn b10(down: Down, family: Family) {
    let segment = Segment::with_dad();
    let Segment { bridge, a, .. } = &segment;
    down.begin(a);
    eventually(SOON, "the link is down", || !a.carrier("eth0").unwrap());
    let capture = bridge.capture().unwrap();
    let router = Router::new(100, family);
    let vipd = vipd!().start(a, &router.toml()).unwrap();
    // It is up and waits: its files are there, the process lives, and it owns nothing.
    eventually(SOON, "it has begun", || a.run_dir().join("vipd/vipd.addresses").exists());
    assert!(vipd.is_running(), "{}", vipd.log());
    assert!(!a.has(family.vip()).unwrap() && adverts(&capture).is_empty());

    down.end(a);
    eventually(SOON, "it has a source", || has_source(a, family));
    // Backup within a second, so Active a down interval after that.
    let usable = capture.now();
    let first = wait_for_advert(&capture, Duration::ZERO, a, |_| true);
    let bound = Duration::from_secs(1) + router.active_down();
    assert!(first.at <= usable + bound, "{:?} after {usable:?}", first.at);
    segment.settles_on(&capture, a, family);
    // Its addresses too: IPv6 ones went with the interface.
    let address = a.addresses("eth0").unwrap().into_iter().find(|x| x.ip == family.vip());
    assert!(address.is_some_and(|address| !address.tentative && !address.dad_failed));
}

#[test]
fn b10_ipv4_administratively_down() {
    lab::require!();
    b10(Down::Administratively, Family::V4);
}

#[test]
fn b10_ipv4_without_a_carrier() {
    lab::require!();
    b10(Down::NoCarrier, Family::V4);
}

#[test]
fn b10_ipv6_administratively_down() {
    lab::require!();
    b10(Down::Administratively, Family::V6);
}

#[test]
fn b10_ipv6_without_a_carrier() {
    lab::require!();
    b10(Down::NoCarrier, Family::V6);
}
