//! Active (RFC 9568 section 6.4.3): owning the virtual addresses.

use core::cmp::Ordering;

use super::election::Advert;
use super::{State, VirtualRouter};
use crate::receive::Outcome;
use crate::{Action, AnnounceRound, Event, Impediment, Instant, Priority, Profile, Reason, Timer};

impl VirtualRouter {
    /// (350) – (375): advertise, then install, then (once the kernel confirms) announce.
    ///
    /// The advertisement goes first so that the Active before us withdraws before the link is told
    /// about the new one.
    pub(super) fn claim(&mut self, now: Instant, reason: Reason) {
        self.enter(now, State::Active, reason);
        self.timers.disarm(Timer::ActiveDown);
        self.timers.disarm(Timer::PreemptDelay);
        self.timers.disarm(Timer::HoldEnd);
        self.timers.disarm(Timer::StaggeredResign);
        self.active_interval = self.config.interval();
        self.undelivered_since = None;
        self.last_advert = now;
        self.advertise(now);
        self.timers.arm(Timer::AdvertDue, now + self.config.interval().duration());
        self.install_addresses();
    }

    /// (655) – (660): Adver_Timer fired. The next one is due an interval after this one *was*
    /// due, so that lateness does not add up; advertisements that were missed are skipped.
    pub(super) fn advert_due(&mut self, now: Instant, due: Instant) {
        self.advertise(now);
        let interval = self.config.interval().duration();
        let next = due + interval;
        // Later than a whole interval: start afresh instead of catching up in a burst.
        self.arm_advert(if next > now { next } else { now + interval });
    }

    /// (670) – (745): another router's advertisement.
    pub(super) fn advert_in_active(&mut self, now: Instant, advert: &Advert) -> Outcome {
        let Some(priority) = advert.priority else {
            // (680) – (690): somebody resigned whom we did not see as Active; its Backups must
            // hear us before their skew is over.
            self.report(Event::PeerResigned { source: advert.source });
            self.advertise(now);
            self.arm_advert(now + self.config.interval().duration());
            return Outcome::Resignation;
        };
        if self.limits.may_report_dual_owner(now) {
            self.report(Event::DualOwner { source: advert.source, priority });
        }
        // (700): the greater address wins among equals. Without an address of our own (its loss is
        // in its grace) there is nothing to compare, and the other router has one.
        let ours = (self.priority(), self.standing.source());
        match (priority, Some(advert.source)).cmp(&ours) {
            Ordering::Greater => {
                let better = priority > self.priority();
                let reason = if better { Reason::BetterPriority } else { Reason::BetterAddress };
                self.yield_to(now, advert, priority, reason);
                Outcome::Yielded
            }
            Ordering::Less => {
                self.assert_ownership(now);
                Outcome::Asserted
            }
            // Our own address with our own priority: reported as an odd or looped packet.
            Ordering::Equal => Outcome::Ignored,
        }
    }

    /// (705) – (740): remove the addresses at once, then watch the better router.
    fn yield_to(&mut self, now: Instant, advert: &Advert, priority: Priority, reason: Reason) {
        self.leave_active(reason);
        self.remove_addresses();
        // One last word from us makes the new Active announce itself again (it hears a weaker
        // router), which corrects neighbours that learned from us meanwhile.
        if self.config.profile() == Profile::Compatible {
            self.advertise(now);
        }
        self.watch(now, advert.at, reason);
        self.follow(advert, priority);
    }

    /// (725): a weaker router claims. Answer at once, so that bridges relearn where we are, and
    /// announce again for neighbours that believed it. Adver_Timer runs on.
    fn assert_ownership(&mut self, now: Instant) {
        // RFC 9568 sets no limit. Two routers that each think the other loses would storm.
        let every = self.config.interval().duration() / 10;
        if self.config.profile() == Profile::Compatible && !self.limits.may_assert(now, every) {
            return;
        }
        self.stats.asserted();
        self.advertise(now);
        self.reassert();
    }

    /// The facts forbid running: as Shutdown, (645) – (650), without waiting for anything.
    pub(super) fn stand_down(&mut self, now: Instant, impediment: Impediment) {
        let reason = impediment.reason();
        self.leave_active(reason);
        if impediment.can_send() {
            self.remove_and_resign();
        } else {
            self.remove_addresses();
        }
        self.enter(now, State::Initialize, reason);
    }

    /// What every way out of Active has in common: nothing that only an Active does stays armed
    /// (the grace of a lost source address is about a fact, and runs on), and whoever acts on ownership hears of its end before the removal is asked for.
    pub(super) fn leave_active(&mut self, reason: Reason) {
        for timer in
            [Timer::AdvertDue, Timer::AnnounceRepeat, Timer::AnnounceRefresh, Timer::AddressRetry]
        {
            self.timers.disarm(timer);
        }
        self.outbox.retract_announcements();
        self.undelivered_since = None;
        self.forced = None;
        if let Some(epoch) = self.ownership.end() {
            self.report(Event::LostOwnership { epoch, reason });
        }
    }

    /// Neighbours may believe another router: announce once more.
    pub(super) fn reassert(&mut self) {
        if self.state == State::Active && self.ownership.is_confirmed() {
            self.outbox.act(Action::Announce(AnnounceRound::Reassert));
        }
    }

    pub(super) fn announce_repeat(&mut self) {
        if self.ownership.is_confirmed() {
            self.outbox.act(Action::Announce(AnnounceRound::Repeat));
        }
    }

    pub(super) fn announce_refresh(&mut self, now: Instant) {
        if self.ownership.is_confirmed() {
            self.outbox.act(Action::Announce(AnnounceRound::Refresh));
        }
        self.timers.arm(Timer::AnnounceRefresh, now + self.config.announce().refresh);
    }
}
