//! A raw socket for IP protocol 112 on one interface, for one family.
//!
//! Multicast: one socket per interface and family, member of the VRRP group. Unicast: one per
//! interface and family as well, not a member. The kernel hands every raw socket every packet of
//! the protocol that is for this host; a small filter drops those for the other kind of socket.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt,
    sockopt,
};
use socket2::{Domain, Protocol, Socket, Type};
use vrrp_core::receive::RxMeta;
use vrrp_core::{Family, GROUP_V4, GROUP_V6};

use super::{IPPROTO_VRRP, filter};
use crate::clock;

/// Traffic class of VRRP as deployed routers set it: CS6, network control (digest 1.09).
const CLASS: u32 = 0xc0;
/// Room for a burst of adverts of several hundred routers.
const RECEIVE_BUFFER: usize = 1 << 20;
/// A receive timestamp older than this is not believed.
const OLDEST: Duration = Duration::from_secs(60);

/// Whom a socket reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reach {
    /// The VRRP group.
    Multicast,
    /// Peers, each by its address.
    Unicast,
}

/// A socket for VRRP.
#[derive(Debug)]
pub(crate) struct VrrpSocket {
    socket: Socket,
    family: Family,
    reach: Reach,
    ifindex: u32,
}

/// One received message and what the IP layer said of it.
#[derive(Debug)]
pub(crate) struct Packet<'a> {
    pub(crate) meta: RxMeta,
    pub(crate) payload: &'a [u8],
    /// Packets that this socket has lost because nobody read them, since it was opened.
    pub(crate) lost: Option<u32>,
}

impl VrrpSocket {
    /// Opens a socket on an interface. Needs CAP_NET_RAW.
    pub(crate) fn open(
        interface: &str,
        ifindex: u32,
        family: Family,
        reach: Reach,
    ) -> io::Result<Self> {
        let domain = match family {
            Family::V4 => Domain::IPV4,
            Family::V6 => Domain::IPV6,
        };
        let kind = Type::RAW.nonblocking().cloexec();
        let socket = Socket::new(domain, kind, Some(Protocol::from(IPPROTO_VRRP)))?;
        filter::attach(socket.as_fd(), family, reach)?;
        socket.bind_device(Some(interface.as_bytes()))?;
        // A larger buffer than the limit allows is cut, not refused.
        socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&socket, sockopt::RxqOvfl, &1)?;
        match family {
            Family::V4 => {
                socket.set_ttl_v4(255)?;
                socket.set_tos_v4(CLASS)?;
                socket.set_multicast_ttl_v4(255)?;
                socket.set_multicast_loop_v4(false)?;
                setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
                let index = socket2::InterfaceIndexOrAddress::Index(ifindex);
                let interface = libc::ip_mreqn {
                    imr_multiaddr: libc::in_addr { s_addr: 0 },
                    imr_address: libc::in_addr { s_addr: 0 },
                    imr_ifindex: ifindex.cast_signed(),
                };
                set_multicast_interface(&socket, &interface)?;
                if reach == Reach::Multicast {
                    socket.join_multicast_v4_n(&GROUP_V4, &index)?;
                }
            }
            Family::V6 => {
                socket.set_unicast_hops_v6(255)?;
                socket.set_multicast_hops_v6(255)?;
                socket.set_multicast_loop_v6(false)?;
                socket.set_multicast_if_v6(ifindex)?;
                socket.set_tclass_v6(CLASS)?;
                setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?;
                setsockopt(&socket, sockopt::Ipv6RecvHopLimit, &true)?;
                if reach == Reach::Multicast {
                    socket.join_multicast_v6(&GROUP_V6, ifindex)?;
                }
            }
        }
        Ok(Self { socket, family, reach, ifindex })
    }

    /// The next packet. `None` when there is none, or when what was read was no whole packet or
    /// one for the other kind of socket.
    ///
    /// IPv4 raw sockets deliver the IP header; the message's length comes from there, never from
    /// the frame, whose padding is thus cut off. IPv6 ones deliver the message alone.
    pub(crate) fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<Packet<'a>>> {
        let mut control =
            nix::cmsg_space!(libc::timespec, libc::in6_pktinfo, libc::in_pktinfo, libc::c_int, u32);
        let mut slices = [IoSliceMut::new(buffer)];
        let received = recvmsg::<SockaddrStorage>(
            self.socket.as_raw_fd(),
            &mut slices,
            Some(&mut control),
            MsgFlags::MSG_DONTWAIT,
        );
        let message = match received {
            Ok(message) => message,
            Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (mut received_at, mut hops, mut destination, mut lost) = (None, None, None, None);
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::ScmTimestampns(stamp) => {
                    received_at = clock::from_wall_clock(stamp, OLDEST);
                }
                ControlMessageOwned::Ipv6HopLimit(limit) => hops = u8::try_from(limit).ok(),
                ControlMessageOwned::Ipv6PacketInfo(info) => {
                    destination = Some(Ipv6Addr::from(info.ipi6_addr.s6_addr));
                }
                ControlMessageOwned::RxqOvfl(count) => lost = Some(count),
                _ => {}
            }
        }
        let (length, from) = (message.bytes, message.address);
        let octets = &buffer[..length];
        let packet = match self.family {
            Family::V4 => ipv4(octets),
            Family::V6 => from
                .and_then(|from| from.as_sockaddr_in6().map(|from| from.ip()))
                .zip(destination)
                .zip(hops)
                .map(|((source, destination), ttl)| {
                    (source.into(), destination.into(), ttl, octets)
                }),
        };
        // On IPv4 the filter has done this already; on IPv6 it cannot see the header.
        let is_ours =
            |destination: &IpAddr| destination.is_multicast() == (self.reach == Reach::Multicast);
        let packet = packet.filter(|(_, destination, ..)| is_ours(destination));
        Ok(packet.map(|(source, destination, ttl, payload)| Packet {
            meta: RxMeta { source, destination, ttl, received_at, checksum_verified: false },
            payload,
            lost,
        }))
    }

    /// Sends one message from a given source. The source is pinned, so that the kernel never
    /// chooses a VIP, and a source that the host has lost is an error instead.
    pub(crate) fn send(
        &self,
        source: IpAddr,
        destination: IpAddr,
        payload: &[u8],
    ) -> io::Result<()> {
        let slices = [io::IoSlice::new(payload)];
        let fd = self.socket.as_raw_fd();
        let flags = MsgFlags::MSG_DONTWAIT;
        let to = self.address(destination);
        loop {
            let sent = match source {
                IpAddr::V4(source) => {
                    let info = libc::in_pktinfo {
                        ipi_ifindex: self.ifindex.cast_signed(),
                        ipi_spec_dst: libc::in_addr { s_addr: u32::from(source).to_be() },
                        ipi_addr: libc::in_addr { s_addr: 0 },
                    };
                    let control = [ControlMessage::Ipv4PacketInfo(&info)];
                    sendmsg(fd, &slices, &control, flags, Some(&to))
                }
                IpAddr::V6(source) => {
                    let info = libc::in6_pktinfo {
                        ipi6_addr: libc::in6_addr { s6_addr: source.octets() },
                        ipi6_ifindex: self.ifindex,
                    };
                    let control = [ControlMessage::Ipv6PacketInfo(&info)];
                    sendmsg(fd, &slices, &control, flags, Some(&to))
                }
            };
            match sent {
                Err(nix::errno::Errno::EINTR) => {}
                other => return Ok(other.map(drop)?),
            }
        }
    }

    fn address(&self, destination: IpAddr) -> SockaddrStorage {
        SockaddrStorage::from(match destination {
            IpAddr::V4(to) => SocketAddr::V4(SocketAddrV4::new(to, 0)),
            IpAddr::V6(to) => {
                // Link-local addresses mean nothing without their interface.
                let local = to.is_unicast_link_local() || to.is_multicast();
                let scope = if local { self.ifindex } else { 0 };
                SocketAddr::V6(SocketAddrV6::new(to, 0, 0, scope))
            }
        })
    }
}

impl AsFd for VrrpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The few fields of an IPv4 header that matter here, and what follows it.
fn ipv4(octets: &[u8]) -> Option<(IpAddr, IpAddr, u8, &[u8])> {
    let header = octets.first_chunk::<20>()?;
    let header_len = usize::from(header[0] & 0x0f) * 4;
    let total_len = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let payload = octets.get(header_len..total_len)?;
    let source = Ipv4Addr::new(header[12], header[13], header[14], header[15]);
    let destination = Ipv4Addr::new(header[16], header[17], header[18], header[19]);
    Some((source.into(), destination.into(), header[8], payload))
}

/// Sends group packets through this interface without naming one of its addresses.
fn set_multicast_interface(socket: &Socket, interface: &libc::ip_mreqn) -> io::Result<()> {
    let length = size_of::<libc::ip_mreqn>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the pointer and length describe a live `ip_mreqn`, which
    // the kernel only reads.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_MULTICAST_IF,
            std::ptr::from_ref(interface).cast(),
            length,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(header_words: u8, total: u16, len: usize) -> Vec<u8> {
        let mut octets = vec![0; len];
        octets[0] = 0x40 | header_words;
        octets[2..4].copy_from_slice(&total.to_be_bytes());
        octets[8] = 255;
        octets
    }

    #[test]
    fn b01_the_length_comes_from_the_ip_header_and_padding_is_cut() {
        assert_eq!(ipv4(&packet(5, 40, 46)).unwrap().3.len(), 20);
        // Options are skipped.
        assert_eq!(ipv4(&packet(7, 48, 60)).unwrap().3.len(), 20);
    }

    #[test]
    fn headers_that_lie_about_lengths_are_no_packets() {
        for (words, total, len) in [(5, 40, 39), (15, 40, 40), (0, 10, 40), (5, 10, 40)] {
            if let Some((.., payload)) = ipv4(&packet(words, total, len)) {
                assert!(payload.len() <= len);
            }
        }
        assert!(ipv4(&[0x45; 19]).is_none());
        assert!(ipv4(&[]).is_none());
    }
}
