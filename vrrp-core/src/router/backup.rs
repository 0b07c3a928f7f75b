//! Backup (RFC 9568 section 6.4.2): watching the Active.

use core::time::Duration;

use super::election::{Advert, Heard};
use super::{State, VirtualRouter};
use crate::receive::Outcome;
use crate::{Event, Instant, Mode, Preempt, Priority, Reason, Timer, Version};

impl VirtualRouter {
    /// Enters Backup and gives an Active the whole down interval, counted from `heard_at`, to be
    /// heard. The caller has set AAI.
    pub(super) fn watch(&mut self, now: Instant, heard_at: Instant, reason: Reason) {
        self.enter(now, State::Backup, reason);
        self.heard = Heard::Nobody;
        self.preempt_delay_over = false;
        self.timers.disarm(Timer::PreemptDelay);
        self.arm_active_down(heard_at);
    }

    /// (315): Shutdown, or the facts forbid running. A Backup leaves without a word.
    pub(super) fn stop_watching(&mut self, now: Instant, reason: Reason) {
        self.timers.disarm(Timer::ActiveDown);
        self.timers.disarm(Timer::PreemptDelay);
        self.heard = Heard::Nobody;
        self.enter(now, State::Initialize, reason);
    }

    /// (345) – (380): Active_Down_Timer fired.
    pub(super) fn active_down(&mut self, now: Instant) {
        // The last installations failed and others come first, or the rest of the sync group still
        // watches a living Active.
        let not_before = self.claim_after.max(self.group_claim_after);
        if not_before > now {
            return self.timers.arm(Timer::ActiveDown, not_before);
        }
        let reason = match self.heard {
            Heard::Resigned => Reason::PeerResigned,
            Heard::Nobody | Heard::Active { .. } => Reason::ActiveDown,
        };
        self.claim(now, reason);
    }

    /// (385) – (445): an advertisement.
    pub(super) fn advert_in_backup(&mut self, advert: &Advert) -> Outcome {
        match advert.priority {
            // The Active gives up: those who remain claim in the order of their skew. Nothing is
            // learned from it, and Preempt_Mode does not matter.
            None => {
                self.report(Event::PeerResigned { source: advert.source });
                self.heard = Heard::Resigned;
                let skew = self.active_interval.skew(self.config.version(), self.priority());
                self.arm_down_at(advert.at + skew + self.tie_delay());
                Outcome::Resignation
            }
            Some(priority) if priority >= self.priority() => {
                self.preempt_delay_over = false;
                self.timers.disarm(Timer::PreemptDelay);
                self.follow(advert, priority);
                Outcome::Followed
            }
            Some(priority) if !self.preempts(advert.at) => {
                self.follow(advert, priority);
                Outcome::Followed
            }
            // Preempt_Mode, and the Active is weaker: the down timer runs on.
            Some(_) => Outcome::Ignored,
        }
    }

    /// (410) – (430): learn the interval, restart the timer.
    pub(super) fn follow(&mut self, advert: &Advert, priority: Priority) {
        if self.config.version() == Version::V3 {
            self.active_interval = advert.interval;
        }
        self.arm_active_down(advert.at);
        let heard = Heard::Active { source: advert.source, priority, interval: advert.interval };
        if self.heard != heard {
            self.heard = heard;
            let (source, interval) = (advert.source, advert.interval);
            self.report(Event::ActiveSeen { source, priority, interval });
        }
    }

    fn arm_active_down(&mut self, heard_at: Instant) {
        let down = self.active_interval.active_down(self.config.version(), self.priority());
        self.arm_down_at(heard_at + down + self.tie_delay());
    }

    fn arm_down_at(&mut self, at: Instant) {
        self.down_at = at;
        self.timers.arm(Timer::ActiveDown, at.max(self.group_claim_after));
    }

    /// Whether a living Active of lower priority is not followed any more. Starts the delay when
    /// such an Active is first heard, whichever way this router came into Backup.
    fn preempts(&mut self, heard_at: Instant) -> bool {
        // An owner always preempts (RFC 9568 section 6.1).
        if self.config.priority().is_owner() {
            return true;
        }
        match self.config.preempt() {
            Preempt::Never => false,
            Preempt::After(Duration::ZERO) => true,
            Preempt::After(_) if self.preempt_delay_over => true,
            Preempt::After(delay) => {
                if !self.timers.is_armed(Timer::PreemptDelay) {
                    self.timers.arm(Timer::PreemptDelay, heard_at + delay);
                }
                false
            }
        }
    }

    /// Equal priorities have equal skew, so that two Backups would claim in the same instant. With
    /// unicast the other routers are known, so the claims are spread over one step of
    /// priority: first the router that would win the comparison of addresses anyway.
    pub(super) fn tie_delay(&self) -> Duration {
        let (Mode::Unicast(peers), Some(own)) = (self.config.mode(), self.standing.source()) else {
            return Duration::ZERO;
        };
        let higher = peers.iter().filter(|&&peer| peer > own).count();
        // A list holds at most 255 entries.
        let (rank, routers) = (higher as u32, peers.len() as u32 + 1);
        self.active_interval.priority_step(self.config.version()) * rank / routers
    }
}
