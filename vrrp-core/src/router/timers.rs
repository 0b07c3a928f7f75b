//! All deadlines of one router, in one table.

use crate::{Instant, Timer};

impl Timer {
    /// Every timer, in the order in which those due at the same instant fire: what takes the VIP
    /// away comes before what claims it, and claiming before advertising.
    pub(crate) const ALL: [Self; 9] = [
        Self::SourceGrace,
        Self::HoldEnd,
        Self::AddressRetry,
        Self::PreemptDelay,
        Self::ActiveDown,
        Self::AdvertDue,
        Self::StaggeredResign,
        Self::AnnounceRepeat,
        Self::AnnounceRefresh,
    ];

    const fn index(self) -> usize {
        match self {
            Self::SourceGrace => 0,
            Self::HoldEnd => 1,
            Self::AddressRetry => 2,
            Self::PreemptDelay => 3,
            Self::ActiveDown => 4,
            Self::AdvertDue => 5,
            Self::StaggeredResign => 6,
            Self::AnnounceRepeat => 7,
            Self::AnnounceRefresh => 8,
        }
    }
}

/// The table. An unarmed timer stands at [`Instant::MAX`], so the earliest deadline is a minimum
/// over plain numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Timers([Instant; Timer::ALL.len()]);

impl Default for Timers {
    fn default() -> Self {
        Self([Instant::MAX; Timer::ALL.len()])
    }
}

impl Timers {
    pub(super) fn arm(&mut self, timer: Timer, at: Instant) {
        self.0[timer.index()] = at;
    }

    pub(super) fn disarm(&mut self, timer: Timer) {
        self.0[timer.index()] = Instant::MAX;
    }

    pub(super) fn deadline(&self, timer: Timer) -> Option<Instant> {
        Some(self.0[timer.index()]).filter(|&at| at != Instant::MAX)
    }

    pub(super) fn is_armed(&self, timer: Timer) -> bool {
        self.deadline(timer).is_some()
    }

    /// The earliest deadline.
    pub(super) fn earliest(&self) -> Option<Instant> {
        let at = self.0.iter().copied().fold(Instant::MAX, Instant::min);
        Some(at).filter(|&at| at != Instant::MAX)
    }

    /// The earliest deadline and what it is for.
    pub(super) fn next(&self) -> Option<(Instant, Timer)> {
        let at = self.earliest()?;
        Timer::ALL.into_iter().find(|timer| self.0[timer.index()] == at).map(|timer| (at, timer))
    }

    /// Disarms and returns the first timer that is due, in firing order, and when it was due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<(Timer, Instant)> {
        // Nearly always nothing is due, and a minimum is found without a branch per timer.
        if self.earliest()? > now {
            return None;
        }
        // A time at the end of the clock must not fire what is unarmed.
        let due = |at: Instant| at <= now && at != Instant::MAX;
        let timer = Timer::ALL.into_iter().find(|timer| due(self.0[timer.index()]))?;
        let at = self.0[timer.index()];
        self.disarm(timer);
        Some((timer, at))
    }

    /// Every armed deadline moved by the same distance, so that `from` becomes `to`.
    pub(super) fn rebase(&mut self, from: Instant, to: Instant) {
        for at in &mut self.0 {
            if *at != Instant::MAX {
                *at = rebase(*at, from, to);
            }
        }
    }
}

/// Moves an instant by the distance between two others.
pub(super) fn rebase(at: Instant, from: Instant, to: Instant) -> Instant {
    if at >= from { to + at.saturating_since(from) } else { to - from.saturating_since(at) }
}
