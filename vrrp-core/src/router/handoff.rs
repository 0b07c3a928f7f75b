//! Giving up in an orderly way.
//!
//! A v3 Backup learns the interval from an advertisement, and its skew is proportional to it. So
//! a resignation *directed* at one successor, an ordinary advertisement with the shortest interval
//! followed by priority 0, makes an unmodified router take over within milliseconds. Sent to all
//! it makes Backups collide, hence one successor; the others fall back on their ordinary skew. A
//! priority 0 is never repeated to the same router: each one restarts its skew.

use core::net::IpAddr;
use core::time::Duration;

use super::{State, VirtualRouter};
use crate::{
    Action, AdvertInterval, AdvertSpec, Audience, Handoff, Instant, Mode, Priority, Profile,
    Reason, ResignMode, Successor, Timer,
};

/// What held addresses outlive the successor's skew by: its wake-ups, its address work, and the
/// stagger below.
const HOLD_MARGIN: Duration = Duration::from_millis(200);
/// From a successor's advertisement to the end of holding, where its announcement is not seen (a
/// fabric that suppresses ARP). keepalived announces about a millisecond after its first advert.
const ADVERT_TO_ANNOUNCEMENT: Duration = Duration::from_millis(50);
/// From a successor's announcement to the end of holding: what clients sent here before they heard
/// it is still on its way, or being answered. Removed at once, 3 of 20 handoffs lost a question
/// (one asked every 4 ms). Short, since a newcomer that looks for the address meanwhile may still
/// be answered by this host.
const IN_FLIGHT: Duration = Duration::from_millis(10);
/// v2 has no interval to learn, so the designated successor gets this head start instead.
const STAGGER: Duration = Duration::from_millis(100);

impl VirtualRouter {
    /// `Resign` or `Drain`; the latch is set already.
    pub(super) fn hand_off(&mut self, now: Instant, handoff: Handoff, reason: Reason) {
        match self.state {
            State::Initialize => self.tighten_hold(handoff),
            State::Backup => self.stop_watching(now, reason),
            State::Active => {
                let successor = self.choose_successor(handoff.successor);
                // A forced claim's priority goes with it, and nobody learns from a weaker router.
                let priority = self.priority();
                self.leave_active(reason);
                match handoff.mode {
                    ResignMode::RemoveFirst => {
                        self.remove_addresses();
                        self.resign_to(now, priority, successor, handoff);
                    }
                    ResignMode::Hold => {
                        self.resign_to(now, priority, successor, handoff);
                        self.hold(now, successor, handoff.deadline);
                    }
                }
                self.enter(now, State::Initialize, reason);
            }
        }
    }

    /// Remove and resign, to all and without ado: faults, failed checks, `Shutdown`. In
    /// [`Profile::Rfc`] in the order of RFC 9568 section 6.4.3.
    pub(super) fn remove_and_resign(&mut self) {
        let rfc = self.config.profile() == Profile::Rfc;
        if !rfc {
            self.remove_addresses();
        }
        self.send(Audience::All, None, self.config.interval());
        if rfc {
            self.remove_addresses();
        }
    }

    /// The successor's announcement was seen: clients go there from now on.
    pub(super) fn successor_announced(&mut self, now: Instant) {
        self.shorten_hold(now + IN_FLIGHT);
    }

    /// Nobody wants the addresses held any more.
    pub(super) fn end_hold(&mut self) {
        if self.timers.is_armed(Timer::HoldEnd) {
            self.remove_addresses();
        }
    }

    /// Somebody advertised after we resigned. If we hold, its announcement follows at once. Those
    /// who have not been told yet heard it too; a resignation now would make them claim before its
    /// next advertisement.
    pub(super) fn successor_advertised(&mut self, now: Instant) {
        self.timers.disarm(Timer::StaggeredResign);
        self.successor = None;
        self.shorten_hold(now + ADVERT_TO_ANNOUNCEMENT);
    }

    /// Holding ends then, if it does not end sooner.
    fn shorten_hold(&mut self, at: Instant) {
        if let Some(end) = self.timers.deadline(Timer::HoldEnd) {
            self.timers.arm(Timer::HoldEnd, end.min(at));
        }
    }

    /// The second half of a v2 resignation.
    pub(super) fn staggered_resign(&mut self) {
        if let Some(successor) = self.successor.take() {
            self.send(Audience::AllExcept(successor), None, self.config.interval());
        }
    }

    /// Another handoff while resigned already can only make it end sooner.
    fn tighten_hold(&mut self, handoff: Handoff) {
        match (self.timers.deadline(Timer::HoldEnd), handoff.mode) {
            (None, _) => {}
            (Some(_), ResignMode::RemoveFirst) => self.remove_addresses(),
            (Some(end), ResignMode::Hold) => {
                self.timers.arm(Timer::HoldEnd, end.min(handoff.deadline));
            }
        }
    }

    fn hold(&mut self, now: Instant, successor: Option<IpAddr>, deadline: Instant) {
        if *self.config.mode() == Mode::Solo {
            return self.remove_addresses();
        }
        // A successor whose priority is unknown may have the lowest.
        let priority = successor.and_then(|s| self.known.priority_of(s)).unwrap_or(Priority::MIN);
        let skew = self.config.interval().skew(self.config.version(), priority);
        self.timers.arm(Timer::HoldEnd, deadline.min(now + skew + HOLD_MARGIN));
    }

    fn choose_successor(&self, wanted: Successor) -> Option<IpAddr> {
        let wanted = match wanted {
            Successor::Anyone => return None,
            Successor::BestKnown => None,
            Successor::Peer(peer) => Some(peer),
        };
        match self.config.mode() {
            Mode::Solo => None,
            Mode::Multicast => wanted
                .filter(|&peer| self.known.priority_of(peer).is_some())
                .or_else(|| self.known.best()),
            // Unheard peers are there as well: the one that would win the comparison.
            Mode::Unicast(peers) => wanted.filter(|peer| peers.contains(peer)).or_else(|| {
                peers.iter().copied().max_by_key(|&peer| (self.known.priority_of(peer), peer))
            }),
        }
    }

    fn resign_to(
        &mut self,
        now: Instant,
        priority: Priority,
        successor: Option<IpAddr>,
        handoff: Handoff,
    ) {
        let interval = self.config.interval();
        let (fast, priority) = (AdvertInterval::MIN, Some(priority));
        let Some(successor) = successor else {
            // Nobody is known. While the addresses are held the ordinary skew costs nothing;
            // once they are gone a collision, settled by assertion, costs less than the skew.
            let hurry = handoff.mode == ResignMode::RemoveFirst
                && handoff.successor != Successor::Anyone
                && *self.config.mode() != Mode::Solo
                && !self.is_v2();
            if hurry {
                self.send(Audience::All, priority, fast);
            }
            return self.send(Audience::All, None, interval);
        };
        let others = match self.config.mode() {
            Mode::Unicast(peers) => peers.len() > 1,
            Mode::Multicast | Mode::Solo => false,
        };
        let only = Audience::Only(successor);
        match (self.config.mode(), self.is_v2()) {
            (Mode::Unicast(_), false) => {
                self.send(only, priority, fast);
                self.send(only, None, interval);
                if others {
                    self.send(Audience::AllExcept(successor), None, interval);
                }
            }
            (Mode::Unicast(_), true) => {
                self.send(only, None, interval);
                if others {
                    self.successor = Some(successor);
                    self.timers.arm(Timer::StaggeredResign, now + STAGGER);
                }
            }
            (Mode::Multicast | Mode::Solo, false) => {
                self.send(only, priority, fast);
                self.send(Audience::All, None, interval);
            }
            (Mode::Multicast | Mode::Solo, true) => self.send(Audience::All, None, interval),
        }
    }

    /// Queues one advertisement.
    pub(super) fn send(
        &mut self,
        audience: Audience,
        priority: Option<Priority>,
        interval: AdvertInterval,
    ) {
        self.stats.sent(priority);
        self.outbox.act(Action::SendAdvert(AdvertSpec { audience, priority, interval }));
    }
}
