//! Describing and starting a node.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;

use super::{Node, ReconfigureError};
use crate::config::{ConfigErrors, NodeConfig, OwnerId, RouterConfig};
use crate::driver::{self, Driver, Shared, Wiring};
use crate::kernel::{Kernel, Outlet};
use crate::poll::Poller;
use crate::preflight::{self, Problem};
use crate::record::Record;

/// Describes a node.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct NodeBuilder {
    routers: Vec<RouterConfig>,
    run_dir: Option<PathBuf>,
    owner: OwnerId,
}

impl NodeBuilder {
    /// Adds a router.
    pub fn router(mut self, router: RouterConfig) -> Self {
        self.routers.push(router);
        self
    }

    /// Adds every router of a configuration.
    pub fn config(mut self, config: &NodeConfig) -> Self {
        self.routers.extend(config.routers().iter().cloned());
        self
    }

    /// Keeps a record of the addresses in this directory, so that the next process of the same
    /// owner finds what a crash of this one leaves behind. A directory under `/run`, which a
    /// reboot empties, is right. Default: no record; then only addresses that the next
    /// configuration still names are cleaned up.
    pub fn run_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.run_dir = Some(directory.into());
        self
    }

    /// Whose addresses they are, where several programs on a host own VIPs. Default `vrrp`.
    pub fn owner(mut self, owner: OwnerId) -> Self {
        self.owner = owner;
        self
    }

    /// Checks the host, then starts the node's two threads in the network namespace of the calling
    /// thread. Routers start at once. No routers is no error: an idle node.
    ///
    /// Needs CAP_NET_ADMIN and CAP_NET_RAW, in the user namespace that owns the network namespace.
    ///
    /// # Errors
    /// Nothing was changed, except with [`StartError::Host`] of a thread that would not start.
    pub fn start(self) -> Result<Node, StartError> {
        let config = NodeConfig::new(self.routers)?;
        let problems = preflight::check(config.routers())?;
        if !problems.is_empty() {
            return Err(StartError::Preflight(problems));
        }
        let poller = Poller::new()?;
        let shared = Arc::new(Shared::new());
        let (report_sender, reports) = mpsc::channel();
        let (request_sender, requests) = mpsc::channel();
        let (commands, command_receiver) = mpsc::channel();
        let wake = poller.wake_handle();
        let (record, left) = match &self.run_dir {
            None => (None, BTreeSet::new()),
            Some(directory) => {
                let (record, left) = Record::open(directory, &self.owner).map_err(|error| {
                    StartError::RunDirectory { directory: directory.clone(), error }
                })?;
                (Some(record), left)
            }
        };
        let outlet = Outlet::new(report_sender, wake.clone());
        let mut kernel = Kernel::new(requests, outlet, record)?;
        for address in kernel.reap(&left) {
            tracing::warn!(%address, "removed an address that an earlier process left behind");
        }
        let wiring = Wiring {
            commands: command_receiver,
            reports,
            kernel: request_sender,
            kernel_wake: kernel.wake_handle(),
            publisher: driver::publisher(shared.clone()),
        };
        let mut driver = Driver::new(poller, wiring);
        driver.start(config.routers())?;
        let mut node = Node { commands, wake, shared, threads: Vec::new() };
        node.threads.push(driver::spawn("vrrp-kernel", || kernel.run())?);
        node.threads.push(driver::spawn("vrrp-protocol", || {
            if let Err(error) = driver.run() {
                tracing::error!(%error, "the protocol loop failed");
            }
        })?);
        Ok(node)
    }
}

/// Why a node did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Something that the node needs is missing. Nothing was changed.
    #[error("{}", join(.0))]
    Preflight(Vec<Problem>),
    /// Routers contradict each other. Nothing was changed.
    #[error(transparent)]
    Config(#[from] ConfigErrors),
    /// A router cannot be as asked. Nothing was changed.
    #[error(transparent)]
    Router(#[from] ReconfigureError),
    /// The run directory cannot be used. Nothing was changed.
    #[error("the run directory {} cannot be used: {error}", directory.display())]
    RunDirectory {
        /// The directory.
        directory: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The host refused a resource (descriptors, threads, memory).
    #[error("the host refused a resource: {0}")]
    Host(#[from] io::Error),
}

fn join(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
