use std::io;
use std::process::ExitStatus;

/// Why the lab could not do what it was asked.
///
/// An error names the step that failed. Whatever the lab had made before the
/// failure goes away with the handles that hold it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel or the file system refused a step.
    #[error("{what}: {source}")]
    Io {
        /// The step, in words.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A command ran and failed.
    #[error("`{command}` ended with {status}: {output}")]
    Command {
        /// The command line.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it printed on standard error.
        output: String,
    },
    /// A name that cannot be given to a host, a bridge or an interface.
    #[error("name `{0}`: 1 to 15 bytes of letters, digits, `-`, `_` or `.` are allowed")]
    Name(String),
    /// An address that is not of the form `10.0.0.1/24` or `fd00::1/64`.
    #[error("address `{0}`: expected an IP address and a prefix length, as in 10.0.0.1/24")]
    Address(String),
    /// The host has no such interface, or none on that bridge.
    #[error("host `{host}` has no {what}")]
    NoInterface {
        /// The host that was asked.
        host: String,
        /// What it lacks.
        what: String,
    },
    /// Something did not happen in time.
    #[error("not within {0:?}: {1}")]
    Late(std::time::Duration, String),
    /// The lab or a peer cannot run here.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why the lab, or a peer daemon, cannot run on this machine: a reason to skip.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub(crate) String);

/// Shorthand: says what was being done when the kernel refused.
pub(crate) trait Context<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|e| Error::Io { what: what(), source: e.into() })
    }
}
