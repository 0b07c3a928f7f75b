//! One packet for every reason to discard one, with the configuration that discards it.

use super::*;
use vrrp_core::{Password, Profile, Version};

/// A router's settings and a packet that it must discard.
pub struct Bad {
    pub discard: &'static str,
    pub config: Config,
    pub meta: RxMeta,
    pub message: Vec<u8>,
}

/// At least one for every kind of [`Discard`].
pub fn bad_packets() -> Vec<Bad> {
    let v3 = || config().build().unwrap();
    let v2 = || config().version(Version::V2).build().unwrap();
    let near = || {
        let mode = unicast(&["192.0.2.2", "192.0.2.3"]);
        config().mode(mode).unicast_min_ttl(255).build().unwrap()
    };
    let v6 = |profile| {
        let vips = VirtualAddrs::new(&[ip("fe80::10"), ip("2001:db8::10")]).unwrap();
        Config::builder(Vrid::new(51).unwrap(), vips).profile(profile).build().unwrap()
    };
    let pass = |word: &[u8]| {
        let password = Some(Password::new(word));
        config().version(Version::V2).password(password).build().unwrap()
    };
    let rfc = || config().profile(Profile::Rfc);
    let owner = rfc().priority(Priority::OWNER).build().unwrap();
    let strict_v2 = rfc().version(Version::V2).build().unwrap();
    let slow_v2 = AdvertInterval::from_centis(200).unwrap();
    vec![
        bad("truncated", v3(), |_, m| m.truncate(7)),
        bad("truncated", v3(), |_, m| m.truncate(11)),
        bad("truncated", v2(), |_, m| m.truncate(19)),
        bad("ttl_not_255", v3(), |meta, _| meta.ttl = 254),
        bad("ttl_out_of_range", near(), |meta, _| meta.ttl = 254),
        bad("bad_version", v3(), |_, m| edit(m, 0, 0x21)),
        bad("bad_version", v2(), |_, m| edit(m, 0, 0x31)),
        bad("bad_type", v3(), |_, m| edit(m, 0, 0x32)),
        bad("count_zero", v3(), |_, m| edit(m, 3, 0)),
        bad("length_mismatch", v3(), |_, m| m.push(0)),
        bad("bad_checksum", v3(), |_, m| m[6] ^= 1),
        bad("bad_checksum", v2(), |_, m| m[2] ^= 1),
        bad("vrid_zero", v3(), |_, m| edit(m, 1, 0)),
        bad("vrid_unknown", v3(), |_, m| edit(m, 1, 52)),
        bad("bad_destination", v3(), |meta, m| {
            meta.destination = OWN;
            edit(m, 0, 0x31);
        }),
        bad("bad_destination", near(), |meta, m| {
            meta.destination = IpAddr::V4(GROUP_V4);
            edit(m, 0, 0x31);
        }),
        bad("bad_source", v6(Profile::Compatible), |meta, _| meta.source = ip("2001:db8::2")),
        bad("unknown_peer", near(), |meta, m| {
            meta.source = ip("192.0.2.9");
            edit(m, 0, 0x31);
        }),
        bad("own_packet", v3(), |meta, m| {
            meta.source = OWN;
            edit(m, 0, 0x31);
        }),
        bad("owner_received", owner, |_, m| edit(m, 0, 0x31)),
        bad("auth_type_invalid", v2(), |_, m| edit(m, 4, 3)),
        bad("auth_mismatch", v2(), |_, m| edit(m, 4, 1)),
        bad("auth_mismatch", pass(b"secret"), |_, m| edit(m, 4, 0)),
        bad("auth_failure", pass(b"secret"), |_, m| edit(m, 12, b'S')),
        bad("interval_zero", v3(), |_, m| {
            m[4] = 0;
            edit(m, 5, 0);
        }),
        bad("interval_zero", v2(), |_, m| edit(m, 5, 0)),
        bad("interval_mismatch", v2(), move |_, m| edit(m, 5, slow_v2.whole_seconds().unwrap())),
        bad("first_address_not_link_local", v6(Profile::Rfc), |_, m| m[8] = 0x20),
        bad("address_list_mismatch", strict_v2, |_, m| edit(m, 11, 77)),
    ]
}

/// What a better router would send, with one thing wrong about it.
fn bad(
    discard: &'static str,
    config: Config,
    spoil: impl FnOnce(&mut RxMeta, &mut Vec<u8>),
) -> Bad {
    let source = match config.family() {
        Family::V4 => ip("192.0.2.2"),
        Family::V6 => ip("fe80::2"),
    };
    let (mut meta, mut message) = advert_from(&config, source, 254, config.interval());
    // The sums over an IPv6 pseudo-header are the kernel's work here.
    meta.checksum_verified = config.family() == Family::V6;
    spoil(&mut meta, &mut message);
    Bad { discard, config, meta, message }
}

/// Changes an octet and makes the checksum right again (the message alone, which v2 requires and
/// v3 over IPv4 accepts).
pub fn edit(message: &mut [u8], at: usize, value: u8) {
    message[at] = value;
    message[6..8].fill(0);
    let mut sum: u32 = message
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    message[6..8].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}
