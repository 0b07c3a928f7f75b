//! Requests to the kernel: one at a time, each answered before the next.

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST,
    NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeader, AddressMessage, AddressProtocol, CacheInfo,
};
use netlink_packet_route::link::LinkMessage;
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use super::{Address, Link, NewAddress, parse};

/// A lifetime that never ends.
const FOREVER: u32 = u32::MAX;
/// A dump that other changes interrupt is taken again this often before it counts as failed.
const DUMP_ATTEMPTS: usize = 10;
/// The kernel never sends more in one datagram.
const RECEIVE_BUFFER: usize = 64 * 1024;

/// A netlink socket for requests.
#[derive(Debug)]
pub(crate) struct Requests {
    socket: Socket,
    sequence: u32,
    buffer: Vec<u8>,
}

/// A request that failed. Whether anything changed is not known; list to find out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NetlinkError {
    /// The kernel refused.
    #[error("{what}: {error}")]
    Refused {
        what: &'static str,
        #[source]
        error: io::Error,
    },
    /// The socket failed.
    #[error("netlink: {0}")]
    Socket(#[from] io::Error),
    /// The interface does not exist at the moment.
    #[error("the interface does not exist")]
    NoInterface,
    /// An answer that cannot be read, or a list that never came out whole.
    #[error("netlink: {0}")]
    Answer(&'static str),
}

impl NetlinkError {
    fn errno(&self) -> Option<i32> {
        match self {
            Self::Refused { error, .. } | Self::Socket(error) => error.raw_os_error(),
            Self::NoInterface | Self::Answer(_) => None,
        }
    }
}

impl Requests {
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0, buffer: Vec::with_capacity(RECEIVE_BUFFER) })
    }

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

    /// All interfaces of the namespace.
    pub(crate) fn links(&mut self) -> Result<Vec<Link>, NetlinkError> {
        let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
        self.dump("list the interfaces", &request, |message| match message {
            RouteNetlinkMessage::NewLink(message) => parse::link(message),
            _ => None,
        })
    }

    fn change(
        &mut self,
        what: &'static str,
        request: RouteNetlinkMessage,
        flags: u16,
    ) -> Result<(), NetlinkError> {
        self.send(&request, NLM_F_REQUEST | NLM_F_ACK | flags)?;
        let mut result = Err(NetlinkError::Answer("the kernel did not answer"));
        self.answers(|_, payload| match payload {
            NetlinkPayload::Error(error) => {
                result = match error.code {
                    None => Ok(()),
                    Some(_) => Err(NetlinkError::Refused { what, error: error.to_io() }),
                };
                true
            }
            _ => false,
        })?;
        result
    }

    fn dump<T>(
        &mut self,
        what: &'static str,
        request: &RouteNetlinkMessage,
        parse: impl Fn(&RouteNetlinkMessage) -> Option<T>,
    ) -> Result<Vec<T>, NetlinkError> {
        for _ in 0..DUMP_ATTEMPTS {
            self.send(request, NLM_F_REQUEST | NLM_F_DUMP)?;
            let mut list = Vec::new();
            let mut interrupted = false;
            let mut failure = None;
            self.answers(|header, payload| {
                interrupted |= header.flags & NLM_F_DUMP_INTR != 0;
                match payload {
                    NetlinkPayload::InnerMessage(message) => {
                        list.extend(parse(message));
                        false
                    }
                    NetlinkPayload::Error(error) => {
                        failure = error.code.map(|_| error.to_io());
                        true
                    }
                    NetlinkPayload::Done(_) => true,
                    _ => false,
                }
            })?;
            match failure {
                Some(error) => return Err(NetlinkError::Refused { what, error }),
                // Something changed while the list was written: it may be of no moment in time.
                None if interrupted => {}
                None => return Ok(list),
            }
        }
        Err(NetlinkError::Answer("a list was interrupted by changes again and again"))
    }

    fn send(&mut self, request: &RouteNetlinkMessage, flags: u16) -> Result<(), NetlinkError> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        header.sequence_number = self.sequence;
        let mut message =
            NetlinkMessage::new(header, NetlinkPayload::InnerMessage(request.clone()));
        message.finalize();
        let mut octets = vec![0; message.buffer_len()];
        message.serialize(&mut octets);
        retry(|| self.socket.send(&octets, 0))?;
        Ok(())
    }

    /// Reads answers to the latest request until `last` says that one was the last.
    fn answers(
        &mut self,
        mut last: impl FnMut(&NetlinkHeader, &NetlinkPayload<RouteNetlinkMessage>) -> bool,
    ) -> Result<(), NetlinkError> {
        loop {
            self.buffer.clear();
            let length = retry(|| self.socket.recv(&mut self.buffer, 0))?;
            let mut rest = self.buffer.get(..length).unwrap_or_default();
            while !rest.is_empty() {
                let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                    .map_err(|_| NetlinkError::Answer("an answer could not be read"))?;
                // Answers to a request that was given up earlier are skipped.
                let ours = message.header.sequence_number == self.sequence;
                if ours && last(&message.header, &message.payload) {
                    return Ok(());
                }
                let length = message.header.length as usize;
                rest = rest.get(length.next_multiple_of(4).max(16)..).unwrap_or_default();
            }
        }
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

/// The two failures that say nothing about the request are the only ones tried again.
fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..100 {
        match call() {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::ENOBUFS)) => {}
            other => return other,
        }
    }
    call()
}
