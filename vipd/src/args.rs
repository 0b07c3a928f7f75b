//! The command line.

use std::fmt;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Owns virtual IP addresses over VRRP and gives them up safely.
#[derive(Clone, Debug, Parser)]
#[command(name = "vipd", version, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The configuration, a TOML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Check the configuration, say what would run, and exit. Needs no privilege.
    #[arg(long)]
    pub(crate) check: bool,

    /// Where to note which addresses are ours, so that the next start finds what a crash left.
    #[arg(long, value_name = "DIR", default_value = "/run/vipd")]
    pub(crate) run_dir: PathBuf,

    /// How much to log to standard error.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LogLevel::Info)]
    pub(crate) log_level: LogLevel,
}

const AFTER_HELP: &str = "\
Signals:
  SIGTERM, SIGINT  give the VIPs up and exit; a second one removes them at once
  SIGHUP           read the configuration again; a bad one is reported and not taken

Exit status:
  0  done: after a signal, and no VIP is left on this host
  2  usage
  3  the configuration was refused
  4  a privilege is missing: CAP_NET_ADMIN, CAP_NET_RAW
  5  an interface is missing at the start; one that vanishes later is waited for
  6  failed while running, or the host refused a resource
  7  a VIP is still there after the deadline, or it could not be found out
  8  something else on the host forbids to start: IPv6 is off, a VIP is there already,
     or the run directory cannot be used";

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        })
    }
}
