//! Three hosts and the messages between them, at one point in time.

use std::fmt;
use std::time::Duration;

use vrrp_core::{
    Action, AdvertInterval, Audience, Handoff, Input, Priority, ResignMode, State, Successor,
    Timer, VirtualRouter,
};

use super::host::{self, Host, NOW, Shared};
use super::properties::{Settling, Violation};
use super::{Bug, Election, Faults, HOSTS, LONGEST_PAUSE, Start, Step, TICK};

/// The priorities that a check may leave: below, among and above the base priorities.
const PRIORITIES: [u8; 2] = [64, 192];

/// A message under way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    from: u8,
    to: u8,
    content: Content,
    /// It arrives by then at the latest.
    left: Duration,
    /// It still says what its sender is: Active, with this priority.
    is_true: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Content {
    /// Priority (0: resigning) and interval in centiseconds.
    Advert(u8, u16),
    /// A gratuitous ARP.
    Announcement,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}→{} due in {:?}", self.content, self.from, self.to, self.left)
    }
}

/// The state that is explored.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct World {
    pub(super) hosts: [Host; HOSTS],
    /// Sorted.
    network: Vec<Message>,
    faults: Faults,
    /// `heard[a][b]`: a and b are Active, and a has heard b say so with the priority it has.
    pub(super) heard: [[bool; HOSTS]; HOSTS],
    pub(super) settling: Settling,
    violation: Option<Violation>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, host) in self.hosts.iter().enumerate() {
            writeln!(f, "  host {index}: {host:?}")?;
        }
        writeln!(f, "  network: {:?}", self.network)?;
        write!(f, "  {:?}", self.settling)?;
        self.violation.map_or(Ok(()), |violation| write!(f, "\n  VIOLATION: {violation:?}"))
    }
}

impl World {
    /// Where the model begins.
    pub(super) fn new(model: &Election) -> Self {
        let mut world = Self {
            hosts: [0, 1, 2].map(|index| Host::booted(model, index)),
            network: Vec::new(),
            faults: Faults::NONE,
            heard: [[false; HOSTS]; HOSTS],
            settling: Settling::default(),
            violation: None,
        };
        if model.start == Start::Settled {
            let mut steps = Vec::new();
            while !world.settling.is_over() && world.violation.is_none() {
                steps.clear();
                world.steps(model, &mut steps);
                let Some(&step) = steps.first() else { break };
                world = world.after(model, step);
            }
        }
        world.faults = model.faults;
        world
    }

    /// What went wrong in the step to here, if anything did.
    pub fn violation(&self) -> Option<Violation> {
        self.violation
    }

    /// Hosts whose router is in this state.
    pub(super) fn count(&self, state: State) -> usize {
        self.hosts.iter().filter(|host| host.is(state)).count()
    }

    /// Everything that can happen next.
    pub(super) fn steps(&self, model: &Election, steps: &mut Vec<Step>) {
        let mut anything_due = false;
        for (at, &message) in self.network.iter().enumerate() {
            let receiver = &self.hosts[usize::from(message.to)];
            if !receiver.runs() || (at > 0 && self.network[at - 1] == message) {
                continue;
            }
            anything_due |= message.left.is_zero();
            steps.push(Step::Deliver(message));
            if self.faults.total > 0 {
                if self.faults.drop > 0 {
                    steps.push(Step::Drop(message));
                }
                if self.faults.duplicate > 0 && !message.left.is_zero() {
                    steps.push(Step::Duplicate(message));
                }
                if self.faults.corrupt > 0 && matches!(message.content, Content::Advert(..)) {
                    steps.push(Step::Corrupt(message));
                }
            }
        }
        for (index, host) in self.hosts.iter().enumerate() {
            if host.work.is_some() && host.router.is_some() {
                steps.push(Step::AddressWork(index));
                anything_due = true;
            }
            if host.deadline().is_some_and(|at| at <= NOW) {
                steps.push(Step::Timeout(index));
                anything_due = true;
            }
            anything_due |= host.paused.is_some_and(|paused| paused >= LONGEST_PAUSE);
            self.host_steps(model, index, steps);
        }
        if !anything_due {
            steps.push(Step::Pass);
        }
    }

    fn host_steps(&self, model: &Election, index: usize, steps: &mut Vec<Step>) {
        let (host, faults) = (&self.hosts[index], &self.faults);
        let Some(router) = &host.router else {
            return steps.push(Step::Recover(index));
        };
        if faults.total > 0 && faults.crash > 0 {
            steps.push(Step::Crash(index));
        }
        if host.paused.is_some() {
            return steps.push(Step::Resume(index));
        }
        if host.resigned {
            steps.push(Step::Startup(index));
        }
        if faults.total == 0 {
            return;
        }
        if faults.pause > 0 {
            steps.push(Step::Pause(index));
        }
        if faults.resign > 0 && !host.resigned {
            steps.push(Step::Resign(index, false));
            // Holding differs for an Active only.
            if router.state() == State::Active {
                steps.push(Step::Resign(index, true));
            }
        }
        if faults.priority > 0 {
            let others = PRIORITIES.into_iter().chain([model.priorities[index]]);
            let others = others.filter(|&p| p != router.priority().value());
            steps.extend(others.map(|priority| Step::Priority(index, priority)));
        }
    }

    /// The world after one step.
    pub(super) fn after(&self, model: &Election, step: Step) -> Self {
        let mut world = self.clone();
        match step {
            Step::Pass => world.pass(model),
            Step::Deliver(message) => {
                world.take_from_network(message);
                world.deliver(model, message);
            }
            Step::Drop(message) => {
                world.spend(|faults| &mut faults.drop);
                world.take_from_network(message);
                world.settling.disturb();
            }
            Step::Duplicate(message) => {
                world.spend(|faults| &mut faults.duplicate);
                world.deliver(model, message);
            }
            Step::Corrupt(message) => {
                world.spend(|faults| &mut faults.corrupt);
                world.deliver_broken(model, message);
            }
            Step::Timeout(index) => {
                world.call(index, |router| router.handle_timeout(NOW));
                let next = world.hosts[index].deadline();
                world.expect(next.is_none_or(|at| at > NOW), Violation::BusyLoop);
            }
            Step::AddressWork(index) => world.finish_address_work(model, index),
            Step::Crash(index) => {
                world.spend(|faults| &mut faults.crash);
                world.hosts[index] = Host::dead();
                world.network.retain(|message| usize::from(message.to) != index);
                world.speaks_no_more(index);
                world.settling.disturb();
            }
            Step::Recover(index) => {
                world.hosts[index] = Host::booted(model, index);
                world.settling.disturb();
            }
            Step::Pause(index) => {
                world.spend(|faults| &mut faults.pause);
                world.hosts[index].paused = Some(Duration::ZERO);
                world.settling.disturb();
            }
            Step::Resume(index) => {
                world.hosts[index].paused = None;
                world.settling.disturb();
            }
            Step::Resign(index, hold) => world.resign(model, index, hold),
            Step::Startup(index) => {
                world.hosts[index].resigned = false;
                world.settling.disturb();
                world.call(index, |router| router.handle_input(NOW, Input::Startup));
            }
            Step::Priority(index, priority) => {
                world.spend(|faults| &mut faults.priority);
                world.settling.disturb();
                let priority = Priority::new(priority).unwrap_or(Priority::DEFAULT);
                let input = Input::PriorityChanged(priority);
                world.call(index, |router| router.handle_input(NOW, input));
            }
        }
        world.network.sort_unstable();
        world.look();
        world
    }

    fn spend(&mut self, kind: impl Fn(&mut Faults) -> &mut u8) {
        *kind(&mut self.faults) -= 1;
        self.faults.total -= 1;
    }

    fn pass(&mut self, model: &Election) {
        let deadlines = self.hosts.iter().filter_map(Host::deadline);
        let next = deadlines.map(|at| at.saturating_since(NOW)).fold(TICK, Duration::min);
        let arrivals = self.network.iter().filter(|m| self.hosts[usize::from(m.to)].runs());
        let step = arrivals.map(|message| message.left).fold(next, Duration::min);
        for host in &mut self.hosts {
            let stopped = model.bug == Some(Bug::PauseUnnoticed) && host.paused.is_some();
            host.age(step, !stopped);
        }
        for message in &mut self.network {
            message.left = message.left.saturating_sub(step);
        }
        let actives = self.count(State::Active);
        let all_run = self.hosts.iter().all(|host| host.paused.is_none());
        self.settling.pass(step, all_run, actives);
    }

    fn take_from_network(&mut self, message: Message) {
        if let Some(at) = self.network.iter().position(|&other| other == message) {
            self.network.remove(at);
        }
    }

    fn deliver(&mut self, model: &Election, message: Message) {
        let (from, to) = (usize::from(message.from), usize::from(message.to));
        let Content::Advert(priority, centis) = message.content else {
            let input = Input::SuccessorAnnounced;
            return self.call(to, |router| router.handle_input(NOW, input));
        };
        let deaf = model.bug == Some(Bug::Deaf)
            && self.hosts[to].router.as_ref().is_some_and(|r| priority > r.priority().value());
        if deaf {
            return;
        }
        let (meta, bytes) = advert(from, priority, centis);
        let mut accepted = true;
        self.call(to, |router| {
            accepted = router.handle_packet(NOW, &meta, &bytes).is_ok();
        });
        self.expect(accepted, Violation::ValidAdvertDiscarded);
        let both_active = self.hosts[to].is(State::Active) && self.hosts[from].is(State::Active);
        self.heard[to][from] |= both_active && message.is_true;
    }

    /// A discarded packet changes nothing at all.
    fn deliver_broken(&mut self, model: &Election, message: Message) {
        let Content::Advert(priority, centis) = message.content else {
            return;
        };
        let (from, to) = (usize::from(message.from), usize::from(message.to));
        let (meta, mut bytes) = advert(from, priority, centis);
        bytes[2] ^= 0x40; // the priority, so that obeying it would matter
        let before = self.hosts[to].router.clone();
        let mut discarded = true;
        self.call(to, |router| {
            discarded = router.handle_packet(NOW, &meta, &bytes).is_err();
            let active =
                router.snapshot().active.and_then(|(ip, p)| Some((host::index_of(ip)?, p)));
            if let (Some(Bug::DiscardRestartsDownTimer), Some((active, priority))) =
                (model.bug, active)
            {
                // The same advertisement again restarts the timer and does nothing else.
                let interval = router.snapshot().active_interval;
                let (meta, bytes) = host::advert(active, Some(priority), interval);
                let _ = router.handle_packet(NOW, &meta, &bytes);
            }
        });
        self.expect(discarded, Violation::BrokenPacketAccepted);
        self.expect(self.hosts[to].router == before, Violation::DiscardChangedState);
    }

    fn finish_address_work(&mut self, model: &Election, index: usize) {
        let Some(install) = self.hosts[index].work.take() else {
            return;
        };
        if install || model.bug != Some(Bug::RemovalIgnored) {
            self.hosts[index].vip = install;
        }
        let done = Input::ActionDone {
            id: vrrp_core::ActionId::default(), // as `normalized_at` leaves it
            result: vrrp_core::ActionResult::Done,
        };
        self.call(index, |router| router.handle_input(NOW, done));
    }

    fn resign(&mut self, model: &Election, index: usize, hold: bool) {
        self.spend(|faults| &mut faults.resign);
        self.hosts[index].resigned = true;
        self.settling.disturb();
        let mode = if hold { ResignMode::Hold } else { ResignMode::RemoveFirst };
        let deadline = NOW + TICK * 4;
        let handoff = Handoff { mode, deadline, successor: Successor::BestKnown };
        let was_active = self.hosts[index].is(State::Active);
        self.call(index, |router| {
            router.handle_input(NOW, Input::Resign(handoff));
            if model.bug == Some(Bug::ResignationForgotten) {
                router.handle_input(NOW, Input::Startup);
            }
        });
        if model.bug == Some(Bug::BackupResigns) && !was_active {
            self.broadcast(index, Content::Advert(0, Election::interval().centis()), false);
            self.expect(false, Violation::ZeroWithoutResigning);
        }
    }

    /// Feeds a router one input and drains it, as a driver does.
    fn call(&mut self, index: usize, input: impl FnOnce(&mut VirtualRouter)) {
        let Some(stored) = &self.hosts[index].router else {
            return;
        };
        let mut router = VirtualRouter::clone(stored);
        let before = (router.state(), router.priority());
        let overslept = self.hosts[index].silent > Election::shortest_down();
        let owed = router.deadline(Timer::StaggeredResign).is_some();
        input(&mut router);
        let after = (router.state(), router.priority());
        if before != after {
            self.speaks_no_more(index);
        }
        let mut first = true;
        while let Some(action) = router.poll_action() {
            if let Action::SendAdvert(spec) = action {
                let resigned = (before.0 == State::Active && after.0 != State::Active) || owed;
                self.expect(spec.priority.is_some() || resigned, Violation::ZeroWithoutResigning);
                self.expect(!(first && overslept), Violation::SentAfterOversleeping);
            }
            self.perform(index, action, after.0);
            first = false;
        }
        self.hosts[index].router = Some(Shared::new(&router, NOW));
        if after.0 != State::Active {
            self.hosts[index].silent = Duration::ZERO;
        }
    }

    fn perform(&mut self, index: usize, action: Action, state: State) {
        match action {
            Action::SendAdvert(spec) => {
                self.hosts[index].silent = Duration::ZERO;
                let priority = spec.priority.map_or(0, Priority::value);
                let content = Content::Advert(priority, spec.interval.centis());
                let is_true = state == State::Active;
                match spec.audience {
                    Audience::Only(peer) => {
                        if let Some(to) = host::index_of(peer) {
                            self.send(index, to, content, is_true);
                        }
                    }
                    _ => self.broadcast(index, content, is_true),
                }
            }
            Action::InstallAddresses(_) => self.hosts[index].work = Some(true),
            Action::RemoveAddresses(_) => self.hosts[index].work = Some(false),
            // Only a router that holds its addresses looks out for it.
            Action::Announce(_) => {
                for to in (0..HOSTS).filter(|&to| to != index) {
                    let holds = self.hosts[to]
                        .router
                        .as_ref()
                        .is_some_and(|router| router.deadline(Timer::HoldEnd).is_some());
                    if holds {
                        self.send(index, to, Content::Announcement, false);
                    }
                }
            }
            _ => {}
        }
    }

    fn broadcast(&mut self, from: usize, content: Content, is_true: bool) {
        for to in (0..HOSTS).filter(|&to| to != from) {
            self.send(from, to, content, is_true);
        }
    }

    fn send(&mut self, from: usize, to: usize, content: Content, is_true: bool) {
        if self.hosts[to].router.is_some() {
            // There are three hosts.
            let (from, to) = (from as u8, to as u8);
            self.network.push(Message { from, to, content, left: TICK, is_true });
        }
    }

    /// What this router said before, it does not say any more: its state or priority changed.
    fn speaks_no_more(&mut self, index: usize) {
        for message in &mut self.network {
            message.is_true &= usize::from(message.from) != index;
        }
        for other in 0..HOSTS {
            self.heard[index][other] = false;
            self.heard[other][index] = false;
        }
    }

    pub(super) fn expect(&mut self, holds: bool, otherwise: Violation) {
        if !holds {
            self.violation.get_or_insert(otherwise);
        }
    }
}

fn advert(from: usize, priority: u8, centis: u16) -> (vrrp_core::receive::RxMeta, [u8; 12]) {
    let interval = AdvertInterval::from_centis(centis).unwrap_or(AdvertInterval::MIN);
    host::advert(from, Priority::new(priority), interval)
}
