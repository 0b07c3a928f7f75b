//! What one router is told to be: the core's settings, and what only a host has.

use std::net::IpAddr;
use std::sync::Arc;

use vrrp_core::{Config, Family, Mode, UnicastPeers};

use super::error::{ConfigError, ConfigErrors, Path, Problem};
use super::{InterfaceName, Label, RouterName, Vip};

/// The settings of one virtual router on one interface. Cheap to clone.
///
/// Valid by construction, as far as one router can be judged alone;
/// [`NodeConfig`](super::NodeConfig) judges routers beside each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RouterConfig {
    name: RouterName,
    interface: InterfaceName,
    protocol: Config,
    vips: Arc<[Vip]>,
    label: Option<Label>,
    source: Option<IpAddr>,
}

impl RouterConfig {
    /// The settings without a default; everything else is set on the builder.
    pub fn builder(name: RouterName, interface: InterfaceName, protocol: Config) -> RouterBuilder {
        RouterBuilder { name, interface, protocol, prefixes: Vec::new(), label: None, source: None }
    }

    /// The name, unique within the node.
    pub fn name(&self) -> &RouterName {
        &self.name
    }

    /// The interface that carries advertisements and addresses.
    pub fn interface(&self) -> &InterfaceName {
        &self.interface
    }

    /// The protocol's settings.
    pub fn protocol(&self) -> &Config {
        &self.protocol
    }

    /// The virtual addresses with their prefix lengths, in the order of
    /// [`Config::addresses`](vrrp_core::Config::addresses).
    pub fn vips(&self) -> &[Vip] {
        &self.vips
    }

    /// The label of the addresses (IPv4 only).
    pub fn label(&self) -> Option<&Label> {
        self.label.as_ref()
    }

    /// The source address of advertisements to unicast peers. `None`: the interface's own (IPv4:
    /// its primary; IPv6: the lowest usable link-local).
    pub fn source(&self) -> Option<IpAddr> {
        self.source
    }
}

/// Builds a [`RouterConfig`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RouterBuilder {
    name: RouterName,
    interface: InterfaceName,
    protocol: Config,
    prefixes: Vec<Vip>,
    label: Option<Label>,
    source: Option<IpAddr>,
}

impl RouterBuilder {
    /// Installs an address of the router under this prefix length. Default /32 and /128.
    pub fn prefix(mut self, vip: Vip) -> Self {
        self.prefixes.push(vip);
        self
    }

    /// Default none.
    pub fn label(mut self, label: Option<Label>) -> Self {
        self.label = label;
        self
    }

    /// Default: the interface's own address. Unicast only.
    pub fn source(mut self, source: Option<IpAddr>) -> Self {
        self.source = source;
        self
    }

    /// # Errors
    /// Refuses a prefix length of an address that the router does not have, a label for IPv6, and
    /// a source without unicast, of the wrong family, that no host can own, or that is one of the
    /// peers or VIPs. Only the owner of the addresses (priority 255) may send from one of them.
    pub fn build(self) -> Result<RouterConfig, ConfigErrors> {
        let root = Path::default();
        let mut errors = Vec::new();
        let family = self.protocol.family();
        let addresses = self.protocol.addresses();

        for vip in &self.prefixes {
            if !addresses.contains(&vip.address()) {
                let problem = Problem::ForeignPrefix { address: addresses[0] };
                errors.push(ConfigError::valued(root.key("addresses"), vip, problem));
            }
        }
        let vip_of = |&address: &IpAddr| {
            let given = self.prefixes.iter().rev().find(|vip| vip.address() == address);
            // The core's addresses are usable, so each can be a host's.
            given.copied().or_else(|| Vip::host(address).ok())
        };
        let vips = addresses.iter().filter_map(vip_of).collect();

        if let (Some(label), Family::V6) = (&self.label, family) {
            errors.push(ConfigError::valued(root.key("label"), label, Problem::LabelFamily));
        }
        if let Some(source) = self.source
            && let Err(problem) = check_source(source, &self.protocol)
        {
            let path = root.key("unicast").key("source");
            errors.push(ConfigError::valued(path, source, problem));
        }

        for error in &mut errors {
            error.router = Some(self.name.clone());
        }
        let Self { name, interface, protocol, label, source, .. } = self;
        let router = RouterConfig { name, interface, protocol, vips, label, source };
        ConfigErrors::or(errors, Some(router))
    }
}

fn check_source(source: IpAddr, protocol: &Config) -> Result<(), Problem> {
    // A list of one peer is refused exactly where no host can own the address.
    UnicastPeers::new(&[source])?;
    let family = protocol.family();
    if Family::of(source) != family {
        return Err(Problem::Family { family });
    }
    match protocol.mode() {
        Mode::Unicast(peers) if peers.contains(&source) => return Err(Problem::SourceIsPeer),
        Mode::Multicast => return Err(Problem::SourceWithoutUnicast),
        _ => {}
    }
    if protocol.addresses().contains(&source) && !protocol.priority().is_owner() {
        return Err(Problem::OwnVip);
    }
    Ok(())
}
