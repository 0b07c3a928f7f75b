//! From netlink messages to the values of this module.

use std::net::IpAddr;

use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};

use super::{Address, Link, Mac};

pub(super) fn link(message: &LinkMessage) -> Option<Link> {
    let mut name = None;
    let mut mac = None;
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::IfName(value) => name = Some(value.clone()),
            LinkAttribute::Address(octets) => {
                mac = <[u8; 6]>::try_from(octets.as_slice()).ok().map(Mac);
            }
            _ => {}
        }
    }
    let needed = LinkFlags::Up | LinkFlags::LowerUp;
    let running = message.header.flags.contains(needed);
    Some(Link { ifindex: message.header.index, name: name?, mac, running })
}

pub(super) fn address(message: &AddressMessage) -> Option<Address> {
    let mut flags = AddressFlags::from_bits_retain(message.header.flags.bits().into());
    let (mut local, mut any) = (None::<IpAddr>, None::<IpAddr>);
    let (mut label, mut tag) = (None, 0);
    for attribute in &message.attributes {
        match attribute {
            AddressAttribute::Local(ip) => local = Some(*ip),
            AddressAttribute::Address(ip) => any = Some(*ip),
            AddressAttribute::Label(text) => label = Some(text.clone()),
            AddressAttribute::Flags(more) => flags = *more,
            AddressAttribute::Protocol(protocol) => tag = u8::from(*protocol),
            _ => {}
        }
    }
    Some(Address {
        ifindex: message.header.index,
        // On a point-to-point link `Address` is the far end.
        ip: local.or(any)?,
        prefix: message.header.prefix_len,
        label,
        tag,
        secondary: flags.contains(AddressFlags::Secondary),
        tentative: flags.contains(AddressFlags::Tentative),
        dad_failed: flags.contains(AddressFlags::Dadfailed),
        permanent: flags.contains(AddressFlags::Permanent),
    })
}
