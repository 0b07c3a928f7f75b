//! One host: the real router, and what a driver and a kernel do for it.

use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use vrrp_core::receive::RxMeta;
use vrrp_core::wire::{self, AdvertRepr, ChecksumStyle, PseudoHeader};
use vrrp_core::{
    AddressState, AdvertInterval, Config, Facts, Family, Input, Instant, Priority, State, Timer,
    VirtualAddrs, VirtualRouter, Vrid,
};

use super::{BEST, Election, HOSTS};

/// The present, always: routers are stored as they are now.
pub(super) const NOW: Instant = VirtualRouter::NORMAL_NOW;

/// One host.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Host {
    /// `None`: the host is dead.
    pub(super) router: Option<Shared>,
    /// Address work that the kernel has not finished: true to install, false to remove.
    pub(super) work: Option<bool>,
    /// The VIP is on the interface. Only the kernel's work changes it.
    pub(super) vip: bool,
    /// For how long the host has been paused, if it is.
    pub(super) paused: Option<Duration>,
    /// Resigned, and not started again.
    pub(super) resigned: bool,
    /// While Active: time since the last advertisement.
    pub(super) silent: Duration,
}

impl Host {
    /// Booted and started just now.
    pub(super) fn booted(model: &Election, index: usize) -> Self {
        let mut router = VirtualRouter::new(config(model, index), NOW);
        let facts = Facts { link: true, source: Some(address(index)), eligible: true };
        router.handle_input(NOW, Input::Facts(facts));
        router.handle_input(NOW, Input::Startup);
        let router = Some(Shared::new(&router, NOW));
        Self { router, ..Self::dead() }
    }

    pub(super) const fn dead() -> Self {
        let silent = Duration::ZERO;
        Self { router: None, work: None, vip: false, paused: None, resigned: false, silent }
    }

    pub(super) fn is(&self, state: State) -> bool {
        self.router.as_ref().is_some_and(|router| router.state() == state)
    }

    /// Whether the host is alive and not paused.
    pub(super) fn runs(&self) -> bool {
        self.router.is_some() && self.paused.is_none()
    }

    /// Whether the router may own the VIP once everything has settled.
    pub(super) fn takes_part(&self) -> bool {
        self.runs() && !self.resigned
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.router.as_ref().filter(|_| self.runs())?.poll_timeout()
    }

    /// Whether addresses on the interface are accounted for.
    pub(super) fn vip_is_accounted_for(&self) -> bool {
        let Some(router) = &self.router else {
            return !self.vip;
        };
        let removing =
            self.work == Some(false) || router.snapshot().addresses == AddressState::Removing;
        !self.vip
            || router.state() == State::Active
            || router.deadline(Timer::HoldEnd).is_some()
            || removing
    }

    /// Time passes. With `clock` false the router's clock stands still.
    pub(super) fn age(&mut self, step: Duration, clock: bool) {
        if self.is(State::Active) {
            self.silent += step;
        }
        if let (Some(router), true) = (&mut self.router, clock) {
            *router = Shared::new(router, NOW + step);
        }
        if let Some(paused) = &mut self.paused {
            *paused += step;
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(router) = &self.router else {
            return f.write_str("dead");
        };
        write!(f, "{:?} prio {}", router.state(), router.priority())?;
        for timer in [Timer::HoldEnd, Timer::ActiveDown, Timer::AdvertDue, Timer::AddressRetry] {
            if let Some(at) = router.deadline(timer) {
                let left = at.as_nanos() as i128 - NOW.as_nanos() as i128;
                write!(f, " {timer:?} in {} ms", left / 1_000_000)?;
            }
        }
        write!(
            f,
            "{}{}",
            if self.vip { " VIP" } else { "" },
            match self.work {
                Some(true) => " installing",
                Some(false) => " removing",
                None => "",
            }
        )?;
        if self.resigned {
            f.write_str(" resigned")?;
        }
        if let Some(paused) = self.paused {
            write!(f, " paused for {paused:?}")?;
        }
        Ok(())
    }
}

pub(super) fn address(index: usize) -> IpAddr {
    // There are three hosts.
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, index as u8 + 1))
}

/// The host with this address.
pub(super) fn index_of(wanted: IpAddr) -> Option<usize> {
    (0..HOSTS).find(|&index| address(index) == wanted)
}

fn vips() -> Option<VirtualAddrs> {
    VirtualAddrs::new(&[IpAddr::V4(Ipv4Addr::new(192, 0, 2, 100))]).ok()
}

fn config(model: &Election, index: usize) -> Config {
    let silent = vrrp_core::AnnounceSchedule {
        burst: 1,
        repeat_after: Duration::ZERO,
        refresh: Duration::ZERO,
    };
    let built = vips().and_then(|vips| {
        Config::builder(Vrid::new(51)?, vips)
            .priority(model.priority(index))
            .interval(Election::interval())
            .preempt(model.preempt)
            .announce(silent)
            .max_peer_priority(BEST)
            .build()
            .ok()
    });
    built.expect("constants of a valid configuration")
}

/// The bytes of an advertisement and what the IP layer says about it.
pub(super) fn advert(
    from: usize,
    priority: Option<Priority>,
    interval: AdvertInterval,
) -> (RxMeta, [u8; 12]) {
    static VIPS: LazyLock<Option<VirtualAddrs>> = LazyLock::new(vips);
    let (source, destination) = (address(from), wire::group(Family::V4));
    let mut bytes = [0; 12];
    let message = Vrid::new(51).zip(VIPS.as_ref()).map(|(vrid, vips)| AdvertRepr {
        version: vrrp_core::Version::V3,
        vrid,
        priority,
        interval,
        password: None,
        addresses: vips,
    });
    let header = PseudoHeader { source, destination };
    let written = message.map(|m| m.emit(header, ChecksumStyle::PseudoHeader, &mut bytes));
    assert_eq!(written, Some(Ok(12)), "one IPv4 address makes twelve octets");
    let meta =
        RxMeta { source, destination, ttl: wire::TTL, received_at: None, checksum_verified: false };
    (meta, bytes)
}

/// A router in normal form, stored once however many worlds it is part of. There are far fewer
/// routers than worlds, and a world becomes three pointers and a few bytes.
#[derive(Clone)]
pub(super) struct Shared(Arc<Stored>);

struct Stored {
    hash: u64,
    router: VirtualRouter,
}

impl Shared {
    pub(super) fn new(router: &VirtualRouter, now: Instant) -> Self {
        static STORE: LazyLock<Vec<Mutex<HashSet<Shared>>>> =
            LazyLock::new(|| (0..64).map(|_| Mutex::default()).collect());
        let router = router.normalized_at(now);
        let mut hasher = DefaultHasher::new(); // the same in every run
        router.hash(&mut hasher);
        let hash = hasher.finish();
        let shared = Self(Arc::new(Stored { hash, router }));
        let shard = &STORE[hash as usize % STORE.len()];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shard.get(&shared) {
            return known.clone();
        }
        shard.insert(shared.clone());
        shared
    }
}

impl std::ops::Deref for Shared {
    type Target = VirtualRouter;

    fn deref(&self) -> &VirtualRouter {
        &self.0.router
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash && self.0.router == other.0.router)
    }
}

impl Eq for Shared {}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}
