//! What happens on a node, in one order.

use std::net::IpAddr;

use tokio::sync::broadcast;
use vrrp_core::{Event, Instant};

use crate::config::RouterName;
use crate::netlink::Mac;

/// One thing that happened on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEvent {
    /// Counts the events of the node from 1, without gaps: a consumer that sees one has missed
    /// events.
    pub sequence: u64,
    /// When, on `CLOCK_BOOTTIME`.
    pub at: Instant,
    /// The router that it concerns.
    pub router: RouterName,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// In the protocol.
    Protocol(Event),
    /// On the host.
    Notice(Notice),
}

/// What the host does to a router.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Another program removed a VIP of ours; it was put back and announced.
    AddressRestored {
        /// The VIP.
        address: IpAddr,
    },
    /// A VIP was on the interface although this node does not own it; it was removed.
    AddressEvicted {
        /// The VIP.
        address: IpAddr,
    },
    /// Others remove the VIPs so often that the router gives up for a minute.
    Contested {
        /// Removals in the last ten seconds.
        removals: usize,
    },
    /// Another station announced a VIP that this node owns.
    ForeignClaim {
        /// The VIP.
        address: IpAddr,
        /// Who.
        mac: Mac,
    },
    /// Advertisements do not leave the host. Reported once, until it works again.
    SendFailed {
        /// The kernel's reason.
        error: String,
    },
    /// Advertisements leave the host again.
    SendingAgain,
}

/// A consumer's view of the events. Bounded: one that is too slow is told how many it missed.
#[derive(Debug)]
pub struct Events(broadcast::Receiver<NodeEvent>);

/// Why there is no next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventsError {
    /// This many events were overwritten before they were read. The next call goes on with the
    /// oldest that is left.
    #[error("{0} events were missed")]
    Lagged(u64),
    /// The node is gone.
    #[error("the node has stopped")]
    Stopped,
}

impl Events {
    pub(crate) fn new(receiver: broadcast::Receiver<NodeEvent>) -> Self {
        Self(receiver)
    }

    /// The next event. Safe to cancel.
    ///
    /// # Errors
    /// See [`EventsError`].
    pub async fn next(&mut self) -> Result<NodeEvent, EventsError> {
        Ok(self.0.recv().await?)
    }

    /// As [`next`](Self::next), blocking. Not for async code.
    ///
    /// # Errors
    /// See [`EventsError`].
    pub fn next_blocking(&mut self) -> Result<NodeEvent, EventsError> {
        Ok(self.0.blocking_recv()?)
    }
}

impl From<broadcast::error::RecvError> for EventsError {
    fn from(error: broadcast::error::RecvError) -> Self {
        match error {
            broadcast::error::RecvError::Lagged(missed) => Self::Lagged(missed),
            broadcast::error::RecvError::Closed => Self::Stopped,
        }
    }
}
