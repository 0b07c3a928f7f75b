//! Whether a router may run, recomputed from the facts of the moment and from nothing else.
//!
//! Incremental fault counters are how deployed daemons end up in FAULT for ever after a link flap;
//! a set of facts cannot drift.

use core::net::IpAddr;

use crate::{Facts, Impediment, Reason};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Standing {
    /// `Startup` was said, and no `Shutdown` since.
    pub(super) started: bool,
    /// `Resign` was said, and no `Startup` since.
    pub(super) resigned: bool,
    /// `Drain` was said, and no `Undrain` since.
    pub(super) drained: bool,
    /// Another member of the sync group may not run.
    pub(super) group_held: bool,
    /// The host's facts. `source` outlives its loss by the grace.
    pub(super) facts: Facts,
}

impl Standing {
    /// The most telling reason for not running: what was asked for comes before what is missing.
    pub(super) fn impediment(&self) -> Option<Impediment> {
        self.own_impediment().or(self.group_held.then_some(Impediment::Group))
    }

    /// As `impediment`, without what the sync group adds.
    pub(super) fn own_impediment(&self) -> Option<Impediment> {
        if !self.started {
            Some(Impediment::NotStarted)
        } else if self.resigned {
            Some(Impediment::Resigned)
        } else if self.drained {
            Some(Impediment::Drained)
        } else if !self.facts.link {
            Some(Impediment::LinkDown)
        } else if self.facts.source.is_none() {
            Some(Impediment::NoSource)
        } else if !self.facts.eligible {
            Some(Impediment::Ineligible)
        } else {
            None
        }
    }

    pub(super) fn source(&self) -> Option<IpAddr> {
        self.facts.source
    }
}

impl Impediment {
    /// The reason for a transition into Initialize.
    pub(crate) const fn reason(self) -> Reason {
        match self {
            Self::NotStarted => Reason::Shutdown,
            Self::Resigned => Reason::Resigned,
            Self::Drained => Reason::Drained,
            Self::LinkDown => Reason::LinkDown,
            Self::NoSource => Reason::NoSource,
            Self::Ineligible => Reason::Ineligible,
            Self::Group => Reason::Group,
        }
    }

    /// Whether an advertisement can still leave the host.
    pub(crate) const fn can_send(self) -> bool {
        !matches!(self, Self::LinkDown | Self::NoSource)
    }
}
