//! The promises, each with a name.
//!
//! Those of `step` hold after every single step of a router. Those of `cluster` are about several
//! nodes: what is wrong may last as long as a handover takes, or, after a disturbance, as long as
//! RFC 9568 allows for an election.

pub(crate) mod cluster;
mod step;

use std::fmt;

/// A promise that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checker {
    /// Two nodes that hear each other do not both have the addresses.
    OneOwner,
    /// Each node that may run and hears no Active (or only worse ones, if it preempts) is Active.
    SomeoneServes,
    /// Priority 0 is said by an Active that gives up, and by nobody else.
    ZeroOnlyOnResigning,
    /// Priority 0 is said once to each peer.
    ZeroOncePerPeer,
    /// The addresses are on the interface of an Active, and of nobody else.
    AddressesFollowState,
    /// An Active has the deadline of its next advertisement, a Backup that of its claim.
    DeadlineArmed,
    /// No deadline is left in the past, and no instant needs many steps.
    NoBusyLoop,
    /// A discarded packet leaves the router as it was.
    DiscardChangesNothing,
    /// The members of a sync group are in one state.
    GroupSharesState,
    /// After a stall nothing is sent before the addresses are withdrawn.
    WithdrawsBeforeSending,
    /// A Backup that claims out of silence has had no reason to wait.
    ClaimsOnlyAfterSilence,
    /// What is announced is on the interface.
    AnnouncesWhatIsThere,
    /// A router takes part if, and only if, the facts allow it.
    StandingFollowsFacts,
    /// An orderly handoff keeps the addresses until somebody else serves.
    HoldKeepsAddresses,
    /// With a lease, a stalled node's addresses are gone before another node installs them.
    LeaseEndsInTime,
}

impl fmt::Display for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which promise.
    pub checker: Checker,
    /// When it was noticed, in nanoseconds since the start of the run.
    pub at: u64,
    /// The node, counted from 0.
    pub node: usize,
    /// The router on it.
    pub router: usize,
    /// What was seen.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { checker, at, node, router, detail } = self;
        let (s, ns) = (at / 1_000_000_000, at % 1_000_000_000);
        write!(f, "{checker} at {s}.{ns:09} s, node {node}, router {router}: {detail}")
    }
}
