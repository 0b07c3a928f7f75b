//! The bodies of the fuzz targets. They live here so that they compile with the crate; the targets
//! themselves, in `fuzz/`, only call them, and `tests/fuzz_corpora_replay.rs` replays the corpora.

mod cluster_ops;
mod generate;
mod packets;
mod router_ops;

pub use cluster_ops::cluster_ops;
pub use packets::{decode, receive, roundtrip};
pub use router_ops::router_ops;

/// The body of a target: it panics where something is wrong.
pub type Target = fn(&[u8]);

/// Every target: its name, which is that of its corpus as well, and its body.
pub const TARGETS: [(&str, Target); 5] = [
    ("decode", decode),
    ("roundtrip", roundtrip),
    ("receive", receive),
    ("router_ops", router_ops),
    ("cluster_ops", cluster_ops),
];
