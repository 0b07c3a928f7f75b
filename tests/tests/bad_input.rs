//! Promise: what cannot work is refused at the start, each with its own exit status and a sentence,
//! and with nothing changed; what goes wrong later is survived.
#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::time::Duration;

use lab::{Host, Signal, eventually};
use promises::{
    Family, Router, SOON, Segment, adverts, adverts_of, restricted, vipd, wait_for_advert,
};

fn router(priority: u8) -> Router {
    Router { interval: Duration::from_millis(100), ..Router::new(priority, Family::V4) }
}

/// Starts `vipd`, waits for its end, and returns its exit status and what it said.
#[track_caller]
fn refused(host: &Host, config: &str) -> (i32, String) {
    let before = host.addresses("eth0").unwrap();
    let capture = host.capture("eth0").unwrap();
    let daemon = vipd!().start(host, config).unwrap();
    let code = daemon.wait(SOON).unwrap().code().expect("no signal ended it");
    assert_eq!(host.addresses("eth0").unwrap(), before, "nothing was changed");
    assert!(!host.run_dir().join("vipd").exists(), "nothing was written");
    assert!(adverts(&capture).is_empty(), "nothing was sent");
    (code, daemon.log())
}

#[test]
fn a_missing_interface_is_status_5() {
    lab::require!();
    let Segment { a, .. } = &Segment::new();
    let missing = Router { interface: "eth9".into(), ..router(100) };
    let (code, said) = refused(a, &missing.toml());
    assert_eq!(code, 5, "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("there is no interface eth9"), "{said}");
}

#[test]
fn a_missing_interface_of_one_router_keeps_the_others_from_starting() {
    lab::require!();
    let Segment { a, .. } = &Segment::new();
    let missing = Router {
        name: "s".into(),
        vrid: 52,
        interface: "eth9".into(),
        vips: vec!["10.0.0.51".into()],
        ..router(100)
    };
    let (code, said) = refused(a, &(router(100).toml() + &missing.toml()));
    assert_eq!(code, 5, "{said}");
}

#[test]
fn a_missing_capability_is_status_4() {
    lab::require!();
    let Segment { a, .. } = &Segment::new();
    let before = a.addresses("eth0").unwrap();
    a.write("vipd.toml", router(100).toml()).unwrap();
    let daemon = a.spawn(restricted(env!("CARGO_BIN_EXE_vipd-under-test"), "+net_raw")).unwrap();
    assert_eq!(daemon.wait(SOON).unwrap().code(), Some(4), "{}", daemon.log());
    assert_eq!(a.addresses("eth0").unwrap(), before);
}

/// Each mistake with the setting that the message has to name.
fn mistakes() -> Vec<(String, &'static str)> {
    let more = |line: &str| Router { more: line.into(), ..router(100) }.toml();
    let vips = |list: &[&str]| {
        let vips = list.iter().map(|vip| (*vip).to_owned()).collect();
        Router { vips, ..router(100) }.toml()
    };
    let good = router(100).toml();
    let second = Router { name: "s".into(), vrid: 52, ..router(100) }.toml();
    vec![
        ("[[router]".into(), "TOML"),
        ("router = 1".into(), "router"),
        (more("prority = 100"), "prority"),
        (more("track = []"), "track"),
        (more("version = \"3\""), "version"),
        (more("version = 4"), "version"),
        (more("version = 2"), "advert_interval"),
        (good.replace("100ms", "45ms"), "advert_interval"),
        (good.replace("100ms", "41s"), "advert_interval"),
        (good.replace("100ms", "0s"), "advert_interval"),
        (good.replace("priority = 100", "priority = 0"), "priority"),
        (good.replace("priority = 100", "priority = 256"), "priority"),
        (good.replace("vrid = 51", "vrid = 0"), "vrid"),
        (good.replace("vrid = 51", "vrid = 256"), "vrid"),
        (good.replace("\"eth0\"", "\"abcdefghijklmnop\""), "interface"),
        (more("unicast = { peers = [] }"), "peers"),
        (more("auth = { pass = \"secret\" }"), "auth"),
        (vips(&["10.0.0.50", "fd00::50"]), "addresses"),
        (vips(&[]), "addresses"),
        (vips(&["fd00::50"]) + "label = \"vip\"\n", "label"),
        (more("label = \"0123456789abcdef\""), "label"),
        (good.clone() + &second, "addresses"),
        (vips(&["fd00::50"]).replace("100ms", "1s") + "version = 2\n", "version"),
    ]
}

#[test]
fn a_bad_configuration_is_status_3_and_nothing_privileged_was_done() {
    lab::require!();
    let Segment { a, .. } = &Segment::new();
    for (config, setting) in mistakes() {
        let (code, said) = refused(a, &config);
        assert_eq!(code, 3, "{config}\n{said}");
        let placed = said.lines().all(|line| line.contains("/run/vipd.toml:"));
        assert!(placed && said.contains(setting), "file, line and {setting}:\n{config}\n{said}");
    }
    // A file that is not there is a bad configuration too.
    let mut command = Command::new(env!("CARGO_BIN_EXE_vipd-under-test"));
    command.args(["--config", "/run/nothing.toml"]);
    let daemon = a.spawn(command).unwrap();
    assert_eq!(daemon.wait(SOON).unwrap().code(), Some(3), "{}", daemon.log());
}

#[test]
fn no_router_is_no_error_and_vipd_is_idle_until_it_is_told_to_stop() {
    lab::require!();
    let Segment { bridge, a, .. } = &Segment::new();
    let capture = bridge.capture().unwrap();
    let before = a.addresses("eth0").unwrap();
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let daemon = vipd!().start(a, "").unwrap();
        eventually(SOON, "it has started", || ready(&daemon));
        // It takes a router later, and is idle again without.
        vipd!().reload(a, &daemon, &router(100).toml()).unwrap();
        eventually(SOON, "it owns", || a.has(Family::V4.vip()).unwrap());
        vipd!().reload(a, &daemon, "").unwrap();
        eventually(SOON, "it is idle", || !a.has(Family::V4.vip()).unwrap());
        daemon.signal(signal).unwrap();
        assert_eq!(daemon.wait(SOON).unwrap().code(), Some(0), "{}", daemon.log());
    }
    assert_eq!(a.addresses("eth0").unwrap(), before);
    assert_eq!(capture.lost(), 0);
}

/// Signals before this are for the kernel's default: they end the process.
fn ready(daemon: &lab::Process) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
    let all = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];
    all.iter().all(|&signal| caught & 1 << (signal as u32 - 1) != 0)
}

#[test]
fn an_idle_vipd_stops_with_status_0() {
    lab::require!();
    let Segment { a, .. } = &Segment::new();
    let daemon = vipd!().start(a, "").unwrap();
    eventually(SOON, "it has started", || ready(&daemon));
    daemon.terminate().unwrap();
    assert_eq!(daemon.wait(SOON).unwrap().code(), Some(0), "{}", daemon.log());
}

#[test]
fn an_interface_that_vanishes_later_is_waited_for() {
    lab::require!();
    let Segment { bridge, a, .. } = &Segment::new();
    let capture = bridge.capture().unwrap();
    let daemon = vipd!().start(a, &router(100).toml()).unwrap();
    wait_for_advert(&capture, Duration::ZERO, a, |_| true);
    a.delete_interface().unwrap();
    // It reads its configuration meanwhile, and stops if asked.
    vipd!().reload(a, &daemon, &router(101).toml()).unwrap();
    let since = capture.now();
    a.recreate_interface().unwrap();
    wait_for_advert(&capture, since, a, |seen| seen.priority == 101);
    a.delete_interface().unwrap();
    daemon.terminate().unwrap();
    assert_eq!(daemon.wait(SOON).unwrap().code(), Some(0), "{}", daemon.log());
}

#[test]
fn a_reload_of_a_bad_file_keeps_the_old_configuration() {
    lab::require!();
    let Segment { bridge, a, .. } = &Segment::new();
    let vip = Family::V4.vip();
    let capture = bridge.capture().unwrap();
    let daemon = vipd!().start(a, &router(100).toml()).unwrap();
    wait_for_advert(&capture, Duration::ZERO, a, |_| true);
    eventually(SOON, "it owns", || a.has(vip).unwrap());
    for (config, _) in mistakes() {
        let lines = daemon.log().lines().count();
        vipd!().reload(a, &daemon, &config).unwrap();
        // Only to know when it has been read: what is judged is below.
        eventually(SOON, "it was read", || daemon.log().lines().count() > lines + 1);
        assert!(a.has(vip).unwrap() && daemon.is_running(), "{}", daemon.log());
    }
    let since = capture.now();
    eventually(SOON, "ten more advertisements", || {
        adverts(&capture).iter().filter(|advert| advert.at > since).count() >= 10
    });
    let sent = adverts_of(&capture, a);
    assert!(sent.iter().all(|advert| advert.seen.priority == 100));
    let gaps = sent.windows(2).map(|pair| pair[1].at - pair[0].at);
    assert!(gaps.max().unwrap() < Duration::from_millis(250), "the cadence is kept");

    // And a good one is taken after that.
    vipd!().reload(a, &daemon, &router(102).toml()).unwrap();
    wait_for_advert(&capture, since, a, |seen| seen.priority == 102);
    assert!(a.has(vip).unwrap());
}
