//! Every promise holds for a thousand seeds: in a release build for ten simulated minutes each,
//! with at least one fault in each minute.

use sim::{Coverage, Schedule};

/// A debug build is some thirty times slower, and has the same seeds for a shorter time.
const MILLIS: u64 = if cfg!(debug_assertions) { 40_000 } else { 600_000 };

#[test]
fn a_thousand_seeds_hold_the_promises() {
    let mut coverage = Coverage::default();
    for seed in 0..1_000 {
        let schedule = Schedule::from_seed(seed, 0, MILLIS);
        let report = sim::run(&schedule);
        if let Some(violation) = report.violation {
            let short = sim::shrink(&schedule, sim::Options::default());
            panic!("seed {seed}: {violation}\n\n{}", short.to_test(&format!("seed_{seed}")));
        }
        assert_eq!(report.seconds, MILLIS / 1_000, "seed {seed} ran to its end");
        coverage.merge(&report.coverage);
    }
    let (met, all) = coverage.met();
    println!("{met} of {all}\n{}", coverage.table());
    assert!(met > 150, "the seeds have become tame: only {met} combinations of {all}");
}

#[test]
fn every_minute_has_its_fault() {
    for seed in 0..200 {
        let schedule = Schedule::from_seed(seed, 0, 3_600_000);
        let times = schedule.faults.iter().map(|(at, _)| *at);
        let ends = times.clone().skip(1).chain([3_600_000]);
        for (from, to) in times.zip(ends) {
            assert!(to - from <= 65_000, "seed {seed}: nothing from {from} to {to}");
        }
    }
}

#[test]
fn equal_seeds_lead_to_equal_runs_and_different_ones_do_not() {
    let hashes: Vec<_> = (0..20)
        .map(|seed| {
            let schedule = Schedule::from_seed(seed, 0, 120_000);
            let [first, second] = [sim::run(&schedule), sim::run(&schedule)];
            assert_eq!(first.log_hash, second.log_hash, "seed {seed}");
            assert_eq!(first.steps, second.steps, "seed {seed}");
            // Looking on does not change what happens.
            let watched = sim::Options { trace: true, ..sim::Options::default() };
            assert_eq!(sim::run_with(&schedule, watched).log_hash, first.log_hash, "seed {seed}");
            first.log_hash
        })
        .collect();
    let distinct: std::collections::BTreeSet<_> = hashes.iter().collect();
    assert_eq!(distinct.len(), hashes.len());
}
