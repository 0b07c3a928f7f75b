//! Three routers of equal priority that know each other by unicast: when the Active dies, the two
//! that are left do not both claim.

use sim::{Fault, MAX_NODES, Preemption, RouterPlan, Schedule};

const KILL_MS: u64 = 8_000;

fn cluster(seed: u64, interval_ms: u16) -> Schedule {
    let router = RouterPlan {
        version: 3,
        family: 4,
        unicast: true,
        interval_ms,
        addresses: 1,
        priorities: [100; MAX_NODES],
        preempt: Preemption::Now,
        strict: 0,
        message_only: 0,
        pseudo_header: 0,
        password: false,
        retry_install: false,
    };
    Schedule {
        seed,
        nodes: 3,
        routers: vec![router],
        group: 0,
        lease: false,
        drift_ppm: [0, 20, -20, 0, 0, 0, 0],
        // 20 to 320 µs on the wire, and wake-ups up to 200 µs late: a switched network.
        delay_us: 300,
        millis: 14_000,
        faults: Vec::new(),
    }
}

fn multicast(seed: u64) -> Schedule {
    let mut schedule = cluster(seed, 1_000);
    schedule.routers[0].unicast = false;
    schedule
}

/// Kills whoever is Active; returns how many claimed.
fn claims_after_a_crash(mut schedule: Schedule) -> usize {
    let seed = schedule.seed;
    let before = sim::run(&schedule);
    let (_, active, _) = *before
        .promotions
        .iter()
        .rev()
        .find(|(at, ..)| *at < KILL_MS * 1_000_000)
        .expect("one of three claims");
    schedule.faults = vec![(KILL_MS, Fault::Crash { node: active, guardian_ms: None, ms: 60_000 })];
    let report = sim::run(&schedule);
    assert_eq!(report.violation, None, "seed {seed}");
    report.promotions.iter().filter(|(at, ..)| *at > KILL_MS * 1_000_000).count()
}

#[test]
fn at_one_second_nobody_claims_twice() {
    let mut claims = [0; 4];
    for seed in 0..200 {
        claims[claims_after_a_crash(cluster(seed, 1_000))] += 1;
    }
    assert_eq!(claims, [0, 200, 0, 0], "runs by the number of routers that claimed");
}

/// At 100 ms the spread is 0.13 ms for each of three, less than a wake-up may be late: the share
/// is measured, and the address settles all the same.
#[test]
fn at_a_tenth_of_a_second_some_do_and_it_settles() {
    let double = (0..200).filter(|&seed| claims_after_a_crash(cluster(seed, 100)) > 1).count();
    println!("{double} of 200 takeovers at 100 ms had two claims");
    assert!(double < 200, "breaking ties does nothing");
}

/// What the breaking of ties is worth: multicast routers do not know each other, and collide.
#[test]
fn in_multicast_they_collide_which_shows_that_the_test_can_fail() {
    let double = (0..50).filter(|&seed| claims_after_a_crash(multicast(seed)) > 1).count();
    assert!(double > 0, "the simulated network is too kind");
}
