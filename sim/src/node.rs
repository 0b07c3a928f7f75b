//! One node: the real core, and what its driver and its kernel know.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use vrrp_core::tracking::{Check, CheckState, Weight, effective_priority};
use vrrp_core::{
    ActionId, AdvertInterval, ChecksumMode, Config, Facts, GroupId, Input, InstallFailure, Instant,
    LinkId, Mode, Password, Preempt, Priority, Profile, RouterId, RouterSet, Snapshot,
    UnicastPeers, Version, VirtualAddrs, Vrid,
};

use crate::clock::{Clock, NEVER, Time};
use crate::schedule::{MAX_NODES, Preemption, RouterPlan, Schedule};

/// The checks of every router: required, worth +20, worth −30.
pub(crate) const CHECKS: usize = 3;

/// Whether a node's process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It runs.
    Running,
    /// It exists and does not run.
    Stalled {
        /// Packets are lost instead of waiting.
        deaf: bool,
    },
    /// There is no process.
    Down,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) set: RouterSet,
    pub(crate) clock: Clock,
    pub(crate) life: Life,
    /// Counts processes.
    pub(crate) boot: u16,
    pub(crate) ports: Vec<Port>,
    /// Packets that wait for a stalled process.
    pub(crate) backlog: Vec<u32>,
    /// Address work that came to its end while it was stalled: router, id, whether it installs.
    pub(crate) unfinished: Vec<(u8, u32, bool)>,
    /// What happened while it was stalled, for its routers to hear.
    pub(crate) missed: Vec<(u8, Input)>,
    /// How many faults take the carrier, and the source address, of each link.
    pub(crate) no_carrier: [u8; crate::schedule::LINKS],
    pub(crate) no_source: [u8; crate::schedule::LINKS],
    pub(crate) send_fails: u8,
    pub(crate) work_fails: u8,
    pub(crate) work_partly: bool,
    pub(crate) work_slow_ms: u16,
    /// Failures of its own that excuse it from serving, and until when earlier ones do.
    excuses: u8,
    excused_until: Time,
}

/// What the driver and the kernel of a node know about one of its routers.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) plan: RouterPlan,
    pub(crate) priority: u8,
    /// Nodes that are no peers at the moment.
    pub(crate) not_peers: u8,
    pub(crate) checks: [u8; CHECKS],
    /// What the operator wants: how many faults keep it stopped, and the two latches.
    pub(crate) stops: u8,
    pub(crate) resigned: bool,
    pub(crate) drained: bool,
    /// The addresses are on the interface.
    pub(crate) present: bool,
    /// Address work that has not ended.
    pub(crate) work: Option<ActionId>,
    /// The kernel removes the addresses then, if nothing refreshes them.
    pub(crate) lease_until: Time,
    pub(crate) permit_until: Time,
    pub(crate) refreshing: bool,
    /// The latest advertisement could not be sent, and the core was told so.
    pub(crate) sending_fails: bool,

    // What the checkers remember.
    /// The router after the latest step.
    pub(crate) seen: Snapshot,
    pub(crate) last_sent: Instant,
    /// The interval of the latest advertisement to all.
    pub(crate) told_interval: AdvertInterval,
    /// True time, priority and interval of the latest advertisement that a Backup must follow.
    pub(crate) last_better: Option<(Time, u8, u16)>,
    /// Nodes that were sent priority 0 since the router was last Active.
    pub(crate) zeros: u8,
    /// A resignation may still be said to the rest of the peers until then.
    pub(crate) may_resign_until: Instant,
    /// A removal was asked for in this step, and a resignation was sent in it.
    pub(crate) removed: bool,
    pub(crate) said_zero: bool,
    /// The addresses may stay that long after a resignation.
    pub(crate) hold_until: Time,
}

impl Node {
    pub(crate) fn new(schedule: &Schedule, index: usize, offset: u64) -> Self {
        let ports = schedule.routers.iter().map(|plan| Port::new(plan, index)).collect();
        Self {
            set: RouterSet::new(),
            clock: Clock::new(offset, schedule.drift_ppm[index]),
            life: Life::Down,
            boot: 0,
            ports,
            backlog: Vec::new(),
            unfinished: Vec::new(),
            missed: Vec::new(),
            no_carrier: [0; crate::schedule::LINKS],
            no_source: [0; crate::schedule::LINKS],
            send_fails: 0,
            work_fails: 0,
            work_partly: false,
            work_slow_ms: 0,
            excuses: 0,
            excused_until: 0,
        }
    }

    /// A failure of its own begins, or ends and is felt for a while longer.
    pub(crate) fn excuse(&mut self, now: Time, begins: bool, after: Time) {
        if begins {
            self.excuses += 1;
        } else {
            self.excuses = self.excuses.saturating_sub(1);
            self.excused_until = self.excused_until.max(now + after);
        }
    }

    /// Until when nothing is expected of it.
    pub(crate) fn excused_until(&self) -> Time {
        if self.excuses > 0 { NEVER } else { self.excused_until }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.life == Life::Running
    }

    /// A new process: the addresses of the old one are reaped and the routers made anew.
    pub(crate) fn start(&mut self, now: Instant, index: usize, nodes: usize, group: u8) {
        self.boot += 1;
        self.life = Life::Running;
        self.missed.clear();
        self.unfinished.clear();
        self.set = RouterSet::new();
        for (id, port) in self.ports.iter_mut().enumerate() {
            port.forget_process();
            let config = port.config(index, nodes, id);
            let inserted = self.set.insert(now, router_id(id), link(&port.plan), config);
            debug_assert_eq!(inserted, Ok(()), "plans are made so that routers do not collide");
        }
        self.join_group(now, group);
    }

    /// The routers of the mask become the sync group.
    pub(crate) fn join_group(&mut self, now: Instant, group: u8) {
        let members: Vec<_> = members(group, self.ports.len()).map(router_id).collect();
        let joined = self.set.set_group(now, GroupId(0), &members);
        debug_assert_eq!(joined, Ok(()), "members of a plan's group have equal priorities");
    }

    /// The facts of the moment, as the driver reads them from the host.
    pub(crate) fn facts(&self, index: usize, router: usize) -> Facts {
        let plan = &self.ports[router].plan;
        let link = usize::from(link_of(plan));
        Facts {
            link: self.no_carrier[link] == 0,
            source: (self.no_source[link] == 0).then(|| address(plan, index)),
            eligible: self.ports[router].tracked().is_some(),
        }
    }

    /// Whether a router may run, by the facts alone.
    pub(crate) fn may_run_alone(&self, router: usize) -> bool {
        let port = &self.ports[router];
        let link = usize::from(link_of(&port.plan));
        let up = self.no_carrier[link] == 0 && self.no_source[link] == 0;
        let wanted = port.stops == 0 && !port.resigned && !port.drained;
        up && wanted && port.tracked().is_some()
    }

    /// As `may_run_alone`, with what the sync group adds.
    pub(crate) fn may_run(&self, router: usize, group: u8) -> bool {
        if group & (1 << router) == 0 {
            return self.may_run_alone(router);
        }
        members(group, self.ports.len()).all(|member| self.may_run_alone(member))
    }
}

impl Port {
    fn new(plan: &RouterPlan, index: usize) -> Self {
        // Something to hold until the node starts.
        let idle = vrrp_core::VirtualRouter::new(
            config(plan, 0, plan.priorities[0], index, 2, 0),
            Instant::ZERO,
        );
        Self {
            priority: plan.priorities[index],
            plan: plan.clone(),
            not_peers: 0,
            checks: [0; CHECKS],
            stops: 0,
            resigned: false,
            drained: false,
            present: false,
            work: None,
            lease_until: NEVER,
            permit_until: 0,
            refreshing: false,
            sending_fails: false,
            seen: idle.snapshot(),
            last_sent: Instant::ZERO,
            told_interval: AdvertInterval::DEFAULT,
            last_better: None,
            zeros: 0,
            may_resign_until: Instant::ZERO,
            removed: false,
            said_zero: false,
            hold_until: 0,
        }
    }

    fn forget_process(&mut self) {
        self.present = false;
        self.work = None;
        self.lease_until = NEVER;
        self.permit_until = 0;
        self.refreshing = false;
        self.sending_fails = false;
        self.last_better = None;
        self.zeros = 0;
        self.may_resign_until = Instant::ZERO;
        self.hold_until = 0;
    }

    pub(crate) fn config(&self, index: usize, nodes: usize, router: usize) -> Config {
        let mut plan = self.plan.clone();
        plan.unicast = self.plan.unicast;
        config(&plan, self.not_peers, self.priority, index, nodes, router)
    }

    /// The priority that the checks leave; `None` if one forbids running.
    pub(crate) fn tracked(&self) -> Option<Priority> {
        let base = Priority::new(self.priority).unwrap_or_default();
        let [plus, minus] = [20, -30].map(Weight::new);
        let checks =
            [Some(Check::required()), plus.map(Check::weighted), minus.map(Check::weighted)];
        let states = self.checks.map(|f| if f > 0 { CheckState::Down } else { CheckState::Up });
        let judged = checks.into_iter().zip(states);
        effective_priority(base, judged.filter_map(|(c, state)| Some(c?.contribution(state))))
    }
}

/// The settings of a router that every node derives from the plan.
fn config(
    plan: &RouterPlan,
    not_peers: u8,
    priority: u8,
    index: usize,
    nodes: usize,
    router: usize,
) -> Config {
    let has = |mask: u8| mask & (1 << index) != 0;
    let others: Vec<_> = (0..nodes)
        .filter(|&node| node != index && not_peers & (1 << node) == 0)
        .map(|node| address(plan, node))
        .collect();
    let mode = match UnicastPeers::new(&others) {
        Ok(peers) if plan.unicast => Mode::Unicast(peers),
        _ if plan.unicast => Mode::Solo,
        _ => Mode::Multicast,
    };
    let version = if plan.version == 2 { Version::V2 } else { Version::V3 };
    let interval = AdvertInterval::from_duration(Duration::from_millis(plan.interval_ms.into()));
    let built = Config::builder(vrid(router), vips(plan, router))
        .version(version)
        .mode(mode)
        .priority(Priority::new(priority).unwrap_or_default())
        .interval(interval.unwrap_or_default())
        .preempt(match plan.preempt {
            Preemption::Now => Preempt::After(Duration::ZERO),
            Preemption::Never => Preempt::Never,
            Preemption::AfterMs(ms) => Preempt::After(Duration::from_millis(ms.into())),
        })
        .profile(if has(plan.strict) { Profile::Rfc } else { Profile::Compatible })
        .checksum(match (has(plan.message_only), has(plan.pseudo_header)) {
            (true, _) => ChecksumMode::MessageOnly,
            (_, true) => ChecksumMode::PseudoHeader,
            _ => ChecksumMode::Auto,
        })
        .password(plan.password.then(|| Password::new(b"sesame")))
        .install_failure(if plan.retry_install {
            InstallFailure::Retry
        } else {
            InstallFailure::Resign
        })
        .build();
    match built {
        Ok(config) => config,
        // A schedule is test data: a mistake in it must be seen and not be simulated around.
        Err(error) => panic!("router {router} of the plan cannot be configured: {error}"),
    }
}

pub(crate) fn router_id(router: usize) -> RouterId {
    RouterId(router as u32)
}

fn vrid(router: usize) -> Vrid {
    Vrid::new(51 + router as u8).unwrap_or(Vrid::new(1).expect("1 is not 0"))
}

/// The link of a router: IPv4 on the first, IPv6 on the second.
pub(crate) fn link_of(plan: &RouterPlan) -> u8 {
    u8::from(plan.family == 6)
}

pub(crate) fn link(plan: &RouterPlan) -> LinkId {
    LinkId(link_of(plan).into())
}

/// A node's own address, from which it is also told (see `node_at`).
pub(crate) fn address(plan: &RouterPlan, node: usize) -> IpAddr {
    let host = node as u8 + 1;
    match plan.family {
        6 => IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, host.into())),
        _ => IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)),
    }
}

/// The node that has an address.
pub(crate) fn node_at(address: IpAddr) -> usize {
    let host = match address {
        IpAddr::V4(v4) => v4.octets()[3],
        IpAddr::V6(v6) => v6.octets()[15],
    };
    usize::from(host).saturating_sub(1).min(MAX_NODES - 1)
}

fn vips(plan: &RouterPlan, router: usize) -> VirtualAddrs {
    let all: Vec<_> = (0..plan.addresses.clamp(1, 3))
        .map(|i| match (plan.family, i) {
            (6, 0) => IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 1, router as u16 + 1)),
            (6, i) => IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, i.into(), 0, router as u16 + 1)),
            (_, i) => IpAddr::V4(Ipv4Addr::new(10, 0, 1 + i, router as u8 + 1)),
        })
        .collect();
    VirtualAddrs::new(&all).expect("distinct unicast addresses of one family")
}

/// The routers of a group's mask.
pub(crate) fn members(group: u8, routers: usize) -> impl Iterator<Item = usize> {
    (0..routers).filter(move |router| group & (1 << router) != 0)
}
