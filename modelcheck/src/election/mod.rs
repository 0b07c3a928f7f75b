//! Three hosts with the real router, and everything that can go wrong between them.
//!
//! # Time
//!
//! Time is a digital clock: it passes in steps of one [`TICK`], or of less when a deadline of a
//! router comes first, and never past anything that is due. Interval, skew of the priorities used
//! and the network's delay are multiples of the tick, and all constraints on them are closed
//! ("at most D", "at the deadline"), so whatever order of events is possible in continuous time is
//! possible in ticks (Henzinger, Manna and Pnueli, *What good are digital clocks?*, 1992). Exact
//! therefore: elections, preemption, yielding, priority 0, crashes and pauses. The core's two open
//! constraints ("silent for *longer* than", "asserted *less* than a tenth ago") differ at one point
//! of the clock only, on which either side is safe.
//!
//! Not multiples of the tick are the ends of holding and the skew at one centisecond of a directed
//! handoff. Around those, messages arrive at ticks and at deadlines only: all orders of arrivals
//! and deadlines occur, but not all distances.
//!
//! A message arrives at any time within [`TICK`] of being sent, in any order, or is dropped, or
//! arrives twice, or broken. At one instant messages, deadlines and finished address work are taken
//! in every order, including timers before packets, which the driver's rule excludes: more is
//! allowed here than on a host. A paused host keeps its messages and its kernel's addresses.
//!
//! What is left out: failing address work, facts (link, source address), sync groups, unicast and
//! its tie-break, `ForceClaim`, `Adopt`, reconfiguration, different intervals. The simulator
//! has those, at random instead of exhaustively.
//!
//! # Bounds
//!
//! Each kind of fault has a budget ([`Faults`]); within it the exploration is exhaustive and time
//! has no end, because a world in which nothing new happens returns to states seen before.

mod host;
mod properties;
mod world;

use std::fmt;
use std::time::Duration;

use stateright::{Model, Property};
use vrrp_core::{AdvertInterval, Preempt, Priority, Version};

pub use self::world::World;

/// The step of the clock and the longest delay of the network: a quarter of the interval.
pub const TICK: Duration = Duration::from_millis(250);
/// How many hosts there are.
pub const HOSTS: usize = 3;
/// A paused host runs again after this at the latest: longer than any down interval.
pub const LONGEST_PAUSE: Duration = Duration::from_millis(4500);

/// The best priority that occurs here; the core is told so (`max_peer_priority`), which puts the
/// stall rule's limit on a tick.
const BEST: Priority = match Priority::new(192) {
    Some(priority) => priority,
    None => Priority::MAX_BACKUP,
};

/// What to explore.
#[derive(Clone, Copy, Debug)]
pub struct Election {
    /// Base priorities; 256 minus each is a multiple of 64, so that skews are multiples of a tick.
    pub priorities: [u8; HOSTS],
    /// Whether a better router takes over.
    pub preempt: Preempt,
    /// Where to begin.
    pub start: Start,
    /// How often what may go wrong.
    pub faults: Faults,
    /// A fault that is built in, to see it found.
    pub bug: Option<Bug>,
}

impl Election {
    /// Priorities 192, 128 and 128 (a tie, decided by address), preempting, settled, and then
    /// these faults.
    pub const fn new(faults: Faults) -> Self {
        let preempt = Preempt::After(Duration::ZERO);
        Self { priorities: [192, 128, 128], preempt, start: Start::Settled, faults, bug: None }
    }

    /// The same with a fault built in.
    #[must_use]
    pub const fn with_bug(mut self, bug: Bug) -> Self {
        self.bug = Some(bug);
        self
    }

    /// All routers advertise at this interval.
    pub const fn interval() -> AdvertInterval {
        AdvertInterval::DEFAULT
    }

    /// The shortest silence after which another router may take over.
    fn shortest_down() -> Duration {
        Self::interval().active_down(Version::V3, BEST)
    }

    fn priority(&self, host: usize) -> Priority {
        Priority::new(self.priorities[host]).unwrap_or(Priority::DEFAULT)
    }
}

/// Where an exploration begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// All hosts boot at the same instant.
    Boot,
    /// The best router is Active and the others follow it, as after a boot in which every message
    /// arrived at once.
    Settled,
}

/// How often each kind of fault may happen on one path. Recovery is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// A host dies with its addresses, and may come back.
    pub crash: u8,
    /// A router resigns in either order, and may start again.
    pub resign: u8,
    /// A host stops and goes on later.
    pub pause: u8,
    /// A router's priority changes.
    pub priority: u8,
    /// A message is lost.
    pub drop: u8,
    /// A message arrives twice.
    pub duplicate: u8,
    /// A broken copy of a message arrives before it.
    pub corrupt: u8,
    /// At most this many of all kinds together.
    pub total: u8,
}

impl Faults {
    /// None at all.
    pub const NONE: Self = Self {
        crash: 0,
        resign: 0,
        pause: 0,
        priority: 0,
        drop: 0,
        duplicate: 0,
        corrupt: 0,
        total: 0,
    };

    /// Up to this many faults of any kinds.
    pub const fn any(total: u8) -> Self {
        Self {
            crash: total,
            resign: total,
            pause: total,
            priority: total,
            drop: total,
            duplicate: total,
            corrupt: total,
            total,
        }
    }
}

/// A fault that somebody might build in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A discarded packet restarts the down timer of a Backup.
    DiscardRestartsDownTimer,
    /// A router that resigned starts again when its facts are told anew.
    ResignationForgotten,
    /// The clock that the router is given stands still while the host is paused, as
    /// CLOCK_MONOTONIC does in suspend.
    PauseUnnoticed,
    /// The driver never takes addresses off.
    RemovalIgnored,
    /// The router does not hear a better one (a group membership that was lost).
    Deaf,
    /// A Backup that is stopped says priority 0.
    BackupResigns,
}

/// One step of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Time passes to the next tick or deadline.
    Pass,
    /// A message arrives.
    Deliver(world::Message),
    /// A message is lost.
    Drop(world::Message),
    /// A message arrives, and once more later.
    Duplicate(world::Message),
    /// A broken copy arrives; the message itself is still under way.
    Corrupt(world::Message),
    /// A router's deadline fires.
    Timeout(usize),
    /// The kernel did what was asked of it.
    AddressWork(usize),
    /// A host dies.
    Crash(usize),
    /// A dead host boots.
    Recover(usize),
    /// A host stops.
    Pause(usize),
    /// It goes on.
    Resume(usize),
    /// A router resigns; true: and holds its addresses meanwhile.
    Resign(usize, bool),
    /// A router that resigned is started again.
    Startup(usize),
    /// A router's priority becomes this.
    Priority(usize, u8),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Model for Election {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self)]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        if world.violation().is_none() {
            world.steps(self, steps);
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        Some(world.after(self, step))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
