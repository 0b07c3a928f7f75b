//! One virtual router: the state machine of RFC 9568 section 6.4.

use crate::receive::{Accepted, Discard, RxMeta};
use crate::wire::BufferTooSmall;
use crate::{Action, AdvertSpec, Config, Event, Input, Instant, Snapshot, Stats};
use core::net::IpAddr;

/// The states of RFC 9568 section 6.3. RFC 5798 calls Active "Master".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Not taking part.
    #[default]
    Initialize,
    /// Watching the Active.
    Backup,
    /// Owning the virtual addresses.
    Active,
}

/// One virtual router.
#[derive(Clone, Debug)]
pub struct VirtualRouter {
    config: Config,
}

impl VirtualRouter {
    /// A router in Initialize.
    pub fn new(config: Config, now: Instant) -> Self {
        let _ = now;
        Self { config }
    }

    /// A packet arrived for this router.
    ///
    /// # Errors
    /// It failed validation; no timer and no state changed.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        meta: &RxMeta,
        payload: &[u8],
    ) -> Result<Accepted, Discard> {
        let _ = (now, meta, payload);
        todo!()
    }

    /// Something else happened.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        let _ = (now, input);
        todo!()
    }

    /// Time passed. Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
        todo!()
    }

    /// When `handle_timeout` is next due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// The next thing to do, in order.
    #[must_use]
    pub fn poll_action(&mut self) -> Option<Action> {
        todo!()
    }

    /// The next thing to report.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }

    /// Makes the message of a [`Action::SendAdvert`] for one destination (the group, or one peer).
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn encode_advert(
        &self,
        spec: &AdvertSpec,
        destination: IpAddr,
        buffer: &mut [u8],
    ) -> Result<usize, BufferTooSmall> {
        let _ = (spec, destination, buffer);
        todo!()
    }

    /// The addresses to which one copy each of an advertisement goes: the group, or the peers in the audience.
    pub fn destinations(&self, spec: &AdvertSpec) -> impl Iterator<Item = IpAddr> + '_ {
        let _ = spec;
        core::iter::empty()
    }

    /// Takes new settings without touching the election.
    ///
    /// # Errors
    /// VRID, version or family differ: that is another router. Nothing changed.
    pub fn reconfigure(&mut self, now: Instant, config: Config) -> Result<(), IdentityChanged> {
        let _ = (now, config);
        todo!()
    }

    /// The settings in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The state.
    pub fn state(&self) -> State {
        todo!()
    }

    /// Everything an operator may ask about, at one point in time.
    pub fn snapshot(&self) -> Snapshot {
        todo!()
    }

    /// The counters.
    pub fn stats(&self) -> &Stats {
        todo!()
    }
}

/// The new settings describe another virtual router. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} cannot change in place: remove the router and add another")]
pub struct IdentityChanged {
    /// The setting that differs: `vrid`, `version` or `family`.
    pub setting: &'static str,
}
