//! Events as log lines for people: who, what, why.

use std::fmt;

use tracing::{debug, error, info, warn};
use vrrp_core::{Event, Impediment, Reason, State};
use vrrp_net::{EventKind, NodeConfig, NodeEvent, NodeStatus, Notice, RouterStatus};

use crate::config::LoadError;

/// A line per mistake.
pub(crate) fn refused(error: &LoadError) {
    for line in error.to_string().lines() {
        error!("{line}");
    }
}

/// How many routers, in words.
pub(crate) fn routers(config: &NodeConfig) -> String {
    match config.routers() {
        [] => "no router".into(),
        [_] => "1 router".into(),
        routers => format!("{} routers", routers.len()),
    }
}

/// A line per router: how it stands now.
pub(crate) fn status(status: &NodeStatus) {
    for router in &status.routers {
        info!("router \"{}\" on {}: {}", router.name, router.interface, Standing(router));
    }
}

pub(crate) fn event(event: &NodeEvent) {
    let router = &event.router;
    match &event.kind {
        EventKind::Protocol(event) => protocol(router, event),
        EventKind::Notice(notice) => host(router, notice),
        other => debug!("router \"{router}\": {other:?}"),
    }
}

fn protocol(router: &impl fmt::Display, event: &Event) {
    match *event {
        Event::Transition { from, to, reason } => {
            let (from, to, why) = (state(from), state(to), because(reason));
            info!("router \"{router}\": {from} -> {to}: {why}");
        }
        Event::BecameOwner { epoch } => {
            info!("router \"{router}\": owns its addresses (epoch {epoch})");
        }
        Event::LostOwnership { reason, .. } => {
            info!("router \"{router}\": gives its addresses up: {}", because(reason));
        }
        Event::AddressesRemoved => info!("router \"{router}\": its addresses are gone"),
        Event::AddressWorkFailed { installing, retry_in, .. } => {
            let work = if installing { "installed" } else { "removed" };
            error!(
                "router \"{router}\": its addresses could not be {work}, next attempt in \
                 {retry_in:?}"
            );
        }
        Event::ActiveSeen { source, priority, interval } => {
            info!("router \"{router}\": {source} is Active, priority {priority}, every {interval}");
        }
        Event::PeerResigned { source } => info!("router \"{router}\": {source} resigned"),
        Event::DualOwner { source, priority } => {
            warn!(
                "router \"{router}\": {source} is Active as well, priority {priority}: two owners"
            );
        }
        Event::Discarded { source, discard } => {
            warn!("router \"{router}\": a packet from {source} was discarded: {discard}");
        }
        Event::Odd { source, warning } => {
            let what = warning.name().replace('_', " ");
            warn!("router \"{router}\": a packet from {source} is odd, and was taken: {what}");
        }
        Event::PriorityEffective { priority } => {
            info!("router \"{router}\": priority {priority} is in force");
        }
        Event::Stalled { silence } => {
            warn!("router \"{router}\": this host did not run for {silence:?}");
        }
        Event::ClaimRefused { active } => {
            warn!("router \"{router}\": cannot claim above priority {active}");
        }
        Event::Lagged(missed) => warn!("router \"{router}\": {missed} events were lost"),
        ref other => debug!("router \"{router}\": {other:?}"),
    }
}

fn host(router: &impl fmt::Display, notice: &Notice) {
    match notice {
        Notice::AddressRestored { address } => {
            warn!("router \"{router}\": another program removed {address}, it was put back");
        }
        Notice::AddressEvicted { address } => {
            warn!("router \"{router}\": {address} was here without right, it was removed");
        }
        Notice::Contested { removals } => {
            error!(
                "router \"{router}\": another program removed its addresses {removals} times in \
                 10 s, it gives up for a minute"
            );
        }
        Notice::ForeignClaim { address, mac } => {
            warn!("router \"{router}\": {mac} announced {address} too: two owners");
        }
        Notice::SendFailed { error } => {
            warn!("router \"{router}\": advertisements do not leave this host: {error}");
        }
        Notice::SendingAgain => {
            info!("router \"{router}\": advertisements leave this host again");
        }
        other => debug!("router \"{router}\": {other:?}"),
    }
}

/// How a router stands: its state, and what keeps it there.
struct Standing<'a>(&'a RouterStatus);

impl fmt::Display for Standing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snapshot = &self.0.snapshot;
        f.write_str(state(snapshot.state))?;
        match (snapshot.impediment, snapshot.active) {
            (Some(impediment), _) => write!(f, ", {}", keeps_out(impediment)),
            (None, Some((source, priority))) if snapshot.state == State::Backup => {
                write!(f, ", follows {source} of priority {priority}")
            }
            _ => Ok(()),
        }
    }
}

/// RFC 9568's names.
fn state(state: State) -> &'static str {
    match state {
        State::Initialize => "Initialize",
        State::Backup => "Backup",
        State::Active => "Active",
    }
}

fn because(reason: Reason) -> &'static str {
    match reason {
        Reason::Started => "may run",
        Reason::ActiveDown => "no Active was heard for the down interval",
        Reason::PeerResigned => "the Active resigned",
        Reason::BetterPriority => "a higher priority was heard",
        Reason::BetterAddress => "the same priority was heard from a higher address",
        Reason::Shutdown => "shutdown",
        Reason::Resigned => "asked to resign",
        Reason::Drained => "drained",
        Reason::Forced => "told to claim",
        Reason::Adopted => "took the addresses over in place",
        Reason::LinkDown => "the interface is down or gone",
        Reason::NoSource => "there is no address to send from",
        Reason::Ineligible => "a check forbids running",
        Reason::Group => "its sync group changed",
        Reason::Stalled => "this host did not run, and another may own the addresses",
        Reason::InstallFailed => "the addresses could not be installed",
        _ => "for a reason unknown to this program",
    }
}

fn keeps_out(impediment: Impediment) -> &'static str {
    match impediment {
        Impediment::NotStarted => "not started",
        Impediment::Resigned => "resigned",
        Impediment::Drained => "drained",
        Impediment::LinkDown => "waits for the interface",
        Impediment::NoSource => "waits for an address to send from",
        Impediment::Ineligible => "a check forbids running",
        Impediment::Group => "waits for its sync group",
        _ => "kept out for a reason unknown to this program",
    }
}
