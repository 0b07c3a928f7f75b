//! Promise: the exit status of `vipd` means something, `--check` says what would run, signals do
//! what they should, and a bad configuration never replaces a good one.
#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Far beyond what anything here takes.
const PATIENCE: Duration = Duration::from_secs(10);

const USAGE: i32 = 2;
const CONFIGURATION: i32 = 3;
const PRIVILEGE: i32 = 4;
const INTERFACE: i32 = 5;
const HOST: i32 = 8;

/// An interface that is nowhere, so that no mistake of a test reaches a network.
const NOWHERE: &str = "vipd-nowhere";

#[test]
fn a_wrong_command_line_is_a_matter_of_usage() {
    for args in [&[][..], &["--config"], &["--confg", "x"], &["--config", "x", "--log-level", "x"]]
    {
        let output = vipd().args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(USAGE), "{args:?}");
        assert_eq!(text(&output.stdout), "", "{args:?}");
    }
    for args in [["--version"], ["--help"]] {
        let output = vipd().args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(text(&output.stderr), "", "{args:?}");
    }
    let version = vipd().arg("--version").output().unwrap();
    assert_eq!(text(&version.stdout), format!("vipd {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_check_says_what_would_run() {
    let file = File::new(
        "check-good",
        r#"
        [[router]]
        name = "api"
        interface = "eth0"
        vrid = 51
        version = 2
        priority = 40
        addresses = ["192.0.2.10", "192.0.2.11/24"]
        preempt_delay = "10s"
        unicast = { source = "192.0.2.1", peers = ["192.0.2.3", "192.0.2.2"] }
        auth = { pass = "hunter2-and-more" }
        label = "vip"
        [[router]]
        name = "v6"
        interface = "br-ex"
        vrid = 51
        addresses = ["fe80::10"]
        advert_interval = "10ms"
        preempt = false
        "#,
    );
    let output = check(&file);
    assert_eq!(
        text(&output.stdout),
        format!(
            "{}: valid, 2 routers\n\
             router \"api\" on eth0, VRID 51, VRRP version 2\n  \
               addresses  192.0.2.10/32, 192.0.2.11/24, labelled vip\n  \
               election   priority 40, takes over from a lower one after 10s; claims after 3.844 s \
               of silence\n  \
               adverts    every 1s from 192.0.2.1 to 192.0.2.2, 192.0.2.3, with a password\n\
             router \"v6\" on br-ex, VRID 51, VRRP version 3\n  \
               addresses  fe80::10/128\n  \
               election   priority 100, never takes over from a living router; claims after 0.036 s \
               of silence\n  \
               adverts    every 10ms to the multicast group\n",
            file.path()
        )
    );
    assert_eq!(
        text(&output.stderr),
        format!(
            "{}: warning: router \"api\": auth: only the first 8 bytes of the password are used\n",
            file.path()
        )
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_refused_configuration_is_told_by_place() {
    let file = File::new(
        "check-bad",
        "[[router]]\nname = \"api\"\ninterface = \"eth0\"\n\n\n\nvrid = 256\n\
         addresses = [\"192.0.2.10\"]\ntrack = []\n",
    );
    let expected = format!(
        "{0}:7:8: router \"api\": vrid = 256 is not allowed; allowed: 1 to 255\n\
         {0}:9:1: router \"api\": track is not supported by this version yet\n",
        file.path()
    );
    let output = check(&file);
    assert_eq!(text(&output.stderr), expected);
    assert_eq!(text(&output.stdout), "");
    assert_eq!(output.status.code(), Some(CONFIGURATION));

    // The daemon says the same, and has needed no privilege to find out.
    let output = unprivileged(vipd().args(file.arguments()));
    let Some(output) = output else { return };
    let said = text(&output.stderr);
    assert!(expected.lines().all(|line| said.contains(line)), "{said}");
    assert_eq!(output.status.code(), Some(CONFIGURATION));
}

#[test]
fn a_file_that_cannot_be_read_is_a_refused_configuration() {
    let missing = vipd().args(["--check", "--config", "/nonexistent/vipd.toml"]).output().unwrap();
    assert_eq!(
        text(&missing.stderr),
        "/nonexistent/vipd.toml: cannot be read: No such file or directory (os error 2)\n"
    );
    assert_eq!(missing.status.code(), Some(CONFIGURATION));

    let endless = vipd().args(["--check", "--config", "/dev/zero"]).output().unwrap();
    assert_eq!(text(&endless.stderr), "/dev/zero: is larger than 4 MiB, and no configuration is\n");
    assert_eq!(endless.status.code(), Some(CONFIGURATION));

    let binary = File::new("check-binary", "");
    fs::write(&binary.0, b"# ok\nx = \"\xff\"\n").unwrap();
    let output = check(&binary);
    let expected =
        format!("{}:2:6: the file is not UTF-8; allowed: TOML in UTF-8\n", binary.path());
    assert_eq!(text(&output.stderr), expected);
    assert_eq!(output.status.code(), Some(CONFIGURATION));
}

#[test]
fn the_examples_are_valid() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> = fs::read_dir(here.join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let output = vipd().arg("--check").arg("--config").arg(&file).output().unwrap();
        assert_eq!(text(&output.stderr), "", "{}", file.display());
        assert_eq!(output.status.code(), Some(0), "{}", file.display());
    }
}

#[test]
fn a_missing_privilege_and_a_missing_interface_are_told_apart() {
    let file = File::new("preflight", &router(NOWHERE));
    if let Some(output) = unprivileged(vipd().args(file.arguments())) {
        let said = text(&output.stderr);
        assert!(said.contains("CAP_NET_ADMIN") && said.contains("CAP_NET_RAW"), "{said}");
        assert_eq!(output.status.code(), Some(PRIVILEGE), "{said}");
    }
    if let Some(mut vipd) = in_namespace("true", &file.arguments()) {
        let output = vipd.output().unwrap();
        let said = text(&output.stderr);
        assert!(said.contains("router \"a\": there is no interface vipd-nowhere"), "{said}");
        assert_eq!(output.status.code(), Some(INTERFACE), "{said}");
    }
}

#[test]
fn a_run_directory_that_cannot_be_used_is_told() {
    let file = File::new("run-dir", &router("eth0"));
    let network = "ip link add eth0 type veth peer name far";
    let mut arguments = file.arguments();
    arguments[3] = "/dev/null".into();
    let Some(mut vipd) = in_namespace(network, &arguments) else { return };
    let output = vipd.output().unwrap();
    let said = text(&output.stderr);
    assert!(said.contains("the run directory /dev/null cannot be used"), "{said}");
    assert_eq!(output.status.code(), Some(HOST), "{said}");
}

#[test]
fn an_idle_daemon_stops_on_either_signal() {
    let file = File::new("idle", "# no router\n");
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut daemon = Daemon::spawn(vipd().args(file.arguments()));
        daemon.wait_for_log("no router");
        daemon.signal(signal);
        assert_eq!(daemon.exit_code(), 0, "{signal}");
    }
}

#[test]
fn a_bad_configuration_never_replaces_a_good_one() {
    let file = File::new("reload", &router("eth0"));
    let network = "ip link set lo up && ip link add eth0 type veth peer name far \
                   && ip address add 192.0.2.1/24 dev eth0 && ip link set far up \
                   && ip link set eth0 up";
    let Some(mut vipd) = in_namespace(network, &file.arguments()) else { return };
    let mut daemon = Daemon::spawn(&mut vipd);
    daemon.wait_for_addresses(&["192.0.2.10/32"]);

    file.write(&router("eth0").replace("vrid = 1", "vrid = 0"));
    daemon.signal(Signal::SIGHUP);
    daemon.wait_for_log("the old one stays in force");
    assert_eq!(daemon.vips(), ["192.0.2.10/32"]);

    file.write(&router("eth0").replace("192.0.2.10", "192.0.2.11"));
    daemon.signal(Signal::SIGHUP);
    daemon.wait_for_addresses(&["192.0.2.11/32"]);

    daemon.signal(Signal::SIGTERM);
    daemon.wait_for_addresses(&[]);
    assert_eq!(daemon.exit_code(), 0);
}

fn vipd() -> Command {
    Command::new(env!("CARGO_BIN_EXE_vipd"))
}

fn check(file: &File) -> Output {
    vipd().args(["--check", "--config", file.path()]).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn router(interface: &str) -> String {
    format!(
        "[[router]]\nname = \"a\"\ninterface = \"{interface}\"\nvrid = 1\n\
         advert_interval = \"100ms\"\naddresses = [\"192.0.2.10\"]\nunicast = {{ solo = true }}\n"
    )
}

/// Runs it without any capability.
fn unprivileged(command: &mut Command) -> Option<Output> {
    let mut bounded = Command::new("setpriv");
    bounded.args(["--bounding-set=-all", "--inh-caps=-all"]);
    if !nix::unistd::geteuid().is_root() {
        return Some(command.output().unwrap());
    }
    if !works(Command::new("setpriv").args(["--bounding-set=-all", "true"])) {
        return skip("setpriv cannot take capabilities away");
    }
    bounded.arg(command.get_program()).args(command.get_args());
    Some(bounded.output().unwrap())
}

/// `vipd` in a user and a network namespace of its own, which a shell command has prepared. Both
/// are gone when it is.
fn in_namespace(prepare: &str, arguments: &[String]) -> Option<Command> {
    let unshare = ["--user", "--map-root-user", "--net", "sh", "-c"];
    if !works(Command::new("unshare").args(unshare).arg(prepare)) {
        return skip("no user and network namespace can be made");
    }
    let mut command = Command::new("unshare");
    command
        .args(unshare)
        .arg(format!("{prepare} && exec \"$@\""))
        .args(["sh", env!("CARGO_BIN_EXE_vipd")])
        .args(arguments);
    Some(command)
}

fn works(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// What cannot be shown here is not shown; in CI that is a failure.
fn skip<T>(why: &str) -> Option<T> {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "in CI: {why}");
    eprintln!("skipped: {why}");
    None
}

/// A running `vipd`. Killed with the test.
struct Daemon {
    child: Child,
    log: mpsc::Receiver<String>,
}

impl Daemon {
    fn spawn(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, log) = mpsc::channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, log }
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).unwrap();
    }

    /// Until it has said so: what it says is what is promised there.
    fn wait_for_log(&self, words: &str) {
        let end = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        while !seen.last().is_some_and(|line: &String| line.contains(words)) {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = self.log.recv_timeout(left) else {
                panic!("did not say {words:?}: {seen:#?}");
            };
            seen.push(line);
        }
    }

    /// Until its namespace has these and no other VIPs.
    fn wait_for_addresses(&self, expected: &[&str]) {
        let end = Instant::now() + PATIENCE;
        while self.vips() != expected {
            assert!(Instant::now() < end, "{:?} and not {expected:?}", self.vips());
            sleep(Duration::from_millis(5));
        }
    }

    /// The host addresses (/32) on eth0, as the kernel has them.
    fn vips(&self) -> Vec<String> {
        let output = Command::new("nsenter")
            .args(["--target", &self.pid().to_string(), "--user", "--net"])
            .args(["--preserve-credentials", "ip", "-4", "-oneline", "address", "show"])
            .output()
            .unwrap();
        let words = text(&output.stdout).split_whitespace();
        words.filter(|word| word.ends_with("/32")).map(str::to_owned).collect()
    }

    fn exit_code(&mut self) -> i32 {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().expect("an exit, not a signal");
            }
            assert!(Instant::now() < end, "did not exit");
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A configuration file of one test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let file = Self(directory.join(format!("{name}-{}.toml", std::process::id())));
        file.write(text);
        file
    }

    fn write(&self, text: &str) {
        fs::write(&self.0, text).unwrap();
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// The arguments of a daemon that leaves nothing outside.
    fn arguments(&self) -> [String; 4] {
        let file = self.path().to_owned();
        ["--config".into(), file, "--run-dir".into(), format!("{}.run", self.path())]
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        let _ = fs::remove_dir_all(format!("{}.run", self.path()));
    }
}
