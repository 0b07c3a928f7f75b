//! Validation of received advertisements (conformance digest section 2, RFC 9568 section 7.1).
//!
//! The checks run in one fixed order and the first that fails names the [`Discard`]. Validation
//! takes a [`ReceivePolicy`], which lies below [`Config`](crate::Config): it can express settings
//! that no valid configuration would choose, so that the golden packets can drive them all.

mod discard;
mod policy;
mod warnings;

pub use discard::Discard;
pub use policy::{AuthRule, ChecksumRule, DestinationRule, OwnerRule, ReceivePolicy};
pub use warnings::{Warning, Warnings};

use core::net::IpAddr;

use crate::wire::{self, AddressList, AdvertHeader, AdvertPacket, ChecksumStyle};
use crate::{AdvertInterval, Family, Instant, Priority, Version, Vrid};

/// What the IP layer knows about a received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RxMeta {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// TTL or hop limit.
    pub ttl: u8,
    /// When the kernel received it, on the clock of `now`. Deadlines are dated from it, which takes
    /// the wake-up out of the detection time. Never taken later than `now`.
    pub received_at: Option<Instant>,
    /// Whether the kernel has verified the checksum (IPv6 with `IPV6_CHECKSUM`).
    pub checksum_verified: bool,
}

/// A valid advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// The version it has.
    pub version: Version,
    /// Its virtual router.
    pub vrid: Vrid,
    /// `None` is priority 0: the sender gives up.
    pub priority: Option<Priority>,
    /// The sender's interval.
    pub interval: AdvertInterval,
    /// The sender's list of addresses.
    pub addresses: AddressList<'a>,
    /// Which checksum it has. `None` where both styles give the same value or where there is
    /// only one (v2, IPv6).
    pub checksum_style: Option<ChecksumStyle>,
    /// What is odd about it.
    pub warnings: Warnings,
}

/// What a valid packet led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// What the router did.
    pub outcome: Outcome,
    /// What is odd about the packet.
    pub warnings: Warnings,
}

/// What a router did with a valid advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Heard and not obeyed: a Backup that preempts, or a router in Initialize.
    Ignored,
    /// A Backup follows the sender: its down timer restarted.
    Followed,
    /// The sender resigned.
    Resignation,
    /// An Active yielded to the sender.
    Yielded,
    /// An Active stood its ground.
    Asserted,
}

/// Validates one message: `payload` is what follows the IP header (and only that: the length comes
/// from the IP header, not from the frame).
///
/// # Errors
/// The first check that fails, in the digest's order. Nothing was changed.
pub fn validate<'a>(
    policy: &ReceivePolicy<'_>,
    meta: &RxMeta,
    payload: &'a [u8],
) -> Result<Received<'a>, Discard> {
    let mut warnings = Warnings::NONE;
    let family = Family::of(meta.source);

    let packet = check_layout(policy, meta, family, payload, &mut warnings)?;
    let checksum_style = check_checksum(policy, meta, family, &packet, &mut warnings)?;
    let vrid = check_addressing(policy, meta, family, packet.header(), &mut warnings)?;
    if policy.version == Version::V2 {
        check_auth(&policy.auth, packet.header().v2_auth_type(), packet.v2_auth_data())?;
    }
    let interval = check_interval(policy, packet.header(), &mut warnings)?;
    check_addresses(policy, family, &packet, &mut warnings)?;

    Ok(Received {
        version: policy.version,
        vrid,
        priority: Priority::new(packet.header().priority()),
        interval,
        addresses: packet.addresses(),
        checksum_style,
        warnings,
    })
}

/// Rows 2.02 to 2.08: whether this is an advertisement of the right version, and all of it.
#[inline]
fn check_layout<'a>(
    policy: &ReceivePolicy<'_>,
    meta: &RxMeta,
    family: Family,
    payload: &'a [u8],
    warnings: &mut Warnings,
) -> Result<AdvertPacket<'a>, Discard> {
    let Some(header) = AdvertHeader::new(payload) else {
        return Err(Discard::truncated(payload.len(), wire::HEADER_LEN));
    };
    let found = meta.ttl;
    match policy.destination {
        DestinationRule::Multicast if found != wire::TTL => {
            return Err(Discard::TtlNot255 { found });
        }
        DestinationRule::Unicast if found < policy.min_ttl => {
            let min = policy.min_ttl;
            return Err(Discard::TtlOutOfRange { found, min });
        }
        _ => {}
    }
    let known = match policy.version {
        Version::V2 => header.version() == 2 && (family == Family::V4 || policy.allow_v2_ipv6),
        Version::V3 => header.version() == 3,
    };
    if !known {
        return Err(Discard::BadVersion { found: header.version(), expected: policy.version });
    }
    if header.message_type() != wire::TYPE_ADVERTISEMENT {
        let found = header.message_type();
        return Err(Discard::BadType { found });
    }
    if header.count() == 0 {
        return Err(Discard::CountZero);
    }
    let Some(packet) = AdvertPacket::new(payload, family) else {
        return Err(Discard::truncated(payload.len(), header.message_len(family)));
    };
    if !packet.trailing().is_empty() {
        if !policy.allow_trailing {
            let expected = packet.as_bytes().len();
            return Err(Discard::length_mismatch(payload.len(), expected));
        }
        warnings.insert(Warning::TrailingBytes);
    }
    Ok(packet)
}

/// Row 2.09. The result is `None` where the message does not tell the two styles apart.
#[inline]
fn check_checksum(
    policy: &ReceivePolicy<'_>,
    meta: &RxMeta,
    family: Family,
    packet: &AdvertPacket<'_>,
    warnings: &mut Warnings,
) -> Result<Option<ChecksumStyle>, Discard> {
    let (source, destination) = (&meta.source, &meta.destination);
    let (intact, style) = match (family, policy.version) {
        (Family::V4, Version::V2) => (packet.is_intact(), None),
        (Family::V6, _) => {
            let under = || packet.under(packet.sum(), source, destination);
            (meta.checksum_verified || under().is_intact(), None)
        }
        (Family::V4, Version::V3) => {
            let message = packet.sum();
            let plain = message.is_intact();
            let pseudo = packet.under(message, source, destination).is_intact();
            let intact = match policy.checksum {
                ChecksumRule::MessageOnly => plain,
                ChecksumRule::PseudoHeader => pseudo,
                ChecksumRule::Either => plain || pseudo,
            };
            let style = match (plain, pseudo) {
                (true, false) => Some(ChecksumStyle::MessageOnly),
                (false, true) => Some(ChecksumStyle::PseudoHeader),
                _ => None,
            };
            (intact, style)
        }
    };
    // A fuzzer cannot guess checksums, and would test nothing behind this line.
    #[allow(unexpected_cfgs, reason = "set by cargo-fuzz alone")]
    if !intact && !cfg!(fuzzing) {
        let found = packet.header().checksum();
        return Err(Discard::BadChecksum { found });
    }
    if style == Some(ChecksumStyle::PseudoHeader) && policy.checksum == ChecksumRule::Either {
        warnings.insert(Warning::LegacyPseudoHeaderChecksum);
    }
    Ok(style)
}

/// Rows 2.10 to 2.15: whether it is meant for this router, and from whom.
#[inline]
fn check_addressing(
    policy: &ReceivePolicy<'_>,
    meta: &RxMeta,
    family: Family,
    header: AdvertHeader<'_>,
    warnings: &mut Warnings,
) -> Result<Vrid, Discard> {
    let Some(vrid) = Vrid::new(header.vrid()) else {
        return Err(Discard::VridZero);
    };
    if vrid != policy.vrid {
        let found = header.vrid();
        return Err(Discard::VridUnknown { found });
    }
    let multicast = policy.destination == DestinationRule::Multicast;
    let meant_for_us = if multicast {
        meta.destination == wire::group(family)
    } else {
        !meta.destination.is_multicast() && Family::of(meta.destination) == family
    };
    if !meant_for_us {
        return Err(Discard::BadDestination);
    }
    if policy.require_link_local_source && multicast && !is_link_local_if_v6(meta.source) {
        return Err(Discard::BadSource);
    }
    if policy.sources.is_some_and(|known| !known.contains(&meta.source)) {
        return Err(Discard::UnknownPeer);
    }
    if policy.own_source == Some(meta.source) {
        return Err(Discard::OwnPacket);
    }
    match policy.owner {
        OwnerRule::NotOwner => {}
        OwnerRule::Process => warnings.insert(Warning::OwnerReceived),
        OwnerRule::Discard => return Err(Discard::OwnerReceived),
    }
    Ok(vrid)
}

/// Rows 2.16 to 2.18, v2 only.
fn check_auth(rule: &AuthRule, found: u8, data: Option<&[u8; 8]>) -> Result<(), Discard> {
    if found > wire::AUTH_MAX {
        return Err(Discard::AuthTypeInvalid { found });
    }
    let expected = match rule {
        AuthRule::None => wire::AUTH_NONE,
        AuthRule::Pass(_) => wire::AUTH_PASS,
    };
    if found != expected {
        return Err(Discard::AuthMismatch { found, expected });
    }
    let AuthRule::Pass(password) = rule else {
        return Ok(());
    };
    // v2 over IPv6 has no place for a password, so there it is always the wrong one.
    let sent = data.ok_or(Discard::AuthFailure)?;
    // Every octet is compared, so that the time taken does not tell how many were right.
    let pairs = sent.iter().zip(password.octets());
    if pairs.fold(0, |differing, (a, b)| differing | (a ^ b)) != 0 {
        return Err(Discard::AuthFailure);
    }
    Ok(())
}

/// Rows 2.19 to 2.21, and 2.24.
#[inline]
fn check_interval(
    policy: &ReceivePolicy<'_>,
    header: AdvertHeader<'_>,
    warnings: &mut Warnings,
) -> Result<AdvertInterval, Discard> {
    let centis = match policy.version {
        Version::V2 => u16::from(header.v2_interval_secs()) * 100,
        Version::V3 => header.v3_interval_centis(),
    };
    let Some(found) = AdvertInterval::from_centis(centis) else {
        return Err(Discard::IntervalZero);
    };
    if found != policy.interval {
        if policy.version == Version::V2 {
            let expected = policy.interval;
            return Err(Discard::IntervalMismatch { found, expected });
        }
        warnings.insert(Warning::IntervalMismatch);
    }
    if policy.version == Version::V3 && header.v3_reserved() != 0 {
        warnings.insert(Warning::ReservedNonzero);
    }
    Ok(found)
}

/// Rows 2.22 and 2.23.
#[inline]
fn check_addresses(
    policy: &ReceivePolicy<'_>,
    family: Family,
    packet: &AdvertPacket<'_>,
    warnings: &mut Warnings,
) -> Result<(), Discard> {
    let addresses = packet.addresses();
    if family == Family::V6
        && policy.version == Version::V3
        && policy.destination == DestinationRule::Multicast
        && !addresses.first().is_some_and(is_link_local_if_v6)
    {
        if policy.require_first_link_local {
            return Err(Discard::FirstAddressNotLinkLocal);
        }
        warnings.insert(Warning::FirstAddressNotLinkLocal);
    }
    if policy.addresses.is_some_and(|own| !addresses.is_set_of(own)) {
        let from_owner = packet.header().priority() == Priority::OWNER.value();
        if policy.version == Version::V2 && policy.strict_v2_list && !from_owner {
            return Err(Discard::AddressListMismatch);
        }
        warnings.insert(Warning::AddressListMismatch);
    }
    Ok(())
}

fn is_link_local_if_v6(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}
