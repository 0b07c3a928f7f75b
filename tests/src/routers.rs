//! Routers: the configuration of one, the daemon, and a node in this process.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use lab::Host;
use lab::peers::{Instance, Keepalived};
use vrrp_net::{Node, NodeConfig};

use crate::segment::Family;

/// A virtual router, as `vipd` and keepalived are told of it.
#[derive(Clone, Debug)]
pub struct Router {
    /// Default `r`.
    pub name: String,
    /// Default `eth0`.
    pub interface: String,
    /// Default 51.
    pub vrid: u8,
    /// As given.
    pub priority: u8,
    /// Default 200 ms.
    pub interval: Duration,
    /// Default: the family's VIP; for IPv6 after a link-local one, as RFC 9568 5.2.9 asks.
    pub vips: Vec<String>,
    /// Further lines of TOML.
    pub more: String,
}

impl Router {
    /// A router of this priority for the VIP of this family.
    pub fn new(priority: u8, family: Family) -> Self {
        let vip = family.vip().to_string();
        Self {
            name: "r".into(),
            interface: "eth0".into(),
            vrid: 51,
            priority,
            interval: Duration::from_millis(200),
            vips: match family {
                Family::V4 => vec![vip],
                Family::V6 => vec!["fe80::50".into(), vip],
            },
            more: String::new(),
        }
    }

    /// As a `[[router]]` of `vipd`.
    pub fn toml(&self) -> String {
        let Self { name, interface, vrid, priority, interval, vips, more } = self;
        let interval = interval.as_millis();
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "[[router]]\nname = \"{name}\"\ninterface = \"{interface}\"\nvrid = {vrid}\n\
             priority = {priority}\nadvert_interval = \"{interval}ms\"\naddresses = {vips:?}\n{more}"
        );
        text
    }

    /// As a keepalived.
    pub fn keepalived(&self) -> Keepalived {
        let host_length = |vip: &String| match vip.contains(':') {
            _ if vip.contains('/') => vip.clone(),
            true => format!("{vip}/128"),
            false => format!("{vip}/32"),
        };
        Keepalived::new([Instance {
            vrid: self.vrid,
            priority: self.priority,
            interval: self.interval,
            interface: self.interface.clone(),
            vips: self.vips.iter().map(host_length).collect(),
            ..Instance::default()
        }])
    }

    /// Active_Down_Interval (RFC 9568 section 6.1), computed here once more.
    pub fn active_down(&self) -> Duration {
        3 * self.interval + self.interval * (256 - u32::from(self.priority)) / 256
    }
}

/// A configuration from TOML.
pub fn parse(toml: &str) -> NodeConfig {
    vipd::config::parse(toml).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{toml}"))
}

/// A node in this process that runs on a host.
pub fn node(host: &Host, config: &NodeConfig) -> Node {
    host.run(|| Node::builder().config(config).start()).unwrap().unwrap()
}

/// `vipd` with nothing but these capabilities, such as `+net_admin,+net_raw`; `+` alone is none.
pub fn restricted(vipd: impl AsRef<Path>, capabilities: &str) -> Command {
    let mut command = Command::new("setpriv");
    // Root's capabilities after exec are those of the bounding set.
    let set = format!("-all{}{capabilities}", if capabilities.is_empty() { "" } else { "," });
    command.args(["--bounding-set", &set, "--inh-caps=-all", "--no-new-privs", "--"]);
    command.arg(vipd.as_ref()).args(["--config", "/run/vipd.toml"]);
    command
}
