//! From a failing schedule to a short one that fails in the same way.

use crate::schedule::{MAX_NODES, Schedule};
use crate::world::{Options, Report};

/// Shrinks a schedule that breaks a promise: drops faults, routers and nodes, shortens what is
/// left, and makes the cluster plainer, as long as the *same* promise is still broken.
///
/// Returns the schedule unchanged if it breaks none. Takes at most a few thousand runs.
pub fn shrink(schedule: &Schedule, options: Options) -> Schedule {
    let options = Options { trace: false, ..options };
    let Some(wanted) = crate::run_with(schedule, options).violation else {
        return schedule.clone();
    };
    let fails = |candidate: &Schedule| -> Option<Report> {
        let report = crate::run_with(candidate, options);
        let same = report.violation.as_ref().is_some_and(|v| v.checker == wanted.checker);
        same.then_some(report)
    };
    let mut best = schedule.clone();
    loop {
        let before = best.clone();
        cut_tail(&mut best, &fails);
        drop_faults(&mut best, &fails);
        shorten(&mut best, &fails);
        drop_routers(&mut best, &fails);
        drop_nodes(&mut best, &fails);
        simplify(&mut best, &fails);
        if best == before {
            return best;
        }
    }
}

type Fails<'a> = dyn Fn(&Schedule) -> Option<Report> + 'a;

fn try_to(best: &mut Schedule, fails: &Fails<'_>, change: impl FnOnce(&mut Schedule)) -> bool {
    let mut candidate = best.clone();
    change(&mut candidate);
    if candidate == *best || fails(&candidate).is_none() {
        return false;
    }
    *best = candidate;
    true
}

/// What comes after the violation has no part in it.
fn cut_tail(best: &mut Schedule, fails: &Fails<'_>) {
    let Some(violation) = fails(best).and_then(|report| report.violation) else {
        return;
    };
    let end = violation.at / 1_000_000 + 1;
    try_to(best, fails, |schedule| {
        schedule.millis = end;
        schedule.faults.retain(|(at, _)| *at <= end);
    });
}

/// Halves, quarters, and at last single faults.
fn drop_faults(best: &mut Schedule, fails: &Fails<'_>) {
    let mut chunk = best.faults.len().div_ceil(2);
    while chunk > 0 {
        let mut start = 0;
        while start < best.faults.len() {
            let end = (start + chunk).min(best.faults.len());
            if !try_to(best, fails, |schedule| drop(schedule.faults.drain(start..end))) {
                start += chunk;
            }
        }
        chunk /= 2;
    }
}

fn shorten(best: &mut Schedule, fails: &Fails<'_>) {
    for place in 0..best.faults.len() {
        let Some(mut length) = best.faults[place].1.length_ms() else {
            continue;
        };
        while length > 10 {
            length /= 2;
            if !try_to(best, fails, |s| s.faults[place].1 = s.faults[place].1.with_length(length)) {
                break;
            }
        }
    }
    // Earlier, keeping the distances.
    let first = best.faults.first().map_or(0, |(at, _)| *at);
    let mut step = first / 2;
    while step > 100 {
        let moved = try_to(best, fails, |schedule| {
            schedule.faults.iter_mut().for_each(|(at, _)| *at = at.saturating_sub(step));
            schedule.millis = schedule.millis.saturating_sub(step);
        });
        step = if moved { step.min(best.faults.first().map_or(0, |f| f.0)) } else { step / 2 };
    }
}

fn drop_routers(best: &mut Schedule, fails: &Fails<'_>) {
    while best.routers.len() > 1
        && try_to(best, fails, |schedule| {
            schedule.routers.pop();
            schedule.group &= (1 << schedule.routers.len()) - 1;
        })
    {}
}

fn drop_nodes(best: &mut Schedule, fails: &Fails<'_>) {
    while best.nodes > 2 && try_to(best, fails, |schedule| schedule.nodes -= 1) {}
}

fn simplify(best: &mut Schedule, fails: &Fails<'_>) {
    try_to(best, fails, |schedule| schedule.drift_ppm = [0; MAX_NODES]);
    try_to(best, fails, |schedule| schedule.delay_us = 100);
    try_to(best, fails, |schedule| schedule.lease = false);
    try_to(best, fails, |schedule| schedule.group = 0);
    for router in 0..best.routers.len() {
        try_to(best, fails, |schedule| {
            let plan = &mut schedule.routers[router];
            (plan.strict, plan.message_only, plan.pseudo_header) = (0, 0, 0);
        });
        try_to(best, fails, |schedule| schedule.routers[router].addresses = 1);
        try_to(best, fails, |schedule| schedule.routers[router].password = false);
        try_to(best, fails, |schedule| schedule.routers[router].unicast = false);
    }
}
