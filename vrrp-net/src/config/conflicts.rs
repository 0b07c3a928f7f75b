//! What is wrong between the routers of one node.

use std::collections::HashMap;
use std::net::IpAddr;

use vrrp_core::{Family, Mode, Vrid};

use super::error::{ConfigError, Path, Problem};
use super::{InterfaceName, RouterConfig, RouterName};

/// All conflicts, each reported once: at the later of the two routers.
pub(super) fn conflicts(routers: &[Outline]) -> Vec<ConfigError> {
    let index = Index::of(routers);
    let mut errors = Vec::new();
    for (this, router) in routers.iter().enumerate() {
        let path = Path::router(this);
        if let Some(name) = &router.name
            && let Some(&first) = index.names.get(name)
            && first < this
        {
            let problem = Problem::DuplicateName { first };
            errors.push(ConfigError::valued(path.key("name"), name, problem));
        }
        if let Some(group) = router.group() {
            let mut earlier = index.groups[&group].iter().take_while(|&&other| other < this);
            let conflict =
                earlier.find_map(|&other| Some((other, router.same_packets(&routers[other])?)));
            if let Some((other, peers)) = conflict {
                let problem = Problem::SameGroup { other: routers[other].called(other), peers };
                errors.push(ConfigError::new(path.key("vrid"), problem).of_number(group.2));
            }
        }
        for &(at, address) in &router.addresses {
            let shared = |other: usize| other < this && router.shares(&routers[other], address);
            if let Some(other) = index.holder(address, shared) {
                let problem = Problem::AddressTaken { other: routers[other].called(other) };
                let path = path.key("addresses").index(at);
                errors.push(ConfigError::valued(path, address, problem));
            }
        }
        // A router's own VIPs are refused where it is judged alone.
        let owner = |address: IpAddr| {
            let other = index.holder(address, |other| other != this)?;
            routers[other].name.clone()
        };
        let unicast = path.key("unicast");
        if let Some(source) = router.source
            && let Some(owner) = owner(source)
        {
            let problem = Problem::IsVip { owner };
            errors.push(ConfigError::valued(unicast.key("source"), source, problem));
        }
        for &(at, peer) in &router.peers {
            if let Some(owner) = owner(peer) {
                let path = unicast.key("peers").index(at);
                errors.push(ConfigError::valued(path, peer, Problem::IsVip { owner }));
            }
        }
    }
    errors
}

/// As much of a router as is known, to be judged beside the others: a router with a mistake of
/// its own still has conflicts that can be reported with it.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) name: Option<RouterName>,
    pub(super) interface: Option<InterfaceName>,
    pub(super) vrid: Option<Vrid>,
    /// Usable addresses with their places in the list.
    pub(super) addresses: Vec<(usize, IpAddr)>,
    pub(super) mode: Option<Mode>,
    /// Usable peers with their places in the list.
    pub(super) peers: Vec<(usize, IpAddr)>,
    pub(super) source: Option<IpAddr>,
}

impl Outline {
    pub(super) fn of(router: &RouterConfig) -> Self {
        let protocol = router.protocol();
        let peers = match protocol.mode() {
            Mode::Unicast(peers) => peers.iter().copied().enumerate().collect(),
            _ => Vec::new(),
        };
        Self {
            name: Some(router.name().clone()),
            interface: Some(router.interface().clone()),
            vrid: Some(protocol.vrid()),
            addresses: protocol.addresses().iter().copied().enumerate().collect(),
            mode: Some(protocol.mode().clone()),
            peers,
            source: router.source(),
        }
    }

    /// How to speak of it in an error about another router.
    fn called(&self, index: usize) -> String {
        match &self.name {
            Some(name) => format!("\"{name}\""),
            None => format!("#{}", index + 1),
        }
    }

    fn group(&self) -> Option<Group<'_>> {
        let &(_, address) = self.addresses.first()?;
        Some((self.interface.as_ref()?, Family::of(address), self.vrid?))
    }

    /// Whether packets for two routers of one group could not be told apart; if so, whether other
    /// peers would help. The rule is that of `vrrp_core::RouterSet`.
    fn same_packets(&self, other: &Self) -> Option<bool> {
        match (self.mode.as_ref()?, other.mode.as_ref()?) {
            (Mode::Unicast(a), Mode::Unicast(b)) => {
                a.iter().any(|peer| b.contains(peer)).then_some(true)
            }
            _ => Some(false),
        }
    }

    /// Whether an address that both have is the same one: a link-local address belongs to its link.
    fn shares(&self, other: &Self, address: IpAddr) -> bool {
        let link_local = match address {
            IpAddr::V4(v4) => v4.is_link_local(),
            IpAddr::V6(v6) => v6.is_unicast_link_local(),
        };
        !link_local || self.interface == other.interface
    }
}

/// Routers of one group answer to the same packets, unless their peers differ.
type Group<'a> = (&'a InterfaceName, Family, Vrid);

/// Who has what, by the order of the routers.
#[derive(Default)]
struct Index<'a> {
    /// The first router of each name.
    names: HashMap<&'a RouterName, usize>,
    groups: HashMap<Group<'a>, Vec<usize>>,
    addresses: HashMap<IpAddr, Vec<usize>>,
}

impl<'a> Index<'a> {
    fn of(routers: &'a [Outline]) -> Self {
        let mut index = Self::default();
        for (this, router) in routers.iter().enumerate() {
            if let Some(name) = &router.name {
                index.names.entry(name).or_insert(this);
            }
            if let Some(group) = router.group() {
                index.groups.entry(group).or_default().push(this);
            }
            for &(_, address) in &router.addresses {
                index.addresses.entry(address).or_default().push(this);
            }
        }
        index
    }

    /// The first router that has the address and fits.
    fn holder(&self, address: IpAddr, fits: impl Fn(usize) -> bool) -> Option<usize> {
        self.addresses.get(&address)?.iter().copied().find(|&router| fits(router))
    }
}
