//! Many virtual routers behind the same verbs.
//!
//! Deadlines are kept in a heap and routers with something to say in a ready set: no call scans
//! all routers. Callers name routers and links by ids of their own; an interface index never
//! identifies anything here, since interfaces are recreated.

use core::net::IpAddr;

use crate::receive::{Accepted, Discard, RxMeta};
use crate::wire::BufferTooSmall;
use crate::{Action, AdvertSpec, Config, Event, IdentityChanged, Input, Instant, VirtualRouter};

/// Names a router within a set. Chosen by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouterId(pub u32);

/// Names a link (an interface, whatever its index is today). Chosen by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// Names a sync group within a set. Chosen by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// A set of virtual routers.
#[derive(Clone, Debug, Default)]
pub struct RouterSet {}

impl RouterSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a router in Initialize.
    ///
    /// # Errors
    /// The id is taken; another router of the link answers to the same family, VRID and sources;
    /// or one of its addresses belongs to another router. Nothing changed.
    pub fn insert(
        &mut self,
        now: Instant,
        id: RouterId,
        link: LinkId,
        config: Config,
    ) -> Result<(), InsertError> {
        let _ = (now, id, link, config);
        todo!()
    }

    /// Removes a router at once and returns it. It does not resign: let it `Resign` before.
    pub fn remove(&mut self, id: RouterId) -> Option<VirtualRouter> {
        let _ = id;
        todo!()
    }

    /// A packet arrived on a link.
    ///
    /// # Errors
    /// No router of the link answers to it, or it failed validation. Nothing but counters changed.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        link: LinkId,
        meta: &RxMeta,
        payload: &[u8],
    ) -> Result<(RouterId, Accepted), Discard> {
        let _ = (now, link, meta, payload);
        todo!()
    }

    /// Something happened to one router. An unknown id is ignored.
    pub fn handle_input(&mut self, now: Instant, id: RouterId, input: Input) {
        let _ = (now, id, input);
        todo!()
    }

    /// Time passed: every router that is due acts.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
        todo!()
    }

    /// The earliest deadline of all routers.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// The next action, in order per router.
    #[must_use]
    pub fn poll_action(&mut self) -> Option<(RouterId, Action)> {
        todo!()
    }

    /// The next event.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<(RouterId, Event)> {
        todo!()
    }

    /// As [`VirtualRouter::encode_advert`]; `None` for an unknown id.
    pub fn encode_advert(
        &self,
        id: RouterId,
        spec: &AdvertSpec,
        destination: IpAddr,
        buffer: &mut [u8],
    ) -> Option<Result<usize, BufferTooSmall>> {
        Some(self.router(id)?.encode_advert(spec, destination, buffer))
    }

    /// As [`VirtualRouter::reconfigure`].
    ///
    /// # Errors
    /// As `insert` and `VirtualRouter::reconfigure`. Nothing changed.
    pub fn reconfigure(
        &mut self,
        now: Instant,
        id: RouterId,
        config: Config,
    ) -> Result<(), ReconfigureError> {
        let _ = (now, id, config);
        todo!()
    }

    /// A router, to read.
    pub fn router(&self, id: RouterId) -> Option<&VirtualRouter> {
        let _ = id;
        todo!()
    }

    /// All routers with their links, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (RouterId, LinkId, &VirtualRouter)> + '_ {
        core::iter::empty()
    }

    /// Packets that no router of the link answered to.
    pub fn unclaimed_packets(&self) -> u64 {
        todo!()
    }
}

/// Why a router was not added. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The id is in use.
    #[error("router id {0:?} is in use")]
    IdTaken(RouterId),
    /// Packets could not be told apart.
    #[error("router {other:?} on the same link has the same family, VRID and sources")]
    SameGroup {
        /// The other router.
        other: RouterId,
    },
    /// One VIP on two routers of one node.
    #[error("{address} belongs to router {other:?} already")]
    AddressTaken {
        /// The address.
        address: IpAddr,
        /// The other router.
        other: RouterId,
    },
}

/// Why a router was not reconfigured. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReconfigureError {
    /// There is no such router.
    #[error("there is no router {0:?}")]
    Unknown(RouterId),
    /// The new settings describe another router.
    #[error(transparent)]
    Identity(#[from] IdentityChanged),
    /// The new settings collide with another router.
    #[error(transparent)]
    Conflict(#[from] InsertError),
}
