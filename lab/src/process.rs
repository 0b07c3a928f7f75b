//! Daemons and commands that run on a host.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::Error;
use crate::error::Context;
use crate::namespace::Namespace;
use crate::wait::within;
use crate::watchdog;

/// A process on a host, with everything it has started.
///
/// Dropping it kills it and its process group. It dies too when the program that
/// runs the lab does, however that ends. What it prints is in [`log`](Self::log);
/// with the environment variable `LAB_LOGS` set to a directory the log is written
/// there when the process is dropped, and when a test panics it goes to stderr.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: File,
}

/// What a process and its process group have used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Usage {
    /// Processor time, user and system, with a resolution of one tick (10 ms).
    pub cpu: Duration,
    /// Resident memory in bytes, summed over the processes (shared pages count for each).
    pub resident: u64,
    /// How many processes there are.
    pub processes: usize,
}

impl Process {
    pub(crate) fn spawn(
        namespace: &Namespace,
        name: &str,
        mut command: Command,
    ) -> Result<Self, Error> {
        let log = memfd_create("log", MFdFlags::MFD_CLOEXEC).context(|| "log file".into())?;
        let log = File::from(log);
        let out = log.try_clone().context(|| "log file".into())?;
        let err = log.try_clone().context(|| "log file".into())?;
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        namespace.place(&mut command)?;
        let what = format!("starting `{}` on `{name}`", line(&command));
        let program = command.get_program().to_string_lossy().into_owned();
        let program = program.rsplit('/').next().unwrap_or_default();
        let name = format!("{name}-{program}");
        let child = spawn_from_lasting_thread(command).context(|| what)?;
        let process = Self { name, child, log };
        watchdog::watch(process.pid()).context(|| "watchdog".into())?;
        Ok(process)
    }

    /// The process id, as seen by the program that runs the lab.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything it has printed so far.
    pub fn log(&self) -> String {
        let length = self.log.metadata().map_or(0, |m| m.len());
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        // The offset is the child's too, so read without moving it.
        let read = self.log.read_at(&mut bytes, 0).unwrap_or(0);
        bytes.truncate(read);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Sends a signal to the process alone, not to what it has started.
    ///
    /// # Errors
    ///
    /// When the kernel refuses. A process that has ended takes signals silently.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        kill(self.id(), signal).context(|| format!("{signal} to `{}`", self.name))
    }

    /// Asks the process to end (SIGTERM).
    ///
    /// # Errors
    ///
    /// As [`signal`](Self::signal).
    pub fn terminate(&self) -> Result<(), Error> {
        self.signal(Signal::SIGTERM)
    }

    /// Kills the process and all it has started (SIGKILL).
    ///
    /// # Errors
    ///
    /// As [`signal`](Self::signal).
    pub fn kill(&self) -> Result<(), Error> {
        self.signal_group(Signal::SIGKILL)
    }

    /// Freezes the process and all it has started (SIGSTOP).
    ///
    /// # Errors
    ///
    /// As [`signal`](Self::signal).
    pub fn stop(&self) -> Result<(), Error> {
        self.signal_group(Signal::SIGSTOP)
    }

    /// Thaws what [`stop`](Self::stop) froze (SIGCONT).
    ///
    /// # Errors
    ///
    /// As [`signal`](Self::signal).
    pub fn resume(&self) -> Result<(), Error> {
        self.signal_group(Signal::SIGCONT)
    }

    /// Whether it has not ended yet. A frozen process is running.
    pub fn is_running(&self) -> bool {
        matches!(self.status(), Ok(None))
    }

    /// Waits for its end, at most for `deadline`.
    ///
    /// # Errors
    ///
    /// [`Error::Late`] when it still runs.
    pub fn wait(&self, deadline: Duration) -> Result<ExitStatus, Error> {
        let mut end = Ok(None);
        within(deadline, format!("`{}` ends", self.name), || {
            end = self.status();
            !matches!(end, Ok(None))
        })?;
        let end = end.context(|| format!("waiting for `{}`", self.name))?;
        Ok(end.unwrap_or_default())
    }

    /// What it and its process group use now. What has ended does not count.
    ///
    /// # Errors
    ///
    /// When `/proc` cannot be listed.
    pub fn usage(&self) -> Result<Usage, Error> {
        let group = self.pid();
        let ticks = tick_rate();
        let page = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().unwrap_or(4096);
        let page = u64::try_from(page).unwrap_or(4096);
        let mut usage = Usage::default();
        for entry in fs::read_dir("/proc").context(|| "listing /proc".into())?.flatten() {
            // A process may end while we look: then it does not count.
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
                continue;
            };
            // The command's name, in brackets, may hold anything; fields start after it.
            let Some((_, rest)) = stat.rsplit_once(')') else {
                continue;
            };
            let field: Vec<&str> = rest.split_ascii_whitespace().collect();
            // proc(5) counts from 1 and the state, first here, is its field 3.
            let number = |n: usize| field.get(n - 3).and_then(|f| f.parse::<u64>().ok());
            if number(5) != Some(group.into()) {
                continue;
            }
            let used = number(14).unwrap_or(0) + number(15).unwrap_or(0);
            usage.cpu += Duration::from_millis(used * 1000 / ticks);
            usage.resident += number(24).unwrap_or(0) * page;
            usage.processes += 1;
        }
        Ok(usage)
    }

    /// How it ended. The process is not reaped here, only when it is dropped: until
    /// then its number cannot be given to another, and signals cannot go astray.
    fn status(&self) -> io::Result<Option<ExitStatus>> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        Ok(match waitid(Id::Pid(self.id()), flags)? {
            WaitStatus::Exited(_, code) => Some(ExitStatus::from_raw(code << 8)),
            WaitStatus::Signaled(_, signal, _) => Some(ExitStatus::from_raw(signal as i32)),
            _ => None,
        })
    }

    fn signal_group(&self, signal: Signal) -> Result<(), Error> {
        // The process leads its group, see `Namespace::place`.
        killpg(self.id(), signal).context(|| format!("{signal} to the group of `{}`", self.name))
    }

    fn id(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Not reaped yet, so the number is still its own.
        let _ = killpg(self.id(), Signal::SIGKILL);
        let _ = watchdog::forget(self.pid());
        let _ = self.child.wait();
        if let Some(directory) = std::env::var_os("LAB_LOGS") {
            let file = format!("{}-{}.log", self.name, self.pid());
            let _ = fs::write(std::path::Path::new(&directory).join(file), self.log());
        }
        if thread::panicking() {
            eprintln!("--- log of {} ({}):\n{}---", self.name, self.pid(), self.log());
        }
    }
}

/// Runs a command to its end with `input` on its standard input.
pub(crate) fn exec(
    namespace: &Namespace,
    mut command: Command,
    input: &str,
) -> Result<String, Error> {
    namespace.place(&mut command)?;
    let shown = line(&command);
    let mut run = || -> io::Result<_> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that does not read its input closes it.
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output()
    };
    let output = run().context(|| format!("running `{shown}`"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let output_text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::Command { command: shown, status: output.status, output: output_text })
    }
}

/// Builds a command from its words.
pub(crate) fn command<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(words: I) -> Command {
    let mut words = words.into_iter();
    let mut command = match words.next() {
        Some(program) => Command::new(program),
        None => Command::new(""),
    };
    command.args(words);
    command
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn tick_rate() -> u64 {
    let rate = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
    u64::try_from(rate).unwrap_or(100).max(1)
}

/// Starts the command from a thread that lives as long as the program: the kernel
/// kills a child when the *thread* that started it ends.
fn spawn_from_lasting_thread(command: Command) -> io::Result<Child> {
    type Order = (Command, mpsc::Sender<io::Result<Child>>);
    static STARTER: OnceLock<mpsc::Sender<Order>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (sender, orders) = mpsc::channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in orders {
                let _ = answer.send(command.spawn());
            }
        });
        sender
    });
    let (answer, child) = mpsc::channel();
    let gone = |_| io::Error::other("the thread that starts processes has ended");
    starter.send((command, answer)).map_err(|_| gone(mpsc::RecvError))?;
    child.recv().map_err(gone)?
}
