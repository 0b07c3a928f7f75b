//! Reads `data/vectors.json`; see the README beside it.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::net::IpAddr;

use serde::Deserialize;
use vrrp_core::receive::{
    AuthRule, ChecksumRule, DestinationRule, OwnerRule, ReceivePolicy, RxMeta,
};
use vrrp_core::wire::PseudoHeader;
use vrrp_core::{AdvertInterval, Password, Version, Vrid};

/// The IP protocol of the authentication header, which this crate does not speak.
pub(crate) const PROTO_AH: u8 = 51;

#[derive(Debug, Deserialize)]
pub(crate) struct Golden {
    pub(crate) vectors: Vec<Vector>,
    pub(crate) timer_vectors: Vec<TimerVector>,
}

pub(crate) fn load() -> Golden {
    serde_json::from_str(include_str!("../data/vectors.json")).unwrap()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vector {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: u8,
    pub(crate) family: String,
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    pub(crate) ttl: u8,
    pub(crate) proto: u8,
    pub(crate) ip_id: Option<u16>,
    pub(crate) config: Receiver,
    pub(crate) length: usize,
    pub(crate) hex: String,
    pub(crate) expect: Expect,
    pub(crate) captured: bool,
    pub(crate) captured_from: Option<String>,
    #[serde(default)]
    pub(crate) rebuilds_from_fields: bool,
    pub(crate) notes: String,
}

/// The receiver's settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Receiver {
    pub(crate) version: u8,
    pub(crate) vrid: u8,
    pub(crate) interval_cs: u16,
    pub(crate) mode: String,
    pub checksum_v3_ipv4: String,
    pub(crate) auth: Auth,
    pub(crate) require_first_link_local: bool,
    pub(crate) allow_trailing: bool,
    pub allow_v2_ipv6: bool,
    pub(crate) min_ttl: u8,
    pub(crate) peers: Vec<IpAddr>,
    pub(crate) addresses: Option<Vec<IpAddr>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Auth {
    #[serde(rename = "type")]
    pub(crate) kind: u8,
    pub(crate) key_hex: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    pub(crate) ok: Option<Fields>,
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
    pub(crate) error: Option<String>,
}

/// The fields of a valid message. A name that is not here fails the parse, so that nothing
/// expected goes uncompared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fields {
    pub(crate) version: u8,
    #[serde(rename = "type")]
    pub(crate) message_type: u8,
    pub(crate) vrid: u8,
    pub(crate) priority: u8,
    pub(crate) count: u8,
    pub(crate) checksum: u16,
    pub(crate) checksum_mode: String,
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) interval_cs: u16,
    pub(crate) reserved: Option<u8>,
    pub(crate) auth_type: Option<u8>,
    pub(crate) interval_s: Option<u8>,
    pub(crate) auth_data_hex: Option<String>,
    pub(crate) trailing_hex: Option<String>,
    pub(crate) ah_spi_hex: Option<String>,
    pub(crate) ah_sequence: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimerVector {
    pub(crate) version: u8,
    pub(crate) local_priority: u8,
    pub(crate) active_interval_cs: u16,
    pub(crate) skew_us: u128,
    pub(crate) down_us: u128,
    pub(crate) skew_cs_truncated: u128,
}

impl Vector {
    pub(crate) fn octets(&self) -> Vec<u8> {
        let octets = unhex(&self.hex);
        assert_eq!(octets.len(), self.length, "{}", self.id);
        octets
    }

    pub(crate) fn meta(&self) -> RxMeta {
        RxMeta {
            source: self.src,
            destination: self.dst,
            ttl: self.ttl,
            received_at: None,
            checksum_verified: false,
        }
    }

    pub(crate) fn pseudo_header(&self) -> PseudoHeader {
        PseudoHeader { source: self.src, destination: self.dst }
    }

    /// The authentication that the receiver requires. The authentication header is none that a
    /// policy could name.
    pub(crate) fn auth(&self) -> AuthRule {
        let auth = &self.config.auth;
        match auth.kind {
            0 => AuthRule::None,
            1 => AuthRule::Pass(Password::new(&unhex(&auth.key_hex))),
            other => panic!("{}: authentication type {other}", self.id),
        }
    }

    /// The receiver of this packet.
    pub(crate) fn policy(&self, auth: AuthRule) -> ReceivePolicy<'_> {
        let config = &self.config;
        ReceivePolicy {
            version: version(config.version),
            allow_v2_ipv6: config.allow_v2_ipv6,
            vrid: Vrid::new(config.vrid).unwrap(),
            interval: AdvertInterval::from_centis(config.interval_cs).unwrap(),
            destination: match &*config.mode {
                "multicast" => DestinationRule::Multicast,
                "unicast" => DestinationRule::Unicast,
                other => panic!("mode {other}"),
            },
            min_ttl: config.min_ttl,
            checksum: match &*config.checksum_v3_ipv4 {
                "message_only" => ChecksumRule::MessageOnly,
                "pseudo_header" => ChecksumRule::PseudoHeader,
                "either" => ChecksumRule::Either,
                other => panic!("checksum {other}"),
            },
            auth,
            allow_trailing: config.allow_trailing,
            require_first_link_local: config.require_first_link_local,
            require_link_local_source: true,
            sources: (!config.peers.is_empty()).then_some(&*config.peers),
            own_source: None,
            owner: OwnerRule::NotOwner,
            addresses: config.addresses.as_deref(),
            strict_v2_list: true,
        }
    }
}

pub(crate) fn version(number: u8) -> Version {
    match number {
        2 => Version::V2,
        3 => Version::V3,
        other => panic!("version {other}"),
    }
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    assert_eq!(text.len() % 2, 0);
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}
