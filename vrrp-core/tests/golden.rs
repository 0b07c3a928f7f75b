//! Packets of keepalived and FRR, and of every kind of fault, are read, judged and written as the
//! golden file says.

#![allow(clippy::unwrap_used, reason = "also in the helpers of tests")]

mod golden_vectors;

use std::collections::BTreeSet;

use golden_vectors::{Fields, PROTO_AH, Vector, load, unhex, version};
use vrrp_core::receive::{AuthRule, Discard, Received, Warning, validate};
use vrrp_core::wire::{AdvertPacket, AdvertRepr, ChecksumStyle};
use vrrp_core::{AdvertInterval, Family, Password, Priority, Version, Vrid};

#[test]
fn every_packet_is_judged_as_stated() {
    let golden = load();
    let (mut accepted, mut discarded, mut unsupported) = (0, 0, 0);
    for vector in &golden.vectors {
        if vector.proto == PROTO_AH {
            assert_refused_as_unsupported(vector);
            unsupported += 1;
            continue;
        }
        let octets = vector.octets();
        let result = validate(&vector.policy(vector.auth()), &vector.meta(), &octets);
        match (&vector.expect.ok, &vector.expect.error, result) {
            (Some(fields), None, Ok(received)) => {
                assert_received(vector, fields, &received);
                assert_view(vector, fields, &octets);
                accepted += 1;
            }
            (None, Some(error), Err(discard)) => {
                assert_eq!(discard.name(), error, "{} {}", vector.id, vector.name);
                discarded += 1;
            }
            (ok, error, result) => {
                panic!("{} {}: expected {ok:?} {error:?}, got {result:?}", vector.id, vector.name)
            }
        }
    }
    assert_eq!((accepted, discarded, unsupported), (41, 55, 4));
    assert_eq!(golden.vectors.len(), 100);
}

/// keepalived's authentication header: a receiver of either kind reads a version that it does not
/// have, and goes no further.
fn assert_refused_as_unsupported(vector: &Vector) {
    let password = Password::new(&unhex(&vector.config.auth.key_hex));
    for auth in [AuthRule::None, AuthRule::Pass(password)] {
        assert_eq!(
            validate(&vector.policy(auth), &vector.meta(), &vector.octets()),
            Err(Discard::BadVersion { found: 7, expected: Version::V2 }),
            "{} {}",
            vector.id,
            vector.name
        );
    }
}

fn assert_received(vector: &Vector, fields: &Fields, received: &Received<'_>) {
    let what = format!("{} {}", vector.id, vector.name);
    assert_eq!(received.version, version(fields.version), "{what}");
    assert_eq!(received.vrid.value(), fields.vrid, "{what}");
    let priority = received.priority.map_or(0, Priority::value);
    assert_eq!(priority, fields.priority, "{what}");
    assert_eq!(received.interval.centis(), fields.interval_cs, "{what}");
    assert!(received.addresses.iter().eq(fields.addresses.iter().copied()), "{what}");
    assert_eq!(received.addresses.len(), usize::from(fields.count), "{what}");

    let has_choice = received.version == Version::V3 && vector.src.is_ipv4();
    let style = match &*fields.checksum_mode {
        _ if !has_choice => None,
        "both" => None,
        "message_only" => Some(ChecksumStyle::MessageOnly),
        "pseudo_header" => Some(ChecksumStyle::PseudoHeader),
        other => panic!("{what}: checksum mode {other}"),
    };
    assert_eq!(received.checksum_style, style, "{what}");

    let warnings: BTreeSet<_> = received.warnings.iter().map(Warning::name).collect();
    let expected: BTreeSet<_> = vector.expect.warnings.iter().map(|w| &**w).collect();
    assert_eq!(warnings, expected, "{what}");
}

/// The fields that a router has no use for, but a dump has.
fn assert_view(vector: &Vector, fields: &Fields, octets: &[u8]) {
    let what = format!("{} {}", vector.id, vector.name);
    let family = Family::of(vector.src);
    assert_eq!(family.to_string().to_lowercase(), vector.family, "{what}");
    let packet = AdvertPacket::new(octets, family).unwrap();
    let header = packet.header();
    assert_eq!(header.version(), fields.version, "{what}");
    assert_eq!(header.message_type(), fields.message_type, "{what}");
    assert_eq!(header.count(), fields.count, "{what}");
    assert_eq!(header.checksum(), fields.checksum, "{what}");
    if fields.version == 3 {
        assert_eq!(Some(header.v3_reserved()), fields.reserved, "{what}");
        assert_eq!(header.v3_interval_centis(), fields.interval_cs, "{what}");
    } else {
        assert_eq!(Some(header.v2_auth_type()), fields.auth_type, "{what}");
        assert_eq!(Some(header.v2_interval_secs()), fields.interval_s, "{what}");
    }
    let auth_data = fields.auth_data_hex.as_deref().map(unhex);
    assert_eq!(packet.v2_auth_data().map(|a| a.to_vec()), auth_data, "{what}");
    let trailing = fields.trailing_hex.as_deref().map(unhex).unwrap_or_default();
    assert_eq!(packet.trailing(), trailing, "{what}");

    let (plain, pseudo) = match &*fields.checksum_mode {
        "both" => (true, true),
        "message_only" => (true, false),
        _ => (false, true),
    };
    assert_eq!(packet.is_intact(), plain, "{what}");
    assert_eq!(packet.is_intact_under(&vector.pseudo_header()), pseudo, "{what}");
}

#[test]
fn every_valid_packet_is_written_as_it_was_read() {
    // What a receiver takes and a sender never makes.
    let not_ours =
        ["v3-ipv4-checksum-ffff-for-zero", "v3-ipv4-reserved-nibble", "v2-type0-auth-data-nonzero"];
    let golden = load();
    let (mut written, mut of_daemons) = (0, 0);
    for vector in golden.vectors.iter().filter(|v| v.proto != PROTO_AH) {
        let Some(fields) = &vector.expect.ok else {
            continue;
        };
        if not_ours.contains(&&*vector.name) {
            assert!(!vector.rebuilds_from_fields);
            continue;
        }
        let styles: &[ChecksumStyle] = match &*fields.checksum_mode {
            "both" => &[ChecksumStyle::MessageOnly, ChecksumStyle::PseudoHeader],
            "message_only" => &[ChecksumStyle::MessageOnly],
            _ => &[ChecksumStyle::PseudoHeader],
        };
        let octets = vector.octets();
        let trailing = fields.trailing_hex.as_deref().map_or(0, |hex| hex.len() / 2);
        for &style in styles {
            assert_eq!(
                emit(vector, fields, style),
                octets[..octets.len() - trailing],
                "{} {}",
                vector.id,
                vector.name
            );
        }
        written += 1;
        of_daemons += usize::from(vector.rebuilds_from_fields);
    }
    assert_eq!((written, of_daemons), (38, 17));
}

fn emit(vector: &Vector, fields: &Fields, style: ChecksumStyle) -> Vec<u8> {
    let password = (fields.auth_type == Some(1))
        .then(|| Password::new(&unhex(fields.auth_data_hex.as_deref().unwrap())));
    let advert = AdvertRepr {
        version: version(fields.version),
        vrid: Vrid::new(fields.vrid).unwrap(),
        priority: Priority::new(fields.priority),
        interval: AdvertInterval::from_centis(fields.interval_cs).unwrap(),
        password: password.as_ref(),
        addresses: &fields.addresses,
    };
    let mut buffer = vec![0xaa; 5000];
    let len = advert.emit(vector.pseudo_header(), style, &mut buffer).unwrap();
    assert_eq!(len, advert.message_len());
    buffer.truncate(len);
    buffer
}

#[test]
fn timers_are_as_stated() {
    let golden = load();
    for vector in &golden.timer_vectors {
        let version = version(vector.version);
        let priority = Priority::new(vector.local_priority).unwrap();
        let interval = AdvertInterval::from_centis(vector.active_interval_cs).unwrap();
        let skew = interval.skew(version, priority);
        assert_eq!(skew.as_micros(), vector.skew_us, "{vector:?}");
        let down = interval.active_down(version, priority);
        assert_eq!(down.as_micros(), vector.down_us, "{vector:?}");
        assert_eq!(skew.as_millis() / 10, vector.skew_cs_truncated, "{vector:?}");
    }
    assert_eq!(golden.timer_vectors.len(), 13);
}
