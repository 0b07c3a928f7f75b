//! Promise (A22): a VIP that is somebody's permanent address on the interface is not taken: `vipd`
//! says so and changes nothing. Unless this host is the owner (priority 255), or the address has
//! the form in which a VRRP daemon that was killed leaves one behind.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use lab::{Host, Process, eventually};
use promises::{Family, Router, SOON, Segment, adverts, adverts_of, vipd, wait_for_advert};

fn refused(segment: &Segment, router: &Router, present: &str) {
    let Segment { bridge, a, .. } = segment;
    a.add_address(present).unwrap();
    eventually(SOON, "it works", || a.addresses("eth0").unwrap().iter().all(|x| !x.tentative));
    let capture = bridge.capture().unwrap();
    let before = a.addresses("eth0").unwrap();
    let daemon = vipd!().start(a, &router.toml()).unwrap();
    let status = daemon.wait(SOON).unwrap();
    assert_eq!(status.code(), Some(8), "{}", daemon.log());
    assert!(daemon.log().contains(present.split('/').next().unwrap()), "{}", daemon.log());
    assert_eq!(a.addresses("eth0").unwrap(), before, "nothing was changed");
    assert!(adverts(&capture).is_empty());
    a.delete_address(present).unwrap();
}

#[test]
fn a22_a_permanent_address_is_not_taken() {
    lab::require!();
    let segment = Segment::new();
    for (family, present) in [
        (Family::V4, "10.0.0.50/24"),
        (Family::V4, "10.0.0.50/32"),
        (Family::V6, "fd00::50/64"),
        (Family::V6, "fd00::50/128"),
    ] {
        refused(&segment, &Router::new(100, family), present);
    }
    // A label on the VIP is not enough: the address there has to have it.
    let labelled = Router { more: "label = \"vip\"".into(), ..Router::new(100, Family::V4) };
    refused(&segment, &labelled, "10.0.0.50/32");
}

#[test]
fn a22_a_host_address_with_the_configured_label_was_left_behind_and_is_taken_over() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, b, .. } = &segment;
    let vip = Family::V4.vip();
    let capture = bridge.capture().unwrap();
    let labelled =
        |priority| Router { more: "label = \"vip\"".into(), ..Router::new(priority, Family::V4) };
    let _on_b = vipd!().start(b, &labelled(200).toml()).unwrap();
    segment.settles_on(&capture, b, Family::V4);
    a.exec(["ip", "address", "add", "10.0.0.50/32", "dev", "eth0", "label", "vip"]).unwrap();

    // A Backup has no use for it: it goes.
    let _on_a = vipd!().start(a, &labelled(100).toml()).unwrap();
    eventually(SOON, "what was left behind is gone", || !a.has(vip).unwrap());
    segment.settles_on(&capture, b, Family::V4);
    let address = b.addresses("eth0").unwrap().into_iter().find(|address| address.ip == vip);
    assert_eq!(address.unwrap().label.as_deref(), Some("vip"));
}

#[test]
fn a22_the_owner_of_an_address_advertises_it_and_never_touches_it() {
    lab::require!();
    for (family, present) in [(Family::V4, "10.0.0.50/24"), (Family::V6, "fd00::50/64")] {
        let segment = Segment::new();
        let Segment { bridge, a, .. } = &segment;
        a.add_address(present).unwrap();
        eventually(SOON, "the address works", || own(a, family).iter().all(|x| !x.tentative));
        let before = own(a, family);
        let capture = bridge.capture().unwrap();
        let owner = Router { vips: vec![family.vip().to_string()], ..Router::new(255, family) };
        let daemon = vipd!().start(a, &owner.toml()).unwrap();
        wait_for_advert(&capture, Duration::ZERO, a, |seen| seen.priority == 255);
        eventually(SOON, "five advertisements", || {
            assert_eq!(own(a, family), before);
            adverts_of(&capture, a).len() >= 5
        });
        stops(&daemon);
        assert_eq!(own(a, family), before, "an owner's address outlives the daemon");
        wait_for_advert(&capture, Duration::ZERO, a, |seen| seen.priority == 0);
    }
}

/// The VIP as it is on the host.
fn own(host: &Host, family: Family) -> Vec<lab::Address> {
    let addresses = host.addresses("eth0").unwrap();
    addresses.into_iter().filter(|address| address.ip == family.vip()).collect()
}

fn stops(daemon: &Process) {
    daemon.terminate().unwrap();
    assert_eq!(daemon.wait(SOON).unwrap().code(), Some(0), "{}", daemon.log());
}
