//! `modelcheck election` and `modelcheck lease`: see the library.

use std::time::Duration;

use clap::{Parser, Subcommand};
use modelcheck::election::{Election, Faults};
use modelcheck::report::{Limits, explore};
use vrrp_core::Preempt;

/// Explores the models of the protocol.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    model: Which,
}

#[derive(Subcommand)]
enum Which {
    /// Three hosts with the real router.
    Election {
        /// At most this many faults on one path, of any kinds.
        #[arg(long, default_value_t = 2)]
        faults: u8,
        /// Stop after about this many steps.
        #[arg(long)]
        steps: Option<usize>,
        /// Stop at this depth.
        #[arg(long)]
        depth: Option<usize>,
        /// Stop after this many seconds.
        #[arg(long)]
        seconds: Option<u64>,
        /// Threads.
        #[arg(long, default_value_t = 2)]
        threads: usize,
        /// Backups leave a living Active alone.
        #[arg(long)]
        nopreempt: bool,
    },
}

fn main() -> anyhow::Result<()> {
    let Which::Election { faults, steps, depth, seconds, threads, nopreempt } =
        Options::parse().model;
    let mut model = Election::new(Faults::any(faults));
    if nopreempt {
        model.preempt = Preempt::Never;
    }
    let time = seconds.map(Duration::from_secs);
    let report = explore(model, Limits { states: steps, depth, time, threads });
    print!("{report}");
    anyhow::ensure!(report.failures.is_empty(), "a property fails");
    Ok(())
}
