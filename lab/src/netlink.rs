//! The few route netlink requests that the lab needs, in the calling thread's
//! network namespace, blocking.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST,
    NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    BridgePortState, BridgeStpState, InfoBridge, InfoBridgePort, InfoData, InfoKind, InfoMacVlan,
    InfoPortData, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, MacVlanMode, State,
};
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::net::if_::if_nametoindex;

use crate::address::{Address, Cidr};
use crate::host::Mac;
use crate::wait::within;

/// From linux/if_link.h: an attribute of a port that its bridge understands.
const IFLA_PROTINFO: u16 = 12;

/// The index of an interface.
pub(crate) fn index(name: &str) -> io::Result<u32> {
    Ok(if_nametoindex(name)?)
}

/// Makes a bridge without multicast snooping and brings it up.
pub(crate) fn add_bridge(name: &str) -> io::Result<()> {
    let mut message = named(name);
    message.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Bridge),
        LinkInfo::Data(InfoData::Bridge(vec![
            InfoBridge::MulticastSnooping(false),
            InfoBridge::StpState(BridgeStpState::Disabled),
        ])),
    ]));
    create(RouteNetlinkMessage::NewLink(message))?;
    set_up(index(name)?, true)
}

/// Makes a pair: `port` here, under `bridge`, and `peer` in another namespace.
pub(crate) fn add_veth(
    port: &str,
    bridge: &str,
    peer: &str,
    peer_mac: Mac,
    peer_net: &File,
) -> io::Result<()> {
    let mut far = named(peer);
    far.attributes.push(LinkAttribute::NetNsFd(peer_net.as_raw_fd()));
    far.attributes.push(LinkAttribute::Address(peer_mac.0.to_vec()));
    let mut message = named(port);
    message.attributes.push(LinkAttribute::Controller(index(bridge)?));
    message.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(far))),
    ]));
    create(RouteNetlinkMessage::NewLink(message))?;
    set_up(index(port)?, true)
}

/// Makes a macvlan in bridge mode, still down.
pub(crate) fn add_macvlan(name: &str, parent: u32, mac: Mac) -> io::Result<()> {
    let mut message = named(name);
    message.attributes.push(LinkAttribute::Link(parent));
    message.attributes.push(LinkAttribute::Address(mac.0.to_vec()));
    message.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::MacVlan),
        LinkInfo::Data(InfoData::MacVlan(vec![InfoMacVlan::Mode(MacVlanMode::Bridge)])),
    ]));
    create(RouteNetlinkMessage::NewLink(message))
}

pub(crate) fn delete_link(index: u32) -> io::Result<()> {
    acknowledged(RouteNetlinkMessage::DelLink(indexed(index)), 0)
}

pub(crate) fn set_up(index: u32, up: bool) -> io::Result<()> {
    let mut message = indexed(index);
    message.header.change_mask = LinkFlags::Up;
    message.header.flags = if up { LinkFlags::Up } else { LinkFlags::empty() };
    acknowledged(RouteNetlinkMessage::SetLink(message), 0)
}

pub(crate) fn set_mac(index: u32, mac: Mac) -> io::Result<()> {
    let mut message = indexed(index);
    message.attributes.push(LinkAttribute::Address(mac.0.to_vec()));
    acknowledged(RouteNetlinkMessage::SetLink(message), 0)
}

/// Puts a bridge port into the state `forwarding` or `disabled`.
pub(crate) fn set_port_forwarding(index: u32, forwarding: bool) -> io::Result<()> {
    let state = if forwarding { BridgePortState::Forwarding } else { BridgePortState::Disabled };
    let mut message = indexed(index);
    // As a request to the bridge: as a change of the link (with slave data) it would come
    // with a notification that makes the bridge forward again at once. The attribute is
    // the short form of IFLA_PROTINFO, a single byte with the state.
    message.header.interface_family = AddressFamily::Bridge;
    let state = DefaultNla::new(IFLA_PROTINFO, vec![u8::from(state)]);
    message.attributes.push(LinkAttribute::Other(state));
    acknowledged(RouteNetlinkMessage::SetLink(message), 0)
}

/// Waits until an interface that has a carrier works, and a bridge's port forwards.
///
/// The kernel tells of a new carrier up to a second late. Until then it drops what the
/// interface should send, the port passes nothing, and the news would undo a change of
/// the port's state that came before.
pub(crate) fn settle(index: u32) -> io::Result<()> {
    let mut answer = Ok(false);
    // A port that somebody disabled stays so: not waiting for ever is all there is to do.
    let _ = within(Duration::from_secs(2), "the port forwards", || {
        answer = link_message(index).map(|port| is_settled(&port));
        !matches!(answer, Ok(false))
    });
    answer.map(drop)
}

fn is_settled(link: &LinkMessage) -> bool {
    let has = |attribute| link.attributes.contains(&attribute);
    let has_carrier = link.header.flags.contains(LinkFlags::Up) && has(LinkAttribute::Carrier(1));
    let port_state = link.attributes.iter().find_map(|attribute| {
        let LinkAttribute::LinkInfo(infos) = attribute else { return None };
        infos.iter().find_map(|info| {
            let LinkInfo::PortData(InfoPortData::BridgePort(data)) = info else { return None };
            data.iter().find_map(|d| match d {
                InfoBridgePort::State(state) => Some(*state),
                _ => None,
            })
        })
    });
    let forwards = port_state.is_none_or(|state| state == BridgePortState::Forwarding);
    !has_carrier || (has(LinkAttribute::OperState(State::Up)) && forwards)
}

/// The MAC address of an interface and whether it can pass frames (IFF_RUNNING).
pub(crate) fn link(index: u32) -> io::Result<(Option<Mac>, bool)> {
    let message = link_message(index)?;
    let mac = message.attributes.iter().find_map(|a| match a {
        LinkAttribute::Address(bytes) => Mac::from_slice(bytes),
        _ => None,
    });
    Ok((mac, message.header.flags.contains(LinkFlags::Up | LinkFlags::Running)))
}

fn link_message(index: u32) -> io::Result<LinkMessage> {
    let replies = request(RouteNetlinkMessage::GetLink(indexed(index)), NLM_F_ACK)?;
    let found = replies.into_iter().find_map(|reply| match reply {
        RouteNetlinkMessage::NewLink(message) => Some(message),
        _ => None,
    });
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Adds an address, or refreshes it when it is there.
pub(crate) fn add_address(index: u32, address: Cidr) -> io::Result<()> {
    let message = RouteNetlinkMessage::NewAddress(address_message(index, address));
    acknowledged(message, NLM_F_CREATE | NLM_F_REPLACE)
}

pub(crate) fn delete_address(index: u32, address: Cidr) -> io::Result<()> {
    acknowledged(RouteNetlinkMessage::DelAddress(address_message(index, address)), 0)
}

/// All addresses of the interface, or of all interfaces.
pub(crate) fn addresses(index: Option<u32>) -> io::Result<Vec<Address>> {
    let replies = request(RouteNetlinkMessage::GetAddress(AddressMessage::default()), NLM_F_DUMP)?;
    let found = replies.iter().filter_map(|reply| match reply {
        RouteNetlinkMessage::NewAddress(m) if index.is_none_or(|i| i == m.header.index) => {
            Address::from_message(m)
        }
        _ => None,
    });
    Ok(found.collect())
}

/// The link-layer address that the neighbour table has for `ip`.
pub(crate) fn neighbour(ip: IpAddr) -> io::Result<Option<Mac>> {
    let wanted = match ip {
        IpAddr::V4(ip) => NeighbourAddress::Inet(ip),
        IpAddr::V6(ip) => NeighbourAddress::Inet6(ip),
    };
    let mut message = NeighbourMessage::default();
    message.header.family = family(ip);
    let replies = request(RouteNetlinkMessage::GetNeighbour(message), NLM_F_DUMP)?;
    let found = replies.iter().find_map(|reply| {
        let RouteNetlinkMessage::NewNeighbour(m) = reply else {
            return None;
        };
        let is_it = m
            .attributes
            .iter()
            .any(|a| matches!(a, NeighbourAttribute::Destination(d) if *d == wanted));
        let mac = m.attributes.iter().find_map(|a| match a {
            NeighbourAttribute::LinkLayerAddress(bytes) => Mac::from_slice(bytes),
            _ => None,
        });
        mac.filter(|_| is_it)
    });
    Ok(found)
}

/// A default route through `gateway`.
pub(crate) fn add_default_route(gateway: IpAddr) -> io::Result<()> {
    let mut message = RouteMessage::default();
    message.header.address_family = family(gateway);
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    message.attributes.push(RouteAttribute::Gateway(match gateway {
        IpAddr::V4(ip) => RouteAddress::Inet(ip),
        IpAddr::V6(ip) => RouteAddress::Inet6(ip),
    }));
    acknowledged(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_REPLACE)
}

fn named(name: &str) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.attributes.push(LinkAttribute::IfName(name.to_owned()));
    message
}

fn indexed(index: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message
}

fn family(ip: IpAddr) -> AddressFamily {
    if ip.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

fn address_message(index: u32, address: Cidr) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.index = index;
    message.header.family = family(address.ip);
    message.header.prefix_len = address.prefix;
    message.attributes.push(AddressAttribute::Local(address.ip));
    message.attributes.push(AddressAttribute::Address(address.ip));
    message
}

fn create(message: RouteNetlinkMessage) -> io::Result<()> {
    acknowledged(message, NLM_F_CREATE | NLM_F_EXCL)
}

fn acknowledged(message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
    request(message, flags | NLM_F_ACK).map(drop)
}

/// Sends one request and reads until the kernel says that it is done.
fn request(message: RouteNetlinkMessage, flags: u16) -> io::Result<Vec<RouteNetlinkMessage>> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;

    let mut packet = NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::from(message));
    packet.header.flags = NLM_F_REQUEST | flags;
    packet.header.sequence_number = 1;
    packet.finalize();
    let mut buffer = vec![0; packet.buffer_len()];
    packet.serialize(&mut buffer);
    socket.send(&buffer, 0)?;

    let mut replies = Vec::new();
    loop {
        let (datagram, _) = socket.recv_from_full()?;
        let mut rest = datagram.as_slice();
        while !rest.is_empty() {
            let reply = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?;
            // Messages are aligned to four bytes; the length leaves the padding out.
            let length = (reply.header.length as usize).next_multiple_of(4).max(4);
            rest = rest.get(length..).unwrap_or_default();
            match reply.payload {
                NetlinkPayload::Done(_) => return Ok(replies),
                NetlinkPayload::Error(e) if e.code.is_none() => return Ok(replies),
                NetlinkPayload::Error(e) => return Err(e.to_io()),
                NetlinkPayload::InnerMessage(m) => replies.push(m),
                _ => {}
            }
        }
    }
}
