//! The daemon's life: start, serve, reload, stop.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use tracing::{error, info, warn};
use vrrp_net::config::OwnerId;
use vrrp_net::{
    Events, EventsError, Node, NodeConfig, NodeEvent, Problem, ReconfigureError, ResignMode,
    Resigned, StartError,
};

use crate::config::{self, LoadError};
use crate::signals::{Request, Requests, Signals};
use crate::{Exit, say, warn_about};

/// How long a planned stop may take: the successor's skew at the ordinary intervals, and then some.
const HOLD_WITHIN: Duration = Duration::from_secs(3);

/// How long an impatient stop may take: a kernel that is slow to remove an address, not a peer.
const HURRY_WITHIN: Duration = Duration::from_secs(1);

/// Starts a node and keeps it until it has been stopped.
pub(crate) async fn run(config: NodeConfig, file: &Path, run_dir: &Path) -> Exit {
    // Before the first VIP can be here: from now on a signal is a request and kills nobody.
    let mut signals = match Signals::new() {
        Ok(signals) => signals,
        Err(error) => {
            error!("signals cannot be received: {error}");
            return Exit::Runtime;
        }
    };
    warn_about(&config);
    // Not the default of embedders: on one host, neither may take the other's addresses away.
    let owner = OwnerId::new("vipd").expect("letters alone are an owner id");
    let node = match Node::builder().config(&config).run_dir(run_dir).owner(owner).start() {
        Ok(node) => node,
        Err(error) => return not_started(&error),
    };
    let mut events = node.events();
    let (version, routers) = (env!("CARGO_PKG_VERSION"), say::routers(&config));
    info!("vipd {version}: {routers} from {}", file.display());
    say::status(&node.status());

    let exit = serve(&node, &mut events, &mut signals, || config::load(file)).await;
    // Ends the threads. A node that has resigned has nothing left to give up.
    drop(node);
    exit
}

/// What the daemon asks of a node. Tests put another in its place, to be told a VIP that stays.
pub(crate) trait Owner {
    fn resign(&self, mode: ResignMode, within: Duration) -> impl Future<Output = Resigned>;

    fn reconfigure(&self, config: NodeConfig)
    -> impl Future<Output = Result<(), ReconfigureError>>;
}

impl Owner for Node {
    fn resign(&self, mode: ResignMode, within: Duration) -> impl Future<Output = Resigned> {
        Self::resign(self, mode, within)
    }

    fn reconfigure(
        &self,
        config: NodeConfig,
    ) -> impl Future<Output = Result<(), ReconfigureError>> {
        Self::reconfigure(self, config)
    }
}

/// Where events come from: a node, or a test.
pub(crate) trait Feed {
    /// The next event. Safe to cancel.
    async fn next(&mut self) -> Result<NodeEvent, EventsError>;
}

impl Feed for Events {
    async fn next(&mut self) -> Result<NodeEvent, EventsError> {
        Self::next(self).await
    }
}

/// Tells what happens and does what is asked, until a stop.
async fn serve(
    node: &impl Owner,
    events: &mut impl Feed,
    requests: &mut impl Requests,
    load: impl Fn() -> Result<NodeConfig, LoadError>,
) -> Exit {
    loop {
        tokio::select! {
            biased;
            request = requests.next() => match request {
                Request::Stop => return stop(node, events, requests).await,
                Request::Reload => reload(node, &load).await,
            },
            event = events.next() => if !told(event) {
                error!("the node has stopped by itself");
                return Exit::Runtime;
            },
        }
    }
}

async fn reload(node: &impl Owner, load: &impl Fn() -> Result<NodeConfig, LoadError>) {
    let config = match load() {
        Ok(config) => config,
        Err(error) => {
            say::refused(&error);
            warn!("the configuration was refused: the old one stays in force");
            return;
        }
    };
    warn_about(&config);
    let routers = say::routers(&config);
    match node.reconfigure(config).await {
        Ok(()) => info!("the configuration was read again: {routers}"),
        Err(error) => error!("the configuration was not taken as a whole: {error}"),
    }
}

/// Gives the VIPs up: in peace, and at once if asked again.
async fn stop(node: &impl Owner, events: &mut impl Feed, requests: &mut impl Requests) -> Exit {
    info!("stopping: the addresses are handed over, within {HOLD_WITHIN:?}");
    let mut planned = pin!(node.resign(ResignMode::Hold, HOLD_WITHIN));
    let mut feed_ended = false;
    let resigned = loop {
        tokio::select! {
            biased;
            resigned = &mut planned => break resigned,
            request = requests.next() => if request == Request::Stop {
                warn!("asked again: the addresses are removed at once");
                break node.resign(ResignMode::RemoveFirst, HURRY_WITHIN).await;
            },
            event = events.next(), if !feed_ended => feed_ended = !told(event),
        }
    };
    match resigned {
        Resigned::Removed => {
            info!("stopped: no address of ours is left on this host");
            Exit::Success
        }
        Resigned::StillPresent(addresses) => {
            let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
            error!("stopped, and still on this host: {}", addresses.join(", "));
            Exit::StillPresent
        }
        Resigned::Unknown(reason) => {
            error!("stopped, and addresses may still be on this host: {reason}");
            Exit::StillPresent
        }
    }
}

/// Whether there may be more events.
fn told(event: Result<NodeEvent, EventsError>) -> bool {
    match event {
        Ok(event) => say::event(&event),
        Err(EventsError::Lagged(missed)) => warn!("{missed} events were missed"),
        Err(EventsError::Stopped) => return false,
    }
    true
}

/// One sentence per problem; the exit status tells the first thing to mend.
fn not_started(error: &StartError) -> Exit {
    let problems = match error {
        StartError::Preflight(problems) => problems,
        other => {
            error!("not started: {other}");
            let host = matches!(other, StartError::RunDirectory { .. });
            return if host { Exit::Host } else { Exit::Runtime };
        }
    };
    for problem in problems {
        error!("not started: {problem}");
    }
    let any = |kind: fn(&Problem) -> bool| problems.iter().any(kind);
    if any(|problem| matches!(problem, Problem::Capability { .. })) {
        Exit::Privilege
    } else if any(|problem| matches!(problem, Problem::NoInterface { .. })) {
        Exit::Interface
    } else {
        Exit::Host
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::future::pending;
    use std::net::{IpAddr, Ipv4Addr};
    use std::path::PathBuf;

    use super::*;

    const VIP: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 10));

    #[tokio::test]
    async fn a_stop_holds_and_its_result_is_the_exit_status() {
        for (resigned, exit) in [
            (Resigned::Removed, Exit::Success),
            (Resigned::StillPresent(vec![VIP]), Exit::StillPresent),
            (Resigned::Unknown("EIO".into()), Exit::StillPresent),
        ] {
            let node = Fake::answers(Some(resigned.clone()), resigned);
            assert_eq!(node.serve([Request::Stop]).await, exit);
            assert_eq!(node.calls.into_inner(), ["resign Hold 3s"]);
        }
    }

    #[tokio::test]
    async fn a_second_stop_hurries_and_a_reload_does_not() {
        let node = Fake::answers(None, Resigned::Removed);
        let exit = node.serve([Request::Stop, Request::Reload, Request::Stop]).await;
        assert_eq!(exit, Exit::Success);
        assert_eq!(node.calls.into_inner(), ["resign Hold 3s", "resign RemoveFirst 1s"]);
    }

    #[tokio::test]
    async fn a_reload_reconfigures_only_with_what_was_accepted() {
        let node = Fake::answers(Some(Resigned::Removed), Resigned::Removed);
        node.loads.borrow_mut().extend([true, false, true]);
        let reload = Request::Reload;
        node.serve([reload, reload, reload, Request::Stop]).await;
        assert_eq!(node.calls.into_inner(), ["reconfigure", "reconfigure", "resign Hold 3s"]);
    }

    #[tokio::test]
    async fn a_node_that_ends_by_itself_is_a_failure() {
        let mut node = Fake::answers(None, Resigned::Removed);
        node.events = Some(EventsError::Stopped);
        assert_eq!(node.serve([]).await, Exit::Runtime);
    }

    #[tokio::test]
    async fn missed_events_stop_nothing() {
        let mut node = Fake::answers(Some(Resigned::Removed), Resigned::Removed);
        node.events = Some(EventsError::Lagged(3));
        assert_eq!(node.serve([Request::Stop]).await, Exit::Success);
    }

    /// A node that answers as told.
    struct Fake {
        /// `None`: it takes its time.
        held: Option<Resigned>,
        hurried: Resigned,
        /// Whether each load is accepted.
        loads: RefCell<VecDeque<bool>>,
        /// The only thing that the feed tells.
        events: Option<EventsError>,
        calls: RefCell<Vec<String>>,
    }

    impl Fake {
        fn answers(held: Option<Resigned>, hurried: Resigned) -> Self {
            Self {
                held,
                hurried,
                loads: RefCell::default(),
                events: None,
                calls: RefCell::default(),
            }
        }

        async fn serve(&self, requests: impl Into<VecDeque<Request>>) -> Exit {
            let mut requests: VecDeque<Request> = requests.into();
            let load = || match self.loads.borrow_mut().pop_front() {
                Some(true) => Ok(NodeConfig::default()),
                _ => Err(LoadError::TooLarge { path: PathBuf::from("/etc/vipd.toml") }),
            };
            serve(self, &mut self.events.clone(), &mut requests, load).await
        }
    }

    impl Owner for Fake {
        async fn resign(&self, mode: ResignMode, within: Duration) -> Resigned {
            self.calls.borrow_mut().push(format!("resign {mode:?} {within:?}"));
            match (mode, &self.held) {
                (ResignMode::Hold, None) => pending().await,
                (ResignMode::Hold, Some(held)) => held.clone(),
                (ResignMode::RemoveFirst, _) => self.hurried.clone(),
            }
        }

        async fn reconfigure(&self, _: NodeConfig) -> Result<(), ReconfigureError> {
            self.calls.borrow_mut().push("reconfigure".into());
            Ok(())
        }
    }

    impl Requests for VecDeque<Request> {
        async fn next(&mut self) -> Request {
            match self.pop_front() {
                Some(request) => request,
                None => pending().await,
            }
        }
    }

    impl Feed for Option<EventsError> {
        async fn next(&mut self) -> Result<NodeEvent, EventsError> {
            match self.take() {
                Some(error) => Err(error),
                None => pending().await,
            }
        }
    }
}
