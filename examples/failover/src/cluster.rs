//! Three routers, a client, and the wire between them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use anyhow::bail;
use lab::peers::{Frr, FrrRouter, Instance, Keepalived, Vipd};
use lab::{Bridge, Capture, Echo, Host, Lab, Process};

use crate::timeline::Family;
use crate::{Peer, ROLE};

/// A quarter of a second: fast enough for a demonstration under a minute, slow enough to watch.
pub(crate) const INTERVAL: Duration = Duration::from_millis(250);
pub(crate) const VRID: u8 = 51;
const PRIORITIES: [u8; 3] = [200, 150, 100];

/// The virtual addresses, one per family.
pub(crate) const VIPS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 50)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 0x50)),
];

/// The network and what runs on it.
pub(crate) struct Cluster {
    bridge: Bridge,
    nodes: Vec<Node>,
    client: Host,
    capture: Capture,
    peer: Option<Peer>,
}

/// One router.
pub(crate) struct Node {
    pub(crate) host: Host,
    software: Software,
    running: Option<Running>,
    _echo: Echo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Software {
    Ours,
    Keepalived,
    Frr,
}

/// A started router, whichever it is.
enum Running {
    Daemon(Process),
    Frr(Frr),
}

impl Cluster {
    pub(crate) fn new(peer: Option<Peer>) -> anyhow::Result<Self> {
        let lab = Lab::new()?;
        let bridge = lab.bridge("lan")?;
        let mut nodes = Vec::new();
        for index in 1..=3_u8 {
            let (v4, v6) = (format!("10.0.0.{index}/24"), format!("fd00::{index}/64"));
            let host = lab.host(&format!("node{index}"), &bridge, &[&v4, &v6])?;
            let software = match peer {
                Some(Peer::Keepalived) if index == 2 => Software::Keepalived,
                Some(Peer::Frr) if index == 2 => Software::Frr,
                _ => Software::Ours,
            };
            let echo = host.echo()?;
            nodes.push(Node { host, software, running: None, _echo: echo });
        }
        let client = lab.host("client", &bridge, &["10.0.0.100/24", "fd00::100/64"])?;
        let capture = bridge.capture()?;
        Ok(Self { bridge, nodes, client, capture, peer })
    }

    pub(crate) fn node_names(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.host.name().to_owned()).collect()
    }

    pub(crate) fn describe(&self) -> String {
        let second = match self.peer {
            None => "ours",
            Some(Peer::Keepalived) => "keepalived",
            Some(Peer::Frr) => "FRR vrrpd",
        };
        format!(
            "node1 (priority 200, ours), node2 (150, {second}), node3 (100, ours), advertising \
             every {} ms; drawn from captured packets",
            INTERVAL.as_millis()
        )
    }

    pub(crate) fn node(&self, index: usize) -> &Host {
        &self.nodes[index].host
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Host> {
        self.nodes.iter().map(|node| &node.host)
    }

    pub(crate) fn client(&self) -> &Host {
        &self.client
    }

    pub(crate) fn bridge(&self) -> &Bridge {
        &self.bridge
    }

    pub(crate) fn capture(&self) -> &Capture {
        &self.capture
    }

    /// The nodes whose kernel has the VIP of a family.
    pub(crate) fn owners(&self, family: Family) -> anyhow::Result<Vec<String>> {
        let mut owners = Vec::new();
        for (index, host) in self.nodes().enumerate() {
            if self.has_vip(index, family)? {
                owners.push(host.name().to_owned());
            }
        }
        Ok(owners)
    }

    /// Whether a node's kernel answers for the VIP of a family. FRR keeps its VIPs on interfaces
    /// of their own for ever; there the interface's carrier tells.
    pub(crate) fn has_vip(&self, index: usize, family: Family) -> anyhow::Result<bool> {
        let node = &self.nodes[index];
        Ok(match &node.running {
            Some(Running::Frr(frr)) => frr.is_active(VRID, family == Family::V6)?,
            _ => node.host.has(VIPS[family as usize])?,
        })
    }

    /// Starts a router; one that ran before is gone.
    pub(crate) fn start(&mut self, index: usize) -> anyhow::Result<()> {
        let priority = PRIORITIES[index];
        let node = &mut self.nodes[index];
        node.running = None;
        node.running = Some(match node.software {
            Software::Ours => Running::Daemon(start_ours(&node.host, priority)?),
            Software::Keepalived => Running::Daemon(start_keepalived(&node.host, priority)?),
            Software::Frr => Running::Frr(start_frr(&node.host, priority)?),
        });
        Ok(())
    }

    pub(crate) fn process(&self, index: usize) -> anyhow::Result<&Process> {
        match &self.nodes[index].running {
            Some(Running::Daemon(process)) => Ok(process),
            Some(Running::Frr(frr)) => Ok(&frr.vrrpd),
            None => bail!("node{} does not run", index + 1),
        }
    }
}

fn start_ours(host: &Host, priority: u8) -> anyhow::Result<Process> {
    let millis = INTERVAL.as_millis();
    let routers: String = VIPS
        .iter()
        .map(|vip| {
            let family = if vip.is_ipv4() { "v4" } else { "v6" };
            format!(
                "[[router]]\nname = \"vip-{family}\"\ninterface = \"eth0\"\nvrid = {VRID}\n\
                 priority = {priority}\nadvert_interval = \"{millis}ms\"\n\
                 addresses = [\"{vip}\"]\n\n"
            )
        })
        .collect();
    Ok(Vipd::this_program(ROLE)?.start(host, &routers)?)
}

fn start_keepalived(host: &Host, priority: u8) -> anyhow::Result<Process> {
    Keepalived::available()?;
    let instance = |vip: &IpAddr| Instance {
        vrid: VRID,
        priority,
        interval: INTERVAL,
        vips: vec![vip.to_string()],
        ..Instance::default()
    };
    Ok(Keepalived::new(VIPS.iter().map(instance)).start(host)?)
}

fn start_frr(host: &Host, priority: u8) -> anyhow::Result<Frr> {
    Frr::available()?;
    // vrrpd takes multiples of 10 ms.
    let interval = INTERVAL;
    let vips = VIPS.iter().map(|vip| format!("{vip}/{}", if vip.is_ipv4() { 32 } else { 128 }));
    let router =
        FrrRouter { vrid: VRID, priority, interval, vips: vips.collect(), ..FrrRouter::default() };
    Ok(Frr::start(host, &[router])?)
}
