//! Advertisements as they were on the wire.

use std::net::IpAddr;
use std::time::Duration;

use lab::{Capture, Checksum, Frame, Host, Mac, VrrpSeen};

use crate::segment::{Family, SOON};

/// A captured advertisement.
#[derive(Clone, Debug)]
pub struct Advert {
    /// When, since the start of the capture.
    pub at: Duration,
    /// The host that sent it.
    pub from: String,
    /// What it says.
    pub seen: VrrpSeen,
}

/// The checksum rule of version 3 over IPv4 that an advertisement has to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// RFC 9568.
    Message,
    /// RFC 5798 as deployed.
    PseudoHeader,
}

/// Every advertisement so far, in order.
pub fn adverts(capture: &Capture) -> Vec<Advert> {
    capture.frames().iter().filter_map(Advert::of).collect()
}

/// Every advertisement that a host has sent so far.
pub fn adverts_of(capture: &Capture, host: &Host) -> Vec<Advert> {
    adverts(capture).into_iter().filter(|advert| advert.from == host.name()).collect()
}

/// The first advertisement after `since` that is wanted.
#[track_caller]
pub fn wait_for_advert(
    capture: &Capture,
    since: Duration,
    from: &Host,
    wanted: impl Fn(&VrrpSeen) -> bool,
) -> Advert {
    let is_wanted = |frame: &Frame| {
        frame.at > since
            && *frame.port == *from.name()
            && frame.vrrp().is_some_and(|seen| wanted(&seen))
    };
    let frame = capture.wait_for(SOON, is_wanted);
    let advert = frame.as_ref().and_then(Advert::of);
    advert.unwrap_or_else(|| panic!("no such advertisement of {} in {SOON:?}", from.name()))
}

impl Advert {
    fn of(frame: &Frame) -> Option<Self> {
        let seen = frame.vrrp()?;
        Some(Self { at: frame.at, from: frame.port.to_string(), seen })
    }

    /// Checks every byte that a router of `host` decides: headers, fields and checksum.
    #[track_caller]
    pub fn assert_valid(&self, host: &Host, family: Family, style: Style) {
        let seen = &self.seen;
        assert_eq!(self.from, host.name());
        assert_eq!((seen.ttl, seen.class), (255, 0xc0), "{seen:?}");
        assert_eq!((seen.version, seen.kind, seen.vrid), (3, 1, 51), "{seen:?}");
        assert_eq!((seen.reserved, seen.trailing), (0, 0), "{seen:?}");
        assert!(seen.addresses.contains(&family.vip()), "{seen:?}");
        assert!(!seen.addresses.contains(&seen.src), "sent from a VIP: {seen:?}");
        let (group, group_mac): (IpAddr, _) = match family {
            Family::V4 => ([224, 0, 0, 18].into(), [0x01, 0, 0x5e, 0, 0, 0x12]),
            Family::V6 => ([0xff02, 0, 0, 0, 0, 0, 0, 0x12].into(), [0x33, 0x33, 0, 0, 0, 0x12]),
        };
        assert_eq!((seen.dst, seen.dst_mac), (group, Mac(group_mac)), "{seen:?}");
        assert_eq!(seen.src_mac, host.mac("eth0").unwrap(), "{seen:?}");
        assert!(is_source(host, seen.src), "from an address of the interface: {seen:?}");
        let right = match style {
            Style::Message if family == Family::V4 => Checksum::Message,
            _ => Checksum::PseudoHeader,
        };
        assert!([right, Checksum::Either].contains(&seen.checksum), "{seen:?}");
    }
}

/// Whether an address is the host's own on `eth0`: what it was given, no VIP, and for IPv6 a
/// link-local one.
fn is_source(host: &Host, ip: IpAddr) -> bool {
    let addresses = host.addresses("eth0").unwrap();
    let own = addresses.iter().any(|address| address.ip == ip && address.proto != 112);
    own && match ip {
        IpAddr::V4(_) => true,
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}
