//! VRRP on Linux: a node that owns virtual IP addresses and gives them up safely.
//!
//! [`Node`] is the handle: build it from [`RouterConfig`]s, watch its [`events`](Node::events),
//! and [`resign`](Node::resign) before the process ends. The protocol itself is in [`vrrp_core`].
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use vrrp_core::{Config, VirtualAddrs, Vrid};
//! use vrrp_net::{Node, ResignMode, RouterConfig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let vips = VirtualAddrs::new(&["192.0.2.10".parse()?])?;
//! let vrid = Vrid::new(51).ok_or("a VRID is 1 to 255")?;
//! let protocol = Config::builder(vrid, vips).build()?;
//! let router = RouterConfig::builder("api".parse()?, "eth0".parse()?, protocol).build()?;
//!
//! let node = Node::builder().router(router).start()?;
//! let mut events = node.events();
//! println!("{:?}", events.next_blocking()?);
//! println!("{:?}", node.resign_blocking(ResignMode::Hold, Duration::from_secs(3)));
//! # Ok(())
//! # }
//! ```
//!
//! # What a node needs
//!
//! Linux, and exactly the capabilities `CAP_NET_ADMIN` and `CAP_NET_RAW` in the user namespace
//! that owns its network namespace. What else may be missing is said by [`Problem`], before
//! anything is changed.
//!
//! # Where things are
//!
//! `driver/` is the protocol thread and `kernel/` the kernel thread; `socket/`, `netlink/` and
//! `announce.rs` hold every system call about packets and addresses. All `unsafe` of the project
//! is in this crate.

#![deny(missing_docs)]

mod announce;
mod clock;
pub mod config;
mod driver;
mod kernel;
mod netlink;
mod node;
mod poll;
mod preflight;
mod record;
mod socket;
mod source;

pub use config::{
    ConfigError, ConfigErrors, InterfaceName, Label, NodeConfig, OwnerId, RouterConfig, RouterName,
    Vip,
};
pub use netlink::Mac;
pub use node::{
    EventKind, Events, EventsError, Node, NodeBuilder, NodeEvent, NodeStatus, Notice,
    ReconfigureError, ResignMode, Resigned, RouterStatus, StartError,
};
pub use preflight::Problem;
