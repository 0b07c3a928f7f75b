//! A fault cuts what its name says, no more and no less, and can be undone.

use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

use lab::{Bridge, Fault, Host, Lab, Mac, Traffic, eventually, within};

const SOON: Duration = Duration::from_secs(5);
/// Far longer than a frame takes through a bridge.
const MOMENT: Duration = Duration::from_millis(200);

struct Segment {
    lab: Lab,
    bridge: Bridge,
    a: Host,
    b: Host,
    c: Host,
}

fn segment() -> Segment {
    let lab = Lab::new().unwrap();
    let bridge = lab.bridge("lan").unwrap();
    let host = |name, n: u8| {
        lab.host(name, &bridge, &[&format!("10.0.0.{n}/24"), &format!("fd00::{n}/64")]).unwrap()
    };
    let (a, b, c) = (host("a", 1), host("b", 2), host("c", 3));
    let segment = Segment { lab, bridge, a, b, c };
    for (from, to) in [("a", 2), ("b", 3), ("c", 1)] {
        let from = [&segment.a, &segment.b, &segment.c].into_iter().find(|h| h.name() == from);
        eventually(SOON, "hosts reach each other", || reaches(from.unwrap(), to));
    }
    segment
}

/// Whether each family works from the host to host number `to` and back.
fn pings(from: &Host, to: u8) -> [bool; 2] {
    [format!("10.0.0.{to}"), format!("fd00::{to}")]
        .map(|ip| from.exec(["ping", "-c1", "-W0.5", &ip]).is_ok())
}

fn reaches(from: &Host, to: u8) -> bool {
    pings(from, to) == [true, true]
}

fn cut_off(from: &Host, to: u8) -> bool {
    pings(from, to) == [false, false]
}

/// How many of `count` broadcasts by `from` arrive at `to`.
fn heard(from: &Host, to: &Host, count: usize) -> usize {
    let capture = to.capture("eth0").unwrap();
    from.run(|| {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.set_broadcast(true).unwrap();
        for _ in 0..count {
            socket.send_to(b"heard", "10.0.0.255:9").unwrap();
        }
    })
    .unwrap();
    let arrived = || capture.frames().iter().filter(|f| f.data.ends_with(b"heard")).count();
    // Frames go through the kernel while we wait for nothing: a moment for the last.
    let _ = within(MOMENT, "all frames arrive", || arrived() == count);
    assert_eq!(capture.lost(), 0);
    arrived()
}

/// Sends a frame of the VRRP protocol in each family and counts those that arrive.
fn vrrp_heard(from: &Host, to: &Host) -> usize {
    use socket2::{Domain, Protocol, SockAddr, Socket, Type};
    let capture = to.capture("eth0").unwrap();
    from.run(|| {
        for (domain, to) in [(Domain::IPV4, "10.0.0.255:0"), (Domain::IPV6, "[ff02::12]:0")] {
            let socket = Socket::new(domain, Type::RAW, Some(Protocol::from(112))).unwrap();
            let to: std::net::SocketAddr = to.parse().unwrap();
            if domain == Domain::IPV4 {
                socket.set_broadcast(true).unwrap();
            } else {
                let index = nix::net::if_::if_nametoindex("eth0").unwrap();
                socket.set_multicast_if_v6(index).unwrap();
            }
            // Version 3, no addresses: enough to be taken for VRRP.
            socket.send_to(&[0x31, 1, 100, 0, 0, 100, 0, 0], &SockAddr::from(to)).unwrap();
        }
    })
    .unwrap();
    let arrived = || capture.frames().iter().filter(|f| f.vrrp().is_some()).count();
    let _ = within(MOMENT, "both frames arrive", || arrived() == 2);
    arrived()
}

#[test]
fn a_partition_cuts_two_sets_off_and_heals() {
    lab::require!();
    let Segment { lab: _lab, bridge, a, b, c } = segment();
    bridge.partition(&[&a], &[&b, &c]).unwrap();
    assert!(cut_off(&a, 2) && cut_off(&a, 3) && cut_off(&c, 1));
    assert!(reaches(&b, 3), "those on one side still reach each other");
    bridge.heal().unwrap();
    assert!(reaches(&a, 2) && reaches(&c, 1));
}

#[test]
fn one_way_cuts_one_way() {
    lab::require!();
    let Segment { lab: _lab, bridge, a, b, c } = segment();
    bridge.fault(Fault::one_way(&[&a], &[&b])).unwrap();
    assert_eq!((heard(&a, &b, 5), heard(&b, &a, 5), heard(&a, &c, 5)), (0, 5, 5));
}

#[test]
fn loss_takes_about_its_share() {
    lab::require!();
    let Segment { lab: _lab, bridge, a, b, c } = segment();
    bridge.fault(Fault::one_way(&[&a], &[&b]).percent(30)).unwrap();
    // 1000 draws: the standard deviation is 14.5, so the bounds are seven of them off.
    let arrived = heard(&a, &b, 1000);
    assert!((600..=800).contains(&arrived), "{arrived} of 1000 with 30 % loss");
    assert_eq!(heard(&a, &c, 1000), 1000);
}

#[test]
fn a_vrrp_fault_takes_vrrp_only() {
    lab::require!();
    let Segment { lab: _lab, bridge, a, b, c } = segment();
    assert_eq!(vrrp_heard(&a, &b), 2);
    bridge.fault(Fault::between(&[&a], &[&b]).only(Traffic::Vrrp)).unwrap();
    assert_eq!((vrrp_heard(&a, &b), vrrp_heard(&b, &a), vrrp_heard(&a, &c)), (0, 0, 2));
    assert!(reaches(&a, 2));
    bridge.heal().unwrap();
    bridge.fault(Fault::between(&[&a], &[&b]).only(Traffic::AllButVrrp)).unwrap();
    assert_eq!(vrrp_heard(&a, &b), 2);
    assert!(cut_off(&a, 2));
}

#[test]
fn a_neighbour_fault_takes_arp_and_neighbour_discovery() {
    lab::require!();
    let Segment { lab: _lab, bridge, a, b, .. } = segment();
    bridge.fault(Fault::between(&[&a], &[&b]).only(Traffic::Neighbours)).unwrap();
    assert!(reaches(&a, 2), "what is known stays known");
    a.exec(["ip", "neigh", "flush", "dev", "eth0"]).unwrap();
    assert!(cut_off(&a, 2));
}

#[test]
fn link_down_takes_the_carrier_and_leaves_the_addresses() {
    lab::require!();
    let Segment { lab: _lab, a, .. } = segment();
    a.link_down().unwrap();
    eventually(SOON, "the carrier is lost", || !a.carrier("eth0").unwrap());
    assert!(cut_off(&a, 2));
    assert!(a.has("fd00::1".parse().unwrap()).unwrap());
    a.link_up().unwrap();
    assert!(a.carrier("eth0").unwrap());
    eventually(SOON, "a is back", || reaches(&a, 2));
}

#[test]
fn own_link_down_takes_ipv6_addresses_and_up_gives_them_back() {
    lab::require!();
    let Segment { lab: _lab, a, .. } = segment();
    let (v4, v6): (IpAddr, IpAddr) = ("10.0.0.1".parse().unwrap(), "fd00::1".parse().unwrap());
    a.own_link_down().unwrap();
    assert_eq!((a.has(v4).unwrap(), a.has(v6).unwrap()), (true, false));
    a.own_link_up().unwrap();
    assert_eq!((a.has(v4).unwrap(), a.has(v6).unwrap()), (true, true));
    eventually(SOON, "a is back", || reaches(&a, 2));
}

#[test]
fn a_disabled_port_cuts_and_leaves_the_carrier() {
    lab::require!();
    let Segment { lab: _lab, a, b, c, .. } = segment();
    a.port_disable().unwrap();
    assert!(a.carrier("eth0").unwrap());
    assert_eq!((heard(&a, &b, 5), heard(&b, &a, 5), heard(&b, &c, 5)), (0, 0, 5));
    a.port_enable().unwrap();
    assert_eq!((heard(&a, &b, 5), heard(&b, &a, 5)), (5, 5));
}

#[test]
fn flushed_addresses_are_gone_to_the_last() {
    lab::require!();
    let Segment { lab: _lab, a, .. } = segment();
    a.add_address("10.0.0.100/24").unwrap(); // a secondary one
    a.add_address("192.0.2.1/32").unwrap();
    assert_eq!(a.addresses("eth0").unwrap().len(), 5);
    a.flush_addresses().unwrap();
    assert_eq!(a.addresses("eth0").unwrap(), []);
}

#[test]
fn an_interface_that_is_gone_has_no_list_of_addresses() {
    lab::require!();
    let Segment { lab: _lab, a, .. } = segment();
    let (before, mac) = (a.addresses("eth0").unwrap(), a.mac("eth0").unwrap());
    a.delete_interface().unwrap();
    a.addresses("eth0").expect_err("no interface is not an empty list");
    a.recreate_interface().unwrap();
    let after = a.addresses("eth0").unwrap();
    assert_ne!(before[0].interface, after[0].interface, "another interface");
    assert_eq!((after[0].ip, a.mac("eth0").unwrap()), (before[0].ip, mac));
    eventually(SOON, "a is back", || reaches(&a, 2));
}

#[test]
fn a_changed_mac_is_what_others_learn() {
    lab::require!();
    let Segment { lab: _lab, a, b, .. } = segment();
    let mac = Mac([2, 0, 0, 0, 0, 9]);
    a.set_mac(mac).unwrap();
    b.exec(["ip", "neigh", "flush", "dev", "eth0"]).unwrap();
    eventually(SOON, "b reaches a", || reaches(&b, 1));
    assert_eq!(b.neighbour("10.0.0.1".parse().unwrap()).unwrap(), Some(mac));
}

#[test]
fn addresses_work_at_once_unless_duplicate_detection_is_wanted() {
    lab::require!();
    let lab = Lab::new().unwrap();
    let bridge = lab.bridge("lan").unwrap();
    let quick = lab.host("quick", &bridge, &["fd00::1/64"]).unwrap();
    let asking = lab.host_with_dad("asking", &bridge, &["fd00::2/64"]).unwrap();
    let tentative = |h: &Host| h.addresses("eth0").unwrap().iter().any(|a| a.tentative);
    assert!(!tentative(&quick) && tentative(&asking));
    eventually(SOON, "detection ends", || !tentative(&asking));
}
