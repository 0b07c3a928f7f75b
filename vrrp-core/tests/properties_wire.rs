//! What is written is read back as it was; and the times that intervals and priorities lead to
//! keep the routers of a group apart, at every interval.

#![allow(clippy::unwrap_used, reason = "also in the helpers of tests")]

use std::net::IpAddr;
use std::time::Duration;

use proptest::prelude::*;
use vrrp_core::receive::{
    AuthRule, ChecksumRule, DestinationRule, Discard, OwnerRule, ReceivePolicy, RxMeta, Warnings,
    validate,
};
use vrrp_core::wire::{AdvertPacket, AdvertRepr, ChecksumStyle, PseudoHeader, group};
use vrrp_core::{AdvertInterval, Family, Password, Priority, Version, Vrid};

/// What an [`AdvertRepr`] borrows, and how it is sent.
#[derive(Clone, Debug)]
struct Advert {
    version: Version,
    vrid: Vrid,
    priority: Option<Priority>,
    interval: AdvertInterval,
    password: Option<Password>,
    addresses: Vec<IpAddr>,
    header: PseudoHeader,
    style: ChecksumStyle,
}

impl Advert {
    fn emit(&self) -> Vec<u8> {
        let repr = AdvertRepr {
            version: self.version,
            vrid: self.vrid,
            priority: self.priority,
            interval: self.interval,
            password: self.password.as_ref(),
            addresses: &self.addresses,
        };
        let mut buffer = vec![0xaa; repr.message_len()];
        let len = repr.emit(self.header, self.style, &mut buffer).unwrap();
        assert_eq!(len, buffer.len());
        buffer
    }

    /// The receiver that is configured like the sender.
    fn policy(&self) -> ReceivePolicy<'_> {
        ReceivePolicy {
            version: self.version,
            allow_v2_ipv6: false,
            vrid: self.vrid,
            interval: self.interval,
            destination: if self.header.destination.is_multicast() {
                DestinationRule::Multicast
            } else {
                DestinationRule::Unicast
            },
            min_ttl: 255,
            checksum: match self.style {
                ChecksumStyle::MessageOnly => ChecksumRule::MessageOnly,
                ChecksumStyle::PseudoHeader => ChecksumRule::PseudoHeader,
            },
            auth: self.password.map_or(AuthRule::None, AuthRule::Pass),
            allow_trailing: false,
            require_first_link_local: true,
            require_link_local_source: true,
            sources: Some(std::slice::from_ref(&self.header.source)),
            own_source: None,
            owner: OwnerRule::NotOwner,
            addresses: Some(&self.addresses),
            strict_v2_list: true,
        }
    }

    fn meta(&self) -> RxMeta {
        RxMeta {
            source: self.header.source,
            destination: self.header.destination,
            ttl: 255,
            received_at: None,
            checksum_verified: false,
        }
    }

    fn has_two_styles(&self) -> bool {
        self.version == Version::V3 && self.header.source.is_ipv4()
    }
}

fn link_local() -> impl Strategy<Value = IpAddr> {
    any::<[u8; 8]>().prop_map(|low| {
        let mut octets = [0; 16];
        octets[..2].copy_from_slice(&[0xfe, 0x80]);
        octets[8..].copy_from_slice(&low);
        octets.into()
    })
}

fn address(family: Family) -> BoxedStrategy<IpAddr> {
    match family {
        Family::V4 => any::<[u8; 4]>().prop_map(IpAddr::from).boxed(),
        Family::V6 => any::<[u8; 16]>().prop_map(IpAddr::from).boxed(),
    }
}

/// Distinct addresses; over IPv6 the first is link-local, as RFC 9568 section 5.2.9 has it.
fn addresses(family: Family) -> BoxedStrategy<Vec<IpAddr>> {
    let some = proptest::collection::hash_set(address(family), 1..=255)
        .prop_map(|set| set.into_iter().collect::<Vec<_>>());
    match family {
        Family::V4 => some.boxed(),
        Family::V6 => (link_local(), some)
            .prop_map(|(first, mut rest)| {
                rest.retain(|&address| address != first);
                rest.insert(0, first);
                rest.truncate(255);
                rest
            })
            .boxed(),
    }
}

fn header(family: Family) -> BoxedStrategy<PseudoHeader> {
    let source = match family {
        Family::V4 => address(family),
        Family::V6 => link_local().boxed(),
    };
    let unicast = address(family).prop_filter("a peer", |peer| !peer.is_multicast());
    let destination = prop_oneof![Just(group(family)), unicast];
    (source, destination)
        .prop_map(|(source, destination)| PseudoHeader { source, destination })
        .boxed()
}

fn advert() -> impl Strategy<Value = Advert> {
    let kind = prop_oneof![
        Just((Version::V2, Family::V4)),
        Just((Version::V3, Family::V4)),
        Just((Version::V3, Family::V6)),
    ];
    kind.prop_flat_map(|(version, family)| {
        let interval = match version {
            Version::V2 => (1..=255u16).prop_map(|secs| secs * 100).boxed(),
            Version::V3 => (1..=4095u16).boxed(),
        };
        let password = match version {
            Version::V2 => proptest::option::of(any::<[u8; 8]>()).boxed(),
            Version::V3 => Just(None).boxed(),
        };
        let style =
            prop_oneof![Just(ChecksumStyle::MessageOnly), Just(ChecksumStyle::PseudoHeader),];
        ((1..=255u8, any::<u8>(), interval, password), addresses(family), header(family), style)
            .prop_map(move |((vrid, priority, centis, password), addresses, header, style)| {
                Advert {
                    version,
                    vrid: Vrid::new(vrid).unwrap(),
                    priority: Priority::new(priority),
                    interval: AdvertInterval::from_centis(centis).unwrap(),
                    password: password.map(|octets| Password::new(&octets)),
                    addresses,
                    header,
                    style,
                }
            })
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(advert in advert()) {
        let octets = advert.emit();
        let received = validate(&advert.policy(), &advert.meta(), &octets).unwrap();
        prop_assert_eq!(received.version, advert.version);
        prop_assert_eq!(received.vrid, advert.vrid);
        prop_assert_eq!(received.priority, advert.priority);
        prop_assert_eq!(received.interval, advert.interval);
        prop_assert_eq!(received.addresses.iter().collect::<Vec<_>>(), &*advert.addresses);
        prop_assert_eq!(received.warnings, Warnings::NONE);

        let family = Family::of(advert.header.source);
        let packet = AdvertPacket::new(&octets, family).unwrap();
        let ambiguous = packet.is_intact() && packet.is_intact_under(&advert.header);
        let style = (advert.has_two_styles() && !ambiguous).then_some(advert.style);
        prop_assert_eq!(received.checksum_style, style);
    }

    #[test]
    fn the_other_checksum_is_refused_unless_it_is_the_same(advert in advert()) {
        prop_assume!(advert.has_two_styles());
        let octets = advert.emit();
        let other = Advert {
            style: match advert.style {
                ChecksumStyle::MessageOnly => ChecksumStyle::PseudoHeader,
                ChecksumStyle::PseudoHeader => ChecksumStyle::MessageOnly,
            },
            ..advert.clone()
        };
        let same = other.emit() == octets;
        let found = u16::from_be_bytes([octets[6], octets[7]]);
        match validate(&other.policy(), &advert.meta(), &octets) {
            Ok(received) => {
                prop_assert!(same);
                prop_assert_eq!(received.checksum_style, None);
            }
            Err(discard) => {
                prop_assert!(!same);
                prop_assert_eq!(discard, Discard::BadChecksum { found });
            }
        }
    }

    #[test]
    fn the_order_of_the_addresses_does_not_matter(
        (advert, shuffled) in advert().prop_flat_map(|advert| {
            let shuffled = Just(advert.addresses.clone()).prop_shuffle();
            (Just(advert), shuffled)
        }),
    ) {
        let octets = advert.emit();
        let policy = ReceivePolicy { addresses: Some(&shuffled), ..advert.policy() };
        let received = validate(&policy, &advert.meta(), &octets).unwrap();
        prop_assert_eq!(received.warnings, Warnings::NONE);
    }

    /// Whatever is accepted, however odd, has values that can be sent again and mean the same.
    #[test]
    fn what_is_read_can_be_written(octets in proptest::collection::vec(any::<u8>(), 8..64)) {
        // Headers that have a chance; the checksum is vouched for.
        let mut octets = octets;
        octets[0] = 0x31;
        octets[3] = ((octets.len() - 8) / 16) as u8;
        let header = PseudoHeader {
            source: "fe80::2".parse().unwrap(),
            destination: group(Family::V6),
        };
        let policy = ReceivePolicy {
            version: Version::V3,
            allow_v2_ipv6: false,
            vrid: Vrid::new(octets[1].max(1)).unwrap(),
            interval: AdvertInterval::DEFAULT,
            destination: DestinationRule::Multicast,
            min_ttl: 0,
            checksum: ChecksumRule::Either,
            auth: AuthRule::None,
            allow_trailing: true,
            require_first_link_local: false,
            require_link_local_source: false,
            sources: None,
            own_source: None,
            owner: OwnerRule::NotOwner,
            addresses: None,
            strict_v2_list: false,
        };
        let meta = RxMeta {
            source: header.source,
            destination: header.destination,
            ttl: 255,
            received_at: None,
            checksum_verified: true,
        };
        let Ok(received) = validate(&policy, &meta, &octets) else {
            return Ok(());
        };
        let advert = Advert {
            version: received.version,
            vrid: received.vrid,
            priority: received.priority,
            interval: received.interval,
            password: None,
            addresses: received.addresses.iter().collect(),
            header,
            style: ChecksumStyle::PseudoHeader,
        };
        let written = advert.emit();
        let again = validate(&policy, &RxMeta { checksum_verified: false, ..meta }, &written).unwrap();
        prop_assert_eq!(again.priority, received.priority);
        prop_assert_eq!(again.interval, received.interval);
        prop_assert_eq!(again.addresses, received.addresses);
    }
}

fn priorities() -> impl DoubleEndedIterator<Item = Priority> {
    (1..=255).filter_map(Priority::new)
}

fn intervals(version: Version) -> impl Iterator<Item = AdvertInterval> {
    (1..=25_500)
        .filter_map(AdvertInterval::from_centis)
        .filter(move |interval| interval.fits(version))
}

/// Skew exists to let the best Backup claim first. Rounded to centiseconds it would be the same
/// for many priorities, and at one centisecond for all.
#[test]
fn a_higher_priority_always_claims_sooner() {
    for version in [Version::V2, Version::V3] {
        for interval in intervals(version) {
            // Strict between neighbours is strict between any two.
            let (mut skew, mut down) = (Duration::MAX, Duration::MAX);
            for priority in priorities() {
                let (before_skew, before_down) = (skew, down);
                skew = interval.skew(version, priority);
                down = interval.active_down(version, priority);
                assert!(skew < before_skew, "{version} {interval} {priority}");
                assert!(down < before_down, "{version} {interval} {priority}");
            }
            assert!(skew > Duration::ZERO, "{version} {interval}");
        }
    }
}

#[test]
fn times_are_the_formulas_of_the_rfc_to_the_nanosecond() {
    for version in [Version::V2, Version::V3] {
        for interval in intervals(version) {
            let nanos = u128::from(interval.centis()) * 10_000_000;
            assert_eq!(interval.duration().as_nanos(), nanos);
            let base = match version {
                Version::V2 => 1_000_000_000,
                Version::V3 => nanos,
            };
            for priority in priorities() {
                let skew = interval.skew(version, priority);
                // The floor, stated without dividing.
                let exact = u128::from(256 - u16::from(priority.value())) * base;
                let rounded = skew.as_nanos() * 256;
                assert!(rounded <= exact && exact < rounded + 256);
                assert_eq!(interval.active_down(version, priority), 3 * interval.duration() + skew);
            }
        }
    }
}

#[test]
fn intervals_are_exact_over_their_whole_domain() {
    for centis in 0..=u16::MAX {
        let duration = Duration::from_millis(u64::from(centis) * 10);
        let interval = AdvertInterval::from_centis(centis);
        assert_eq!(interval.is_some(), (1..=25_500).contains(&centis), "{centis}");
        assert_eq!(AdvertInterval::from_duration(duration), interval);
        let off = duration + Duration::from_nanos(1);
        assert_eq!(AdvertInterval::from_duration(off), None);

        let Some(interval) = interval else { continue };
        assert_eq!(interval.centis(), centis);
        assert_eq!(interval.duration(), duration);
        let seconds = centis / 100;
        let whole = u8::try_from(seconds).ok().filter(|_| seconds * 100 == centis);
        assert_eq!(interval.whole_seconds(), whole);
        assert_eq!(interval.fits(Version::V2), whole.is_some());
        assert_eq!(interval.fits(Version::V3), centis <= 4095);
    }
    for duration in [Duration::MAX, Duration::from_secs(256), Duration::from_secs(65_536)] {
        assert_eq!(AdvertInterval::from_duration(duration), None);
    }
}
