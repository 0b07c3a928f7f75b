//! `vipd`, a daemon that owns virtual IP addresses (VIPs) over VRRP and gives them up safely.
//!
//! Everything is here and the binary only calls [`main_from`]: a demonstration or a test can be
//! `vipd` by running itself again. Programs that want to own VIPs *themselves* use
//! `vrrp_net::Node`; nothing here is needed for that, except perhaps [`config`], which reads the
//! TOML file and reports every mistake with its line and column.
//!
//! ```text
//! vipd --config FILE            own VIPs until SIGTERM or SIGINT
//! vipd --config FILE --check    say what would run, and what is wrong with the file
//! ```
//!
//! Signals: SIGTERM and SIGINT give the VIPs up and exit, a second one hurries; SIGHUP reads the
//! configuration again, and keeps the old one if the new one is refused. The exit status is an
//! [`Exit`].
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod args;
pub mod config;
mod daemon;
mod exit;
mod say;
mod signals;
mod summary;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use args::Args;
pub use exit::Exit;
use vrrp_net::NodeConfig;

/// Runs `vipd` with the arguments of a command line, the first of which is the program's name.
///
/// Returns when the daemon is done. It installs handlers for its signals and, if there is none
/// yet, a `tracing` subscriber that writes to standard error.
pub fn main_from<I>(args: I) -> ExitCode
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            // Standard output or error may be closed; there is nobody left to tell.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Success }.into();
        }
    };
    let exit = if args.check { check(&args) } else { run(&args) };
    exit.into()
}

/// `--check`: to standard output what would run, to standard error what is wrong.
fn check(args: &Args) -> Exit {
    match config::load(&args.config) {
        Ok(config) => {
            let file = args.config.display();
            for (router, warning) in config.warnings() {
                let _ = writeln!(io::stderr(), "{file}: warning: router \"{router}\": {warning}");
            }
            let _ = write!(io::stdout(), "{file}: {}", summary::Summary(&config));
            Exit::Success
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            Exit::Configuration
        }
    }
}

fn run(args: &Args) -> Exit {
    start_logging(args);
    let config = match config::load(&args.config) {
        Ok(config) => config,
        Err(error) => {
            say::refused(&error);
            return Exit::Configuration;
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(daemon::run(config, &args.config, &args.run_dir)),
        Err(error) => {
            tracing::error!("the host refused a resource: {error}");
            Exit::Runtime
        }
    }
}

/// One line per event, for people. An embedding program's own subscriber stays in force.
fn start_logging(args: &Args) {
    let level = args.log_level;
    // What the libraries below say is for those who debug them.
    let filter = format!("warn,vipd={level},vrrp_net={level},vrrp_core={level}");
    let _ = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .with_env_filter(EnvFilter::new(filter))
        .try_init();
}

/// Says what is legal but probably not meant.
fn warn_about(config: &NodeConfig) {
    for (router, warning) in config.warnings() {
        tracing::warn!("router \"{router}\": {warning}");
    }
}
