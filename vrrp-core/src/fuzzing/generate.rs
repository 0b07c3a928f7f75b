//! Values from a fuzzer's bytes.

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;

use arbitrary::{Result, Unstructured};

use crate::{
    AdvertInterval, AnnounceSchedule, ChecksumMode, Config, Facts, Family, Handoff, Input,
    InstallFailure, Instant, Mode, Password, Preempt, Priority, Profile, ResignMode, Successor,
    UnicastPeers, Version, VirtualAddrs, Vrid,
};

pub(super) fn family(u: &mut Unstructured<'_>) -> Result<Family> {
    Ok(if u.arbitrary()? { Family::V4 } else { Family::V6 })
}

pub(super) fn version(u: &mut Unstructured<'_>) -> Result<Version> {
    Ok(if u.ratio(1, 4)? { Version::V2 } else { Version::V3 })
}

/// Any address at all.
pub(super) fn any_address(u: &mut Unstructured<'_>, family: Family) -> Result<IpAddr> {
    Ok(match family {
        Family::V4 => IpAddr::V4(Ipv4Addr::from(u.arbitrary::<[u8; 4]>()?)),
        Family::V6 => IpAddr::V6(Ipv6Addr::from(u.arbitrary::<[u8; 16]>()?)),
    })
}

/// One of a few routers on the link; 0 is the one under test.
pub(super) fn router_address(family: Family, index: u8) -> IpAddr {
    match family {
        Family::V4 => IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1 + index)),
        Family::V6 => IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1 + u16::from(index))),
    }
}

pub(super) fn vip(family: Family, index: u8) -> IpAddr {
    match family {
        Family::V4 => IpAddr::V4(Ipv4Addr::new(192, 0, 2, 100 + index % 100)),
        Family::V6 => IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 1, 0, u16::from(index))),
    }
}

pub(super) fn interval(u: &mut Unstructured<'_>, version: Version) -> Result<AdvertInterval> {
    let centis = match version {
        Version::V2 => u.int_in_range(1..=3)? * 100,
        Version::V3 => *u.choose(&[1, 2, 10, 33, 100, 300, 4095])?,
    };
    Ok(AdvertInterval::from_centis(centis).unwrap_or_default())
}

pub(super) fn priority(u: &mut Unstructured<'_>) -> Result<Priority> {
    Ok(Priority::new(u.arbitrary()?).unwrap_or(Priority::MIN))
}

fn duration(u: &mut Unstructured<'_>) -> Result<Duration> {
    Ok(Duration::from_millis(*u.choose(&[0, 0, 1, 250, 5_000, 60_000])?))
}

/// A configuration that the builder accepts, or `None` for one that it refuses.
pub(super) fn config(u: &mut Unstructured<'_>, vrid: Vrid) -> Result<Option<Config>> {
    let (version, family) = (version(u)?, family(u)?);
    let vips: Vec<IpAddr> = (0..u.int_in_range(1..=4)?).map(|n| vip(family, n)).collect();
    let peers: Vec<IpAddr> =
        (1..=u.int_in_range(1..=3)?).map(|n| router_address(family, n)).collect();
    let peers = UnicastPeers::new(&peers).ok();
    let mode = match (u.int_in_range(0..=3)?, peers.clone()) {
        (0, _) => Mode::Solo,
        (1, Some(peers)) => Mode::Unicast(peers),
        _ => Mode::Multicast,
    };
    let sources = if u.ratio(1, 8)? { peers } else { None };
    let password = if u.ratio(1, 8)? { Some(Password::new(u.bytes(4)?)) } else { None };
    let preempt = match u.int_in_range(0..=3)? {
        0 => Preempt::Never,
        1 => Preempt::After(duration(u)?),
        _ => Preempt::After(Duration::ZERO),
    };
    let checksum =
        *u.choose(&[ChecksumMode::Auto, ChecksumMode::MessageOnly, ChecksumMode::PseudoHeader])?;
    let announce = AnnounceSchedule {
        burst: u.arbitrary()?,
        repeat_after: duration(u)?,
        refresh: duration(u)?,
    };
    let Ok(addresses) = VirtualAddrs::new(&vips) else {
        return Ok(None);
    };
    let builder = Config::builder(vrid, addresses)
        .version(version)
        .mode(mode)
        .priority(priority(u)?)
        .interval(interval(u, version)?)
        .preempt(preempt)
        .password(password)
        .checksum(checksum)
        .profile(if u.ratio(1, 4)? { Profile::Rfc } else { Profile::Compatible })
        .announce(announce)
        .install_failure(*u.choose(&[InstallFailure::Resign, InstallFailure::Retry])?)
        .max_peer_priority(priority(u)?)
        .allowed_sources(sources)
        .unicast_min_ttl(*u.choose(&[0, 255])?);
    Ok(builder.build().ok())
}

fn handoff(u: &mut Unstructured<'_>, now: Instant, family: Family) -> Result<Handoff> {
    let peer = router_address(family, u.int_in_range(0..=3)?);
    Ok(Handoff {
        mode: *u.choose(&[ResignMode::Hold, ResignMode::RemoveFirst])?,
        deadline: now + duration(u)?,
        successor: *u.choose(&[Successor::Anyone, Successor::BestKnown, Successor::Peer(peer)])?,
    })
}

/// Any input but the answer to address work.
pub(super) fn input(u: &mut Unstructured<'_>, now: Instant, family: Family) -> Result<Input> {
    Ok(match u.int_in_range(0..=15)? {
        0 => Input::Shutdown,
        1 => Input::Resign(handoff(u, now, family)?),
        2 => Input::Drain(handoff(u, now, family)?),
        3 => Input::Undrain,
        4 => Input::ForceClaim,
        5 => Input::ReleaseClaim,
        6 => Input::Adopt,
        7 => Input::SuccessorAnnounced,
        8 => Input::AdvertResult { delivered: u.arbitrary()? },
        9 => Input::Reannounce,
        10 => Input::PriorityChanged(priority(u)?),
        11 => Input::Facts(Facts {
            link: u.ratio(3, 4)?,
            source: if u.ratio(3, 4)? { Some(router_address(family, 0)) } else { None },
            eligible: u.ratio(3, 4)?,
        }),
        12 => Input::Facts(good_facts(family, 0)),
        _ => Input::Startup,
    })
}

pub(super) fn good_facts(family: Family, index: u8) -> Facts {
    Facts { link: true, source: Some(router_address(family, index)), eligible: true }
}
