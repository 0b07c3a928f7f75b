//! The addresses of a virtual router and of its unicast peers.

use alloc::sync::Arc;
use core::fmt;
use core::net::IpAddr;
use core::ops::Deref;

/// An address family. A virtual router has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// The family of an address.
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    /// Octets of one address.
    pub const fn address_len(self) -> usize {
        match self {
            Self::V4 => 4,
            Self::V6 => 16,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

/// The virtual addresses (VIPs) of one router: 1–255 distinct usable addresses of one family.
///
/// Order is kept, since it is the order on the wire. Cloning shares the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VirtualAddrs(Arc<[IpAddr]>);

impl VirtualAddrs {
    /// The most addresses that one advertisement can carry (an 8-bit count).
    pub const MAX: usize = 255;

    /// Checks and takes a list of addresses.
    ///
    /// # Errors
    /// Refuses an empty list, more than 255 addresses, mixed families, an address given twice
    /// (compared as addresses: `FD00:0::1` is `fd00::1`), and addresses that no host can own:
    /// unspecified, loopback, multicast, broadcast, IPv4-mapped.
    pub fn new(addresses: &[IpAddr]) -> Result<Self, AddrsError> {
        let family = check_list(addresses, Self::MAX)?;
        for &address in addresses {
            check_usable(address)?;
            if Family::of(address) != family {
                return Err(AddrsError::MixedFamilies { first: addresses[0], other: address });
            }
        }
        Ok(Self(addresses.into()))
    }

    /// The family of all addresses.
    pub fn family(&self) -> Family {
        // Never empty, by construction.
        Family::of(self.0[0])
    }
}

impl Deref for VirtualAddrs {
    type Target = [IpAddr];

    fn deref(&self) -> &[IpAddr] {
        &self.0
    }
}

/// The other routers of a unicast group: 1–255 distinct addresses of one family, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnicastPeers(Arc<[IpAddr]>);

impl UnicastPeers {
    /// The most peers of one router. Not a protocol limit: it keeps one advertisement's copies
    /// within what a host sends in a fraction of the shortest interval.
    pub const MAX: usize = 255;

    /// Checks and takes a list of peers.
    ///
    /// # Errors
    /// As [`VirtualAddrs::new`]. An empty list is refused: a single-node cluster says so with
    /// [`Mode::Solo`](crate::Mode), and nothing ever falls back to multicast.
    pub fn new(peers: &[IpAddr]) -> Result<Self, AddrsError> {
        let family = check_list(peers, Self::MAX)?;
        for &peer in peers {
            check_usable(peer)?;
            if Family::of(peer) != family {
                return Err(AddrsError::MixedFamilies { first: peers[0], other: peer });
            }
        }
        let mut sorted: Arc<[IpAddr]> = peers.into();
        if let Some(list) = Arc::get_mut(&mut sorted) {
            list.sort_unstable();
        }
        Ok(Self(sorted))
    }

    /// The family of all peers.
    pub fn family(&self) -> Family {
        // Never empty, by construction.
        Family::of(self.0[0])
    }
}

impl Deref for UnicastPeers {
    type Target = [IpAddr];

    fn deref(&self) -> &[IpAddr] {
        &self.0
    }
}

fn check_list(list: &[IpAddr], max: usize) -> Result<Family, AddrsError> {
    let Some(&first) = list.first() else {
        return Err(AddrsError::Empty);
    };
    if list.len() > max {
        return Err(AddrsError::TooMany { count: list.len(), max });
    }
    for (index, &address) in list.iter().enumerate() {
        if list[..index].contains(&address) {
            return Err(AddrsError::Duplicate { address });
        }
    }
    Ok(Family::of(first))
}

/// Whether a host can own `address` on an interface.
fn check_usable(address: IpAddr) -> Result<(), AddrsError> {
    let why = match address {
        _ if address.is_unspecified() => "unspecified",
        _ if address.is_loopback() => "a loopback address",
        _ if address.is_multicast() => "a multicast address",
        IpAddr::V4(v4) if v4.is_broadcast() => "the broadcast address",
        // 0.0.0.0/8 and 240.0.0.0/4: the kernel refuses or drops them as a source.
        IpAddr::V4(v4) if v4.octets()[0] == 0 || v4.octets()[0] >= 240 => "a reserved address",
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => "an IPv4-mapped address",
        _ => return Ok(()),
    };
    Err(AddrsError::Unusable { address, why })
}

/// Why a list of addresses was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddrsError {
    /// The list has no address.
    #[error("at least one address is needed")]
    Empty,
    /// The list is longer than the format allows.
    #[error("{count} addresses given, at most {max} are allowed")]
    TooMany {
        /// How many were given.
        count: usize,
        /// How many are allowed.
        max: usize,
    },
    /// The same address stands in the list twice.
    #[error("{address} is listed twice")]
    Duplicate {
        /// The repeated address.
        address: IpAddr,
    },
    /// IPv4 and IPv6 in one list.
    #[error("{first} and {other} are of different families; one router has one family")]
    MixedFamilies {
        /// The first address of the list.
        first: IpAddr,
        /// The first address of the other family.
        other: IpAddr,
    },
    /// No host can own this address.
    #[error("{address} is {why}; a usable unicast address is needed")]
    Unusable {
        /// The address.
        address: IpAddr,
        /// What it is instead.
        why: &'static str,
    },
}
