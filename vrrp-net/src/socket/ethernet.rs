//! A packet socket on one interface: sends prepared frames, and hears who else claims an address.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use pnet_packet::Packet as _;
use pnet_packet::arp::ArpPacket;
use pnet_packet::ethernet::{EtherTypes, EthernetPacket};
use pnet_packet::icmpv6::ndp::{NdpOptionTypes, NeighborAdvertPacket};
use pnet_packet::ipv6::Ipv6Packet;

use super::filter;
use crate::netlink::Mac;

/// A packet socket.
#[derive(Debug)]
pub(crate) struct EthernetSocket {
    fd: OwnedFd,
    ifindex: u32,
}

/// Somebody told the link that an address is theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) address: IpAddr,
    pub(crate) mac: Mac,
}

impl EthernetSocket {
    /// Opens a socket that hears announcements. Needs CAP_NET_RAW.
    pub(crate) fn open(ifindex: u32) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers are passed. Protocol 0: nothing is received before the filter is on.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made and belongs to nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        filter::attach_claims(fd.as_fd())?;
        let socket = Self { fd, ifindex };
        socket.bind(libc::ETH_P_ALL)?;
        Ok(socket)
    }

    fn bind(&self, protocol: i32) -> io::Result<()> {
        // SAFETY: all-zero is a valid `sockaddr_ll`.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (protocol as u16).to_be();
        address.sll_ifindex = self.ifindex.cast_signed();
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the descriptor is open, and pointer and length describe a live `sockaddr_ll`.
        let result =
            unsafe { libc::bind(self.fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), length) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Sends one Ethernet frame.
    pub(crate) fn send(&self, frame: &[u8]) -> io::Result<()> {
        loop {
            // SAFETY: the descriptor is open, and pointer and length describe a live slice.
            let sent = unsafe {
                libc::send(
                    self.fd.as_raw_fd(),
                    frame.as_ptr().cast(),
                    frame.len(),
                    libc::MSG_DONTWAIT,
                )
            };
            if sent >= 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    /// The next announcement of another station. `None` when there is none; frames that are
    /// something else after all are skipped.
    pub(crate) fn next_claim(&self, buffer: &mut [u8]) -> io::Result<Option<Claim>> {
        loop {
            // SAFETY: all-zero is a valid `sockaddr_ll`.
            let mut from: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
            let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            // SAFETY: the descriptor is open; both pointers describe live memory of the stated
            // lengths, which the kernel fills.
            let received = unsafe {
                libc::recvfrom(
                    self.fd.as_raw_fd(),
                    buffer.as_mut_ptr().cast(),
                    buffer.len(),
                    libc::MSG_DONTWAIT,
                    std::ptr::from_mut(&mut from).cast(),
                    &raw mut length,
                )
            };
            if received < 0 {
                let error = io::Error::last_os_error();
                return match error.kind() {
                    io::ErrorKind::WouldBlock => Ok(None),
                    io::ErrorKind::Interrupted => continue,
                    _ => Err(error),
                };
            }
            // What this host sends is looped back to packet sockets; it is no news.
            if from.sll_pkttype == libc::PACKET_OUTGOING {
                continue;
            }
            let frame = &buffer[..received.unsigned_abs().min(buffer.len())];
            if let Some(claim) = claim(frame) {
                return Ok(Some(claim));
            }
        }
    }
}

impl AsFd for EthernetSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn claim(frame: &[u8]) -> Option<Claim> {
    let frame = EthernetPacket::new(frame)?;
    match frame.get_ethertype() {
        EtherTypes::Arp => {
            let arp = ArpPacket::new(frame.payload())?;
            let address: Ipv4Addr = arp.get_sender_proto_addr();
            let mac = Mac::from(arp.get_sender_hw_addr().octets());
            let gratuitous = address == arp.get_target_proto_addr() && !address.is_unspecified();
            gratuitous.then_some(Claim { address: address.into(), mac })
        }
        EtherTypes::Ipv6 => {
            let ip = Ipv6Packet::new(frame.payload())?;
            let advert = NeighborAdvertPacket::new(ip.payload())?;
            // Without the option (some routers leave it out) the frame's source has to do.
            let option = advert
                .get_options_iter()
                .find(|option| option.get_option_type() == NdpOptionTypes::TargetLLAddr)
                .and_then(|option| option.payload().first_chunk::<6>().copied());
            let mac = option.unwrap_or(frame.get_source().octets());
            Some(Claim { address: advert.get_target_addr().into(), mac: Mac::from(mac) })
        }
        _ => None,
    }
}
