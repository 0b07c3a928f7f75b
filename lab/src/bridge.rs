//! The segment that hosts share, and what can go wrong on it.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::capture::{Capture, Direction};
use crate::error::Context;
use crate::host::{Host, Mac};
use crate::namespace::{Namespace, sysctl};
use crate::{Error, netlink, process};

/// The name of the bridge device inside the bridge's namespace.
const DEVICE: &str = "br";

/// An Ethernet segment: a Linux bridge without multicast snooping and without
/// spanning tree, in a network namespace of its own.
///
/// Each host has a port with the host's name. The bridge takes no part in the
/// traffic (it has no addresses of its own). Clones are the same bridge.
#[derive(Debug, Clone)]
pub struct Bridge(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    namespace: Namespace,
    faults: Mutex<Vec<Fault>>,
}

/// Frames that the bridge loses, each on its way from one host to another.
///
/// Made by [`between`](Self::between) or [`one_way`](Self::one_way): all frames,
/// always, unless narrowed by [`only`](Self::only) and [`percent`](Self::percent).
#[derive(Debug, Clone)]
#[must_use = "a fault does nothing until it is given to `Bridge::fault`"]
pub struct Fault {
    from: Vec<Host>,
    to: Vec<Host>,
    back: bool,
    traffic: Traffic,
    percent: u8,
}

/// A kind of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Traffic {
    /// Every frame.
    All,
    /// VRRP advertisements of both families, multicast and unicast.
    Vrrp,
    /// ARP and IPv6 neighbour discovery.
    Neighbours,
    /// Everything but VRRP advertisements.
    AllButVrrp,
}

impl Fault {
    /// All frames between two sets of hosts, both ways.
    pub fn between(some: &[&Host], others: &[&Host]) -> Self {
        Self { back: true, ..Self::one_way(some, others) }
    }

    /// All frames from one set of hosts to another, not back.
    pub fn one_way(from: &[&Host], to: &[&Host]) -> Self {
        let owned = |hosts: &[&Host]| hosts.iter().map(|&h| h.clone()).collect();
        Self { from: owned(from), to: owned(to), back: false, traffic: Traffic::All, percent: 100 }
    }

    /// Only this kind of frames.
    pub fn only(self, traffic: Traffic) -> Self {
        Self { traffic, ..self }
    }

    /// Only this share of them, chosen at random for each frame and receiver.
    /// Above 100 is 100.
    pub fn percent(self, percent: u8) -> Self {
        Self { percent: percent.min(100), ..self }
    }
}

impl Bridge {
    pub(crate) fn new(name: &str) -> Result<Self, Error> {
        let namespace = Namespace::new(name, || {
            // The bridge and its ports stay silent on the segment.
            sysctl("ipv6/conf/all/disable_ipv6", "1")?;
            sysctl("ipv6/conf/default/disable_ipv6", "1")?;
            netlink::add_bridge(DEVICE)
        })?;
        let faults = Mutex::default();
        Ok(Self(Arc::new(Inner { name: name.to_owned(), namespace, faults })))
    }

    /// The bridge's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Adds a fault to those that are there.
    ///
    /// Frames are lost inside the bridge, after the sender's port: a
    /// [`capture`](Self::capture) sees them, the receivers do not.
    ///
    /// # Errors
    ///
    /// When a host is not on this bridge, or nftables refuses; then nothing changes.
    pub fn fault(&self, fault: Fault) -> Result<(), Error> {
        let mut faults = self.faults();
        let mut wanted = faults.clone();
        wanted.push(fault);
        self.install(&wanted)?;
        *faults = wanted;
        Ok(())
    }

    /// Cuts two sets of hosts off from each other.
    ///
    /// # Errors
    ///
    /// As [`fault`](Self::fault).
    pub fn partition(&self, some: &[&Host], others: &[&Host]) -> Result<(), Error> {
        self.fault(Fault::between(some, others))
    }

    /// Removes all faults given to [`fault`](Self::fault) and [`partition`](Self::partition).
    ///
    /// # Errors
    ///
    /// When nftables refuses; then nothing changes.
    pub fn heal(&self) -> Result<(), Error> {
        let mut faults = self.faults();
        self.install(&[])?;
        faults.clear();
        Ok(())
    }

    /// Starts to record every frame that a host sends into the bridge.
    ///
    /// The capture sits on the bridge's side of each host's link, before anything the
    /// bridge does: it sees each frame once, with the sending host's port, also frames
    /// that a fault or a disabled port then swallows. It does not see frames of a host
    /// whose link is down (they never leave the host). To know what a host received,
    /// capture there with [`Host::capture`].
    ///
    /// # Errors
    ///
    /// When the kernel refuses the packet socket.
    pub fn capture(&self) -> Result<Capture, Error> {
        self.0
            .namespace
            .run(|| {
                let except = netlink::index(DEVICE)?;
                Capture::start(None, move |index, direction| {
                    index != except && direction == Direction::In
                })
            })?
            .context(|| format!("capture on bridge `{}`", self.0.name))
    }

    /// How to get a shell inside, for a person who looks for a fault.
    pub fn nsenter(&self) -> String {
        nsenter(&self.0.namespace)
    }

    pub(crate) fn plug(
        &self,
        port: &str,
        interface: &str,
        mac: Mac,
        far: &Namespace,
    ) -> Result<(), Error> {
        self.0
            .namespace
            .run(|| netlink::add_veth(port, DEVICE, interface, mac, far.net()))?
            .context(|| format!("link of port `{port}` to bridge `{}`", self.0.name))
    }

    /// Brings the bridge's end of a link up or down.
    pub(crate) fn set_port_up(&self, port: &str, up: bool) -> Result<(), Error> {
        self.0
            .namespace
            .run(|| netlink::set_up(netlink::index(port)?, up))?
            .context(|| format!("port `{port}` of bridge `{}`", self.0.name))
    }

    pub(crate) fn set_port_forwarding(&self, port: &str, forwarding: bool) -> Result<(), Error> {
        self.0
            .namespace
            .run(|| netlink::set_port_forwarding(netlink::index(port)?, forwarding))?
            .context(|| format!("port `{port}` of bridge `{}`", self.0.name))
    }

    /// Waits until a port with a carrier forwards, see [`netlink::settle`].
    pub(crate) fn settle(&self, port: &str) -> Result<(), Error> {
        self.0
            .namespace
            .run(|| netlink::settle(netlink::index(port)?))?
            .context(|| format!("port `{port}` of bridge `{}`", self.0.name))
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn faults(&self) -> MutexGuard<'_, Vec<Fault>> {
        // The list is replaced as a whole, so a panic cannot leave it half done.
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the rules in one transaction.
    fn install(&self, faults: &[Fault]) -> Result<(), Error> {
        let mut rules = String::new();
        for fault in faults {
            for from in &fault.from {
                for to in &fault.to {
                    let (from, to) = (from.port_on(self)?, to.port_on(self)?);
                    fault.rule(&mut rules, &from, &to);
                    if fault.back {
                        fault.rule(&mut rules, &to, &from);
                    }
                }
            }
        }
        let script = format!(
            "table bridge lab {{}}\n\
             delete table bridge lab\n\
             table bridge lab {{ chain faults {{ \
             type filter hook forward priority 0; policy accept;\n{rules}}}\n}}\n"
        );
        process::exec(&self.0.namespace, process::command(["nft", "-f", "-"]), &script).map(drop)
    }
}

impl Fault {
    fn rule(&self, rules: &mut String, from: &str, to: &str) {
        let matches: &[&str] = match self.traffic {
            Traffic::All => &[""],
            Traffic::Vrrp => &["ip protocol 112", "ip6 nexthdr 112"],
            Traffic::Neighbours => &["ether type arp", "icmpv6 type { 135, 136 }"],
            Traffic::AllButVrrp => {
                &["ether type != { ip, ip6 }", "ip protocol != 112", "ip6 nexthdr != 112"]
            }
        };
        // `numgen` draws a number from 0 to 99 for each frame.
        let chance = match self.percent {
            100.. => String::new(),
            percent => format!("numgen random mod 100 < {percent} "),
        };
        for kind in matches {
            // Writing to a string cannot fail.
            let _ = writeln!(rules, "iifname \"{from}\" oifname \"{to}\" {kind} {chance}drop");
        }
    }
}

pub(crate) fn nsenter(namespace: &Namespace) -> String {
    let (net, mnt) = (namespace.net_path(), namespace.mnt_path());
    format!("nsenter --net={} --mount={}", net.display(), mnt.display())
}
