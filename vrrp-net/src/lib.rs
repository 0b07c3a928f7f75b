//! VRRP on Linux.
mod announce;
mod clock;
pub mod config;
mod driver;
mod kernel;
mod netlink;
mod node;
mod poll;
mod preflight;
mod socket;
mod source;

pub use config::{InterfaceName, Label, NodeConfig, RouterConfig, RouterName, Vip};
pub use netlink::Mac;
pub use node::{
    EventKind, Events, EventsError, Node, NodeBuilder, NodeEvent, NodeStatus, Notice,
    ReconfigureError, ResignMode, Resigned, RouterStatus, StartError,
};
pub use preflight::Problem;
