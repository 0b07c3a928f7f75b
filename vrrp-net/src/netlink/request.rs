//! Requests to the kernel: one at a time, each answered before the next.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

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
    pub(super) fn errno(&self) -> Option<i32> {
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

    pub(super) fn change(
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

    /// Asks for one thing. `None` when the kernel says that there is no such thing.
    pub(super) fn query(
        &mut self,
        request: &RouteNetlinkMessage,
    ) -> Result<Option<RouteNetlinkMessage>, NetlinkError> {
        self.send(request, NLM_F_REQUEST)?;
        let mut result = None;
        self.answers(|_, payload| {
            if let NetlinkPayload::InnerMessage(message) = payload {
                result = Some(message.clone());
            }
            matches!(payload, NetlinkPayload::InnerMessage(_) | NetlinkPayload::Error(_))
        })?;
        Ok(result)
    }

    pub(super) fn dump<T>(
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
