//! What a virtual router is told to be.
//!
//! A [`Config`] cannot exist in a combination that cannot run: [`ConfigBuilder::build`] refuses
//! it and names the setting, the value and what is allowed.

use alloc::sync::Arc;
use core::fmt;
use core::net::IpAddr;
use core::time::Duration;

use crate::{AddrsError, AdvertInterval, Family, Priority, UnicastPeers, VirtualAddrs, Vrid};

/// A protocol version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// RFC 3768: IPv4, whole-second intervals, optionally RFC 2338's clear-text password.
    V2,
    /// RFC 5798 and RFC 9568: IPv4 and IPv6, centisecond intervals.
    #[default]
    V3,
}

/// Who the other routers are and how they are reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One copy to the VRRP group, 224.0.0.18 or ff02::12.
    #[default]
    Multicast,
    /// One copy to each listed peer.
    Unicast(UnicastPeers),
    /// There is no other router: nothing is sent and nothing is accepted (single-node clusters,
    /// bootstrap, restoring etcd).
    Solo,
}

/// Whether a router with a higher priority takes over from a living Active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preempt {
    /// Never (Preempt_Mode false). An address owner preempts all the same.
    Never,
    /// Once a lower-priority Active has been heard for this long. Zero, the default: at once. The delay applies
    /// from every path into Backup, not only from startup.
    After(Duration),
}

impl Default for Preempt {
    fn default() -> Self {
        Self::After(Duration::ZERO)
    }
}

/// How the checksum of a v3 advertisement over IPv4 is computed on sending.
///
/// RFC 9568 section 5.2.8 sums the message only; deployed keepalived and FRR read RFC 5798 as
/// asking for a pseudo-header. On receipt either is accepted (in [`Profile::Compatible`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChecksumMode {
    /// Start with the pseudo-header, then follow the style of the last valid advertisement of
    /// another router.
    #[default]
    Auto,
    /// RFC 9568; Cisco, Juniper.
    MessageOnly,
    /// keepalived's and FRR's default.
    PseudoHeader,
}

/// How strictly the RFC's word is taken where deployed routers differ from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// What lives well with deployed routers. The default.
    #[default]
    Compatible,
    /// RFC 9568 as published.
    Rfc,
}

/// RFC 2338's clear-text password ("PASS"): a guard against misconfiguration, not against people.
///
/// Eight octets on the wire; a longer one is cut, as deployed peers do, and
/// [`Config::warnings`] says so. Never shown by `Debug`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Password {
    octets: [u8; 8],
    cut: bool,
}

impl Password {
    /// Takes the first eight octets, padded with zeros.
    pub fn new(password: &[u8]) -> Self {
        let mut octets = [0; 8];
        let used = password.len().min(octets.len());
        octets[..used].copy_from_slice(&password[..used]);
        Self { octets, cut: password.len() > octets.len() }
    }

    /// The octets as they stand on the wire.
    pub const fn octets(&self) -> &[u8; 8] {
        &self.octets
    }

    /// Whether octets beyond the eighth were cut off.
    pub const fn was_cut(&self) -> bool {
        self.cut
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

/// When gratuitous ARP or unsolicited neighbour advertisements are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnnounceSchedule {
    /// Announcements per address in the burst after a takeover and in its repetition. Default 5.
    pub burst: u8,
    /// The burst is repeated once after this time. Default 5 s; zero: not repeated.
    pub repeat_after: Duration,
    /// One announcement per address this often while Active. Default 60 s; zero: never.
    pub refresh: Duration,
}

impl Default for AnnounceSchedule {
    fn default() -> Self {
        Self { burst: 5, repeat_after: Duration::from_secs(5), refresh: Duration::from_secs(60) }
    }
}

/// What to do when the driver reports that the addresses could not be installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InstallFailure {
    /// Give up ownership and let another router serve; compete again after a back-off of 1 s that
    /// doubles to 60 s. The default: an Active without its address is a black hole.
    #[default]
    Resign,
    /// Stay Active and retry with the same back-off.
    Retry,
}

/// The settings of one virtual router. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Config(Arc<Settings>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Settings {
    vrid: Vrid,
    version: Version,
    addresses: VirtualAddrs,
    mode: Mode,
    priority: Priority,
    interval: AdvertInterval,
    preempt: Preempt,
    password: Option<Password>,
    checksum: ChecksumMode,
    profile: Profile,
    announce: AnnounceSchedule,
    install_failure: InstallFailure,
    max_peer_priority: Priority,
    allowed_sources: Option<UnicastPeers>,
    unicast_min_ttl: u8,
}

impl Config {
    /// The two settings without a default; everything else is set on the builder.
    pub fn builder(vrid: Vrid, addresses: VirtualAddrs) -> ConfigBuilder {
        ConfigBuilder(Settings {
            vrid,
            version: Version::default(),
            addresses,
            mode: Mode::default(),
            priority: Priority::default(),
            interval: AdvertInterval::default(),
            preempt: Preempt::default(),
            password: None,
            checksum: ChecksumMode::default(),
            profile: Profile::default(),
            announce: AnnounceSchedule::default(),
            install_failure: InstallFailure::default(),
            max_peer_priority: Priority::MAX_BACKUP,
            allowed_sources: None,
            unicast_min_ttl: 0,
        })
    }

    /// The virtual router identifier.
    pub fn vrid(&self) -> Vrid {
        self.0.vrid
    }

    /// The protocol version.
    pub fn version(&self) -> Version {
        self.0.version
    }

    /// The address family, that of the addresses.
    pub fn family(&self) -> Family {
        self.0.addresses.family()
    }

    /// The virtual addresses.
    pub fn addresses(&self) -> &VirtualAddrs {
        &self.0.addresses
    }

    /// Who the other routers are.
    pub fn mode(&self) -> &Mode {
        &self.0.mode
    }

    /// The base priority.
    pub fn priority(&self) -> Priority {
        self.0.priority
    }

    /// The interval at which this router advertises when Active.
    pub fn interval(&self) -> AdvertInterval {
        self.0.interval
    }

    /// Whether and when this router takes over from a living Active of lower priority.
    pub fn preempt(&self) -> Preempt {
        self.0.preempt
    }

    /// The v2 password, if any.
    pub fn password(&self) -> Option<&Password> {
        self.0.password.as_ref()
    }

    /// How v3/IPv4 checksums are sent.
    pub fn checksum(&self) -> ChecksumMode {
        self.0.checksum
    }

    /// How strictly the RFC is followed.
    pub fn profile(&self) -> Profile {
        self.0.profile
    }

    /// When announcements are repeated.
    pub fn announce(&self) -> AnnounceSchedule {
        self.0.announce
    }

    /// What a failed installation leads to.
    pub fn install_failure(&self) -> InstallFailure {
        self.0.install_failure
    }

    /// The highest priority that another router of the group may have.
    pub fn max_peer_priority(&self) -> Priority {
        self.0.max_peer_priority
    }

    /// The sources from which advertisements are accepted: the peers for unicast, else
    /// the configured allow-list. `None`: any.
    pub fn sources(&self) -> Option<&[IpAddr]> {
        match (&self.0.mode, &self.0.allowed_sources) {
            (Mode::Unicast(peers), _) => Some(peers),
            (_, Some(allowed)) => Some(allowed),
            _ => None,
        }
    }

    /// The lowest TTL or hop limit accepted from a unicast peer.
    pub fn unicast_min_ttl(&self) -> u8 {
        self.0.unicast_min_ttl
    }

    /// The size of the largest advertisement this configuration sends, without the IP header.
    pub fn message_len(&self) -> usize {
        let trailer = match self.0.version {
            Version::V2 => 8,
            Version::V3 => 0,
        };
        8 + self.0.addresses.len() * self.family().address_len() + trailer
    }

    /// What is legal but probably not meant.
    pub fn warnings(&self) -> impl Iterator<Item = ConfigWarning> + '_ {
        let settings = &*self.0;
        let first = settings.addresses[0];
        let not_link_local = settings.version == Version::V3
            && settings.mode == Mode::Multicast
            && matches!(first, IpAddr::V6(v6) if !v6.is_unicast_link_local());
        let count = settings.addresses.len();
        [
            not_link_local.then_some(ConfigWarning::FirstAddressNotLinkLocal { first }),
            settings.password.is_some_and(|p| p.was_cut()).then_some(ConfigWarning::PasswordCut),
            (count > 20).then_some(ConfigWarning::ManyAddresses { count }),
        ]
        .into_iter()
        .flatten()
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Builds a [`Config`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ConfigBuilder(Settings);

impl ConfigBuilder {
    /// Default v3.
    pub fn version(mut self, version: Version) -> Self {
        self.0.version = version;
        self
    }

    /// Default multicast.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.0.mode = mode;
        self
    }

    /// Default 100. 255 says that the addresses are real addresses of the interface.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.0.priority = priority;
        self
    }

    /// Default 1 s.
    pub fn interval(mut self, interval: AdvertInterval) -> Self {
        self.0.interval = interval;
        self
    }

    /// Default: preempt at once.
    pub fn preempt(mut self, preempt: Preempt) -> Self {
        self.0.preempt = preempt;
        self
    }

    /// Default none; v2 only.
    pub fn password(mut self, password: Option<Password>) -> Self {
        self.0.password = password;
        self
    }

    /// Default `Auto`; matters for v3 over IPv4 only.
    pub fn checksum(mut self, checksum: ChecksumMode) -> Self {
        self.0.checksum = checksum;
        self
    }

    /// Default `Compatible`.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.0.profile = profile;
        self
    }

    /// Default: bursts of 5, repeated after 5 s, refreshed every 60 s.
    pub fn announce(mut self, announce: AnnounceSchedule) -> Self {
        self.0.announce = announce;
        self
    }

    /// Default: resign.
    pub fn install_failure(mut self, policy: InstallFailure) -> Self {
        self.0.install_failure = policy;
        self
    }

    /// Default 254. A lower value, where it is true, lengthens the time after which a stalled
    /// Active must assume that another router has taken over.
    pub fn max_peer_priority(mut self, priority: Priority) -> Self {
        self.0.max_peer_priority = priority;
        self
    }

    /// Default: any source. Multicast only; a unicast router accepts its peers alone.
    pub fn allowed_sources(mut self, sources: Option<UnicastPeers>) -> Self {
        self.0.allowed_sources = sources;
        self
    }

    /// Default 0, no check: unicast peers may be routers away. 255 where all are on the link.
    pub fn unicast_min_ttl(mut self, ttl: u8) -> Self {
        self.0.unicast_min_ttl = ttl;
        self
    }

    /// # Errors
    /// Refuses a combination that cannot run.
    pub fn build(self) -> Result<Config, ConfigError> {
        let settings = self.0;
        let family = settings.addresses.family();
        let (version, interval) = (settings.version, settings.interval);
        if version == Version::V2 && family == Family::V6 {
            return Err(ConfigError::VersionFamily);
        }
        if !interval.fits(version) {
            return Err(ConfigError::Interval { interval, version });
        }
        if version == Version::V3 && settings.password.is_some() {
            return Err(ConfigError::PasswordVersion);
        }
        let lists = [
            ("peers", if let Mode::Unicast(peers) = &settings.mode { Some(peers) } else { None }),
            ("allowed_sources", settings.allowed_sources.as_ref()),
        ];
        for (setting, list) in lists {
            let Some(list) = list else { continue };
            if list.family() != family {
                return Err(ConfigError::ListFamily { setting, first: list[0], family });
            }
            if let Some(&address) = list.iter().find(|a| settings.addresses.contains(a)) {
                return Err(ConfigError::ListHoldsVip { setting, address });
            }
        }
        if settings.allowed_sources.is_some() && settings.mode != Mode::Multicast {
            return Err(ConfigError::SourcesWithoutMulticast);
        }
        if settings.profile == Profile::Rfc
            && settings.mode == Mode::Multicast
            && matches!(settings.addresses[0], IpAddr::V6(v6) if !v6.is_unicast_link_local())
        {
            return Err(ConfigError::FirstAddress { first: settings.addresses[0] });
        }
        Ok(Config(Arc::new(settings)))
    }
}

/// Why a configuration was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// `addresses` or `peers`.
    #[error("{setting}: {error}")]
    Addresses {
        /// The setting.
        setting: &'static str,
        /// What is wrong with the list.
        error: AddrsError,
    },
    /// v2 exists for IPv4 only (RFC 3768).
    #[error("version: 2 is for IPv4 only, and the addresses are IPv6; use version 3")]
    VersionFamily,
    /// The version cannot carry this interval.
    #[error(
        "advert_interval: {interval} does not fit version {version}; allowed: {}",
        match version { Version::V2 => "whole seconds, 1s to 255s", Version::V3 => "10ms to 40.95s in steps of 10ms" }
    )]
    Interval {
        /// The configured value.
        interval: AdvertInterval,
        /// The configured version.
        version: Version,
    },
    /// v3 has no authentication (RFC 9568 section 9).
    #[error("auth: only version 2 has a password; remove it or use version 2")]
    PasswordVersion,
    /// A list of routers in the wrong family.
    #[error("{setting}: {first} is not {family}, the family of the addresses")]
    ListFamily {
        /// The setting.
        setting: &'static str,
        /// The first address of the list.
        first: IpAddr,
        /// The family of the virtual addresses.
        family: Family,
    },
    /// A VIP named as a router.
    #[error("{setting}: {address} is one of the virtual addresses; routers are named by their own")]
    ListHoldsVip {
        /// The setting.
        setting: &'static str,
        /// The address in both lists.
        address: IpAddr,
    },
    /// An allow-list beside a peer list would be two answers to one question.
    #[error("allowed_sources: for multicast only; a unicast router accepts its peers alone")]
    SourcesWithoutMulticast,
    /// RFC 9568 section 5.2.9 and erratum 8300, in [`Profile::Rfc`].
    #[error("addresses: the first must be link-local in profile rfc, and {first} is not")]
    FirstAddress {
        /// The first address.
        first: IpAddr,
    },
}

/// What is legal but probably not meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigWarning {
    /// RFC 9568 section 5.2.9 asks for a link-local first address; strict receivers discard.
    #[error("addresses: {first} is not link-local; a strict IPv6 router discards such adverts")]
    FirstAddressNotLinkLocal {
        /// The first address.
        first: IpAddr,
    },
    /// A password longer than the format carries.
    #[error("auth: only the first 8 bytes of the password are used")]
    PasswordCut,
    /// Many stacks take 20 addresses at most.
    #[error("addresses: {count} in one router; some routers refuse more than 20")]
    ManyAddresses {
        /// How many.
        count: usize,
    },
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V2 => "2",
            Self::V3 => "3",
        })
    }
}
