//! Runs clusters of the real protocol core in simulated time, with faults.
//!
//! One run, as a list and as a picture:
//!
//! ```text
//! cargo run --release --example simulate -- --seed 7 --nodes 3 --hours 0.05 --svg run.svg
//! ```
//!
//! Many runs, each a cluster-hour with its own seed, stopped and shrunk at the first broken promise:
//!
//! ```text
//! cargo run --release --example simulate -- --check 2000 --jobs 2        # what CI runs
//! cargo run --release --example simulate -- --check 1000000 --jobs 16    # the long form
//! ```

use anyhow::Context as _;
use clap::Parser;
use sim::{Coverage, Options, Report, Schedule};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Clusters of the real protocol core in simulated time.
#[derive(Parser)]
struct Args {
    /// The seed of the run, or the first of many.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Nodes of the cluster, 2 to 7; 0 lets the seed choose.
    #[arg(long, default_value_t = 0)]
    nodes: usize,
    /// Simulated hours of each run.
    #[arg(long, default_value_t = 1.0)]
    hours: f64,
    /// Check the promises for this many seeds instead of showing one run.
    #[arg(long)]
    check: Option<u64>,
    /// Threads for `--check`.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Draw the run into this file.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Simulate this fixed interval (in milliseconds) on every router, to measure.
    #[arg(long)]
    interval_ms: Option<u16>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    match args.check {
        Some(seeds) => Ok(check(&args, seeds)),
        None => show(&args),
    }
}

impl Args {
    fn schedule(&self, seed: u64) -> Schedule {
        let mut schedule = Schedule::from_seed(seed, self.nodes, (self.hours * 3.6e6) as u64);
        if let Some(ms) = self.interval_ms {
            for router in schedule.routers.iter_mut().filter(|router| router.version == 3) {
                router.interval_ms = ms;
            }
            // Below this there is no safe lease.
            schedule.lease &= ms >= 750;
            schedule.faults.retain(|(_, fault)| !matches!(fault, sim::Fault::Interval { .. }));
        }
        schedule
    }
}

/// What all runs together have seen.
#[derive(Default)]
struct Sum {
    runs: u64,
    seconds: u64,
    router_seconds: u64,
    steps: u64,
    faults: u64,
    promotions: u64,
    cpu_seconds: f64,
    coverage: Coverage,
    failed: Vec<(u64, Report)>,
}

fn check(args: &Args, seeds: u64) -> ExitCode {
    let (next, sum) = (AtomicU64::new(0), Mutex::new(Sum::default()));
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| worker(args, seeds, &next, &sum));
        }
    });
    // A worker that panicked has poisoned the lock, and the scope has passed its panic on.
    let sum = sum.into_inner().unwrap_or_default();
    println!("{}", sum.coverage.table());
    let (met, all) = sum.coverage.met();
    println!("combinations of state, input and fact met: {met} of {all}, the impossible included");
    println!(
        "{} runs, {} cluster-hours, {} faults, {} promotions, {} steps",
        sum.runs,
        sum.seconds / 3_600,
        sum.faults,
        sum.promotions,
        sum.steps
    );
    println!(
        "{:.2} M router-seconds and {:.2} M steps per CPU-second, in {:.0} CPU-seconds",
        sum.router_seconds as f64 / sum.cpu_seconds / 1e6,
        sum.steps as f64 / sum.cpu_seconds / 1e6,
        sum.cpu_seconds
    );
    let Some((seed, report)) = sum.failed.iter().min_by_key(|(seed, _)| *seed) else {
        println!("every promise was kept");
        return ExitCode::SUCCESS;
    };
    println!("broken promises in {} runs", sum.failed.len());
    for (seed, report) in &sum.failed {
        if let Some(violation) = &report.violation {
            println!("  seed {seed}: {violation}");
        }
    }
    println!("shrinking seed {seed} ...");
    let short = sim::shrink(&args.schedule(*seed), Options::default());
    if let Some(violation) = sim::run(&short).violation.or(report.violation.clone()) {
        println!("{violation}\n\n{}", short.to_test(&format!("seed_{seed}")));
    }
    ExitCode::FAILURE
}

fn worker(args: &Args, seeds: u64, next: &AtomicU64, sum: &Mutex<Sum>) {
    let mut own = Sum::default();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= seeds || own.failed.len() >= 10 {
            break;
        }
        let seed = args.seed + index;
        let schedule = args.schedule(seed);
        let report = sim::run(&schedule);
        own.runs += 1;
        own.seconds += report.seconds;
        own.router_seconds += report.router_seconds;
        own.steps += report.steps;
        own.faults += schedule.faults.len() as u64;
        own.promotions += report.promotions.len() as u64;
        own.coverage.merge(&report.coverage);
        if report.violation.is_some() {
            own.failed.push((seed, report));
        }
    }
    own.cpu_seconds = cpu_seconds();
    let Ok(mut sum) = sum.lock() else {
        return;
    };
    sum.runs += own.runs;
    sum.seconds += own.seconds;
    sum.router_seconds += own.router_seconds;
    sum.steps += own.steps;
    sum.faults += own.faults;
    sum.promotions += own.promotions;
    sum.cpu_seconds += own.cpu_seconds;
    sum.coverage.merge(&own.coverage);
    sum.failed.append(&mut own.failed);
}

/// What this thread has used, so that a busy machine does not make the simulator look slow. Linux
/// only; elsewhere the rates are infinite.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|first| first.parse::<f64>().ok());
    nanos.unwrap_or(0.0) / 1e9
}

fn show(args: &Args) -> anyhow::Result<ExitCode> {
    let schedule = args.schedule(args.seed);
    let options = Options { trace: true, ..Options::default() };
    let report = sim::run_with(&schedule, options);
    let timeline = sim::Timeline::new(&schedule, &report);
    println!("{timeline}");
    if let Some(path) = &args.svg {
        std::fs::write(path, timeline.svg())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    match report.violation {
        None => Ok(ExitCode::SUCCESS),
        Some(violation) => {
            println!("{violation}");
            Ok(ExitCode::FAILURE)
        }
    }
}
