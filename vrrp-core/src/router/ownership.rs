//! Putting the addresses on and taking them off.
//!
//! The work is asynchronous: the driver starts it and answers later. What is true is kept in one
//! [`AddressState`]; an answer to superseded work is recognised by its id and ignored.

use core::time::Duration;

use super::{State, VirtualRouter};
use crate::{
    Action, ActionId, ActionResult, AddressState, AnnounceRound, Event, InstallFailure, Instant,
    Mode, Reason, Timer,
};

/// Back-off after failed installations: 1 s, doubling to 60 s. Another router serves meanwhile.
const INSTALL_BACKOFF: Backoff = Backoff(Duration::from_secs(1), Duration::from_secs(60));
/// Back-off after failed removals: 100 ms, doubling to 5 s. A VIP that stays is a hazard.
const REMOVE_BACKOFF: Backoff = Backoff(Duration::from_millis(100), Duration::from_secs(5));

/// The shortest and the longest time to the next attempt.
#[derive(Clone, Copy)]
struct Backoff(Duration, Duration);

impl Backoff {
    /// The time to wait after one more failure in a row.
    fn after_failure(self, failures: &mut u8) -> Duration {
        let Self(first, longest) = self;
        let doubled = first.saturating_mul(1 << (*failures).min(16));
        *failures = failures.saturating_add(1);
        doubled.min(longest)
    }
}

/// Where the addresses are, and what is under way about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ownership {
    state: AddressState,
    /// The latest work, if it has not been answered.
    pending: Option<ActionId>,
    last_id: ActionId,
    /// Installations that failed in a row, whatever the removals between them did.
    install_failures: u8,
    /// Failed attempts of the present removal.
    remove_failures: u8,
    epoch: u64,
    /// `BecameOwner` was reported for `epoch`, and `LostOwnership` not yet.
    reported: bool,
}

impl Ownership {
    pub(super) fn state(&self) -> AddressState {
        self.state
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The kernel has confirmed the addresses.
    pub(super) fn is_confirmed(&self) -> bool {
        self.state == AddressState::Present
    }

    /// A predecessor left the addresses on the interface.
    pub(super) fn inherit(&mut self) {
        self.state = AddressState::Present;
    }

    /// The epoch that ends now, if one had begun.
    pub(super) fn end(&mut self) -> Option<u64> {
        core::mem::take(&mut self.reported).then_some(self.epoch)
    }

    /// Forgets what does not bear on future behaviour but for equality: the numbers of ids and
    /// epochs. Whether an answer is outstanding stays.
    pub(super) fn forget_history(&mut self) {
        self.last_id = ActionId::default();
        self.pending = self.pending.map(|_| ActionId::default());
        self.epoch = 0;
    }

    fn begin(&mut self) -> ActionId {
        self.last_id = self.last_id.next();
        self.pending = Some(self.last_id);
        self.last_id
    }
}

impl VirtualRouter {
    pub(super) fn install_addresses(&mut self) {
        self.timers.disarm(Timer::AddressRetry);
        // Addresses that are there already stay `Present` while the list is brought up to date.
        if self.ownership.state != AddressState::Present {
            self.ownership.state = AddressState::Installing;
        }
        let id = self.ownership.begin();
        self.outbox.act(Action::InstallAddresses(id));
    }

    /// Idempotent: a removal under way, or waiting for its next attempt, is not begun again.
    pub(super) fn remove_addresses(&mut self) {
        self.timers.disarm(Timer::HoldEnd);
        if matches!(self.ownership.state, AddressState::Absent | AddressState::Removing) {
            return;
        }
        self.ownership.remove_failures = 0;
        self.begin_removal();
    }

    fn begin_removal(&mut self) {
        self.timers.disarm(Timer::AddressRetry);
        self.ownership.state = AddressState::Removing;
        let id = self.ownership.begin();
        self.outbox.act(Action::RemoveAddresses(id));
    }

    pub(super) fn retry_address_work(&mut self) {
        match self.ownership.state {
            AddressState::Removing => self.begin_removal(),
            AddressState::Installing | AddressState::Present if self.state == State::Active => {
                self.install_addresses();
            }
            _ => {}
        }
    }

    /// The driver's answer.
    pub(super) fn address_work_done(&mut self, now: Instant, id: ActionId, result: ActionResult) {
        if self.ownership.pending != Some(id) {
            return;
        }
        self.ownership.pending = None;
        match (self.ownership.state, result) {
            (AddressState::Removing, ActionResult::Done) => {
                self.ownership.state = AddressState::Absent;
                self.report(Event::AddressesRemoved);
            }
            (AddressState::Removing, failure) => {
                self.stats.remove_failed();
                let retry_in = REMOVE_BACKOFF.after_failure(&mut self.ownership.remove_failures);
                self.timers.arm(Timer::AddressRetry, now + retry_in);
                self.report_failure(false, failure, retry_in);
            }
            (_, ActionResult::Done) => self.installed(now),
            (_, failure) => self.install_failed(now, failure),
        }
    }

    fn installed(&mut self, now: Instant) {
        let were_there = self.ownership.is_confirmed();
        self.ownership.state = AddressState::Present;
        self.ownership.install_failures = 0;
        self.claim_after = Instant::ZERO;
        // Otherwise the addresses are being held through a resignation: nothing to announce.
        if self.state != State::Active {
            return;
        }
        if !self.ownership.reported {
            self.ownership.reported = true;
            self.ownership.epoch += 1;
            self.report(Event::BecameOwner { epoch: self.ownership.epoch });
        }
        let round = if were_there { AnnounceRound::Reassert } else { AnnounceRound::Takeover };
        self.outbox.act(Action::Announce(round));
        let schedule = self.config.announce();
        for (timer, after) in [
            (Timer::AnnounceRepeat, schedule.repeat_after),
            (Timer::AnnounceRefresh, schedule.refresh),
        ] {
            if after > Duration::ZERO {
                self.timers.arm(timer, now + after);
            }
        }
    }

    fn install_failed(&mut self, now: Instant, failure: ActionResult) {
        self.stats.install_failed();
        if self.state != State::Active {
            return self.remove_addresses();
        }
        let retry_in = INSTALL_BACKOFF.after_failure(&mut self.ownership.install_failures);
        self.report_failure(true, failure, retry_in);
        let alone = *self.config.mode() == Mode::Solo;
        if alone || self.config.install_failure() == InstallFailure::Retry {
            self.timers.arm(Timer::AddressRetry, now + retry_in);
            return;
        }
        self.leave_active(Reason::InstallFailed);
        self.remove_and_resign();
        self.claim_after = now + retry_in;
        self.watch(now, now, Reason::InstallFailed);
    }

    fn report_failure(&mut self, installing: bool, result: ActionResult, retry_in: Duration) {
        self.report(Event::AddressWorkFailed { installing, result, retry_in });
    }
}
