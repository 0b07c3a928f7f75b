//! What the node shows to the outside: events in order, and the latest status.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::Duration;

use tokio::sync::broadcast;
use vrrp_core::{Event, Instant, LinkId, RouterId};

use super::Driver;
use super::routers::Names;
use crate::clock;
use crate::node::{EventKind, NodeEvent, Notice, RouterStatus};

/// Events that a slow consumer may fall behind by before it is told that it lagged.
const EVENTS: usize = 1024;
/// When a reader holds the status at the wrong moment, it is written a little later.
const RETRY_AFTER: Duration = Duration::from_millis(5);

/// What handles read without asking the protocol thread.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) events: broadcast::Sender<NodeEvent>,
    routers: Mutex<BTreeMap<RouterId, RouterStatus>>,
    last_turn: AtomicU64,
}

impl Shared {
    pub(crate) fn new() -> Self {
        let last_turn = AtomicU64::new(clock::now().as_nanos());
        Self { events: broadcast::Sender::new(EVENTS), routers: Mutex::default(), last_turn }
    }

    pub(crate) fn routers(&self) -> Vec<RouterStatus> {
        // A status is replaced whole, so one left by a panicking thread is whole too.
        let routers = self.routers.lock().unwrap_or_else(PoisonError::into_inner);
        routers.values().cloned().collect()
    }

    pub(crate) fn last_turn(&self) -> Instant {
        Instant::from_nanos(self.last_turn.load(Ordering::Relaxed))
    }
}

/// The protocol thread's side of it.
#[derive(Debug)]
pub(crate) struct Publisher {
    shared: Arc<Shared>,
    sequence: u64,
    retry_at: Option<Instant>,
    lost_packets: HashMap<LinkId, u32>,
}

impl Publisher {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, sequence: 0, retry_at: None, lost_packets: HashMap::new() }
    }

    pub(super) fn retry_at(&self) -> Option<Instant> {
        self.retry_at
    }

    pub(super) fn note_lost_packets(&mut self, link: LinkId, lost: u32) {
        self.lost_packets.insert(link, lost);
    }

    pub(super) fn protocol_event(&mut self, names: &Names, id: RouterId, event: Event) {
        self.send(names, id, EventKind::Protocol(event));
    }

    pub(super) fn notice(&mut self, names: &Names, id: RouterId, notice: Notice) {
        self.send(names, id, EventKind::Notice(notice));
    }

    fn send(&mut self, names: &Names, id: RouterId, kind: EventKind) {
        let Some(router) = names.get(id) else { return };
        self.sequence += 1;
        let router = router.config.name().clone();
        let event = NodeEvent { sequence: self.sequence, at: clock::now(), router, kind };
        // Nobody listening is fine.
        let _ = self.shared.events.send(event);
    }
}

impl Driver {
    /// Writes the status of routers that may have changed. Never waits for a reader.
    pub(super) fn publish(&mut self) {
        let now = clock::now();
        self.publisher.shared.last_turn.store(now.as_nanos(), Ordering::Relaxed);
        self.publisher.retry_at = None;
        let changed = self.names.take_changed();
        if changed.is_empty() {
            return;
        }
        let mut routers = match self.publisher.shared.routers.try_lock() {
            Ok(routers) => routers,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.names.keep_changed(changed);
                self.publisher.retry_at = Some(now + RETRY_AFTER);
                return;
            }
        };
        for id in changed {
            let Some((names, router)) = self.names.get(id).zip(self.set.router(id)) else {
                routers.remove(&id);
                continue;
            };
            let lost = self.publisher.lost_packets.get(&names.link).copied().unwrap_or_default();
            let status = routers.entry(id).or_insert_with(|| RouterStatus {
                name: names.config.name().clone(),
                interface: names.config.interface().clone(),
                vips: Vec::new(),
                snapshot: router.snapshot(),
                stats: router.stats().clone(),
                packets_lost: lost,
            });
            status.snapshot = router.snapshot();
            status.stats.clone_from(router.stats());
            status.packets_lost = lost;
            if status.vips != names.config.vips() {
                status.vips = names.config.vips().to_vec();
            }
        }
    }
}
