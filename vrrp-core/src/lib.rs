//! The VRRP protocol without I/O: bytes and times in, ordered actions out.
//!
//! This crate is RFC 9568 (v3), RFC 5798 and RFC 3768 (v2) and nothing else. It never reads a
//! clock, a socket, an environment variable or a global, so that it can be simulated,
//! model-checked, fuzzed and embedded anywhere. `vrrp-net` is the driver for Linux; who wants
//! VIPs on a Linux host starts there.
//!
//! It does not send packets, touch addresses, choose a source address, judge health or keep
//! secrets from people who can read its memory.
//!
//! # The drive loop
//!
//! **Feed one input, then drain.** An input is a packet, an [`Input`] or a timeout; draining is
//! calling [`poll_action`](VirtualRouter::poll_action) until `None`, doing each action in order.
//! Then sleep until [`poll_timeout`](VirtualRouter::poll_timeout), or until the next input. That
//! is all:
//!
//! ```
//! use vrrp_core::{
//!     Action, ActionResult, Config, Facts, Input, Instant, State, VirtualAddrs, VirtualRouter,
//!     Vrid,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let vips = VirtualAddrs::new(&["192.0.2.10".parse()?])?;
//! let config = Config::builder(Vrid::new(51).ok_or("VRID 0")?, vips).build()?;
//! let mut now = Instant::ZERO; // CLOCK_BOOTTIME on a real host
//! let mut router = VirtualRouter::new(config, now);
//!
//! let source = Some("192.0.2.1".parse()?);
//! router.handle_input(now, Input::Facts(Facts { link: true, source, eligible: true }));
//! router.handle_input(now, Input::Startup);
//!
//! let mut wire = [0; 1500];
//! while router.state() != State::Active {
//!     while let Some(action) = router.poll_action() {
//!         match action {
//!             Action::SendAdvert(spec) => {
//!                 for destination in router.destinations(&spec) {
//!                     let length = router.encode_advert(&spec, destination, &mut wire)?;
//!                     let _message = &wire[..length]; // send it, with TTL 255
//!                 }
//!             }
//!             Action::InstallAddresses(id) | Action::RemoveAddresses(id) => {
//!                 // Start the work; when the kernel has confirmed it:
//!                 let result = ActionResult::Done;
//!                 router.handle_input(now, Input::ActionDone { id, result });
//!             }
//!             Action::Announce(_) => {} // gratuitous ARP or unsolicited NA
//!             _ => {}
//!         }
//!     }
//!     // Sleep until the deadline or a packet; a packet goes to `handle_packet`.
//!     now = router.poll_timeout().ok_or("a router that may run has a deadline")?;
//!     router.handle_timeout(now);
//! }
//! # assert_eq!(now, Instant::from_nanos(3_609_375_000)); // 3 s + skew(100)
//! # Ok(())
//! # }
//! ```
//!
//! A driver that breaks the rule loses precision, not correctness: undrained actions stay queued
//! in a small fixed queue in which newer address work replaces older. Early, late and repeated
//! timeouts are harmless, and so is any input in any state.
//!
//! [`RouterSet`] has the same verbs for many routers, and sync groups.
//!
//! # Names
//!
//! RFC 9568 words: Active, Backup, advertisement, Active_Down_Interval, Skew_Time. RFC 5798
//! called Active "Master". An advertisement's priority is an `Option<Priority>`: `None` is the
//! wire's 0, a resignation.
//!
//! # Where things are
//!
//! RFC 9568 section 5 is [`wire`], section 7.1 is [`receive`], section 6.1 is [`AdvertInterval`]
//! and section 6.4 is `router/{initialize,backup,active}.rs`.

#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

mod action;
mod addrs;
mod config;
mod event;
#[cfg(feature = "__fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod input;
mod interval;
mod priority;
pub mod receive;
mod router;
mod set;
mod snapshot;
mod stats;
mod time;
pub mod tracking;
mod vrid;
pub mod wire;

pub use action::{Action, ActionId, ActionResult, AdvertSpec, AnnounceRound, Audience};
pub use addrs::{AddrsError, Family, UnicastPeers, VirtualAddrs};
pub use config::{
    AnnounceSchedule, ChecksumMode, Config, ConfigBuilder, ConfigError, ConfigWarning,
    InstallFailure, Mode, Password, Preempt, Profile, Version,
};
pub use event::{Event, Reason};
pub use input::{Facts, Handoff, Input, ResignMode, Successor};
pub use interval::AdvertInterval;
pub use priority::Priority;
pub use router::{GROUP_V4, GROUP_V6, IdentityChanged, State, VirtualRouter};
pub use set::{
    GroupError, GroupId, InsertError, LinkId, ReconfigureError, RouterId, RouterSet, Unclaimed,
};
pub use snapshot::{AddressState, Impediment, Snapshot, Timer};
pub use stats::Stats;
pub use time::Instant;
pub use vrid::Vrid;
