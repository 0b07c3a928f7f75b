//! What holds after every step of one router.

use std::time::Duration;

use vrrp_core::{AdvertSpec, Audience, Instant, Reason, Snapshot, State};

use super::Checker;
use crate::clock::{MILLI, Time};
use crate::network::Packet;
use crate::node::{members, router_id};
use crate::schedule::Preemption;
use crate::world::{World, resigns};

/// After a resignation in two parts (v2), the second part may be this late.
const STAGGER: Duration = Duration::from_millis(150);

impl World<'_> {
    /// After a step of the node: the router as it is now, against what it was.
    pub(crate) fn check_router(&mut self, node: usize, router: usize) {
        let now = self.local(node);
        let Some(core) = self.nodes[node].set.router(router_id(router)) else {
            return;
        };
        let after = core.snapshot();
        let interval = core.config().interval().duration();
        let port = &mut self.nodes[node].ports[router];
        let before = std::mem::replace(&mut port.seen, after);
        port.removed = false;
        if before.state != after.state || before.priority != after.priority {
            self.cluster.changed(router);
        }
        let latest = match after.state {
            State::Initialize => return,
            State::Active => port.last_sent.max(now) + interval,
            State::Backup => {
                now + self.cluster.longest_wait(self.now < self.nodes[node].excused_until())
            }
        };
        if after.next_wakeup.is_none_or(|(at, _)| at > latest) {
            let detail =
                format!("at {now} in {:?} it wakes at {:?}", after.state, after.next_wakeup);
            self.fail(Checker::DeadlineArmed, node, router, detail);
        }
    }

    /// After the step of an input that must not leave members of a group apart.
    pub(crate) fn check_group(&mut self, node: usize) {
        let group = self.schedule.group;
        let ports = &self.nodes[node].ports;
        let mut states = members(group, ports.len()).map(|router| ports[router].seen.state);
        let Some(first) = states.next() else {
            return;
        };
        if states.any(|state| state != first) {
            let states: Vec<_> =
                members(group, ports.len()).map(|r| (r, ports[r].seen.state)).collect();
            let detail = format!("the members are {states:?}");
            self.fail(Checker::GroupSharesState, node, 0, detail);
        }
    }

    /// Before anything is done in the name of an Active: after a silence in which another router
    /// may have taken over, the addresses go first.
    pub(crate) fn check_silence(&mut self, node: usize, router: usize, what: &str) {
        let now = self.local(node);
        let Some(core) = self.nodes[node].set.router(router_id(router)) else {
            return;
        };
        let config = core.config();
        let port = &self.nodes[node].ports[router];
        // The peers count in the interval that they were told.
        let highest = config.max_peer_priority();
        let shortest_down = port.told_interval.active_down(config.version(), highest);
        let silence = now.saturating_since(port.last_sent);
        let was_active = port.seen.state == State::Active;
        if was_active && silence > shortest_down && !port.removed {
            let detail = format!("after a silence of {silence:?} it {what} first");
            self.fail(Checker::WithdrawsBeforeSending, node, router, detail);
        }
    }

    /// Before an advertisement is sent.
    pub(crate) fn check_advert(&mut self, node: usize, router: usize, spec: &AdvertSpec) {
        self.check_silence(node, router, "advertised");
        let now = self.local(node);
        let Some(state) = self.nodes[node].set.router(router_id(router)).map(|r| r.state()) else {
            return;
        };
        let port = &self.nodes[node].ports[router];
        let was_active = port.seen.state == State::Active;
        if spec.priority.is_some() {
            if spec.audience == Audience::All {
                self.nodes[node].ports[router].told_interval = spec.interval;
            }
            return;
        }
        // The transition that justifies it is reported after the actions, so what the router was
        // before the step is all that is known here; `check_transition` judges the reason.
        let gives_up = was_active && state != State::Active;
        if !gives_up && now > port.may_resign_until {
            let detail = format!("{:?} before and {:?} now", port.seen.state, state);
            self.fail(Checker::ZeroOnlyOnResigning, node, router, detail);
        } else if gives_up {
            let port = &mut self.nodes[node].ports[router];
            port.said_zero = true;
            port.may_resign_until = now + STAGGER;
        }
    }

    /// Priority 0 was sent to these nodes.
    pub(crate) fn check_zeros(&mut self, node: usize, router: usize, sent_to: u8) {
        let port = &mut self.nodes[node].ports[router];
        let again = port.zeros & sent_to;
        port.zeros |= sent_to;
        if again != 0 {
            let detail = format!("nodes {again:#09b} were sent priority 0 a second time");
            self.fail(Checker::ZeroOncePerPeer, node, router, detail);
        }
    }

    /// A router reported a transition.
    pub(crate) fn check_transition(
        &mut self,
        node: usize,
        router: usize,
        from: State,
        to: State,
        reason: Reason,
    ) {
        let noisy = self.cluster.is_noisy();
        let port = &mut self.nodes[node].ports[router];
        let said_zero = std::mem::take(&mut port.said_zero);
        if from == State::Active && said_zero && !resigns(reason) {
            let detail = format!("it went to {to:?} because of {reason:?}, and said so");
            return self.fail(Checker::ZeroOnlyOnResigning, node, router, detail);
        }
        if to != State::Active {
            return;
        }
        port.zeros = 0;
        port.may_resign_until = Instant::ZERO;
        let Some((at, priority, centis)) = port.last_better else {
            return;
        };
        // Clocks may be off by two percent, so a little less than three intervals will do.
        let silence = self.now - at;
        let least = Time::from(centis) * 10 * MILLI * 29 / 10;
        if reason == Reason::ActiveDown && silence < least && !noisy {
            let detail = format!(
                "it claimed {} ms after priority {priority} at {centis} cs had arrived",
                silence / MILLI
            );
            self.fail(Checker::ClaimsOnlyAfterSilence, node, router, detail);
        }
    }

    /// A packet reached the host and waits for, or is fed to, its process. If a Backup must follow its sender, that is remembered.
    pub(crate) fn note_better(&mut self, node: usize, router: usize, packet: &Packet) {
        let host = &mut self.nodes[node];
        let Some(port) = host.ports.get_mut(router) else {
            return;
        };
        let seen: &Snapshot = &port.seen;
        // Where styles are mixed it depends on the moment who understands whom.
        // By the settings in force, which a stalled process has not been able to renew.
        let sources = host.set.router(router_id(router)).and_then(|core| core.config().sources());
        let is_peer = sources.is_none_or(|sources| sources.contains(&packet.source));
        let understood = !packet.junk && port.plan.strict == 0 && is_peer;
        let own = seen.priority.value();
        match packet.priority {
            0 => {}
            better if understood && better >= own => {
                port.last_better = Some((self.now, better, packet.centis));
            }
            // A weaker one is followed or not, by how long preemption is delayed: if it is, it
            // is what the wait counts from.
            _ if understood && port.plan.preempt != Preemption::Now => port.last_better = None,
            _ => {}
        }
    }
}
