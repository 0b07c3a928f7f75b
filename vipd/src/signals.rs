//! Signals as requests.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What the operator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// SIGTERM, SIGINT: give the VIPs up and exit.
    Stop,
    /// SIGHUP: read the configuration again.
    Reload,
}

/// Where requests come from: signals, or a test.
pub(crate) trait Requests {
    /// The next request. Safe to cancel.
    async fn next(&mut self) -> Request;
}

/// The signals of this process, from the time of its construction on.
#[derive(Debug)]
pub(crate) struct Signals {
    term: Signal,
    int: Signal,
    hup: Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            int: signal(SignalKind::interrupt())?,
            hup: signal(SignalKind::hangup())?,
        })
    }
}

impl Requests for Signals {
    async fn next(&mut self) -> Request {
        // Stopping goes first: a pending reload would only delay it.
        tokio::select! {
            biased;
            _ = self.term.recv() => Request::Stop,
            _ = self.int.recv() => Request::Stop,
            _ = self.hup.recv() => Request::Reload,
        }
    }
}
