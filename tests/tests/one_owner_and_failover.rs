//! Promise: of several routers one owns the VIP. When it dies another takes over, not before its
//! time and soon after; when it comes back it takes the VIP back; a planned stop costs a client
//! nothing. With our own routers, and with keepalived in either place.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use lab::peers::Keepalived;
use lab::{Capture, Host, Process, Report, eventually};
use promises::{
    Advert, Family, Router, SOON, Segment, Style, adverts, adverts_of, vipd, wait_for_advert,
};

/// What two kernel timestamps of one packet, taken on two hosts, may be apart.
const SAME_PACKET: Duration = Duration::from_millis(2);
/// How late a wake-up may be on a machine that is busy with other tests.
const BUSY: Duration = Duration::from_millis(150);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Software {
    Ours,
    Keepalived,
}

use Software::{Keepalived as Theirs, Ours};

impl Software {
    fn start(self, host: &Host, router: &Router) -> Process {
        match self {
            Ours => vipd!().start(host, &router.toml()).unwrap(),
            Theirs => router.keepalived().start(host).unwrap(),
        }
    }
}

#[test]
fn ipv4_between_ours() {
    lab::require!();
    tell(Ours, Ours, Family::V4);
}

#[test]
fn ipv6_between_ours() {
    lab::require!();
    tell(Ours, Ours, Family::V6);
}

#[test]
fn ipv4_ours_above_keepalived() {
    lab::require!(Keepalived::available());
    tell(Ours, Theirs, Family::V4);
}

#[test]
fn ipv6_ours_above_keepalived() {
    lab::require!(Keepalived::available());
    tell(Ours, Theirs, Family::V6);
}

#[test]
fn ipv4_ours_below_keepalived() {
    lab::require!(Keepalived::available());
    tell(Theirs, Ours, Family::V4);
}

#[test]
fn ipv6_ours_below_keepalived() {
    lab::require!(Keepalived::available());
    tell(Theirs, Ours, Family::V6);
}

/// How many of the lost questions were sent to `successor` and to nobody else.
fn lost_by(capture: &Capture, client: &Host, successor: &Host, report: &Report) -> usize {
    const APART: Duration = Duration::from_millis(1);
    let offset = report.started.duration_since(capture.started()).unwrap();
    let (mac, frames) = (successor.mac("eth0").unwrap(), capture.frames());
    let lost = report.probes.iter().filter(|probe| {
        probe.answer.as_ref().is_none_or(|(at, _)| at.saturating_sub(probe.sent) > lab::PATIENCE)
    });
    lost.filter(|probe| {
        let sent = probe.sent + offset;
        let mut near = frames
            .iter()
            .filter(|frame| *frame.port == *client.name() && frame.at.abs_diff(sent) < APART)
            .peekable();
        near.peek().is_some() && near.all(|frame| frame.dst_mac() == mac)
    })
    .count()
}

/// Election, crash, return and planned stop, with `first` on `a` and `second` on `b`.
fn tell(first: Software, second: Software, family: Family) {
    let segment = Segment::new();
    let Segment { bridge, a, b, h, .. } = &segment;
    let (high, low) = (Router::new(200, family), Router::new(100, family));
    let vip = family.vip();
    let _echoes = [a.echo().unwrap(), b.echo().unwrap()];
    let capture = bridge.capture().unwrap();

    // Election: started together, the higher priority wins.
    let on_a = first.start(a, &high);
    let on_b = second.start(b, &low);
    segment.settles_on(&capture, a, family);

    // Crash. What the dead leave in the kernel is not judged here: clients follow announcements.
    on_a.kill().unwrap();
    on_a.wait(SOON).unwrap();
    let last = adverts_of(&capture, a).pop().unwrap();
    let takeover = wait_for_advert(&capture, last.at, b, |seen| seen.priority == 100);
    let (silence, down) = (takeover.at - last.at, low.active_down());
    assert!(silence + SAME_PACKET >= down, "b waits for {down:?}, and did so for {silence:?}");
    if second == Ours {
        assert!(silence <= down + BUSY, "b waits for {down:?}, and did so for {silence:?}");
    }
    eventually(SOON, "the client goes to b", || {
        let _ = h.exec(["ping", "-c1", "-W1", &vip.to_string()]);
        b.has(vip).unwrap() && h.neighbour(vip).unwrap() == Some(b.mac("eth0").unwrap())
    });
    assert_eq!(adverts_of(&capture, a).pop().unwrap().at, last.at, "the dead are silent");

    // Return: the higher priority takes over from the living.
    let on_a = first.start(a, &high);
    segment.settles_on(&capture, a, family);

    // Planned stop.
    let probe = h.probe(vip, Duration::from_millis(4)).unwrap();
    eventually(SOON, "the client hears a", || probe.owner().as_deref() == Some("a"));
    let before = capture.now();
    on_a.terminate().unwrap();
    assert!(on_a.wait(SOON).unwrap().success());
    assert!(!a.has(vip).unwrap(), "the VIP is off when the exit status is there");
    let resignation = wait_for_advert(&capture, before, a, |seen| seen.priority == 0);
    segment.settles_on(&capture, b, family);
    eventually(SOON, "the client hears b", || probe.owner().as_deref() == Some("b"));
    let report = probe.finish().unwrap();
    if first == Ours {
        // keepalived announces an IPv6 address before its kernel takes packets in for it; what
        // reaches it in between is its loss.
        let theirs = match (second, family) {
            (Theirs, Family::V6) => lost_by(&capture, h, b, &report),
            _ => 0,
        };
        assert_eq!(report.lost(), theirs, "{:?}", report.timeline());
    }
    let successor = wait_for_advert(&capture, resignation.at, b, |_| true);
    let (after, skew) = (successor.at - resignation.at, low.active_down() - 3 * low.interval);
    assert!(after <= skew + BUSY, "the successor waits for {skew:?}, and did so for {after:?}");
    drop(on_b);

    judge(&capture, family, [(first, a), (second, b)]);
}

/// Every advertisement of ours, byte by byte.
fn judge(capture: &Capture, family: Family, routers: [(Software, &Host); 2]) {
    for (software, host) in routers {
        let sent = adverts_of(capture, host);
        assert!(sent.len() > 5, "{} sent something", host.name());
        for advert in sent.iter().filter(|_| software == Ours) {
            advert.assert_valid(host, family, Style::PseudoHeader);
            let expected = if host.name() == "a" { [200, 0] } else { [100, 0] };
            assert!(expected.contains(&advert.seen.priority), "{advert:?}");
            assert_eq!(advert.seen.interval, Duration::from_millis(200));
        }
    }
    let all: Vec<Advert> = adverts(capture);
    assert!(all.iter().all(|advert| advert.seen.checksum_ok()));
    assert_eq!(capture.lost(), 0);
}
