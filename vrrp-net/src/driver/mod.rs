//! The protocol thread: a plain synchronous loop around [`RouterSet`].
//!
//! It reads packets, the deadline and two queues (commands from handles, reports from the kernel
//! thread), feeds the core one input at a time, and does the actions. It takes no lock that anyone
//! holds for long, allocates little, and never waits for the kernel's global lock: a slow
//! kernel, a blocked embedder or a full log cannot delay an advertisement.

mod actions;
mod facts;
mod publish;
mod resign;
mod routers;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

use tokio::sync::oneshot;
use vrrp_core::{Handoff, Input, LinkId, RouterSet};

use self::facts::Sockets;
use self::publish::Publisher;
use self::resign::Resignation;
use self::routers::Names;
use crate::clock;
use crate::config::{NodeConfig, RouterConfig, RouterName};
use crate::kernel::{Report, Request};
use crate::node::{ReconfigureError, ResignMode, Resigned};
use crate::poll::{Poller, Wake};

/// Packets read from one socket in one turn, so that a flood cannot keep the others waiting.
const PACKETS_PER_TURN: usize = 64;

/// What a handle asks of the protocol thread.
#[derive(Debug)]
pub(crate) enum Command {
    Resign { mode: ResignMode, within: Duration, reply: oneshot::Sender<Resigned> },
    Reconfigure { config: NodeConfig, reply: oneshot::Sender<Result<(), ReconfigureError>> },
    Input { router: Option<RouterName>, input: LocalInput },
    Stop,
}

/// Inputs that a handle may give, with times still relative.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LocalInput {
    Startup,
    Drain { mode: ResignMode, within: Duration },
    Undrain,
    ForceClaim,
    ReleaseClaim,
}

/// The protocol thread's state.
pub(crate) struct Driver {
    poller: Poller,
    set: RouterSet,
    names: Names,
    sockets: Sockets,
    commands: Receiver<Command>,
    reports: Receiver<Report>,
    kernel: Sender<Request>,
    kernel_wake: Wake,
    resignation: Option<Resignation>,
    publisher: Publisher,
    packet: Box<[u8; 65_536]>,
    message: Vec<u8>,
}

/// What connects a driver with the rest of the node.
pub(crate) struct Wiring {
    pub(crate) commands: Receiver<Command>,
    pub(crate) reports: Receiver<Report>,
    pub(crate) kernel: Sender<Request>,
    pub(crate) kernel_wake: Wake,
    pub(crate) publisher: Publisher,
}

pub(crate) use publish::Shared;

impl Driver {
    pub(crate) fn new(poller: Poller, wiring: Wiring) -> Self {
        let Wiring { commands, reports, kernel, kernel_wake, publisher } = wiring;
        Self {
            poller,
            set: RouterSet::new(),
            names: Names::default(),
            sockets: Sockets::default(),
            commands,
            reports,
            kernel,
            kernel_wake,
            resignation: None,
            publisher,
            packet: Box::new([0; 65_536]),
            message: Vec::new(),
        }
    }

    /// Adds the routers that the node begins with.
    pub(crate) fn start(&mut self, routers: &[RouterConfig]) -> Result<(), ReconfigureError> {
        routers.iter().try_for_each(|router| self.add(router))?;
        self.publish();
        Ok(())
    }

    /// Runs until `Stop`, or until every handle is gone.
    pub(crate) fn run(mut self) -> io::Result<()> {
        while self.turn(None)? {}
        self.ask_kernel(Request::Stop);
        Ok(())
    }

    /// One turn: waits, then does everything that is due. `false` once stopped.
    pub(crate) fn turn(&mut self, longest: Option<Duration>) -> io::Result<bool> {
        self.poller.arm(self.next_deadline())?;
        let mut ready = Vec::new();
        self.poller.wait(longest, |token| ready.push(token))?;
        // Packets first: an advertisement that is here has been heard, whatever timer is due.
        ready.into_iter().for_each(|token| self.receive(token));
        while let Ok(report) = self.reports.try_recv() {
            self.report(report);
        }
        loop {
            match self.commands.try_recv() {
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => return Ok(false),
                Ok(command) => self.command(command),
                Err(TryRecvError::Empty) => break,
            }
        }
        self.set.handle_timeout(clock::now());
        self.drain();
        self.follow_resignation();
        self.restore_contested();
        self.publish();
        Ok(true)
    }

    fn next_deadline(&self) -> Option<vrrp_core::Instant> {
        [
            self.set.poll_timeout(),
            self.resignation.as_ref().map(Resignation::next_step),
            self.names.next_contest_end(),
            self.publisher.retry_at(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Reads what a socket has, up to a bound. What is left wakes the next turn.
    fn receive(&mut self, token: u64) {
        for _ in 0..PACKETS_PER_TURN {
            let Some((link, socket)) = self.sockets.by_token(token) else { return };
            // An error here is the interface going down, which the kernel thread reports.
            let Ok(Some(packet)) = socket.receive(&mut self.packet[..]) else { return };
            let now = clock::now();
            if let Some(lost) = packet.lost {
                self.publisher.note_lost_packets(link, lost);
            }
            match self.set.handle_packet(now, link, &packet.meta, packet.payload) {
                Ok((router, _)) => self.names.mark(router),
                Err(_) => self.names.mark_link(link),
            }
            self.drain();
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Resign { mode, within, reply } => self.resign(mode, within, reply),
            Command::Reconfigure { config, reply } => {
                let result = self.reconfigure(&config);
                // A caller that stopped waiting has no use for the answer.
                let _ = reply.send(result);
            }
            Command::Input { router, input } => {
                let now = clock::now();
                let input = match input {
                    LocalInput::Startup => Input::Startup,
                    LocalInput::Undrain => Input::Undrain,
                    LocalInput::ForceClaim => Input::ForceClaim,
                    LocalInput::ReleaseClaim => Input::ReleaseClaim,
                    LocalInput::Drain { mode, within } => Input::Drain(Handoff {
                        mode,
                        deadline: now + within,
                        successor: vrrp_core::Successor::Anyone,
                    }),
                };
                for id in self.names.select(router.as_ref()) {
                    self.input(id, input);
                }
            }
            Command::Stop => {}
        }
    }

    fn input(&mut self, id: vrrp_core::RouterId, input: Input) {
        self.set.handle_input(clock::now(), id, input);
        self.names.mark(id);
        self.drain();
    }

    fn ask_kernel(&self, request: Request) {
        // The kernel thread ends only after this one, unless it failed; then nothing is left to
        // ask.
        let _ = self.kernel.send(request);
        self.kernel_wake.wake();
    }

    fn link_of(&self, id: vrrp_core::RouterId) -> Option<LinkId> {
        self.names.get(id).map(|router| router.link)
    }
}

/// Starts the thread with every signal blocked: signals are the embedder's.
pub(crate) fn spawn(
    name: &str,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<std::thread::JoinHandle<()>> {
    let blocked = nix::sys::signal::SigSet::all();
    let before = blocked.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK)?;
    // The new thread inherits the mask of this one.
    let handle = std::thread::Builder::new().name(name.into()).spawn(body);
    before.thread_set_mask()?;
    handle
}

pub(crate) fn publisher(shared: Arc<Shared>) -> Publisher {
    Publisher::new(shared)
}
