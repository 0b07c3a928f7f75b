//! VRRP on Linux: sockets, netlink, announcements, timers and the safety layers around `vrrp-core`.
#![deny(missing_docs)]

pub mod config;

pub use config::{ConfigError, ConfigErrors, NodeConfig, RouterConfig};
