//! Waiting: one epoll descriptor over sockets, one deadline and one way to be woken.
//!
//! Threads and foreign event loops both use it: the epoll descriptor is itself pollable.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use vrrp_core::Instant;

/// What woke the waiter: a token that was registered.
pub(crate) type Token = u64;

const TIMER: Token = u64::MAX;
const WAKE: Token = u64::MAX - 1;

/// Sockets, a deadline and a wake-up, behind one descriptor.
#[derive(Debug)]
pub(crate) struct Poller {
    epoll: Epoll,
    timer: TimerFd,
    armed: Option<Instant>,
    wake: Wake,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_BOOTTIME, flags)?;
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let wake = Wake(Arc::new(EventFd::from_flags(flags)?));
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER))?;
        epoll.add(&*wake.0, EpollEvent::new(EpollFlags::EPOLLIN, WAKE))?;
        Ok(Self { epoll, timer, armed: None, wake })
    }

    /// A handle with which any thread ends a wait.
    pub(crate) fn wake_handle(&self) -> Wake {
        self.wake.clone()
    }

    /// Watches a socket for reading. It is forgotten when the socket is closed.
    pub(crate) fn add(&self, socket: impl AsFd, token: Token) -> io::Result<()> {
        Ok(self.epoll.add(socket, EpollEvent::new(EpollFlags::EPOLLIN, token))?)
    }

    /// Sets the deadline at which a wait ends. An absolute time, so that arming late makes
    /// nothing late, and suspend is counted.
    pub(crate) fn arm(&mut self, deadline: Option<Instant>) -> io::Result<()> {
        if self.armed == deadline {
            return Ok(());
        }
        match deadline {
            None => self.timer.unset()?,
            Some(at) => {
                // Zero would disarm; the origin of the clock is long past anyway.
                let at = Duration::from_nanos(at.as_nanos().max(1));
                let expiration = Expiration::OneShot(TimeSpec::from_duration(at));
                self.timer.set(expiration, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
            }
        }
        self.armed = deadline;
        Ok(())
    }

    /// Waits for a socket, the deadline or a wake-up, at most for `longest`, and passes the
    /// tokens of ready sockets to `ready`.
    pub(crate) fn wait(
        &mut self,
        longest: Option<Duration>,
        mut ready: impl FnMut(Token),
    ) -> io::Result<()> {
        let timeout = match longest {
            None => EpollTimeout::NONE,
            Some(longest) => EpollTimeout::try_from(longest).unwrap_or(EpollTimeout::MAX),
        };
        let mut events = [EpollEvent::empty(); 32];
        let count = match self.epoll.wait(&mut events, timeout) {
            Ok(count) => count,
            Err(nix::errno::Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        for event in &events[..count] {
            match event.data() {
                TIMER => {
                    // The deadline has passed: an old expiry must not wake us again.
                    self.timer.unset()?;
                    self.armed = None;
                }
                WAKE => drop(self.wake.0.read()), // resets the counter; empty is fine
                token => ready(token),
            }
        }
        Ok(())
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }
}

/// Ends the wait of one [`Poller`], from any thread.
#[derive(Clone, Debug)]
pub(crate) struct Wake(Arc<EventFd>);

impl Wake {
    pub(crate) fn wake(&self) {
        // The counter cannot overflow before the reader resets it 2^64 times late, and a full
        // counter is a pending wake-up too.
        let _ = self.0.write(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn a_wait_ends_at_the_deadline_and_not_before() {
        let mut poller = Poller::new().unwrap();
        let deadline = clock::now() + Duration::from_millis(20);
        poller.arm(Some(deadline)).unwrap();
        poller.wait(Some(Duration::from_secs(10)), |_| ()).unwrap();
        assert!(clock::now() >= deadline);
        // It does not end at the same deadline twice.
        poller.wait(Some(Duration::ZERO), |_| panic!("no socket is watched")).unwrap();
    }

    #[test]
    fn a_wake_up_that_came_before_the_wait_is_not_lost() {
        let mut poller = Poller::new().unwrap();
        poller.wake_handle().wake();
        let start = clock::now();
        poller.wait(Some(Duration::from_secs(10)), |_| ()).unwrap();
        assert!(clock::now().saturating_since(start) < Duration::from_secs(5));
    }
}
