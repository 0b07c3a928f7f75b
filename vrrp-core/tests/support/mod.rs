//! What the tests of one router share: a router on a bench, with a clock that only the test moves.
#![allow(dead_code, unreachable_pub)] // each test file uses a part of it
#![allow(clippy::unwrap_used)]

pub mod bad_packets;
pub mod rack;
pub mod snapshot;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use vrrp_core::receive::{Accepted, Discard, RxMeta};
use vrrp_core::{
    Action, ActionResult, AdvertInterval, AdvertSpec, Audience, Config, ConfigBuilder, Event,
    Facts, Family, GROUP_V4, GROUP_V6, Input, Instant, Mode, Priority, State, UnicastPeers,
    VirtualAddrs, VirtualRouter, Vrid,
};

/// 192.0.2.1, the address of the router on the bench.
pub const OWN: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// 192.0.2.10, its VIP.
pub const VIP: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 10));

pub fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

pub fn priority(value: u8) -> Priority {
    Priority::new(value).unwrap()
}

pub fn millis(value: u64) -> Duration {
    Duration::from_millis(value)
}

/// v3, IPv4, VRID 51, one VIP, 1 s, priority 100, multicast.
pub fn config() -> ConfigBuilder {
    Config::builder(Vrid::new(51).unwrap(), VirtualAddrs::new(&[VIP]).unwrap())
}

pub fn unicast(peers: &[&str]) -> Mode {
    let peers: Vec<IpAddr> = peers.iter().map(|peer| ip(peer)).collect();
    Mode::Unicast(UnicastPeers::new(&peers).unwrap())
}

/// A router and its clock.
#[derive(Clone)]
pub struct Bench {
    pub router: VirtualRouter,
    pub now: Instant,
    /// How address work ends: at once and with this result, or (`None`) not until
    /// the test says so.
    pub address_work: Option<ActionResult>,
}

impl Bench {
    /// In Initialize.
    pub fn new(config: Config) -> Self {
        let now = Instant::from_millis(1_000_000);
        let router = VirtualRouter::new(config, now);
        Self { router, now, address_work: Some(ActionResult::Done) }
    }

    /// Started, with good facts: in Backup, or Active for an owner.
    pub fn started(config: Config) -> Self {
        let mut bench = Self::new(config);
        bench.input(Input::Facts(bench.good_facts()));
        bench.input(Input::Startup);
        bench
    }

    /// Active after its down interval.
    pub fn active(config: Config) -> Self {
        let mut bench = Self::started(config);
        if bench.router.state() != State::Active {
            bench.timeout();
        }
        assert_eq!(bench.router.state(), State::Active);
        while bench.router.poll_event().is_some() {}
        bench
    }

    pub fn good_facts(&self) -> Facts {
        let source = match self.router.config().family() {
            Family::V4 => OWN,
            Family::V6 => ip("fe80::1"),
        };
        Facts { link: true, source: Some(source), eligible: true }
    }

    pub fn input(&mut self, input: Input) -> Vec<Action> {
        self.router.handle_input(self.now, input);
        self.drain()
    }

    /// Jumps to the next deadline.
    pub fn timeout(&mut self) -> Vec<Action> {
        self.now = self.router.poll_timeout().expect("something is armed").max(self.now);
        self.router.handle_timeout(self.now);
        self.drain()
    }

    /// Lets time pass, firing what falls due on the way at its time.
    pub fn pass(&mut self, duration: Duration) -> Vec<Action> {
        let end = self.now + duration;
        let mut actions = Vec::new();
        while self.router.poll_timeout().is_some_and(|at| at <= end) {
            actions.extend(self.timeout());
        }
        self.now = end;
        actions
    }

    /// Time passes and nobody runs: no timer fires.
    pub fn sleep(&mut self, duration: Duration) {
        self.now += duration;
    }

    /// An advertisement from another router with this one's settings.
    pub fn hear(&mut self, source: &str, value: u8) -> (Accepted, Vec<Action>) {
        let interval = self.router.config().interval();
        self.hear_with(source, value, interval)
    }

    pub fn hear_with(
        &mut self,
        source: &str,
        value: u8,
        interval: AdvertInterval,
    ) -> (Accepted, Vec<Action>) {
        let (meta, message) = advert_from(self.router.config(), ip(source), value, interval);
        let accepted = self.packet(&meta, &message).expect("a valid advertisement");
        (accepted, self.drain())
    }

    pub fn packet(&mut self, meta: &RxMeta, message: &[u8]) -> Result<Accepted, Discard> {
        self.router.handle_packet(self.now, meta, message)
    }

    pub fn drain(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        while let Some(action) = self.router.poll_action() {
            actions.push(action);
            if let (Action::InstallAddresses(id) | Action::RemoveAddresses(id), Some(result)) =
                (action, self.address_work)
            {
                self.router.handle_input(self.now, Input::ActionDone { id, result });
            }
        }
        actions
    }

    pub fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.router.poll_event()).collect()
    }

    /// Time to the next deadline.
    pub fn next_in(&self) -> Duration {
        self.router.poll_timeout().expect("something is armed").saturating_since(self.now)
    }
}

/// What another router with the same settings would send.
pub fn advert_from(
    config: &Config,
    source: IpAddr,
    value: u8,
    interval: AdvertInterval,
) -> (RxMeta, Vec<u8>) {
    let destination = match (config.mode(), config.family()) {
        (Mode::Multicast, Family::V4) => IpAddr::V4(GROUP_V4),
        (Mode::Multicast, Family::V6) => IpAddr::V6(GROUP_V6),
        (_, Family::V4) => OWN,
        (_, Family::V6) => ip("fe80::1"),
    };
    let mut sender = VirtualRouter::new(config.clone(), Instant::ZERO);
    let facts = Facts { link: true, source: Some(source), eligible: true };
    sender.handle_input(Instant::ZERO, Input::Facts(facts));
    let spec = AdvertSpec { audience: Audience::All, priority: Priority::new(value), interval };
    let mut message = vec![0; config.message_len()];
    sender.encode_advert(&spec, destination, &mut message).unwrap();
    let meta =
        RxMeta { source, destination, ttl: 255, received_at: None, checksum_verified: false };
    (meta, message)
}

/// The advertisement that an Active sends each interval.
pub fn advert(value: u8) -> Action {
    advert_to(Audience::All, value, AdvertInterval::DEFAULT)
}

/// Priority 0 to everybody.
pub fn resignation() -> Action {
    advert(0)
}

pub fn advert_to(audience: Audience, value: u8, interval: AdvertInterval) -> Action {
    Action::SendAdvert(AdvertSpec { audience, priority: Priority::new(value), interval })
}

pub fn installs(actions: &[Action]) -> bool {
    actions.iter().any(|action| matches!(action, Action::InstallAddresses(_)))
}

pub fn removes(actions: &[Action]) -> bool {
    actions.iter().any(|action| matches!(action, Action::RemoveAddresses(_)))
}
