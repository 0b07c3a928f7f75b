use std::fmt::Write;
use std::fs;
use std::net::IpAddr;
use std::process::Command;
use std::time::Duration;

use crate::{Error, Host, Process, Signal, Unavailable};

/// A keepalived and its configuration.
#[derive(Debug, Clone, Default)]
pub struct Keepalived {
    /// Its virtual routers.
    pub instances: Vec<Instance>,
    /// Further configuration, put in front of the virtual routers as it is.
    pub extra: String,
}

/// One virtual router of a keepalived (`vrrp_instance`).
///
/// The family is that of the first of [`vips`](Self::vips).
#[derive(Debug, Clone)]
pub struct Instance {
    /// VRRP version, 2 or 3. Default 3.
    pub version: u8,
    /// Default 51.
    pub vrid: u8,
    /// 1 to 254, or 255 for the owner. Default 100.
    pub priority: u8,
    /// Advertisement interval: whole seconds in version 2. Default 1 s.
    pub interval: Duration,
    /// The virtual addresses, such as `10.0.0.100/24`, with anything that keepalived
    /// understands after it (`label`, `dev`).
    pub vips: Vec<String>,
    /// The interface. Default `eth0`.
    pub interface: String,
    /// The peers, for unicast. Default none, which is multicast.
    pub unicast: Vec<IpAddr>,
    /// The PASS password of version 2. Default none.
    pub password: Option<String>,
    /// Whether a higher priority takes over from a living Active. Default true.
    pub preempt: bool,
    /// How often an Active repeats its gratuitous ARPs and NAs. Default never.
    pub garp_refresh: Option<Duration>,
    /// Start in `MASTER` state instead of `BACKUP`. Default false.
    pub start_active: bool,
    /// Further lines of the instance, as they are.
    pub extra: String,
}

impl Default for Instance {
    fn default() -> Self {
        Self {
            version: 3,
            vrid: 51,
            priority: 100,
            interval: Duration::from_secs(1),
            vips: Vec::new(),
            interface: "eth0".into(),
            unicast: Vec::new(),
            password: None,
            preempt: true,
            garp_refresh: None,
            start_active: false,
            extra: String::new(),
        }
    }
}

impl Keepalived {
    /// The installed version.
    ///
    /// # Errors
    ///
    /// When keepalived does not run here.
    pub fn available() -> Result<String, Unavailable> {
        super::version("keepalived", "--version")
    }

    /// One with these virtual routers and nothing else.
    pub fn new(instances: impl IntoIterator<Item = Instance>) -> Self {
        Self { instances: instances.into_iter().collect(), extra: String::new() }
    }

    /// Starts it. It is up when it sends or when its log says so; the VIP comes about
    /// three intervals later.
    ///
    /// # Errors
    ///
    /// When it cannot be started. What it thinks of its configuration is in the log.
    pub fn start(&self, host: &Host) -> Result<Process, Error> {
        let config = host.write("keepalived.conf", self.config())?;
        for pid_file in ["keepalived.pid", "vrrp.pid"] {
            // One that was killed leaves them, and its child may be a zombie for a moment, which
            // its successor takes for a running predecessor. Most often there is none to remove.
            let _ = fs::remove_file(host.run_dir().join(pid_file));
        }
        let mut command = Command::new("keepalived");
        command.args(["--dont-fork", "--vrrp", "--log-console", "--log-detail", "--no-syslog"]);
        command.args(["--pid", "/run/keepalived.pid", "--vrrp_pid", "/run/vrrp.pid"]);
        command.arg("--use-file").arg(config);
        host.spawn(command)
    }

    /// Makes a running one take this configuration (SIGHUP).
    ///
    /// # Errors
    ///
    /// When the file cannot be written or the signal not be sent.
    pub fn reload(&self, host: &Host, process: &Process) -> Result<(), Error> {
        host.write("keepalived.conf", self.config())?;
        process.signal(Signal::SIGHUP)
    }

    /// The configuration file.
    pub fn config(&self) -> String {
        let mut text = format!("{}\n", self.extra);
        for (number, instance) in self.instances.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = instance.write(&mut text, number);
        }
        text
    }
}

impl Instance {
    fn write(&self, to: &mut String, number: usize) -> std::fmt::Result {
        writeln!(to, "vrrp_instance V{number} {{")?;
        writeln!(to, "  version {}", self.version)?;
        writeln!(to, "  state {}", if self.start_active { "MASTER" } else { "BACKUP" })?;
        writeln!(to, "  interface {}", self.interface)?;
        writeln!(to, "  virtual_router_id {}", self.vrid)?;
        writeln!(to, "  priority {}", self.priority)?;
        writeln!(to, "  advert_int {}", self.interval.as_secs_f64())?;
        if !self.preempt {
            writeln!(to, "  nopreempt")?;
        }
        if let Some(password) = &self.password {
            writeln!(
                to,
                "  authentication {{\n    auth_type PASS\n    auth_pass {password}\n  }}"
            )?;
        }
        if let Some(refresh) = self.garp_refresh {
            writeln!(to, "  garp_master_refresh {}", refresh.as_secs())?;
        }
        if !self.unicast.is_empty() {
            writeln!(to, "  unicast_peer {{")?;
            for peer in &self.unicast {
                writeln!(to, "    {peer}")?;
            }
            writeln!(to, "  }}")?;
        }
        if !self.extra.is_empty() {
            writeln!(to, "{}", self.extra)?;
        }
        writeln!(to, "  virtual_ipaddress {{")?;
        for vip in &self.vips {
            writeln!(to, "    {vip}")?;
        }
        writeln!(to, "  }}\n}}")
    }
}
