//! Counters of one router, after RFC 8347 (YANG) and RFC 6527 (MIB).

use crate::receive::{Discard, Warning};
use crate::{Priority, State};

/// Counters of one router since it was made.
///
/// They only ever rise, and stop at [`u64::MAX`]. Unlike the events of the same things they are
/// not rate-limited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// Advertisements that the driver was asked to send, those of priority 0 included. One that
    /// goes to several peers counts once.
    pub adverts_sent: u64,
    /// Of those, those of priority 0.
    pub priority_zero_sent: u64,
    /// Advertisements of which the driver said that no copy left the host.
    pub adverts_undelivered: u64,
    /// Valid advertisements of other routers, obeyed or not, those of priority 0 included.
    pub adverts_received: u64,
    /// Of those, those of priority 0.
    pub priority_zero_received: u64,
    /// Transitions to Active.
    pub to_active: u64,
    /// Transitions to Backup.
    pub to_backup: u64,
    /// Transitions to Initialize.
    pub to_initialize: u64,
    /// Advertisements sent at once against a router that has less right to be Active.
    pub asserts: u64,
    /// Times that the host did not run for longer than the peers' shortest down interval.
    pub stalls: u64,
    /// Installations of addresses that failed, wholly or in part.
    pub install_failures: u64,
    /// Removals of addresses that failed, wholly or in part.
    pub remove_failures: u64,
    /// Events that nobody read in time.
    pub events_lost: u64,
    discarded: [u64; Discard::COUNT],
    warned: [u64; Warning::COUNT],
}

impl Stats {
    /// Packets discarded for a reason of this kind, whatever it carries.
    pub const fn discarded(&self, kind: Discard) -> u64 {
        self.discarded[kind.index()]
    }

    /// Packets accepted with this warning.
    pub const fn warned(&self, warning: Warning) -> u64 {
        self.warned[warning.index()]
    }

    /// Every counter with its name, which does not change between releases. Those of discards and
    /// warnings are called `discarded_…` and `warned_…`.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let single = [
            ("adverts_sent", self.adverts_sent),
            ("priority_zero_sent", self.priority_zero_sent),
            ("adverts_undelivered", self.adverts_undelivered),
            ("adverts_received", self.adverts_received),
            ("priority_zero_received", self.priority_zero_received),
            ("to_active", self.to_active),
            ("to_backup", self.to_backup),
            ("to_initialize", self.to_initialize),
            ("asserts", self.asserts),
            ("stalls", self.stalls),
            ("install_failures", self.install_failures),
            ("remove_failures", self.remove_failures),
            ("events_lost", self.events_lost),
        ];
        let discarded = Discard::ALL.map(|kind| (kind.counter_name(), self.discarded(kind)));
        let warned = Warning::ALL.map(|warning| (warning.counter_name(), self.warned(warning)));
        single.into_iter().chain(discarded).chain(warned)
    }

    /// The driver was asked to send an advertisement.
    pub(crate) fn sent(&mut self, priority: Option<Priority>) {
        count(&mut self.adverts_sent);
        if priority.is_none() {
            count(&mut self.priority_zero_sent);
        }
    }

    /// No copy of an advertisement left the host.
    pub(crate) fn send_failed(&mut self) {
        count(&mut self.adverts_undelivered);
    }

    /// A valid advertisement arrived.
    pub(crate) fn received(&mut self, priority: Option<Priority>) {
        count(&mut self.adverts_received);
        if priority.is_none() {
            count(&mut self.priority_zero_received);
        }
    }

    /// A packet failed validation.
    pub(crate) fn discard(&mut self, discard: Discard) {
        count(&mut self.discarded[discard.index()]);
    }

    /// A valid packet was odd.
    pub(crate) fn warn(&mut self, warning: Warning) {
        count(&mut self.warned[warning.index()]);
    }

    /// A state was entered from another one.
    pub(crate) fn transition(&mut self, to: State) {
        count(match to {
            State::Initialize => &mut self.to_initialize,
            State::Backup => &mut self.to_backup,
            State::Active => &mut self.to_active,
        });
    }

    /// A claim of lesser right was answered.
    pub(crate) fn asserted(&mut self) {
        count(&mut self.asserts);
    }

    /// The host had not been running.
    pub(crate) fn stalled(&mut self) {
        count(&mut self.stalls);
    }

    /// Addresses could not be put on the interface.
    pub(crate) fn install_failed(&mut self) {
        count(&mut self.install_failures);
    }

    /// Addresses could not be taken off the interface.
    pub(crate) fn remove_failed(&mut self) {
        count(&mut self.remove_failures);
    }

    /// An event was dropped unread.
    pub(crate) fn event_lost(&mut self) {
        count(&mut self.events_lost);
    }
}

fn count(counter: &mut u64) {
    *counter = counter.saturating_add(1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    /// The names of the counters that `what` moves, each of which it moves by one.
    fn moved_by(what: impl FnOnce(&mut Stats)) -> Vec<&'static str> {
        let mut stats = Stats::default();
        what(&mut stats);
        assert!(stats.named().all(|(_, value)| value <= 1));
        stats.named().filter(|(_, value)| *value == 1).map(|(name, _)| name).collect()
    }

    #[test]
    fn each_happening_moves_its_own_counters() {
        let some = Some(Priority::DEFAULT);
        let mut moved = Vec::new();
        let mut check = |what: &dyn Fn(&mut Stats), names: &[&'static str]| {
            assert_eq!(moved_by(what), names);
            moved.extend(names.iter().copied());
        };
        check(&|stats| stats.sent(some), &["adverts_sent"]);
        check(&|stats| stats.sent(None), &["adverts_sent", "priority_zero_sent"]);
        check(&|stats| stats.send_failed(), &["adverts_undelivered"]);
        check(&|stats| stats.received(some), &["adverts_received"]);
        check(&|stats| stats.received(None), &["adverts_received", "priority_zero_received"]);
        check(&|stats| stats.transition(State::Active), &["to_active"]);
        check(&|stats| stats.transition(State::Backup), &["to_backup"]);
        check(&|stats| stats.transition(State::Initialize), &["to_initialize"]);
        check(&|stats| stats.asserted(), &["asserts"]);
        check(&|stats| stats.stalled(), &["stalls"]);
        check(&|stats| stats.install_failed(), &["install_failures"]);
        check(&|stats| stats.remove_failed(), &["remove_failures"]);
        check(&|stats| stats.event_lost(), &["events_lost"]);
        for kind in Discard::ALL {
            check(&|stats| stats.discard(kind), &[kind.counter_name()]);
        }
        for warning in Warning::ALL {
            check(&|stats| stats.warn(warning), &[warning.counter_name()]);
        }

        let all: Vec<_> = Stats::default().named().map(|(name, _)| name).collect();
        let distinct: BTreeSet<_> = all.iter().copied().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(distinct, moved.into_iter().collect(), "each counter can move");
    }

    #[test]
    fn every_counter_is_named() {
        // Destructured, so that a new counter cannot be left out.
        let Stats {
            adverts_sent,
            priority_zero_sent,
            adverts_undelivered,
            adverts_received,
            priority_zero_received,
            to_active,
            to_backup,
            to_initialize,
            asserts,
            stalls,
            install_failures,
            remove_failures,
            events_lost,
            discarded,
            warned,
        } = Stats::default();
        let single = [
            adverts_sent,
            priority_zero_sent,
            adverts_undelivered,
            adverts_received,
            priority_zero_received,
            to_active,
            to_backup,
            to_initialize,
            asserts,
            stalls,
            install_failures,
            remove_failures,
            events_lost,
        ];
        let counters = single.len() + discarded.len() + warned.len();
        assert_eq!(Stats::default().named().count(), counters);
    }

    #[test]
    fn names_of_a_kind_end_with_the_kind() {
        for kind in Discard::ALL {
            assert_eq!(kind.counter_name(), alloc::format!("discarded_{}", kind.name()));
        }
        for warning in Warning::ALL {
            assert_eq!(warning.counter_name(), alloc::format!("warned_{}", warning.name()));
        }
    }

    #[test]
    fn a_full_counter_stays_full() {
        let mut stats = Stats { asserts: u64::MAX, ..Stats::default() };
        stats.asserted();
        assert_eq!(stats.asserts, u64::MAX);
    }
}
