//! Advertisement intervals, and the two times derived from them (RFC 9568 section 6.1).
//!
//! An interval is whole centiseconds, as on the wire. Skew_Time and Active_Down_Interval are
//! nanoseconds and are never rounded to centiseconds: rounded skew is zero for the highest
//! priorities, which is exactly where it must still order the routers.

use core::fmt;
use core::time::Duration;

use crate::{Priority, Version};

/// An advertisement interval, 1–4095 centiseconds (10 ms – 40.95 s), default 1 s.
///
/// A v2 message carries whole seconds, 1–255. A v2 interval above 40.95 s is representable here
/// as well: the type holds 1–25500 centiseconds, and each version's own limit is checked where a
/// configuration or a message says which version it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AdvertInterval(u16);

impl AdvertInterval {
    /// 10 ms, the shortest that v3 can express.
    pub const MIN: Self = Self(1);
    /// One second, both versions' default.
    pub const DEFAULT: Self = Self(100);
    /// 40.95 s, the longest that v3 can express (12 bits of centiseconds).
    pub const MAX_V3: Self = Self(4095);
    /// 255 s, the longest that v2 can express (8 bits of seconds).
    pub const MAX_V2: Self = Self(25_500);

    /// From centiseconds; `None` outside 1–25500.
    pub const fn from_centis(centis: u16) -> Option<Self> {
        if centis == 0 || centis > Self::MAX_V2.0 {
            return None;
        }
        Some(Self(centis))
    }

    /// From a duration; `None` unless it is a whole multiple of 10 ms within the range.
    pub fn from_duration(duration: Duration) -> Option<Self> {
        let nanos = duration.as_nanos();
        if !nanos.is_multiple_of(10_000_000) {
            return None;
        }
        Self::from_centis(u16::try_from(nanos / 10_000_000).ok()?)
    }

    /// In centiseconds, the unit of the v3 wire format.
    pub const fn centis(self) -> u16 {
        self.0
    }

    /// In whole seconds, the unit of the v2 wire format; `None` if it is not whole.
    pub const fn whole_seconds(self) -> Option<u8> {
        if self.0.is_multiple_of(100) { Some((self.0 / 100) as u8) } else { None }
    }

    /// As a duration.
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(self.0 as u64 * 10_000_000)
    }

    /// Whether `version` can carry this interval: v2 whole seconds, v3 up to 40.95 s.
    pub const fn fits(self, version: Version) -> bool {
        match version {
            Version::V2 => self.whole_seconds().is_some(),
            Version::V3 => self.0 <= Self::MAX_V3.0,
        }
    }

    /// Skew_Time: how much later than three intervals a router of this priority claims.
    ///
    /// v3: `(256 − priority) · interval / 256` (RFC 9568 section 6.1). v2: `(256 − priority) / 256`
    /// seconds, whatever the interval (RFC 3768 section 6.1). Floor, in nanoseconds.
    pub const fn skew(self, version: Version, priority: Priority) -> Duration {
        let steps = 256 - priority.value() as u64;
        Duration::from_nanos(steps * self.skew_base(version) / 256)
    }

    /// Active_Down_Interval: `3 · interval + Skew_Time`.
    pub const fn active_down(self, version: Version, priority: Priority) -> Duration {
        let three = 3 * self.0 as u64 * 10_000_000;
        let steps = 256 - priority.value() as u64;
        Duration::from_nanos(three + steps * self.skew_base(version) / 256)
    }

    /// The skew between two neighbouring priorities, within which ties are broken.
    pub(crate) const fn priority_step(self, version: Version) -> Duration {
        Duration::from_nanos(self.skew_base(version) / 256)
    }

    const fn skew_base(self, version: Version) -> u64 {
        match version {
            Version::V2 => 1_000_000_000,
            Version::V3 => self.0 as u64 * 10_000_000,
        }
    }
}

impl Default for AdvertInterval {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for AdvertInterval {
    /// As a person writes it: `10ms`, `1s`, `1500ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole_seconds() {
            Some(seconds) => write!(f, "{seconds}s"),
            None => write!(f, "{}ms", u32::from(self.0) * 10),
        }
    }
}
