//! Initialize (RFC 9568 section 6.4.1): not taking part.

use super::election::Advert;
use super::{State, VirtualRouter};
use crate::receive::Outcome;
use crate::{AddressState, Instant, Reason, Timer};

impl VirtualRouter {
    /// The facts allow to run.
    pub(super) fn start(&mut self, now: Instant) {
        if self.config.priority().is_owner() {
            // (105) – (130): the owner need not listen first.
            return self.claim(now, Reason::Started);
        }
        // What a resignation still owes the others is said now.
        if self.timers.is_armed(Timer::StaggeredResign) {
            self.timers.disarm(Timer::StaggeredResign);
            self.staggered_resign();
        }
        // Addresses may still be held or on their way off; a Backup must not have them.
        if self.ownership.state() != AddressState::Absent {
            self.remove_addresses();
        }
        // (140) – (155): nobody's interval is known, so the local one stands in.
        self.active_interval = self.config.interval();
        self.watch(now, now, Reason::Started);
    }

    /// An advertisement changes nothing here, except that it tells a router which resigned and
    /// still holds the addresses that a successor has claimed.
    pub(super) fn advert_in_initialize(&mut self, now: Instant, advert: &Advert) -> Outcome {
        if advert.priority.is_none() {
            return Outcome::Resignation;
        }
        self.successor_advertised(now);
        Outcome::Ignored
    }

    /// A predecessor left the addresses in place for us: own them without a transition that the
    /// link could notice. Only from Initialize, and only when everything but the missing `Startup`
    /// allows to run; after `Startup` it would be too late, as that leads to Backup at once.
    ///
    /// What other members of a sync group say is heard afterwards, when they have adopted too.
    pub(super) fn adopt(&mut self, now: Instant) {
        if self.state != State::Initialize {
            return;
        }
        let was_started = core::mem::replace(&mut self.standing.started, true);
        if self.standing.own_impediment().is_some() {
            self.standing.started = was_started;
            return;
        }
        self.ownership.inherit();
        self.claim(now, Reason::Adopted);
    }
}
