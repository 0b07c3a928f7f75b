//! A network in a box: hosts in network namespaces, the bridges between them, faults,
//! packet capture, and drivers for the daemons under test.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! fn main() -> Result<(), lab::Error> {
//!     lab::enter()?; // without root: goes on in a user namespace
//!     let lab = lab::Lab::new()?;
//!     let bridge = lab.bridge("lan")?;
//!     let a = lab.host("a", &bridge, &["10.0.0.1/24", "fd00::1/64"])?;
//!     let b = lab.host("b", &bridge, &["10.0.0.2/24", "fd00::2/64"])?;
//!     let capture = bridge.capture()?;
//!
//!     a.exec(["ping", "-c1", "-W1", "10.0.0.2"])?;
//!     bridge.partition(&[&a], &[&b])?;
//!     assert!(a.exec(["ping", "-c1", "-W1", "10.0.0.2"]).is_err());
//!
//!     let echo = capture.wait_for(Duration::from_secs(1), |f| f.icmp_echo().is_some());
//!     println!("{echo:?}; look around with {}", a.nsenter());
//!     capture.write_pcap("lan.pcap")?;
//!     Ok(())
//! } // everything is gone
//! ```
//!
//! **Nothing is left over.** Namespaces have no names; descriptors and processes hold
//! them. They go with the [`Lab`] and the last handle, also in a panic, and the kernel
//! removes all of it when the program dies, also by SIGKILL. A [`Process`], a [`Capture`],
//! an [`Echo`] or a [`Probe`] ends when its handle is dropped.
//!
//! **Names are per lab.** Two labs, in one process or in two, cannot collide.
//!
//! **Privileges.** As root it works at once; otherwise in a user namespace, see
//! [`enter`] for programs and [`require!`] for tests. Needs `nft` for faults.

use std::sync::{Mutex, MutexGuard, PoisonError};

mod address;
mod bridge;
mod capture;
mod error;
mod frame;
mod host;
mod namespace;
mod netlink;
mod pcap;
pub mod peers;
mod privilege;
mod probe;
mod process;
mod vrrp;
mod wait;
mod watchdog;

pub use nix::sys::signal::Signal;

pub use address::{Address, Cidr};
pub use bridge::{Bridge, Fault, Traffic};
pub use capture::{Capture, Direction};
pub use error::{Error, Unavailable};
pub use frame::{ArpSeen, EchoSeen, Frame, NaSeen};
pub use host::{Host, Mac};
pub use privilege::{Privilege, enter, privileged};
#[doc(hidden)]
pub use privilege::{Skipped, Verdict, require_privilege, skip};
pub use probe::{Asked, ECHO_PORT, Echo, Probe, Report, Stretch};
pub use process::{Process, Usage};
pub use vrrp::{Checksum, VrrpSeen};
pub use wait::{eventually, unique, within};

/// Makes bridges and hosts, and keeps them until it is dropped.
///
/// A handle keeps what it stands for as well: a host is gone when the lab, the host's
/// clones and the processes on it are.
#[derive(Debug, Default)]
pub struct Lab {
    kept: Mutex<(Vec<Bridge>, Vec<Host>)>,
}

impl Lab {
    /// Checks that network namespaces can be made here.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] says why not.
    pub fn new() -> Result<Self, Error> {
        privileged()?;
        Ok(Self::default())
    }

    /// Makes an Ethernet segment.
    ///
    /// # Errors
    ///
    /// When the name is not one or the kernel refuses.
    pub fn bridge(&self, name: &str) -> Result<Bridge, Error> {
        host::check_name(name)?;
        let bridge = Bridge::new(name)?;
        self.kept().0.push(bridge.clone());
        Ok(bridge)
    }

    /// Makes a host with an interface `eth0` on `bridge` and these addresses.
    ///
    /// IPv6 addresses work at once: duplicate address detection is off, also for those
    /// that are added later. See [`host_with_dad`](Self::host_with_dad).
    ///
    /// # Errors
    ///
    /// When a name or an address is not one, the bridge has a host of that name, or the
    /// kernel refuses.
    pub fn host(&self, name: &str, bridge: &Bridge, addresses: &[&str]) -> Result<Host, Error> {
        self.keep(Host::new(name, false)?, bridge, addresses)
    }

    /// As [`host`](Self::host), with duplicate address detection as the kernel has it by
    /// default: an IPv6 address is tentative for a second or two.
    ///
    /// # Errors
    ///
    /// As [`host`](Self::host).
    pub fn host_with_dad(
        &self,
        name: &str,
        bridge: &Bridge,
        addresses: &[&str],
    ) -> Result<Host, Error> {
        self.keep(Host::new(name, true)?, bridge, addresses)
    }

    fn keep(&self, host: Host, bridge: &Bridge, addresses: &[&str]) -> Result<Host, Error> {
        host.attach(bridge, "eth0", addresses)?;
        self.kept().1.push(host.clone());
        Ok(host)
    }

    fn kept(&self) -> MutexGuard<'_, (Vec<Bridge>, Vec<Host>)> {
        // Only ever added to: a panic leaves nothing half done.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
