//! The checks find what they are there to find: faults that somebody might build in are built in,
//! and the property that they break is named.

use modelcheck::election::{Bug, Election, Faults, Start};
use modelcheck::report::{Limits, explore};

/// More than any of these faults needs, so that a check that finds nothing ends.
const STEPS: usize = 3_000_000;

#[track_caller]
fn assert_found(model: Election, bug: Bug, property: &'static str) {
    let limits = Limits { steps: Some(STEPS), until: Some(property), ..Limits::NONE };
    let report = explore(model.with_bug(bug), limits);
    assert!(report.fails(property), "not found: {property}\n{report}");
    // And it is the built-in fault that is found: the same bounds without it find nothing.
    let steps = Some(report.steps);
    let sound = explore(model, Limits { steps, ..Limits::NONE });
    assert!(sound.failures.is_empty(), "{sound}");
}

#[test]
fn a_down_timer_restarted_by_a_discarded_packet() {
    let faults = Faults { corrupt: 1, total: 1, ..Faults::NONE };
    assert_found(
        Election::new(faults),
        Bug::DiscardRestartsDownTimer,
        "a discarded packet changes nothing",
    );
}

#[test]
fn a_router_that_starts_again_although_it_resigned() {
    let faults = Faults { resign: 1, total: 1, ..Faults::NONE };
    assert_found(Election::new(faults), Bug::ResignationForgotten, "a resigned router stays out");
}

#[test]
fn a_backup_that_resigns() {
    let faults = Faults { resign: 1, total: 1, ..Faults::NONE };
    assert_found(Election::new(faults), Bug::BackupResigns, "priority 0 only on resigning");
}

#[test]
fn a_clock_that_stands_still_while_the_host_is_paused() {
    let faults = Faults { pause: 1, total: 1, ..Faults::NONE };
    assert_found(
        Election::new(faults),
        Bug::PauseUnnoticed,
        "an Active that overslept removes before it sends",
    );
}

#[test]
fn addresses_that_are_never_removed() {
    let faults = Faults { resign: 1, total: 1, ..Faults::NONE };
    assert_found(
        Election::new(faults),
        Bug::RemovalIgnored,
        "addresses are owned, held or under removal",
    );
}

#[test]
fn a_router_that_does_not_hear_a_better_one() {
    let model = Election { start: Start::Boot, ..Election::new(Faults::NONE) };
    let property = "one owner, 3 x interval + skew + delays after the last fault";
    assert_found(model, Bug::Deaf, property);
}
