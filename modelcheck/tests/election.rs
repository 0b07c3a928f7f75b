//! The real router, three of them, in every world that these bounds reach.
//!
//! The bounds keep this within what a test run may take; the binary goes further (see the crate's
//! documentation).

use modelcheck::election::{Election, Faults, Start};
use modelcheck::report::{Limits, explore};
use vrrp_core::Preempt;

/// Steps that a test may take; about a fifth are to new states.
const STEPS: usize = 600_000;

fn assert_holds(model: Election, steps: usize, at_least: usize) {
    let report = explore(model, Limits { steps: Some(steps), ..Limits::NONE });
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.complete || report.steps >= steps, "gave up early: {report}");
    assert!(report.unique >= at_least, "the model has shrunk: {report}");
}

#[test]
fn without_faults_all_orders_of_events_lead_to_one_owner() {
    let model = Election { start: Start::Boot, ..Election::new(Faults::NONE) };
    let report = explore(model, Limits::NONE);
    assert!(report.failures.is_empty() && report.complete, "{report}");
    assert!(report.unique > 40_000, "the model has shrunk: {report}");
}

#[test]
fn one_fault_of_any_kind() {
    assert_holds(Election::new(Faults::any(1)), STEPS, STEPS / 8);
}

#[test]
fn one_crash_without_preemption() {
    let faults = Faults { crash: 1, total: 1, ..Faults::NONE };
    let model = Election { preempt: Preempt::Never, ..Election::new(faults) };
    assert_holds(model, STEPS, STEPS / 10);
}

#[test]
fn a_resignation_with_losses() {
    let faults = Faults { resign: 1, drop: 1, total: 2, ..Faults::NONE };
    assert_holds(Election::new(faults), STEPS, STEPS / 8);
}
