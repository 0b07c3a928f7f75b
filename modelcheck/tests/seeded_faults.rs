//! The checks find what they are there to find: faults that somebody might build in are built in,
//! and the property that they break is named.

use modelcheck::election::{Bug, Election, Faults, Start};
use modelcheck::report::{Limits, Report, explore};

/// More than any of these faults needs, so that a check that finds nothing ends.
const STEPS: usize = 3_000_000;

fn seeded(bug: Bug, faults: Faults) -> Report {
    let model = Election::new(faults).with_bug(bug);
    explore(model, Limits { states: Some(STEPS), ..Limits::NONE })
}

fn assert_found(report: &Report, property: &str) {
    assert!(report.fails(property), "not found: {property}\n{report}");
}

#[test]
fn a_down_timer_restarted_by_a_discarded_packet() {
    let faults = Faults { corrupt: 1, total: 1, ..Faults::NONE };
    let report = seeded(Bug::DiscardRestartsDownTimer, faults);
    assert_found(&report, "a discarded packet changes nothing");
}

#[test]
fn a_router_that_starts_again_although_it_resigned() {
    let faults = Faults { resign: 1, total: 1, ..Faults::NONE };
    let report = seeded(Bug::ResignationForgotten, faults);
    assert_found(&report, "a resigned router stays out");
}

#[test]
fn a_backup_that_resigns() {
    let faults = Faults { resign: 1, total: 1, ..Faults::NONE };
    let report = seeded(Bug::BackupResigns, faults);
    assert_found(&report, "priority 0 only on resigning");
}

#[test]
fn a_clock_that_stands_still_while_the_host_is_paused() {
    let faults = Faults { pause: 1, total: 1, ..Faults::NONE };
    let report = seeded(Bug::PauseUnnoticed, faults);
    assert_found(&report, "an Active that overslept removes before it sends");
}

#[test]
fn addresses_that_are_never_removed() {
    let faults = Faults { resign: 1, total: 1, ..Faults::NONE };
    let report = seeded(Bug::RemovalIgnored, faults);
    assert_found(&report, "addresses are owned, held or under removal");
}

#[test]
fn a_router_that_does_not_hear_a_better_one() {
    let model = Election { start: Start::Boot, ..Election::new(Faults::NONE) };
    let report = explore(model.with_bug(Bug::Deaf), Limits::NONE);
    assert_found(&report, "one owner, 3 x interval + skew + delays after the last fault");
}
