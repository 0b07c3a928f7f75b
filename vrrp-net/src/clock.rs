//! The clock of the core's instants: `CLOCK_BOOTTIME`, which counts suspend and never steps.

use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use vrrp_core::Instant;

/// The present instant.
pub(crate) fn now() -> Instant {
    Instant::from_nanos(read(ClockId::CLOCK_BOOTTIME))
}

/// The instant of a kernel receive timestamp, which is wall-clock time (`SO_TIMESTAMPNS`).
///
/// What counts is the packet's age at this moment, so a step of the wall clock can only matter
/// for a packet that was waiting when it happened. An age that cannot be (from the future, or
/// older than `longest`) yields `None`: date the packet by its reading instead.
pub(crate) fn from_wall_clock(stamp: TimeSpec, longest: Duration) -> Option<Instant> {
    let wall = read(ClockId::CLOCK_REALTIME);
    let age = wall.checked_sub(nanos(stamp))?;
    (u128::from(age) <= longest.as_nanos()).then(|| now() - Duration::from_nanos(age))
}

fn read(clock: ClockId) -> u64 {
    // Both clocks exist on every Linux since 2.6.39, and reading them cannot fail otherwise.
    clock_gettime(clock).map_or(0, nanos)
}

fn nanos(time: TimeSpec) -> u64 {
    let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec()).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_from_the_future_or_from_long_ago_has_no_date() {
        let second = Duration::from_secs(1);
        let wall = clock_gettime(ClockId::CLOCK_REALTIME).unwrap();
        let shifted = |seconds| TimeSpec::new(wall.tv_sec() + seconds, wall.tv_nsec());
        assert!(from_wall_clock(wall, second).unwrap() <= now());
        assert_eq!(from_wall_clock(shifted(5), second), None);
        assert_eq!(from_wall_clock(shifted(-5), second), None);
    }
}
