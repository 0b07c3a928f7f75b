//! Running a model and saying what came of it.

use std::fmt;
use std::hash::Hash;
use std::time::{Duration, Instant};

use stateright::report::WriteReporter;
use stateright::{Checker, HasDiscoveries, Model};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Stop after about this many steps, those to states seen before included.
    pub steps: Option<usize>,
    /// Stop after this many steps from the start.
    pub depth: Option<usize>,
    /// Stop after this time.
    pub time: Option<Duration>,
    /// Stop when this property has failed, instead of looking for others that fail.
    pub until: Option<&'static str>,
    /// Say on standard error how far it is, now and then.
    pub progress: bool,
    /// Threads to use.
    pub threads: usize,
}

impl Limits {
    /// Until everything has been seen, on two threads.
    pub const NONE: Self =
        Self { steps: None, depth: None, time: None, until: None, progress: false, threads: 2 };
}

/// What came of an exploration.
#[derive(Debug)]
pub struct Report {
    /// Distinct states.
    pub unique: usize,
    /// Steps taken, those to states seen before included.
    pub steps: usize,
    /// The longest of the shortest paths to a state.
    pub depth: usize,
    /// How long it took.
    pub took: Duration,
    /// Whether every state within the faults' budget was seen.
    pub complete: bool,
    /// Each property that fails, with the steps that lead there, the shortest first.
    pub failures: Vec<Failure>,
}

/// A property that fails.
#[derive(Debug)]
pub struct Failure {
    /// Its name.
    pub property: &'static str,
    /// The steps that lead there, and the last state.
    pub trace: String,
}

impl Report {
    /// Whether this property fails.
    pub fn fails(&self, property: &str) -> bool {
        self.failures.iter().any(|failure| failure.property == property)
    }
}

/// Explores breadth first, so that what is found is found on a shortest path.
pub fn explore<M>(model: M, limits: Limits) -> Report
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + PartialEq + Hash + fmt::Debug + Send + Sync,
    M::Action: Clone + PartialEq + fmt::Debug,
{
    let started = Instant::now();
    let mut checker = model.checker().threads(limits.threads);
    if let Some(depth) = limits.depth {
        checker = checker.target_max_depth(depth);
    }
    if let Some(time) = limits.time {
        checker = checker.timeout(time);
    }
    if let Some(property) = limits.until {
        checker = checker.finish_when(HasDiscoveries::AllOf([property].into()));
    }
    let checker = checker.target_state_count(limits.steps.unwrap_or(usize::MAX)).spawn_bfs();
    let checker = if limits.progress {
        checker.join_and_report(&mut WriteReporter::new(&mut std::io::stderr()))
    } else {
        checker.join()
    };
    let failures = checker.discoveries().into_iter().map(|(property, path)| {
        let last = path.last_state().clone();
        let steps = path.into_actions();
        let trace: String =
            steps.iter().enumerate().map(|(at, step)| format!("{at:3} {step:?}\n")).collect();
        Failure { property, trace: format!("{trace}{last:?}") }
    });
    let failures: Vec<Failure> = failures.collect();
    let (unique, steps) = (checker.unique_state_count(), checker.state_count());
    let took = started.elapsed();
    let cut = limits.steps.is_some_and(|limit| steps >= limit)
        || limits.depth.is_some_and(|depth| checker.max_depth() >= depth)
        || limits.time.is_some_and(|time| took >= time);
    let complete = !cut && failures.is_empty();
    Report { unique, steps, depth: checker.max_depth(), took, complete, failures }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unique, steps, depth, took, complete, failures } = self;
        let extent = if *complete { "all" } else { "not all" };
        writeln!(f, "{unique} states ({extent}), {steps} steps, depth {depth}, {took:.1?}")?;
        for Failure { property, trace } in failures {
            writeln!(f, "FAILS: {property}\n{trace}")?;
        }
        if failures.is_empty() { f.write_str("every property holds\n") } else { Ok(()) }
    }
}
