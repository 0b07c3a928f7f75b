//! Which router a packet is for, and which router an address belongs to.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::IpAddr;

use super::{LinkId, RouterId};
use crate::receive::RxMeta;
use crate::{Config, Family, Mode, Vrid};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    link: LinkId,
    family: Family,
    vrid: Vrid,
}

/// A link-local address belongs to its link; any other to the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    link: Option<LinkId>,
    address: IpAddr,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Demux {
    /// Nearly always one router per key; several only with unicast and disjoint peers.
    routers: BTreeMap<Key, Vec<usize>>,
    addresses: BTreeMap<Place, usize>,
}

impl Demux {
    pub(super) fn add(&mut self, slot: usize, link: LinkId, config: &Config) {
        self.routers.entry(key(link, config)).or_default().push(slot);
        for &address in config.addresses().iter() {
            self.addresses.insert(place(link, address), slot);
        }
    }

    pub(super) fn remove(&mut self, slot: usize, link: LinkId, config: &Config) {
        let key = key(link, config);
        if let Some(slots) = self.routers.get_mut(&key) {
            slots.retain(|&other| other != slot);
            if slots.is_empty() {
                self.routers.remove(&key);
            }
        }
        for &address in config.addresses().iter() {
            self.addresses.remove(&place(link, address));
        }
    }

    /// The router for a packet. One that will discard it (as from an unknown peer, or sent to the
    /// wrong destination) is better than none: it counts the packet under the true reason.
    pub(super) fn find<'a>(
        &self,
        link: LinkId,
        vrid: Vrid,
        meta: &RxMeta,
        config_of: impl Fn(usize) -> Option<&'a Config>,
    ) -> Option<usize> {
        let key = Key { link, family: Family::of(meta.source), vrid };
        let slots = self.routers.get(&key)?;
        let fits = |slot: &&usize| match config_of(**slot).map(Config::mode) {
            Some(Mode::Multicast) => meta.destination.is_multicast(),
            Some(Mode::Unicast(peers)) => {
                !meta.destination.is_multicast() && peers.contains(&meta.source)
            }
            Some(Mode::Solo) | None => false,
        };
        slots.iter().find(fits).or(slots.first()).copied()
    }

    /// Another router that the same packets would be for.
    pub(super) fn same_packets<'a>(
        &self,
        link: LinkId,
        config: &Config,
        except: Option<usize>,
        config_of: impl Fn(usize) -> Option<(RouterId, &'a Config)>,
    ) -> Option<RouterId> {
        let slots = self.routers.get(&key(link, config))?;
        slots
            .iter()
            .filter(|&&slot| Some(slot) != except)
            .filter_map(|&slot| config_of(slot))
            .find(|(_, other)| match (config.mode(), other.mode()) {
                (Mode::Unicast(a), Mode::Unicast(b)) => a.iter().any(|peer| b.contains(peer)),
                // Group and unicast packets are told apart by their destination, but two routers
                // of one VRID on one link in two modes is how split brains are configured.
                _ => true,
            })
            .map(|(id, _)| id)
    }

    pub(super) fn owner_of(&self, link: LinkId, address: IpAddr) -> Option<usize> {
        self.addresses.get(&place(link, address)).copied()
    }
}

fn key(link: LinkId, config: &Config) -> Key {
    Key { link, family: config.family(), vrid: config.vrid() }
}

fn place(link: LinkId, address: IpAddr) -> Place {
    let link_local = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    Place { link: link_local.then_some(link), address }
}
