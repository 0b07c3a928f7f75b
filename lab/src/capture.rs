//! Recording frames with the kernel's receive timestamps.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use nix::net::if_::if_indextoname;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{
    ControlMessageOwned, LinkAddr, MsgFlags, recvmsg, setsockopt,
    sockopt::{RcvBuf, RcvBufForce, ReceiveTimestampns},
};
use socket2::{Domain, Protocol, SockAddr, SockAddrStorage, Socket, Type};

use crate::Error;
use crate::error::Context;
use crate::frame::Frame;
use crate::pcap;

/// Room for frames that wait to be read: a bench sends tens of megabytes a second.
const RECEIVE_BUFFER: usize = 32 << 20;
/// With segmentation offload a frame may be this long.
const LONGEST_FRAME: usize = 1 << 16;

/// Which way a frame went through the interface it was recorded on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Received. On a bridge's port: sent by the host.
    In,
    /// Sent.
    Out,
}

/// A running recording; it ends when it is dropped.
///
/// Whatever the kernel had received when [`frames`](Self::frames) is called is in its
/// answer; the reading thread may lag behind, but that does not show.
#[derive(Debug)]
pub struct Capture {
    shared: Arc<Shared>,
    stop: Arc<EventFd>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    socket: Socket,
    started: Duration,
    log: Mutex<Log>,
    arrived: Condvar,
    filter: Filter,
}

struct Filter(Box<dyn Fn(u32, Direction) -> bool + Send + Sync>);

impl std::fmt::Debug for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Filter")
    }
}

#[derive(Debug)]
struct Log {
    frames: Vec<Frame>,
    ports: HashMap<u32, Arc<str>>,
    buffer: Vec<u8>,
    lost: u64,
    failure: Option<io::Error>,
}

impl Capture {
    /// Starts to record in the calling thread's namespace, on one interface or all.
    pub(crate) fn start(
        interface: Option<u32>,
        filter: impl Fn(u32, Direction) -> bool + Send + Sync + 'static,
    ) -> io::Result<Self> {
        // Protocol 0: nothing arrives before everything is set up and bound.
        let socket = Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(0)))?;
        socket.set_nonblocking(true)?;
        setsockopt(&socket, ReceiveTimestampns, &true)?;
        if setsockopt(&socket, RcvBufForce, &RECEIVE_BUFFER).is_err() {
            // Not in a user namespace: there the kernel gives what the machine allows.
            setsockopt(&socket, RcvBuf, &RECEIVE_BUFFER)?;
        }
        let started = now();
        socket.bind(&all_protocols(interface.unwrap_or(0)))?;

        let shared = Arc::new(Shared {
            socket,
            started,
            log: Mutex::new(Log {
                frames: Vec::new(),
                ports: HashMap::new(),
                buffer: vec![0; LONGEST_FRAME],
                lost: 0,
                failure: None,
            }),
            arrived: Condvar::new(),
            filter: Filter(Box::new(filter)),
        });
        let stop = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?);
        // Started from a thread inside the namespace, so it is inside too.
        let reader = thread::Builder::new().name("capture".into()).spawn({
            let (shared, stop) = (Arc::clone(&shared), Arc::clone(&stop));
            move || shared.read_until(&stop)
        })?;
        Ok(Self { shared, stop, reader: Some(reader) })
    }

    /// The frames so far, in the order in which the kernel took them.
    pub fn frames(&self) -> Vec<Frame> {
        self.shared.read().frames.clone()
    }

    /// The first frame since the start that `wanted` accepts, waiting for it at most
    /// for `deadline`.
    pub fn wait_for(
        &self,
        deadline: Duration,
        mut wanted: impl FnMut(&Frame) -> bool,
    ) -> Option<Frame> {
        let end = Instant::now() + deadline;
        let mut seen = 0;
        let mut log = self.shared.read();
        loop {
            if let Some(frame) = log.frames[seen..].iter().find(|f| wanted(f)) {
                return Some(frame.clone());
            }
            seen = log.frames.len();
            let left = end.checked_duration_since(Instant::now())?;
            log = self
                .shared
                .arrived
                .wait_timeout(log, left)
                .map_or_else(|e| e.into_inner().0, |(log, _)| log);
        }
    }

    /// Now, on the clock of [`Frame::at`]: the time since the start.
    pub fn now(&self) -> Duration {
        now().saturating_sub(self.shared.started)
    }

    /// The start of the recording on the wall clock.
    pub fn started(&self) -> SystemTime {
        UNIX_EPOCH + self.shared.started
    }

    /// How many frames the kernel dropped for lack of room. A judge who counts frames
    /// checks that it is 0.
    pub fn lost(&self) -> u64 {
        self.shared.read().lost
    }

    /// Writes the frames so far to a file for Wireshark or tcpdump, with times in
    /// nanoseconds.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write_pcap(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let write = || -> io::Result<()> {
            pcap::write(BufWriter::new(File::create(path)?), self.shared.started, &self.frames())
        };
        write().context(|| format!("writing {}", path.display()))
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = self.stop.write(1);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Shared {
    fn read_until(&self, stop: &EventFd) {
        let forever = PollTimeout::NONE;
        loop {
            let mut fds = [
                PollFd::new(self.socket.as_fd(), PollFlags::POLLIN),
                PollFd::new(stop.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut fds, forever) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(_) => return,
            }
            if fds[1].any().unwrap_or(true) {
                return;
            }
            drop(self.read());
        }
    }

    /// Takes all that waits in the socket into the log.
    ///
    /// Callers do it too and do not wait for the reader: what was sent before the call
    /// is in the log after it.
    fn read(&self) -> MutexGuard<'_, Log> {
        // A panic under the lock leaves at worst one frame unread.
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let before = log.frames.len();
        loop {
            match self.read_one(&mut log) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // The interface went down or away; a capture of all goes on.
                Err(e) if e.raw_os_error() == Some(libc::ENETDOWN) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => {
                    log.failure = Some(e);
                    break;
                }
            }
        }
        log.lost += lost_since_last(&self.socket);
        if log.frames.len() > before {
            self.arrived.notify_all();
        }
        log
    }

    fn read_one(&self, log: &mut Log) -> io::Result<()> {
        let Log { buffer, ports, frames, .. } = log;
        let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec);
        let mut parts = [IoSliceMut::new(buffer)];
        let fd = self.socket.as_raw_fd();
        let message =
            recvmsg::<LinkAddr>(fd, &mut parts, Some(&mut control), MsgFlags::MSG_DONTWAIT)?;
        let (length, from) = (message.bytes, message.address);
        let stamp = message.cmsgs()?.find_map(|c| match c {
            ControlMessageOwned::ScmTimestampns(t) => Some(Duration::from(t)),
            _ => None,
        });
        let Some(from) = from else { return Ok(()) };
        let direction = match from.pkttype() {
            libc::PACKET_OUTGOING => Direction::Out,
            _ => Direction::In,
        };
        let index = u32::try_from(from.ifindex()).unwrap_or(0);
        if !(self.filter.0)(index, direction) {
            return Ok(());
        }
        let port = ports.entry(index).or_insert_with(|| name_of(index));
        frames.push(Frame {
            at: stamp.unwrap_or_else(now).saturating_sub(self.started),
            port: Arc::clone(port),
            direction,
            data: Bytes::copy_from_slice(&buffer[..length]),
        });
        Ok(())
    }
}

fn name_of(index: u32) -> Arc<str> {
    // An interface that is gone already keeps its number as its name.
    if_indextoname(index)
        .map_or_else(|_| format!("#{index}").into(), |name| name.to_string_lossy().into())
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The address that makes a packet socket receive everything.
fn all_protocols(interface: u32) -> SockAddr {
    let mut storage = SockAddrStorage::zeroed();
    // SAFETY: sockaddr_ll is a plain C structure that fits the storage.
    let address = unsafe { storage.view_as::<libc::sockaddr_ll>() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = interface as i32;
    // SAFETY: the storage holds a complete sockaddr_ll, written just above.
    unsafe { SockAddr::new(storage, size_of::<libc::sockaddr_ll>() as libc::socklen_t) }
}

/// The kernel's count of dropped frames; reading it sets it to 0.
fn lost_since_last(socket: &Socket) -> u64 {
    let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into the structure, which is
    // what this option fills.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut length,
        )
    };
    if result == 0 { statistics.tp_drops.into() } else { 0 }
}
