//! Who else is there: the routers heard, and the comparison that decides between two.

use core::net::IpAddr;

use crate::receive::Received;
use crate::{AdvertInterval, Instant, Priority};

/// What a Backup knows of the Active it watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Heard {
    /// Nobody has been heard since this router began to watch.
    Nobody,
    /// This router was heard last.
    Active {
        /// Its address.
        source: IpAddr,
        /// Its priority.
        priority: Priority,
        /// Its interval.
        interval: AdvertInterval,
    },
    /// The Active resigned, and nobody was heard since.
    Resigned,
}

/// One valid advertisement, reduced to what the election needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advert {
    pub(super) source: IpAddr,
    pub(super) priority: Option<Priority>,
    pub(super) interval: AdvertInterval,
    pub(super) at: Instant,
}

impl Heard {
    pub(super) fn from_packet(source: IpAddr, received: &Received<'_>, at: Instant) -> Advert {
        Advert { source, priority: received.priority, interval: received.interval, at }
    }

    pub(super) fn active(&self) -> Option<(IpAddr, Priority)> {
        match *self {
            Self::Active { source, priority, .. } => Some((source, priority)),
            Self::Nobody | Self::Resigned => None,
        }
    }
}

/// Routers from which an advertisement was accepted, for choosing a successor. A small table
/// of fixed size: on a link with more routers than this the earliest heard are forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct KnownRouters([Option<Known>; 8]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Known {
    source: IpAddr,
    priority: Priority,
    heard: Instant,
}

impl KnownRouters {
    pub(super) fn note(&mut self, source: IpAddr, priority: Priority, heard: Instant) {
        if let Some(known) = self.0.iter_mut().flatten().find(|k| k.source == source) {
            (known.priority, known.heard) = (priority, heard);
            return;
        }
        // An empty slot counts as heard before any other.
        if let Some(oldest) = self.0.iter_mut().min_by_key(|known| known.map(|k| k.heard)) {
            *oldest = Some(Known { source, priority, heard });
        }
    }

    pub(super) fn priority_of(&self, source: IpAddr) -> Option<Priority> {
        self.0.iter().flatten().find(|k| k.source == source).map(|k| k.priority)
    }

    /// The router that the election would choose, among those known.
    pub(super) fn best(&self) -> Option<IpAddr> {
        self.0.iter().flatten().max_by_key(|k| (k.priority, k.source)).map(|k| k.source)
    }

    /// Forgets when each was heard, and in which order.
    pub(super) fn forget_times(&mut self) {
        for known in self.0.iter_mut().flatten() {
            known.heard = Instant::ZERO;
        }
        self.0.sort_unstable_by_key(|known| known.map(|k| (k.source, k.priority)));
    }
}
