//! What a captured frame says, for those who judge a router by its packets.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pnet_packet::Packet;
use pnet_packet::arp::{ArpOperation, ArpOperations, ArpPacket};
use pnet_packet::ethernet::{EtherTypes, EthernetPacket};
use pnet_packet::icmp::{IcmpPacket, IcmpTypes};
use pnet_packet::icmpv6::ndp::{MutableNeighborAdvertPacket, NeighborAdvertPacket};
use pnet_packet::icmpv6::{Icmpv6Packet, Icmpv6Types};
use pnet_packet::ip::{IpNextHeaderProtocol, IpNextHeaderProtocols};
use pnet_packet::ipv4::Ipv4Packet;
use pnet_packet::ipv6::Ipv6Packet;

use crate::capture::Direction;
use crate::host::Mac;
use crate::vrrp::VrrpSeen;

/// A captured Ethernet frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// When the kernel received it, since the start of the capture.
    pub at: Duration,
    /// The interface: on a bridge, the name of the host that sent the frame.
    pub port: Arc<str>,
    /// Which way it went.
    pub direction: Direction,
    /// All bytes from the Ethernet header on.
    pub data: Bytes,
}

/// An ARP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArpSeen {
    /// A request; otherwise a reply.
    pub request: bool,
    /// The sender's Ethernet address as the ARP packet says.
    pub sender_mac: Mac,
    /// The sender's address.
    pub sender: Ipv4Addr,
    /// The target's Ethernet address as the ARP packet says.
    pub target_mac: Mac,
    /// The target's address.
    pub target: Ipv4Addr,
    /// The Ethernet header's source.
    pub src_mac: Mac,
    /// The Ethernet header's destination.
    pub dst_mac: Mac,
}

/// An IPv6 neighbour advertisement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NaSeen {
    /// The address it is about.
    pub target: std::net::Ipv6Addr,
    /// The source address.
    pub src: std::net::Ipv6Addr,
    /// The destination address.
    pub dst: std::net::Ipv6Addr,
    /// The target link-layer address option.
    pub target_mac: Option<Mac>,
    /// The flag R: the sender is a router.
    pub router: bool,
    /// The flag S: it answers a solicitation.
    pub solicited: bool,
    /// The flag O: it replaces what is known.
    pub overrides: bool,
    /// The Ethernet header's source.
    pub src_mac: Mac,
}

/// An ICMP or ICMPv6 echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EchoSeen {
    /// A request; otherwise a reply.
    pub request: bool,
    /// The source address.
    pub src: IpAddr,
    /// The destination address.
    pub dst: IpAddr,
}

/// The IP header around a payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IpHeader {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    pub(crate) ttl: u8,
    /// TOS or traffic class.
    pub(crate) class: u8,
}

impl Frame {
    /// The Ethernet header's source. Zeros when the frame is shorter than a header.
    pub fn src_mac(&self) -> Mac {
        self.mac_at(6)
    }

    /// The Ethernet header's destination.
    pub fn dst_mac(&self) -> Mac {
        self.mac_at(0)
    }

    /// The VRRP advertisement in it, valid or not.
    pub fn vrrp(&self) -> Option<VrrpSeen> {
        VrrpSeen::from_frame(self)
    }

    /// The ARP packet in it.
    pub fn arp(&self) -> Option<ArpSeen> {
        let ethernet = EthernetPacket::new(&self.data)?;
        if ethernet.get_ethertype() != EtherTypes::Arp {
            return None;
        }
        let arp = ArpPacket::new(ethernet.payload())?;
        let known: [ArpOperation; 2] = [ArpOperations::Request, ArpOperations::Reply];
        known.contains(&arp.get_operation()).then(|| ArpSeen {
            request: arp.get_operation() == ArpOperations::Request,
            sender_mac: Mac(arp.get_sender_hw_addr().octets()),
            sender: arp.get_sender_proto_addr(),
            target_mac: Mac(arp.get_target_hw_addr().octets()),
            target: arp.get_target_proto_addr(),
            src_mac: self.src_mac(),
            dst_mac: self.dst_mac(),
        })
    }

    /// The gratuitous ARP in it, request or reply: sender and target address are equal.
    pub fn garp(&self) -> Option<ArpSeen> {
        self.arp().filter(|arp| arp.sender == arp.target)
    }

    /// The neighbour advertisement in it.
    pub fn na(&self) -> Option<NaSeen> {
        let (ip, payload) = self.ip(IpNextHeaderProtocols::Icmpv6)?;
        let icmp = Icmpv6Packet::new(&payload)?;
        if icmp.get_icmpv6_type() != Icmpv6Types::NeighborAdvert {
            return None;
        }
        let na = NeighborAdvertPacket::new(&payload)?;
        let flags = na.get_flags();
        let (IpAddr::V6(src), IpAddr::V6(dst)) = (ip.src, ip.dst) else {
            return None;
        };
        Some(NaSeen {
            target: na.get_target_addr(),
            src,
            dst,
            target_mac: target_option(
                payload.get(MutableNeighborAdvertPacket::minimum_packet_size()..)?,
            ),
            router: flags & 0x80 != 0,
            solicited: flags & 0x40 != 0,
            overrides: flags & 0x20 != 0,
            src_mac: self.src_mac(),
        })
    }

    /// The unsolicited neighbour advertisement in it.
    pub fn unsolicited_na(&self) -> Option<NaSeen> {
        self.na().filter(|na| !na.solicited)
    }

    /// The ICMP or ICMPv6 echo in it.
    pub fn icmp_echo(&self) -> Option<EchoSeen> {
        if let Some((ip, payload)) = self.ip(IpNextHeaderProtocols::Icmp) {
            let kind = IcmpPacket::new(&payload)?.get_icmp_type();
            let request = kind == IcmpTypes::EchoRequest;
            let known = request || kind == IcmpTypes::EchoReply;
            return known.then_some(EchoSeen { request, src: ip.src, dst: ip.dst });
        }
        let (ip, payload) = self.ip(IpNextHeaderProtocols::Icmpv6)?;
        let kind = Icmpv6Packet::new(&payload)?.get_icmpv6_type();
        let request = kind == Icmpv6Types::EchoRequest;
        let known = request || kind == Icmpv6Types::EchoReply;
        known.then_some(EchoSeen { request, src: ip.src, dst: ip.dst })
    }

    /// The IP payload of one protocol, cut to the length that the IP header says.
    /// IPv6 extension headers are not looked through.
    pub(crate) fn ip(&self, protocol: IpNextHeaderProtocol) -> Option<(IpHeader, Vec<u8>)> {
        let ethernet = EthernetPacket::new(&self.data)?;
        match ethernet.get_ethertype() {
            EtherTypes::Ipv4 => {
                let ip = Ipv4Packet::new(ethernet.payload())?;
                let header = IpHeader {
                    src: ip.get_source().into(),
                    dst: ip.get_destination().into(),
                    ttl: ip.get_ttl(),
                    class: ip.get_dscp() << 2 | ip.get_ecn(),
                };
                let found = ip.get_version() == 4 && ip.get_next_level_protocol() == protocol;
                found.then(|| (header, ip.payload().to_vec()))
            }
            EtherTypes::Ipv6 => {
                let ip = Ipv6Packet::new(ethernet.payload())?;
                let header = IpHeader {
                    src: ip.get_source().into(),
                    dst: ip.get_destination().into(),
                    ttl: ip.get_hop_limit(),
                    class: ip.get_traffic_class(),
                };
                let found = ip.get_version() == 6 && ip.get_next_header() == protocol;
                found.then(|| (header, ip.payload().to_vec()))
            }
            _ => None,
        }
    }

    fn mac_at(&self, offset: usize) -> Mac {
        self.data.get(offset..offset + 6).and_then(Mac::from_slice).unwrap_or(Mac([0; 6]))
    }
}

/// The target link-layer address among the options (RFC 4861 4.6.1: type 2).
fn target_option(mut options: &[u8]) -> Option<Mac> {
    while let [kind, units, ..] = *options {
        let length = usize::from(units) * 8;
        let option = options.get(..length).filter(|o| !o.is_empty())?;
        if kind == 2 {
            return option.get(2..8).and_then(Mac::from_slice);
        }
        options = &options[length..];
    }
    None
}
