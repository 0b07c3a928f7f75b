//! Exhaustive exploration of what cannot be tested by example.
//!
//! Two models, both explored with [stateright](https://docs.rs/stateright):
//!
//! - [`election`]: three hosts that run the *real* [`vrrp_core::VirtualRouter`], a network that
//!   loses, duplicates, delays and reorders, and hosts that crash, pause, resign, come back and
//!   change their priority. What is checked is the code that ships.
//! - [`lease`]: the agreement between the owner's loop, the permits it gives, the kernel's lease,
//!   the guardian and the hand-over token, reduced to clocks. What is checked is the arithmetic
//!   on which "never two owners" rests, and the order of the steps.
//!
//! Both run in bounded form under `cargo test`, and as long as you like with the binary:
//!
//! ```text
//! cargo run --release -p modelcheck -- election --crash 1                 # all of it, seconds
//! cargo run --release -p modelcheck -- election --any 1 --steps 60000000  # 14 million states
//! cargo run --release -p modelcheck -- lease
//! ```
//!
//! Either model takes a bug ([`election::Bug`], [`lease::Bug`]): a fault that somebody might well build in. The
//! tests show that each is found, since a check that finds nothing proves nothing by itself.

pub mod election;
pub mod lease;
pub mod report;
