//! A machine on the segment: a network namespace with an interface or more.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::address::{Address, Cidr};
use crate::bridge::{Bridge, nsenter};
use crate::capture::Capture;
use crate::error::Context;
use crate::namespace::{Namespace, sysctl};
use crate::process::Process;
use crate::{Error, netlink, process};

/// A machine: a network namespace with interfaces on bridges.
///
/// The first interface is `eth0`. `/run` is the host's own, empty at first; the rest
/// of the file system is the machine's. Clones are the same host; it is gone when the
/// [`Lab`](crate::Lab), the last clone and the last [`Process`] on it are.
#[derive(Debug, Clone)]
pub struct Host(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    namespace: Namespace,
    links: Mutex<Vec<Link>>,
}

/// What is needed to make an interface again.
#[derive(Debug, Clone)]
struct Link {
    interface: String,
    port: String,
    bridge: Bridge,
    mac: Mac,
    addresses: Vec<Cidr>,
}

/// An Ethernet address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// A locally administered address that no other interface of this process has.
    fn fresh() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let [a, b, c, d] = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        Self([0x02, 0x1a, a, b, c, d])
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Host {
    pub(crate) fn new(name: &str, dad: bool) -> Result<Self, Error> {
        check_name(name)?;
        let namespace = Namespace::new(name, || {
            netlink::set_up(netlink::index("lo")?, true)?;
            if !dad {
                // It is off only when both say so.
                sysctl("ipv6/conf/all/accept_dad", "0")?;
                sysctl("ipv6/conf/default/accept_dad", "0")?;
            }
            // There are no routers to ask: keep captures free of it.
            sysctl("ipv6/conf/default/router_solicitations", "0")
        })?;
        let links = Mutex::default();
        Ok(Self(Arc::new(Inner { name: name.to_owned(), namespace, links })))
    }

    /// The host's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Adds an interface on `bridge`, brings it up and gives it addresses.
    ///
    /// # Errors
    ///
    /// For a name or an address that is not one, and when the kernel refuses.
    pub fn attach(
        &self,
        bridge: &Bridge,
        interface: &str,
        addresses: &[&str],
    ) -> Result<(), Error> {
        check_name(interface)?;
        let addresses = addresses.iter().map(|a| a.parse()).collect::<Result<Vec<Cidr>, _>>()?;
        let taken = self.links().iter().any(|l| l.bridge.is(bridge));
        let port = match taken {
            false => self.0.name.clone(),
            true => format!("{}-{interface}", self.0.name),
        };
        check_name(&port)?;
        let interface = interface.to_owned();
        let link = Link { interface, port, bridge: bridge.clone(), mac: Mac::fresh(), addresses };
        self.make(&link)?;
        self.links().push(link);
        Ok(())
    }

    /// Sends everything that is not on a connected network to `gateway`.
    ///
    /// # Errors
    ///
    /// When the kernel refuses, for instance because the gateway cannot be reached.
    pub fn default_route(&self, gateway: IpAddr) -> Result<(), Error> {
        self.netlink("default route", || netlink::add_default_route(gateway))
    }

    /// Runs `f` on a thread inside the host. Sockets that it opens stay there.
    ///
    /// # Errors
    ///
    /// When no thread can be had or it cannot enter; `f` has then not run. A panic of
    /// `f` goes on in the caller.
    pub fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, Error> {
        self.0.namespace.run(f)
    }

    /// Runs a command to its end and returns what it printed.
    ///
    /// # Errors
    ///
    /// [`Error::Command`] when it fails, with what it printed on standard error.
    pub fn exec<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(
        &self,
        words: I,
    ) -> Result<String, Error> {
        process::exec(&self.0.namespace, process::command(words), "")
    }

    /// Starts a command and leaves it running. Its output goes to a log.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn spawn(&self, command: Command) -> Result<Process, Error> {
        Process::spawn(&self.0.namespace, &self.0.name, command)
    }

    /// The host's `/run`, as a path for this process.
    pub fn run_dir(&self) -> PathBuf {
        self.0.namespace.run_dir()
    }

    /// Writes a file below the host's `/run` and returns its path inside the host.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<PathBuf, Error> {
        let path = self.run_dir().join(name);
        fs::write(&path, contents)
            .context(|| format!("writing /run/{name} of `{}`", self.0.name))?;
        Ok(Path::new("/run").join(name))
    }

    /// How to get a shell inside, for a person who looks for a fault.
    pub fn nsenter(&self) -> String {
        nsenter(&self.0.namespace)
    }

    /// A path to the network namespace, valid for other processes of the same user
    /// for as long as this process lives.
    pub fn netns(&self) -> PathBuf {
        self.0.namespace.net_path()
    }

    /// The addresses of one interface, in the kernel's order.
    ///
    /// # Errors
    ///
    /// When there is no such interface: that is not the same as having no addresses.
    pub fn addresses(&self, interface: &str) -> Result<Vec<Address>, Error> {
        self.netlink(&format!("addresses of {interface}"), || {
            netlink::addresses(Some(netlink::index(interface)?))
        })
    }

    /// Whether any interface has this address, working or not (see
    /// [`Address::tentative`], [`Address::dad_failed`]).
    ///
    /// # Errors
    ///
    /// When the kernel refuses the list.
    pub fn has(&self, ip: IpAddr) -> Result<bool, Error> {
        let all = self.netlink("addresses", || netlink::addresses(None))?;
        Ok(all.iter().any(|a| a.ip == ip))
    }

    /// The Ethernet address that the host's neighbour table has for `ip`.
    ///
    /// # Errors
    ///
    /// When the kernel refuses the list.
    pub fn neighbour(&self, ip: IpAddr) -> Result<Option<Mac>, Error> {
        self.netlink("neighbours", || netlink::neighbour(ip))
    }

    /// The Ethernet address of an interface.
    ///
    /// # Errors
    ///
    /// When there is no such interface.
    pub fn mac(&self, interface: &str) -> Result<Mac, Error> {
        let what = format!("MAC address of {interface}");
        let mac = self.netlink(&what, || Ok(netlink::link(netlink::index(interface)?)?.0))?;
        mac.ok_or_else(|| Error::NoInterface { host: self.0.name.clone(), what })
    }

    /// Whether an interface is up and has a carrier.
    ///
    /// # Errors
    ///
    /// When there is no such interface.
    pub fn carrier(&self, interface: &str) -> Result<bool, Error> {
        self.netlink(&format!("state of {interface}"), || {
            Ok(netlink::link(netlink::index(interface)?)?.1)
        })
    }

    /// Records what an interface sends and receives. See [`Bridge::capture`] for a
    /// capture of the whole segment.
    ///
    /// # Errors
    ///
    /// When there is no such interface or the kernel refuses the packet socket.
    pub fn capture(&self, interface: &str) -> Result<Capture, Error> {
        self.netlink(&format!("capture on {interface}"), || {
            Capture::start(Some(netlink::index(interface)?), |_, _| true)
        })
    }

    pub(crate) fn netlink<T: Send>(
        &self,
        what: &str,
        f: impl FnOnce() -> io::Result<T> + Send,
    ) -> Result<T, Error> {
        self.run(f)?.context(|| format!("{what} on `{}`", self.0.name))
    }

    pub(crate) fn port_on(&self, bridge: &Bridge) -> Result<String, Error> {
        let links = self.links();
        let link = links.iter().find(|l| l.bridge.is(bridge));
        link.map(|l| l.port.clone()).ok_or_else(|| Error::NoInterface {
            host: self.0.name.clone(),
            what: format!("interface on bridge `{}`", bridge.name()),
        })
    }

    fn make(&self, link: &Link) -> Result<(), Error> {
        link.bridge.plug(&link.port, &link.interface, link.mac, &self.0.namespace)?;
        self.raise(link)
    }

    /// Brings the interface up and gives it its addresses, as a network manager does.
    fn raise(&self, link: &Link) -> Result<(), Error> {
        self.netlink(&format!("configuring {}", link.interface), || {
            let index = netlink::index(&link.interface)?;
            netlink::set_up(index, true)?;
            link.addresses.iter().try_for_each(|&address| netlink::add_address(index, address))
        })?;
        link.bridge.settle(&link.port)?;
        self.settle(link)
    }

    /// Waits until the interface sends, see [`netlink::settle`].
    fn settle(&self, link: &Link) -> Result<(), Error> {
        self.netlink(&format!("waiting for {}", link.interface), || {
            netlink::settle(netlink::index(&link.interface)?)
        })
    }

    fn links(&self) -> MutexGuard<'_, Vec<Link>> {
        self.0.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn link(&self, interface: &str) -> Result<Link, Error> {
        let links = self.links();
        let link = links.iter().find(|l| l.interface == interface);
        link.cloned().ok_or_else(|| Error::NoInterface {
            host: self.0.name.clone(),
            what: format!("interface `{interface}`"),
        })
    }
}

/// What can happen to a host's network. All of it is about `eth0`.
impl Host {
    /// The cable is pulled: the interface stays up and loses its carrier.
    ///
    /// # Errors
    ///
    /// When the kernel refuses; so with all the faults below.
    pub fn link_down(&self) -> Result<(), Error> {
        let link = self.link("eth0")?;
        link.bridge.set_port_up(&link.port, false)
    }

    /// The cable is back.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn link_up(&self) -> Result<(), Error> {
        let link = self.link("eth0")?;
        link.bridge.set_port_up(&link.port, true)?;
        link.bridge.settle(&link.port)?;
        self.settle(&link)
    }

    /// The administrator takes the interface down. The kernel then drops its IPv6
    /// addresses.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn own_link_down(&self) -> Result<(), Error> {
        self.netlink("eth0 down", || netlink::set_up(netlink::index("eth0")?, false))
    }

    /// The administrator brings the interface up again, with the addresses that the
    /// host was made with.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn own_link_up(&self) -> Result<(), Error> {
        self.raise(&self.link("eth0")?)
    }

    /// The switch stops forwarding to and from the host, which keeps its carrier.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn port_disable(&self) -> Result<(), Error> {
        let link = self.link("eth0")?;
        link.bridge.set_port_forwarding(&link.port, false)
    }

    /// Undoes [`port_disable`](Self::port_disable).
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn port_enable(&self) -> Result<(), Error> {
        let link = self.link("eth0")?;
        link.bridge.set_port_forwarding(&link.port, true)
    }

    /// Somebody removes all addresses, link-local ones too.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn flush_addresses(&self) -> Result<(), Error> {
        self.netlink("flushing eth0", || {
            let index = netlink::index("eth0")?;
            for address in netlink::addresses(Some(index))? {
                match netlink::delete_address(index, address.cidr()) {
                    // Secondary addresses go with the first of their subnet.
                    Err(e) if e.raw_os_error() == Some(libc::EADDRNOTAVAIL) => {}
                    result => result?,
                }
            }
            Ok(())
        })
    }

    /// Adds an address such as `10.0.0.7/24` to `eth0`, behind everybody's back.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn add_address(&self, address: &str) -> Result<(), Error> {
        let address = address.parse()?;
        self.netlink("adding an address", || netlink::add_address(netlink::index("eth0")?, address))
    }

    /// Removes an address such as `10.0.0.7/24` from `eth0`, behind everybody's back.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn delete_address(&self, address: &str) -> Result<(), Error> {
        let address = address.parse()?;
        self.netlink("removing an address", || {
            netlink::delete_address(netlink::index("eth0")?, address)
        })
    }

    /// The interface goes away, as when a module is unloaded.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn delete_interface(&self) -> Result<(), Error> {
        self.netlink("deleting eth0", || netlink::delete_link(netlink::index("eth0")?))
    }

    /// The interface comes back with the same name, MAC address and addresses, and
    /// another index.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn recreate_interface(&self) -> Result<(), Error> {
        self.make(&self.link("eth0")?)
    }

    /// Gives the interface another Ethernet address.
    ///
    /// # Errors
    ///
    /// See [`link_down`](Self::link_down).
    pub fn set_mac(&self, mac: Mac) -> Result<(), Error> {
        self.netlink("MAC address of eth0", || netlink::set_mac(netlink::index("eth0")?, mac))?;
        for link in self.links().iter_mut().filter(|l| l.interface == "eth0") {
            link.mac = mac;
        }
        Ok(())
    }
}

/// Names become interface names (at most 15 bytes) and parts of nftables rules.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let fits = (1..=15).contains(&name.len());
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    if fits && name.bytes().all(plain) && !name.starts_with('.') {
        Ok(())
    } else {
        Err(Error::Name(name.to_owned()))
    }
}
