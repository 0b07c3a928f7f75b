//! What a sync group does to one of its members. The group itself is in [`RouterSet`].
//!
//! [`RouterSet`]: crate::RouterSet

use super::{State, VirtualRouter};
use crate::{Instant, Reason, Timer};

impl VirtualRouter {
    /// Whether this router could run if it stood alone.
    pub(crate) fn may_run_alone(&self) -> bool {
        self.standing.own_impediment().is_none()
    }

    /// Another member may not run, or all may again.
    pub(crate) fn hold_for_group(&mut self, now: Instant, held: bool) {
        if self.standing.group_held != held {
            self.standing.group_held = held;
            let now = self.advance(now);
            self.follow_standing(now);
        }
    }

    /// When this member would claim, if it watches.
    pub(crate) fn claim_due(&self) -> Option<Instant> {
        (self.state == State::Backup).then(|| self.timers.deadline(Timer::ActiveDown)).flatten()
    }

    /// The latest instant at which another member would claim.
    pub(crate) fn claim_with_group_after(&mut self, at: Instant) {
        self.group_claim_after = at;
    }

    /// Another member became Active.
    pub(crate) fn promote(&mut self, now: Instant) {
        if self.state == State::Backup {
            let now = self.advance(now);
            self.claim(now, Reason::Group);
        }
    }

    /// Another member went from Active to Backup.
    pub(crate) fn demote(&mut self, now: Instant, other: &Self) {
        // It may have been asleep as well: then it says nothing, like the other.
        let now = self.advance(now);
        if self.state == State::Active {
            self.claim_after = self.claim_after.max(other.claim_after);
            self.leave_active(Reason::Group);
            self.remove_and_resign();
            self.active_interval = self.config.interval();
            self.watch(now, now, Reason::Group);
        }
    }
}
