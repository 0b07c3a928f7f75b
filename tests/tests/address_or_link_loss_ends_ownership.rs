//! Promise (B24): an Active that loses its link, or the address that it sends from, is silent and
//! without the VIP at once, and the other takes over within its down interval. It never advertises
//! from a VIP. When what was lost is back, so is the router.
#![allow(clippy::unwrap_used)]

use std::net::IpAddr;
use std::time::Duration;

use lab::{Host, eventually};
use promises::{Family, Router, SOON, Segment, adverts_of, vipd, wait_for_advert};

/// What happens to the Active's interface.
#[derive(Clone, Copy, Debug)]
enum Loss {
    /// All addresses are removed, the node's own too.
    Addresses,
    /// As above, then the interface is taken down.
    AddressesThenLink,
    /// The interface is taken down.
    Link,
    /// The cable is pulled.
    Carrier,
}

impl Loss {
    fn begin(self, host: &Host) {
        match self {
            Self::Addresses => host.flush_addresses().unwrap(),
            Self::AddressesThenLink => {
                host.flush_addresses().unwrap();
                host.own_link_down().unwrap();
            }
            Self::Link => host.own_link_down().unwrap(),
            Self::Carrier => host.link_down().unwrap(),
        }
    }

    fn end(self, host: &Host, link_local: &str) {
        match self {
            Self::Addresses => {
                for address in ["10.0.0.1/24", "fd00::1/64", link_local] {
                    host.add_address(address).unwrap();
                }
            }
            Self::AddressesThenLink | Self::Link => host.own_link_up().unwrap(),
            Self::Carrier => host.link_up().unwrap(),
        }
    }

    /// How long an Active may go on: the grace for a source address that somebody is replacing,
    /// min(interval / 2, 200 ms), and a busy machine's delay.
    fn grace(self, interval: Duration) -> Duration {
        let busy = Duration::from_millis(150);
        match self {
            Self::Addresses => busy + (interval / 2).min(Duration::from_millis(200)),
            Self::AddressesThenLink | Self::Link | Self::Carrier => busy,
        }
    }
}

fn b24(loss: Loss, family: Family) {
    let segment = Segment::new();
    let Segment { bridge, a, b, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let (high, low) = (Router::new(200, family), Router::new(100, family));
    let on_a = vipd!().start(a, &high.toml()).unwrap();
    let _on_b = vipd!().start(b, &low.toml()).unwrap();
    segment.settles_on(&capture, a, family);
    let link_local = link_local(a);

    let lost = capture.now();
    loss.begin(a);
    eventually(SOON, "a has no VIP", || !a.has(family.vip()).unwrap());
    let takeover = wait_for_advert(&capture, lost, b, |_| true);
    let last = adverts_of(&capture, a).pop().unwrap().at;
    let grace = loss.grace(high.interval);
    assert!(last <= lost + grace, "a was heard {:?} after the loss", last.saturating_sub(lost));
    let bound = grace + low.active_down() + Duration::from_millis(150);
    assert!(takeover.at <= lost + bound, "b took {:?}", takeover.at - lost);
    segment.settles_on(&capture, b, family);
    assert!(on_a.is_running(), "{}", on_a.log());

    loss.end(a, &link_local);
    segment.settles_on(&capture, a, family);
    for advert in adverts_of(&capture, a) {
        advert.assert_valid(a, family, promises::Style::PseudoHeader);
    }
}

/// The link-local address that the kernel made.
fn link_local(host: &Host) -> String {
    let addresses = host.addresses("eth0").unwrap();
    let own = addresses.iter().find(|address| match address.ip {
        IpAddr::V6(v6) => v6.is_unicast_link_local() && address.proto != 112,
        IpAddr::V4(_) => false,
    });
    own.unwrap().cidr().to_string()
}

#[test]
fn b24_ipv4_addresses_flushed() {
    lab::require!();
    b24(Loss::Addresses, Family::V4);
}

#[test]
fn b24_ipv6_addresses_flushed() {
    lab::require!();
    b24(Loss::Addresses, Family::V6);
}

#[test]
fn b24_ipv4_addresses_flushed_then_link_down() {
    lab::require!();
    b24(Loss::AddressesThenLink, Family::V4);
}

#[test]
fn b24_ipv6_addresses_flushed_then_link_down() {
    lab::require!();
    b24(Loss::AddressesThenLink, Family::V6);
}

#[test]
fn b24_ipv4_link_taken_down() {
    lab::require!();
    b24(Loss::Link, Family::V4);
}

#[test]
fn b24_ipv6_link_taken_down() {
    lab::require!();
    b24(Loss::Link, Family::V6);
}

#[test]
fn b24_ipv4_cable_pulled() {
    lab::require!();
    b24(Loss::Carrier, Family::V4);
}

#[test]
fn b24_ipv6_cable_pulled() {
    lab::require!();
    b24(Loss::Carrier, Family::V6);
}

/// A manager that replaces the node's address (a renewed lease) must not move the VIP.
#[test]
fn b24_an_address_that_is_replaced_within_the_grace_moves_nothing() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, b, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let slow =
        |priority| Router { interval: Duration::from_secs(1), ..Router::new(priority, Family::V4) };
    let _on_a = vipd!().start(a, &slow(200).toml()).unwrap();
    let _on_b = vipd!().start(b, &slow(100).toml()).unwrap();
    let first = wait_for_advert(&capture, Duration::ZERO, a, |_| true);
    let vip = Family::V4.vip();
    eventually(SOON, "a has the VIP", || a.has(vip).unwrap());
    a.delete_address("10.0.0.1/24").unwrap();
    a.add_address("10.0.0.1/24").unwrap();
    // More than three intervals: b has had the time to claim.
    let since = first.at + Duration::from_secs(4);
    wait_for_advert(&capture, since, a, |_| {
        assert!(a.has(vip).unwrap());
        true
    });
    assert!(adverts_of(&capture, b).is_empty());
    assert!(adverts_of(&capture, a).iter().all(|advert| advert.seen.priority == 200));
}
