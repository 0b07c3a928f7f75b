//! What is missing before anything is changed, in one sentence each.

use std::io;
use std::net::IpAddr;
use std::path::Path;

use vrrp_core::Family;

use crate::config::{InterfaceName, RouterConfig, RouterName};
use crate::kernel::TAG;
use crate::netlink::Requests;

/// One thing that keeps a node from starting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The process may not do what a VRRP router must do.
    #[error(
        "the capability {name} is missing: run as root, or grant CAP_NET_ADMIN and CAP_NET_RAW"
    )]
    Capability {
        /// Its name.
        name: &'static str,
    },
    /// The interface does not exist. One that vanishes later is waited for.
    #[error("router \"{router}\": there is no interface {interface}")]
    NoInterface {
        /// The router.
        router: RouterName,
        /// The interface.
        interface: InterfaceName,
    },
    /// IPv6 is switched off where it is needed.
    #[error(
        "router \"{router}\": IPv6 is disabled on {interface}; set \
         net.ipv6.conf.{interface}.disable_ipv6 to 0"
    )]
    Ipv6Disabled {
        /// The router.
        router: RouterName,
        /// The interface.
        interface: InterfaceName,
    },
    /// A VIP is a permanent address of this host already, and nobody said that it may be ours.
    #[error(
        "router \"{router}\": {address} is an address of {interface} already and was not put there \
         by VRRP; remove it, or set priority 255 if this host owns it"
    )]
    AddressInUse {
        /// The router.
        router: RouterName,
        /// The interface.
        interface: InterfaceName,
        /// The address.
        address: IpAddr,
    },
}

/// Looks for everything that is missing. Changes nothing.
///
/// # Errors
/// The host could not be asked.
pub(crate) fn check(routers: &[RouterConfig]) -> io::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    if routers.is_empty() {
        return Ok(problems);
    }
    let effective = effective_capabilities()?;
    for (bit, name) in [(12, "CAP_NET_ADMIN"), (13, "CAP_NET_RAW")] {
        if effective & (1 << bit) == 0 {
            problems.push(Problem::Capability { name });
        }
    }
    let mut netlink = Requests::open()?;
    let links = netlink.links().map_err(io::Error::other)?;
    let addresses = netlink.addresses().map_err(io::Error::other)?;
    for config in routers {
        let (router, interface) = (config.name(), config.interface());
        let Some(link) = links.iter().find(|link| link.name == interface.as_str()) else {
            let (router, interface) = (router.clone(), interface.clone());
            problems.push(Problem::NoInterface { router, interface });
            continue;
        };
        if config.protocol().family() == Family::V6 && ipv6_is_disabled(interface) {
            let (router, interface) = (router.clone(), interface.clone());
            problems.push(Problem::Ipv6Disabled { router, interface });
        }
        if config.protocol().priority().is_owner() {
            continue;
        }
        for vip in config.vips() {
            let found = addresses.iter().find(|a| {
                a.ifindex == link.ifindex && a.ip == vip.address() && a.permanent && a.tag != TAG
            });
            // A host address with the configured label is what a VRRP daemon that was killed
            // leaves behind.
            let left_behind = found.is_some_and(|found| {
                let host = matches!((found.ip, found.prefix), (IpAddr::V4(_), 32));
                let label = config.label().map(crate::config::Label::as_str);
                host && label.is_some() && found.label.as_deref() == label
            });
            if found.is_some() && !left_behind {
                let (router, interface) = (router.clone(), interface.clone());
                let address = vip.address();
                problems.push(Problem::AddressInUse { router, interface, address });
            }
        }
    }
    Ok(problems)
}

fn effective_capabilities() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/thread-self/status")?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .ok_or_else(|| io::Error::other("the kernel does not tell the capabilities"))
}

fn ipv6_is_disabled(interface: &InterfaceName) -> bool {
    let path = Path::new("/proc/sys/net/ipv6/conf").join(interface.as_str()).join("disable_ipv6");
    match std::fs::read_to_string(path) {
        Ok(text) => text.trim() == "1",
        // No such directory for an existing interface: a kernel without IPv6.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
