//! What a receiver requires of an advertisement.

use core::net::IpAddr;

use crate::{AdvertInterval, Password, Version, Vrid};

/// How to validate. Built by a router from its configuration; tests build it field by field.
#[derive(Clone, Copy, Debug)]
pub struct ReceivePolicy<'a> {
    /// The version to accept.
    pub version: Version,
    /// Accept the v2 layout over IPv6, an extension of keepalived's. Default false.
    pub allow_v2_ipv6: bool,
    /// The virtual router identifier to accept.
    pub vrid: Vrid,
    /// The local interval: a v2 advertisement must have it, a v3 one is only remarked upon.
    pub interval: AdvertInterval,
    /// Which destinations belong to this router.
    pub destination: DestinationRule,
    /// The lowest TTL accepted with [`DestinationRule::Unicast`]; multicast always requires 255.
    pub min_ttl: u8,
    /// Which checksums a v3 message over IPv4 may have.
    pub checksum: ChecksumRule,
    /// The v2 authentication to require.
    pub auth: AuthRule,
    /// Accept and cut off octets after the message. Default false: all daemons reject them.
    pub allow_trailing: bool,
    /// Discard a v3/IPv6 multicast message whose first address is not link-local (erratum 8300),
    /// instead of remarking upon it. Unicast routers advertise global addresses: neither there.
    pub require_first_link_local: bool,
    /// Discard an IPv6 multicast message from a source that is not link-local.
    pub require_link_local_source: bool,
    /// The only sources to accept. `None`: any.
    pub sources: Option<&'a [IpAddr]>,
    /// Our own source address: a packet from it is our own, looped back. `None`: not compared.
    pub own_source: Option<IpAddr>,
    /// Whether the local router is the address owner, and what follows from it.
    pub owner: OwnerRule,
    /// The addresses to compare the list with, as a set; they are distinct. `None`: not compared.
    pub addresses: Option<&'a [IpAddr]>,
    /// Discard a v2 message with another address list, unless its sender is the owner (RFC 3768
    /// section 7.1), instead of remarking upon it. v3 never discards for that.
    pub strict_v2_list: bool,
}

/// Which destination addresses belong to a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DestinationRule {
    /// Only the VRRP group.
    Multicast,
    /// Anything but a multicast address (the kernel delivers only what is addressed to the host).
    Unicast,
}

/// Which checksums a v3 message over IPv4 may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumRule {
    /// RFC 9568.
    MessageOnly,
    /// RFC 5798 as keepalived and FRR read it.
    PseudoHeader,
    /// Both, with [`Warning::LegacyPseudoHeaderChecksum`](super::Warning::LegacyPseudoHeaderChecksum) for the
    /// pseudo-header.
    Either,
}

/// The v2 authentication that a receiver requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuthRule {
    /// Type 0: none. The trailer is ignored.
    None,
    /// Type 1: the clear-text password.
    Pass(Password),
}

/// What an address owner does with other routers' advertisements (row 2.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OwnerRule {
    /// Not the owner.
    NotOwner,
    /// Owner: remark and process (erratum 8298).
    Process,
    /// Owner: discard (RFC 9568 as published).
    Discard,
}
