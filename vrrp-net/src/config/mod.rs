//! What a node is told to be: its virtual routers, each on an interface.
//!
//! A [`NodeConfig`] cannot exist in a combination that cannot run. Build it in code from
//! [`RouterConfig`]s, or read it from a file: every format that serde knows (feature `serde`)
//! deserializes to a `NodeConfig` at once, or to a [`Value`] if all mistakes are wanted with their
//! places ([`NodeConfig::from_value`]). No call here touches the host, so a configuration can be
//! judged anywhere.
//!
//! # Schema
//!
//! ```toml
//! [[router]]
//! name = "api"                 # unique; how logs, status and commands refer to the router
//! interface = "eth0"           # may come and go
//! vrid = 51                    # 1 to 255
//! addresses = ["192.0.2.10"]   # one family; prefix length /32 or /128 if none is given
//!
//! # All others have defaults, shown here:
//! version = 3                  # 2 or 3; IPv6 is version 3
//! priority = 100               # 1 to 255; 255: the addresses are real ones of the interface
//! advert_interval = "1s"       # "10ms" to "40.95s" (v3), whole seconds to "255s" (v2)
//! preempt = true               # take over from a living router of lower priority
//! preempt_delay = "0s"         # ... after having heard it for this long; up to "24h"
//! checksum = "auto"            # auto | message-only | pseudo-header (v3 over IPv4)
//! # unicast = { source = "192.0.2.1", peers = ["192.0.2.2"] }   # absent: multicast
//! # unicast = { solo = true }                                   # there is no other router
//! # auth = { pass = "secret" }                                  # v2 only; 8 bytes are used
//! # label = "vip"                                               # IPv4 only
//! ```
//!
//! A node without routers is legal and idle.

mod conflicts;
mod duration;
mod error;
mod names;
mod read;
mod router;
mod schema;
mod value;
mod vip;

use std::sync::Arc;

use vrrp_core::ConfigWarning;

use conflicts::{Outline, conflicts};

pub use error::{ConfigError, ConfigErrors, Path, Problem, Segment};
pub use names::{InterfaceName, Label, NameError, OwnerId, RouterName};
pub use router::{RouterBuilder, RouterConfig};
pub use value::Value;
pub use vip::{Vip, VipError};

/// The settings of a node: any number of routers that can live beside each other. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeConfig {
    routers: Arc<[RouterConfig]>,
}

impl NodeConfig {
    /// Takes routers that can live beside each other.
    ///
    /// # Errors
    /// Refuses two routers of one name; an address on two routers (a link-local one: on two
    /// routers of one interface); two routers of one VRID and family on one interface, unless both
    /// are unicast with no peer in common; and a peer or source that is another router's VIP.
    /// All conflicts are reported.
    pub fn new(routers: Vec<RouterConfig>) -> Result<Self, ConfigErrors> {
        let outlines: Vec<_> = routers.iter().map(Outline::of).collect();
        let mut errors = conflicts(&outlines);
        for error in &mut errors {
            error.router = error.path.split_router().map(|(i, _)| routers[i].name().clone());
        }
        ConfigErrors::or(errors, Some(Self { routers: routers.into() }))
    }

    /// Reads the schema of the [module documentation](self).
    ///
    /// # Errors
    /// All that is wrong, in the order of the routers, each with its path.
    pub fn from_value(value: &Value) -> Result<Self, ConfigErrors> {
        read::node(value)
    }

    /// The routers, in the order given.
    pub fn routers(&self) -> &[RouterConfig] {
        &self.routers
    }

    /// The router of that name.
    pub fn router(&self, name: &str) -> Option<&RouterConfig> {
        self.routers.iter().find(|router| router.name().as_str() == name)
    }

    /// What is legal but probably not meant.
    pub fn warnings(&self) -> impl Iterator<Item = (&RouterName, ConfigWarning)> {
        self.routers.iter().flat_map(|r| r.protocol().warnings().map(move |w| (r.name(), w)))
    }
}

#[cfg(test)]
mod tests;
