//! A node: routers that own VIPs on this host, and the handle with which an embedder holds them.

mod builder;
mod event;
mod status;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

pub use builder::{NodeBuilder, StartError};
pub use event::{EventKind, Events, EventsError, NodeEvent, Notice};
pub use status::{NodeStatus, RouterStatus};
pub use vrrp_core::ResignMode;

use crate::clock;
use crate::config::{NodeConfig, RouterName};
use crate::driver::{Command, LocalInput, Shared};
use crate::poll::Wake;

/// What a node that is dropped without having resigned takes to give up its VIPs, at most.
const DROP_WITHIN: Duration = Duration::from_millis(500);

/// Routers that own VIPs on this host.
///
/// Two threads do the work; the handle only sends messages to them, so that nothing which an
/// embedder does (blocking included) can make a VIP flap. Every call has a form for async code of
/// any runtime and one that blocks.
///
/// Dropping a node that still holds VIPs gives them up (remove first, then resign), within half a
/// second. Prefer [`resign`](Self::resign), which says what became of them.
#[derive(Debug)]
pub struct Node {
    commands: Sender<Command>,
    wake: Wake,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What became of the VIPs, proved by listing the kernel's addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Resigned {
    /// No VIP of this node is on its interface, in several lists in a row.
    Removed,
    /// These were still there, or there again, at the deadline.
    StillPresent(Vec<IpAddr>),
    /// It could not be found out. Never to be taken for success.
    Unknown(String),
}

/// Why new settings were not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReconfigureError {
    /// A router cannot be as asked. Routers before it in the list have changed already, those
    /// after it have not.
    #[error("router \"{router}\": {reason}")]
    Refused {
        /// The router.
        router: RouterName,
        /// Why.
        reason: String,
    },
    /// The node has resigned. Nothing changed.
    #[error("the node has resigned and takes no new configuration")]
    Resigned,
    /// The node's threads are gone. Nothing changed.
    #[error("the node has stopped")]
    Stopped,
}

impl ReconfigureError {
    pub(crate) fn refused(router: &RouterName, reason: &impl ToString) -> Self {
        Self::Refused { router: router.clone(), reason: reason.to_string() }
    }
}

impl Node {
    /// Begins to describe a node.
    pub fn builder() -> NodeBuilder {
        NodeBuilder::default()
    }

    /// Gives up every VIP and never claims again: [`ResignMode::Hold`] while the service still
    /// works, [`ResignMode::RemoveFirst`] when it does not.
    ///
    /// Addresses are off their interfaces, and that is verified, `within` the given time; usually
    /// long before. Idempotent: further calls resign nothing twice, a more impatient one makes the
    /// first end sooner, and each gets its own verified answer.
    pub async fn resign(&self, mode: ResignMode, within: Duration) -> Resigned {
        match self.ask_to_resign(mode, within).await {
            Ok(resigned) => resigned,
            Err(_) => Resigned::Unknown("the node has stopped".into()),
        }
    }

    /// As [`resign`](Self::resign), blocking. Not for async code.
    pub fn resign_blocking(&self, mode: ResignMode, within: Duration) -> Resigned {
        match self.ask_to_resign(mode, within).blocking_recv() {
            Ok(resigned) => resigned,
            Err(_) => Resigned::Unknown("the node has stopped".into()),
        }
    }

    /// Takes new settings: routers that stay keep their election and their cadence, addresses
    /// that stay are not touched, removed routers resign, new ones start.
    ///
    /// # Errors
    /// See [`ReconfigureError`]; each variant says what has changed.
    pub async fn reconfigure(&self, config: NodeConfig) -> Result<(), ReconfigureError> {
        self.ask_to_reconfigure(config).await.unwrap_or(Err(ReconfigureError::Stopped))
    }

    /// As [`reconfigure`](Self::reconfigure), blocking. Not for async code.
    ///
    /// # Errors
    /// As `reconfigure`.
    pub fn reconfigure_blocking(&self, config: NodeConfig) -> Result<(), ReconfigureError> {
        self.ask_to_reconfigure(config).blocking_recv().unwrap_or(Err(ReconfigureError::Stopped))
    }

    /// Takes a router (or all) out of the election until [`undrain`](Self::undrain).
    pub fn drain(&self, router: Option<&RouterName>, mode: ResignMode, within: Duration) {
        self.tell(router, LocalInput::Drain { mode, within });
    }

    /// Ends a [`drain`](Self::drain).
    pub fn undrain(&self, router: Option<&RouterName>) {
        self.tell(router, LocalInput::Undrain);
    }

    /// Makes a router (or all) claim now, above the present Active's priority, until
    /// [`release_claim`](Self::release_claim).
    pub fn force_claim(&self, router: Option<&RouterName>) {
        self.tell(router, LocalInput::ForceClaim);
    }

    /// Ends a [`force_claim`](Self::force_claim).
    pub fn release_claim(&self, router: Option<&RouterName>) {
        self.tell(router, LocalInput::ReleaseClaim);
    }

    /// Lets a router that resigned take part again.
    pub fn rejoin(&self, router: Option<&RouterName>) {
        self.tell(router, LocalInput::Startup);
    }

    /// Everything that happens from now on, in one order.
    pub fn events(&self) -> Events {
        Events::new(self.shared.events.subscribe())
    }

    /// The present state of every router. Answers from memory, also when the protocol thread
    /// hangs; [`NodeStatus::loop_age`] tells that.
    pub fn status(&self) -> NodeStatus {
        let loop_age = clock::now().saturating_since(self.shared.last_turn());
        NodeStatus { routers: self.shared.routers(), loop_age }
    }

    fn ask_to_resign(&self, mode: ResignMode, within: Duration) -> oneshot::Receiver<Resigned> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Resign { mode, within, reply });
        answer
    }

    fn ask_to_reconfigure(
        &self,
        config: NodeConfig,
    ) -> oneshot::Receiver<Result<(), ReconfigureError>> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Reconfigure { config, reply });
        answer
    }

    fn tell(&self, router: Option<&RouterName>, input: LocalInput) {
        self.send(Command::Input { router: router.cloned(), input });
    }

    /// A node whose threads are gone drops the command, and the caller's answer channel with it.
    fn send(&self, command: Command) {
        let _ = self.commands.send(command);
        self.wake.wake();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Resign { mode: ResignMode::RemoveFirst, within: DROP_WITHIN, reply });
        // Not `blocking_recv`: a drop may happen inside an async runtime, where that panics.
        wait(answer, DROP_WITHIN * 2);
        self.send(Command::Stop);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Waits for an answer from any context, at most for `longest`.
fn wait<T>(mut answer: oneshot::Receiver<T>, longest: Duration) -> Option<T> {
    let end = clock::now() + longest;
    loop {
        match answer.try_recv() {
            Ok(answer) => return Some(answer),
            Err(oneshot::error::TryRecvError::Closed) => return None,
            Err(oneshot::error::TryRecvError::Empty) if clock::now() >= end => return None,
            Err(oneshot::error::TryRecvError::Empty) => {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
