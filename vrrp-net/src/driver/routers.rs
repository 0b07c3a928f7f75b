//! The routers of a node, by name, and changing them while they run.

use std::collections::{BTreeMap, BTreeSet};

use vrrp_core::{Facts, Handoff, Input, Instant, LinkId, Mode, ResignMode, RouterId, Successor};

use super::Driver;
use crate::clock;
use crate::config::{InterfaceName, NodeConfig, RouterConfig, RouterName};
use crate::kernel::{Assignment, Request};
use crate::node::ReconfigureError;
use crate::socket::Reach;

/// A router that leaves the configuration has this long to give its addresses up.
const LEAVE_WITHIN: std::time::Duration = std::time::Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Names {
    routers: BTreeMap<RouterId, Router>,
    links: BTreeMap<InterfaceName, LinkId>,
    next_router: u32,
    /// Whose status may have changed since it was published.
    changed: BTreeSet<RouterId>,
    /// Those that left the configuration and still have something to give up.
    leaving: BTreeSet<RouterId>,
    /// Until when those stay out whose addresses others keep removing.
    contested: BTreeMap<RouterId, Instant>,
}

/// What the driver knows of a router beside the core.
#[derive(Debug)]
pub(super) struct Router {
    pub(super) config: RouterConfig,
    pub(super) link: LinkId,
    pub(super) facts: Facts,
    pub(super) send_failing: bool,
}

impl Names {
    pub(super) fn get(&self, id: RouterId) -> Option<&Router> {
        self.routers.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: RouterId) -> Option<&mut Router> {
        self.routers.get_mut(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (RouterId, &Router)> {
        self.routers.iter().map(|(&id, router)| (id, router))
    }

    /// Notes that a router's status may have changed.
    pub(super) fn mark(&mut self, id: RouterId) {
        self.changed.insert(id);
    }

    /// As `mark`, for every router of a link.
    pub(super) fn mark_link(&mut self, link: LinkId) {
        let on_link = self.routers.iter().filter(|(_, router)| router.link == link);
        self.changed.extend(on_link.map(|(&id, _)| id));
    }

    pub(super) fn take_changed(&mut self) -> BTreeSet<RouterId> {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn keep_changed(&mut self, changed: BTreeSet<RouterId>) {
        self.changed.extend(changed);
    }

    /// The routers of that name, or all.
    pub(super) fn select(&self, name: Option<&RouterName>) -> Vec<RouterId> {
        self.iter()
            .filter(|(id, _)| !self.leaving.contains(id))
            .filter(|(_, router)| name.is_none_or(|name| router.config.name() == name))
            .map(|(id, _)| id)
            .collect()
    }

    /// Keeps a router out until then.
    pub(super) fn contest(&mut self, id: RouterId, until: Instant) {
        self.contested.insert(id, until);
    }

    pub(super) fn next_contest_end(&self) -> Option<Instant> {
        self.contested.values().copied().min()
    }

    /// Forgets and returns one router whose time out is over.
    pub(super) fn pop_contest(&mut self, now: Instant) -> Option<RouterId> {
        let (&id, _) = self.contested.iter().find(|(_, until)| **until <= now)?;
        self.contested.remove(&id);
        Some(id)
    }

    fn link(&mut self, interface: &InterfaceName) -> LinkId {
        let next = LinkId(u32::try_from(self.links.len()).unwrap_or(u32::MAX));
        *self.links.entry(interface.clone()).or_insert(next)
    }
}

impl Driver {
    /// Brings the routers in line with a configuration: unchanged ones are not touched, changed
    /// ones keep their election, removed ones give up, new ones start.
    ///
    /// A router whose identity changed (interface, VRID, version, family) is another router.
    pub(super) fn reconfigure(&mut self, config: &NodeConfig) -> Result<(), ReconfigureError> {
        if self.resignation.is_some() {
            return Err(ReconfigureError::Resigned);
        }
        for id in self.names.select(None) {
            let Some(router) = self.names.get(id) else { continue };
            let stays = config.routers().iter().any(|new| is_same(&router.config, new));
            if !stays {
                self.leave(id);
            }
        }
        for new in config.routers() {
            let known = self
                .names
                .iter()
                .find(|(id, router)| {
                    !self.names.leaving.contains(id) && is_same(&router.config, new)
                })
                .map(|(id, _)| id);
            match known {
                Some(id) => self.change(id, new)?,
                None => self.add(new)?,
            }
        }
        Ok(())
    }

    pub(super) fn add(&mut self, config: &RouterConfig) -> Result<(), ReconfigureError> {
        // One that is on its way out and has the same address or VRID must not be in the way.
        self.forget_left(true);
        let id = RouterId(self.names.next_router);
        let link = self.names.link(config.interface());
        let now = clock::now();
        self.set
            .insert(now, id, link, config.protocol().clone())
            .map_err(|error| ReconfigureError::refused(config.name(), &error))?;
        self.names.next_router += 1;
        let facts = Facts { eligible: true, ..Facts::default() };
        let router = Router { config: config.clone(), link, facts, send_failing: false };
        self.names.routers.insert(id, router);
        self.ask_kernel(Request::Assign(assignment(id, link, config)));
        self.input(id, Input::Startup);
        Ok(())
    }

    fn change(&mut self, id: RouterId, new: &RouterConfig) -> Result<(), ReconfigureError> {
        let Some(router) = self.names.get_mut(id) else { return Ok(()) };
        if router.config == *new {
            return Ok(());
        }
        // The kernel thread learns the new list before the core asks for it.
        let before = router.config.clone();
        let link = router.link;
        self.ask_kernel(Request::Assign(assignment(id, link, new)));
        let now = clock::now();
        if let Err(error) = self.set.reconfigure(now, id, new.protocol().clone()) {
            self.ask_kernel(Request::Assign(assignment(id, link, &before)));
            return Err(ReconfigureError::refused(new.name(), &error));
        }
        if let Some(router) = self.names.get_mut(id) {
            router.config = new.clone();
        }
        self.names.mark(id);
        self.drain();
        Ok(())
    }

    /// A router leaves: it gives up at once, and is forgotten when its addresses are gone.
    fn leave(&mut self, id: RouterId) {
        self.names.leaving.insert(id);
        let handoff = Handoff {
            mode: ResignMode::RemoveFirst,
            deadline: clock::now() + LEAVE_WITHIN,
            successor: Successor::Anyone,
        };
        self.input(id, Input::Resign(handoff));
    }

    /// Forgets routers that left and have no addresses any more; all that left with `now`.
    pub(super) fn forget_left(&mut self, now: bool) {
        let is_absent = |id: &RouterId| {
            let state = self.set.router(*id).map(|router| router.snapshot().addresses);
            state.is_none_or(|state| state == vrrp_core::AddressState::Absent)
        };
        let left: Vec<RouterId> =
            self.names.leaving.iter().copied().filter(|id| now || is_absent(id)).collect();
        for id in left {
            self.set.remove(clock::now(), id);
            self.names.routers.remove(&id);
            self.names.leaving.remove(&id);
            self.names.contested.remove(&id);
            self.names.mark(id);
            self.ask_kernel(Request::Forget(id));
        }
    }
}

/// The same router with other settings, as opposed to another router.
fn is_same(old: &RouterConfig, new: &RouterConfig) -> bool {
    let identity = |config: &RouterConfig| {
        let protocol = config.protocol();
        (protocol.vrid(), protocol.version(), protocol.family())
    };
    old.name() == new.name() && old.interface() == new.interface() && identity(old) == identity(new)
}

fn assignment(router: RouterId, link: LinkId, config: &RouterConfig) -> Assignment {
    let protocol = config.protocol();
    Assignment {
        router,
        link,
        interface: config.interface().clone(),
        family: protocol.family(),
        reach: match protocol.mode() {
            Mode::Multicast => Some(Reach::Multicast),
            Mode::Unicast(_) => Some(Reach::Unicast),
            Mode::Solo => None,
        },
        vips: config.vips().into(),
        label: config.label().cloned(),
        source: config.source(),
        burst: protocol.announce().burst,
        owns_addresses: protocol.priority().is_owner(),
    }
}
