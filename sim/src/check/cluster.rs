//! What holds between the nodes.
//!
//! Each thing that can be wrong has the time since which it is. It is a violation once it has
//! lasted for longer than a handover takes, and longer after the latest disturbance than an election
//! takes (three intervals, the skew, and the network's delay). Conditions are looked at only
//! when something that they depend on changed, or when their time is up.

use std::time::Duration;

use vrrp_core::{AdvertInterval, Priority, State, Version};

use super::Checker;
use crate::clock::{MILLI, NEVER, Time};
use crate::node::{self, Life};
use crate::schedule::{Fault, MAX_NODES, MAX_ROUTERS, Preemption, Schedule};
use crate::world::World;

/// A lost source address is believed after up to 200 ms.
const SOURCE_GRACE: Time = 250 * MILLI;
/// The longest back-off of failed installations, and a bit.
const BACKOFF: Duration = Duration::from_secs(61);

/// What is wrong, and since when.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// When the conditions must be looked at again.
    pub(crate) alarm: Time,
    /// Routers of which something changed.
    dirty: u8,
    /// Faults under way that leave no promise about elections.
    noise: u32,
    /// The end of the latest disturbance.
    disturbed: Time,
    /// The latest disturbance that a lease does not cover.
    disturbed_for_lease: Time,
    /// How long a handover may take.
    tolerance: Time,
    /// How long an election may take.
    election: Time,
    two_owners: [Time; MAX_ROUTERS],
    two_leases: [Time; MAX_ROUTERS],
    unserved: [[Time; MAX_NODES]; MAX_ROUTERS],
    misplaced: [[Time; MAX_NODES]; MAX_ROUTERS],
    misjudged: [[Time; MAX_NODES]; MAX_ROUTERS],
}

impl Cluster {
    pub(crate) fn new(schedule: &Schedule, tolerance: Time) -> Self {
        let changed = schedule.faults.iter().filter_map(|(_, fault)| match fault {
            Fault::Interval { ms, .. } => Some(*ms),
            _ => None,
        });
        let planned = schedule.routers.iter().map(|router| router.interval_ms);
        let longest = planned.chain(changed).max().unwrap_or(1_000);
        let interval = AdvertInterval::from_duration(Duration::from_millis(longest.into()))
            .unwrap_or_default();
        let v2 = schedule.routers.iter().any(|router| router.version == 2);
        let version = if v2 { Version::V2 } else { Version::V3 };
        // The weakest node's wait, by a clock that is two percent slow.
        let wait = interval.active_down(version, Priority::MIN).as_nanos() as Time;
        let tie = interval.duration().as_nanos() as Time / 256;
        // Where styles of checksum are mixed, a node that understood nobody has to claim before
        // the others learn its style: two elections.
        let strict = schedule.routers.iter().any(|router| router.strict != 0);
        let elections = 1 + Time::from(strict);
        Self {
            alarm: NEVER,
            dirty: 0,
            noise: 0,
            disturbed: 0,
            disturbed_for_lease: 0,
            tolerance,
            election: elections * (wait + wait / 50 + tie) + tolerance,
            two_owners: [NEVER; MAX_ROUTERS],
            two_leases: [NEVER; MAX_ROUTERS],
            unserved: [[NEVER; MAX_NODES]; MAX_ROUTERS],
            misplaced: [[NEVER; MAX_NODES]; MAX_ROUTERS],
            misjudged: [[NEVER; MAX_NODES]; MAX_ROUTERS],
        }
    }

    /// Something changed that concerns one router.
    pub(crate) fn changed(&mut self, router: usize) {
        self.dirty |= 1 << router;
    }

    /// Something changed that concerns all: a fault begins or ends.
    pub(crate) fn disturb(&mut self, now: Time, covered_by_lease: bool) {
        self.dirty = u8::MAX;
        self.disturbed = now;
        if !covered_by_lease {
            self.disturbed_for_lease = now;
        }
    }

    /// A fault begins or ends during which the election promises nothing.
    pub(crate) fn noise(&mut self, now: Time, begins: bool) {
        self.noise = if begins { self.noise + 1 } else { self.noise.saturating_sub(1) };
        self.disturb(now, false);
    }

    pub(crate) fn is_noisy(&self) -> bool {
        self.noise > 0
    }

    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.dirty != 0 || self.alarm <= now
    }

    /// How long a Backup may wait for its next deadline.
    pub(crate) fn longest_wait(&self, backing_off: bool) -> Duration {
        if backing_off { BACKOFF } else { Duration::from_nanos(self.election) }
    }
}

/// One condition: keeps the time since which it holds.
fn hold(since: &mut Time, holds: bool, now: Time) {
    *since = match (holds, *since) {
        (false, _) => NEVER,
        (true, NEVER) => now,
        (true, since) => since,
    };
}

impl World<'_> {
    /// Looks at what changed, and at what has been wrong for too long.
    pub(crate) fn check_cluster(&mut self) {
        let dirty = std::mem::take(&mut self.cluster.dirty);
        for router in 0..self.schedule.routers.len() {
            if dirty & (1 << router) != 0 {
                self.look_at(router);
            }
        }
        self.cluster.alarm = NEVER;
        for router in 0..self.schedule.routers.len() {
            self.judge(router);
        }
    }

    fn look_at(&mut self, router: usize) {
        let nodes = self.nodes.len();
        let (mut active, mut present, mut running) = (0_u8, 0_u8, 0_u8);
        for (index, host) in self.nodes.iter().enumerate() {
            let bit = 1 << index;
            running |= if host.is_running() { bit } else { 0 };
            present |= if host.ports[router].present { bit } else { 0 };
            active |= if host.ports[router].seen.state == State::Active { bit } else { 0 };
        }
        let hears = self.who_hears_whom(router);
        let mutual = |a: usize, b: usize| hears[a] & (1 << b) != 0 && hears[b] & (1 << a) != 0;
        let two = |mask: u8| {
            (0..nodes).any(|a| {
                let others = mask & !(1 << a);
                mask & (1 << a) != 0
                    && (a + 1..nodes).any(|b| others & (1 << b) != 0 && mutual(a, b))
            })
        };
        let (now, group) = (self.now, self.schedule.group);
        // A node whose address work fails cannot help it.
        let able = (0..nodes).filter(|&index| self.nodes[index].excused_until() <= now);
        let able = able.fold(0_u8, |mask, index| mask | 1 << index);
        hold(&mut self.cluster.two_owners[router], two(present & running & able), now);
        // A better node preempts without waiting for the end of a stalled one's lease: it counts
        // from the advertisement that it followed last, not from the last that was sent.
        let preempts = self.schedule.routers[router].preempt != Preemption::Never;
        let stalled = present & !running;
        let weakest_stalled = (0..nodes)
            .filter(|&index| stalled & (1 << index) != 0)
            .map(|index| self.nodes[index].ports[router].seen.priority)
            .min();
        let waited = (0..nodes)
            .filter(|&index| present & running & (1 << index) != 0)
            .map(|index| self.nodes[index].ports[router].seen.priority)
            .all(|own| !preempts || weakest_stalled.is_none_or(|stalled| own <= stalled));
        let two_leases = self.schedule.lease && waited && two(present);
        hold(&mut self.cluster.two_leases[router], two_leases, now);
        for (index, &hears) in hears.iter().enumerate().take(nodes) {
            let bit = 1 << index;
            let host = &self.nodes[index];
            let is_running = running & bit != 0;
            let is_active = active & bit != 0;
            let eligible = is_running && host.may_run(router, group);
            let served =
                is_active || self.hears_good_active(index, router, active & running, hears);
            let taking_part = host.ports[router].seen.state != State::Initialize;
            let there = host.ports[router].present;
            let cluster = &mut self.cluster;
            hold(&mut cluster.unserved[router][index], eligible && !served, now);
            hold(&mut cluster.misplaced[router][index], is_running && is_active != there, now);
            hold(&mut cluster.misjudged[router][index], is_running && taking_part != eligible, now);
        }
    }

    /// For each node, whom it hears at the moment.
    fn who_hears_whom(&self, router: usize) -> [u8; MAX_NODES] {
        let mut hears = [0; MAX_NODES];
        for (to, mask) in hears.iter_mut().enumerate().take(self.nodes.len()) {
            for from in 0..self.nodes.len() {
                if from != to && self.hears(to, from, router) {
                    *mask |= 1 << from;
                }
            }
        }
        hears
    }

    /// Whether all nodes hear each other.
    fn is_whole(&self, router: usize) -> bool {
        let nodes = self.nodes.len();
        (0..nodes).all(|to| (0..nodes).all(|from| from == to || self.hears(to, from, router)))
    }

    fn hears(&self, to: usize, from: usize, router: usize) -> bool {
        let (receiver, sender) = (&self.nodes[to], &self.nodes[from]);
        let plan = &receiver.ports[router].plan;
        let link = usize::from(node::link_of(plan));
        let peers = !plan.unicast
            || receiver.ports[router].not_peers & (1 << from) == 0
                && sender.ports[router].not_peers & (1 << to) == 0;
        self.net.passes(from, to)
            && sender.send_fails == 0
            && sender.no_source[link] == 0
            && sender.no_carrier[link] == 0
            && receiver.no_carrier[link] == 0
            && peers
    }

    /// Whether a node that is not Active has an Active to follow: any, or if it preempts at once
    /// one that is no worse than itself.
    fn hears_good_active(&self, index: usize, router: usize, active: u8, hears: u8) -> bool {
        let own = self.nodes[index].ports[router].seen.priority;
        let plan = &self.schedule.routers[router];
        let preempts = plan.preempt == Preemption::Now || own.is_owner();
        (0..self.nodes.len()).any(|other| {
            active & hears & (1 << other) != 0
                && (!preempts || self.nodes[other].ports[router].seen.priority >= own)
        })
    }

    /// Fails what is overdue, and sets the alarm for what will be.
    fn judge(&mut self, router: usize) {
        let (now, tolerance) = (self.now, self.cluster.tolerance);
        let quiet = if self.cluster.noise > 0 { NEVER } else { self.cluster.disturbed };
        let elected = quiet.saturating_add(self.cluster.election);
        let whole = self.is_whole(router);
        let two = self.cluster.two_owners[router];
        if self.overdue(two, tolerance, elected) {
            let who = self.describe(router);
            return self.fail(Checker::OneOwner, 0, router, lasted(now, two, &who));
        }
        let lease = self.cluster.two_leases[router];
        let quiet = if self.cluster.noise > 0 { NEVER } else { self.cluster.disturbed_for_lease };
        if self.overdue(lease, tolerance, quiet.saturating_add(self.cluster.election)) {
            let who = self.describe(router);
            return self.fail(Checker::LeaseEndsInTime, 0, router, lasted(now, lease, &who));
        }
        for index in 0..self.nodes.len() {
            let excused = self.nodes[index].excused_until();
            let unserved = self.cluster.unserved[router][index];
            // Where not everybody hears everybody, an Active may yield to one that others do
            // not hear; to those it is as if it had died.
            let patience = if whole { tolerance } else { self.cluster.election };
            if self.overdue(unserved, patience, elected.max(excused)) {
                let who = self.describe(router);
                let detail = lasted(now, unserved, &who);
                return self.fail(Checker::SomeoneServes, index, router, detail);
            }
            let misplaced = self.cluster.misplaced[router][index];
            let hold = self.nodes[index].ports[router].hold_until;
            if self.overdue(misplaced, tolerance, excused.max(hold)) {
                let who = self.describe(router);
                let detail = lasted(now, misplaced, &who);
                return self.fail(Checker::AddressesFollowState, index, router, detail);
            }
            let misjudged = self.cluster.misjudged[router][index];
            if self.overdue(misjudged, SOURCE_GRACE, 0) {
                let who = self.describe(router);
                let detail = lasted(now, misjudged, &who);
                return self.fail(Checker::StandingFollowsFacts, index, router, detail);
            }
        }
    }

    fn overdue(&mut self, since: Time, tolerance: Time, not_before: Time) -> bool {
        if since == NEVER {
            return false;
        }
        let deadline = since.saturating_add(tolerance).max(not_before);
        if self.now >= deadline {
            return true;
        }
        self.cluster.alarm = self.cluster.alarm.min(deadline);
        false
    }

    fn describe(&self, router: usize) -> String {
        let mut text = String::new();
        for (index, host) in self.nodes.iter().enumerate() {
            let port = &host.ports[router];
            let life = match host.life {
                Life::Running => "",
                Life::Stalled { .. } => " stalled",
                Life::Down => " down",
            };
            let there = if port.present { "+VIP" } else { "" };
            let may = if host.may_run(router, self.schedule.group) { "" } else { " impeded" };
            let (state, priority) = (port.seen.state, port.seen.priority);
            text += &format!("; {index}: {state:?}({priority}){there}{life}{may}");
        }
        text
    }
}

fn lasted(now: Time, since: Time, who: &str) -> String {
    format!("for {} ms{who}", (now - since) / MILLI)
}
