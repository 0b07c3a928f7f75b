//! The peers that the library must get on with run in the lab, and elect.

use std::net::IpAddr;
use std::time::Duration;

use lab::peers::{Frr, FrrRouter, Instance, Keepalived};
use lab::{Bridge, Capture, Checksum, Host, Lab, VrrpSeen, eventually};

/// Three intervals and a skew, and room for a busy machine.
const SOON: Duration = Duration::from_secs(15);

fn segment() -> (Lab, Bridge, [Host; 3]) {
    let lab = Lab::new().unwrap();
    let bridge = lab.bridge("lan").unwrap();
    let host = |n: u8| {
        let name = ["a", "b", "c"][usize::from(n) - 1];
        lab.host(name, &bridge, &[&format!("10.0.0.{n}/24"), &format!("fd00::{n}/64")]).unwrap()
    };
    let hosts = [1, 2, 3].map(host);
    (lab, bridge, hosts)
}

fn advert(capture: &Capture, wanted: impl Fn(&VrrpSeen) -> bool) -> VrrpSeen {
    let frame = capture.wait_for(SOON, |f| f.vrrp().is_some_and(|v| wanted(&v)));
    frame.and_then(|f| f.vrrp()).expect("an advertisement in time")
}

fn keepalived(priority: u8, vip: &str) -> Keepalived {
    let interval = Duration::from_millis(100);
    Keepalived::new([Instance {
        priority,
        interval,
        vips: vec![vip.into()],
        ..Instance::default()
    }])
}

#[test]
fn two_keepalived_have_one_owner_and_fail_over() {
    lab::require!(Keepalived::available());
    let (_lab, bridge, [a, b, client]) = segment();
    let vip: IpAddr = "10.0.0.100".parse().unwrap();
    let capture = bridge.capture().unwrap();
    let _echoes = [a.echo().unwrap(), b.echo().unwrap()];
    let first = keepalived(200, "10.0.0.100/24").start(&a).unwrap();
    let _second = keepalived(100, "10.0.0.100/24").start(&b).unwrap();
    eventually(SOON, "a has the VIP", || a.has(vip).unwrap());
    eventually(SOON, "b has not", || !b.has(vip).unwrap());
    let seen = advert(&capture, |v| v.priority == 200);
    assert_eq!((seen.version, seen.vrid, seen.ttl), (3, 51, 255));
    assert_eq!((seen.addresses, seen.checksum), (vec![vip], Checksum::PseudoHeader));
    assert_eq!(seen.interval, Duration::from_millis(100));

    let probe = client.probe(vip, Duration::from_millis(10)).unwrap();
    eventually(SOON, "the client hears a", || probe.owner().as_deref() == Some("a"));
    let before = capture.now();
    first.terminate().unwrap();
    assert!(first.wait(SOON).unwrap().success());
    advert(&capture, |v| v.priority == 0);
    eventually(SOON, "b has the VIP", || b.has(vip).unwrap());
    assert!(!a.has(vip).unwrap());
    let garp =
        capture.wait_for(SOON, |f| f.at > before && f.garp().is_some_and(|g| g.sender == vip));
    assert_eq!(&*garp.expect("b announces the VIP").port, "b");

    eventually(SOON, "the client hears b", || probe.owner().as_deref() == Some("b"));
    assert_eq!(client.neighbour(vip).unwrap(), Some(b.mac("eth0").unwrap()));
    let report = probe.finish().unwrap();
    let mut owners: Vec<_> = report.timeline().into_iter().filter_map(|s| s.owner).collect();
    owners.dedup();
    assert_eq!(owners, ["a".into(), "b".into()], "{report:?}");
    assert_eq!(report.answered_twice(), 0);
    assert!(report.lost() > 0, "a v3 failover takes a skew time at least: {report:?}");
}

#[test]
fn keepalived_speaks_version_2_with_a_password_to_a_unicast_peer() {
    lab::require!(Keepalived::available());
    let (_lab, bridge, [a, _, _]) = segment();
    let capture = bridge.capture().unwrap();
    let router = Instance {
        version: 2,
        vips: vec!["10.0.0.100/32 label vip".into()],
        unicast: vec!["10.0.0.2".parse().unwrap()],
        password: Some("secretsx".into()),
        ..Instance::default()
    };
    let _router = Keepalived::new([router]).start(&a).unwrap();
    let seen = advert(&capture, |_| true);
    assert_eq!((seen.version, seen.interval), (2, Duration::from_secs(1)));
    assert_eq!(seen.auth, Some((1, *b"secretsx")));
    assert_eq!(seen.dst, "10.0.0.2".parse::<IpAddr>().unwrap());
    assert!(seen.checksum_ok(), "{seen:?}");
    let vip: IpAddr = "10.0.0.100".parse().unwrap();
    eventually(SOON, "the VIP has its label", || {
        let addresses = a.addresses("eth0").unwrap();
        addresses.iter().any(|a| a.ip == vip && a.label.as_deref() == Some("vip"))
    });
}

#[test]
fn keepalived_announces_an_ipv6_vip() {
    lab::require!(Keepalived::available());
    let (_lab, bridge, [a, _, _]) = segment();
    let capture = bridge.capture().unwrap();
    let vip: IpAddr = "fd00::64".parse().unwrap();
    // By RFC 9568 5.2.9 the first address is a link-local one.
    let mut config = keepalived(100, "fe80::64");
    config.instances[0].vips.push("fd00::64/128".into());
    let _router = config.start(&a).unwrap();
    let seen = advert(&capture, |v| v.priority == 100);
    assert_eq!((seen.checksum, seen.addresses.len()), (Checksum::PseudoHeader, 2));
    let na = capture.wait_for(SOON, |f| f.unsolicited_na().is_some_and(|n| n.target == vip));
    let na = na.and_then(|f| f.na()).expect("an unsolicited NA");
    assert_eq!((na.target_mac, na.overrides), (Some(a.mac("eth0").unwrap()), true));
}

#[test]
fn frr_brings_a_vip_up_in_version_2() {
    lab::require!(Frr::available());
    frr_brings_a_vip_up(FrrRouter { version: 2, ..FrrRouter::default() }, "10.0.0.100/24");
}

#[test]
fn frr_brings_a_vip_up_in_version_3() {
    lab::require!(Frr::available());
    let interval = Duration::from_millis(200);
    frr_brings_a_vip_up(FrrRouter { interval, ..FrrRouter::default() }, "10.0.0.100/24");
}

#[test]
fn frr_brings_an_ipv6_vip_up() {
    lab::require!(Frr::available());
    let interval = Duration::from_millis(200);
    frr_brings_a_vip_up(FrrRouter { interval, ..FrrRouter::default() }, "fd00::64/64");
}

fn frr_brings_a_vip_up(router: FrrRouter, vip: &str) {
    let (_lab, bridge, [a, _, client]) = segment();
    let capture = bridge.capture().unwrap();
    let ip: IpAddr = vip.split('/').next().unwrap().parse().unwrap();
    let (version, vrid) = (router.version, router.vrid);
    let router = FrrRouter { vips: vec![vip.into()], ..router };
    let frr = Frr::start(&a, &[router]).unwrap();

    let seen = advert(&capture, |v| v.priority == 100);
    assert_eq!((seen.version, seen.vrid), (version, vrid));
    assert!(seen.checksum_ok(), "{seen:?}");
    assert!(seen.addresses.contains(&ip), "{seen:?}");
    let family = if ip.is_ipv4() { 1 } else { 2 };
    assert_eq!(seen.src_mac, lab::Mac([0, 0, 0x5e, 0, family, vrid]));
    eventually(SOON, "FRR is Active", || frr.is_active(vrid, ip.is_ipv6()).unwrap());
    eventually(SOON, "the client reaches the VIP", || {
        client.exec(["ping", "-c1", "-W1", &ip.to_string()]).is_ok()
    });
    assert_eq!(client.neighbour(ip).unwrap(), Some(seen.src_mac));
}
