//! The driver of each node: does what its routers ask, on a modelled host.

use std::net::IpAddr;

use vrrp_core::{
    Action, ActionId, ActionResult, AddressState, AdvertSpec, Audience, Family, Input, Priority,
    State, VirtualRouter,
};

use super::{Life, MICRO, MILLI, Mutation, NEVER, SECOND, Time, World};
use crate::check::Checker;
use crate::network::{Event, NO_BYTES, Packet};
use crate::node::{self, router_id};
use crate::trace::Happening;

/// The lease for intervals of a second: valid for a second, refreshed twice in it, and only while
/// an advertisement has been sent within the permit.
const LEASE: Time = SECOND;
/// The kernel is late by up to this.
const LEASE_LATE: Time = 1_130 * MILLI;
const REFRESH: Time = SECOND / 2;
const PERMIT: Time = 550 * MILLI;

impl World<'_> {
    /// Does every action, in order, and reads every event.
    pub(super) fn drain(&mut self, node: usize) {
        loop {
            if let Some((id, action)) = self.nodes[node].set.poll_action() {
                self.perform(node, id.0 as usize, action);
            } else if let Some((id, event)) = self.nodes[node].set.poll_event() {
                self.observe(node, id.0 as usize, event);
            } else {
                break;
            }
        }
    }

    fn perform(&mut self, node: usize, router: usize, action: Action) {
        match action {
            Action::SendAdvert(spec) => {
                self.check_advert(node, router, &spec);
                self.advertise(node, router, &spec);
                if spec.priority.is_none() && self.mutated(Mutation::ResignsTwice) {
                    self.advertise(node, router, &spec);
                }
            }
            Action::InstallAddresses(id) => self.begin_work(node, router, id, true),
            Action::RemoveAddresses(id) => self.begin_work(node, router, id, false),
            Action::Announce(_) => self.announce(node, router),
            _ => {}
        }
    }

    pub(super) fn advertise(&mut self, node: usize, router: usize, spec: &AdvertSpec) {
        let now = self.local(node);
        let sent = self.can_send(node, router);
        let port = &mut self.nodes[node].ports[router];
        port.last_sent = now;
        if !sent || port.sending_fails {
            self.answers.push((router as u8, Input::AdvertResult { delivered: sent }));
            port.sending_fails = !sent;
        }
        if !sent {
            return;
        }
        self.permit(node, router);
        let priority = spec.priority.map_or(0, Priority::value);
        self.note(Happening::Advert { node: node as u8, router: router as u8, priority });
        let sent_to = self.send_copies(node, router, spec, None);
        if priority == 0 {
            self.check_zeros(node, router, sent_to);
        }
    }

    /// Sends the copies of one advertisement in the name of a router of the node, or of a copy of
    /// it that the guardian has. Returns the nodes that they were sent to.
    pub(super) fn send_copies(
        &mut self,
        node: usize,
        router: usize,
        spec: &AdvertSpec,
        copy: Option<&VirtualRouter>,
    ) -> u8 {
        let nodes = self.nodes.len();
        let damage = u8::from(self.mutated(Mutation::EncodesWrongly));
        let plan = &self.nodes[node].ports[router].plan;
        let (source, link) = (node::address(plan, node), node::link_of(plan));
        let Some(core) = copy.or_else(|| self.nodes[node].set.router(router_id(router))) else {
            return 0;
        };
        let mut sent_to = 0;
        for destination in core.destinations(spec) {
            let mut packet = Packet {
                to: 0,
                router: router as u8,
                link,
                junk: false,
                priority: spec.priority.map_or(0, Priority::value),
                centis: spec.interval.centis(),
                arrived: 0,
                source,
                destination,
                len: 0,
                bytes: NO_BYTES,
            };
            // Cannot fail: the buffer holds the largest plan. An empty packet would be found.
            let len = core.encode_advert(spec, destination, &mut packet.bytes).unwrap_or(0);
            packet.len = len as u8;
            packet.bytes[5] ^= damage;
            let receivers = match (destination.is_multicast(), spec.audience) {
                (true, Audience::Only(only)) => 1 << node::node_at(only),
                (true, _) => u8::MAX,
                (false, _) => 1 << node::node_at(destination),
            };
            for to in (0..nodes).filter(|&to| receivers & (1 << to) != 0 && to != node) {
                sent_to |= 1 << to;
                packet.to = to as u8;
                self.net.send(self.now, &mut self.rng, node, packet);
            }
        }
        sent_to
    }

    /// Whether a packet leaves the host.
    pub(super) fn can_send(&self, node: usize, router: usize) -> bool {
        let host = &self.nodes[node];
        let link = usize::from(node::link_of(&host.ports[router].plan));
        host.send_fails == 0 && host.no_carrier[link] == 0 && host.no_source[link] == 0
    }

    // Address work.

    fn begin_work(&mut self, node: usize, router: usize, id: ActionId, installs: bool) {
        let host = &mut self.nodes[node];
        let port = &mut host.ports[router];
        port.work = Some(id);
        port.removed = !installs;
        let boot = host.boot;
        let mut takes = Time::from(self.rng.u32(30..1_500)) * MICRO;
        if host.work_slow_ms > 0 {
            takes += Time::from(self.rng.u16(0..host.work_slow_ms)) * MILLI;
        }
        if installs && self.mutated(Mutation::InstallConfirmedEarly) {
            self.answers.push((router as u8, Input::ActionDone { id, result: ActionResult::Done }));
            takes += SECOND;
        }
        let (node, router) = (node as u8, router as u8);
        let id = id.as_raw();
        self.net.schedule(self.now + takes, Event::WorkDone { node, router, boot, id, installs });
    }

    pub(super) fn work_done(
        &mut self,
        node: usize,
        router: usize,
        boot: u16,
        id: u32,
        installs: bool,
    ) {
        let host = &mut self.nodes[node];
        if host.boot != boot || host.life == Life::Down {
            return;
        }
        if !host.is_running() {
            // The threads that do the work stand still as well.
            host.unfinished.push((router as u8, id, installs));
            return;
        }
        let id = ActionId::from_raw(id);
        if host.ports[router].work != Some(id) {
            // Superseded: not done, and the late answer must do no harm.
            return self.input(node, router, Input::ActionDone { id, result: ActionResult::Done });
        }
        host.ports[router].work = None;
        let result = match (host.work_fails > 0, host.work_partly) {
            (false, _) => ActionResult::Done,
            (true, true) => ActionResult::Partial,
            (true, false) => ActionResult::Failed,
        };
        if result != ActionResult::Done {
            // It may give up because of this, and the others elect.
            self.cluster.disturb(self.now, false);
        }
        match (installs, result) {
            (true, ActionResult::Done | ActionResult::Partial) => self.install(node, router),
            (false, ActionResult::Done) if !self.mutated(Mutation::RemovalDoesNothing) => {
                self.set_present(node, router, false);
            }
            _ => {}
        }
        self.input(node, router, Input::ActionDone { id, result });
    }

    fn install(&mut self, node: usize, router: usize) {
        self.set_present(node, router, true);
        if self.schedule.lease {
            self.extend_lease(node, router);
        }
    }

    pub(super) fn set_present(&mut self, node: usize, router: usize, present: bool) {
        let port = &mut self.nodes[node].ports[router];
        if port.present != present {
            port.present = present;
            self.cluster.changed(router);
            self.note(Happening::Addresses { node: node as u8, router: router as u8, present });
        }
    }

    // The lease.

    /// An advertisement was sent: the lease may be extended, now and once more within the permit.
    /// Tied to the advertisements, since a refresh with a beat of its own falls outside every
    /// other permit.
    fn permit(&mut self, node: usize, router: usize) {
        if !self.schedule.lease {
            return;
        }
        let boot = self.nodes[node].boot;
        let port = &mut self.nodes[node].ports[router];
        port.permit_until = self.now + PERMIT;
        if !std::mem::replace(&mut port.refreshing, true) {
            let (node, router) = (node as u8, router as u8);
            self.net.schedule(self.now + REFRESH, Event::Refresh { node, router, boot });
        }
        self.look_after_lease(node, router);
    }

    pub(super) fn extend_lease(&mut self, node: usize, router: usize) {
        self.check_silence(node, router, "refreshed the lease");
        let until = self.now + LEASE + self.rng.u64(0..LEASE_LATE);
        let port = &mut self.nodes[node].ports[router];
        let armed = port.lease_until != NEVER;
        port.lease_until = until;
        if !armed {
            let (node, router) = (node as u8, router as u8);
            self.net.schedule(until, Event::LeaseEnd { node, router });
        }
    }

    /// Half a lease after the latest permit.
    pub(super) fn refresh_lease(&mut self, node: usize, router: usize, boot: u16) {
        let host = &mut self.nodes[node];
        if host.boot != boot {
            return;
        }
        host.ports[router].refreshing = false;
        if host.is_running() {
            self.look_after_lease(node, router);
            self.settle(node, Some(router), 6);
        }
    }

    /// Extends the lease if the router is Active and has advertised lately. An address that ran
    /// out meanwhile is put back and announced.
    pub(super) fn look_after_lease(&mut self, node: usize, router: usize) {
        let host = &self.nodes[node];
        let port = &host.ports[router];
        let permitted = host.is_running() && self.now < port.permit_until;
        let active = port.seen.state == State::Active;
        if !self.schedule.lease
            || !permitted
            || !active
            || port.seen.addresses != AddressState::Present
        {
            return;
        }
        let (present, idle) = (port.present, port.work.is_none());
        if present {
            self.extend_lease(node, router);
        } else if idle {
            self.install(node, router);
            self.answers.push((router as u8, Input::Reannounce));
        }
    }

    /// Unless the lease was extended meanwhile, the kernel removes the addresses.
    pub(super) fn lease_end(&mut self, node: usize, router: usize) {
        let port = &mut self.nodes[node].ports[router];
        let until = port.lease_until;
        if !port.present || until == NEVER {
            port.lease_until = NEVER;
        } else if until > self.now {
            let (node, router) = (node as u8, router as u8);
            self.net.schedule(until, Event::LeaseEnd { node, router });
        } else {
            port.lease_until = NEVER;
            self.set_present(node, router, false);
        }
    }

    // Announcements.

    fn announce(&mut self, node: usize, router: usize) {
        // An address whose lease ran out is put back together with its announcement.
        if !self.nodes[node].ports[router].present {
            if self.schedule.lease {
                return;
            }
            let detail = "addresses were announced that are not on the interface".to_owned();
            self.fail(Checker::AnnouncesWhatIsThere, node, router, detail);
        }
        for to in 0..self.nodes.len() {
            // Only somebody who has the addresses as well has a use for it.
            let holds = to != node && self.nodes[to].ports[router].present;
            if holds && self.can_send(node, router) && self.net.passes(node, to) {
                let at = self.now + self.net.delay(&mut self.rng);
                self.net.schedule(at, Event::Announcement { to: to as u8, router: router as u8 });
            }
        }
    }

    pub(super) fn announcement_arrives(&mut self, node: usize, router: usize) {
        if self.nodes[node].is_running() {
            self.input(node, router, Input::SuccessorAnnounced);
        }
    }

    /// An old valid advertisement of the highest priority, for a driver that is broken on purpose.
    pub(super) fn feed_stale_advert(&mut self, node: usize, router: usize) {
        let from = (node + 1) % self.nodes.len();
        let plan = &self.nodes[node].ports[router].plan;
        let (source, link) = (node::address(plan, from), node::link(plan));
        let own = node::address(plan, node);
        let Some(core) = self.nodes[node].set.router(router_id(router)) else {
            return;
        };
        let destination = match (plan.unicast, core.config().family()) {
            (true, _) => own,
            (false, Family::V4) => IpAddr::V4(vrrp_core::GROUP_V4),
            (false, Family::V6) => IpAddr::V6(vrrp_core::GROUP_V6),
        };
        let mut bytes = NO_BYTES;
        let message = vrrp_core::wire::AdvertRepr {
            version: core.config().version(),
            vrid: core.config().vrid(),
            priority: Some(Priority::MAX_BACKUP),
            interval: core.config().interval(),
            password: core.config().password(),
            addresses: core.config().addresses(),
        };
        let header = vrrp_core::wire::PseudoHeader { source, destination };
        let style = vrrp_core::wire::ChecksumStyle::PseudoHeader;
        let Ok(len) = message.emit(header, style, &mut bytes) else {
            return;
        };
        let meta = vrrp_core::receive::RxMeta {
            source,
            destination,
            ttl: 255,
            received_at: None,
            checksum_verified: false,
        };
        let now = self.local(node);
        let _ = self.nodes[node].set.handle_packet(now, link, &meta, &bytes[..len]);
    }
}
