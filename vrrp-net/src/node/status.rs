//! The present state of a node.

use std::time::Duration;

use vrrp_core::{Snapshot, Stats};

use crate::config::{InterfaceName, RouterName, Vip};

/// A node at one point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeStatus {
    /// Its routers, in the order in which they were added.
    pub routers: Vec<RouterStatus>,
    /// Time since the protocol loop last ran. An Active's loop runs at least once per interval;
    /// a router that may not run needs no turns.
    pub loop_age: Duration,
}

/// A router at one point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouterStatus {
    /// Its name.
    pub name: RouterName,
    /// Its interface.
    pub interface: InterfaceName,
    /// Its virtual addresses.
    pub vips: Vec<Vip>,
    /// The protocol's view.
    pub snapshot: Snapshot,
    /// Its counters.
    pub stats: Stats,
    /// Packets that its socket lost because they came faster than they were read.
    pub packets_lost: u32,
}
