//! Nodes on one link, each with a set of two routers, and a network that does as it likes; at the
//! end it heals, and each virtual router must have one owner.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use arbitrary::{Result, Unstructured};

use super::generate;
use crate::receive::RxMeta;
use crate::wire;
use crate::{
    Action, ActionResult, AdvertInterval, Config, Facts, Family, GroupId, Handoff, Input, Instant,
    LinkId, Preempt, Priority, ResignMode, RouterId, RouterSet, State, Successor, VirtualAddrs,
    Vrid,
};

const LINK: LinkId = LinkId(0);
const ROUTERS: [RouterId; 2] = [RouterId(0), RouterId(1)];
/// Every down interval, hold, back-off and preempt delay that can be pending is over by then.
const HEALING: Duration = Duration::from_secs(100);

/// A few nodes and whatever happens to them.
pub fn cluster_ops(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Ok(Some(mut cluster)) = Cluster::arbitrary(&mut u) else {
        return;
    };
    while !u.is_empty() && cluster.step(&mut u).is_ok() {}
    cluster.heal();
}

struct Packet {
    from: usize,
    octets: Vec<u8>,
}

struct Cluster {
    nodes: Vec<RouterSet>,
    grouped: bool,
    now: Instant,
    network: VecDeque<Packet>,
}

impl Cluster {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Option<Self>> {
        let now = Instant::from_millis(1_000_000);
        let (count, grouped) = (u.int_in_range(2..=4)?, u.arbitrary()?);
        let preempt = *u.choose(&[Preempt::After(Duration::ZERO), Preempt::Never])?;
        let centis = *u.choose(&[10, 100])?;
        let mut nodes = Vec::new();
        for index in 0..count {
            let mut set = RouterSet::new();
            let priority = Priority::new(u.int_in_range(1..=254)?).unwrap_or_default();
            for id in ROUTERS {
                let Some(config) = config(id, priority, preempt, centis) else {
                    return Ok(None);
                };
                let inserted = set.insert(now, id, LINK, config);
                assert_eq!(inserted, Ok(()));
                let facts = generate::good_facts(Family::V4, index);
                set.handle_input(now, id, Input::Facts(facts));
            }
            if grouped {
                assert_eq!(set.set_group(now, GroupId(0), &ROUTERS), Ok(()));
            }
            nodes.push(set);
        }
        Ok(Some(Self { nodes, grouped, now, network: VecDeque::new() }))
    }

    fn step(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let node = u.choose_index(self.nodes.len())?;
        match u.int_in_range(0..=9)? {
            0..=2 => self.pass_to_next_deadline(),
            3 => {
                self.now += Duration::from_millis(u.int_in_range(0..=5000)?);
                for node in 0..self.nodes.len() {
                    if u.ratio(3, 4)? {
                        self.timeout(node); // the others sleep
                    }
                }
            }
            4 => {
                self.network.pop_front();
            }
            5 => {
                let at = u.choose_index(self.network.len().max(1))?;
                if let Some(packet) = self.network.remove(at) {
                    self.network.push_back(packet);
                }
            }
            6 => {
                let to = u.arbitrary::<u8>()?;
                self.deliver(|node| to >> (node % 8) & 1 == 1);
            }
            7 => self.deliver(|_| true),
            _ => {
                let id = *u.choose(&ROUTERS)?;
                let input = self.input(node, u)?;
                self.nodes[node].handle_input(self.now, id, input);
                self.drain(node, ActionResult::Done);
            }
        }
        self.check();
        Ok(())
    }

    fn input(&self, node: usize, u: &mut Unstructured<'_>) -> Result<Input> {
        let handoff = Handoff {
            mode: *u.choose(&[ResignMode::Hold, ResignMode::RemoveFirst])?,
            deadline: self.now + Duration::from_secs(1),
            successor: *u.choose(&[Successor::Anyone, Successor::BestKnown])?,
        };
        // At most four nodes.
        let good = generate::good_facts(Family::V4, node as u8);
        Ok(match u.int_in_range(0..=9)? {
            0 => Input::Shutdown,
            1 => Input::Resign(handoff),
            2 => Input::Drain(handoff),
            3 => Input::Undrain,
            4 => Input::Facts(Facts { link: false, ..good }),
            5 => Input::Facts(Facts { eligible: false, ..good }),
            6 => Input::Facts(good),
            _ => Input::Startup,
        })
    }

    fn pass_to_next_deadline(&mut self) {
        let next = self.nodes.iter().filter_map(RouterSet::poll_timeout).min();
        self.now = next.unwrap_or(self.now).max(self.now);
        for node in 0..self.nodes.len() {
            self.timeout(node);
        }
    }

    fn timeout(&mut self, node: usize) {
        self.nodes[node].handle_timeout(self.now);
        let next = self.nodes[node].poll_timeout();
        assert!(next.is_none_or(|at| at > self.now), "a busy loop");
        self.drain(node, ActionResult::Done);
    }

    fn drain(&mut self, node: usize, result: ActionResult) {
        while let Some((id, action)) = self.nodes[node].poll_action() {
            match action {
                Action::SendAdvert(spec) => {
                    let mut octets = vec![0; 12];
                    let group = wire::group(Family::V4);
                    let written = self.nodes[node].encode_advert(id, &spec, group, &mut octets);
                    assert_eq!(written, Some(Ok(12)));
                    self.network.push_back(Packet { from: node, octets });
                }
                Action::InstallAddresses(work) | Action::RemoveAddresses(work) => {
                    let done = Input::ActionDone { id: work, result };
                    self.nodes[node].handle_input(self.now, id, done);
                }
                Action::Announce(_) => {}
            }
        }
        while self.nodes[node].poll_event().is_some() {}
    }

    /// The first packet arrives at those nodes.
    fn deliver(&mut self, at: impl Fn(usize) -> bool) {
        let Some(Packet { from, octets }) = self.network.pop_front() else {
            return;
        };
        let meta = RxMeta {
            source: generate::router_address(Family::V4, from as u8), // at most four nodes
            destination: wire::group(Family::V4),
            ttl: wire::TTL,
            received_at: None,
            checksum_verified: false,
        };
        for node in (0..self.nodes.len()).filter(|&node| node != from && at(node)) {
            let taken = self.nodes[node].handle_packet(self.now, LINK, &meta, &octets);
            assert!(taken.is_ok(), "{taken:?}");
            self.drain(node, ActionResult::Done);
        }
    }

    fn check(&self) {
        if !self.grouped {
            return;
        }
        for set in &self.nodes {
            let mut states = set.iter().map(|(_, _, router)| router.state());
            let first = states.next();
            assert!(states.all(|state| Some(state) == first), "a group in two states");
        }
    }

    /// Everything is delivered from now on.
    fn heal(&mut self) {
        let end = self.now + HEALING;
        while self.now < end {
            while !self.network.is_empty() {
                self.deliver(|_| true);
            }
            if self.nodes.iter().all(|set| set.poll_timeout().is_none()) {
                break;
            }
            self.pass_to_next_deadline();
            self.check();
        }
        while !self.network.is_empty() {
            self.deliver(|_| true);
        }
        for id in ROUTERS {
            let routers = || self.nodes.iter().filter_map(|set| set.router(id));
            let owners = routers().filter(|router| router.state() == State::Active).count();
            let able = routers().any(|router| router.state() != State::Initialize);
            let states: Vec<_> = routers().map(|router| router.snapshot()).collect();
            let expected = usize::from(able);
            assert_eq!(owners, expected, "owners of {id:?}, grouped {}: {states:#?}", self.grouped);
        }
    }
}

fn config(id: RouterId, priority: Priority, preempt: Preempt, centis: u16) -> Option<Config> {
    let number = u8::try_from(id.0).ok()? + 1;
    let vips = VirtualAddrs::new(&[generate::vip(Family::V4, number)]).ok()?;
    Config::builder(Vrid::new(number)?, vips)
        .priority(priority)
        .preempt(preempt)
        .interval(AdvertInterval::from_centis(centis)?)
        .build()
        .ok()
}
