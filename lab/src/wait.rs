//! Waiting with a deadline, so that no test sleeps to get lucky.

use std::fmt::Display;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;

/// How often a condition is looked at again.
const STEP: Duration = Duration::from_millis(2);

/// Waits until `condition` holds, at most for `deadline`.
///
/// The condition is looked at every 2 ms and a last time after the deadline.
///
/// # Errors
///
/// [`Error::Late`], naming `what`, when it still does not hold.
pub fn within(
    deadline: Duration,
    what: impl Display,
    mut condition: impl FnMut() -> bool,
) -> Result<(), Error> {
    let end = Instant::now() + deadline;
    loop {
        let last = Instant::now() >= end;
        if condition() {
            return Ok(());
        }
        if last {
            return Err(Error::Late(deadline, what.to_string()));
        }
        thread::sleep(STEP);
    }
}

/// Like [`within`], for tests.
///
/// # Panics
///
/// When the condition does not hold in time; the message names `what`.
#[track_caller]
pub fn eventually(deadline: Duration, what: impl Display, condition: impl FnMut() -> bool) {
    if let Err(e) = within(deadline, what, condition) {
        panic!("{e}");
    }
}

/// A name that no other call in this process and no other process has got.
pub fn unique(stem: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{stem}-{}-{count}", std::process::id())
}
