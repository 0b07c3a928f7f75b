//! How `vipd` ends.

use std::process::ExitCode;

/// The exit status of `vipd`. The numbers do not change between releases.
///
/// 1 is never used, and 101 is a panic: both say that something ended `vipd` that it did not
/// foresee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Exit {
    /// Done: the check passed; or a signal came, and no VIP is left on this host.
    Success = 0,
    /// The command line was refused. Nothing was changed.
    Usage = 2,
    /// The configuration was refused. Nothing was changed.
    Configuration = 3,
    /// A capability is missing at the start. Nothing was changed.
    Privilege = 4,
    /// An interface is missing at the start. Nothing was changed. One that vanishes later is
    /// waited for.
    Interface = 5,
    /// Failed while running, or the host refused a resource (descriptors, threads, memory).
    Runtime = 6,
    /// A VIP is still on this host after the deadline, or it could not be found out: whoever
    /// supervises `vipd` should assume that this host still answers for the address.
    StillPresent = 7,
    /// Something else on the host forbids to start: IPv6 is switched off, a VIP is a permanent
    /// address already, or the run directory cannot be used. Nothing was changed.
    Host = 8,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
