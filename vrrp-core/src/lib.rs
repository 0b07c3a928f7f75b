//! The VRRP protocol without I/O: bytes and times in, ordered actions out.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

mod action;
mod addrs;
mod config;
mod event;
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
pub use set::{GroupId, InsertError, LinkId, ReconfigureError, RouterId, RouterSet};
pub use snapshot::{AddressState, Impediment, Snapshot, Timer};
pub use stats::Stats;
pub use time::Instant;
pub use vrid::Vrid;
