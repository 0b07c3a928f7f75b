//! Validation of received advertisements (conformance digest section 2, RFC 9568 section 7.1).
//!
//! The checks run in one fixed order and the first that fails names the [`Discard`]. Validation
//! takes a [`ReceivePolicy`], which lies below [`Config`](crate::Config): it can express settings
//! that no valid configuration would choose, so that the golden packets can drive them all.

use core::net::IpAddr;

use crate::wire::{AddressList, ChecksumStyle};
use crate::{AdvertInterval, Family, Instant, Password, Priority, Version, Vrid};

/// What the IP layer knows about a received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RxMeta {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// TTL or hop limit.
    pub ttl: u8,
    /// When the kernel received it, on the clock of `now`. Deadlines are dated from it, which takes
    /// the wake-up out of the detection time. Never taken later than `now`.
    pub received_at: Option<Instant>,
    /// Whether the kernel has verified the checksum (IPv6 with `IPV6_CHECKSUM`).
    pub checksum_verified: bool,
}

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
    /// Discard a v3/IPv6 message whose first address is not link-local (erratum 8300), instead of
    /// remarking upon it.
    pub require_first_link_local: bool,
    /// Discard an IPv6 multicast message from a source that is not link-local.
    pub require_link_local_source: bool,
    /// The only sources to accept. `None`: any.
    pub sources: Option<&'a [IpAddr]>,
    /// Our own source address: a packet from it is our own, looped back. `None`: not compared.
    pub own_source: Option<IpAddr>,
    /// Whether the local router is the address owner, and what follows from it.
    pub owner: OwnerRule,
    /// The addresses to compare the list with, as a set. `None`: not compared.
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
    /// Both, with [`Warning::LegacyChecksum`] for the pseudo-header.
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

/// A valid advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// The version it has.
    pub version: Version,
    /// Its virtual router.
    pub vrid: Vrid,
    /// `None` is priority 0: the sender gives up.
    pub priority: Option<Priority>,
    /// The sender's interval.
    pub interval: AdvertInterval,
    /// The sender's list of addresses.
    pub addresses: AddressList<'a>,
    /// Which checksum it has. `None` where both styles give the same value or where there is
    /// only one (v2, IPv6).
    pub checksum_style: Option<ChecksumStyle>,
    /// What is odd about it.
    pub warnings: Warnings,
}

/// Validates one message: `payload` is what follows the IP header (and only that: the length comes
/// from the IP header, not from the frame).
///
/// # Errors
/// The first check that fails, in the digest's order. Nothing was changed.
pub fn validate<'a>(
    policy: &ReceivePolicy<'_>,
    meta: &RxMeta,
    payload: &'a [u8],
) -> Result<Received<'a>, Discard> {
    let _ = (policy, meta, payload);
    todo!()
}

/// Why a packet was discarded. It changed no timer and no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Discard {
    /// Fewer octets than the header, or than the header says.
    #[error("truncated")]
    Truncated,
}

/// What is odd about a packet that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// A v3 interval that differs from the local one.
    IntervalMismatch,
}

/// A set of [`Warning`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Warnings(u16);

/// What a valid packet led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// What the router did.
    pub outcome: Outcome,
    /// What is odd about the packet.
    pub warnings: Warnings,
}

/// What a router did with a valid advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Heard and not obeyed: a Backup that preempts, or a router in Initialize.
    Ignored,
    /// A Backup follows the sender: its down timer restarted.
    Followed,
    /// The sender resigned.
    Resignation,
    /// An Active yielded to the sender.
    Yielded,
    /// An Active stood its ground.
    Asserted,
}
