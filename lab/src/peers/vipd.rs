use std::io;
use std::path::Path;
use std::process::Command;

use crate::{Error, Host, Process, Signal};

/// How to start a `vipd`, or a program that plays one.
#[derive(Debug, Clone)]
pub struct Vipd {
    program: std::path::PathBuf,
    arguments: Vec<String>,
}

impl Vipd {
    /// Starts this executable.
    pub fn new(program: impl AsRef<Path>) -> Self {
        Self { program: program.as_ref().to_owned(), arguments: Vec::new() }
    }

    /// Starts the running executable again; `role` as its first argument tells it to be
    /// the daemon.
    ///
    /// # Errors
    ///
    /// When the running executable has no path.
    pub fn this_program(role: &str) -> io::Result<Self> {
        Ok(Self::new(std::env::current_exe()?).arg(role))
    }

    /// Adds an argument, which comes before `--config FILE`.
    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Starts it with `config` (TOML) as its file `/run/vipd.toml`: the arguments, then
    /// `--config /run/vipd.toml`.
    ///
    /// # Errors
    ///
    /// When the file cannot be written or the program not be started.
    pub fn start(&self, host: &Host, config: &str) -> Result<Process, Error> {
        let path = host.write("vipd.toml", config)?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg("--config").arg(path);
        host.spawn(command)
    }

    /// Makes a running one take this configuration (SIGHUP).
    ///
    /// # Errors
    ///
    /// When the file cannot be written or the signal not be sent.
    pub fn reload(&self, host: &Host, process: &Process, config: &str) -> Result<(), Error> {
        host.write("vipd.toml", config)?;
        process.signal(Signal::SIGHUP)
    }
}
