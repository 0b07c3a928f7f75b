//! Initialize (RFC 9568 section 6.4.1): not taking part.

use super::election::Advert;
use super::standing::Standing;
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
    /// link could notice. Only from Initialize, and only when the facts allow to run.
    pub(super) fn adopt(&mut self, now: Instant) {
        if self.may_adopt() {
            self.standing.started = true;
            self.ownership.inherit();
            self.claim(now, Reason::Adopted);
        }
    }

    /// A started router that may run has left Initialize already, so this is about one that was
    /// not started: adoption starts it.
    pub(crate) fn may_adopt(&self) -> bool {
        let standing = Standing { started: true, ..self.standing };
        self.state == State::Initialize && standing.own_impediment().is_none()
    }
}
