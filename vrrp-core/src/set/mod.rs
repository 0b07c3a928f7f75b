//! Many virtual routers behind the same verbs.
//!
//! Deadlines are kept in a heap and routers with something to say in a ready set: no call scans
//! all routers. Callers name routers and links by ids of their own; an interface index never
//! identifies anything here, since interfaces are recreated.

mod demux;
mod groups;
mod heap;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::net::IpAddr;

use self::demux::Demux;
use self::groups::Groups;
use self::heap::DeadlineHeap;
use crate::receive::{Accepted, Discard, RxMeta};
use crate::wire::BufferTooSmall;
use crate::{
    Action, AdvertSpec, Config, Event, IdentityChanged, Input, Instant, State, VirtualRouter, Vrid,
};

pub use groups::GroupError;

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
///
/// The verbs and the drive loop are those of [`VirtualRouter`]: feed one input, then drain actions
/// and events. Only [`insert`](Self::insert), [`reconfigure`](Self::reconfigure) and
/// [`set_group`](Self::set_group) allocate.
#[derive(Clone, Debug, Default)]
pub struct RouterSet {
    ids: BTreeMap<RouterId, usize>,
    slots: Vec<Option<Entry>>,
    /// Slots that a removed router left, to be used again.
    free: Vec<usize>,
    demux: Demux,
    groups: Groups,
    deadlines: DeadlineHeap,
    /// Slots whose router has actions or events waiting, each once.
    ready: VecDeque<usize>,
    unclaimed: u64,
    last_unclaimed: Option<Unclaimed>,
}

#[derive(Clone, Debug)]
struct Entry {
    id: RouterId,
    link: LinkId,
    group: Option<GroupId>,
    router: VirtualRouter,
    is_ready: bool,
}

/// A packet that no router answers to: another group on the same link, usually.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unclaimed {
    /// Where it arrived.
    pub link: LinkId,
    /// Its source.
    pub source: IpAddr,
    /// Its virtual router identifier.
    pub vrid: Vrid,
}

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
        if self.ids.contains_key(&id) {
            return Err(InsertError::IdTaken(id));
        }
        self.check_conflicts(link, &config, None)?;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        // So that no removal allocates.
        self.free.reserve(self.slots.len() - self.free.len());
        self.deadlines.reserve(self.slots.len());
        self.ready.reserve(self.slots.len().saturating_sub(self.ready.len()));
        self.demux.add(slot, link, &config);
        let router = VirtualRouter::new(config, now);
        self.slots[slot] = Some(Entry { id, link, group: None, router, is_ready: false });
        self.ids.insert(id, slot);
        Ok(())
    }

    /// Removes a router at once and returns it, with what it still had to say. It does not
    /// resign: let it [`Resign`](Input::Resign) before. It leaves its sync group.
    pub fn remove(&mut self, now: Instant, id: RouterId) -> Option<VirtualRouter> {
        let slot = self.ids.remove(&id)?;
        let entry = self.slots[slot].take()?;
        self.free.push(slot);
        self.deadlines.set(slot, None);
        self.ready.retain(|&ready| ready != slot);
        self.demux.remove(slot, entry.link, entry.router.config());
        if let Some(group) = entry.group {
            self.groups.remove_member(group, slot);
            self.follow_group(now, group);
        }
        Some(entry.router)
    }

    /// A packet arrived on a link. Which router it is for follows from the link, the family, the
    /// VRID, the destination (group or unicast) and, for unicast, the source.
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
        let Some(&octet) = payload.get(1) else {
            self.unclaimed = self.unclaimed.saturating_add(1);
            // At most one octet.
            return Err(Discard::Truncated { found: payload.len() as u16, needed: 8 });
        };
        let Some(vrid) = Vrid::new(octet) else {
            self.unclaimed = self.unclaimed.saturating_add(1);
            return Err(Discard::VridZero);
        };
        let slots = &self.slots;
        let found = self
            .demux
            .find(link, vrid, meta, |slot| slots[slot].as_ref().map(|entry| entry.router.config()));
        let Some((slot, entry)) = found.and_then(|slot| Some((slot, self.slots[slot].as_mut()?)))
        else {
            self.unclaimed = self.unclaimed.saturating_add(1);
            self.last_unclaimed = Some(Unclaimed { link, source: meta.source, vrid });
            return Err(Discard::VridUnknown { found: octet });
        };
        let (id, before) = (entry.id, entry.router.state());
        let result = entry.router.handle_packet(now, meta, payload);
        self.settle(now, slot, before);
        result.map(|accepted| (id, accepted))
    }

    /// Something happened to one router. An unknown id is ignored.
    ///
    /// What is said about taking part (`Startup`, `Shutdown`, `Resign`, `Drain`, `Undrain`,
    /// `ForceClaim`, `ReleaseClaim`, `Adopt`) to one member of a sync group is said to all.
    pub fn handle_input(&mut self, now: Instant, id: RouterId, input: Input) {
        let Some(&slot) = self.ids.get(&id) else {
            return;
        };
        match self.slots[slot].as_ref().and_then(|entry| entry.group) {
            Some(group) if concerns_group(&input) => self.input_to_group(now, group, input),
            _ => self.input_to_slot(now, slot, input),
        }
    }

    /// Time passed: every router that is due acts.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((at, slot)) = self.deadlines.earliest()
            && at <= now
        {
            let Some(entry) = self.slots[slot].as_mut() else {
                break;
            };
            let before = entry.router.state();
            entry.router.handle_timeout(now);
            self.settle(now, slot, before);
        }
    }

    /// The earliest deadline of all routers.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.earliest().map(|(at, _)| at)
    }

    /// The next action. Actions of one router come in its order.
    #[must_use]
    pub fn poll_action(&mut self) -> Option<(RouterId, Action)> {
        self.poll_ready(VirtualRouter::poll_action)
    }

    /// The next event. Drain the actions before the events: a router is forgotten as ready when
    /// it has neither.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<(RouterId, Event)> {
        self.poll_ready(VirtualRouter::poll_event)
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
    /// As [`insert`](Self::insert) and [`VirtualRouter::reconfigure`]. Nothing changed.
    pub fn reconfigure(
        &mut self,
        now: Instant,
        id: RouterId,
        config: Config,
    ) -> Result<(), ReconfigureError> {
        let &slot = self.ids.get(&id).ok_or(ReconfigureError::Unknown(id))?;
        let entry = self.slots[slot].as_ref().ok_or(ReconfigureError::Unknown(id))?;
        let link = entry.link;
        self.check_conflicts(link, &config, Some(slot))?;
        if let Some(group) = entry.group {
            self.check_group_priority(group, slot, config.priority())?;
        }
        let Some(entry) = self.slots[slot].as_mut() else {
            return Err(ReconfigureError::Unknown(id));
        };
        let (before, old) = (entry.router.state(), entry.router.config().clone());
        entry.router.reconfigure(now, config)?;
        let new = entry.router.config().clone();
        self.demux.remove(slot, link, &old);
        self.demux.add(slot, link, &new);
        self.settle(now, slot, before);
        Ok(())
    }

    /// A router, to read.
    pub fn router(&self, id: RouterId) -> Option<&VirtualRouter> {
        let entry = self.slots[*self.ids.get(&id)?].as_ref()?;
        Some(&entry.router)
    }

    /// All routers with their links, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (RouterId, LinkId, &VirtualRouter)> + '_ {
        self.ids
            .values()
            .filter_map(|&slot| self.slots[slot].as_ref())
            .map(|entry| (entry.id, entry.link, &entry.router))
    }

    /// Packets that no router of their link answered to, those without a valid VRID included.
    pub fn unclaimed_packets(&self) -> u64 {
        self.unclaimed
    }

    /// The latest of them that had a VRID, since the last call.
    pub fn take_unclaimed(&mut self) -> Option<Unclaimed> {
        self.last_unclaimed.take()
    }

    fn input_to_slot(&mut self, now: Instant, slot: usize, input: Input) {
        let Some(entry) = self.slots[slot].as_mut() else {
            return;
        };
        let before = entry.router.state();
        entry.router.handle_input(now, input);
        self.settle(now, slot, before);
    }

    /// After every change of a router: its deadline, its place in the ready set, its group.
    fn settle(&mut self, now: Instant, slot: usize, before: State) {
        self.refresh(slot);
        if let Some(group) = self.slots[slot].as_ref().and_then(|entry| entry.group) {
            self.member_changed(now, group, slot, before);
        }
    }

    fn refresh(&mut self, slot: usize) {
        let Some(entry) = self.slots[slot].as_mut() else {
            return;
        };
        self.deadlines.set(slot, entry.router.poll_timeout());
        if !entry.is_ready && !entry.router.is_quiet() {
            entry.is_ready = true;
            self.ready.push_back(slot);
        }
    }

    fn poll_ready<T>(
        &mut self,
        mut poll: impl FnMut(&mut VirtualRouter) -> Option<T>,
    ) -> Option<(RouterId, T)> {
        // Each ready router is asked at most once per call.
        for _ in 0..self.ready.len() {
            let &slot = self.ready.front()?;
            let Some(entry) = self.slots[slot].as_mut() else {
                self.ready.pop_front();
                continue;
            };
            if let Some(output) = poll(&mut entry.router) {
                return Some((entry.id, output));
            }
            self.ready.pop_front();
            if entry.router.is_quiet() {
                entry.is_ready = false;
            } else {
                self.ready.push_back(slot);
            }
        }
        None
    }

    fn check_conflicts(
        &self,
        link: LinkId,
        config: &Config,
        except: Option<usize>,
    ) -> Result<(), InsertError> {
        let config_of =
            |slot: usize| self.slots[slot].as_ref().map(|entry| (entry.id, entry.router.config()));
        if let Some(other) = self.demux.same_packets(link, config, except, config_of) {
            return Err(InsertError::SameGroup { other });
        }
        for &address in config.addresses().iter() {
            let owner = self.demux.owner_of(link, address).filter(|&slot| Some(slot) != except);
            if let Some((other, _)) = owner.and_then(config_of) {
                return Err(InsertError::AddressTaken { address, other });
            }
        }
        Ok(())
    }
}

fn concerns_group(input: &Input) -> bool {
    matches!(
        input,
        Input::Startup
            | Input::Shutdown
            | Input::Resign(_)
            | Input::Drain(_)
            | Input::Undrain
            | Input::ForceClaim
            | Input::ReleaseClaim
            | Input::Adopt
    )
}

/// Why a router was not added. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The id is in use.
    #[error("router id {} is in use", .0.0)]
    IdTaken(RouterId),
    /// Packets could not be told apart.
    #[error("router {} on the same link has the same family, VRID and sources", other.0)]
    SameGroup {
        /// The other router.
        other: RouterId,
    },
    /// One VIP on two routers of one node.
    #[error("{address} belongs to router {} already", other.0)]
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
    #[error("there is no router {}", .0.0)]
    Unknown(RouterId),
    /// The new settings describe another router.
    #[error(transparent)]
    Identity(#[from] IdentityChanged),
    /// The new settings collide with another router.
    #[error(transparent)]
    Conflict(#[from] InsertError),
    /// The new settings do not fit the router's sync group.
    #[error(transparent)]
    Group(#[from] GroupError),
}
