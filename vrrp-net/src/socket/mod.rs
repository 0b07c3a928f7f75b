//! Sockets: one that speaks VRRP, one that speaks Ethernet.

mod ethernet;
mod filter;
mod vrrp;

pub(crate) use ethernet::EthernetSocket;
pub(crate) use vrrp::{Reach, VrrpSocket};

/// The IP protocol number of VRRP (RFC 9568 section 5.1.1.4).
pub(crate) const IPPROTO_VRRP: i32 = 112;
