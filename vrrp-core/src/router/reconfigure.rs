//! New settings for a living router.

use super::{State, VirtualRouter};
use crate::{Config, Instant, Timer};

impl VirtualRouter {
    /// Takes new settings without touching the election: no state changes, no address that stays
    /// is removed, and an Active keeps its cadence.
    ///
    /// An Active tells the others at once, and asks to install the new list of addresses: the
    /// driver adds what is new and removes what is no longer listed. A changed base priority
    /// cancels what [`Input::PriorityChanged`](crate::Input::PriorityChanged) said before; say it
    /// again, computed from the new base.
    ///
    /// # Errors
    /// VRID, version or family differ: that is another router. Nothing changed.
    pub fn reconfigure(&mut self, now: Instant, config: Config) -> Result<(), IdentityChanged> {
        for (setting, same) in [
            ("vrid", config.vrid() == self.config.vrid()),
            ("version", config.version() == self.config.version()),
            ("family", config.family() == self.config.family()),
        ] {
            if !same {
                return Err(IdentityChanged { setting });
            }
        }
        if config == self.config {
            return Ok(());
        }
        let now = self.advance(now);
        let before = self.priority();
        let old = core::mem::replace(&mut self.config, config);
        if old.priority() != self.config.priority() {
            self.tracked = None;
        }
        if self.state != State::Active {
            if self.is_v2() || self.state == State::Initialize {
                self.active_interval = self.config.interval();
            }
            self.priority_changed(now, before);
            return Ok(());
        }
        self.active_interval = self.config.interval();
        if old.interval() != self.config.interval() {
            // The peers count from the advertisement that tells them the new interval.
            self.arm_advert(now + self.config.interval().duration());
        }
        if self.priority() == before {
            self.advertise(now);
        } else {
            self.priority_changed(now, before);
        }
        if old.addresses() != self.config.addresses() {
            self.install_addresses();
        }
        if old.announce().refresh != self.config.announce().refresh {
            self.rearm_refresh(now);
        }
        Ok(())
    }

    fn rearm_refresh(&mut self, now: Instant) {
        let refresh = self.config.announce().refresh;
        self.timers.disarm(Timer::AnnounceRefresh);
        if self.ownership.is_confirmed() && !refresh.is_zero() {
            self.timers.arm(Timer::AnnounceRefresh, now + refresh);
        }
    }
}

/// The new settings describe another virtual router. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} cannot change in place: remove the router and add another")]
pub struct IdentityChanged {
    /// The setting that differs: `vrid`, `version` or `family`.
    pub setting: &'static str,
}
