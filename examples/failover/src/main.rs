//! The demonstration: three routers and a client in network namespaces, and every way to lose a
//! virtual IP address.
//!
//! Nothing is simulated: the routers are real processes (this executable in the role of `vipd`, or
//! keepalived, or FRR), the network is the kernel's, and what the table and the drawing say is
//! read from captured packets and from the kernels' address lists.

mod cluster;
mod scenario;
mod svg;
mod table;
mod timeline;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};

use cluster::Cluster;

/// The word that makes this executable be `vipd`.
const ROLE: &str = "vipd";

/// Watch a virtual IP address being owned, lost and taken over.
#[derive(Debug, Parser)]
#[command(name = "failover", version)]
struct Args {
    /// Replace the second router by another implementation.
    #[arg(long, value_enum)]
    peer: Option<Peer>,

    /// Plain lines even on a terminal.
    #[arg(long)]
    plain: bool,

    /// Where to write failover.svg and failover.pcap.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// An implementation that ours shares the link with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Peer {
    /// keepalived, as Debian ships it.
    Keepalived,
    /// FRR's vrrpd.
    Frr,
}

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    if args.nth(1).is_some_and(|role| role == ROLE) {
        return vipd::main_from(std::iter::once(ROLE.into()).chain(args));
    }
    match demonstrate(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("failover: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn demonstrate(args: &Args) -> anyhow::Result<()> {
    lab::enter().context(
        "this needs root, or user namespaces for unprivileged users \
         (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)",
    )?;
    let mut cluster = Cluster::new(args.peer).context("the network could not be built")?;
    let mut view = view::View::new(args.plain, cluster.node_names());
    let recording = scenario::play(&mut cluster, &mut view)?;
    view.finish();

    let (svg, pcap) = (args.out.join("failover.svg"), args.out.join("failover.pcap"));
    std::fs::write(&svg, svg::render(&recording, &cluster.describe()))
        .with_context(|| format!("{} could not be written", svg.display()))?;
    cluster.capture().write_pcap(&pcap)?;
    println!("\n{}", table::render(&recording));
    println!("{}", notes(&recording));
    println!("Drawn from the capture: {}. The capture itself: {}.", svg.display(), pcap.display());
    if cluster.capture().lost() > 0 {
        println!(
            "The capture lost {} frames: the figures are not exact.",
            cluster.capture().lost()
        );
    }
    Ok(())
}

/// What the figures cannot say by themselves.
fn notes(recording: &timeline::Recording) -> String {
    let mut notes = format!(
        "Takeover: from the cause to the first advert of the next owner; routers advertise every \
         {} ms and wait three intervals and their skew for a silent owner.\n",
        recording.interval.as_millis()
    );
    if recording.steps.iter().any(|step| step.owners.iter().any(|owners| owners.len() > 1)) {
        notes.push_str(
            "Two owners: a process that was killed or frozen cannot take its address away, and a \
             node that is cut off cannot know. The node that was left behind still has it.\n",
        );
    }
    notes
}
