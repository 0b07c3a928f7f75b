//! What a node is told to be.
mod names;
mod vip;

pub use names::{InterfaceName, Label, NameError, RouterName};
use std::net::IpAddr;
pub use vip::{Vip, VipError};

/// x
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterConfig {
    name: RouterName,
    interface: InterfaceName,
    protocol: vrrp_core::Config,
    vips: Vec<Vip>,
    label: Option<Label>,
    source: Option<IpAddr>,
}
impl RouterConfig {
    /// x
    pub fn name(&self) -> &RouterName {
        &self.name
    }
    /// x
    pub fn interface(&self) -> &InterfaceName {
        &self.interface
    }
    /// x
    pub fn protocol(&self) -> &vrrp_core::Config {
        &self.protocol
    }
    /// x
    pub fn vips(&self) -> &[Vip] {
        &self.vips
    }
    /// x
    pub fn label(&self) -> Option<&Label> {
        self.label.as_ref()
    }
    /// x
    pub fn source(&self) -> Option<IpAddr> {
        self.source
    }
}
/// x
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NodeConfig {
    routers: Vec<RouterConfig>,
}
impl NodeConfig {
    /// x
    pub fn routers(&self) -> &[RouterConfig] {
        &self.routers
    }
}
