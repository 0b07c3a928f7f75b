//! Gratuitous ARP and unsolicited neighbour advertisements (digest section 4.5).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use pnet_base::MacAddr;
use pnet_packet::MutablePacket;
use pnet_packet::arp::{ArpHardwareTypes, ArpOperations, MutableArpPacket};
use pnet_packet::ethernet::{EtherTypes, MutableEthernetPacket};
use pnet_packet::icmpv6::ndp::{
    MutableNdpOptionPacket, MutableNeighborAdvertPacket, NdpOptionTypes, NeighborAdvertFlags,
};
use pnet_packet::icmpv6::{Icmpv6Packet, Icmpv6Types, checksum};
use pnet_packet::ip::IpNextHeaderProtocols;
use pnet_packet::ipv6::MutableIpv6Packet;

use crate::netlink::Mac;

const ETHERNET: usize = 14;
const ARP: usize = 28;
const IPV6: usize = 40;
/// A neighbour advertisement with one target link-layer address option.
const ADVERT: usize = 24 + 8;

/// The frame that tells a link who has `address` now.
pub(crate) fn frame(address: IpAddr, mac: Mac) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => gratuitous_arp(address, mac),
        IpAddr::V6(address) => neighbour_advert(address, mac),
    }
}

/// An ARP request whose sender and target are both the VIP: the form that every stack takes as an
/// update (RFC 9568 section 6.4.2 with errata 7947 and 7949).
fn gratuitous_arp(address: Ipv4Addr, mac: Mac) -> Vec<u8> {
    let mut frame = vec![0; ETHERNET + ARP];
    ethernet(&mut frame, mac, MacAddr::broadcast(), EtherTypes::Arp);
    // The buffer has room for exactly this packet.
    if let Some(mut arp) = MutableArpPacket::new(&mut frame[ETHERNET..]) {
        arp.set_hardware_type(ArpHardwareTypes::Ethernet);
        arp.set_protocol_type(EtherTypes::Ipv4);
        arp.set_hw_addr_len(6);
        arp.set_proto_addr_len(4);
        arp.set_operation(ArpOperations::Request);
        arp.set_sender_hw_addr(mac_addr(mac));
        arp.set_sender_proto_addr(address);
        arp.set_target_hw_addr(mac_addr(mac));
        arp.set_target_proto_addr(address);
    }
    frame
}

/// An unsolicited neighbour advertisement to all nodes, from the VIP, with Override set. Solicited
/// is clear (RFC 4861 section 7.2.6). Router is set, as RFC 9568 section 6.4.2 asks.
fn neighbour_advert(address: Ipv6Addr, mac: Mac) -> Vec<u8> {
    const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
    let mut frame = vec![0; ETHERNET + IPV6 + ADVERT];
    let all_nodes = MacAddr::new(0x33, 0x33, 0, 0, 0, 1);
    ethernet(&mut frame, mac, all_nodes, EtherTypes::Ipv6);
    // The buffers have room for exactly these packets.
    let Some(mut ip) = MutableIpv6Packet::new(&mut frame[ETHERNET..]) else { return frame };
    ip.set_version(6);
    ip.set_payload_length(ADVERT as u16);
    ip.set_next_header(IpNextHeaderProtocols::Icmpv6);
    ip.set_hop_limit(255);
    ip.set_source(address);
    ip.set_destination(ALL_NODES);
    if let Some(mut advert) = MutableNeighborAdvertPacket::new(ip.payload_mut()) {
        advert.set_icmpv6_type(Icmpv6Types::NeighborAdvert);
        advert.set_flags(NeighborAdvertFlags::Override | NeighborAdvertFlags::Router);
        advert.set_target_addr(address);
        let options = advert.get_options_raw_mut();
        if let Some(mut option) = MutableNdpOptionPacket::new(options) {
            option.set_option_type(NdpOptionTypes::TargetLLAddr);
            option.set_length(1);
            option.set_data(&mac.0);
        }
    }
    let sum = Icmpv6Packet::new(ip.payload_mut())
        .map(|packet| checksum(&packet, &address, &ALL_NODES))
        .unwrap_or_default();
    if let Some(mut advert) = MutableNeighborAdvertPacket::new(ip.payload_mut()) {
        advert.set_checksum(sum);
    }
    frame
}

fn ethernet(
    frame: &mut [u8],
    source: Mac,
    destination: MacAddr,
    kind: pnet_packet::ethernet::EtherType,
) {
    // The buffer is longer than an Ethernet header.
    if let Some(mut ethernet) = MutableEthernetPacket::new(frame) {
        ethernet.set_source(mac_addr(source));
        ethernet.set_destination(destination);
        ethernet.set_ethertype(kind);
    }
}

fn mac_addr(mac: Mac) -> MacAddr {
    MacAddr::from(mac.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: Mac = Mac([2, 0, 0, 0, 0, 7]);

    #[test]
    fn a20_gratuitous_arp_is_a_broadcast_request_for_the_vip_from_the_vip() {
        let frame = frame("192.0.2.10".parse().unwrap(), MAC);
        let expected = [
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 7, 0x08, 0x06, // Ethernet
            0, 1, 0x08, 0, 6, 4, 0, 1, // ARP request
            2, 0, 0, 0, 0, 7, 192, 0, 2, 10, // sender
            2, 0, 0, 0, 0, 7, 192, 0, 2, 10, // target
        ];
        assert_eq!(frame, expected);
    }

    #[test]
    fn a20_the_neighbour_advert_overrides_and_its_checksum_is_right() {
        let frame = frame("fd00::10".parse().unwrap(), MAC);
        assert_eq!(frame[..14], [0x33, 0x33, 0, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x86, 0xdd]);
        assert_eq!(frame[14..22], [0x60, 0, 0, 0, 0, 32, 58, 255]);
        assert_eq!((frame[54], frame[58]), (136, 0xa0));
        assert_eq!(frame[78..86], [2, 1, 2, 0, 0, 0, 0, 7]);
        // Sum over the pseudo-header and the message is all ones.
        let mut sum = 32 + 58_u32;
        for pair in frame[22..].chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(pair[1]);
        }
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        assert_eq!(sum, 0xffff);
    }
}
