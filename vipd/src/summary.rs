//! What a configuration means, in a few lines for people.

use std::fmt;

use vrrp_core::{ChecksumMode, Mode, Preempt};
use vrrp_net::{NodeConfig, RouterConfig};

use crate::say;

/// `Display`: a line for the node, and a block per router.
#[derive(Debug)]
pub(crate) struct Summary<'a>(pub(crate) &'a NodeConfig);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "valid, {}", say::routers(self.0))?;
        self.0.routers().iter().try_for_each(|router| write_router(router, f))
    }
}

fn write_router(router: &RouterConfig, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let settings = router.protocol();
    let (version, priority, interval) =
        (settings.version(), settings.priority(), settings.interval());
    let (name, interface, vrid) = (router.name(), router.interface(), settings.vrid());

    writeln!(f, "router \"{name}\" on {interface}, VRID {vrid}, VRRP version {version}")?;
    write!(f, "  addresses  ")?;
    for (index, vip) in router.vips().iter().enumerate() {
        write!(f, "{}{vip}", if index == 0 { "" } else { ", " })?;
    }
    if let Some(label) = router.label() {
        write!(f, ", labelled {label}")?;
    }
    writeln!(f)?;
    write!(f, "  election   priority {priority}, ")?;
    match settings.preempt() {
        _ if priority.is_owner() => write!(f, "the owner of the addresses")?,
        Preempt::Never => write!(f, "never takes over from a living router")?,
        Preempt::After(delay) if delay.is_zero() => {
            write!(f, "takes over from a lower one at once")?;
        }
        Preempt::After(delay) => write!(f, "takes over from a lower one after {delay:?}")?,
    }
    let silence = interval.active_down(version, priority);
    writeln!(f, "; claims after {:.3} s of silence", silence.as_secs_f64())?;
    write!(f, "  adverts    every {interval} ")?;
    match (settings.mode(), router.source()) {
        (Mode::Multicast, _) => write!(f, "to the multicast group")?,
        (Mode::Solo, _) => write!(f, "to nobody: there is no other router")?,
        (Mode::Unicast(peers), source) => {
            if let Some(source) = source {
                write!(f, "from {source} ")?;
            }
            write!(f, "to ")?;
            for (index, peer) in peers.iter().enumerate() {
                write!(f, "{}{peer}", if index == 0 { "" } else { ", " })?;
            }
        }
    }
    match settings.checksum() {
        ChecksumMode::Auto => {}
        ChecksumMode::MessageOnly => write!(f, ", checksum of the message only")?,
        ChecksumMode::PseudoHeader => write!(f, ", checksum with the pseudo-header")?,
    }
    if settings.password().is_some() {
        write!(f, ", with a password")?;
    }
    writeln!(f)
}
