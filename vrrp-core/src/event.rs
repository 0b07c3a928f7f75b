//! What a router reports to whoever watches it. Reading events is optional.

use core::net::IpAddr;
use core::time::Duration;

use crate::receive::{Discard, Warning};
use crate::{ActionResult, AdvertInterval, Priority, State};

/// One thing that happened. Events are ordered; the queue is bounded, and a consumer that is too
/// slow gets [`Event::Lagged`] instead of the oldest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The state changed.
    Transition {
        /// The state before.
        from: State,
        /// The state after.
        to: State,
        /// Why.
        reason: Reason,
    },
    /// Active, and the kernel confirmed the addresses: the VIP is ours.
    BecameOwner {
        /// Counts ownerships of this router since its construction. Not a fencing token.
        epoch: u64,
    },
    /// The VIP is about to go. Comes before the removal is asked for.
    LostOwnership {
        /// The epoch of the `BecameOwner` before.
        epoch: u64,
        /// Why.
        reason: Reason,
    },
    /// The kernel confirmed that the addresses are gone.
    AddressesRemoved,
    /// Address work failed. It is tried again after `retry_in`.
    AddressWorkFailed {
        /// True for an installation, false for a removal.
        installing: bool,
        /// How it failed; never `Done`.
        result: ActionResult,
        /// Time to the next attempt.
        retry_in: Duration,
    },
    /// Another router is heard as Active for the first time, or with other values than before.
    ActiveSeen {
        /// Its address.
        source: IpAddr,
        /// Its priority.
        priority: Priority,
        /// Its interval.
        interval: AdvertInterval,
    },
    /// Another router resigned. It left in good order: no reason to fence it.
    PeerResigned {
        /// Its address.
        source: IpAddr,
    },
    /// Another router advertised while this one is Active. Rate-limited.
    DualOwner {
        /// Its address.
        source: IpAddr,
        /// Its priority.
        priority: Priority,
    },
    /// A packet failed validation; nothing else changed. Rate-limited per reason; the counters in
    /// [`Stats`](crate::Stats) are not.
    Discarded {
        /// Its source.
        source: IpAddr,
        /// Why.
        discard: Discard,
    },
    /// A packet was taken although something about it is odd. Rate-limited.
    Odd {
        /// Its source.
        source: IpAddr,
        /// What is odd.
        warning: Warning,
    },
    /// The priority in force changed.
    PriorityEffective {
        /// The priority in force.
        priority: Priority,
    },
    /// The process or the host did not run for so long that another router may own the VIP.
    Stalled {
        /// Time since the last advertisement.
        silence: Duration,
    },
    /// `ForceClaim` was refused: the present Active's priority leaves no room above it.
    ClaimRefused {
        /// The present Active's priority.
        active: Priority,
    },
    /// This many events were lost because nobody read them in time.
    Lagged(u32),
}

/// Why a state changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The facts allow to run (now, or again).
    Started,
    /// The Active_Down_Interval passed in silence.
    ActiveDown,
    /// The Active resigned, and this router's skew passed.
    PeerResigned,
    /// A higher priority was heard.
    BetterPriority,
    /// The same priority was heard from a higher address.
    BetterAddress,
    /// `Input::Shutdown`.
    Shutdown,
    /// `Input::Resign`.
    Resigned,
    /// `Input::Drain`.
    Drained,
    /// `Input::ForceClaim`.
    Forced,
    /// `Input::Adopt`.
    Adopted,
    /// The interface is down or gone.
    LinkDown,
    /// No address to send from.
    NoSource,
    /// A check forbids running.
    Ineligible,
    /// Another member of the sync group changed.
    Group,
    /// The host did not run for longer than the peers' shortest down interval.
    Stalled,
    /// The addresses could not be installed.
    InstallFailed,
}
