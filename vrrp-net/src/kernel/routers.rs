//! What is wanted of each router's addresses, and what the kernel has.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use vrrp_core::{Instant, LinkId, RouterId};

use super::{Assignment, TAG};
use crate::clock;
use crate::config::{InterfaceName, Vip};
use crate::netlink::Address;
use crate::record::Entry;

/// After this many removals by others within [`CONTEST_WINDOW`] the router gives up.
const CONTEST_REMOVALS: usize = 100;
const CONTEST_WINDOW: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Routers {
    work: BTreeMap<RouterId, Work>,
    /// Every address of the namespace, in the kernel's order.
    addresses: Vec<Address>,
}

/// One router's addresses.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) assignment: Assignment,
    /// Whether the addresses are to be on the interface.
    pub(super) wanted: bool,
    /// The facts that were reported last.
    pub(super) reported: Option<(bool, Option<IpAddr>)>,
    removals: VecDeque<Instant>,
}

impl Routers {
    pub(super) fn work(&mut self, router: RouterId) -> Option<&mut Work> {
        self.work.get_mut(&router)
    }

    pub(super) fn assign(&mut self, assignment: Assignment) -> Option<Assignment> {
        match self.work.get_mut(&assignment.router) {
            Some(work) => Some(std::mem::replace(&mut work.assignment, assignment)),
            None => {
                let (wanted, removals) = (false, VecDeque::new());
                let router = assignment.router;
                self.work.insert(router, Work { assignment, wanted, reported: None, removals });
                None
            }
        }
    }

    pub(super) fn forget(&mut self, router: RouterId) {
        self.work.remove(&router);
    }

    pub(super) fn ids(&self) -> Vec<RouterId> {
        self.work.keys().copied().collect()
    }

    /// Every VIP with its interface.
    pub(super) fn entries(&self) -> BTreeSet<Entry> {
        let one = |work: &Work| {
            let interface = work.assignment.interface.clone();
            let vips = work.assignment.vips.clone();
            (0..vips.len()).map(move |index| (interface.clone(), vips[index]))
        };
        self.work.values().flat_map(one).collect()
    }

    pub(super) fn on_interface(&self, name: &str) -> Vec<RouterId> {
        self.work
            .iter()
            .filter(|(_, work)| work.assignment.interface.as_str() == name)
            .map(|(&router, _)| router)
            .collect()
    }

    /// The router of a link that has this VIP.
    pub(super) fn with_vip(&self, link: LinkId, address: IpAddr) -> Option<RouterId> {
        self.find(address, |assignment| assignment.link == link)
    }

    fn find(&self, address: IpAddr, on: impl Fn(&Assignment) -> bool) -> Option<RouterId> {
        self.work
            .iter()
            .find(|(_, work)| {
                on(&work.assignment) && work.assignment.vips.iter().any(|v| v.address() == address)
            })
            .map(|(&router, _)| router)
    }

    /// The router whose VIP stands at this place, its settings and the VIP.
    pub(super) fn vip_at(
        &self,
        address: &Address,
        is_its_interface: impl Fn(&InterfaceName) -> bool,
    ) -> Option<(RouterId, Assignment, Vip)> {
        self.work.iter().find_map(|(&router, work)| {
            let assignment = &work.assignment;
            let vip = assignment
                .vips
                .iter()
                .find(|v| (v.address(), v.prefix()) == (address.ip, address.prefix))?;
            is_its_interface(&assignment.interface).then(|| (router, assignment.clone(), *vip))
        })
    }

    /// Whether an address must never be a source: a VIP of this node, or tagged as one.
    pub(super) fn is_vip(&self, address: &Address) -> bool {
        let owner_address = |assignment: &Assignment| assignment.owns_addresses;
        address.tag == TAG
            || self.work.values().any(|work| {
                !owner_address(&work.assignment)
                    && work.assignment.vips.iter().any(|vip| vip.address() == address.ip)
            })
    }

    pub(super) fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    pub(super) fn replace_addresses(&mut self, addresses: Vec<Address>) {
        self.addresses = addresses;
    }

    pub(super) fn note_address(&mut self, address: Address) {
        match self.addresses.iter_mut().find(|a| same_place(a, &address)) {
            Some(known) => *known = address,
            None => self.addresses.push(address),
        }
    }

    pub(super) fn drop_address(&mut self, address: &Address) {
        self.addresses.retain(|a| !same_place(a, address));
    }

    pub(super) fn drop_addresses_of(&mut self, ifindex: u32) {
        self.addresses.retain(|a| a.ifindex != ifindex);
    }
}

impl Work {
    /// Notes that somebody removed an address of ours. Returns the number of removals in the
    /// window once they are too many.
    pub(super) fn removed_by_others(&mut self) -> Option<usize> {
        let now = clock::now();
        self.removals.push_back(now);
        while let Some(&oldest) = self.removals.front()
            && now.saturating_since(oldest) > CONTEST_WINDOW
        {
            self.removals.pop_front();
        }
        let removals = self.removals.len();
        if removals < CONTEST_REMOVALS {
            return None;
        }
        self.removals.clear();
        Some(removals)
    }
}

fn same_place(a: &Address, b: &Address) -> bool {
    (a.ifindex, a.ip, a.prefix) == (b.ifindex, b.ip, b.prefix)
}
