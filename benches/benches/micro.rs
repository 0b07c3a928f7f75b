//! Reading, writing, one step of a router, and the growth of a set.

#![allow(clippy::unwrap_used, missing_docs, reason = "a measurement, with constants")]

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main,
};
use vrrp_core::receive::{
    AuthRule, ChecksumRule, DestinationRule, OwnerRule, ReceivePolicy, RxMeta, validate,
};
use vrrp_core::wire::{self, AdvertPacket, AdvertRepr, ChecksumStyle, PseudoHeader};
use vrrp_core::{
    Action, ActionResult, AdvertInterval, AdvertSpec, AnnounceSchedule, Audience, Config, Facts,
    Family, Input, Instant, LinkId, Preempt, Priority, RouterId, RouterSet, State, Version,
    VirtualAddrs, VirtualRouter, Vrid,
};

criterion_main!(micro);
criterion_group! {
    name = micro;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = decode, encode, step, set
}

const OWN: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));
const VIP: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const START: Instant = Instant::from_millis(1_000_000);

fn decode(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode");
    let (meta, message) = advert(&config(0), 150);
    // The view alone: lengths checked, fields and the first address read.
    group.bench_function("view", |b| {
        b.iter(|| {
            let packet = AdvertPacket::new(black_box(&message), Family::V4).unwrap();
            (packet.header().priority(), packet.header().vrid(), packet.addresses().first())
        });
    });
    // With the checksum, as every reader needs it.
    group.bench_function("view and checksum", |b| {
        let header = PseudoHeader { source: meta.source, destination: meta.destination };
        b.iter(|| {
            let packet = AdvertPacket::new(black_box(&message), Family::V4).unwrap();
            (packet.header().priority(), packet.is_intact_under(black_box(&header)))
        });
    });
    // Everything that a router asks of a packet.
    let addresses = [VIP];
    let policy = ReceivePolicy {
        version: Version::V3,
        allow_v2_ipv6: false,
        vrid: Vrid::new(1).unwrap(),
        interval: AdvertInterval::DEFAULT,
        destination: DestinationRule::Multicast,
        min_ttl: 0,
        checksum: ChecksumRule::Either,
        auth: AuthRule::None,
        allow_trailing: false,
        require_first_link_local: false,
        require_link_local_source: true,
        sources: None,
        own_source: Some(OWN),
        owner: OwnerRule::NotOwner,
        addresses: Some(&addresses),
        strict_v2_list: false,
    };
    group.bench_function("validate", |b| {
        b.iter(|| validate(black_box(&policy), black_box(&meta), black_box(&message)).unwrap());
    });
    group.finish();
}

fn encode(c: &mut Criterion) {
    let mut group = c.benchmark_group("encode");
    let (addresses, mut buffer) = ([VIP], [0; 64]);
    let header = PseudoHeader { source: OWN, destination: wire::group(Family::V4) };
    let repr = AdvertRepr {
        version: Version::V3,
        vrid: Vrid::new(1).unwrap(),
        priority: Some(Priority::DEFAULT),
        interval: AdvertInterval::DEFAULT,
        password: None,
        addresses: &addresses,
    };
    group.bench_function("emit", |b| {
        b.iter(|| {
            black_box(&repr).emit(black_box(header), ChecksumStyle::PseudoHeader, &mut buffer)
        });
    });
    let router = backup(config(0));
    let spec = AdvertSpec {
        audience: Audience::All,
        priority: Some(Priority::DEFAULT),
        interval: AdvertInterval::DEFAULT,
    };
    group.bench_function("of a router", |b| {
        b.iter(|| router.encode_advert(black_box(&spec), wire::group(Family::V4), &mut buffer));
    });
    group.finish();
}

/// One event of a router from the call to the last action drained.
fn step(c: &mut Criterion) {
    let mut group = c.benchmark_group("step");
    // An Active's advertisement is due: the most frequent event of an Active.
    let mut active = backup(config(0));
    let mut now = active.poll_timeout().unwrap();
    active.handle_timeout(now);
    drain(&mut active, now);
    assert_eq!(active.state(), State::Active);
    group.bench_function("advert due", |b| {
        b.iter(|| {
            now = active.poll_timeout().unwrap();
            active.handle_timeout(now);
            while let Some(action) = active.poll_action() {
                black_box(action);
            }
        });
    });
    // A Backup hears its Active: the most frequent event of a Backup.
    let mut router = backup(config(0));
    let (meta, message) = advert(router.config(), 150);
    let mut now = START;
    group.bench_function("advert heard", |b| {
        b.iter(|| {
            now += Duration::from_millis(1);
            let accepted = router.handle_packet(now, black_box(&meta), black_box(&message));
            while let Some(action) = router.poll_action() {
                black_box(action);
            }
            accepted.is_ok()
        });
    });
    // A router that has a timeout and nothing due.
    group.bench_function("early timeout", |b| {
        b.iter(|| {
            router.handle_timeout(now);
            black_box(router.poll_timeout())
        });
    });
    group.finish();
}

/// The same event among more and more routers.
fn set(c: &mut Criterion) {
    for (name, event) in [
        ("set: advert due", advert_due as fn(&mut BenchmarkGroup<'_, WallTime>, u32)),
        ("set: advert heard", advert_heard),
        ("set: insert and remove", insert_and_remove),
    ] {
        let mut group = c.benchmark_group(name);
        for routers in [10, 100, 1_000, 10_000] {
            event(&mut group, routers);
        }
        group.finish();
    }
}

fn advert_due(group: &mut BenchmarkGroup<'_, WallTime>, routers: u32) {
    let mut set = populated(routers);
    let mut now = START;
    while set.iter().any(|(_, _, router)| router.state() != State::Active) {
        now = set.poll_timeout().unwrap();
        set.handle_timeout(now);
        drain_set(&mut set, now);
    }
    // All were started together: spread them over the interval, as they are in life.
    for id in 0..routers {
        let at = now + Duration::from_nanos(1_000_000_000 / u64::from(routers) * u64::from(id));
        let priority = Priority::new(101).unwrap();
        set.handle_input(at, RouterId(id), Input::Shutdown);
        set.handle_input(at, RouterId(id), Input::Startup);
        set.handle_input(at, RouterId(id), Input::PriorityChanged(priority));
        drain_set(&mut set, at);
    }
    while set.iter().any(|(_, _, router)| router.state() != State::Active) {
        let now = set.poll_timeout().unwrap();
        set.handle_timeout(now);
        drain_set(&mut set, now);
    }
    group.bench_function(BenchmarkId::from_parameter(routers), |b| {
        b.iter(|| {
            let now = set.poll_timeout().unwrap();
            set.handle_timeout(now);
            let mut actions = 0;
            while let Some(action) = set.poll_action() {
                black_box(action);
                actions += 1;
            }
            while set.poll_event().is_some() {}
            assert_eq!(actions, 1, "one router was due");
        });
    });
}

fn advert_heard(group: &mut BenchmarkGroup<'_, WallTime>, routers: u32) {
    let mut set = populated(routers);
    let packets: Vec<_> = (0..routers).map(|n| advert(&config(n), 150)).collect();
    let (mut now, mut next) = (START, 0);
    group.bench_function(BenchmarkId::from_parameter(routers), |b| {
        b.iter(|| {
            let (meta, message) = &packets[next];
            let link = LinkId(next as u32 / 255);
            next = (next + 1) % packets.len();
            now += Duration::from_nanos(100);
            set.handle_packet(now, link, meta, message).unwrap();
            while set.poll_action().is_some() {}
            while set.poll_event().is_some() {}
        });
    });
}

fn insert_and_remove(group: &mut BenchmarkGroup<'_, WallTime>, routers: u32) {
    let mut set = populated(routers);
    let (id, link) = (RouterId(routers), LinkId(routers / 255));
    group.bench_function(BenchmarkId::from_parameter(routers), |b| {
        b.iter_batched(
            || config(routers),
            |config| {
                set.insert(START, id, link, config).unwrap();
                set.remove(START, id)
            },
            BatchSize::SmallInput,
        );
    });
}

/// Router `n` of a set: VRIDs repeat from link to link. Router 0 has VRID 1 and [`VIP`].
fn config(n: u32) -> Config {
    let vrid = Vrid::new((n % 255) as u8 + 1).unwrap();
    let [_, a, b, c] = (n + 1).to_be_bytes();
    let vip = IpAddr::V4(Ipv4Addr::new(10, a, b, c));
    Config::builder(vrid, VirtualAddrs::new(&[vip]).unwrap())
        .preempt(Preempt::Never)
        // Only advertisements, so that one event is one action.
        .announce(AnnounceSchedule { burst: 1, repeat_after: Duration::ZERO, refresh: Duration::ZERO })
        .build()
        .unwrap()
}

fn facts() -> Facts {
    Facts { link: true, source: Some(OWN), eligible: true }
}

fn backup(config: Config) -> VirtualRouter {
    let mut router = VirtualRouter::new(config, START);
    router.handle_input(START, Input::Facts(facts()));
    router.handle_input(START, Input::Startup);
    router
}

fn populated(routers: u32) -> RouterSet {
    let mut set = RouterSet::new();
    for n in 0..routers {
        set.insert(START, RouterId(n), LinkId(n / 255), config(n)).unwrap();
        set.handle_input(START, RouterId(n), Input::Facts(facts()));
        set.handle_input(START, RouterId(n), Input::Startup);
    }
    drain_set(&mut set, START);
    set
}

fn drain(router: &mut VirtualRouter, now: Instant) {
    while let Some(action) = router.poll_action() {
        if let Action::InstallAddresses(id) | Action::RemoveAddresses(id) = action {
            let result = ActionResult::Done;
            router.handle_input(now, Input::ActionDone { id, result });
        }
    }
    while router.poll_event().is_some() {}
}

fn drain_set(set: &mut RouterSet, now: Instant) {
    while let Some((id, action)) = set.poll_action() {
        if let Action::InstallAddresses(work) | Action::RemoveAddresses(work) = action {
            let result = ActionResult::Done;
            set.handle_input(now, id, Input::ActionDone { id: work, result });
        }
    }
    while set.poll_event().is_some() {}
}

/// What another router with these settings would send.
fn advert(config: &Config, priority: u8) -> (RxMeta, Vec<u8>) {
    let destination = wire::group(Family::V4);
    let mut sender = VirtualRouter::new(config.clone(), START);
    sender.handle_input(START, Input::Facts(Facts { source: Some(PEER), ..facts() }));
    let spec = AdvertSpec {
        audience: Audience::All,
        priority: Priority::new(priority),
        interval: AdvertInterval::DEFAULT,
    };
    let mut message = vec![0; config.message_len()];
    sender.encode_advert(&spec, destination, &mut message).unwrap();
    let meta = RxMeta {
        source: PEER,
        destination,
        ttl: wire::TTL,
        received_at: None,
        checksum_verified: false,
    };
    (meta, message)
}
