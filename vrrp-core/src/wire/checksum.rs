//! The Internet checksum (RFC 1071) over a message, with or without a pseudo-header.

use core::net::IpAddr;

/// What a v3 checksum over IPv4 covers. See [`ChecksumMode`](crate::ChecksumMode).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumStyle {
    /// The message alone.
    MessageOnly,
    /// A pseudo-header and the message.
    PseudoHeader,
}

/// The addresses of the IP header, from which a pseudo-header is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PseudoHeader {
    /// Source address, of the same family as `destination`.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
}
