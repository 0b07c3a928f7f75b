//! Noticing that the process or the host did not run.

use core::time::Duration;

use super::{State, VirtualRouter};
use crate::{Event, Instant, Mode, Reason};

impl VirtualRouter {
    /// The shortest silence after which another router may own the VIP: three intervals and the
    /// skew of the highest priority that a peer may have.
    pub(super) fn peers_shortest_down(&self) -> Duration {
        self.config.interval().active_down(self.config.version(), self.config.max_peer_priority())
    }

    /// An Active that was silent for that long does not know whether it still is one. It removes
    /// the addresses first, then listens, then competes again; it sends nothing before.
    pub(super) fn check_stall(&mut self, now: Instant) {
        if self.state != State::Active || *self.config.mode() == Mode::Solo {
            return;
        }
        let silence = now.saturating_since(self.last_advert);
        if silence <= self.peers_shortest_down() {
            return;
        }
        self.stats.stalled();
        self.report(Event::Stalled { silence });
        self.leave_active(Reason::Stalled);
        self.remove_addresses();
        self.active_interval = self.config.interval();
        self.watch(now, now, Reason::Stalled);
    }
}
