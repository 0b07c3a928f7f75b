//! Drivers for the daemons that run on the hosts: `vipd` and those it must get on with.
//!
//! Each starts unmodified daemons with their files in the host's own `/run`, so any
//! number can run side by side. Whether a peer is installed is what its `available`
//! says, to be handed to [`require!`](crate::require).

mod frr;
mod keepalived;
mod vipd;

use std::process::Command;

pub use frr::{Frr, FrrRouter};
pub use keepalived::{Instance, Keepalived};
pub use vipd::Vipd;

use crate::Unavailable;

/// What the program prints when asked for its version, on either stream.
fn version(program: &str, argument: &str) -> Result<String, Unavailable> {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new(program)
        .arg(argument)
        .env("PATH", format!("{path}:/usr/local/sbin:/usr/sbin:/sbin"))
        .output()
        .map_err(|e| Unavailable(format!("{program} does not run: {e}")))?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or_default().trim();
    Ok(first.to_owned())
}
