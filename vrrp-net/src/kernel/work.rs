//! Putting VIPs on, taking them off, keeping them there and keeping them away.

use std::net::IpAddr;
use std::time::Duration;

use vrrp_core::{ActionId, ActionResult, RouterId};

use super::{Assignment, Kernel, Report, TAG};
use crate::announce;
use crate::clock;
use crate::config::Vip;
use crate::netlink::{Address, NetlinkError, NewAddress};
use crate::source;

/// An IPv6 address that is not usable by then is announced all the same.
const USABLE_WITHIN: Duration = Duration::from_millis(20);

impl Kernel {
    /// A router begins, or has new settings. VIPs that are no longer listed go.
    pub(super) fn assign(&mut self, assignment: Assignment) {
        let router = assignment.router;
        let vips = assignment.vips.clone();
        let old = self.routers.assign(assignment);
        self.write_record();
        self.provide_for(router);
        let Some(old) = old else {
            // A crash may have left the addresses there: they go before the router hears anything.
            self.clear(router);
            return self.update_facts();
        };
        self.update_facts();
        let dropped = old.vips.iter().filter(|vip| !vips.contains(vip)).copied();
        for vip in dropped.collect::<Vec<_>>() {
            if let Err(error) = self.delete(&old, vip) {
                self.out.trouble("removing an address that is no longer configured", error);
            }
        }
    }

    /// Takes away what is on the interface of a router that begins.
    fn clear(&mut self, router: RouterId) {
        let Some(work) = self.routers.work(router) else { return };
        let assignment = work.assignment.clone();
        for &vip in assignment.vips.iter() {
            let known = self.routers.addresses().iter().any(|a| a.ip == vip.address());
            if known {
                self.evict(router, &assignment, vip);
            }
        }
    }

    pub(super) fn provide_for(&mut self, router: RouterId) {
        let Some(work) = self.routers.work(router) else { return };
        let Assignment { link, family, reach, .. } = work.assignment;
        let name = work.assignment.interface.clone();
        self.provide_sockets(link, &name, family, reach);
    }

    /// Reports the facts of every router for which they changed.
    pub(super) fn update_facts(&mut self) {
        for router in self.routers.ids() {
            let Some(assignment) = self.routers.work(router).map(|w| w.assignment.clone()) else {
                continue;
            };
            let current = self.routers.work(router).and_then(|w| w.reported?.1);
            let facts = self.facts(&assignment, current);
            let Some(work) = self.routers.work(router) else { continue };
            if work.reported != Some(facts) {
                work.reported = Some(facts);
                let (link, source) = facts;
                self.out.report(Report::Facts { router, link, source });
            }
        }
    }

    fn facts(&self, router: &Assignment, current: Option<IpAddr>) -> (bool, Option<IpAddr>) {
        let Some(link) = self.links.named(&router.interface) else { return (false, None) };
        let usable =
            link.running && self.links.can_receive(router.link, router.family, router.reach);
        let source = source::select(
            self.routers.addresses(),
            link.ifindex,
            router.family,
            router.source,
            current,
            |address| self.routers.is_vip(address),
        );
        (usable, source)
    }

    /// Installs every VIP and announces each as soon as the kernel has confirmed it.
    pub(super) fn install(&mut self, router: RouterId, id: ActionId) {
        let Some(work) = self.routers.work(router) else { return };
        work.wanted = true;
        let assignment = work.assignment.clone();
        let mut installed = 0;
        for &vip in assignment.vips.iter() {
            match self.add(&assignment, vip) {
                Ok(()) => {
                    installed += 1;
                    self.announce_new(&assignment, vip);
                }
                Err(error) => self.out.trouble("installing an address", error),
            }
        }
        let result = outcome(installed, assignment.vips.len());
        self.out.report(Report::Done { router, id, result });
        for _ in 1..assignment.burst {
            assignment.vips.iter().for_each(|&vip| self.announce_vip(&assignment, vip));
        }
    }

    pub(super) fn remove(&mut self, router: RouterId, id: ActionId) {
        let Some(work) = self.routers.work(router) else { return };
        work.wanted = false;
        let assignment = work.assignment.clone();
        let mut removed = 0;
        for &vip in assignment.vips.iter() {
            match self.delete(&assignment, vip) {
                Ok(_) => removed += 1,
                Err(error) => self.out.trouble("removing an address", error),
            }
        }
        let result = outcome(removed, assignment.vips.len());
        self.out.report(Report::Done { router, id, result });
    }

    pub(super) fn announce(&mut self, router: RouterId, burst: bool) {
        let Some(work) = self.routers.work(router) else { return };
        let assignment = work.assignment.clone();
        let copies = if burst { assignment.burst } else { 1 };
        for _ in 0..copies {
            assignment.vips.iter().for_each(|&vip| self.announce_vip(&assignment, vip));
        }
    }

    /// An address appeared or changed.
    pub(super) fn address_appeared(&mut self, address: Address) {
        self.routers.note_address(address.clone());
        let Some((router, assignment, vip)) = self.vip_at(&address) else {
            return self.update_facts();
        };
        let Some(work) = self.routers.work(router) else { return };
        match work.wanted {
            // Another stack that still had it answered our check of uniqueness: put it on again.
            true if address.dad_failed => {
                let fresh = self.delete(&assignment, vip).and_then(|_| self.add(&assignment, vip));
                match fresh {
                    Ok(()) => self.announce_new(&assignment, vip),
                    Err(error) => self.out.trouble("replacing an address that failed DAD", error),
                }
            }
            true => {}
            false => self.evict(router, &assignment, vip),
        }
    }

    pub(super) fn address_gone(&mut self, address: &Address) {
        self.routers.drop_address(address);
        match self.vip_at(address) {
            None => self.update_facts(),
            Some((router, assignment, vip)) => {
                if self.routers.work(router).is_some_and(|work| work.wanted) {
                    self.restore(router, &assignment, vip);
                }
            }
        }
    }

    /// After a whole list: everything that is not as it should be.
    pub(super) fn reconcile_all(&mut self) {
        for router in self.routers.ids() {
            let Some(work) = self.routers.work(router) else { continue };
            let (assignment, wanted) = (work.assignment.clone(), work.wanted);
            for &vip in assignment.vips.iter() {
                if wanted {
                    self.restore(router, &assignment, vip);
                } else {
                    self.evict(router, &assignment, vip);
                }
            }
        }
        self.update_facts();
    }

    /// VIPs that are on their interface and should not be.
    pub(super) fn unwanted(&mut self) -> Result<Vec<IpAddr>, NetlinkError> {
        let addresses = self.netlink.addresses()?;
        let mut unwanted = Vec::new();
        for address in addresses {
            if let Some((router, assignment, vip)) = self.vip_at(&address)
                && self.routers.work(router).is_some_and(|work| !work.wanted)
                && !(assignment.owns_addresses && address.tag != TAG)
            {
                unwanted.push(vip.address());
            }
        }
        Ok(unwanted)
    }

    /// Somebody took an address of ours away: back in place, and heard again.
    fn restore(&mut self, router: RouterId, assignment: &Assignment, vip: Vip) {
        match self.add_if_missing(assignment, vip) {
            Ok(false) => {}
            Ok(true) => {
                self.announce_new(assignment, vip);
                let address = vip.address();
                self.out.report(Report::Restored { router, address });
                let contest =
                    self.routers.work(router).and_then(super::routers::Work::removed_by_others);
                if let Some(removals) = contest {
                    self.out.report(Report::Contested { router, removals });
                }
            }
            // The interface is down or gone: the facts say so, and the router will give up.
            Err(error) => self.out.trouble("putting an address back", error),
        }
    }

    /// Somebody put a VIP there that we do not own: away with it.
    fn evict(&mut self, router: RouterId, assignment: &Assignment, vip: Vip) {
        match self.delete(assignment, vip) {
            Ok(false) => {}
            Ok(true) => {
                let address = vip.address();
                self.out.report(Report::Evicted { router, address });
            }
            Err(error) => self.out.trouble("removing a VIP that is not ours", error),
        }
    }

    fn add(&mut self, assignment: &Assignment, vip: Vip) -> Result<(), NetlinkError> {
        if self.is_hosts_own(assignment, vip) {
            return Ok(());
        }
        let new = self.new_address(assignment, vip)?;
        self.netlink.add_address(&new, true).map(drop)
    }

    fn add_if_missing(&mut self, router: &Assignment, vip: Vip) -> Result<bool, NetlinkError> {
        if router.owns_addresses {
            return Ok(false);
        }
        let new = self.new_address(router, vip)?;
        self.netlink.add_address(&new, false)
    }

    fn new_address<'a>(
        &self,
        assignment: &'a Assignment,
        vip: Vip,
    ) -> Result<NewAddress<'a>, NetlinkError> {
        let link = self.links.named(&assignment.interface).ok_or(NetlinkError::NoInterface)?;
        Ok(NewAddress {
            ifindex: link.ifindex,
            ip: vip.address(),
            prefix: vip.prefix(),
            label: assignment.label.as_ref().map(crate::config::Label::as_str),
            tag: TAG,
        })
    }

    /// Returns whether the VIP was there.
    fn delete(&mut self, assignment: &Assignment, vip: Vip) -> Result<bool, NetlinkError> {
        // An interface that is gone took its addresses along.
        let Some(link) = self.links.named(&assignment.interface) else { return Ok(false) };
        if self.is_hosts_own(assignment, vip) {
            return Ok(false);
        }
        self.netlink.delete_address(link.ifindex, vip.address(), vip.prefix())
    }

    /// With priority 255 the VIPs are the host's own addresses, which stay whatever happens.
    fn is_hosts_own(&self, assignment: &Assignment, vip: Vip) -> bool {
        assignment.owns_addresses
            && self.routers.addresses().iter().any(|a| a.ip == vip.address() && a.tag != TAG)
    }

    /// Announces an address that has just been put on, as soon as the host takes packets in for
    /// it: whoever hears the announcement sends at once.
    fn announce_new(&mut self, assignment: &Assignment, vip: Vip) {
        if vip.address().is_ipv6() {
            let end = clock::now() + USABLE_WITHIN;
            // A question that cannot be answered is no reason to keep the link waiting.
            while matches!(self.netlink.is_local(vip.address()), Ok(false)) && clock::now() < end {
                std::thread::sleep(Duration::from_micros(20));
            }
        }
        self.announce_vip(assignment, vip);
    }

    fn announce_vip(&self, assignment: &Assignment, vip: Vip) {
        let link = self.links.named(&assignment.interface);
        let Some(mac) = link.and_then(|link| link.mac) else { return };
        let Some(socket) = self.links.ethernet(assignment.link) else { return };
        if let Err(error) = socket.send(&announce::frame(vip.address(), mac)) {
            self.out.trouble("announcing an address", error);
        }
    }

    /// The router whose VIP stands at this place.
    fn vip_at(&self, address: &Address) -> Option<(RouterId, Assignment, Vip)> {
        self.routers.vip_at(address, |name| {
            self.links.named(name).is_some_and(|link| link.ifindex == address.ifindex)
        })
    }
}

fn outcome(done: usize, all: usize) -> ActionResult {
    match done {
        _ if done == all => ActionResult::Done,
        0 => ActionResult::Failed,
        _ => ActionResult::Partial,
    }
}
