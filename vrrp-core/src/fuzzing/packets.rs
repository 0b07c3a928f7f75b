//! Bytes and packets: reading anything, writing what can be read again, judging by any policy.

use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;

use arbitrary::{Result, Unstructured};

use super::generate;
use crate::receive::{
    AuthRule, ChecksumRule, DestinationRule, OwnerRule, ReceivePolicy, RxMeta, validate,
};
use crate::wire::{self, AdvertHeader, AdvertPacket, AdvertRepr, ChecksumStyle, PseudoHeader};
use crate::{Family, Password, Priority, Version, Vrid};

/// Any octets, read as a message of both families.
pub fn decode(octets: &[u8]) {
    let header = AdvertHeader::new(octets);
    assert_eq!(header.is_some(), octets.len() >= 8);
    for family in [Family::V4, Family::V6] {
        let Some(packet) = AdvertPacket::new(octets, family) else {
            assert!(header.is_none_or(|header| octets.len() < header.message_len(family)));
            continue;
        };
        let header = packet.header();
        assert_eq!(packet.as_bytes().len(), header.message_len(family));
        assert_eq!(packet.as_bytes().len() + packet.trailing().len(), octets.len());
        assert_eq!(packet.addresses().len(), usize::from(header.count()));
        assert!(packet.addresses().iter().all(|address| Family::of(address) == family));
        assert_eq!(packet.addresses().iter().count(), packet.addresses().len());
        let (source, destination) = (generate::router_address(family, 0), wire::group(family));
        let _ = packet.is_intact();
        let _ = packet.is_intact_under(&PseudoHeader { source, destination });
        let _ = packet.v2_auth_data();
    }
}

/// What is written is read again, and written again as the same octets.
pub fn roundtrip(data: &[u8]) {
    let _ = try_roundtrip(&mut Unstructured::new(data)); // too few bytes: nothing to do
}

fn try_roundtrip(u: &mut Unstructured<'_>) -> Result<()> {
    let (version, family) = (generate::version(u)?, generate::family(u)?);
    let header = PseudoHeader {
        source: generate::any_address(u, family)?,
        destination: generate::any_address(u, family)?,
    };
    let style = *u.choose(&[ChecksumStyle::MessageOnly, ChecksumStyle::PseudoHeader])?;
    let password = if version == Version::V2 && u.arbitrary()? {
        Some(Password::new(u.bytes(8)?))
    } else {
        None
    };
    let (vrid, priority) = (u.int_in_range(1..=255)?, Priority::new(u.arbitrary()?));
    let interval = generate::interval(u, version)?;
    let count = u.int_in_range(1..=20)?;
    let addresses: Vec<IpAddr> =
        (0..count).map(|_| generate::any_address(u, family)).collect::<Result<_>>()?;
    let Some(vrid) = Vrid::new(vrid) else {
        return Ok(());
    };
    let repr = AdvertRepr {
        version,
        vrid,
        priority,
        interval,
        password: password.as_ref(),
        addresses: &addresses,
    };
    let mut octets = vec![0xaa; repr.message_len()];
    assert_eq!(repr.emit(header, style, &mut octets), Ok(octets.len()));
    let packet = AdvertPacket::new(&octets, family).expect("a message that was just written");
    let read = packet.header();
    assert_eq!(read.vrid(), vrid.value());
    assert_eq!(Priority::new(read.priority()), priority);
    assert_eq!(packet.addresses().iter().collect::<Vec<_>>(), addresses);
    assert!(packet.trailing().is_empty());
    let centis = match version {
        Version::V2 => u16::from(read.v2_interval_secs()) * 100,
        Version::V3 => read.v3_interval_centis(),
    };
    assert_eq!(centis, interval.centis());
    let plain = match (family, version) {
        (Family::V4, Version::V2) => true,
        (Family::V4, Version::V3) => style == ChecksumStyle::MessageOnly,
        (Family::V6, _) => false,
    };
    assert!(if plain { packet.is_intact() } else { packet.is_intact_under(&header) });
    Ok(())
}

/// A packet with anything in its IP header, judged by any policy.
pub fn receive(data: &[u8]) {
    let _ = try_receive(&mut Unstructured::new(data)); // too few bytes: nothing to do
}

fn try_receive(u: &mut Unstructured<'_>) -> Result<()> {
    let family = generate::family(u)?;
    let (source, destination) = if u.arbitrary()? {
        (generate::router_address(family, u.int_in_range(0..=3)?), wire::group(family))
    } else {
        (generate::any_address(u, family)?, generate::any_address(u, family)?)
    };
    let ttl = if u.arbitrary()? { wire::TTL } else { u.arbitrary()? };
    let meta =
        RxMeta { source, destination, ttl, received_at: None, checksum_verified: u.arbitrary()? };
    let version = generate::version(u)?;
    let (vrid, interval) = (u.int_in_range(1..=255)?, generate::interval(u, version)?);
    let Some(vrid) = Vrid::new(vrid) else {
        return Ok(());
    };
    let known = [generate::router_address(family, 1), generate::router_address(family, 2)];
    let vips = [generate::vip(family, 0), generate::vip(family, 1)];
    let password = Password::new(u.bytes(8)?);
    let policy = ReceivePolicy {
        version,
        allow_v2_ipv6: u.arbitrary()?,
        vrid,
        interval,
        destination: *u.choose(&[DestinationRule::Multicast, DestinationRule::Unicast])?,
        min_ttl: u.arbitrary()?,
        checksum: *u.choose(&[
            ChecksumRule::MessageOnly,
            ChecksumRule::PseudoHeader,
            ChecksumRule::Either,
        ])?,
        auth: *u.choose(&[AuthRule::None, AuthRule::Pass(password)])?,
        allow_trailing: u.arbitrary()?,
        require_first_link_local: u.arbitrary()?,
        require_link_local_source: u.arbitrary()?,
        sources: if u.arbitrary()? { Some(&known) } else { None },
        own_source: if u.arbitrary()? { Some(generate::router_address(family, 0)) } else { None },
        owner: *u.choose(&[OwnerRule::NotOwner, OwnerRule::Process, OwnerRule::Discard])?,
        addresses: if u.arbitrary()? { Some(&vips) } else { None },
        strict_v2_list: u.arbitrary()?,
    };
    let payload = u.take_rest_ref();
    let verdict = validate(&policy, &meta, payload);
    assert_eq!(verdict, validate(&policy, &meta, payload), "a verdict depends on the packet alone");
    match verdict {
        Ok(received) => {
            assert_eq!((received.version, received.vrid), (policy.version, policy.vrid));
            assert!(!received.addresses.is_empty());
            assert!(received.interval.centis() > 0);
            for warning in received.warnings.iter() {
                assert!(received.warnings.contains(warning));
            }
        }
        Err(discard) => assert!(!discard.name().is_empty()),
    }
    Ok(())
}

trait TakeRest<'a> {
    fn take_rest_ref(&mut self) -> &'a [u8];
}

impl<'a> TakeRest<'a> for Unstructured<'a> {
    /// As `take_rest`, which wants to own it.
    fn take_rest_ref(&mut self) -> &'a [u8] {
        let length = self.len();
        self.bytes(length).unwrap_or(&[])
    }
}
