//! The safety layers reduced to clocks: permit, kernel lease, guardian, stall rule, hand-over.
//!
//! One owner and the peer that would take over first. The owner is a protocol loop (advertises,
//! gives permits, stamps shared memory) and a thread that refreshes the address's lifetime in the
//! kernel under a permit. A guardian watches the process and the stamp. What is asked is whether
//! the address is ever on both hosts *for a time*, and whether a healthy owner ever loses it.
//!
//! # The agreement
//!
//! 1. An advertisement that was sent gives a permit for [`permit`](Lease::permit) (D).
//! 2. Every [`refresh`](Lease::refresh) (R), at most [`tolerance`](Lease::tolerance) late and only
//!    under a permit, the lifetime is set to [`lease`](Lease::lease) (L). A gap of more than
//!    [`margin`](Lease::margin) between looking at the permit and having refreshed, or a fence,
//!    takes the address off again.
//! 3. The kernel removes between L and L + [`slack`](Lease::slack) after the last refresh.
//! 4. A peer claims [`down`](Lease::down) after the last advertisement that it heard, at the
//!    earliest.
//! 5. A loop that wakes after `down`, or finds the fence, removes first and listens.
//! 6. The guardian, on death without a token or on a stamp older than [`stale`](Lease::stale), sets
//!    the fence, removes, and resigns only for what it found and removed.
//! 7. A hand-over sends a last advertisement, refreshes, leaves a token that is valid for
//!    token and exits. A process that starts adopts under a valid token and
//!    advertises at once; else it removes what it finds.
//!
//! # Time
//!
//! Whole units, of any length; all constraints are closed, so that whole units lose nothing (see
//! [`election`](crate::election)). An advertisement arrives at once, which is the worst case: a
//! later one postpones the claim. At one instant everything happens in every order, and the address
//! being on both hosts within an instant is no violation: what is counted is time.
//! So `D + margin + L + slack <= down` is safe here, and the strict inequality of the design
//! differs from it in the single instant of equality.

mod world;

use stateright::{Model, Property};

pub use self::world::{Violation, World};

/// The constants, in units of time, and what may happen.
#[derive(Clone, Copy, Debug)]
pub struct Lease {
    /// Between advertisements. A multiple of `refresh`.
    pub interval: u16,
    /// The peers' shortest down interval: 3 · interval + skew(`max_peer_priority`).
    pub down: u16,
    /// D: how long a permit is valid.
    pub permit: u16,
    /// L: the lifetime that a refresh sets.
    pub lease: u16,
    /// How much later than L the kernel may remove.
    pub slack: u16,
    /// R: between refreshes.
    pub refresh: u16,
    /// How late a refresh may be.
    pub tolerance: u16,
    /// The longest gap around a refresh that is not noticed.
    pub margin: u16,
    /// The age of a stamp at which the guardian acts. `None`: there is no guardian.
    pub stale: Option<u16>,
    /// The hand-over's token, and the down interval and lease that its last advertisement sets.
    pub hand_over: HandOver,
    /// What may happen.
    pub faults: Faults,
    /// How long the address may be on both hosts.
    pub allowed: u16,
    /// A fault that is built in, to see it found.
    pub bug: Option<Bug>,
}

/// The constants of a hand-over. With an ordinary advertisement `down` and `lease` are as always;
/// in v3 a longer interval in the last advertisement makes both longer.
#[derive(Clone, Copy, Debug)]
pub struct HandOver {
    /// How long the token is valid.
    pub token: u16,
    /// The peers' shortest down interval after the last advertisement.
    pub down: u16,
    /// The lifetime that the last refresh sets.
    pub lease: u16,
}

/// How often what may happen on one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// The whole process stops (SIGSTOP, a paused machine) and may go on.
    pub freeze: u8,
    /// The protocol loop alone hangs and may go on.
    pub stick: u8,
    /// The process is killed.
    pub kill: u8,
    /// The guardian is killed.
    pub kill_guardian: u8,
    /// An advertisement is lost.
    pub loss: u8,
    /// A hand-over.
    pub hand_over: u8,
    /// A process starts where one has ended.
    pub start: u8,
}

/// A fault that somebody might build in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A refresh does not look at the permit.
    RefreshAfterExpiry,
    /// Nobody looks at the clock after a refresh.
    GapUnnoticed,
    /// The guardian resigns whether or not it found anything.
    ResignsUnheld,
    /// The guardian resigns before it removes.
    ResignsFirst,
    /// A process that starts adopts without a valid token.
    AdoptsWithoutToken,
    /// A loop that wakes puts the missing address back, although the guardian has fenced it.
    FenceIgnored,
    /// A loop that wakes goes on as if nothing had happened.
    StallUnnoticed,
}

impl Lease {
    /// L = 1 s, R = 0.5 s, D = 0.55 s at an interval of one second, in units of 50 ms: the
    /// setting that is safe for every peer.
    pub const fn one_second() -> Self {
        Self {
            interval: 20,
            down: 60, // the skew of 254 (7.8 ms) rounded down
            permit: 11,
            lease: 20,
            slack: 23, // 1.13 s rounded up
            refresh: 10,
            tolerance: 1,
            margin: 1,
            stale: Some(56),
            hand_over: HandOver { token: 56, down: 60, lease: 20 },
            faults: Faults::NONE,
            allowed: 0,
            bug: None,
        }
    }

    /// L = 2 s, R = 1 s, D = 0.1 s, in units of 10 ms: safe while peers stay at 180 or below.
    pub const fn two_seconds() -> Self {
        Self {
            interval: 100,
            down: 329, // skew of 180: 296.9 ms
            permit: 10,
            lease: 200,
            slack: 113,
            refresh: 100,
            tolerance: 5,
            margin: 5,
            stale: Some(310),
            hand_over: HandOver { token: 310, down: 329, lease: 200 },
            ..Self::one_second()
        }
    }

    /// Whether these constants keep the address off two hosts at once, whatever stops when.
    pub const fn is_safe(&self) -> bool {
        self.permit + self.margin + self.lease + self.slack <= self.down
    }

    /// Whether a healthy owner keeps its address: refreshes come before the lease ends, and the
    /// last one in an interval, with its tolerance, falls under that interval's permit.
    pub const fn is_steady(&self) -> bool {
        self.refresh + self.tolerance + self.margin <= self.lease
            && self.interval - self.refresh + self.tolerance <= self.permit
    }

    /// With these faults.
    #[must_use]
    pub const fn with(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// With this fault built in.
    #[must_use]
    pub const fn with_bug(mut self, bug: Bug) -> Self {
        self.bug = Some(bug);
        self
    }
}

impl Faults {
    /// Nothing happens.
    pub const NONE: Self =
        Self { freeze: 0, stick: 0, kill: 0, kill_guardian: 0, loss: 0, hand_over: 0, start: 0 };
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the steps of the agreement")]
pub enum Step {
    Pass,
    Advertise { lost: bool },
    RefreshBegins,
    RefreshSkipped,
    Refresh,
    RefreshEnds,
    KernelRemoves,
    PeerClaims,
    GuardianDecides,
    GuardianActs,
    GuardianDies,
    ProcessFreezes,
    LoopHangs,
    Thaw,
    LoopWakes,
    Kill,
    HandOver { lost: bool },
    Start,
}

impl Model for Lease {
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
        vec![
            Property::always("no address on two hosts for longer than allowed", |_, w: &World| {
                w.violation() != Some(Violation::TwoOwners)
            }),
            Property::always("a healthy owner keeps its address", |_, w: &World| {
                w.violation() != Some(Violation::HealthyOwnerLostIt)
            }),
            Property::always("a resignation only for what was held and removed", |_, w: &World| {
                w.violation() != Some(Violation::ResignedUnheld)
            }),
        ]
    }
}
