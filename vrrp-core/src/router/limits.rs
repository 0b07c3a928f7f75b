//! Rate limits of reports and assertions, so that a hostile or misconfigured neighbour can fill
//! neither a log nor a link through us.

use core::time::Duration;

use super::timers;
use crate::Instant;
use crate::receive::{Discard, Warning};

/// One report of each kind per router in this time. Counters go on in between.
const REPORT_EVERY: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Limits {
    discards: [Option<Instant>; Discard::COUNT],
    warnings: [Option<Instant>; Warning::COUNT],
    dual_owner: Option<Instant>,
    assertion: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            discards: [None; Discard::COUNT],
            warnings: [None; Warning::COUNT],
            dual_owner: None,
            assertion: None,
        }
    }
}

impl Limits {
    pub(super) fn may_report_discard(&mut self, now: Instant, discard: Discard) -> bool {
        self.discards.get_mut(discard.index()).is_some_and(|last| pass(last, now, REPORT_EVERY))
    }

    pub(super) fn may_report_warning(&mut self, now: Instant, warning: Warning) -> bool {
        self.warnings.get_mut(warning.index()).is_some_and(|last| pass(last, now, REPORT_EVERY))
    }

    pub(super) fn may_report_dual_owner(&mut self, now: Instant) -> bool {
        pass(&mut self.dual_owner, now, REPORT_EVERY)
    }

    pub(super) fn may_assert(&mut self, now: Instant, at_most_every: Duration) -> bool {
        pass(&mut self.assertion, now, at_most_every)
    }

    /// Only what bears on the protocol, moved in time. See `VirtualRouter::normalized_at`.
    pub(super) fn rebased(&self, from: Instant, to: Instant, assert_every: Duration) -> Self {
        let limiting = |at: &Instant| from.saturating_since(*at) < assert_every;
        Self {
            assertion: self.assertion.filter(limiting).map(|at| timers::rebase(at, from, to)),
            ..Self::default()
        }
    }
}

fn pass(last: &mut Option<Instant>, now: Instant, every: Duration) -> bool {
    let passes = last.is_none_or(|last| now.saturating_since(last) >= every);
    if passes {
        *last = Some(now);
    }
    passes
}
