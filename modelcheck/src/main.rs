//! `modelcheck election` and `modelcheck lease`: see the library.

use std::time::Duration;

use clap::{Parser, Subcommand};
use modelcheck::election::{Election, Faults, Start};
use modelcheck::lease;
use modelcheck::report::{Limits, Report, explore};
use vrrp_core::Preempt;

/// Explores the models of the protocol.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    model: Which,
}

#[derive(Subcommand)]
enum Which {
    /// The lease with the settings for one second and every fault once.
    Lease,
    /// Three hosts with the real router.
    Election(ElectionOptions),
}

#[derive(clap::Args)]
struct ElectionOptions {
    /// Up to this many faults of any kinds on one path; the options below narrow it down.
    #[arg(long, default_value_t = 0)]
    any: u8,
    /// Crashes on one path.
    #[arg(long, default_value_t = 0)]
    crash: u8,
    /// Resignations.
    #[arg(long, default_value_t = 0)]
    resign: u8,
    /// Pauses.
    #[arg(long, default_value_t = 0)]
    pause: u8,
    /// Changes of priority.
    #[arg(long, default_value_t = 0)]
    priority: u8,
    /// Lost messages.
    #[arg(long, default_value_t = 0)]
    drop: u8,
    /// Messages that arrive twice.
    #[arg(long, default_value_t = 0)]
    duplicate: u8,
    /// Broken copies.
    #[arg(long, default_value_t = 0)]
    corrupt: u8,
    /// Backups leave a living Active alone.
    #[arg(long)]
    nopreempt: bool,
    /// Begin with three hosts that boot, instead of three that have settled.
    #[arg(long)]
    boot: bool,
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
}

impl ElectionOptions {
    fn model(&self) -> Election {
        let preempt = if self.nopreempt { Preempt::Never } else { Preempt::After(Duration::ZERO) };
        let (crash, resign, pause, priority) = (self.crash, self.resign, self.pause, self.priority);
        let (drop, duplicate, corrupt) = (self.drop, self.duplicate, self.corrupt);
        let total = crash + resign + pause + priority + drop + duplicate + corrupt;
        let named = Faults { crash, resign, pause, priority, drop, duplicate, corrupt, total };
        let faults = if self.any > 0 { Faults::any(self.any) } else { named };
        let start = if self.boot { Start::Boot } else { Start::Settled };
        Election { preempt, start, ..Election::new(faults) }
    }
}

fn main() -> anyhow::Result<()> {
    match Options::parse().model {
        Which::Election(options) => {
            let time = options.seconds.map(Duration::from_secs);
            let (steps, depth, threads) = (options.steps, options.depth, options.threads);
            let limits = Limits { steps, depth, time, threads, progress: true, ..Limits::NONE };
            show(&explore(options.model(), limits))
        }
        Which::Lease => {
            let beside =
                lease::Faults { kill_guardian: 1, hand_over: 1, start: 1, ..lease::Faults::NONE };
            for stop in [
                lease::Faults { freeze: 1, ..beside },
                lease::Faults { stick: 1, ..beside },
                lease::Faults { kill: 1, ..beside },
            ] {
                for model in [lease::Lease::one_second(), lease::Lease::two_seconds()] {
                    println!("{stop:?}, L = {} of {}", model.lease, model.interval);
                    show(&explore(model.with(stop), Limits::NONE))?;
                }
            }
            Ok(())
        }
    }
}

fn show(report: &Report) -> anyhow::Result<()> {
    print!("{report}");
    anyhow::ensure!(report.failures.is_empty(), "a property fails");
    Ok(())
}
