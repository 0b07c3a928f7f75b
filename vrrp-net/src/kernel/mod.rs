//! The kernel thread: all address work, announcements, and the facts about interfaces.
//!
//! Requests that take the kernel's global lock can wait for many milliseconds while others hold
//! it, and advertisements must not wait with them. So this work has a thread of its own, which the
//! protocol thread only sends messages to. What must follow an installation at once (the
//! announcement) is done here as well, so that a takeover costs one hop between threads.

mod links;
mod routers;
mod work;

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use vrrp_core::{ActionId, ActionResult, Family, LinkId, RouterId};

use self::links::Links;
use self::routers::Routers;
use crate::config::{InterfaceName, Label, Vip};
use crate::netlink::{Change, Mac, Requests, Watch};
use crate::poll::{Poller, Token, Wake};
use crate::record::{Entry, Record};
use crate::socket::{Reach, VrrpSocket};

/// The IFA_PROTO tag of addresses that this library installed. VRRP's protocol number.
pub(crate) const TAG: u8 = 112;

const WATCH: Token = 0;

/// What the kernel thread must know of a router.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) router: RouterId,
    pub(crate) link: LinkId,
    pub(crate) interface: InterfaceName,
    pub(crate) family: Family,
    /// `None`: the router is alone and needs no socket.
    pub(crate) reach: Option<Reach>,
    pub(crate) vips: Arc<[Vip]>,
    pub(crate) label: Option<Label>,
    pub(crate) source: Option<IpAddr>,
    /// Copies of an announcement in a burst.
    pub(crate) burst: u8,
    /// The VIPs are the host's own addresses: what is there without our tag stays.
    pub(crate) owns_addresses: bool,
}

/// From the protocol thread.
#[derive(Debug)]
pub(crate) enum Request {
    /// A router begins, or has new settings.
    Assign(Assignment),
    /// A router ended. Its addresses were removed before.
    Forget(RouterId),
    Install {
        router: RouterId,
        id: ActionId,
    },
    Remove {
        router: RouterId,
        id: ActionId,
    },
    Announce {
        router: RouterId,
        burst: bool,
    },
    /// Ask the kernel which VIPs that should be absent are there.
    Verify,
    Stop,
}

/// To the protocol thread.
#[derive(Debug)]
pub(crate) enum Report {
    /// A socket for a link. Replaces an earlier one of the same kind.
    Socket { link: LinkId, family: Family, reach: Reach, socket: VrrpSocket },
    /// The interface is gone, and its sockets with it.
    SocketsGone { link: LinkId },
    /// The facts about a router's interface, whenever they change.
    Facts { router: RouterId, link: bool, source: Option<IpAddr> },
    /// Address work ended.
    Done { router: RouterId, id: ActionId, result: ActionResult },
    /// Another station announced a VIP of this router.
    Claimed { router: RouterId, address: IpAddr, mac: Mac },
    /// The interface has another hardware address than before.
    MacChanged { router: RouterId },
    /// Somebody removed a VIP that is ours; it is back.
    Restored { router: RouterId, address: IpAddr },
    /// Others remove the router's VIPs faster than it makes sense to put them back.
    Contested { router: RouterId, removals: usize },
    /// A VIP was there although it should not be; it is gone again.
    Evicted { router: RouterId, address: IpAddr },
    /// The answer to `Verify`: VIPs that are there and should not be.
    Verified(Result<Vec<IpAddr>, String>),
    /// Something failed that is worth a log line and will be tried again.
    Trouble { what: &'static str, error: String },
}

/// The thread's state.
pub(crate) struct Kernel {
    poller: Poller,
    requests: Receiver<Request>,
    netlink: Requests,
    watch: Watch,
    links: Links,
    routers: Routers,
    record: Option<Record>,
    out: Outlet,
}

/// Where reports go: a queue, and a wake-up after a batch.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    reports: Sender<Report>,
    wake: Wake,
}

impl Outlet {
    pub(crate) fn new(reports: Sender<Report>, wake: Wake) -> Self {
        Self { reports, wake }
    }

    pub(crate) fn report(&self, report: Report) {
        // A protocol thread that is gone needs no reports.
        let _ = self.reports.send(report);
        self.wake.wake();
    }

    fn trouble(&self, what: &'static str, error: impl ToString) {
        self.report(Report::Trouble { what, error: error.to_string() });
    }
}

impl Kernel {
    /// Opens what the thread needs. Done before the thread starts, so that a failure is the
    /// caller's to see. Needs CAP_NET_ADMIN for what follows, and nothing yet.
    pub(crate) fn new(
        requests: Receiver<Request>,
        out: Outlet,
        record: Option<Record>,
    ) -> io::Result<Self> {
        let poller = Poller::new()?;
        let watch = Watch::open()?;
        poller.add(&watch, WATCH)?;
        let netlink = Requests::open()?;
        let (links, routers) = (Links::default(), Routers::default());
        let mut kernel = Self { poller, requests, netlink, watch, links, routers, record, out };
        // The feed is open: whatever changes from now on is heard after these lists.
        kernel.take_lists();
        Ok(kernel)
    }

    pub(crate) fn wake_handle(&self) -> Wake {
        self.poller.wake_handle()
    }

    /// Removes what an earlier process of this owner left behind: addresses that it recorded, on
    /// the interface that it recorded, with the tag. No router holds anything yet.
    pub(crate) fn reap(&mut self, left: &BTreeSet<Entry>) -> Vec<IpAddr> {
        let mut reaped = Vec::new();
        for (interface, vip) in left {
            let Some(ifindex) = self.links.named(interface).map(|link| link.ifindex) else {
                continue;
            };
            let tagged = self.routers.addresses().iter().any(|a| {
                (a.ifindex, a.ip, a.prefix, a.tag) == (ifindex, vip.address(), vip.prefix(), TAG)
            });
            if !tagged {
                continue;
            }
            match self.netlink.delete_address(ifindex, vip.address(), vip.prefix()) {
                Ok(_) => reaped.push(vip.address()),
                Err(error) => self.out.trouble("removing an address of an earlier process", error),
            }
        }
        reaped
    }

    /// Records what the routers may put on their interfaces, before they do.
    pub(super) fn write_record(&mut self) {
        let Some(record) = &mut self.record else { return };
        if let Err(error) = record.write(self.routers.entries()) {
            self.out.trouble("recording the addresses in the run directory", error);
        }
    }

    /// Runs until `Stop`, or until the protocol thread is gone.
    pub(crate) fn run(mut self) {
        loop {
            loop {
                match self.requests.try_recv() {
                    Ok(Request::Stop) | Err(TryRecvError::Disconnected) => return,
                    Ok(request) => self.request(request),
                    Err(TryRecvError::Empty) => break,
                }
            }
            let mut ready = Vec::new();
            if let Err(error) = self.poller.wait(None, |token| ready.push(token)) {
                self.out.trouble("waiting", error);
                return;
            }
            for token in ready {
                match token {
                    WATCH => self.changes(),
                    link => self.claims(link),
                }
            }
        }
    }

    fn request(&mut self, request: Request) {
        match request {
            Request::Assign(assignment) => self.assign(assignment),
            Request::Forget(router) => {
                self.routers.forget(router);
                self.write_record();
            }
            Request::Install { router, id } => self.install(router, id),
            Request::Remove { router, id } => self.remove(router, id),
            Request::Announce { router, burst } => self.announce(router, burst),
            Request::Verify => {
                let present = self.unwanted();
                self.out.report(Report::Verified(present.map_err(|error| error.to_string())));
            }
            Request::Stop => {}
        }
    }

    fn changes(&mut self) {
        let mut changes = Vec::new();
        if let Err(error) = self.watch.read(|change| changes.push(change)) {
            self.out.trouble("reading changes", error);
            changes.push(Change::Lost);
        }
        for change in changes {
            match change {
                Change::Link(link) => self.link_changed(link),
                Change::LinkGone(ifindex) => self.link_gone(ifindex),
                Change::Address(address) => self.address_appeared(address),
                Change::AddressGone(address) => self.address_gone(&address),
                Change::Lost => self.take_lists(),
            }
        }
    }

    /// Takes whole lists of interfaces and addresses and acts on every difference.
    fn take_lists(&mut self) {
        let links = match self.netlink.links() {
            Ok(links) => links,
            Err(error) => return self.out.trouble("listing interfaces", error),
        };
        let addresses = match self.netlink.addresses() {
            Ok(addresses) => addresses,
            // An unknown list is not an empty one: keep what was true before.
            Err(error) => return self.out.trouble("listing addresses", error),
        };
        let gone: Vec<u32> = self
            .links
            .indexes()
            .filter(|index| links.iter().all(|link| link.ifindex != *index))
            .collect();
        gone.into_iter().for_each(|ifindex| self.link_gone(ifindex));
        self.routers.replace_addresses(addresses);
        links.into_iter().for_each(|link| self.link_changed(link));
        self.reconcile_all();
    }
}
