//! Promise (A18): VIPs are compared as addresses, however they are spelled, and what can be nobody's
//! address is refused before anything privileged is tried.
#![allow(clippy::unwrap_used)]

use lab::{Host, eventually};
use promises::{Family, Router, SOON, Segment, adverts, parse, restricted, vipd, wait_for_advert};

fn addressed(vips: &[&str]) -> Router {
    let vips = vips.iter().map(|vip| (*vip).to_owned()).collect();
    Router { vips, ..Router::new(100, Family::V6) }
}

#[test]
fn a18_spellings_of_one_address_are_one_vip() {
    let config = |vip: &str| parse(&addressed(&[vip]).toml());
    for spelling in ["FD00:0::50", "fd00:0:0:0:0:0:0:50", "fd00::0050", "fd00::0.0.0.80"] {
        assert_eq!(config(spelling), config("fd00::50"), "{spelling}");
    }
}

#[test]
fn a18_another_spelling_of_a_vip_moves_nothing() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let vip = Family::V6.vip();
    let vipd = vipd!();
    let daemon = vipd.start(a, &addressed(&["FD00:0::50"]).toml()).unwrap();
    let first = wait_for_advert(&capture, std::time::Duration::ZERO, a, |_| true);
    assert_eq!(first.seen.addresses, [vip]);
    eventually(SOON, "a has the VIP", || a.has(vip).unwrap());
    let index = |host: &Host| {
        let addresses = host.addresses("eth0").unwrap();
        addresses.iter().filter(|address| address.ip == vip).count()
    };
    assert_eq!(index(a), 1);

    // The priority changes with the spelling, to see on the wire when the new one is in force.
    let respelled = Router { priority: 101, ..addressed(&["fd00::0050"]) };
    vipd.reload(a, &daemon, &respelled.toml()).unwrap();
    eventually(SOON, "the reload is in force", || {
        assert!(a.has(vip).unwrap(), "the VIP stays through the reload");
        adverts(&capture).iter().any(|advert| advert.seen.priority == 101)
    });
    let resigned = adverts(&capture).iter().any(|advert| advert.seen.priority == 0);
    assert!(!resigned && index(a) == 1);
}

/// Refused with exit status 3, also without any privilege, and with no trace on the host.
fn refused(host: &Host, config: &str, setting: &str) {
    let before = host.addresses("eth0").unwrap();
    host.write("vipd.toml", config).unwrap();
    // Whoever may do nothing and is told of a mistake in the file has met the mistake first.
    let daemon = restricted(env!("CARGO_BIN_EXE_vipd-under-test"), "");
    let daemon = host.spawn(daemon).unwrap();
    let status = daemon.wait(SOON).unwrap();
    let said = daemon.log();
    assert_eq!(status.code(), Some(3), "{config}\n{said}");
    assert!(said.contains(setting), "{config}\n{said}");
    assert!(said.contains("/run/vipd.toml:"), "file and line: {said}");
    assert_eq!(host.addresses("eth0").unwrap(), before);
    assert!(!host.run_dir().join("vipd").exists(), "{config}");
}

#[test]
fn a18_what_is_nobodys_address_is_refused_before_anything_privileged() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let bad = [
        "0.0.0.0",
        "127.0.0.1",
        "127.8.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "ff02::1",
        "::ffff:10.0.0.50",
        "",
        "10.0.0",
        "10.0.0.256",
        "10.0.0.50/33",
        "10.0.0.50/",
        "10.0.0.050",
        "fd00:::50",
        "fd00::50/129",
        "fe80::50%eth0",
        "localhost",
        " 10.0.0.50",
    ];
    for vip in bad {
        refused(a, &addressed(&[vip]).toml(), "addresses");
    }
    // One address twice, in whatever spelling: on one router, and on two.
    refused(a, &addressed(&["fd00::50", "FD00:0::50"]).toml(), "addresses");
    let second = Router { name: "s".into(), vrid: 52, ..addressed(&["FD00:0::50"]) };
    refused(a, &(addressed(&["fd00::50"]).toml() + &second.toml()), "addresses");
    assert!(adverts(&capture).is_empty());
}
