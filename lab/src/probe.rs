//! A client that asks a VIP again and again who is there.
//!
//! Every host that may own the VIP runs an [`Echo`] server, which answers with the
//! host's name from the address that was asked. A [`Probe`] on a client asks at a
//! steady pace and keeps, for each question, when it was asked, when it was answered
//! and by whom. That is what a user of the VIP sees of a failover.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt,
    sockopt::{Ipv4PacketInfo, Ipv6RecvPacketInfo},
};
use socket2::{Domain, Socket, Type};

use crate::Error;
use crate::error::Context;
use crate::host::Host;

/// The UDP port of the echo servers, of both families.
pub const ECHO_PORT: u16 = 7007;

/// How long a probe that has ended waits for late answers.
const LINGER: Duration = Duration::from_millis(200);

/// An echo server on a host; it ends when it is dropped.
#[derive(Debug)]
pub struct Echo {
    _thread: Worker<()>,
}

/// A client that is asking; see [`Host::probe`].
#[derive(Debug)]
pub struct Probe {
    thread: Worker<io::Result<()>>,
    report: Arc<Mutex<Report>>,
    vip: IpAddr,
}

/// What a client has seen.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// When the client started, on the wall clock: to compare with a capture.
    pub started: SystemTime,
    /// The pace.
    pub every: Duration,
    /// All questions, in order.
    pub probes: Vec<Asked>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// When it was sent, since the start.
    pub sent: Duration,
    /// The first answer: when, since the start, and by whom.
    pub answer: Option<(Duration, Arc<str>)>,
    /// Other hosts that answered too: the VIP had two owners.
    pub others: Vec<Arc<str>>,
}

/// A stretch of time with one owner, or with none.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stretch {
    /// When its first question was sent, since the client's start.
    pub from: Duration,
    /// When the first question after it was sent; for the last stretch, when its own
    /// last question was.
    pub until: Duration,
    /// Who answered; `None` when nobody did.
    pub owner: Option<Arc<str>>,
}

impl Host {
    /// Starts an echo server on all addresses of the host, also those to come.
    ///
    /// # Errors
    ///
    /// When the port is taken: a host has one echo server.
    pub fn echo(&self) -> Result<Echo, Error> {
        let name: Arc<str> = self.name().into();
        let thread = self.netlink("echo server", || {
            let v4 = socket(Ipv4Addr::UNSPECIFIED.into(), ECHO_PORT)?;
            let v6 = socket(Ipv6Addr::UNSPECIFIED.into(), ECHO_PORT)?;
            setsockopt(&v4, Ipv4PacketInfo, &true)?;
            setsockopt(&v6, Ipv6RecvPacketInfo, &true)?;
            Worker::start("echo", move |stop| {
                while let Ok(false) = wait(&[&v4, &v6], stop, None) {
                    // An answer that cannot be sent (no route back) is a lost one.
                    while answer(&v4, &name).is_ok() {}
                    while answer(&v6, &name).is_ok() {}
                }
            })
        })?;
        Ok(Echo { _thread: thread })
    }

    /// Starts to ask `vip` who is there, once `every` so long.
    ///
    /// # Errors
    ///
    /// When no socket can be had.
    pub fn probe(&self, vip: IpAddr, every: Duration) -> Result<Probe, Error> {
        let report = Report { started: SystemTime::now(), every, probes: Vec::new() };
        let report = Arc::new(Mutex::new(report));
        let thread = self.netlink("probe", || {
            let any: IpAddr = match vip {
                IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
                IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
            };
            let socket = socket(any, 0)?;
            let (vip, report) = (SocketAddr::new(vip, ECHO_PORT), Arc::clone(&report));
            Worker::start("probe", move |stop| ask(&socket, vip, every, stop, &report))
        })?;
        Ok(Probe { thread, report, vip })
    }
}

impl Probe {
    /// What it has seen so far. The last questions may still be answered.
    pub fn so_far(&self) -> Report {
        locked(&self.report).clone()
    }

    /// Who answered last.
    pub fn owner(&self) -> Option<Arc<str>> {
        let report = locked(&self.report);
        report.probes.iter().rev().find_map(|p| p.answer.as_ref()).map(|(_, host)| host.clone())
    }

    /// Stops asking, waits a moment (200 ms) for late answers and reports.
    ///
    /// # Errors
    ///
    /// When the client's socket failed in a way that no fault of the network explains.
    pub fn finish(self) -> Result<Report, Error> {
        self.thread.join().context(|| format!("probe of {}", self.vip))?;
        Ok(locked(&self.report).clone())
    }
}

impl Report {
    /// How many questions had no answer.
    pub fn lost(&self) -> usize {
        self.probes.iter().filter(|p| p.answer.is_none()).count()
    }

    /// How many questions were answered by more than one host.
    pub fn answered_twice(&self) -> usize {
        self.probes.iter().filter(|p| !p.others.is_empty()).count()
    }

    /// The longest stretch without an answer: from the first unanswered question to the
    /// next answered one. It is right to one [`every`](Self::every). Zero when all were
    /// answered; an outage that lasts to the end counts up to the last question.
    pub fn longest_outage(&self) -> Duration {
        let outages = self.timeline().into_iter().filter(|s| s.owner.is_none());
        outages.map(|s| s.until - s.from).max().unwrap_or_default()
    }

    /// Who answered when.
    pub fn timeline(&self) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for probe in &self.probes {
            let owner = probe.answer.as_ref().map(|(_, host)| host);
            if let Some(last) = stretches.last_mut() {
                last.until = probe.sent;
                if last.owner.as_ref() == owner {
                    continue;
                }
            }
            let owner = owner.cloned();
            stretches.push(Stretch { from: probe.sent, until: probe.sent, owner });
        }
        stretches
    }
}

/// A thread that is told to end when its handle is dropped, and waited for.
#[derive(Debug)]
struct Worker<T> {
    stop: Arc<EventFd>,
    thread: Option<JoinHandle<T>>,
}

impl<T: Send + 'static> Worker<T> {
    /// The thread starts in the caller's namespaces.
    fn start(name: &str, f: impl FnOnce(&EventFd) -> T + Send + 'static) -> io::Result<Self> {
        let stop = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?);
        let thread = thread::Builder::new().name(name.to_owned()).spawn({
            let stop = Arc::clone(&stop);
            move || f(&stop)
        })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl<T> Worker<io::Result<T>> {
    fn join(mut self) -> io::Result<T> {
        let _ = self.stop.write(1);
        let joined = self.thread.take().map(JoinHandle::join);
        joined.and_then(Result::ok).unwrap_or_else(|| Err(io::Error::other("the thread panicked")))
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        let _ = self.stop.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits for a datagram, for the end, or until `until`. True is the end.
fn wait(sockets: &[&Socket], stop: &EventFd, until: Option<Instant>) -> io::Result<bool> {
    let mut fds: Vec<PollFd<'_>> =
        sockets.iter().map(|s| PollFd::new(s.as_fd(), PollFlags::POLLIN)).collect();
    fds.push(PollFd::new(stop.as_fd(), PollFlags::POLLIN));
    let timeout = match until {
        None => PollTimeout::NONE,
        Some(until) => {
            let left = until.saturating_duration_since(Instant::now());
            // Rounded up: waking too early would spin.
            let left = left.as_nanos().div_ceil(1_000_000);
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        }
    };
    match poll(&mut fds, timeout) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => {}
        Err(e) => return Err(e.into()),
    }
    Ok(fds.last().is_some_and(|fd| fd.any().unwrap_or(true)))
}

fn socket(ip: IpAddr, port: u16) -> io::Result<Socket> {
    let address = SocketAddr::new(ip, port);
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    if ip.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Answers one question from the address that it was sent to.
fn answer(socket: &Socket, name: &str) -> io::Result<()> {
    let mut question = [0; 8];
    let mut control = nix::cmsg_space!(libc::in6_pktinfo, libc::in_pktinfo);
    let mut parts = [IoSliceMut::new(&mut question)];
    let flags = MsgFlags::MSG_DONTWAIT;
    let received =
        recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags)?;
    let asked = received.cmsgs()?.next();
    let (client, length) = (received.address, received.bytes);

    let parts = [IoSlice::new(&question[..length]), IoSlice::new(name.as_bytes())];
    let send = |from: &[ControlMessage<'_>]| {
        sendmsg(socket.as_raw_fd(), &parts, from, flags, client.as_ref())
    };
    // A failure to answer is the client's loss, not the end of the server.
    let _ = match asked {
        Some(ControlMessageOwned::Ipv4PacketInfo(mut info)) => {
            // The address asked, and whatever interface the route says.
            info.ipi_spec_dst = info.ipi_addr;
            info.ipi_ifindex = 0;
            send(&[ControlMessage::Ipv4PacketInfo(&info)])
        }
        Some(ControlMessageOwned::Ipv6PacketInfo(mut info)) => {
            // A link-local address means nothing without its interface.
            if !Ipv6Addr::from(info.ipi6_addr.s6_addr).is_unicast_link_local() {
                info.ipi6_ifindex = 0;
            }
            send(&[ControlMessage::Ipv6PacketInfo(&info)])
        }
        _ => send(&[]),
    };
    Ok(())
}

fn ask(
    socket: &Socket,
    vip: SocketAddr,
    every: Duration,
    stop: &EventFd,
    report: &Mutex<Report>,
) -> io::Result<()> {
    let start = Instant::now();
    locked(report).started = SystemTime::now();
    let mut next = start;
    loop {
        if Instant::now() >= next {
            let mut report = locked(report);
            let number = (report.probes.len() as u64).to_be_bytes();
            let sent = start.elapsed();
            // No route, no neighbour, no carrier: the network's faults are lost questions.
            let _ = socket.send_to(&number, &vip.into());
            report.probes.push(Asked { sent, answer: None, others: Vec::new() });
            // A steady pace does not drift, but a pause of ours is not caught up on.
            next = (next + every).max(Instant::now());
        }
        let stopped = wait(&[socket], stop, Some(next))?;
        take_answers(socket, start, &mut locked(report).probes);
        if stopped {
            break;
        }
    }
    let end = Instant::now() + LINGER;
    let never = EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?;
    while locked(report).lost() > 0 && Instant::now() < end {
        wait(&[socket], &never, Some(end))?;
        take_answers(socket, start, &mut locked(report).probes);
    }
    Ok(())
}

fn locked(report: &Mutex<Report>) -> MutexGuard<'_, Report> {
    // Questions are added and completed one by one: a panic leaves none half done.
    report.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take_answers(socket: &Socket, start: Instant, probes: &mut [Asked]) {
    let mut bytes = [0; 64];
    loop {
        // An error is nothing more, or what the network left; poll says if there is more.
        let Ok(length) = io::Read::read(&mut &*socket, &mut bytes) else { return };
        let Some((number, name)) = bytes[..length].split_first_chunk::<8>() else { continue };
        let number = usize::try_from(u64::from_be_bytes(*number)).unwrap_or(usize::MAX);
        let Some(probe) = probes.get_mut(number) else { continue };
        let name: Arc<str> = String::from_utf8_lossy(name).into();
        match &probe.answer {
            None => probe.answer = Some((start.elapsed(), name)),
            Some((_, first)) if *first == name => {}
            Some(_) => probe.others.push(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(ms: u64, by: Option<&str>) -> Asked {
        let sent = Duration::from_millis(ms);
        Asked { sent, answer: by.map(|name| (sent, name.into())), others: Vec::new() }
    }

    fn report(probes: Vec<Asked>) -> Report {
        Report { started: SystemTime::UNIX_EPOCH, every: Duration::from_millis(10), probes }
    }

    #[test]
    fn an_outage_lasts_from_the_first_lost_question_to_the_next_answer() {
        let report = report(vec![
            asked(0, Some("a")),
            asked(10, None),
            asked(20, None),
            asked(30, Some("b")),
            asked(40, Some("b")),
        ]);
        assert_eq!(report.lost(), 2);
        assert_eq!(report.longest_outage(), Duration::from_millis(20));
        let owners: Vec<_> = report.timeline().into_iter().map(|s| s.owner).collect();
        assert_eq!(owners, [Some("a".into()), None, Some("b".into())]);
    }

    #[test]
    fn no_question_is_no_outage() {
        assert_eq!(report(vec![]).longest_outage(), Duration::ZERO);
    }
}
