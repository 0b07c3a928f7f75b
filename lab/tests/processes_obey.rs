//! A process on a host can be watched, signalled, frozen and killed, and runs inside.

#![allow(clippy::unwrap_used)] // in the helpers as in the tests themselves

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use lab::{Error, Host, Lab, Process, Signal, eventually};

const SOON: Duration = Duration::from_secs(5);

fn host() -> (Lab, Host) {
    let lab = Lab::new().unwrap();
    let bridge = lab.bridge("lan").unwrap();
    let host = lab.host("a", &bridge, &["10.0.0.1/24"]).unwrap();
    (lab, host)
}

fn shell(host: &Host, script: &str) -> Process {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    host.spawn(command).unwrap()
}

#[test]
fn it_ends_as_it_says_and_its_output_is_kept() {
    lab::require!();
    let (_lab, host) = host();
    let process = shell(&host, "echo out; echo err >&2; exit 3");
    assert_eq!(process.wait(SOON).unwrap().code(), Some(3));
    assert_eq!(process.log(), "out\nerr\n");
    assert!(!process.is_running());
    process.terminate().unwrap(); // no matter, and nobody else is hit
}

#[test]
fn a_signal_reaches_it() {
    lab::require!();
    let (_lab, host) = host();
    let process = shell(&host, "trap 'echo hup' HUP; echo ready; while :; do sleep 0.01; done");
    eventually(SOON, "it is ready", || process.log() == "ready\n");
    process.signal(Signal::SIGHUP).unwrap();
    eventually(SOON, "it heard", || process.log() == "ready\nhup\n");
    let late = process.wait(Duration::from_millis(20)).expect_err("it still runs");
    assert!(matches!(late, Error::Late(..)), "{late}");
    process.terminate().unwrap();
    assert_eq!(process.wait(SOON).unwrap().signal(), Some(libc::SIGTERM));
}

#[test]
fn a_frozen_one_stands_still_and_goes_on() {
    lab::require!();
    let (_lab, host) = host();
    let process = shell(&host, "(while :; do echo tick; sleep 0.01; done) & wait");
    let ticks = || process.log().len();
    eventually(SOON, "it ticks", || ticks() > 0);
    process.stop().unwrap();
    let state = || fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
    eventually(SOON, "it is frozen", || state().contains(") T "));
    let frozen = ticks();
    // Nothing to poll for: the promise is that nothing happens.
    thread::sleep(Duration::from_millis(50));
    assert_eq!(ticks(), frozen);
    assert!(process.is_running());
    process.resume().unwrap();
    eventually(SOON, "it ticks on", || ticks() > frozen);
}

#[test]
fn usage_counts_its_children() {
    lab::require!();
    let (_lab, host) = host();
    let process = shell(&host, "(while :; do :; done) & wait");
    eventually(SOON, "the child has worked", || {
        let usage = process.usage().unwrap();
        usage.processes == 2 && usage.cpu >= Duration::from_millis(20) && usage.resident > 0
    });
}

#[test]
fn it_runs_inside_and_has_its_own_run_directory() {
    lab::require!();
    let (_lab, host) = host();
    let links = host.exec(["sh", "-c", "ls /sys/class/net; ip -o link | wc -l"]).unwrap();
    assert_eq!(links, "eth0\nlo\n2\n");
    host.write("note", "hello").unwrap();
    assert_eq!(host.exec(["cat", "/run/note"]).unwrap(), "hello");
    assert!(!fs::exists("/run/note").unwrap());
    let socket = host.run(|| std::net::TcpListener::bind("10.0.0.1:80").map(drop)).unwrap();
    socket.expect("the address is the host's");
}

#[test]
fn a_thread_that_started_it_may_end() {
    lab::require!();
    let (_lab, host) = host();
    let process = thread::scope(|s| s.spawn(|| shell(&host, "sleep 1000")).join()).unwrap();
    // The kernel would kill it within microseconds.
    thread::sleep(Duration::from_millis(20));
    assert!(process.is_running());
}

#[test]
fn a_failed_command_says_why() {
    lab::require!();
    let (_lab, host) = host();
    let error = host.exec(["sh", "-c", "echo oh no >&2; exit 7"]).unwrap_err();
    let Error::Command { status, output, .. } = error else { panic!("{error}") };
    assert_eq!((status.code(), output.as_str()), (Some(7), "oh no"));
    host.exec(["/nonexistent"]).expect_err("there is no such command");
}
