//! Measurements of the protocol core: `cargo bench -p benches`.
//!
//! Targets: an advertisement is read in 10 ns and written in 15, a router takes a step in 30, a
//! router's event costs about the same among 10,000 routers as among 10, and nothing allocates
//! (`vrrp-core/tests/no_allocation.rs` asserts the last). Pin the process to a core that is
//! otherwise idle before believing a nanosecond: `taskset -c 1 cargo bench -p benches`.
