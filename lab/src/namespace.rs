//! Anonymous network and mount namespaces, held by file descriptors.
//!
//! A namespace here has no name in `/run/netns`, so nothing can outlive the
//! process: when the last descriptor and the last process inside are gone, also
//! by SIGKILL, the kernel removes the namespace with every interface in it.
//! Each has a `/run` of its own (a tmpfs), where daemons keep pid files, sockets
//! and configuration; that vanishes with it too.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::panic;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{chdir, getpid, getppid, setsid};

use crate::Error;
use crate::error::Context;

/// A network namespace with its own mount namespace.
#[derive(Debug)]
pub(crate) struct Namespace {
    name: String,
    net: File,
    mnt: File,
    run: File,
}

impl Namespace {
    /// Makes the namespaces and runs `setup` inside, before anybody else can.
    pub(crate) fn new(
        name: &str,
        setup: impl FnOnce() -> io::Result<()> + Send,
    ) -> Result<Self, Error> {
        let make = || -> io::Result<Self> {
            unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS)?;
            // Nothing mounted from here on is seen outside.
            let none: Option<&str> = None;
            mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
            mount(Some("lab"), "/run", Some("tmpfs"), MsFlags::empty(), Some("mode=0755"))?;
            // A fresh sysfs shows the new interfaces. A container may forbid it, and
            // nothing here needs it.
            let _ = mount(Some("lab"), "/sys", Some("sysfs"), MsFlags::MS_RDONLY, none);
            setup()?;
            Ok(Self {
                name: name.to_owned(),
                net: File::open("/proc/thread-self/ns/net")?,
                mnt: File::open("/proc/thread-self/ns/mnt")?,
                run: fs::OpenOptions::new()
                    .read(true)
                    .custom_flags(libc::O_DIRECTORY)
                    .open("/run")?,
            })
        };
        on_thread(name, make)?.context(|| format!("namespace of `{name}`"))
    }

    /// Runs `f` on a thread inside, and hands its panic on.
    pub(crate) fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, Error> {
        on_thread(&self.name, || self.enter().map(|()| f()))?
            .context(|| format!("entering `{}`", self.name))
    }

    /// Moves the calling thread inside, for good.
    pub(crate) fn enter(&self) -> io::Result<()> {
        // A thread shares its working directory with its process, and may only
        // change its mount namespace after it has stopped sharing.
        unshare(CloneFlags::CLONE_FS)?;
        self.switch()
    }

    /// Makes the command start inside, in a session of its own, and die with us.
    ///
    /// It is killed when the *thread* that starts it ends, as PR_SET_PDEATHSIG is
    /// about threads.
    pub(crate) fn place(&self, command: &mut Command) -> Result<(), Error> {
        // Daemons live in sbin, which an ordinary user's PATH often lacks.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/local/sbin:/usr/sbin:/sbin"));
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let cwd = CString::new(cwd.as_os_str().as_bytes())
            .map_err(io::Error::from)
            .context(|| "working directory".into())?;
        let inner = Self {
            name: String::new(),
            net: self.net.try_clone().context(|| "namespace descriptor".into())?,
            mnt: self.mnt.try_clone().context(|| "namespace descriptor".into())?,
            run: self.run.try_clone().context(|| "namespace descriptor".into())?,
        };
        let parent = getpid();
        let start = move || {
            inner.switch()?;
            // setns has moved us to `/`; a directory that is hidden now is no loss.
            let _ = chdir(cwd.as_c_str());
            setsid()?;
            set_pdeathsig(Signal::SIGKILL)?;
            // The parent may have died before the line above.
            if getppid() != parent {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(())
        };
        // SAFETY: between fork and exec the closure makes system calls only. It does
        // not allocate: the errors are plain numbers, the string is made beforehand.
        unsafe { command.pre_exec(start) };
        Ok(())
    }

    /// The namespace's `/run`, as a path that works outside, in this process.
    pub(crate) fn run_dir(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.run.as_raw_fd()).into()
    }

    /// A path to the network namespace that works in every process of this user
    /// for as long as this process lives.
    pub(crate) fn net_path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.net.as_raw_fd()).into()
    }

    pub(crate) fn mnt_path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.mnt.as_raw_fd()).into()
    }

    pub(crate) fn net(&self) -> &File {
        &self.net
    }

    fn switch(&self) -> io::Result<()> {
        setns(&self.net, CloneFlags::CLONE_NEWNET)?;
        setns(&self.mnt, CloneFlags::CLONE_NEWNS)?;
        Ok(())
    }
}

/// Sets a sysctl below `net.` in the calling thread's namespace.
pub(crate) fn sysctl(key: &str, value: &str) -> io::Result<()> {
    let path = format!("/proc/sys/net/{key}");
    fs::write(&path, value).map_err(|e| io::Error::new(e.kind(), format!("{path}: {e}")))
}

/// Runs `f` on a thread that ends afterwards: a thread that has changed its
/// namespace is not fit for anything else.
fn on_thread<T: Send>(name: &str, f: impl FnOnce() -> T + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn_scoped(scope, f)
            .context(|| format!("thread for `{name}`"))?;
        thread.join().or_else(|payload| panic::resume_unwind(payload))
    })
}
