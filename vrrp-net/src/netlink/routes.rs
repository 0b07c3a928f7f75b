//! Asking where packets for an address would go.

use std::net::IpAddr;

use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteType};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{NetlinkError, Requests};

impl Requests {
    /// Whether packets for this address are taken in by this host.
    ///
    /// The kernel confirms a new IPv6 address before it takes packets in for it: the route that
    /// does so is made by deferred work, some ten microseconds later or, on a busy host, some
    /// milliseconds.
    pub(crate) fn is_local(&mut self, ip: IpAddr) -> Result<bool, NetlinkError> {
        let (family, length, address) = match ip {
            IpAddr::V4(v4) => (AddressFamily::Inet, 32, RouteAddress::Inet(v4)),
            IpAddr::V6(v6) => (AddressFamily::Inet6, 128, RouteAddress::Inet6(v6)),
        };
        let mut message = RouteMessage::default();
        message.header.address_family = family;
        message.header.destination_prefix_length = length;
        message.attributes.push(RouteAttribute::Destination(address));
        let answer = self.query(&RouteNetlinkMessage::GetRoute(message))?;
        Ok(matches!(
            answer,
            Some(RouteNetlinkMessage::NewRoute(route)) if route.header.kind == RouteType::Local
        ))
    }
}
