//! A run as data: the cluster, and what goes wrong when.
//!
//! Everything is plain numbers, so that a schedule can be shrunk by dropping and shortening, and
//! so that its `Debug` form is the Rust source of a test that replays it.

use std::fmt::Write as _;

/// The most nodes of a cluster.
pub const MAX_NODES: usize = 7;
/// The most virtual routers of a node.
pub const MAX_ROUTERS: usize = 4;
/// The links that every node is attached to. Routers are spread over them.
pub const LINKS: usize = 2;

/// A cluster and what happens to it. Equal schedules lead to equal runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Seeds delays, losses, lateness and the length of address work.
    pub seed: u64,
    /// Nodes, 2 to [`MAX_NODES`].
    pub nodes: usize,
    /// The virtual routers, the same on every node; 1 to [`MAX_ROUTERS`].
    pub routers: Vec<RouterPlan>,
    /// The routers (bit 0 is the first) that form a sync group on every node; 0 for none.
    pub group: u8,
    /// Whether addresses carry a lease, which the kernel ends by itself.
    pub lease: bool,
    /// How fast each node's clock gains, in parts per million.
    pub drift_ppm: [i32; MAX_NODES],
    /// The longest ordinary delay of a packet in microseconds. Packets overtake each other.
    pub delay_us: u32,
    /// How long the run is, in milliseconds.
    pub millis: u64,
    /// What goes wrong, with the millisecond at which it begins.
    pub faults: Vec<(u64, Fault)>,
}

/// One virtual router of every node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterPlan {
    /// 2 or 3.
    pub version: u8,
    /// 4 or 6.
    pub family: u8,
    /// Unicast to all other nodes instead of multicast.
    pub unicast: bool,
    /// A multiple of 10; whole seconds for version 2.
    pub interval_ms: u16,
    /// Virtual addresses, 1 to 3.
    pub addresses: u8,
    /// The base priority of each node.
    pub priorities: [u8; MAX_NODES],
    /// When a better node takes over from a living Active; the same for all.
    pub preempt: Preemption,
    /// The nodes (bit 0 is the first) that take RFC 9568 by its word.
    pub strict: u8,
    /// The nodes that always send the checksum without a pseudo-header.
    pub message_only: u8,
    /// The nodes that always send the checksum with a pseudo-header.
    pub pseudo_header: u8,
    /// Version 2: a password.
    pub password: bool,
    /// An Active whose addresses cannot be installed tries again instead of resigning.
    pub retry_install: bool,
}

/// When a better router takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemption {
    /// At once.
    Now,
    /// Never.
    Never,
    /// After this many milliseconds.
    AfterMs(u32),
}

/// One thing that goes wrong, or that an operator does. What has a length ends by itself.
///
/// Nodes and routers are counted from 0; one that the schedule does not have makes the fault
/// do nothing, so that shrinking needs no renumbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are named alike throughout: `ms` is a length")]
pub enum Fault {
    /// Nothing passes between the nodes of `side` (bit 0 is the first) and the others.
    Partition { side: u8, ms: u32 },
    /// Nothing passes from one node to another; the other way stays open.
    OneWay { from: u8, to: u8, ms: u32 },
    /// This many packets of a thousand are lost.
    Loss { permille: u16, ms: u32 },
    /// Packets take up to this long.
    Delay { up_to_ms: u16, ms: u32 },
    /// This many packets of a thousand arrive twice.
    Duplicate { permille: u16, ms: u32 },
    /// Invalid packets reach a node, one each 50 ms.
    Junk { node: u8, ms: u32 },
    /// The node does not run. Packets wait for it, or (`deaf`) are lost.
    Stall { node: u8, deaf: bool, ms: u32 },
    /// The process dies and is started again. A guardian, if there is one, cleans up
    /// and resigns in its name after this many milliseconds.
    Crash { node: u8, guardian_ms: Option<u16>, ms: u32 },
    /// The router resigns; later it is told to take part again.
    Resign { node: u8, router: u8, how: Leave, ms: u32 },
    /// The router is drained and undrained.
    Drain { node: u8, router: u8, how: Leave, ms: u32 },
    /// The router is shut down and started again.
    Shutdown { node: u8, router: u8, ms: u32 },
    /// The router claims out of turn, and lets go of the claim later.
    ForceClaim { node: u8, router: u8, ms: u32 },
    /// A check fails: 0 is required, 1 is worth +20, 2 is worth −30.
    Check { node: u8, router: u8, check: u8, ms: u32 },
    /// A link of a node loses its carrier.
    Carrier { node: u8, link: u8, ms: u32 },
    /// The node loses its address on a link.
    Source { node: u8, link: u8, ms: u32 },
    /// Address work fails.
    WorkFails { node: u8, partly: bool, ms: u32 },
    /// Address work takes up to this long.
    WorkSlow { node: u8, up_to_ms: u16, ms: u32 },
    /// Sending fails with an error.
    SendFails { node: u8, ms: u32 },
    /// A base priority is changed for good.
    Priority { node: u8, router: u8, value: u8 },
    /// The interval is changed for good, on one node after the other.
    Interval { router: u8, ms: u16 },
    /// The number of addresses is changed for good, on one node after the other.
    Addresses { router: u8, count: u8 },
    /// A node is no peer of the others (and stops taking part) for a while.
    Peers { node: u8, router: u8, ms: u32 },
}

/// How a router gives up on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Hold the addresses until the successor has taken over; hand over to the best known.
    Hold,
    /// Hold, and let the election decide.
    HoldPlain,
    /// Remove first; hand over to the best known.
    RemoveFirst,
}

impl Fault {
    /// How long it lasts, if it ends by itself.
    pub fn length_ms(&self) -> Option<u32> {
        let mut copy = *self;
        copy.length_mut().copied()
    }

    /// The same fault, shorter.
    pub(crate) fn with_length(mut self, length: u32) -> Self {
        if let Some(ms) = self.length_mut() {
            *ms = length;
        }
        self
    }

    fn length_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::Partition { ms, .. }
            | Self::OneWay { ms, .. }
            | Self::Loss { ms, .. }
            | Self::Delay { ms, .. }
            | Self::Duplicate { ms, .. }
            | Self::Junk { ms, .. }
            | Self::Stall { ms, .. }
            | Self::Crash { ms, .. }
            | Self::Resign { ms, .. }
            | Self::Drain { ms, .. }
            | Self::Shutdown { ms, .. }
            | Self::ForceClaim { ms, .. }
            | Self::Check { ms, .. }
            | Self::Carrier { ms, .. }
            | Self::Source { ms, .. }
            | Self::WorkFails { ms, .. }
            | Self::WorkSlow { ms, .. }
            | Self::SendFails { ms, .. }
            | Self::Peers { ms, .. } => Some(ms),
            Self::Priority { .. } | Self::Interval { .. } | Self::Addresses { .. } => None,
        }
    }
}

impl Schedule {
    /// The source of a test that replays this schedule and expects no violation.
    pub fn to_test(&self, name: &str) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_test(name, &mut text);
        text
    }

    fn write_test(&self, name: &str, out: &mut String) -> std::fmt::Result {
        writeln!(out, "#[test]\nfn {name}() {{")?;
        writeln!(
            out,
            "    use sim::{{Fault::*, Leave::*, Preemption::*, RouterPlan, Schedule}};\n"
        )?;
        writeln!(out, "    let schedule = Schedule {{")?;
        writeln!(out, "        seed: {},\n        nodes: {},", self.seed, self.nodes)?;
        writeln!(out, "        routers: vec![")?;
        for router in &self.routers {
            writeln!(out, "            {router:?},")?;
        }
        writeln!(out, "        ],")?;
        writeln!(out, "        group: {:#b},\n        lease: {},", self.group, self.lease)?;
        writeln!(out, "        drift_ppm: {:?},", self.drift_ppm)?;
        writeln!(out, "        delay_us: {},\n        millis: {},", self.delay_us, self.millis)?;
        writeln!(out, "        faults: vec![")?;
        for fault in &self.faults {
            writeln!(out, "            {fault:?},")?;
        }
        writeln!(out, "        ],\n    }};")?;
        writeln!(out, "    assert_eq!(sim::run(&schedule).violation, None);\n}}")
    }
}
