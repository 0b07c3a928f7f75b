//! What a router asks of its driver, in order.
//!
//! Actions are plain `Copy` data. Bytes are made at the moment of sending, by
//! [`VirtualRouter::encode_advert`](crate::VirtualRouter::encode_advert), so that a queued
//! advertisement never carries stale values.

use core::net::IpAddr;

use crate::{AdvertInterval, Priority};

/// One thing for the driver to do.
///
/// The order of actions is part of the contract and pinned by the transition table in this
/// crate's tests. Advertisements never wait for address work: the driver starts the work, goes on,
/// and later answers with [`Input::ActionDone`](crate::Input::ActionDone).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Send one advertisement to the audience. A failure is reported with
    /// [`Input::AdvertResult`](crate::Input::AdvertResult) and stops nothing.
    SendAdvert(AdvertSpec),
    /// Put all addresses on the interface. Idempotent: addresses that are there are success.
    /// Supersedes a removal in flight.
    InstallAddresses(ActionId),
    /// Take all addresses off the interface and verify it. Idempotent. Supersedes an installation
    /// in flight.
    RemoveAddresses(ActionId),
    /// Tell the link who has the addresses: gratuitous ARP or unsolicited neighbour
    /// advertisements, for every address. Only ever asked for after the kernel confirmed them.
    Announce(AnnounceRound),
}

/// Identifies one piece of address work, so that a late answer to superseded work is recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(u32);

impl ActionId {
    /// For drivers that store the id outside Rust.
    pub const fn from_raw(raw: u32) -> Self {
        Self(raw)
    }

    /// The raw value.
    pub const fn as_raw(self) -> u32 {
        self.0
    }

    pub(crate) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// How a piece of address work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionResult {
    /// The kernel confirmed it for every address.
    Done,
    /// Some addresses are as asked and some are not.
    Partial,
    /// Nothing is as asked, or it is not known.
    Failed,
}

/// The fields of one advertisement that differ from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AdvertSpec {
    /// Who is to receive it.
    pub audience: Audience,
    /// `None` is priority 0 on the wire: "I am giving up".
    pub priority: Option<Priority>,
    /// The Max Advertise Interval (v3) or Adver Int (v2) to send.
    pub interval: AdvertInterval,
}

/// The receivers of one advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Audience {
    /// The group, or every peer.
    All,
    /// One router. With multicast: the group address in a unicast Ethernet frame to that
    /// router's MAC.
    Only(IpAddr),
    /// Every peer but one. With multicast: the group.
    AllExcept(IpAddr),
}

/// Why the addresses are announced, from which the number of copies follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnnounceRound {
    /// The addresses have just been installed: a burst.
    Takeover,
    /// The burst again, for a switch or a neighbour that lost the first.
    Repeat,
    /// The periodic single announcement.
    Refresh,
    /// Neighbours may have learned another owner meanwhile (a rival's claim, a stall, an outage of
    /// sending, a new MAC): a single announcement.
    Reassert,
}
