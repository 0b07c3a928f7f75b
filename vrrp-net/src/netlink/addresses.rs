//! Adding, deleting and listing addresses.

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeader, AddressMessage, AddressProtocol, CacheInfo,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{Address, NetlinkError, NewAddress, Requests, parse};

/// A lifetime that never ends.
const FOREVER: u32 = u32::MAX;

impl Requests {
    /// Puts an address on an interface. One that is there already is brought up to date with
    /// `replace`, and left alone without. Returns whether anything was done.
    ///
    /// No route comes with it (`noprefixroute`), and for IPv6 no duplicate address detection: a
    /// VIP moves, and its last owner may still have it. An IPv6 VIP is deprecated from the start,
    /// so that the host never chooses it as a source.
    pub(crate) fn add_address(
        &mut self,
        new: &NewAddress<'_>,
        replace: bool,
    ) -> Result<bool, NetlinkError> {
        let mut flags = AddressFlags::Noprefixroute;
        let mut attributes = vec![
            AddressAttribute::Local(new.ip),
            AddressAttribute::Address(new.ip),
            AddressAttribute::Protocol(AddressProtocol::from(new.tag)),
        ];
        if new.ip.is_ipv6() {
            flags |= AddressFlags::Nodad;
            let mut lifetime = CacheInfo::default();
            lifetime.ifa_valid = FOREVER;
            lifetime.ifa_preferred = 0;
            attributes.push(AddressAttribute::CacheInfo(lifetime));
        }
        attributes.push(AddressAttribute::Flags(flags));
        if let Some(label) = new.label {
            attributes.push(AddressAttribute::Label(label.to_owned()));
        }
        let message = address_message(new.ifindex, new.ip, new.prefix, attributes);
        let how = NLM_F_CREATE | if replace { NLM_F_REPLACE } else { NLM_F_EXCL };
        match self.change("add the address", RouteNetlinkMessage::NewAddress(message), how) {
            Ok(()) => Ok(true),
            Err(error) if error.errno() == Some(libc::EEXIST) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes an address off an interface. One that is not there, or whose interface is gone, is
    /// success. Returns whether it was there.
    pub(crate) fn delete_address(
        &mut self,
        ifindex: u32,
        ip: IpAddr,
        prefix: u8,
    ) -> Result<bool, NetlinkError> {
        let local = vec![AddressAttribute::Local(ip)];
        let message = address_message(ifindex, ip, prefix, local);
        let request = RouteNetlinkMessage::DelAddress(message);
        match self.change("remove the address", request, 0) {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.errno(), Some(libc::EADDRNOTAVAIL | libc::ENODEV)) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// All addresses of the namespace. A list that could not be taken whole is an error, never
    /// a shorter list.
    pub(crate) fn addresses(&mut self) -> Result<Vec<Address>, NetlinkError> {
        let request = RouteNetlinkMessage::GetAddress(AddressMessage::default());
        self.dump("list the addresses", &request, |message| match message {
            RouteNetlinkMessage::NewAddress(message) => parse::address(message),
            _ => None,
        })
    }
}

fn address_message(
    ifindex: u32,
    ip: IpAddr,
    prefix: u8,
    attributes: Vec<AddressAttribute>,
) -> AddressMessage {
    let family = match ip {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    };
    let mut message = AddressMessage::default();
    message.header =
        AddressHeader { family, prefix_len: prefix, index: ifindex, ..Default::default() };
    message.attributes = attributes;
    message
}
