//! The owner, its guardian, its kernel and the first peer, at one point in time.

use super::{Bug, Faults, Lease, Step};

/// A late actor acts within this many units of being able to.
const LATEST: u16 = 2;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// The address was on both hosts for longer than allowed.
    TwoOwners,
    /// An owner to which nothing happened lost its address.
    HealthyOwnerLostIt,
    /// A resignation for an address that was not found and removed.
    ResignedUnheld,
}

/// The protocol loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Loop {
    Runs,
    Stopped,
    /// It can run again and has not looked at the clock yet.
    Wakes,
    Dead,
}

/// The thread that refreshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Refresher {
    /// Due in so many units.
    Waits(u16),
    /// Due since so many units.
    Late(u16),
    /// Has looked at the permit so many units ago.
    Looked(u16),
    /// Has refreshed, and so long passed since it looked.
    Refreshed(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Peer {
    /// Has heard the owner so many units ago.
    Backup(u16),
    /// Has been told that the owner resigns, so many units ago.
    Told(u16),
    Active,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Guardian {
    /// Has had reason to act for so many units.
    Watches(u16),
    Decided,
    Dead,
}

/// The address on the owner's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Address {
    age: u16,
    lease: u16,
}

/// The state that is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct World {
    process: Loop,
    /// Whether the refreshing thread is stopped too.
    all_stopped: bool,
    /// Whether the loop believes that it owns the address.
    owner: bool,
    next_advert: u16,
    /// Since the last advertisement, for the stall rule.
    silence: u16,
    permit: Option<u16>,
    refresher: Refresher,
    address: Option<Address>,
    stamp: u16,
    fenced: bool,
    token: Option<u16>,
    guardian: Guardian,
    peer: Peer,
    peer_down: u16,
    both: u16,
    faults: Faults,
    healthy: bool,
    violation: Option<Violation>,
}

impl World {
    pub(super) fn new(model: &Lease) -> Self {
        Self {
            process: Loop::Runs,
            all_stopped: false,
            owner: true,
            next_advert: 0,
            silence: 0,
            permit: None,
            refresher: Refresher::Late(0),
            address: Some(Address { age: 0, lease: model.lease }),
            stamp: 0,
            fenced: false,
            token: None,
            guardian: if model.stale.is_some() { Guardian::Watches(0) } else { Guardian::Dead },
            peer: Peer::Backup(0),
            peer_down: model.down,
            both: 0,
            faults: model.faults,
            healthy: true,
            violation: None,
        }
    }

    /// What went wrong in the step to here, if anything did.
    pub fn violation(&self) -> Option<Violation> {
        self.violation
    }

    pub(super) fn steps(&self, model: &Lease, steps: &mut Vec<Step>) {
        // Each actor says what it can do, and whether time has to wait for it.
        let waits = [
            self.loop_steps(steps),
            self.refresher_steps(model, steps),
            self.kernel_steps(model, steps),
            self.peer_steps(steps),
            self.guardian_steps(model, steps),
        ];
        self.fault_steps(steps);
        if !waits.contains(&true) {
            steps.push(Step::Pass);
        }
    }

    fn loop_steps(&self, steps: &mut Vec<Step>) -> bool {
        match self.process {
            Loop::Wakes => steps.push(Step::LoopWakes),
            Loop::Runs if self.owner && (self.next_advert == 0 || self.fenced) => {
                steps.push(Step::Advertise { lost: false });
                if self.faults.loss > 0 {
                    steps.push(Step::Advertise { lost: true });
                }
            }
            _ => return false,
        }
        true
    }

    fn refresher_steps(&self, model: &Lease, steps: &mut Vec<Step>) -> bool {
        if self.process == Loop::Dead || self.all_stopped {
            return false;
        }
        let permitted = self.permit.is_some() && !self.fenced;
        // A refresh that is due together with an advertisement waits for its permit.
        let permit_is_coming = self.process == Loop::Runs && self.owner && self.next_advert == 0;
        match self.refresher {
            Refresher::Waits(_) => false,
            // Without ownership no refresh begins, but one that has begun goes on.
            Refresher::Late(_) if !self.owner => false,
            Refresher::Late(late) => {
                if permitted || model.bug == Some(Bug::RefreshAfterExpiry) {
                    steps.push(Step::RefreshBegins);
                } else if late >= model.tolerance && !permit_is_coming {
                    steps.push(Step::RefreshSkipped);
                }
                late >= model.tolerance
            }
            Refresher::Looked(ago) => {
                steps.push(Step::Refresh);
                ago >= model.margin
            }
            Refresher::Refreshed(_) => {
                steps.push(Step::RefreshEnds);
                true
            }
        }
    }

    fn kernel_steps(&self, model: &Lease, steps: &mut Vec<Step>) -> bool {
        let Some(Address { age, lease }) = self.address else {
            return false;
        };
        // A refresh at the very end of the lifetime comes first.
        if age > lease {
            steps.push(Step::KernelRemoves);
        }
        age >= lease + model.slack
    }

    fn peer_steps(&self, steps: &mut Vec<Step>) -> bool {
        let since = match self.peer {
            Peer::Backup(heard) => heard.checked_sub(self.peer_down),
            Peer::Told(ago) => Some(ago),
            Peer::Active => None,
        };
        if since.is_some() {
            steps.push(Step::PeerClaims);
        }
        since.is_some_and(|since| since >= LATEST)
    }

    fn guardian_steps(&self, model: &Lease, steps: &mut Vec<Step>) -> bool {
        match self.guardian {
            Guardian::Dead => return false,
            Guardian::Decided => steps.push(Step::GuardianActs),
            Guardian::Watches(late) => {
                if !self.has_reason(model) {
                    return false;
                }
                steps.push(Step::GuardianDecides);
                return late >= LATEST;
            }
        }
        true
    }

    fn has_reason(&self, model: &Lease) -> bool {
        let dead = self.process == Loop::Dead && self.token.is_none();
        // A process that handed over has stopped stamping for good, and that is in order.
        let alive = self.process != Loop::Dead;
        let stale = alive && model.stale.is_some_and(|stale| self.stamp >= stale);
        (dead || stale) && (self.address.is_some() || !self.fenced)
    }

    fn fault_steps(&self, steps: &mut Vec<Step>) {
        let Faults { freeze, stick, kill, kill_guardian, loss, hand_over, start } = self.faults;
        let running = matches!(self.process, Loop::Runs | Loop::Wakes);
        let possible = [
            (freeze > 0 && self.process != Loop::Dead && !self.all_stopped, Step::ProcessFreezes),
            (stick > 0 && running, Step::LoopHangs),
            (self.process == Loop::Stopped, Step::Thaw),
            (kill > 0 && self.process != Loop::Dead, Step::Kill),
            (kill_guardian > 0 && self.guardian != Guardian::Dead, Step::GuardianDies),
            (start > 0 && self.process == Loop::Dead, Step::Start),
        ];
        steps.extend(possible.into_iter().filter_map(|(can, step)| can.then_some(step)));
        if hand_over > 0 && self.process == Loop::Runs && self.owner && !self.fenced {
            steps.push(Step::HandOver { lost: false });
            if loss > 0 {
                steps.push(Step::HandOver { lost: true });
            }
        }
    }

    pub(super) fn after(&self, model: &Lease, step: Step) -> Self {
        let mut world = *self;
        match step {
            Step::Pass => world.pass(model),
            Step::Advertise { lost } => world.advertise(model, lost),
            Step::RefreshBegins => world.refresher = Refresher::Looked(0),
            Step::RefreshSkipped => world.refresher = world.next_refresh(model),
            Step::Refresh => {
                let Refresher::Looked(ago) = world.refresher else { return world };
                world.address = Some(Address { age: 0, lease: model.lease });
                world.refresher = Refresher::Refreshed(ago);
            }
            Step::RefreshEnds => world.refresh_ends(model),
            Step::KernelRemoves => {
                world.address = None;
                if world.healthy {
                    world.violation = Some(Violation::HealthyOwnerLostIt);
                }
            }
            Step::PeerClaims => world.peer = Peer::Active,
            Step::GuardianDecides => world.guardian = Guardian::Decided,
            Step::GuardianActs => world.guardian_acts(model),
            Step::GuardianDies => {
                world.faults.kill_guardian -= 1;
                world.guardian = Guardian::Dead;
            }
            Step::ProcessFreezes => {
                world.faults.freeze -= 1;
                (world.process, world.all_stopped, world.healthy) = (Loop::Stopped, true, false);
            }
            Step::LoopHangs => {
                world.faults.stick -= 1;
                (world.process, world.healthy) = (Loop::Stopped, false);
            }
            Step::Thaw => (world.process, world.all_stopped) = (Loop::Wakes, false),
            Step::LoopWakes => world.wake(model),
            Step::Kill => {
                world.faults.kill -= 1;
                world.end_process();
            }
            Step::HandOver { lost } => world.hand_over(model, lost),
            Step::Start => world.start(model),
        }
        world
    }

    fn pass(&mut self, model: &Lease) {
        let cap = |clock: u16, limit: u16| (clock + 1).min(limit);
        self.next_advert = self.next_advert.saturating_sub(1);
        self.silence = cap(self.silence, model.down);
        self.permit = self.permit.and_then(|left| left.checked_sub(1));
        self.token = self.token.and_then(|left| left.checked_sub(1));
        self.stamp = if self.process == Loop::Runs { 0 } else { cap(self.stamp, u16::MAX - 1) };
        self.stamp = self.stamp.min(model.stale.unwrap_or(0));
        if let Some(address) = &mut self.address {
            address.age += 1;
        }
        let margin = model.margin + 1;
        self.refresher = match self.refresher {
            Refresher::Waits(0 | 1) => Refresher::Late(0),
            Refresher::Waits(left) => Refresher::Waits(left - 1),
            Refresher::Late(late) => Refresher::Late(cap(late, model.tolerance)),
            Refresher::Looked(ago) => Refresher::Looked(cap(ago, margin)),
            Refresher::Refreshed(ago) => Refresher::Refreshed(cap(ago, margin)),
        };
        self.peer = match self.peer {
            Peer::Backup(heard) => Peer::Backup(heard + 1),
            Peer::Told(ago) => Peer::Told(ago + 1),
            Peer::Active => Peer::Active,
        };
        if let Guardian::Watches(late) = self.guardian {
            let late = if self.has_reason(model) { late + 1 } else { 0 };
            self.guardian = Guardian::Watches(late);
        }
        let both = self.peer == Peer::Active && self.address.is_some();
        self.both = if both { self.both + 1 } else { 0 };
        if self.both > model.allowed {
            self.violation.get_or_insert(Violation::TwoOwners);
        }
    }

    fn advertise(&mut self, model: &Lease, lost: bool) {
        if self.fenced && model.bug != Some(Bug::FenceIgnored) {
            return self.step_down();
        }
        self.say(lost, model.down);
        self.next_advert = model.interval;
        self.permit = Some(model.permit);
        if self.address.is_none() && model.bug == Some(Bug::FenceIgnored) {
            self.fenced = false;
            self.address = Some(Address { age: 0, lease: model.lease });
        }
    }

    /// The peer hears it, unless it is lost: a Backup waits again, an Active of lower priority
    /// yields.
    fn say(&mut self, lost: bool, down: u16) {
        self.silence = 0;
        if lost {
            self.faults.loss -= 1;
        } else {
            self.peer = Peer::Backup(0);
            self.peer_down = down;
        }
    }

    fn refresh_ends(&mut self, model: &Lease) {
        let Refresher::Refreshed(took) = self.refresher else { return };
        let noticed = took > model.margin && model.bug != Some(Bug::GapUnnoticed);
        if noticed || self.fenced {
            self.address = None;
        }
        self.refresher = self.next_refresh(model);
    }

    /// Refreshes are tied to advertisements: one with each, the others R apart.
    fn next_refresh(&self, model: &Lease) -> Refresher {
        Refresher::Waits(match self.next_advert % model.refresh {
            0 => model.refresh,
            left => left,
        })
    }

    fn guardian_acts(&mut self, model: &Lease) {
        self.guardian = Guardian::Watches(0);
        self.fenced = true;
        let found = self.address.is_some();
        if model.bug != Some(Bug::ResignsFirst) {
            self.address = None;
        }
        if !found && model.bug == Some(Bug::ResignsUnheld) {
            self.violation = Some(Violation::ResignedUnheld);
        }
        if found && matches!(self.peer, Peer::Backup(_)) {
            self.peer = Peer::Told(0);
        }
    }

    fn wake(&mut self, model: &Lease) {
        let overslept = self.silence >= model.down || self.fenced;
        let ignored = match model.bug {
            Some(Bug::StallUnnoticed) => true,
            Some(Bug::FenceIgnored) => self.silence < model.down,
            _ => false,
        };
        if overslept && !ignored {
            self.step_down();
        }
        self.process = Loop::Runs;
    }

    /// Removes the address first; what follows is an ordinary election.
    fn step_down(&mut self) {
        (self.owner, self.address, self.permit) = (false, None, None);
        self.process = Loop::Runs;
    }

    fn end_process(&mut self) {
        (self.process, self.all_stopped, self.permit, self.healthy) =
            (Loop::Dead, false, None, false);
        self.refresher = Refresher::Waits(1);
    }

    fn hand_over(&mut self, model: &Lease, lost: bool) {
        self.faults.hand_over -= 1;
        self.say(lost, model.hand_over.down);
        self.address = Some(Address { age: 0, lease: model.hand_over.lease });
        self.token = Some(model.hand_over.token);
        self.end_process();
    }

    fn start(&mut self, model: &Lease) {
        self.faults.start -= 1;
        let token = self.token.take().is_some() && !self.fenced;
        (self.process, self.stamp) = (Loop::Runs, 0);
        if token || model.bug == Some(Bug::AdoptsWithoutToken) {
            (self.owner, self.next_advert, self.fenced) = (true, 0, false);
            self.refresher = Refresher::Late(0);
        } else {
            self.step_down();
        }
    }
}
