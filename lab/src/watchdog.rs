//! What ends the descendants of our processes when the program is killed.
//!
//! The kernel kills our children with us (PR_SET_PDEATHSIG), but not *their* children: a
//! health check that a daemon runs, say. A small shell waits at the other end of a pipe
//! that only this program holds. When the pipe closes, the program is gone, however it
//! ended, and the shell kills the process groups that are still on its list.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

const SCRIPT: &str = r#"
groups=" "
while read -r change group; do
    case $change in
        add) groups="$groups$group " ;;
        remove) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
    esac
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done
"#;

/// Has the process group killed when this program ends.
pub(crate) fn watch(group: u32) -> io::Result<()> {
    tell("add", group)
}

/// Call it when the group has been killed and *before* its number may be given away.
pub(crate) fn forget(group: u32) -> io::Result<()> {
    tell("remove", group)
}

fn tell(change: &str, group: u32) -> io::Result<()> {
    static SHELL: OnceLock<Mutex<Option<ChildStdin>>> = OnceLock::new();
    let mut shell = SHELL
        .get_or_init(Mutex::default)
        .lock()
        // A line is written as a whole or not at all.
        .unwrap_or_else(PoisonError::into_inner);
    let pipe = match shell.take() {
        Some(pipe) => shell.insert(pipe),
        None => shell.insert(start()?),
    };
    pipe.write_all(format!("{change} {group}\n").as_bytes())
}

fn start() -> io::Result<ChildStdin> {
    let mut shell = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Not in our group: what ends us, such as ^C, must not end the shell.
        .process_group(0)
        .spawn()?;
    shell.stdin.take().ok_or_else(|| io::Error::other("the shell has no standard input"))
}
