//! What a driver tells a router, packets and timeouts apart.

use core::net::IpAddr;

use crate::{ActionId, ActionResult, Instant, Priority};

/// One thing that the driver knows and the router must hear.
///
/// No input is ever wrong: one that does not apply in the present state changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Input {
    /// Take part in the election as soon as the facts allow it. Releases the latch of an earlier
    /// `Resign` or `Shutdown`.
    Startup,
    /// Stop for good: an Active resigns (remove first), then the router stays in Initialize.
    Shutdown,
    /// The host's facts changed. Give all of them each time; whether the router may run is
    /// recomputed from the current ones and from nothing else.
    Facts(Facts),
    /// The priority that the health checks leave, see [`tracking`](crate::tracking). Ignored by an
    /// address owner.
    PriorityChanged(Priority),
    /// Give the VIP up in an orderly way and never claim again until `Startup`.
    Resign(Handoff),
    /// As `Resign`, until `Undrain`: maintenance.
    Drain(Handoff),
    /// Take part again after `Drain`.
    Undrain,
    /// Claim now, with the present Active's priority + 1 if that is needed to win. Refused (with
    /// an event) when that Active has 254 or more. Lasts until `ReleaseClaim`.
    ForceClaim,
    /// Go back to the ordinary priority after `ForceClaim`.
    ReleaseClaim,
    /// The addresses are on the interface already and a predecessor handed them over: become
    /// Active in place, without a transition that the link could notice. Said instead of
    /// `Startup`, after good `Facts`; where something else forbids running it changes nothing.
    Adopt,
    /// The successor's gratuitous ARP or neighbour advertisement was seen: clients have moved,
    /// and held addresses can go.
    SuccessorAnnounced,
    /// Address work ended. An id that was superseded is ignored.
    ActionDone {
        /// The id of the action.
        id: ActionId,
        /// How it ended.
        result: ActionResult,
    },
    /// Whether the latest advertisement left the host. Needed after a failure and after the first
    /// success that follows one; further reports are harmless.
    AdvertResult {
        /// True if at least one copy was handed to the interface.
        delivered: bool,
    },
    /// Neighbours' entries may be stale (the interface has a new MAC, an address was put back):
    /// announce again if Active.
    Reannounce,
}

/// The facts about the host on which the right to run depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Facts {
    /// The interface exists, is up and has carrier.
    pub link: bool,
    /// The address from which this router sends; it decides ties. `None` while there is none.
    pub source: Option<IpAddr>,
    /// Every check whose failure forbids running is good.
    pub eligible: bool,
}

/// How an Active gives up in an orderly way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handoff {
    /// The order of resigning and removing.
    pub mode: ResignMode,
    /// The addresses are removed by then at the latest.
    pub deadline: Instant,
    /// Who is meant to take over.
    pub successor: Successor,
}

/// The order of a resignation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResignMode {
    /// Resign, keep serving until the successor has announced itself (or its skew plus a margin,
    /// or the deadline, is over), then remove. Clients lose nothing. For every planned handoff
    /// while the service works.
    Hold,
    /// Remove, then resign. For faults and for a service that has failed already; clients wait
    /// for the successor's skew.
    RemoveFirst,
}

/// Who is meant to take over from a router that resigns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Successor {
    /// Nobody in particular: one priority 0 to all, and the election decides.
    Anyone,
    /// The best router known (from past advertisements and the peer list), taken over
    /// within its skew at one centisecond in v3; `Anyone` if none is known.
    BestKnown,
    /// This router, if it is a peer or has been heard; else as `BestKnown`.
    Peer(IpAddr),
}
