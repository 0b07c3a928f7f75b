//! Promise (A23): `vipd` needs CAP_NET_ADMIN and CAP_NET_RAW and nothing else. Without one of them
//! it says so in one sentence, ends with status 4, and has changed nothing.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use lab::{Host, Process, eventually};
use promises::{Family, Router, SOON, Segment, adverts, restricted, wait_for_advert};

fn start(host: &Host, family: Family, capabilities: &str) -> Process {
    host.write("vipd.toml", Router::new(200, family).toml()).unwrap();
    host.spawn(restricted(env!("CARGO_BIN_EXE_vipd-under-test"), capabilities)).unwrap()
}

/// The capabilities in force, as the kernel says.
fn effective(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
    let hex = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    u64::from_str_radix(hex.trim(), 16).unwrap()
}

#[test]
fn a23_the_two_are_enough_to_own_announce_and_give_up_a_vip() {
    lab::require!();
    for family in Family::BOTH {
        let segment = Segment::new();
        let Segment { bridge, a, h, .. } = &segment;
        let capture = bridge.capture().unwrap();
        let daemon = start(a, family, "+net_admin,+net_raw");
        segment.settles_on(&capture, a, family);
        assert_eq!(effective(&daemon), 1 << 12 | 1 << 13, "nothing else is in force");
        h.exec(["ping", "-c1", "-W5", &family.vip().to_string()]).unwrap();
        // It hears, too: what is put back by somebody else is noticed.
        let prefix = if family == Family::V4 { 32 } else { 128 };
        a.delete_address(&format!("{}/{prefix}", family.vip())).unwrap();
        eventually(SOON, "the VIP is put back", || a.has(family.vip()).unwrap());
        daemon.terminate().unwrap();
        assert_eq!(daemon.wait(SOON).unwrap().code(), Some(0), "{}", daemon.log());
        assert!(!a.has(family.vip()).unwrap());
        wait_for_advert(&capture, Duration::ZERO, a, |seen| seen.priority == 0);
    }
}

#[test]
fn a23_without_one_of_them_it_says_which_and_changes_nothing() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let before = a.addresses("eth0").unwrap();
    for (capabilities, missing) in [
        ("+net_raw", &["CAP_NET_ADMIN"][..]),
        ("+net_admin", &["CAP_NET_RAW"]),
        ("", &["CAP_NET_ADMIN", "CAP_NET_RAW"]),
    ] {
        let daemon = start(a, Family::V4, capabilities);
        let status = daemon.wait(SOON).unwrap();
        let said = daemon.log();
        assert_eq!(status.code(), Some(4), "{said}");
        assert_eq!(said.lines().count(), missing.len(), "one sentence each: {said}");
        for name in missing {
            assert!(said.contains(&format!("capability {name} is missing")), "{said}");
        }
        assert_eq!(a.addresses("eth0").unwrap(), before);
        assert!(!a.run_dir().join("vipd").exists());
    }
    assert!(adverts(&capture).is_empty());
}
