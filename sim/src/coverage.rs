//! Which combinations of state, input and fact the runs have met.

use vrrp_core::{AddressState, Snapshot, State, Timer};

/// What was fed to a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    Timer(Timer),
    Zero,
    Lower,
    Equal,
    Higher,
    Discarded,
    Startup,
    Shutdown,
    GoodFacts,
    BadFacts,
    Priority,
    Resign,
    Drain,
    Undrain,
    ForceClaim,
    ReleaseClaim,
    SuccessorAnnounced,
    Done,
    WorkFailed,
    AdvertResult,
    Reannounce,
    Reconfigure,
}

const STATES: usize = 3;
const INPUTS: usize = 30;
const FACTS: usize = 8;

const INPUT_NAMES: [&str; INPUTS] = [
    "timer ActiveDown",
    "timer AdvertDue",
    "timer PreemptDelay",
    "timer AnnounceRepeat",
    "timer AnnounceRefresh",
    "timer HoldEnd",
    "timer AddressRetry",
    "timer SourceGrace",
    "timer StaggeredResign",
    "priority 0",
    "lower priority",
    "equal priority",
    "higher priority",
    "discarded packet",
    "Startup",
    "Shutdown",
    "good Facts",
    "bad Facts",
    "PriorityChanged",
    "Resign",
    "Drain",
    "Undrain",
    "ForceClaim",
    "ReleaseClaim",
    "SuccessorAnnounced",
    "ActionDone Done",
    "ActionDone failed",
    "AdvertResult",
    "Reannounce",
    "reconfigure",
];

/// How often each combination of a router's state, what it was fed, where its addresses were and
/// whether it stood alone or in a sync group has been met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    counts: Box<[u64]>,
}

impl Default for Coverage {
    fn default() -> Self {
        Self { counts: vec![0; STATES * INPUTS * FACTS].into() }
    }
}

impl Coverage {
    pub(crate) fn note(&mut self, seen: &Snapshot, grouped: bool, fed: Fed) {
        let state = match seen.state {
            State::Initialize => 0,
            State::Backup => 1,
            State::Active => 2,
        };
        let addresses = match seen.addresses {
            AddressState::Absent => 0,
            AddressState::Installing => 1,
            AddressState::Present => 2,
            AddressState::Removing => 3,
        };
        let fact = addresses * 2 + usize::from(grouped);
        self.counts[(state * INPUTS + fed.index()) * FACTS + fact] += 1;
    }

    /// Adds what another run has met.
    pub fn merge(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
    }

    /// Combinations met, and all combinations, those that cannot happen included.
    pub fn met(&self) -> (usize, usize) {
        (self.counts.iter().filter(|&&count| count > 0).count(), self.counts.len())
    }

    /// One line for each input, with how often it met each state: what was never met stands out
    /// as a zero.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{:<24}{:>14}{:>14}{:>14}  combinations with facts\n",
            "input", "Initialize", "Backup", "Active"
        );
        for (input, name) in INPUT_NAMES.iter().enumerate() {
            let facts = |state: usize| {
                let start = (state * INPUTS + input) * FACTS;
                &self.counts[start..start + FACTS]
            };
            let sums = [0, 1, 2].map(|state| facts(state).iter().sum::<u64>());
            let met: usize = (0..STATES).map(|s| facts(s).iter().filter(|&&c| c > 0).count()).sum();
            let [initialize, backup, active] = sums;
            text += &format!(
                "{name:<24}{initialize:>14}{backup:>14}{active:>14}  {met:>2} of {}\n",
                STATES * FACTS
            );
        }
        text
    }
}

impl Fed {
    fn index(self) -> usize {
        match self {
            Self::Timer(timer) => match timer {
                Timer::ActiveDown => 0,
                Timer::AdvertDue => 1,
                Timer::PreemptDelay => 2,
                Timer::AnnounceRepeat => 3,
                Timer::AnnounceRefresh => 4,
                Timer::HoldEnd => 5,
                Timer::AddressRetry => 6,
                Timer::SourceGrace => 7,
                // The last one known; a new timer needs a line of its own here.
                _ => 8,
            },
            Self::Zero => 9,
            Self::Lower => 10,
            Self::Equal => 11,
            Self::Higher => 12,
            Self::Discarded => 13,
            Self::Startup => 14,
            Self::Shutdown => 15,
            Self::GoodFacts => 16,
            Self::BadFacts => 17,
            Self::Priority => 18,
            Self::Resign => 19,
            Self::Drain => 20,
            Self::Undrain => 21,
            Self::ForceClaim => 22,
            Self::ReleaseClaim => 23,
            Self::SuccessorAnnounced => 24,
            Self::Done => 25,
            Self::WorkFailed => 26,
            Self::AdvertResult => 27,
            Self::Reannounce => 28,
            Self::Reconfigure => 29,
        }
    }
}
