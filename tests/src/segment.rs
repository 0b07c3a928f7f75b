//! The segment on which the fault reports are replayed.

use std::net::IpAddr;
use std::time::Duration;

use lab::{Bridge, Capture, Host, Lab, eventually};

use crate::advert::{adverts, adverts_of};

/// How long a thing may take that has no bound of its own, on a busy machine.
pub const SOON: Duration = Duration::from_secs(20);

/// Two routers, a client and an injector on a bridge.
pub struct Segment {
    /// The segment itself.
    pub bridge: Bridge,
    /// The router that is meant to win: 10.0.0.1, fd00::1.
    pub a: Host,
    /// The other router: 10.0.0.2, fd00::2.
    pub b: Host,
    /// The client: 10.0.0.8, fd00::8.
    pub h: Host,
    /// Who injects packets: 10.0.0.9, fd00::9.
    pub x: Host,
    _lab: Lab,
}

/// An address family, and its VIP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// VIP 10.0.0.50.
    V4,
    /// VIP fd00::50.
    V6,
}

impl Family {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::V4, Self::V6];

    /// The VIP that clients use.
    pub fn vip(self) -> IpAddr {
        match self {
            Self::V4 => [10, 0, 0, 50].into(),
            Self::V6 => [0xfd00, 0, 0, 0, 0, 0, 0, 0x50].into(),
        }
    }
}

impl Segment {
    /// Hosts whose addresses work at once.
    pub fn new() -> Self {
        Self::build(Lab::host)
    }

    /// Hosts with duplicate address detection, as kernels have it by default.
    pub fn with_dad() -> Self {
        Self::build(Lab::host_with_dad)
    }

    fn build(make: impl Fn(&Lab, &str, &Bridge, &[&str]) -> Result<Host, lab::Error>) -> Self {
        let lab = Lab::new().unwrap();
        let bridge = lab.bridge("lan").unwrap();
        let host = |name: &str, n: u8| {
            make(&lab, name, &bridge, &[&format!("10.0.0.{n}/24"), &format!("fd00::{n}/64")])
                .unwrap()
        };
        let (a, b, h, x) = (host("a", 1), host("b", 2), host("h", 8), host("x", 9));
        Self { bridge, a, b, h, x, _lab: lab }
    }

    /// Waits until `owner` alone has the VIP, then watches five more of its advertisements, and
    /// checks that nobody else advertised or got the VIP meanwhile.
    #[track_caller]
    pub fn settles_on(&self, capture: &Capture, owner: &Host, family: Family) {
        let others: Vec<&Host> =
            [&self.a, &self.b].into_iter().filter(|host| host.name() != owner.name()).collect();
        let vip = family.vip();
        eventually(SOON, format!("{} alone has {vip}", owner.name()), || {
            owner.has(vip).unwrap() && others.iter().all(|other| !other.has(vip).unwrap())
        });
        let since = capture.now();
        eventually(SOON, format!("{} advertises", owner.name()), || {
            assert!(owner.has(vip).unwrap(), "{} keeps {vip}", owner.name());
            for other in &others {
                assert!(!other.has(vip).unwrap(), "{} has {vip} too", other.name());
            }
            adverts_of(capture, owner).iter().filter(|advert| advert.at > since).count() >= 5
        });
        for advert in adverts(capture).iter().filter(|advert| advert.at > since) {
            assert_eq!(advert.from, owner.name(), "one advertises: {advert:?}");
        }
    }
}

impl Default for Segment {
    fn default() -> Self {
        Self::new()
    }
}
