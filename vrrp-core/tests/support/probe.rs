//! One packet and the router that judges it, for rows of the conformance digest.

use super::bad_packets::edit;
use super::*;

/// A valid advertisement of priority 254 from another router, to be changed and judged.
#[derive(Clone)]
pub struct Probe {
    pub config: Config,
    pub meta: RxMeta,
    pub message: Vec<u8>,
}

impl Probe {
    /// As a router with these settings would send it, but for a checksum of the message alone
    /// (over IPv6 the kernel vouches for it).
    pub fn new(builder: ConfigBuilder) -> Self {
        let config = builder.build().unwrap();
        let source = match config.family() {
            Family::V4 => ip("192.0.2.2"),
            Family::V6 => ip("fe80::2"),
        };
        let (mut meta, mut message) = advert_from(&config, source, 254, config.interval());
        meta.checksum_verified = config.family() == Family::V6;
        let version = message[0];
        edit(&mut message, 0, version);
        Self { config, meta, message }
    }

    /// Changes one octet, and keeps the checksum right.
    pub fn set(mut self, at: usize, value: u8) -> Self {
        edit(&mut self.message, at, value);
        self
    }

    /// Changes one octet and nothing else.
    pub fn damage(mut self, at: usize, value: u8) -> Self {
        self.message[at] = value;
        self
    }

    pub fn from(mut self, source: &str) -> Self {
        self.meta.source = ip(source);
        self
    }

    pub fn to(mut self, destination: &str) -> Self {
        self.meta.destination = ip(destination);
        self
    }

    pub fn ttl(mut self, ttl: u8) -> Self {
        self.meta.ttl = ttl;
        self
    }

    /// What a Backup (or an owner, which is Active) makes of it.
    pub fn judge(&self) -> Result<Accepted, &'static str> {
        let mut bench = Bench::started(self.config.clone());
        bench.packet(&self.meta, &self.message).map_err(Discard::name)
    }

    /// Judged valid, whatever follows from it.
    #[track_caller]
    pub fn accepted(&self) -> Accepted {
        self.judge().unwrap()
    }

    #[track_caller]
    pub fn discarded(&self, name: &str) {
        assert_eq!(self.judge().map(|accepted| accepted.outcome), Err(name));
    }
}

/// A router over IPv6 with these VIPs.
pub fn config6(addresses: &[&str]) -> ConfigBuilder {
    let list: Vec<IpAddr> = addresses.iter().map(|a| ip(a)).collect();
    Config::builder(Vrid::new(51).unwrap(), VirtualAddrs::new(&list).unwrap())
}

/// The message that a router on a bench sends to one destination.
pub fn message(bench: &Bench, destination: IpAddr, value: u8) -> Vec<u8> {
    let config = bench.router.config();
    let (audience, interval) = (Audience::All, config.interval());
    let spec = AdvertSpec { audience, priority: Priority::new(value), interval };
    let mut wire = vec![0; config.message_len()];
    let length = bench.router.encode_advert(&spec, destination, &mut wire).unwrap();
    wire.truncate(length);
    wire
}
