//! What a sync group does to one of its members. The group itself is in [`RouterSet`].
//!
//! [`RouterSet`]: crate::RouterSet

use super::{State, VirtualRouter};
use crate::{Instant, Priority, Reason, Timer};

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

    /// When this member would claim if it stood alone, if it watches.
    pub(crate) fn claim_due(&self) -> Option<Instant> {
        (self.state == State::Backup).then(|| self.down_at.max(self.claim_after))
    }

    /// The latest instant at which another member would claim: later than the one said before if
    /// that member heard an Active, earlier if that one resigned.
    pub(crate) fn claim_with_group_after(&mut self, at: Instant) {
        self.group_claim_after = at;
        if self.state == State::Backup {
            self.timers.arm(Timer::ActiveDown, self.down_at.max(at));
        }
    }

    /// With which priority the members together would win, as this one sees it. See
    /// [`Input::ForceClaim`](crate::Input::ForceClaim).
    pub(crate) fn group_winning_priority(&mut self, now: Instant) -> Result<Priority, Priority> {
        self.advance(now);
        self.winning_priority().inspect_err(|&active| self.refuse_claim(active))
    }

    /// All members claim by command.
    pub(crate) fn claim_with_group(&mut self, now: Instant, priority: Priority) {
        let now = self.advance(now);
        self.claim_with(now, priority);
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
        // One that stalled as well goes back without a word, as the first did.
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
