//! What a run looks like from outside, for people.

use vrrp_core::State;

/// One thing that a timeline shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A router changed its state.
    State {
        /// The node.
        node: u8,
        /// The router on it.
        router: u8,
        /// The new state.
        to: State,
    },
    /// A router's addresses came to or left an interface.
    Addresses {
        /// The node.
        node: u8,
        /// The router on it.
        router: u8,
        /// Whether they are there now.
        present: bool,
    },
    /// A router advertised. 0 is a resignation.
    Advert {
        /// The node.
        node: u8,
        /// The router on it.
        router: u8,
        /// The priority on the wire.
        priority: u8,
    },
    /// A fault of the schedule began.
    FaultBegan(usize),
    /// It ended.
    FaultEnded(usize),
}

/// What happened in a run, each with its time in nanoseconds since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// In the order of time.
    pub happenings: Vec<(u64, Happening)>,
}
