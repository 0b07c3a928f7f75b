//! Priorities of virtual routers.

use core::fmt;
use core::num::NonZeroU8;

/// A router's priority, 1–255 (RFC 9568 section 5.2.4). Higher wins.
///
/// Zero is no priority: on the wire it means "I am giving up". An advertisement's priority is
/// therefore an `Option<Priority>` in this crate, `None` being the resignation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(NonZeroU8);

impl Priority {
    /// The lowest priority that takes part in the election.
    pub const MIN: Self = Self(NonZeroU8::MIN);
    /// The RFC's default for a router that does not own the addresses.
    pub const DEFAULT: Self = Self::literal(100);
    /// The highest priority of a router that does not own the addresses.
    pub const MAX_BACKUP: Self = Self::literal(254);
    /// The address owner: the VIPs are real addresses of its interface.
    pub const OWNER: Self = Self(NonZeroU8::MAX);

    /// `None` for 0.
    pub const fn new(value: u8) -> Option<Self> {
        match NonZeroU8::new(value) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }

    /// The value as it stands on the wire.
    pub const fn value(self) -> u8 {
        self.0.get()
    }

    /// Whether this is the address owner's priority, 255.
    pub const fn is_owner(self) -> bool {
        self.0.get() == u8::MAX
    }

    /// The next higher priority that a router which is no owner can have.
    pub(crate) fn one_above(self) -> Self {
        Self::new(self.value().saturating_add(1)).unwrap_or(Self::MAX_BACKUP).min(Self::MAX_BACKUP)
    }

    // Used for the constants above, where a zero would fail to compile.
    const fn literal(value: u8) -> Self {
        match Self::new(value) {
            Some(priority) => priority,
            None => panic!("zero is no priority"),
        }
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
