//! The core's own clock value.
//!
//! The core never reads a clock. Every call that depends on time takes an [`Instant`] from its
//! caller, so a run is a list of `(Instant, input)` pairs that replays exactly.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};
use core::time::Duration;

/// A point in time: nanoseconds of a clock that never steps and that counts suspend.
///
/// On Linux that is `CLOCK_BOOTTIME`; a simulation starts at [`Instant::ZERO`]. There is no
/// conversion from `std::time::Instant` on purpose: that clock stops while the host sleeps, and a
/// router that slept through its peers' down interval must notice it (see `router::stall`).
///
/// All arithmetic saturates: no pair of instants and durations panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The origin of the clock.
    pub const ZERO: Self = Self(0);
    /// The last instant that can be expressed, about 584 years after the origin.
    pub const MAX: Self = Self(u64::MAX);

    /// From nanoseconds since the origin of the clock.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From milliseconds since the origin of the clock, for tests and examples.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the origin of the clock.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time from `earlier` to `self`; zero when `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(nanos(rhs)))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, rhs: Duration) {
        *self = *self + rhs;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, rhs: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(rhs)))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Instant::MAX + Duration::MAX, Instant::MAX);
        assert_eq!(Instant::ZERO - Duration::from_secs(1), Instant::ZERO);
        let (early, late) = (Instant::from_millis(1), Instant::from_millis(3));
        assert_eq!(late.saturating_since(early), Duration::from_millis(2));
        assert_eq!(early.saturating_since(late), Duration::ZERO);
    }
}
