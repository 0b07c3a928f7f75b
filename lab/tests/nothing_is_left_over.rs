//! Namespaces and processes are gone after a test, also after a panic and after the
//! test's process was killed.

#![allow(clippy::unwrap_used)] // in the helpers as in the tests themselves

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::panic::{self, AssertUnwindSafe};
use std::process::{Command, Stdio};
use std::time::Duration;

use lab::{Host, Lab, Process, eventually};

const SOON: Duration = Duration::from_secs(5);
const VICTIM: &str = "LAB_TEST_VICTIM";

/// A lab with two hosts, a bridge, a capture, and a process that has a child.
struct Everything {
    _lab: Lab,
    hosts: [Host; 2],
    process: Process,
    _capture: lab::Capture,
    _echo: lab::Echo,
}

impl Everything {
    fn new() -> Self {
        let lab = Lab::new().unwrap();
        let bridge = lab.bridge("lan").unwrap();
        let a = lab.host("a", &bridge, &["10.0.0.1/24"]).unwrap();
        let b = lab.host("b", &bridge, &["10.0.0.2/24"]).unwrap();
        let mut command = Command::new("sh");
        // Deaf to anything polite, and with a child that knows nothing of us.
        command.args(["-c", "trap '' TERM HUP; sleep 1000 & echo $! >/run/child; wait"]);
        let process = a.spawn(command).unwrap();
        let child = a.run_dir().join("child");
        eventually(SOON, "the child runs", || {
            fs::read_to_string(&child).is_ok_and(|c| c.ends_with('\n'))
        });
        let (capture, echo) = (bridge.capture().unwrap(), b.echo().unwrap());
        Self { _lab: lab, hosts: [a, b], process, _capture: capture, _echo: echo }
    }

    /// All that could be left over.
    fn traces(&self) -> Traces {
        let child = fs::read_to_string(self.hosts[0].run_dir().join("child")).unwrap();
        let processes = BTreeSet::from([self.process.pid(), child.trim().parse().unwrap()]);
        let namespaces = self.hosts.iter().map(|h| fs::metadata(h.netns()).unwrap().ino());
        Traces { processes, namespaces: namespaces.collect() }
    }
}

#[derive(Debug, Clone)]
struct Traces {
    processes: BTreeSet<u32>,
    /// Inode numbers.
    namespaces: BTreeSet<u64>,
}

impl Traces {
    /// What is still there: processes that run, and namespaces that any process is in or
    /// holds a descriptor of.
    fn left(&self) -> usize {
        // A zombie has ended; when its parent looks is not ours to say.
        let runs = |pid: &&u32| {
            fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|s| !s.rsplit_once(')').unwrap().1.starts_with(" Z"))
        };
        let held = |inode: u64| self.namespaces.contains(&inode);
        let mut left = self.processes.iter().filter(runs).count();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let inodes = |directory: &str| -> Vec<u64> {
                let entries = fs::read_dir(entry.path().join(directory)).into_iter().flatten();
                entries.flatten().filter_map(|e| Some(fs::metadata(e.path()).ok()?.ino())).collect()
            };
            left += inodes("ns").into_iter().chain(inodes("fd")).filter(|&i| held(i)).count();
        }
        left
    }
}

#[test]
fn after_an_ordinary_end() {
    lab::require!();
    let everything = Everything::new();
    let traces = everything.traces();
    assert!(traces.left() >= 4, "two processes and two namespaces are seen: {traces:?}");
    drop(everything);
    eventually(SOON, "all is gone", || traces.left() == 0);
}

#[test]
fn after_a_panic() {
    lab::require!();
    let mut traces = None;
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        let everything = Everything::new();
        traces = Some(everything.traces());
        panic!("as a failed assertion does");
    }));
    result.expect_err("it panicked");
    let traces = traces.unwrap();
    eventually(SOON, "all is gone", || traces.left() == 0);
}

#[test]
fn after_the_program_was_killed() {
    lab::require!();
    let mut victim = Command::new(env::current_exe().unwrap())
        .args(["victim", "--exact", "--nocapture"])
        .env(VICTIM, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines().map_while(Result::ok);
    // libtest may have begun the line.
    let line = lines.filter_map(|l| Some(l.split_once("traces ")?.1.to_owned())).next().unwrap();
    let (processes, namespaces) = line.split_once('/').unwrap();
    let numbers = |text: &str| text.split_whitespace().map(|n| n.parse().unwrap()).collect();
    let traces = Traces {
        processes: processes.split_whitespace().map(|n| n.parse().unwrap()).collect(),
        namespaces: numbers(namespaces),
    };
    assert!(traces.left() >= 4, "two processes and two namespaces are seen: {traces:?}");
    victim.kill().unwrap();
    victim.wait().unwrap();
    eventually(SOON, "all is gone", || traces.left() == 0);
}

/// Not a test by itself: the program that is killed. Without its variable it does nothing.
#[test]
fn victim() {
    if env::var_os(VICTIM).is_none() {
        return;
    }
    let everything = Everything::new();
    let traces = everything.traces();
    let line = |numbers: Vec<String>| numbers.join(" ");
    println!(
        "traces {}/{}",
        line(traces.processes.iter().map(u32::to_string).collect()),
        line(traces.namespaces.iter().map(u64::to_string).collect())
    );
    std::io::stdout().flush().unwrap();
    // Until it is killed, or the other end of the pipe is gone.
    let _ = std::io::stdin().read_line(&mut String::new());
}
