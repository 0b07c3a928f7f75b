//! What must hold in every world.

use std::time::Duration;

use stateright::Property;
use vrrp_core::{Preempt, State, Timer};

use super::host::Host;
use super::{Election, HOSTS, TICK, World};

/// Calm for this long, exactly one router owns the VIP: the last message before the calm arrives,
/// the down interval of the worst priority (3 s + 750 ms) passes, and the claim reaches the others.
pub(super) const SETTLED: Duration = Duration::from_millis(3750 + 2 * 250);
/// Two routers that can hear each other are not both Active for longer: each advertises within an
/// interval, and the advertisement arrives.
pub(super) const LONGEST_DUAL: Duration = Duration::from_millis(1000 + 250);

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// Two routers are Active although each has heard the other say so.
    TwoActiveThatHeardEachOther,
    /// Two routers were Active for longer than [`LONGEST_DUAL`] with nothing lost between them.
    TwoActiveForTooLong,
    /// Nothing happened for [`SETTLED`], and there is not exactly one owner.
    NotSettled,
    /// As before, and the owner is not the best router.
    NotTheBest,
    /// Priority 0 from a router that was not Active before or is afterwards.
    ZeroWithoutResigning,
    /// An Active that never advertises again.
    ActiveWithoutAdvertDeadline,
    /// An Active that has no addresses and asks for none.
    ActiveWithoutAddresses,
    /// A Backup that waits for ever.
    BackupWithoutDownDeadline,
    /// A router that resigned takes part.
    ResignedTakesPart,
    /// Addresses on an interface whose router neither owns nor holds nor removes them.
    StrayAddress,
    /// A broken packet changed something.
    DiscardChangedState,
    /// A broken packet was believed.
    BrokenPacketAccepted,
    /// An intact packet was not.
    ValidAdvertDiscarded,
    /// An Active that overslept its peers' down interval sent before it removed.
    SentAfterOversleeping,
    /// After a timeout another is due at once.
    BusyLoop,
}

/// All properties; each says that one violation never occurs.
pub(super) fn all() -> Vec<Property<Election>> {
    macro_rules! never {
        ($($violation:ident: $name:literal),+ $(,)?) => {
            vec![$(Property::always($name, |_, world: &World| {
                world.violation() != Some(Violation::$violation)
            })),+]
        };
    }
    never![
        TwoActiveThatHeardEachOther: "no two Active that have heard each other",
        TwoActiveForTooLong: "no two Active for longer than interval + delay",
        NotSettled: "one owner, 3 x interval + skew + delays after the last fault",
        NotTheBest: "and it is the best router (if it may preempt)",
        ZeroWithoutResigning: "priority 0 only on resigning",
        ActiveWithoutAdvertDeadline: "an Active has an advert deadline",
        ActiveWithoutAddresses: "an Active has its addresses or is installing them",
        BackupWithoutDownDeadline: "a Backup has a down deadline",
        ResignedTakesPart: "a resigned router stays out",
        StrayAddress: "addresses are owned, held or under removal",
        DiscardChangedState: "a discarded packet changes nothing",
        BrokenPacketAccepted: "a broken packet is discarded",
        ValidAdvertDiscarded: "an intact advert is accepted",
        SentAfterOversleeping: "an Active that overslept removes before it sends",
        BusyLoop: "no timeout leaves another due at once",
    ]
}

/// How long nothing has gone wrong. Counted no further than the properties look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Settling {
    /// Since the last fault or recovery.
    calm: Duration,
    /// Two routers have been Active for this long, in calm.
    dual: Duration,
}

impl Settling {
    pub(super) fn is_over(&self) -> bool {
        self.calm > SETTLED
    }

    pub(super) fn disturb(&mut self) {
        *self = Self::default();
    }

    pub(super) fn pass(&mut self, step: Duration, all_run: bool, actives: usize) {
        if !all_run {
            return self.disturb();
        }
        self.calm = (self.calm + step).min(SETTLED + TICK);
        if actives > 1 {
            self.dual += step;
        }
    }
}

impl World {
    /// Looks at the world as it is now.
    pub(super) fn look(&mut self) {
        if self.count(State::Active) < 2 {
            self.settling.dual = Duration::ZERO;
        }
        for index in 0..HOSTS {
            self.look_at_host(index);
            for other in 0..index {
                let mutual = self.heard[index][other] && self.heard[other][index];
                self.expect(!mutual, Violation::TwoActiveThatHeardEachOther);
            }
        }
        let dual = self.settling.dual;
        self.expect(dual <= LONGEST_DUAL, Violation::TwoActiveForTooLong);
        if self.settling.is_over() {
            self.look_at_settled();
        }
    }

    fn look_at_host(&mut self, index: usize) {
        let host = &self.hosts[index];
        let Some(router) = &host.router else {
            return;
        };
        let has = |timer: Timer| router.deadline(timer).is_some();
        let (active, backup) = (host.is(State::Active), host.is(State::Backup));
        let has_addresses = host.vip || host.work == Some(true);
        let out = host.is(State::Initialize);
        let checks = [
            (!active || has(Timer::AdvertDue), Violation::ActiveWithoutAdvertDeadline),
            (!active || has_addresses, Violation::ActiveWithoutAddresses),
            (!backup || has(Timer::ActiveDown), Violation::BackupWithoutDownDeadline),
            (!host.resigned || out, Violation::ResignedTakesPart),
            (host.vip_is_accounted_for(), Violation::StrayAddress),
        ];
        for (holds, violation) in checks {
            self.expect(holds, violation);
        }
    }

    fn look_at_settled(&mut self) {
        let taking_part = || self.hosts.iter().filter(|host| host.takes_part());
        let owners = self.count(State::Active);
        let addresses = self.hosts.iter().filter(|host| host.vip).count();
        let expected = usize::from(taking_part().count() > 0);
        let best = (0..HOSTS)
            .filter(|&index| self.hosts[index].takes_part())
            .max_by_key(|&index| (self.hosts[index].priority(), index));
        let is_best = best.is_none_or(|best| {
            let owner = self.hosts.iter().position(|host| host.is(State::Active));
            // Equals do not preempt each other.
            owner.is_some_and(|o| self.hosts[o].priority() == self.hosts[best].priority())
        });
        self.expect((owners, addresses) == (expected, expected), Violation::NotSettled);
        let preempts = self.hosts.iter().filter_map(|host| host.router.as_ref());
        let preempts = preempts.clone().all(|r| r.config().preempt() != Preempt::Never);
        self.expect(is_best || !preempts, Violation::NotTheBest);
    }
}

impl Host {
    fn priority(&self) -> u8 {
        self.router.as_ref().map_or(0, |router| router.priority().value())
    }
}
