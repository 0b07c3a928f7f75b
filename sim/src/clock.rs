//! The clocks of the nodes: each runs at its own rate from its own start.

use vrrp_core::Instant;

/// True time, in nanoseconds since the start of the run. No node can see it.
pub(crate) type Time = u64;

pub(crate) const NEVER: Time = u64::MAX;
pub(crate) const MICRO: Time = 1_000;
pub(crate) const MILLI: Time = 1_000_000;
pub(crate) const SECOND: Time = 1_000_000_000;

/// One node's clock. Rates are fixed-point with 32 fractional bits: floating point would do, but
/// whole numbers make it plain that a run replays bit for bit on every machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    offset: u64,
    rate: u64,
    inverse: u64,
}

impl Clock {
    /// A clock that showed `offset` at the start and gains `ppm` microseconds per second.
    pub(crate) fn new(offset: u64, ppm: i32) -> Self {
        const MILLION: u64 = 1_000_000;
        let speed = (MILLION as i64 + i64::from(ppm)).unsigned_abs().max(1);
        Self { offset, rate: (speed << 32) / MILLION, inverse: (MILLION << 32) / speed }
    }

    /// What the clock shows at a true time.
    pub(crate) fn local(&self, time: Time) -> Instant {
        Instant::from_nanos(self.offset + scale(time, self.rate))
    }

    /// The first true time at which the clock shows `local` or more.
    pub(crate) fn time_of(&self, local: Instant) -> Time {
        let target = local.as_nanos();
        let mut time = scale(target.saturating_sub(self.offset), self.inverse);
        // The inverse is rounded down, so this falls short by less than a microsecond.
        while let Some(short) = target.checked_sub(self.local(time).as_nanos()).filter(|&s| s > 0) {
            time += short;
        }
        time
    }
}

fn scale(value: u64, factor: u64) -> u64 {
    ((u128::from(value) * u128::from(factor)) >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_reached_when_its_time_comes() {
        for ppm in [-20_000, -500, 0, 1, 500, 20_000] {
            let clock = Clock::new(123_456_789, ppm);
            for at in [0, 1, 999, SECOND, 3_600 * SECOND, 24 * 3_600 * SECOND + 7] {
                let deadline = Instant::from_nanos(123_456_789 + at);
                let time = clock.time_of(deadline);
                assert!(clock.local(time) >= deadline);
                assert!(time.abs_diff(at) <= at / 40 + 2, "{ppm} {at} {time}");
            }
        }
    }
}
