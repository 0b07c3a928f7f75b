//! The feed of changes.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use super::{Address, Link, parse};

const RTNLGRP_LINK: u32 = 1;
const RTNLGRP_IPV4_IFADDR: u32 = 5;
const RTNLGRP_IPV6_IFADDR: u32 = 9;

/// One change, as the kernel told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// An interface appeared or changed.
    Link(Link),
    /// An interface is gone.
    LinkGone(u32),
    /// An address appeared or changed.
    Address(Address),
    /// An address is gone.
    AddressGone(Address),
    /// Changes were lost: take whole lists.
    Lost,
}

/// A netlink socket that hears of changes.
#[derive(Debug)]
pub(crate) struct Watch {
    socket: Socket,
    buffer: Vec<u8>,
}

impl Watch {
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.set_non_blocking(true)?;
        // A burst of changes (hundreds of VIPs at once) must fit; what does not is noticed.
        socket.set_rx_buf_sz(4 << 20)?;
        socket.bind(&SocketAddr::new(0, 0))?;
        for group in [RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR] {
            socket.add_membership(group)?;
        }
        Ok(Self { socket, buffer: Vec::with_capacity(64 * 1024) })
    }

    /// Passes on every change that is waiting.
    pub(crate) fn read(&mut self, mut each: impl FnMut(Change)) -> io::Result<()> {
        loop {
            self.buffer.clear();
            let length = match self.socket.recv(&mut self.buffer, 0) {
                Ok(length) => length,
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => return Ok(()),
                    Some(libc::EINTR) => continue,
                    Some(libc::ENOBUFS) => {
                        each(Change::Lost);
                        continue;
                    }
                    _ => return Err(error),
                },
            };
            let mut rest = self.buffer.get(..length).unwrap_or_default();
            while !rest.is_empty() {
                let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest) else {
                    // A message of a newer kernel that this code cannot read may matter.
                    each(Change::Lost);
                    break;
                };
                if let NetlinkPayload::InnerMessage(inner) = &message.payload {
                    change(inner).into_iter().for_each(&mut each);
                }
                let length = message.header.length as usize;
                rest = rest.get(length.next_multiple_of(4).max(16)..).unwrap_or_default();
            }
        }
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open as long as `self.socket` lives, which the returned
        // lifetime is bound to.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

fn change(message: &RouteNetlinkMessage) -> Option<Change> {
    match message {
        RouteNetlinkMessage::NewLink(message) => parse::link(message).map(Change::Link),
        RouteNetlinkMessage::DelLink(message) => Some(Change::LinkGone(message.header.index)),
        RouteNetlinkMessage::NewAddress(message) => parse::address(message).map(Change::Address),
        RouteNetlinkMessage::DelAddress(message) => {
            parse::address(message).map(Change::AddressGone)
        }
        _ => None,
    }
}
