//! The run: time jumps from event to event.

mod driver;
mod faults;

use fastrand::Rng;
use vrrp_core::receive::{Discard, RxMeta};
use vrrp_core::{Event as CoreEvent, Input, Instant, Reason, State, Timer};

use crate::check::cluster::Cluster;
use crate::check::{Checker, Violation};
use crate::clock::{MICRO, MILLI, NEVER, SECOND, Time};
use crate::coverage::{Coverage, Fed};
use crate::network::{Event, Network};
use crate::node::{Life, Node, router_id};
use crate::schedule::{MAX_NODES, Schedule};
use crate::trace::{Happening, Trace};

/// More steps than this of one node at one instant are a busy loop.
const STEPS_PER_INSTANT: u32 = 100;
/// What fits into the buffers of a stalled process; what comes later is lost.
const BACKLOG: usize = 256;
/// The longest that a running node is late for its deadline.
const LATENESS: Time = 200 * MICRO;
/// The longest that ordinary address work takes.
const WORK: Time = 2 * MILLI;

/// How a run differs from the plain one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Keep what a timeline shows. Costs memory with every advertisement.
    pub trace: bool,
    /// Break the driver.
    pub mutation: Option<Mutation>,
}

/// Ways in which a driver can be wrong. Each must be found, or the checkers prove nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// After a stall the timeouts are fed before the packets that have waited.
    TimeoutsBeforePackets,
    /// A discarded packet restarts the down timer: an old valid advertisement is fed again.
    DiscardRestartsTimer,
    /// A removal is confirmed and not done.
    RemovalDoesNothing,
    /// An installation is confirmed before it is done.
    InstallConfirmedEarly,
    /// After a stall the lease is refreshed before anything else.
    RefreshAfterStall,
    /// After a stall an advertisement is sent before anything else.
    SendsAfterStall,
    /// The guardian resigns for addresses that were not held.
    GuardianResignsForAll,
    /// The timer is never armed.
    SleepsThroughDeadlines,
    /// Timeouts are fed with a clock that is behind the one of the deadlines.
    ClockBehind,
    /// Timeouts are fed with a clock that is far ahead.
    ClockAhead,
    /// The routers are not told of their sync group.
    GroupForgotten,
    /// Facts that become bad are not reported.
    FactsNotReported,
    /// A resignation is sent twice.
    ResignsTwice,
    /// A planned handoff is carried out as a shutdown.
    HoldIgnored,
    /// Messages are damaged on the way out.
    EncodesWrongly,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Report {
    /// The first broken promise, which ended the run.
    pub violation: Option<Violation>,
    /// A hash over every step. Equal for equal schedules.
    pub log_hash: u64,
    /// Inputs that were fed to a core.
    pub steps: u64,
    /// Simulated time of all routers of all nodes, in seconds.
    pub router_seconds: u64,
    /// Simulated time of the cluster, in seconds.
    pub seconds: u64,
    /// Transitions to Active: true time, node, router.
    pub promotions: Vec<(u64, u8, u8)>,
    /// What the routers were fed in which states.
    pub coverage: Coverage,
    /// What happened, if it was asked for.
    pub trace: Option<Trace>,
}

pub(crate) struct World<'a> {
    pub(crate) schedule: &'a Schedule,
    pub(crate) options: Options,
    pub(crate) now: Time,
    pub(crate) rng: Rng,
    pub(crate) net: Network,
    pub(crate) nodes: Vec<Node>,
    pub(crate) cluster: Cluster,
    pub(crate) violation: Option<Violation>,
    /// When each node wakes for its deadline.
    wake: [Time; MAX_NODES],
    /// What the driver still has to answer after draining: (router, input).
    answers: Vec<(u8, Input)>,
    instant: (Time, usize, u32),
    hash: u64,
    steps: u64,
    promotions: Vec<(u64, u8, u8)>,
    coverage: Coverage,
    trace: Option<Trace>,
}

impl<'a> World<'a> {
    pub(crate) fn new(schedule: &'a Schedule, options: Options) -> Self {
        let mut rng = Rng::with_seed(schedule.seed ^ 0x5eed_0f7e);
        let mut net = Network::new(schedule.delay_us);
        let nodes = schedule.nodes.clamp(2, MAX_NODES);
        let offset = |rng: &mut Rng| rng.u64(SECOND..100_000 * SECOND);
        let nodes: Vec<_> =
            (0..nodes).map(|index| Node::new(schedule, index, offset(&mut rng))).collect();
        for node in 0..nodes.len() {
            net.schedule(rng.u64(0..2 * SECOND), Event::Boot(node as u8));
        }
        for (place, (at, _)) in schedule.faults.iter().enumerate() {
            net.schedule(at * MILLI, Event::FaultBegins(place as u16));
        }
        let tolerance = 2 * net.longest_delay() + WORK + 2 * LATENESS;
        Self {
            cluster: Cluster::new(schedule, tolerance),
            schedule,
            options,
            now: 0,
            rng,
            net,
            nodes,
            violation: None,
            wake: [NEVER; MAX_NODES],
            answers: Vec::new(),
            instant: (0, 0, 0),
            hash: schedule.seed,
            steps: 0,
            promotions: Vec::new(),
            coverage: Coverage::default(),
            trace: options.trace.then(Trace::default),
        }
    }

    pub(crate) fn run(mut self) -> Report {
        let end = self.schedule.millis * MILLI;
        while self.violation.is_none() {
            let (node, wake) = self.next_wake();
            let event = self.net.next_at().unwrap_or(NEVER);
            let at = wake.min(event).min(self.cluster.alarm);
            if at > end {
                self.now = end;
                break;
            }
            self.now = at;
            // Packets and everything else first; a timer is due only when nothing waits.
            if event <= at {
                if let Some((_, event)) = self.net.pop() {
                    self.happen(event);
                }
            } else if wake <= at {
                self.time_out(node);
            }
            if self.cluster.is_due(self.now) {
                self.check_cluster();
            }
        }
        let (nodes, routers) = (self.nodes.len() as u64, self.schedule.routers.len() as u64);
        Report {
            violation: self.violation,
            log_hash: self.hash,
            steps: self.steps,
            router_seconds: self.now * nodes * routers / SECOND,
            seconds: self.now / SECOND,
            promotions: self.promotions,
            coverage: self.coverage,
            trace: self.trace,
        }
    }

    fn next_wake(&self) -> (usize, Time) {
        let mut first = (0, self.wake[0]);
        for (node, &at) in self.wake.iter().enumerate().take(self.nodes.len()).skip(1) {
            if at < first.1 {
                first = (node, at);
            }
        }
        first
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Packet(place) => self.packet_arrives(place),
            Event::Announcement { to, router } => {
                self.announcement_arrives(to.into(), router.into());
            }
            Event::WorkDone { node, router, boot, id, installs } => {
                self.work_done(node.into(), router.into(), boot, id, installs);
            }
            Event::Refresh { node, router, boot } => {
                self.refresh_lease(node.into(), router.into(), boot);
            }
            Event::LeaseEnd { node, router } => self.lease_end(node.into(), router.into()),
            Event::FaultBegins(place) => self.fault_begins(place.into()),
            Event::FaultEnds(place) => self.fault_ends(place.into()),
            Event::NoiseEnds => self.cluster.noise(self.now, false),
            Event::Boot(node) => self.boot(node.into()),
            Event::Guardian(node) => self.guardian(node.into()),
            Event::Junk(place) => self.junk(place.into()),
            Event::Reconfigure { fault, node } => self.reconfigure(fault.into(), node.into()),
        }
    }

    pub(crate) fn local(&self, node: usize) -> Instant {
        self.nodes[node].clock.local(self.now)
    }

    pub(crate) fn note(&mut self, happening: Happening) {
        if let Some(trace) = &mut self.trace {
            trace.happenings.push((self.now, happening));
        }
    }

    pub(crate) fn fail(&mut self, checker: Checker, node: usize, router: usize, detail: String) {
        if self.violation.is_none() {
            self.violation = Some(Violation { checker, at: self.now, node, router, detail });
        }
    }

    pub(crate) fn mutated(&self, mutation: Mutation) -> bool {
        self.options.mutation == Some(mutation)
    }

    fn is_grouped(&self, router: usize) -> bool {
        self.schedule.group & (1 << router) != 0
    }

    // Feeding.

    fn time_out(&mut self, node: usize) {
        let mut now = self.local(node);
        if self.mutated(Mutation::ClockBehind) {
            now = now - std::time::Duration::from_millis(50);
        } else if self.mutated(Mutation::ClockAhead) {
            now += std::time::Duration::from_secs(2);
        }
        for router in 0..self.nodes[node].ports.len() {
            let seen = &self.nodes[node].ports[router].seen;
            if let Some((at, timer)) = seen.next_wakeup
                && at <= now
            {
                let grouped = self.is_grouped(router);
                self.coverage.note(seen, grouped, Fed::Timer(timer));
            }
        }
        self.nodes[node].set.handle_timeout(now);
        self.settle(node, None, 1);
        self.check_deadline(node);
    }

    /// An input, and what follows from it at this instant.
    pub(crate) fn input(&mut self, node: usize, router: usize, input: Input) {
        let grouped = self.is_grouped(router);
        let fed = fed(&input);
        self.coverage.note(&self.nodes[node].ports[router].seen, grouped, fed);
        let now = self.local(node);
        self.nodes[node].set.handle_input(now, router_id(router), input);
        self.settle(node, Some(router), 2 + router as u64);
    }

    fn packet_arrives(&mut self, place: u32) {
        let packet = *self.net.arrived(place, self.now);
        let node = usize::from(packet.to);
        let router = usize::from(packet.router);
        let host = &self.nodes[node];
        let carrier = host.no_carrier[usize::from(packet.link)] == 0;
        match host.life {
            Life::Running if carrier => self.note_better(node, router, &packet),
            Life::Stalled { deaf: false } if carrier && host.backlog.len() < BACKLOG => {
                self.note_better(node, router, &packet);
                return self.nodes[node].backlog.push(place);
            }
            Life::Running | Life::Stalled { .. } | Life::Down => return self.net.forget(place),
        }
        self.net.forget(place);
        self.feed_packet(node, &packet);
    }

    fn feed_packet(&mut self, node: usize, packet: &crate::network::Packet) {
        let router = usize::from(packet.router);
        let now = self.local(node);
        let meta = RxMeta {
            source: packet.source,
            destination: packet.destination,
            ttl: 255,
            received_at: Some(self.nodes[node].clock.local(packet.arrived)),
            checksum_verified: false,
        };
        let link = vrrp_core::LinkId(packet.link.into());
        let before = packet.junk.then(|| self.undisturbed(node));
        let result = self.nodes[node].set.handle_packet(now, link, &meta, packet.payload());
        let class = match &result {
            Err(_) => Fed::Discarded,
            Ok(_) => class(packet.priority, self.nodes[node].ports[router].seen.priority.value()),
        };
        let grouped = self.is_grouped(router);
        self.coverage.note(&self.nodes[node].ports[router].seen, grouped, class);
        match result {
            Ok(_) => {
                if packet.junk {
                    let detail = "an invalid packet was accepted".to_owned();
                    self.fail(Checker::DiscardChangesNothing, node, router, detail);
                }
            }
            Err(discard) => self.discarded(node, router, discard, before),
        }
        self.settle(node, Some(router), 16 + u64::from(packet.priority));
    }

    fn discarded(
        &mut self,
        node: usize,
        router: usize,
        discard: Discard,
        before: Option<Vec<vrrp_core::VirtualRouter>>,
    ) {
        if self.mutated(Mutation::DiscardRestartsTimer) {
            self.feed_stale_advert(node, router);
        }
        if let Some(before) = before
            && before != self.undisturbed(node)
        {
            let detail = format!("a packet discarded as {} left a trace", discard.name());
            return self.fail(Checker::DiscardChangesNothing, node, router, detail);
        }
        let Some(after) = self.nodes[node].set.router(router_id(router)) else {
            return;
        };
        let (before, after) = (self.nodes[node].ports[router].seen, after.snapshot());
        if before != after {
            let detail = format!("discarded as {}: {before:?} became {after:?}", discard.name());
            self.fail(Checker::DiscardChangesNothing, node, router, detail);
        }
    }

    /// Everything that a discarded packet must leave alone, of all routers of a node.
    fn undisturbed(&self, node: usize) -> Vec<vrrp_core::VirtualRouter> {
        self.nodes[node]
            .set
            .iter()
            .map(|(_, _, router)| router.normalized_at(Instant::ZERO))
            .collect()
    }

    /// After feeding one input: drain, answer, check, and find out when to wake next.
    pub(crate) fn settle(&mut self, node: usize, touched: Option<usize>, what: u64) {
        self.steps += 1;
        self.count_step(node);
        self.drain(node);
        while let Some((router, input)) = self.answers.pop() {
            let (now, at) = (self.local(node), usize::from(router));
            let grouped = self.is_grouped(at);
            self.coverage.note(&self.nodes[node].ports[at].seen, grouped, fed(&input));
            self.nodes[node].set.handle_input(now, router_id(at), input);
            self.steps += 1;
            self.drain(node);
        }
        match touched {
            Some(router) if !self.is_grouped(router) => self.check_router(node, router),
            _ => {
                for router in 0..self.nodes[node].ports.len() {
                    self.check_router(node, router);
                }
                self.check_group(node);
            }
        }
        self.arm(node);
        let state = self.nodes[node].ports[touched.unwrap_or(0)].seen.state as u64;
        self.hash = (self.hash ^ self.now ^ (what << 8 | (node as u64) << 4 | state))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }

    fn count_step(&mut self, node: usize) {
        let (at, of, count) = &mut self.instant;
        if (*at, *of) != (self.now, node) {
            (*at, *of, *count) = (self.now, node, 0);
        }
        *count += 1;
        if *count > STEPS_PER_INSTANT {
            let detail = format!("{count} steps in one instant");
            self.fail(Checker::NoBusyLoop, node, 0, detail);
        }
    }

    fn arm(&mut self, node: usize) {
        self.wake[node] = match self.nodes[node].set.poll_timeout() {
            _ if !self.nodes[node].is_running() => NEVER,
            _ if self.mutated(Mutation::SleepsThroughDeadlines) => NEVER,
            None => NEVER,
            Some(deadline) => {
                let lateness = self.rng.u64(0..LATENESS);
                self.nodes[node].clock.time_of(deadline).max(self.now) + lateness
            }
        };
    }

    /// Once the timeouts have been fed and drained, the next deadline lies ahead.
    fn check_deadline(&mut self, node: usize) {
        if let Some(deadline) = self.nodes[node].set.poll_timeout()
            && deadline <= self.local(node)
        {
            let detail = format!("the deadline {deadline} is not after {}", self.local(node));
            self.fail(Checker::NoBusyLoop, node, 0, detail);
        }
    }

    /// What the router reported, as far as a checker wants to know.
    fn observe(&mut self, node: usize, router: usize, event: CoreEvent) {
        if let CoreEvent::Transition { from, to, reason } = event {
            if to == State::Active {
                self.promotions.push((self.now, node as u8, router as u8));
            }
            self.note(Happening::State { node: node as u8, router: router as u8, to });
            self.check_transition(node, router, from, to, reason);
        }
    }
}

fn fed(input: &Input) -> Fed {
    match input {
        Input::Startup => Fed::Startup,
        Input::Shutdown => Fed::Shutdown,
        Input::Facts(facts) if facts.link && facts.source.is_some() && facts.eligible => {
            Fed::GoodFacts
        }
        Input::Facts(_) => Fed::BadFacts,
        Input::PriorityChanged(_) => Fed::Priority,
        Input::Resign(_) => Fed::Resign,
        Input::Drain(_) => Fed::Drain,
        Input::Undrain => Fed::Undrain,
        Input::ForceClaim => Fed::ForceClaim,
        Input::ReleaseClaim => Fed::ReleaseClaim,
        Input::SuccessorAnnounced => Fed::SuccessorAnnounced,
        Input::ActionDone { result: vrrp_core::ActionResult::Done, .. } => Fed::Done,
        Input::ActionDone { .. } => Fed::WorkFailed,
        Input::AdvertResult { .. } => Fed::AdvertResult,
        _ => Fed::Reannounce,
    }
}

fn class(priority: u8, own: u8) -> Fed {
    match priority.cmp(&own) {
        _ if priority == 0 => Fed::Zero,
        std::cmp::Ordering::Less => Fed::Lower,
        std::cmp::Ordering::Equal => Fed::Equal,
        std::cmp::Ordering::Greater => Fed::Higher,
    }
}

/// Whether an Active that leaves for this reason tells the others.
pub(crate) fn resigns(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::BetterPriority | Reason::BetterAddress | Reason::Stalled | Reason::ActiveDown
    )
}

const _: fn(Timer) -> Fed = Fed::Timer;
