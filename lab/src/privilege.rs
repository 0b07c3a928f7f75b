//! Getting the right to make namespaces: as root at once, else in a user
//! namespace of one's own.
//!
//! A process with several threads cannot enter a user namespace, so without
//! privileges the executable is started again inside one, as its "root". A
//! program does that with [`enter`] at the start of `main`, a test with
//! [`require!`](crate::require), which runs that one test again.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{getegid, geteuid, getpid, getppid};

use crate::Unavailable;

/// Set in the process that was started again, so that it does not start another.
const INSIDE: &str = "LAB_INSIDE";

/// Where the right to make namespaces comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    /// The process has it on the machine (root).
    Machine,
    /// The process has it in a user namespace that the lab made for it. Real-time
    /// scheduling and socket buffers above the machine's limit are refused there.
    UserNamespace,
}

/// Whether this process may make network and mount namespaces.
///
/// # Errors
///
/// Says why not. [`enter`] and [`require!`](crate::require) may still succeed.
pub fn privileged() -> Result<Privilege, Unavailable> {
    static ANSWER: OnceLock<Result<Privilege, Unavailable>> = OnceLock::new();
    let ask = || {
        // A thread of its own, as it leaves our namespaces when it succeeds.
        let tried = thread::spawn(|| unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS))
            .join()
            .map_err(|_| Unavailable("the thread that asks for privileges panicked".into()))?;
        tried.map_err(|e| Unavailable(format!("may not make network namespaces: {e}")))?;
        Ok(if env::var_os(INSIDE).is_some() {
            Privilege::UserNamespace
        } else {
            Privilege::Machine
        })
    };
    ANSWER.get_or_init(ask).clone()
}

/// Makes sure that the program may use the lab. Call it first thing in `main`.
///
/// With privileges it returns at once. Without, it starts the same executable
/// with the same arguments in new user, network and mount namespaces, waits for
/// it and **ends this process** with its exit code.
///
/// # Errors
///
/// When user namespaces are not to be had either.
pub fn enter() -> Result<Privilege, Unavailable> {
    let refused = match privileged() {
        Ok(privilege) => return Ok(privilege),
        Err(refused) => refused,
    };
    let mut child = again(&refused, env::args_os().skip(1))?
        .spawn()
        .map_err(|e| Unavailable(format!("{refused}; nor a user namespace: {e}")))?;
    let status = child.wait().map_err(|e| Unavailable(format!("waiting for the child: {e}")))?;
    process::exit(status.code().unwrap_or(1));
}

/// What [`require!`](crate::require) found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Verdict {
    /// Go on: this process may use the lab.
    Run,
    /// Return: skipped with a message, or already run elsewhere with success.
    Return,
}

/// The part of [`require!`](crate::require) before a test's other needs.
#[doc(hidden)]
#[track_caller]
pub fn require_privilege(test: &str) -> Verdict {
    let Err(refused) = privileged() else { return Verdict::Run };
    // libtest knows the test by its path without the crate.
    let path = test.trim_end_matches("::{{closure}}");
    let name = path.split_once("::").map_or(path, |(_, name)| name);
    let arguments = [name, "--exact", "--nocapture", "--include-ignored", "--test-threads=1"];
    let output = again(&refused, arguments.map(OsString::from)).and_then(|mut command| {
        command
            .stdin(Stdio::null())
            .output()
            .map_err(|e| Unavailable(format!("{refused}; nor a user namespace: {e}")))
    });
    let output = match output {
        Ok(output) => output,
        Err(why) => return skip(test, &why),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    for line in errors.lines().filter(|line| line.starts_with(SKIPPED)) {
        announce(line);
    }
    print!("{text}{errors}");
    // A name that matches nothing would make libtest succeed with no test run.
    let passed = output.status.success() && text.contains("test result: ok. 1 passed");
    assert!(passed, "`{name}` failed in a user namespace ({})", output.status);
    Verdict::Return
}

/// Says that a test is skipped; with `CI=true` that is a failure.
#[doc(hidden)]
#[track_caller]
pub fn skip(test: &str, why: &Unavailable) -> Verdict {
    assert!(env::var_os("CI").is_none_or(|v| v != "true"), "{test} cannot run: {why}");
    announce(&format!("{SKIPPED}{test}: {why}"));
    Verdict::Return
}

const SKIPPED: &str = "skipped: ";

/// Prints past libtest's capture, so that nobody takes a skipped test for a green one.
fn announce(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// What a test returns when it is skipped.
#[doc(hidden)]
pub trait Skipped {
    fn skipped() -> Self;
}

impl Skipped for () {
    fn skipped() {}
}

impl<E> Skipped for Result<(), E> {
    fn skipped() -> Self {
        Ok(())
    }
}

/// Starts a test that needs the lab: `lab::require!();` as its first statement.
///
/// Without privileges the test runs again in a user namespace, in a process of its
/// own, and this one returns (or panics) with its result. If that is not possible
/// the test prints `skipped: ...` and returns; with `CI=true` in the environment it
/// fails instead. Arguments are further needs, of type `Result<_, Unavailable>`:
///
/// ```no_run
/// # fn main() {}
/// #[test]
/// fn one_owner() {
///     lab::require!(lab::peers::Keepalived::available());
///     // ...
/// }
/// ```
#[macro_export]
macro_rules! require {
    ($($need:expr),* $(,)?) => {
        let test = {
            fn here() {}
            fn name_of<T>(_: T) -> &'static str {
                ::std::any::type_name::<T>().trim_end_matches("::here")
            }
            name_of(here)
        };
        if $crate::require_privilege(test) == $crate::Verdict::Return {
            return $crate::Skipped::skipped();
        }
        $(
            if let Err(why) = $need {
                $crate::skip(test, &why);
                return $crate::Skipped::skipped();
            }
        )*
    };
}

/// The command that starts this executable again in a user namespace.
fn again(
    refused: &Unavailable,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Command, Unavailable> {
    if env::var_os(INSIDE).is_some() {
        return Err(Unavailable(format!("{refused}, even in a user namespace")));
    }
    let program = env::current_exe()
        .map_err(|e| Unavailable(format!("{refused}; this executable has no path: {e}")))?;
    let mut command = Command::new(program);
    command.args(arguments).env(INSIDE, "1");

    let uid_map = format!("0 {} 1", geteuid());
    let gid_map = format!("0 {} 1", getegid());
    let parent = getpid();
    let start = move || -> io::Result<()> {
        let flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS;
        unshare(flags)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", &uid_map)?;
        fs::write("/proc/self/gid_map", &gid_map)?;
        // Last, because a change of credentials forgets it.
        set_pdeathsig(Signal::SIGKILL)?;
        if getppid() != parent {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls only: short paths
    // and contents go to the kernel from the stack or from strings made beforehand.
    unsafe { command.pre_exec(start) };
    Ok(command)
}
