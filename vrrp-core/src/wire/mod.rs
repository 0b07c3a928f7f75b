//! The advertisement on the wire, v2 and v3.
//!
//! Routers in this crate do this for themselves; the module is public for tools that read or
//! write advertisements without being a router (a dump, a test, a guard that resigns for a dead
//! process).
//!
//! ```text
//!  v3, RFC 9568 section 5.2               v2, RFC 3768 section 5.3
//!  0               1                2                3
//! +-------+-------+----------------+----------------+----------------+
//! |Version| Type  | VRID           | Priority       | Address count  |  v2 and v3
//! +-------+-------+----------------+----------------+----------------+
//! |Reserve| Max Advertise Interval | Checksum                        |  v3, centiseconds
//! | Auth Type     | Adver Int      | Checksum                        |  v2, seconds
//! +---------------+----------------+---------------------------------+
//! | Addresses: 4 octets each over IPv4, 16 over IPv6                 |
//! +------------------------------------------------------------------+
//! | Authentication Data: 8 octets, always there                      |  v2 over IPv4
//! +------------------------------------------------------------------+
//! ```
//!
//! Two types to read, one to write. [`AdvertHeader`] is the eight octets that every message has;
//! [`AdvertPacket`] is a whole message. Both are views whose length was checked when they were
//! made, so that no accessor can panic, and neither judges a value: that is
//! [`receive::validate`](crate::receive::validate). [`AdvertRepr`] is the value to emit. Nothing
//! here allocates.

mod addresses;
mod advert;
mod checksum;
mod packet;

pub use addresses::{AddressIter, AddressList};
pub use advert::{AdvertRepr, BufferTooSmall};
pub use checksum::{ChecksumStyle, PseudoHeader};
pub use packet::{AdvertHeader, AdvertPacket};

pub(crate) use checksum::Sum;

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Family;

/// The IP protocol number, and IPv6 next header, of VRRP.
pub const PROTOCOL: u8 = 112;

/// The TTL or hop limit with which every advertisement is sent (RFC 9568 sections 5.1.1.3 and
/// 5.1.2.3). A multicast receiver takes nothing else, so no advertisement crosses a router.
pub const TTL: u8 = 255;

/// The group to which advertisements of a family go: 224.0.0.18 or ff02::12.
pub const fn group(family: Family) -> IpAddr {
    match family {
        Family::V4 => IpAddr::V4(Ipv4Addr::new(224, 0, 0, 18)),
        Family::V6 => IpAddr::V6(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x12)),
    }
}

/// What every message begins with.
pub(crate) const HEADER_LEN: usize = 8;
const AUTH_LEN: usize = 8;

/// The only message type there is.
pub(crate) const TYPE_ADVERTISEMENT: u8 = 1;

pub(crate) const AUTH_NONE: u8 = 0;
pub(crate) const AUTH_PASS: u8 = 1;
/// The highest that was ever assigned (2, the IP authentication header of RFC 2338).
pub(crate) const AUTH_MAX: u8 = 2;

/// The octets of the authentication trailer. v2 over IPv6, which is an extension of keepalived's
/// and no RFC's, has none.
const fn trailer_len(version: u8, family: Family) -> usize {
    match (version, family) {
        (2, Family::V4) => AUTH_LEN,
        _ => 0,
    }
}
