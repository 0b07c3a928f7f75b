//! Clusters of the real protocol core in simulated time.
//!
//! Two to seven nodes, each a [`RouterSet`](vrrp_core::RouterSet) behind a model of its driver, its
//! kernel and the network between them. Time jumps from one event to the next and nothing sleeps;
//! one seed decides everything, so that a run replays exactly. While it runs, faults happen
//! ([`Fault`]) and promises are checked after every step ([`Checker`]). A run that breaks one is
//! [shrunk](fn@shrink) to a short schedule that prints as a test.
//!
//! This crate is for those who change `vrrp-core` or want to see what a cluster does: start with
//! `cargo run --release --example simulate -- --help`.
//!
//! ```
//! let schedule = sim::Schedule::from_seed(7, 3, 60_000);
//! let report = sim::run(&schedule);
//! assert_eq!(report.violation, None);
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod check;
mod clock;
mod coverage;
mod generate;
mod network;
mod node;
mod schedule;
mod shrink;
mod timeline;
mod trace;
mod world;

pub use check::{Checker, Violation};
pub use coverage::Coverage;
pub use schedule::{Fault, LINKS, Leave, MAX_NODES, MAX_ROUTERS, Preemption, RouterPlan, Schedule};
pub use shrink::shrink;
pub use timeline::Timeline;
pub use trace::{Happening, Trace};
pub use world::{Mutation, Options, Report};

/// Runs a schedule to its end, or to the first broken promise.
pub fn run(schedule: &Schedule) -> Report {
    run_with(schedule, Options::default())
}

/// As [`run`], with more to see or with a driver that is broken on purpose.
pub fn run_with(schedule: &Schedule, options: Options) -> Report {
    world::World::new(schedule, options).run()
}
