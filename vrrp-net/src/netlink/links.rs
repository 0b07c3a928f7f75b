//! Listing interfaces.

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::LinkMessage;

use super::{Link, NetlinkError, Requests, parse};

impl Requests {
    /// All interfaces of the namespace.
    pub(crate) fn links(&mut self) -> Result<Vec<Link>, NetlinkError> {
        let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
        self.dump("list the interfaces", &request, |message| match message {
            RouteNetlinkMessage::NewLink(message) => parse::link(message),
            _ => None,
        })
    }
}
