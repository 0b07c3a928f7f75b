//! Promise (A20): who takes a VIP over tells the segment at once, several times, again a little
//! later, and from then on every minute or as often as asked; nobody else announces it.
#![allow(clippy::unwrap_used)]

use std::net::IpAddr;
use std::time::Duration;

use lab::{Capture, Host, Mac};
use promises::{Family, Router, SOON, Segment, node, parse, vipd, wait_for_advert};
use vrrp_core::{AnnounceSchedule, Config, VirtualAddrs, Vrid};
use vrrp_net::{NodeConfig, RouterConfig};

/// How far timers may be off on a busy machine.
const BUSY: Duration = Duration::from_millis(150);

/// When each announcement of a VIP left a host, having checked its bytes.
fn announcements(capture: &Capture, host: &Host, vip: IpAddr) -> Vec<Duration> {
    let mac = host.mac("eth0").unwrap();
    announced_with(capture, host, vip, mac)
}

fn announced_with(capture: &Capture, host: &Host, vip: IpAddr, mac: Mac) -> Vec<Duration> {
    let mut times = Vec::new();
    for frame in capture.frames() {
        let from_host = *frame.port == *host.name();
        if let Some(garp) = frame.garp().filter(|garp| IpAddr::from(garp.sender) == vip) {
            assert!(from_host, "{} announces {vip}: {garp:?}", frame.port);
            assert!(garp.request, "the request form, which all stacks take: {garp:?}");
            assert_eq!(garp.dst_mac, Mac([0xff; 6]), "{garp:?}");
            assert_eq!(garp.src_mac, garp.sender_mac, "{garp:?}");
            times.extend((garp.sender_mac == mac).then_some(frame.at));
        }
        if let Some(na) = frame.unsolicited_na().filter(|na| IpAddr::from(na.target) == vip) {
            assert!(from_host, "{} announces {vip}: {na:?}", frame.port);
            assert!(na.overrides, "neighbours must replace what they know: {na:?}");
            assert_eq!((IpAddr::from(na.src), na.target_mac), (vip, Some(na.src_mac)), "{na:?}");
            assert_eq!(na.dst, std::net::Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1), "{na:?}");
            times.extend((na.src_mac == mac).then_some(frame.at));
        }
    }
    times
}

fn wait_for(capture: &Capture, host: &Host, vip: IpAddr, count: usize) -> Vec<Duration> {
    lab::eventually(SOON, format!("{count} announcements of {vip}"), || {
        announcements(capture, host, vip).len() >= count
    });
    announcements(capture, host, vip)
}

fn takeover(family: Family) {
    let segment = Segment::new();
    let Segment { bridge, a, b, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let routers = [Router::new(200, family), Router::new(100, family)];
    let _on_a = vipd!().start(a, &routers[0].toml()).unwrap();
    segment.settles_on(&capture, a, family);
    let _on_b = vipd!().start(b, &routers[1].toml()).unwrap();

    // Everybody is told at once: the advertisement goes first, and each VIP five times with it.
    let advert = wait_for_advert(&capture, Duration::ZERO, a, |_| true);
    for vip in &routers[0].vips {
        let burst = wait_for(&capture, a, vip.parse().unwrap(), 5);
        assert!(burst[0] > advert.at, "the advertisement goes first");
        assert!(burst[4] <= advert.at + BUSY, "{vip}: {burst:?} after {:?}", advert.at);
    }
    // A second burst follows after 5 s. The Backup has said nothing (see `announcements`).
    let all = wait_for(&capture, a, family.vip(), 10);
    let repeated = all[5] - all[0];
    let five = Duration::from_secs(5);
    assert!(repeated + BUSY >= five && repeated <= five + BUSY, "repeated after {repeated:?}");
}

#[test]
fn a20_a_takeover_is_announced_at_once_and_again_by_arp() {
    lab::require!();
    takeover(Family::V4);
}

#[test]
fn a20_a_takeover_is_announced_at_once_and_again_by_neighbour_advertisement() {
    lab::require!();
    takeover(Family::V6);
}

#[test]
fn a20_the_refresh_is_every_minute_unless_asked_otherwise() {
    let config = parse(&Router::new(100, Family::V4).toml());
    assert_eq!(config.routers()[0].protocol().announce().refresh, Duration::from_secs(60));
}

fn refresh(family: Family) {
    let segment = Segment::new();
    let Segment { bridge, a, .. } = &segment;
    let schedule = AnnounceSchedule {
        burst: 2,
        repeat_after: Duration::from_millis(300),
        refresh: Duration::from_millis(800),
    };
    let config = scheduled(family, schedule);
    let capture = bridge.capture().unwrap();
    let _node = node(a, &config);
    let times = wait_for(&capture, a, family.vip(), 8);
    let after: Vec<Duration> = times.iter().map(|time| *time - times[0]).collect();
    let expected = [0, 0, 300, 300, 800, 1600, 2400, 3200].map(Duration::from_millis);
    for (after, expected) in after.iter().zip(expected) {
        assert!(*after + BUSY > expected && *after < expected + BUSY, "{times:?}");
    }
}

#[test]
fn a20_an_owner_repeats_its_announcement_by_arp_as_often_as_asked() {
    lab::require!();
    refresh(Family::V4);
}

#[test]
fn a20_an_owner_repeats_its_announcement_by_neighbour_advertisement_as_often_as_asked() {
    lab::require!();
    refresh(Family::V6);
}

#[test]
fn b72_an_owner_whose_ethernet_address_changes_announces_the_new_one_at_once() {
    lab::require!();
    for family in Family::BOTH {
        let segment = Segment::new();
        let Segment { bridge, a, h, .. } = &segment;
        let capture = bridge.capture().unwrap();
        let _vipd = vipd!().start(a, &Router::new(200, family).toml()).unwrap();
        wait_for(&capture, a, family.vip(), 5);
        let client = |what: &str| {
            lab::eventually(SOON, what, || {
                h.exec(["ping", "-c1", "-W1", &family.vip().to_string()]).is_ok()
            });
        };
        client("the client reaches the VIP");

        let mac = Mac([0x02, 0x72, 0, 0, 0, 1]);
        let changed = capture.now();
        a.set_mac(mac).unwrap();
        lab::eventually(SOON, "the new one is announced", || {
            !announced_with(&capture, a, family.vip(), mac).is_empty()
        });
        let first = announced_with(&capture, a, family.vip(), mac)[0];
        assert!(first - changed < BUSY, "announced after {:?}", first - changed);
        lab::eventually(SOON, "the client knows the new one", || {
            h.neighbour(family.vip()).unwrap() == Some(mac)
        });
        client("the client still reaches the VIP");
    }
}

fn scheduled(family: Family, schedule: AnnounceSchedule) -> NodeConfig {
    let vips = VirtualAddrs::new(&[family.vip()]).unwrap();
    let protocol = Config::builder(Vrid::new(51).unwrap(), vips)
        .interval(vrrp_core::AdvertInterval::from_centis(10).unwrap())
        .announce(schedule)
        .build()
        .unwrap();
    let name = ("r".parse().unwrap(), "eth0".parse().unwrap());
    let router = RouterConfig::builder(name.0, name.1, protocol).build().unwrap();
    NodeConfig::new(vec![router]).unwrap()
}
