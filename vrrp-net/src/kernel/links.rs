//! Interfaces, found by name whenever they are there, and their sockets.

use std::collections::HashMap;
use std::io;

use vrrp_core::{Family, LinkId};

use super::{Kernel, Report};
use crate::config::InterfaceName;
use crate::netlink::Link;
use crate::poll::Token;
use crate::socket::{EthernetSocket, Reach, VrrpSocket};

/// The interfaces of the namespace, and the sockets on those that routers use.
#[derive(Debug, Default)]
pub(super) struct Links {
    all: HashMap<u32, Link>,
    used: HashMap<LinkId, Used>,
}

/// An interface that at least one router is on, whether it exists at the moment or not.
#[derive(Debug)]
struct Used {
    name: InterfaceName,
    /// The index for which the sockets below were opened.
    ifindex: Option<u32>,
    ethernet: Option<EthernetSocket>,
    sockets: Vec<(Family, Reach)>,
}

impl Links {
    pub(super) fn indexes(&self) -> impl Iterator<Item = u32> + '_ {
        self.all.keys().copied()
    }

    /// The interface of that name, if it exists now.
    pub(super) fn named(&self, name: &InterfaceName) -> Option<&Link> {
        self.all.values().find(|link| link.name == name.as_str())
    }

    pub(super) fn ethernet(&self, link: LinkId) -> Option<&EthernetSocket> {
        self.used.get(&link)?.ethernet.as_ref()
    }

    /// Whether a router that needs such a socket can hear and be heard.
    pub(super) fn can_receive(&self, link: LinkId, family: Family, reach: Option<Reach>) -> bool {
        let Some(used) = self.used.get(&link) else { return false };
        reach.is_none_or(|reach| used.sockets.contains(&(family, reach)))
    }

    fn used_by_index(&self, ifindex: u32) -> Option<LinkId> {
        self.used.iter().find(|(_, used)| used.ifindex == Some(ifindex)).map(|(&id, _)| id)
    }
}

impl Kernel {
    /// Makes sure that a link has the sockets which a router on it needs, if it exists.
    pub(super) fn provide_sockets(
        &mut self,
        id: LinkId,
        name: &InterfaceName,
        family: Family,
        reach: Option<Reach>,
    ) {
        let used = self.links.used.entry(id).or_insert_with(|| Used {
            name: name.clone(),
            ifindex: None,
            ethernet: None,
            sockets: Vec::new(),
        });
        let Some(link) = self.links.all.values().find(|link| link.name == used.name.as_str())
        else {
            return;
        };
        if used.ifindex != Some(link.ifindex) {
            // Another interface of the same name: its predecessor's sockets are dead.
            used.ethernet = None;
            used.sockets.clear();
            used.ifindex = Some(link.ifindex);
        }
        if used.ethernet.is_none() {
            match open_ethernet(&self.poller, link.ifindex) {
                Ok(socket) => used.ethernet = Some(socket),
                Err(error) => self.out.trouble("opening a packet socket", error),
            }
        }
        let Some(reach) = reach else { return };
        if used.sockets.contains(&(family, reach)) {
            return;
        }
        match VrrpSocket::open(name.as_str(), link.ifindex, family, reach) {
            Ok(socket) => {
                used.sockets.push((family, reach));
                self.out.report(Report::Socket { link: id, family, reach, socket });
            }
            Err(error) => self.out.trouble("opening a VRRP socket", error),
        }
    }

    pub(super) fn link_changed(&mut self, link: Link) {
        let (ifindex, name) = (link.ifindex, link.name.clone());
        let before = self.links.all.insert(ifindex, link);
        let now = &self.links.all[&ifindex];
        let changed = |what: fn(&Link, &Link) -> bool| {
            before.as_ref().is_some_and(|before| what(before, now))
        };
        let renamed = changed(|before, now| before.name != now.name);
        let returned = changed(|before, now| !before.running && now.running);
        let new_mac = changed(|before, now| before.mac != now.mac);
        // Opened anew, the sockets join the group anew: a switch that watches memberships may
        // have forgotten this port while the link was down, or know it by another MAC.
        if (renamed || returned || new_mac)
            && let Some(id) = self.links.used_by_index(ifindex)
        {
            self.close_sockets(id);
        }
        for router in self.routers.on_interface(&name) {
            self.provide_for(router);
            if new_mac {
                self.out.report(Report::MacChanged { router });
            }
        }
        self.update_facts();
    }

    pub(super) fn link_gone(&mut self, ifindex: u32) {
        self.links.all.remove(&ifindex);
        self.routers.drop_addresses_of(ifindex);
        if let Some(id) = self.links.used_by_index(ifindex) {
            self.close_sockets(id);
        }
        self.update_facts();
    }

    fn close_sockets(&mut self, id: LinkId) {
        if let Some(used) = self.links.used.get_mut(&id) {
            used.ifindex = None;
            used.ethernet = None;
            used.sockets.clear();
            self.out.report(Report::SocketsGone { link: id });
        }
    }

    /// Reads what other stations announced on a link.
    pub(super) fn claims(&mut self, token: Token) {
        let Ok(ifindex) = u32::try_from(token) else { return };
        let Some(id) = self.links.used_by_index(ifindex) else { return };
        let mac = self.links.all.get(&ifindex).and_then(|link| link.mac);
        let mut buffer = [0; 256];
        // Bounded, so that a flood of announcements cannot starve address work.
        for _ in 0..64 {
            let Some(socket) = self.links.ethernet(id) else { return };
            match socket.next_claim(&mut buffer) {
                Ok(Some(claim)) if Some(claim.mac) == mac => {}
                Ok(Some(claim)) => {
                    if let Some(router) = self.routers.with_vip(id, claim.address) {
                        let (address, mac) = (claim.address, claim.mac);
                        self.out.report(Report::Claimed { router, address, mac });
                    }
                }
                // An error here is the interface going down, which the feed reports.
                Ok(None) | Err(_) => return,
            }
        }
    }
}

fn open_ethernet(poller: &crate::poll::Poller, ifindex: u32) -> io::Result<EthernetSocket> {
    let socket = EthernetSocket::open(ifindex)?;
    poller.add(&socket, Token::from(ifindex))?;
    Ok(socket)
}
