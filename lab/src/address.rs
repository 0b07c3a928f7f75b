use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressMessage, AddressProtocol,
};

use crate::Error;

/// An address with its prefix length, as in `10.0.0.1/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cidr {
    /// The address.
    pub ip: IpAddr,
    /// The prefix length in bits.
    pub prefix: u8,
}

impl FromStr for Cidr {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Address(text.to_owned());
        let (ip, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let ip: IpAddr = ip.parse().map_err(|_| wrong())?;
        let prefix: u8 = prefix.parse().map_err(|_| wrong())?;
        let longest = if ip.is_ipv4() { 32 } else { 128 };
        if prefix > longest { Err(wrong()) } else { Ok(Self { ip, prefix }) }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix)
    }
}

/// An address as the kernel lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// The prefix length in bits.
    pub prefix: u8,
    /// The index of the interface it is on.
    pub interface: u32,
    /// The label (IPv4 only); the interface's name unless set otherwise.
    pub label: Option<String>,
    /// Duplicate address detection is still running: the address does not work yet.
    pub tentative: bool,
    /// Duplicate address detection found another owner: the address does not work.
    pub dad_failed: bool,
    /// Not to be chosen as a source address.
    pub deprecated: bool,
    /// Neither learned nor with a limited lifetime.
    pub permanent: bool,
    /// Not the first of its subnet on this interface (IPv4).
    pub secondary: bool,
    /// Added without duplicate address detection.
    pub nodad: bool,
    /// Added without a route to its prefix.
    pub noprefixroute: bool,
    /// Who says that it added the address (IFA_PROTO), 0 when nobody says.
    pub proto: u8,
    /// How long it stays valid; `None` is forever.
    pub valid: Option<Duration>,
    /// How long it stays preferred; `None` is forever.
    pub preferred: Option<Duration>,
}

impl Address {
    /// The address with its prefix length.
    pub fn cidr(&self) -> Cidr {
        Cidr { ip: self.ip, prefix: self.prefix }
    }

    pub(crate) fn from_message(message: &AddressMessage) -> Option<Self> {
        let mut local = None;
        let mut address = None;
        let mut label = None;
        let mut proto = 0;
        let mut lifetimes = (u32::MAX, u32::MAX);
        // The header holds the low 8 flags, the attribute all 32.
        let mut flags = AddressFlags::from_bits_retain(message.header.flags.bits().into());
        for attribute in &message.attributes {
            match attribute {
                AddressAttribute::Local(ip) => local = Some(*ip),
                AddressAttribute::Address(ip) => address = Some(*ip),
                AddressAttribute::Label(text) => label = Some(text.clone()),
                AddressAttribute::Flags(all) => flags = *all,
                AddressAttribute::Protocol(p) => proto = protocol(*p),
                AddressAttribute::CacheInfo(c) => lifetimes = (c.ifa_valid, c.ifa_preferred),
                _ => {}
            }
        }
        let lifetime = |s: u32| (s != u32::MAX).then(|| Duration::from_secs(s.into()));
        Some(Self {
            ip: local.or(address)?,
            prefix: message.header.prefix_len,
            interface: message.header.index,
            label,
            tentative: flags.contains(AddressFlags::Tentative),
            dad_failed: flags.contains(AddressFlags::Dadfailed),
            deprecated: flags.contains(AddressFlags::Deprecated),
            permanent: flags.contains(AddressFlags::Permanent),
            secondary: flags.contains(AddressFlags::Secondary),
            nodad: flags.contains(AddressFlags::Nodad),
            noprefixroute: flags.contains(AddressFlags::Noprefixroute),
            proto,
            valid: lifetime(lifetimes.0),
            preferred: lifetime(lifetimes.1),
        })
    }
}

fn protocol(protocol: AddressProtocol) -> u8 {
    protocol.into()
}
