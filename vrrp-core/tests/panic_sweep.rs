//! No octets make validation panic, and none that were damaged are taken for valid.

#![allow(clippy::unwrap_used, reason = "also in the helpers of tests")]

mod golden_vectors;

use std::net::IpAddr;

use golden_vectors::{PROTO_AH, load};
use vrrp_core::receive::{
    AuthRule, ChecksumRule, DestinationRule, OwnerRule, ReceivePolicy, Received, RxMeta, validate,
};
use vrrp_core::wire::{AdvertHeader, AdvertPacket};
use vrrp_core::{AdvertInterval, Family, Password, Version, Vrid};

/// Reads all that can be read, so that a lazy accessor cannot hide a panic.
fn exhaust(received: &Received<'_>) {
    assert_eq!(received.addresses.iter().count(), received.addresses.len());
    assert!(!received.addresses.is_empty());
    let _ = format!("{received:?}");
    for warning in received.warnings.iter() {
        let _ = warning.to_string();
    }
}

/// Validates under every policy. Returns how many took the packet.
fn judge(meta: &RxMeta, payload: &[u8], policies: &[ReceivePolicy<'_>]) -> usize {
    let mut accepted = 0;
    for policy in policies {
        match validate(policy, meta, payload) {
            Ok(received) => {
                exhaust(&received);
                accepted += 1;
            }
            Err(discard) => {
                let _ = discard.to_string();
            }
        }
    }
    accepted
}

/// From the strictest to one that lets through nearly everything.
fn policies(vrid: Vrid, addresses: &[IpAddr]) -> Vec<ReceivePolicy<'_>> {
    let mut policies = Vec::new();
    for version in [Version::V2, Version::V3] {
        for (destination, checksum) in [
            (DestinationRule::Multicast, ChecksumRule::MessageOnly),
            (DestinationRule::Multicast, ChecksumRule::PseudoHeader),
            (DestinationRule::Unicast, ChecksumRule::Either),
        ] {
            for lenient in [false, true] {
                policies.push(ReceivePolicy {
                    version,
                    allow_v2_ipv6: lenient,
                    vrid,
                    interval: AdvertInterval::DEFAULT,
                    destination,
                    min_ttl: if lenient { 0 } else { 255 },
                    checksum,
                    auth: if lenient {
                        AuthRule::None
                    } else {
                        AuthRule::Pass(Password::new(b"password"))
                    },
                    allow_trailing: lenient,
                    require_first_link_local: !lenient,
                    require_link_local_source: !lenient,
                    sources: (!lenient).then_some(addresses),
                    own_source: (!lenient).then_some(IpAddr::from([192, 0, 2, 1])),
                    owner: if lenient { OwnerRule::Process } else { OwnerRule::Discard },
                    addresses: Some(addresses),
                    strict_v2_list: !lenient,
                });
            }
        }
    }
    policies
}

/// Every pair of addresses that reaches a different branch, mixed families included.
fn metas() -> Vec<RxMeta> {
    let addresses = ["192.0.2.2", "224.0.0.18", "fe80::2", "2001:db8::2", "ff02::12"]
        .map(|text| text.parse::<IpAddr>().unwrap());
    let mut metas = Vec::new();
    for source in addresses {
        for destination in addresses {
            metas.push(RxMeta {
                source,
                destination,
                ttl: 255,
                received_at: None,
                // Lets the fills below past the checksum where the family allows it.
                checksum_verified: true,
            });
        }
    }
    metas
}

#[test]
fn no_length_of_any_fill_panics() {
    let fills: [fn(usize) -> u8; 7] = [
        |_| 0x00,
        |_| 0xff,
        |at| at as u8,
        // Headers that announce 0, 1, 255 and as many addresses as there may be.
        |at| *[0x31, 7, 100, 1, 0, 100].get(at).unwrap_or(&0xfe),
        |at| *[0x31, 7, 100, 255, 0xff, 0xff].get(at).unwrap_or(&0),
        |at| *[0x21, 7, 255, 90, 1, 1].get(at).unwrap_or(&b'p'),
        |at| *[0x21, 7, 0, 0, 0, 1].get(at).unwrap_or(&0x55),
    ];
    let addresses = [IpAddr::from([192, 0, 2, 2])];
    let policies = policies(Vrid::new(7).unwrap(), &addresses);
    let metas = metas();
    let mut accepted = 0;
    for fill in fills {
        let octets: Vec<u8> = (0..1500).map(fill).collect();
        for len in 0..=octets.len() {
            for meta in &metas {
                accepted += judge(meta, &octets[..len], &policies);
            }
        }
    }
    // Had nothing come through, nothing behind the checksum would have been swept.
    assert!(accepted > 0);
}

#[test]
fn views_of_any_length_do_not_panic() {
    for len in 0..=1500 {
        for first in [0x00, 0x21, 0x31, 0xff] {
            for count in [0, 1, 89, 255] {
                let mut octets = vec![0xab; len];
                for (at, value) in [(0, first), (3, count)] {
                    if let Some(octet) = octets.get_mut(at) {
                        *octet = value;
                    }
                }
                for family in [Family::V4, Family::V6] {
                    let header = AdvertHeader::new(&octets);
                    assert_eq!(header.is_some(), len >= 8);
                    let fits = header.is_some_and(|header| header.message_len(family) <= len);
                    let packet = AdvertPacket::new(&octets, family);
                    assert_eq!(packet.is_some(), fits);
                    if let Some(packet) = packet {
                        let parts = packet.as_bytes().len() + packet.trailing().len();
                        assert_eq!(parts, len);
                        assert_eq!(packet.addresses().len(), usize::from(count));
                    }
                }
            }
        }
    }
}

/// One octet of a packet is changed, to every other value. A one's complement sum catches every
/// such change, save that between the two representations of zero.
#[test]
fn no_single_damaged_octet_is_accepted() {
    let golden = load();
    let (mut changed, mut crafted) = (0_u32, 0);
    for vector in golden.vectors.iter().filter(|v| v.proto != PROTO_AH) {
        let (meta, mut octets) = (vector.meta(), vector.octets());
        let vrid = Vrid::new(vector.config.vrid).unwrap();
        let addresses = vector.config.addresses.clone().unwrap_or_default();
        let mut policies = policies(vrid, &addresses);
        policies.push(vector.policy(vector.auth()));
        let len = octets.len();
        // The last of a list is like the first: of the longest packets only the ends are swept.
        for at in (0..len).filter(|&at| at < 100 || at + 32 > len) {
            let original = octets[at];
            for value in 0..=255 {
                octets[at] = value;
                let own = vector.policy(vector.auth());
                let result = validate(&own, &meta, &octets);
                if value != original && result.is_ok() {
                    assert!(
                        is_harmless(vector, at),
                        "{} {}: octet {at} changed from {original:#04x} to {value:#04x}",
                        vector.id,
                        vector.name
                    );
                }
                changed += 1;
            }
            // Every policy, for a few values only: the point is the branch, not the value. Once as
            // damaged, once as a sender would have made it.
            for value in [0x00, 0x01, 0x21, 0x31, 0x7f, 0xff] {
                octets[at] = value;
                judge(&meta, &octets, &policies);
                if let Some(repaired) = with_checksum(&octets) {
                    let meta = RxMeta { checksum_verified: true, ..meta };
                    crafted += judge(&meta, &repaired, &policies);
                }
            }
            octets[at] = original;
        }
    }
    assert!(changed > 500_000, "{changed}");
    assert!(crafted > 10_000, "{crafted}");
}

/// The octets with a checksum over all of them, which is right for IPv4 without a pseudo-header.
fn with_checksum(octets: &[u8]) -> Option<Vec<u8>> {
    let mut octets = octets.to_vec();
    octets.get_mut(6..8)?.fill(0);
    let words = octets.chunks(2).map(|word| {
        let low = word.get(1).copied().unwrap_or(0);
        u64::from(u16::from_be_bytes([word[0], low]))
    });
    let sum = words.sum::<u64>() % 0xffff;
    octets[6..8].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    Some(octets)
}

/// Changes that leave a packet valid, or that make one of a packet that was not.
fn is_harmless(vector: &golden_vectors::Vector, at: usize) -> bool {
    match &vector.expect.ok {
        // Octets beyond the message are outside the checksum.
        Some(fields) => {
            let trailing = fields.trailing_hex.as_deref().map_or(0, |hex| hex.len() / 2);
            at >= vector.length - trailing
        }
        // A fault in the checksum itself is undone by the right change; one that lies elsewhere
        // is not, since the checksum covers it.
        None => vector.expect.error.as_deref() == Some("bad_checksum"),
    }
}
