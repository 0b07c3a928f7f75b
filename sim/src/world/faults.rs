//! What the faults of a schedule do, and how they end.

use std::time::Duration;

use vrrp_core::{Action, AddressState, Handoff, Input, Priority, ResignMode, State, Successor};

use super::{Event, Life, MILLI, Mutation, NEVER, SECOND, Time, World};
use crate::check::Checker;
use crate::coverage::Fed;
use crate::network::{NO_BYTES, Packet};
use crate::node::{self, members, router_id};
use crate::schedule::{Fault, LINKS, Leave};
use crate::trace::Happening;

/// After failed address work a router may back off for so long.
const BACKOFF: Time = 62 * SECOND;
/// Orderly handoffs must have removed the addresses by then.
const HANDOFF: Duration = Duration::from_secs(2);
const JUNK_EVERY: Time = 50 * MILLI;

impl World<'_> {
    fn fault(&self, place: usize) -> Option<Fault> {
        let fault = self.schedule.faults.get(place)?.1;
        let (nodes, routers) = (self.nodes.len(), self.schedule.routers.len());
        let known = |node: u8| usize::from(node) < nodes;
        let both = |node: u8, router: u8| known(node) && usize::from(router) < routers;
        let applies = match fault {
            Fault::Partition { .. }
            | Fault::Loss { .. }
            | Fault::Delay { .. }
            | Fault::Duplicate { .. } => true,
            Fault::OneWay { from, to, .. } => known(from) && known(to) && from != to,
            Fault::Junk { node, .. }
            | Fault::Stall { node, .. }
            | Fault::Crash { node, .. }
            | Fault::WorkFails { node, .. }
            | Fault::WorkSlow { node, .. }
            | Fault::SendFails { node, .. } => known(node),
            Fault::Carrier { node, link, .. } | Fault::Source { node, link, .. } => {
                known(node) && usize::from(link) < LINKS
            }
            Fault::Resign { node, router, .. }
            | Fault::Drain { node, router, .. }
            | Fault::Shutdown { node, router, .. }
            | Fault::ForceClaim { node, router, .. }
            | Fault::Check { node, router, .. }
            | Fault::Priority { node, router, .. }
            | Fault::Peers { node, router, .. } => both(node, router),
            Fault::Interval { router, .. } | Fault::Addresses { router, .. } => both(0, router),
        };
        applies.then_some(fault)
    }

    pub(super) fn fault_begins(&mut self, place: usize) {
        let Some(fault) = self.fault(place) else {
            return;
        };
        self.note(Happening::FaultBegan(place));
        self.apply(place, fault, true);
        let length = fault.length_ms().map_or(0, |ms| Time::from(ms) * MILLI);
        self.net.schedule(self.now + length, Event::FaultEnds(place as u16));
    }

    pub(super) fn fault_ends(&mut self, place: usize) {
        let Some(fault) = self.fault(place) else {
            return;
        };
        self.note(Happening::FaultEnded(place));
        self.apply(place, fault, false);
    }

    fn apply(&mut self, place: usize, fault: Fault, begins: bool) {
        // A node that heard nothing meanwhile (a paused machine) claims when it wakes, and is
        // put right by the next advertisement: what no lease can cover.
        let covered = self.schedule.lease && matches!(fault, Fault::Stall { deaf: false, .. });
        self.cluster.disturb(self.now, covered);
        match fault {
            Fault::Partition { side, .. } => {
                let sides = |a: usize, b: usize| (side >> a ^ side >> b) & 1 == 1;
                for from in 0..self.nodes.len() {
                    for to in (0..self.nodes.len()).filter(|&to| sides(from, to)) {
                        self.net.block(from, to, begins);
                    }
                }
            }
            Fault::OneWay { from, to, .. } => self.net.block(from.into(), to.into(), begins),
            Fault::Loss { permille, .. } => {
                self.net.loss_permille = if begins { permille.min(1_000) } else { 0 };
                self.cluster.noise(self.now, begins);
            }
            Fault::Delay { up_to_ms, .. } => {
                self.net.extra_delay_ms = if begins { up_to_ms.into() } else { 0 };
                if begins {
                    self.cluster.noise(self.now, true);
                } else {
                    // Packets that the slow network still holds arrive after it has recovered.
                    let late = Time::from(up_to_ms) * MILLI + self.net.longest_delay();
                    self.net.schedule(self.now + late, Event::NoiseEnds);
                }
            }
            Fault::Duplicate { permille, .. } => {
                self.net.duplicate_permille = if begins { permille } else { 0 };
            }
            Fault::Junk { ms, .. } if begins => {
                for step in 0..Time::from(ms) * MILLI / JUNK_EVERY {
                    let at = self.now + step * JUNK_EVERY;
                    self.net.schedule(at, Event::Junk(place as u16));
                }
            }
            Fault::Junk { .. } => {}
            Fault::Stall { node, deaf, .. } if begins => self.stall(node.into(), deaf),
            Fault::Stall { node, .. } => self.resume(node.into()),
            Fault::Crash { node, guardian_ms, .. } if begins => {
                self.crash(node.into(), guardian_ms);
            }
            Fault::Crash { node, .. } => self.boot(node.into()),
            Fault::Carrier { node, link, .. } => {
                let host = &mut self.nodes[usize::from(node)];
                count(&mut host.no_carrier[usize::from(link)], begins);
                if self.schedule.lease {
                    // An advertisement that could not be sent is a permit that was not issued:
                    // the lease may run out before the next one.
                    host.excuse(self.now, begins, 2 * SECOND);
                }
                self.tell_facts(node.into());
            }
            Fault::Source { node, link, .. } => {
                let host = &mut self.nodes[usize::from(node)];
                count(&mut host.no_source[usize::from(link)], begins);
                if self.schedule.lease {
                    host.excuse(self.now, begins, 2 * SECOND);
                }
                self.tell_facts(node.into());
            }
            Fault::WorkFails { node, partly, .. } => {
                let host = &mut self.nodes[usize::from(node)];
                count(&mut host.work_fails, begins);
                host.work_partly = partly;
                host.excuse(self.now, begins, BACKOFF);
            }
            Fault::WorkSlow { node, up_to_ms, .. } => {
                let host = &mut self.nodes[usize::from(node)];
                host.work_slow_ms = if begins { up_to_ms } else { 0 };
                host.excuse(self.now, begins, Time::from(up_to_ms) * MILLI);
                self.cluster.noise(self.now, begins);
            }
            Fault::SendFails { node, .. } => {
                let host = &mut self.nodes[usize::from(node)];
                count(&mut host.send_fails, begins);
                // A lease that ran out meanwhile is renewed at the next look.
                host.excuse(self.now, begins, 2 * SECOND);
            }
            _ => self.apply_to_router(place, fault, begins),
        }
    }

    /// The faults that an operator or a check causes.
    fn apply_to_router(&mut self, place: usize, fault: Fault, begins: bool) {
        match fault {
            Fault::Resign { node, router, how, .. } => {
                self.leave(node.into(), router.into(), how, Input::Resign, begins);
            }
            Fault::Drain { node, router, how, .. } => {
                self.leave(node.into(), router.into(), how, Input::Drain, begins);
            }
            Fault::Shutdown { node, router, .. } => {
                self.stop(node.into(), router.into(), begins);
            }
            Fault::ForceClaim { node, router, .. } => {
                let input = if begins { Input::ForceClaim } else { Input::ReleaseClaim };
                self.tell(node.into(), router.into(), input);
            }
            Fault::Check { node, router, check, .. } => {
                let (node, check) = (usize::from(node), usize::from(check) % node::CHECKS);
                self.each_of_group(router.into(), |world, member| {
                    count(&mut world.nodes[node].ports[member].checks[check], begins);
                });
                self.tell_facts(node);
            }
            Fault::Priority { node, router, value } if begins => {
                self.change_priority(node.into(), router.into(), value.max(1));
            }
            Fault::Peers { node, router, .. } => {
                self.change_peers(node.into(), router.into(), begins);
            }
            Fault::Interval { .. } | Fault::Addresses { .. } if begins => {
                for node in 0..self.nodes.len() as u8 {
                    let at = self.now + Time::from(node) * 20 * MILLI;
                    let fault = place as u16;
                    self.net.schedule(at, Event::Reconfigure { fault, node });
                }
                self.cluster.noise(self.now, true);
            }
            _ => {}
        }
    }

    // The life of a process.

    pub(super) fn boot(&mut self, node: usize) {
        if self.nodes[node].life != Life::Down {
            return;
        }
        let (now, nodes, group) = (self.local(node), self.nodes.len(), self.schedule.group);
        let group = if self.mutated(Mutation::GroupForgotten) { 0 } else { group };
        for router in 0..self.schedule.routers.len() {
            self.set_present(node, router, false);
        }
        self.nodes[node].start(now, node, nodes, group);
        self.cluster.disturb(self.now, false);
        for router in 0..self.schedule.routers.len() {
            self.nodes[node].ports[router].last_sent = now;
            self.settle(node, None, 3);
        }
        self.tell_facts(node);
        for router in 0..self.schedule.routers.len() {
            let port = &self.nodes[node].ports[router];
            let (started, drained) = (port.stops == 0 && !port.resigned, port.drained);
            let deadline = self.local(node);
            if drained {
                let successor = Successor::Anyone;
                let handoff = Handoff { mode: ResignMode::RemoveFirst, deadline, successor };
                self.input(node, router, Input::Drain(handoff));
            }
            if started {
                self.input(node, router, Input::Startup);
            }
        }
    }

    fn stall(&mut self, node: usize, deaf: bool) {
        if self.nodes[node].is_running() {
            self.nodes[node].life = Life::Stalled { deaf };
            self.wake[node] = NEVER;
        }
    }

    /// It runs again: first the packets that waited, then the timeouts, then what else happened.
    fn resume(&mut self, node: usize) {
        if !matches!(self.nodes[node].life, Life::Stalled { .. }) {
            return;
        }
        self.nodes[node].life = Life::Running;
        self.mutate_resumption(node);
        if self.mutated(Mutation::TimeoutsBeforePackets) {
            self.time_out(node);
        }
        for place in std::mem::take(&mut self.nodes[node].backlog) {
            let packet = self.net.packet(place);
            self.net.forget(place);
            // Many steps, and all at one instant.
            self.instant.2 = 0;
            self.feed_packet(node, &packet);
        }
        self.time_out(node);
        let boot = self.nodes[node].boot;
        for (router, id, installs) in std::mem::take(&mut self.nodes[node].unfinished) {
            self.work_done(node, router.into(), boot, id, installs);
        }
        self.instant.2 = 0;
        for router in 0..self.schedule.routers.len() {
            self.configure(node, router);
        }
        for (router, input) in std::mem::take(&mut self.nodes[node].missed) {
            self.input(node, router.into(), input);
        }
        self.tell_facts(node);
    }

    fn mutate_resumption(&mut self, node: usize) {
        for router in 0..self.schedule.routers.len() {
            let active = self.nodes[node].ports[router].seen.state == State::Active;
            if !active {
                continue;
            }
            if self.mutated(Mutation::RefreshAfterStall) && self.schedule.lease {
                self.set_present(node, router, true);
                self.extend_lease(node, router);
            }
            if self.mutated(Mutation::SendsAfterStall) {
                let Some(core) = self.nodes[node].set.router(router_id(router)) else {
                    continue;
                };
                let spec = vrrp_core::AdvertSpec {
                    audience: vrrp_core::Audience::All,
                    priority: Some(core.priority()),
                    interval: core.config().interval(),
                };
                self.check_advert(node, router, &spec);
                self.advertise(node, router, &spec);
            }
        }
    }

    fn crash(&mut self, node: usize, guardian_ms: Option<u16>) {
        let host = &mut self.nodes[node];
        host.life = Life::Down;
        host.missed.clear();
        for place in std::mem::take(&mut host.backlog) {
            self.net.forget(place);
        }
        self.wake[node] = NEVER;
        if let Some(ms) = guardian_ms {
            self.net.schedule(self.now + Time::from(ms) * MILLI, Event::Guardian(node as u8));
        }
    }

    /// The guardian removes what it finds, and resigns in the name of the process that died.
    pub(super) fn guardian(&mut self, node: usize) {
        if self.nodes[node].life != Life::Down {
            return;
        }
        self.cluster.disturb(self.now, false);
        for router in 0..self.schedule.routers.len() {
            let present = self.nodes[node].ports[router].present;
            let held = self.nodes[node].ports[router].seen.state == State::Active;
            self.set_present(node, router, false);
            let all = self.mutated(Mutation::GuardianResignsForAll);
            if !(present || all) {
                continue;
            }
            if !present {
                let detail = "the guardian resigned for addresses that were not held".to_owned();
                self.fail(Checker::ZeroOnlyOnResigning, node, router, detail);
            }
            // What it sends was prepared by the process: what a resignation would have sent.
            let Some(mut copy) = self.nodes[node].set.router(router_id(router)).cloned() else {
                continue;
            };
            if !held || !self.can_send(node, router) {
                continue;
            }
            let now = self.nodes[node].ports[router].last_sent;
            while copy.poll_action().is_some() {}
            let successor = Successor::BestKnown;
            let handoff = Handoff { mode: ResignMode::RemoveFirst, deadline: now, successor };
            copy.handle_input(now, Input::Resign(handoff));
            while let Some(action) = copy.poll_action() {
                if let Action::SendAdvert(spec) = action {
                    let priority = spec.priority.map_or(0, Priority::value);
                    let (n, r) = (node as u8, router as u8);
                    self.note(Happening::Advert { node: n, router: r, priority });
                    self.send_copies(node, router, &spec, Some(&copy));
                }
            }
        }
    }

    // Inputs of operators and checks.

    fn each_of_group(&mut self, router: usize, mut act: impl FnMut(&mut Self, usize)) {
        let group = self.schedule.group;
        if group & (1 << router) == 0 {
            return act(self, router);
        }
        for member in members(group, self.schedule.routers.len()) {
            act(self, member);
        }
    }

    /// An input now, or once the node runs again.
    fn tell(&mut self, node: usize, router: usize, input: Input) {
        match self.nodes[node].life {
            Life::Running => self.input(node, router, input),
            Life::Stalled { .. } => self.nodes[node].missed.push((router as u8, input)),
            // A new process asks for everything.
            Life::Down => {}
        }
    }

    /// All routers of a node hear the facts and the priority that the checks leave.
    fn tell_facts(&mut self, node: usize) {
        if !self.nodes[node].is_running() {
            return;
        }
        for router in 0..self.schedule.routers.len() {
            let facts = self.nodes[node].facts(node, router);
            let good = facts.link && facts.source.is_some() && facts.eligible;
            if good || !self.mutated(Mutation::FactsNotReported) {
                self.input(node, router, Input::Facts(facts));
            }
            if let Some(priority) = self.nodes[node].ports[router].tracked() {
                self.input(node, router, Input::PriorityChanged(priority));
            }
        }
    }

    fn leave(
        &mut self,
        node: usize,
        router: usize,
        how: Leave,
        input: fn(Handoff) -> Input,
        begins: bool,
    ) {
        let (mode, successor) = match how {
            Leave::Hold => (ResignMode::Hold, Successor::BestKnown),
            Leave::HoldPlain => (ResignMode::Hold, Successor::Anyone),
            Leave::RemoveFirst => (ResignMode::RemoveFirst, Successor::BestKnown),
        };
        let deadline = self.local(node) + HANDOFF;
        let request = input(Handoff { mode, deadline, successor });
        let drains = matches!(request, Input::Drain(_));
        let holds = mode == ResignMode::Hold && begins;
        let mut kept = 0_u8;
        self.each_of_group(router, |world, member| {
            let now = world.now;
            let running = world.nodes[node].is_running();
            let port = &mut world.nodes[node].ports[member];
            match drains {
                true => port.drained = begins,
                // What is stopped as well stays resigned until it is started.
                false => port.resigned = begins || port.stops > 0,
            }
            let owns = port.seen.state == State::Active
                && port.seen.addresses == AddressState::Present
                && running;
            if holds && owns {
                kept |= 1 << member;
            }
            if holds {
                port.hold_until = now + HANDOFF.as_nanos() as Time * 51 / 50;
            }
        });
        match (begins, drains) {
            (true, _) if holds && self.mutated(Mutation::HoldIgnored) => {
                self.tell(node, router, Input::Shutdown);
            }
            (true, _) => self.tell(node, router, request),
            (false, true) => self.tell(node, router, Input::Undrain),
            (false, false) if self.nodes[node].ports[router].stops == 0 => {
                self.tell(node, router, Input::Startup);
            }
            (false, false) => {}
        }
        for member in members(kept, self.schedule.routers.len()) {
            if self.nodes[node].ports[member].seen.addresses != AddressState::Present {
                let detail = "the addresses went at once instead of being held".to_owned();
                self.fail(Checker::HoldKeepsAddresses, node, member, detail);
            }
        }
    }

    // New settings.

    fn configure(&mut self, node: usize, router: usize) {
        let now = self.local(node);
        let config = self.nodes[node].ports[router].config(node, self.nodes.len(), router);
        let host = &mut self.nodes[node];
        if !host.is_running() {
            // A new process, or one that runs again, reads the settings then.
            return;
        }
        let grouped = self.schedule.group & (1 << router) != 0;
        self.coverage.note(&host.ports[router].seen, grouped, Fed::Reconfigure);
        if let Err(error) = host.set.reconfigure(now, router_id(router), config) {
            // Schedules only ask for what a driver may ask for.
            let detail = format!("reconfiguration was refused: {error}");
            self.fail(Checker::StandingFollowsFacts, node, router, detail);
        }
        self.settle(node, Some(router), 4);
    }

    /// The members of a group change together: it is dissolved and formed anew.
    fn change_priority(&mut self, node: usize, router: usize, value: u8) {
        // One owner at most: two would be a mistake of the operator.
        if value == 255 || !self.nodes[node].is_running() {
            return;
        }
        let group = self.schedule.group;
        let grouped = group & (1 << router) != 0 && !self.mutated(Mutation::GroupForgotten);
        let now = self.local(node);
        if grouped {
            self.nodes[node].join_group(now, 0);
        }
        self.each_of_group(router, |world, member| {
            world.nodes[node].ports[member].priority = value;
            let nodes = world.nodes.len();
            let config = world.nodes[node].ports[member].config(node, nodes, member);
            if grouped {
                let set = &mut world.nodes[node].set;
                let changed = set.reconfigure(now, router_id(member), config);
                debug_assert_eq!(changed, Ok(()), "a priority may always change");
            } else {
                world.configure(node, member);
            }
        });
        if grouped {
            self.nodes[node].join_group(now, group);
            self.settle(node, None, 5);
        }
        self.tell_facts(node);
    }

    /// A node leaves the lists of the others and takes no part, or comes back.
    fn change_peers(&mut self, node: usize, router: usize, leaves: bool) {
        if self.nodes.len() < 3 {
            return;
        }
        for other in 0..self.nodes.len() {
            if other != node {
                let mask = &mut self.nodes[other].ports[router].not_peers;
                *mask = if leaves { *mask | 1 << node } else { *mask & !(1 << node) };
                self.configure(other, router);
            }
        }
        self.stop(node, router, leaves);
    }

    /// Shuts a router down, or starts it again once nothing keeps it stopped. Starting releases an
    /// earlier resignation.
    fn stop(&mut self, node: usize, router: usize, begins: bool) {
        self.each_of_group(router, |world, member| {
            let port = &mut world.nodes[node].ports[member];
            count(&mut port.stops, begins);
            port.resigned &= port.stops > 0;
        });
        if begins {
            self.tell(node, router, Input::Shutdown);
        } else if self.nodes[node].ports[router].stops == 0 {
            self.tell(node, router, Input::Startup);
        }
    }

    pub(super) fn reconfigure(&mut self, place: usize, node: usize) {
        match self.fault(place) {
            Some(Fault::Interval { router, ms }) => {
                let router = usize::from(router);
                self.nodes[node].ports[router].plan.interval_ms = ms;
                self.configure(node, router);
            }
            Some(Fault::Addresses { router, count }) => {
                let router = usize::from(router);
                self.nodes[node].ports[router].plan.addresses = count;
                self.configure(node, router);
            }
            _ => {}
        }
        if node + 1 == self.nodes.len() {
            self.cluster.noise(self.now, false);
        }
    }

    /// A packet that must be discarded: damaged, of another group, or from a stranger.
    pub(super) fn junk(&mut self, place: usize) {
        let Some(Fault::Junk { node, .. }) = self.fault(place) else {
            return;
        };
        let to = usize::from(node);
        let from = (to + 1) % self.nodes.len();
        let router = self.rng.usize(0..self.schedule.routers.len());
        let plan = &self.nodes[from].ports[router].plan;
        let (source, link) = (node::address(plan, from), node::link_of(plan));
        let Some(core) = self.nodes[from].set.router(router_id(router)) else {
            return;
        };
        let spec = vrrp_core::AdvertSpec {
            audience: vrrp_core::Audience::All,
            priority: [None, Some(Priority::MAX_BACKUP)][self.rng.usize(0..2)],
            interval: core.config().interval(),
        };
        let own = node::address(plan, to);
        let Some(destination) = core.destinations(&spec).find(|d| d.is_multicast() || *d == own)
        else {
            return;
        };
        let mut bytes = NO_BYTES;
        let len = core.encode_advert(&spec, destination, &mut bytes).unwrap_or(0);
        match self.rng.u8(0..4) {
            // One damaged octet is always found: no other octet can make up for it.
            0 => bytes[self.rng.usize(0..len.max(1))] ^= 1 << self.rng.u8(0..8),
            1 => bytes[1] = 251,
            2 => bytes[0] = 0x41,
            _ => bytes[6] ^= 0x55,
        }
        let packet = Packet {
            to: node,
            router: router as u8,
            link,
            junk: true,
            priority: spec.priority.map_or(0, Priority::value),
            centis: spec.interval.centis(),
            arrived: 0,
            source,
            destination,
            len: len as u8,
            bytes,
        };
        self.net.send(self.now, &mut self.rng, from, packet);
    }
}

fn count(reasons: &mut u8, begins: bool) {
    *reasons = if begins { *reasons + 1 } else { reasons.saturating_sub(1) };
}
