//! The kernel's interfaces and addresses, over rtnetlink.
//!
//! Requests are synchronous on a socket of their own, one at a time and each confirmed; the feed of
//! changes is another socket. Both are plain descriptors: the thread that uses them waits on
//! one epoll for everything, and needs no async runtime for it.

mod addresses;
mod links;
mod parse;
mod request;
mod routes;
mod watch;

use std::fmt;
use std::net::IpAddr;

pub(crate) use request::{NetlinkError, Requests};
pub(crate) use watch::{Change, Watch};

/// A hardware address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mac(pub [u8; 6]);

impl From<[u8; 6]> for Mac {
    fn from(octets: [u8; 6]) -> Self {
        Self(octets)
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// An interface as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) ifindex: u32,
    pub(crate) name: String,
    pub(crate) mac: Option<Mac>,
    /// Administratively up and with carrier.
    pub(crate) running: bool,
}

/// An address on an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) ifindex: u32,
    pub(crate) ip: IpAddr,
    pub(crate) prefix: u8,
    pub(crate) label: Option<String>,
    /// The IFA_PROTO tag: who put it there. 0 where nobody said, or on kernels before 5.18.
    pub(crate) tag: u8,
    /// IPv4: not the first of its subnet.
    pub(crate) secondary: bool,
    /// IPv6: its uniqueness is being checked, or was found wanting.
    pub(crate) tentative: bool,
    pub(crate) dad_failed: bool,
    /// Without a limited lifetime.
    pub(crate) permanent: bool,
}

/// What to put on an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewAddress<'a> {
    pub(crate) ifindex: u32,
    pub(crate) ip: IpAddr,
    pub(crate) prefix: u8,
    pub(crate) label: Option<&'a str>,
    pub(crate) tag: u8,
}
