//! Promise: an embedder that holds a `Node` sees what is true, in order; gives VIPs up with proof;
//! and changes settings without a flap.
#![allow(clippy::unwrap_used)]

use std::net::IpAddr;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lab::{Capture, Host, eventually};
use promises::{
    Family, Router, SOON, Segment, adverts, adverts_of, node, parse, vipd, wait_for_advert,
};
use vrrp_core::{AddressState, Event, State};
use vrrp_net::{EventKind, Events, Node, NodeConfig, NodeEvent, ResignMode, Resigned};

const VIP: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 50));
const INTERVAL: Duration = Duration::from_millis(100);

/// Slow enough for a busy machine to tell one phase of a cadence from another.
const SLOW: Duration = Duration::from_millis(400);

fn router(priority: u8) -> Router {
    Router { interval: INTERVAL, ..Router::new(priority, Family::V4) }
}

fn slow(priority: u8) -> Router {
    Router { interval: SLOW, ..router(priority) }
}

fn config(router: &Router) -> NodeConfig {
    parse(&router.toml())
}

/// A node on `a` that owns the VIP.
fn owner(segment: &Segment, capture: &Capture) -> Node {
    let node = node(&segment.a, &config(&router(200)));
    segment.settles_on(capture, &segment.a, Family::V4);
    node
}

/// A node on `b` that has heard the owner, and is ready to succeed it.
fn node_on_b(segment: &Segment, config: &NodeConfig) -> Node {
    let node = node(&segment.b, config);
    eventually(SOON, "b follows", || follows(&node));
    node
}

fn follows(node: &Node) -> bool {
    let snapshot = node.status().routers[0].snapshot;
    snapshot.state == State::Backup && snapshot.active.is_some()
}

fn state(node: &Node) -> (State, AddressState) {
    let snapshot = node.status().routers[0].snapshot;
    (snapshot.state, snapshot.addresses)
}

fn resignations(capture: &Capture, host: &Host) -> usize {
    adverts_of(capture, host).iter().filter(|advert| advert.seen.priority == 0).count()
}

/// Checks at every look, for so long, that nothing happens.
#[track_caller]
fn throughout(window: Duration, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + window;
    eventually(SOON, "the window ends", || {
        assert!(holds());
        Instant::now() >= end
    });
}

#[test]
fn a_status_says_what_is_true_and_does_not_wait() {
    lab::require!();
    let segment = Segment::new();
    let capture = segment.bridge.capture().unwrap();
    let node = owner(&segment, &capture);
    eventually(SOON, "it knows", || state(&node) == (State::Active, AddressState::Present));
    let status = node.status();
    let router = &status.routers[0];
    assert_eq!((router.name.as_str(), router.interface.as_str()), ("r", "eth0"));
    assert_eq!(router.vips.iter().map(|vip| vip.address()).collect::<Vec<_>>(), [VIP]);
    assert_eq!(router.snapshot.source, Some([10, 0, 0, 1].into()));
    assert_eq!((router.snapshot.priority.value(), router.snapshot.epoch), (200, 1));
    // An Active's loop runs at least once an interval.
    throughout(5 * INTERVAL, || node.status().loop_age < 2 * INTERVAL);

    // A17: from memory, thousands of times, in less than 10 ms each.
    let slowest = (0..2000).map(|_| {
        let start = Instant::now();
        let _ = node.status();
        start.elapsed()
    });
    let mut times: Vec<Duration> = slowest.collect();
    times.sort();
    assert!(times[times.len() * 99 / 100] < Duration::from_millis(10), "{:?}", times.last());

    // What others do is seen as well.
    segment.a.delete_interface().unwrap();
    eventually(SOON, "it knows", || state(&node) == (State::Initialize, AddressState::Absent));
}

/// Reads events until one is wanted. It is the last.
fn until(events: &mut Events, wanted: impl Fn(&Event) -> bool) -> Vec<NodeEvent> {
    let mut seen = Vec::new();
    loop {
        let event = events.next_blocking().expect("no event is missed");
        seen.push(event.clone());
        if matches!(&event.kind, EventKind::Protocol(event) if wanted(event)) {
            return seen;
        }
    }
}

fn protocol(events: &[NodeEvent], wanted: impl Fn(&Event) -> bool) -> Option<usize> {
    events.iter().position(|e| matches!(&e.kind, EventKind::Protocol(event) if wanted(event)))
}

#[test]
fn b46_events_come_in_one_order_without_gaps_and_every_consumer_sees_the_same() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, b, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let _on_b = vipd!().start(b, &router(150).toml()).unwrap();
    segment.settles_on(&capture, b, Family::V4);
    let node = node(a, &config(&router(100)));
    let (mut first, mut second) = (node.events(), node.events());

    // Ten turns of ownership, as fast as they go.
    for _ in 0..10 {
        eventually(SOON, "a follows b", || follows(&node));
        node.force_claim(None);
        eventually(SOON, "a owns", || state(&node) == (State::Active, AddressState::Present));
        node.release_claim(None);
        eventually(SOON, "a does not", || state(&node) == (State::Backup, AddressState::Absent));
    }
    let resigned = node.resign_blocking(ResignMode::Hold, SOON);
    assert_eq!(resigned, Resigned::Removed);
    let in_the_end = |e: &Event| matches!(e, Event::Transition { to: State::Initialize, .. });
    let events = until(&mut first, in_the_end);
    assert_eq!(events, until(&mut second, in_the_end));
    for pair in events.windows(2) {
        assert_eq!(pair[1].sequence, pair[0].sequence + 1, "{pair:?}");
        assert!(pair[1].at >= pair[0].at, "{pair:?}");
    }
    // Each ownership begins, is about to end, and has ended, in that order.
    let mut rest = &events[..];
    for epoch in 1..=10 {
        for step in [
            Box::new(move |e: &Event| *e == Event::BecameOwner { epoch })
                as Box<dyn Fn(&Event) -> bool>,
            Box::new(move |e| matches!(e, Event::LostOwnership { epoch: e, .. } if *e == epoch)),
            Box::new(|e| *e == Event::AddressesRemoved),
        ] {
            let at = protocol(rest, step).unwrap_or_else(|| panic!("{epoch}: {events:#?}"));
            rest = &rest[at + 1..];
        }
    }
    assert_eq!(protocol(rest, |e| matches!(e, Event::BecameOwner { .. })), None);
}

fn resigns(mode: ResignMode) {
    let segment = Segment::new();
    let Segment { bridge, a, b, h, .. } = &segment;
    let _echoes = [a.echo().unwrap(), b.echo().unwrap()];
    let capture = bridge.capture().unwrap();
    let node = owner(&segment, &capture);
    let on_b = node_on_b(&segment, &config(&router(100)));
    let probe = h.probe(VIP, Duration::from_millis(2)).unwrap();
    eventually(SOON, "the client hears a", || probe.owner().as_deref() == Some("a"));

    let start = Instant::now();
    assert_eq!(node.resign_blocking(mode, Duration::from_secs(3)), Resigned::Removed);
    let took = start.elapsed();
    assert!(!a.has(VIP).unwrap(), "removed means removed");
    assert!(took < Duration::from_secs(1), "{took:?}");
    segment.settles_on(&capture, b, Family::V4);
    eventually(SOON, "the client hears b", || probe.owner().as_deref() == Some("b"));
    let report = probe.finish().unwrap();
    match mode {
        ResignMode::Hold => assert_eq!(report.lost(), 0, "{:?}", report.timeline()),
        // Removed before the successor's skew began, so that it costs the skew.
        ResignMode::RemoveFirst => assert!(report.lost() > 0, "{:?}", report.timeline()),
    }

    // Again: the same answer in either order, and nothing more on the wire.
    for again in [ResignMode::Hold, ResignMode::RemoveFirst] {
        assert_eq!(node.resign_blocking(again, Duration::from_secs(3)), Resigned::Removed);
    }
    assert_eq!(resignations(&capture, a), 1);
    // It never claims again, whatever becomes of the others.
    drop(on_b);
    let last = adverts_of(&capture, a).len();
    throughout(3 * router(200).active_down(), || !a.has(VIP).unwrap());
    assert_eq!(adverts_of(&capture, a).len(), last);
    assert_eq!(state(&node).0, State::Initialize);
    assert!(node.reconfigure_blocking(config(&router(201))).is_err(), "nor takes new settings");
}

#[test]
fn a10_resign_hold_loses_nothing_and_proves_the_removal() {
    lab::require!();
    resigns(ResignMode::Hold);
}

#[test]
fn a10_resign_remove_first_proves_the_removal() {
    lab::require!();
    resigns(ResignMode::RemoveFirst);
}

#[test]
fn a10_resign_without_a_vip_is_proved_at_once_and_says_nothing() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, b, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let _on_b = vipd!().start(b, &router(200).toml()).unwrap();
    segment.settles_on(&capture, b, Family::V4);
    let node = node(a, &config(&router(100)));
    eventually(SOON, "a is Backup", || state(&node).0 == State::Backup);
    let start = Instant::now();
    assert_eq!(node.resign_blocking(ResignMode::Hold, SOON), Resigned::Removed);
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    assert!(adverts_of(&capture, a).is_empty());
}

/// Another program that puts the VIP back every 50 ms, until it is told to end.
fn with_rival<T>(host: &Host, until: &AtomicBool, f: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !until.load(Ordering::Relaxed) {
                // Mostly refused, as it is still there.
                let _ = host.add_address("10.0.0.50/32");
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let _stop = StopOnDrop(until);
        f()
    })
}

/// Also when an assertion fails, or the scope would wait for ever.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a11_a_rival_that_never_stops_is_reported_at_the_deadline() {
    lab::require!();
    for mode in [ResignMode::Hold, ResignMode::RemoveFirst] {
        let segment = Segment::new();
        let capture = segment.bridge.capture().unwrap();
        let node = owner(&segment, &capture);
        let stop = AtomicBool::new(false);
        let (resigned, took) = with_rival(&segment.a, &stop, || {
            let start = Instant::now();
            (node.resign_blocking(mode, Duration::from_secs(1)), start.elapsed())
        });
        assert_eq!(resigned, Resigned::StillPresent(vec![VIP]), "{mode:?}");
        let (deadline, late) = (Duration::from_secs(1), Duration::from_millis(300));
        assert!(took >= deadline && took < deadline + late, "{mode:?}: {took:?}");
        // Once the rival is gone, a second call proves that the VIP is.
        assert_eq!(node.resign_blocking(mode, Duration::from_secs(3)), Resigned::Removed);
        throughout(Duration::from_millis(300), || !segment.a.has(VIP).unwrap());
        assert_eq!(resignations(&capture, &segment.a), 1, "{mode:?}");
    }
}

#[test]
fn a11_a_rival_that_stops_is_outlasted() {
    lab::require!();
    for mode in [ResignMode::Hold, ResignMode::RemoveFirst] {
        let segment = Segment::new();
        let capture = segment.bridge.capture().unwrap();
        let node = owner(&segment, &capture);
        let stop = AtomicBool::new(false);
        let (resigned, took, ended) = with_rival(&segment.a, &stop, || {
            let start = Instant::now();
            std::thread::scope(|scope| {
                let end = scope.spawn(|| {
                    std::thread::sleep(Duration::from_secs(2));
                    stop.store(true, Ordering::Relaxed);
                    start.elapsed()
                });
                let resigned = node.resign_blocking(mode, SOON);
                (resigned, start.elapsed(), end.join().unwrap())
            })
        });
        assert_eq!(resigned, Resigned::Removed, "{mode:?}");
        // Not while the rival is at it: its last word comes 50 ms before its end at the latest.
        let last_word = ended - Duration::from_millis(60);
        assert!(took >= last_word, "{mode:?}: proved at {took:?}, the rival ended at {ended:?}");
        assert!(took < ended + Duration::from_secs(1), "{mode:?}: {took:?}");
        throughout(Duration::from_millis(300), || !segment.a.has(VIP).unwrap());
    }
}

/// Watches a host while `f` runs and a while after. It never resigns, and advertises at every time
/// at which it would have without `f`; what it says in between is extra. `f` ends in the middle
/// between two advertisements, so that a timer that it started anew would be seen.
#[track_caller]
fn keeps_its_cadence(capture: &Capture, host: &Host, f: impl FnOnce()) {
    let busy = SLOW / 4;
    let before = adverts_of(capture, host).pop().unwrap();
    f();
    let enough = capture.now() + 3 * SLOW;
    let last = wait_for_advert(capture, enough, host, |_| true);
    let sent = adverts_of(capture, host);
    let mut due = before.at;
    while due + busy < last.at {
        let kept = sent.iter().any(|advert| advert.at + busy > due && advert.at < due + busy);
        let times: Vec<Duration> = sent.iter().map(|advert| advert.at).collect();
        assert!(kept, "none at {due:?}: {times:?}");
        due += SLOW;
    }
    assert!(sent.iter().all(|advert| advert.seen.priority != 0));
}

#[test]
fn a14_a_changed_vip_list_removes_no_vip_that_stays_and_keeps_the_cadence() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let node = node(a, &config(&slow(200)));
    segment.settles_on(&capture, a, Family::V4);
    let _on_b = node_on_b(&segment, &config(&slow(100)));
    let mut command = Command::new("ip");
    command.args(["-o", "monitor", "address"]);
    let monitor = a.spawn(command).unwrap();
    a.add_address("10.0.0.77/32").unwrap();
    eventually(SOON, "the monitor listens", || {
        // An address that changes nothing else, until the monitor has told of it.
        let _ = a.delete_address("10.0.0.77/32");
        let _ = a.add_address("10.0.0.77/32");
        monitor.log().contains("10.0.0.77")
    });

    let others: Vec<IpAddr> = vec![[10, 0, 0, 51].into(), [10, 0, 0, 52].into()];
    keeps_its_cadence(&capture, a, || {
        let start = Instant::now();
        for round in 0..20 {
            eventually(SOON, "the pace", || start.elapsed() >= SLOW * round / 8);
            let round = round as usize;
            let other = others[round % 2];
            let vips = vec![VIP.to_string(), other.to_string()];
            node.reconfigure_blocking(config(&Router { vips, ..slow(200) })).unwrap();
            eventually(SOON, "the new one is there, the old one not", || {
                a.has(other).unwrap() && !a.has(others[(round + 1) % 2]).unwrap()
            });
        }
    });
    let log = monitor.log();
    let deleted = |ip: &IpAddr| {
        log.lines().any(|line| line.starts_with("Deleted") && line.contains(&format!(" {ip}/")))
    };
    assert!(others.iter().all(deleted), "the monitor saw the removals: {log}");
    assert!(!deleted(&VIP), "and none of the VIP that stays: {log}");
    // The wire agrees: the last list, and one owner.
    let last = adverts_of(&capture, a).pop().unwrap();
    assert_eq!(last.seen.addresses, [VIP, others[1]]);
    assert!(adverts(&capture).iter().all(|advert| advert.from == "a"));
    segment.settles_on(&capture, a, Family::V4);
}

#[test]
fn b61_a_hundred_changes_of_the_peers_move_nothing_and_keep_the_cadence() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, a, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let to = |peers: &str| {
        let more = format!("unicast = {{ source = \"10.0.0.1\", peers = {peers} }}");
        config(&Router { more, ..slow(200) })
    };
    let (two, three) = (to("[\"10.0.0.2\"]"), to("[\"10.0.0.2\", \"10.0.0.8\"]"));
    let node = node(a, &two);
    segment.settles_on(&capture, a, Family::V4);
    assert!(adverts(&capture).iter().all(|x| x.seen.dst == IpAddr::from([10, 0, 0, 2])));
    let mut events = node.events();
    keeps_its_cadence(&capture, a, || {
        // In a second, as in B61, which is two and a half intervals.
        let start = Instant::now();
        for round in 0..50 {
            eventually(SOON, "the pace", || start.elapsed() >= SLOW * round / 20);
            for peers in [&two, &three] {
                node.reconfigure_blocking(peers.clone()).unwrap();
                assert!(a.has(VIP).unwrap());
            }
        }
    });
    // The last change is in force: both peers get their copy, with the same content.
    let since = capture.now();
    for peer in [[10, 0, 0, 2], [10, 0, 0, 8]] {
        let copy = wait_for_advert(&capture, since, a, |seen| seen.dst == IpAddr::from(peer));
        assert!(copy.seen.checksum_ok() && copy.seen.ttl == 255, "{copy:?}");
    }
    // Nothing happened, as far as an embedder is concerned, before it resigned.
    assert_eq!(node.resign_blocking(ResignMode::RemoveFirst, SOON), Resigned::Removed);
    let first = until(&mut events, |_| true).pop().unwrap();
    assert!(matches!(first.kind, EventKind::Protocol(Event::LostOwnership { .. })), "{first:?}");
}

#[test]
fn a_node_that_is_dropped_gives_its_vips_up() {
    lab::require!();
    for family in Family::BOTH {
        let segment = Segment::new();
        let Segment { bridge, a, b, .. } = &segment;
        let capture = bridge.capture().unwrap();
        let router = |priority| Router { interval: INTERVAL, ..Router::new(priority, family) };
        let node = node(a, &config(&router(200)));
        segment.settles_on(&capture, a, family);
        let _on_b = node_on_b(&segment, &config(&router(100)));
        let mut events = node.events();
        let start = Instant::now();
        drop(node);
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert!(!a.has(family.vip()).unwrap());
        assert_eq!(resignations(&capture, a), 1);
        segment.settles_on(&capture, b, family);
        // Its consumers hear of it, and of the end.
        until(&mut events, |event| *event == Event::AddressesRemoved);
        while events.next_blocking().is_ok() {}
    }
}
