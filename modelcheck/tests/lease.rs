//! Permit, lease, guardian and hand-over never leave the address on two hosts, and the inequality
//! that says when is exact.

use modelcheck::lease::{Bug, Faults, HandOver, Lease};
use modelcheck::report::{Limits, Report, explore};

const TWO_OWNERS: &str = "no address on two hosts for longer than allowed";
const HEALTHY: &str = "a healthy owner keeps its address";
const UNHELD: &str = "a resignation only for what was held and removed";

fn explored(model: Lease) -> Report {
    explore(model, Limits::NONE)
}

#[track_caller]
fn assert_holds(model: Lease) {
    let report = explored(model);
    assert!(report.complete, "{report}");
}

#[track_caller]
fn assert_finds(model: Lease, property: &'static str) {
    let report = explore(model, Limits { until: Some(property), ..Limits::NONE });
    assert!(report.fails(property), "not found: {property}\n{report}");
}

/// Small constants in which everything that happens at one second happens as well.
fn small() -> Lease {
    let hand_over = HandOver { token: 11, down: 12, lease: 4 };
    Lease {
        interval: 4,
        down: 12,
        permit: 3,
        lease: 4,
        slack: 4,
        refresh: 2,
        tolerance: 1,
        margin: 1,
        stale: Some(10),
        hand_over,
        ..Lease::one_second()
    }
}

#[test]
fn whatever_stops_no_address_is_on_two_hosts() {
    // Each way to stop, with the guardian dying and a hand-over at any time as well. Two stops in
    // a row are below.
    let beside = Faults { kill_guardian: 1, hand_over: 1, start: 1, ..Faults::NONE };
    for stop in [
        Faults { freeze: 1, ..beside },
        Faults { stick: 1, ..beside },
        Faults { kill: 1, ..beside },
    ] {
        assert_holds(small().with(stop));
    }
}

#[test]
fn the_settings_for_one_second() {
    let faults = Faults { freeze: 1, kill_guardian: 1, ..Faults::NONE };
    for model in [Lease::one_second(), Lease::two_seconds()] {
        assert!(model.is_safe() && model.is_steady(), "{model:?}");
        assert_holds(model.with(faults));
    }
}

#[test]
fn the_inequality_for_safety_is_exact() {
    // A loop that hangs while the refreshing thread goes on is the worst case.
    let hang = Faults { stick: 1, ..Faults::NONE };
    let (mut safe, mut unsafe_) = (0, 0);
    for down in 10..=16 {
        for (permit, lease, slack, margin) in
            [(3, 4, 4, 0), (3, 4, 4, 1), (3, 6, 2, 1), (4, 4, 4, 2), (3, 5, 4, 1), (3, 4, 6, 1)]
        {
            let hand_over = HandOver { token: 0, down, lease };
            let model =
                Lease { down, permit, lease, slack, margin, hand_over, stale: None, ..small() };
            let report = explored(model.with(hang));
            assert_eq!(!report.fails(TWO_OWNERS), model.is_safe(), "{model:?}\n{report}");
            *if model.is_safe() { &mut safe } else { &mut unsafe_ } += 1;
        }
    }
    assert!(safe >= 10 && unsafe_ >= 10, "{safe} {unsafe_}");
}

#[test]
fn the_inequality_for_a_healthy_owner_is_exact() {
    let (mut steady, mut not) = (0, 0);
    for (refresh, tolerance, lease, permit) in (0..=3).flat_map(|tolerance| {
        [1, 2, 4].into_iter().flat_map(move |refresh| {
            (1..=6).flat_map(move |lease| {
                (1..=5).map(move |permit| (refresh, tolerance, lease, permit))
            })
        })
    }) {
        if tolerance >= refresh {
            continue; // a refresh would meet the next one
        }
        let model = Lease {
            refresh,
            tolerance,
            lease,
            permit,
            margin: 0,
            down: 40,
            stale: None,
            ..small()
        };
        let report = explored(model);
        let lost = report.fails(HEALTHY);
        // Short of permits an owner may still be lucky, if its lease outlasts the gap.
        if model.is_steady() {
            assert!(!lost, "{model:?}\n{report}");
            steady += 1;
        } else if refresh + tolerance + model.margin > lease {
            assert!(lost, "{model:?}\n{report}");
            not += 1;
        }
    }
    assert!(steady >= 10 && not >= 10, "{steady} {not}");
}

#[test]
fn each_lost_advertisement_can_cost_an_interval_and_no_more() {
    let faults = Faults { freeze: 1, loss: 1, ..Faults::NONE };
    let model = Lease { stale: None, ..small() };
    assert!(model.is_safe());
    assert_finds(model.with(faults), TWO_OWNERS);
    assert_holds(Lease { allowed: model.interval, ..model }.with(faults));
}

#[test]
fn a_longer_interval_for_a_hand_over_must_arrive() {
    let hand_over = HandOver { token: 20, down: 24, lease: 16 };
    let model = Lease { hand_over, stale: None, ..small() };
    let faults = Faults { hand_over: 1, start: 1, ..Faults::NONE };
    assert_holds(model.with(faults));
    // The peers count with the old interval then, and the lease with the new one.
    let lossy = model.with(Faults { loss: 1, ..faults });
    assert_finds(lossy, TWO_OWNERS);
    assert_finds(Lease { allowed: model.interval, ..lossy }, TWO_OWNERS);
}

#[test]
fn a_second_stop_inside_a_refresh_is_not_covered_and_costs_one_lease() {
    let faults = Faults { freeze: 2, ..Faults::NONE };
    // Stopped between looking at the permit and refreshing, and again before looking at the clock.
    assert_finds(small().with(faults), TWO_OWNERS);
    let allowed = small().lease + small().slack;
    assert_holds(Lease { allowed, ..small() }.with(faults));
    assert_holds(Lease { allowed, stale: None, ..small() }.with(faults));
}

#[test]
fn a_guardian_must_not_be_quicker_than_the_permits() {
    let faults = Faults { stick: 1, ..Faults::NONE };
    assert_holds(Lease { stale: Some(small().permit + 1), ..small() }.with(faults));
}

#[test]
fn a_refresh_after_the_permit_has_expired_is_found() {
    let faults = Faults { stick: 1, ..Faults::NONE };
    let model = Lease { stale: None, ..small() };
    assert_holds(model.with(faults));
    assert_finds(model.with(faults).with_bug(Bug::RefreshAfterExpiry), TWO_OWNERS);
}

#[test]
fn a_gap_inside_a_refresh_that_nobody_notices_is_found() {
    let model = Lease { stale: None, ..small() };
    let faults = Faults { freeze: 1, ..Faults::NONE };
    assert_holds(model.with(faults));
    assert_finds(model.with(faults).with_bug(Bug::GapUnnoticed), TWO_OWNERS);
}

#[test]
fn a_resignation_for_an_address_that_was_not_held_is_found() {
    let faults = Faults { freeze: 1, kill: 1, ..Faults::NONE };
    assert_finds(small().with(faults).with_bug(Bug::ResignsUnheld), UNHELD);
}

#[test]
fn a_guardian_that_resigns_before_it_removes_is_found() {
    let faults = Faults { kill: 1, ..Faults::NONE };
    assert_finds(small().with(faults).with_bug(Bug::ResignsFirst), TWO_OWNERS);
}

#[test]
fn an_adoption_without_a_token_is_found() {
    // Constants that bear one lost advertisement: the one with which the process adopts.
    let hand_over = HandOver { token: 11, down: 16, lease: 4 };
    let model = Lease { down: 16, hand_over, stale: None, ..small() };
    let faults = Faults { hand_over: 1, start: 1, loss: 1, ..Faults::NONE };
    assert_holds(model.with(faults));
    assert_finds(model.with(faults).with_bug(Bug::AdoptsWithoutToken), TWO_OWNERS);
}

#[test]
fn an_owner_that_ignores_the_guardians_fence_is_found() {
    let faults = Faults { freeze: 1, loss: 1, ..Faults::NONE };
    assert_finds(small().with(faults).with_bug(Bug::FenceIgnored), TWO_OWNERS);
}

#[test]
fn an_owner_that_does_not_notice_its_stall_is_found() {
    let faults = Faults { freeze: 1, loss: 1, ..Faults::NONE };
    let lossless = Faults { loss: 0, ..faults };
    assert_holds(small().with(lossless));
    assert_finds(small().with(faults).with_bug(Bug::StallUnnoticed), TWO_OWNERS);
}
