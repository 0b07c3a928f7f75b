//! Everything an operator may ask about one router, at one point in time.

use core::net::IpAddr;

use crate::{AdvertInterval, Instant, Priority, State};

/// A router at one point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Snapshot {
    /// The protocol state.
    pub state: State,
    /// What keeps the router in Initialize, the most telling first. `None` when it may run.
    pub impediment: Option<Impediment>,
    /// Where the addresses are.
    pub addresses: AddressState,
    /// The priority in force.
    pub priority: Priority,
    /// The interval of the Active that is followed, or the local one (AAI of RFC 9568).
    pub active_interval: AdvertInterval,
    /// The router heard last as Active, and its priority.
    pub active: Option<(IpAddr, Priority)>,
    /// The source address in use.
    pub source: Option<IpAddr>,
    /// Counts ownerships since construction.
    pub epoch: u64,
    /// When the router wakes next, and why.
    pub next_wakeup: Option<(Instant, Timer)>,
    /// When the state was entered.
    pub since: Instant,
}

/// Why a router stays in Initialize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Impediment {
    /// No `Startup` yet, or `Shutdown` after it.
    NotStarted,
    /// It resigned, and stays out until `Startup`.
    Resigned,
    /// It was drained, and stays out until `Undrain`.
    Drained,
    /// The interface is down or gone.
    LinkDown,
    /// There is no address to send from.
    NoSource,
    /// A check forbids running.
    Ineligible,
    /// Another member of the sync group may not run.
    Group,
}

/// Where the virtual addresses are, as far as the driver has confirmed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressState {
    /// Not on the interface.
    #[default]
    Absent,
    /// Being put on.
    Installing,
    /// On the interface.
    Present,
    /// Being taken off.
    Removing,
}

/// The deadlines of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Timer {
    /// Active_Down_Timer: nobody was heard for the down interval; claim.
    ActiveDown,
    /// Adver_Timer: the next advertisement is due.
    AdvertDue,
    /// A lower-priority Active has been heard for the preempt delay; stop following it.
    PreemptDelay,
    /// The burst of announcements is repeated.
    AnnounceRepeat,
    /// The periodic announcement.
    AnnounceRefresh,
    /// Addresses held through a resignation go.
    HoldEnd,
    /// Failed address work is tried again.
    AddressRetry,
    /// The source address has been missing for the grace.
    SourceGrace,
    /// v2: the resignation to the routers other than the successor.
    StaggeredResign,
}
