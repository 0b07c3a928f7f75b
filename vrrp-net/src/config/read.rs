//! From a [`Value`] to a [`NodeConfig`], collecting every mistake on the way.
//!
//! The core is the only judge of the protocol's combinations. A setting that was refused is put to
//! its default and the judging goes on, so that one run reports what is wrong with the rest.

use std::collections::HashSet;
use std::net::IpAddr;
use std::time::Duration;

use vrrp_core::{
    AddrsError, AdvertInterval, ChecksumMode, Config, ConfigBuilder, Mode, Password, Preempt,
    Priority, UnicastPeers, Version, VirtualAddrs, Vrid,
};

use super::conflicts::{Outline, conflicts};
use super::error::{ConfigError, ConfigErrors, Path, Problem};
use super::schema::allowed::{self, Number};
use super::schema::{self, Keys};
use super::{InterfaceName, Label, NodeConfig, RouterConfig, RouterName, Value, Vip, duration};

pub(super) fn node(root: &Value) -> Result<NodeConfig, ConfigErrors> {
    let mut reader = Reader::default();
    let mut routers = Vec::new();
    let mut outlines = Vec::new();

    if let Ok(section) = reader.section(root, Path::default(), &schema::NODE)
        && let Ok(Some(entries)) = reader.optional(&section, "router", list_of_tables)
    {
        for (index, entry) in entries.iter().enumerate() {
            let mut outline = Outline::default();
            // A refusal is among the errors already.
            routers.extend(reader.router(entry, Path::router(index), &mut outline));
            outlines.push(outline);
        }
    }
    reader.errors.extend(conflicts(&outlines));
    for error in &mut reader.errors {
        error.quote(root);
    }
    ConfigErrors::or(reader.errors, Some(NodeConfig { routers: routers.into() }))
}

/// The setting was refused, and the error is noted.
#[derive(Clone, Copy, Debug)]
struct Refused;

type Read<T> = Result<T, Refused>;

/// A table whose keys are known.
struct Section<'v> {
    path: Path,
    value: &'v Value,
}

struct Unicast {
    mode: Mode,
    source: Option<IpAddr>,
}

#[derive(Default)]
struct Reader {
    errors: Vec<ConfigError>,
}

impl Reader {
    fn router(&mut self, value: &Value, path: Path, outline: &mut Outline) -> Read<RouterConfig> {
        let errors_before = self.errors.len();
        let section = self.section(value, path, &schema::ROUTER)?;

        let name = self.required(&section, "name", RouterName::ALLOWED, |value| {
            Ok(RouterName::new(text(value, RouterName::ALLOWED)?)?)
        });
        let interface = self.required(&section, "interface", InterfaceName::ALLOWED, |value| {
            Ok(InterfaceName::new(text(value, InterfaceName::ALLOWED)?)?)
        });
        let vrid = self.required(&section, "vrid", allowed::VRID.range, |value| {
            Vrid::new(byte(value, allowed::VRID)?).ok_or(refuse(allowed::VRID.range))
        });
        let version = self.optional(&section, "version", version);
        let priority = self.optional(&section, "priority", |value| {
            Priority::new(byte(value, allowed::PRIORITY)?).ok_or(refuse(allowed::PRIORITY.range))
        });
        let interval = self.optional(&section, "advert_interval", |value| {
            interval(value, version.unwrap_or_default())
        });
        let preempt = self.preempt(&section);
        let checksum = self.optional(&section, "checksum", checksum);
        let label =
            self.optional(&section, "label", |value| Ok(Label::new(text(value, Label::ALLOWED)?)?));
        let password = self.password(&section);
        let vips = self.vips(&section, outline);
        let unicast = self.unicast(&section, outline);

        outline.name = name.clone().ok();
        outline.interface = interface.clone().ok();
        outline.vrid = vrid.ok();

        let vips = vips?;
        let addresses: Vec<_> = vips.iter().map(|vip| vip.address()).collect();
        let addresses = VirtualAddrs::new(&addresses).map_err(|error| {
            self.refuse(section.path.key("addresses"), error);
            Refused
        })?;
        let mode = unicast.as_ref().map(|unicast| unicast.mode.clone());
        // Any will do for judging the rest; an error has been noted.
        let any_vrid = Vrid::new(1).ok_or(Refused);
        let builder = Config::builder(vrid.or(any_vrid)?, addresses)
            .version(version?.unwrap_or_default())
            .priority(or_default(priority))
            .interval(or_default(interval))
            .preempt(preempt.unwrap_or_default())
            .checksum(or_default(checksum))
            .password(password.unwrap_or_default())
            .mode(mode.unwrap_or_default());
        let core = self.core(&section, builder)?;

        let mut router = RouterConfig::builder(name?, interface?, core)
            .label(label.unwrap_or_default())
            .source(unicast.ok().and_then(|unicast| unicast.source));
        for vip in vips {
            router = router.prefix(vip);
        }
        match router.build() {
            Ok(router) if self.errors.len() == errors_before => Ok(router),
            Ok(_) => Err(Refused),
            Err(errors) => {
                let moved = errors.into_iter().map(|error| error.under(&section.path));
                self.errors.extend(moved);
                Err(Refused)
            }
        }
    }

    /// Asks the core. What it refuses goes to its default, and the core is asked again.
    fn core(&mut self, section: &Section<'_>, mut builder: ConfigBuilder) -> Read<Config> {
        use vrrp_core::ConfigError as Core;

        let path = &section.path;
        let mut refused = false;
        loop {
            let error = match builder.clone().build() {
                Ok(config) if !refused => return Ok(config),
                Ok(_) => return Err(Refused),
                Err(error) => error,
            };
            refused = true;
            match error {
                Core::Interval { version, .. } => {
                    self.refuse(path.key("advert_interval"), refuse(schema::interval(version)));
                    builder = builder.interval(AdvertInterval::DEFAULT);
                }
                Core::PasswordVersion => {
                    self.refuse(path.key("auth"), Problem::AuthVersion);
                    builder = builder.password(None);
                }
                Core::ListFamily { first, family, .. } => {
                    self.refuse(peer(section, first), Problem::Family { family });
                    builder = builder.mode(Mode::Multicast);
                }
                Core::ListHoldsVip { address, .. } => {
                    self.refuse(peer(section, address), Problem::OwnVip);
                    builder = builder.mode(Mode::Multicast);
                }
                Core::VersionFamily => {
                    self.refuse(path.key("version"), Problem::VersionFamily);
                    return Err(Refused);
                }
                other => {
                    self.refuse(path.clone(), Problem::Core(other));
                    return Err(Refused);
                }
            }
        }
    }

    fn preempt(&mut self, section: &Section<'_>) -> Read<Preempt> {
        let preempt = self.optional(section, "preempt", boolean);
        let delay = self.optional(section, "preempt_delay", preempt_delay);
        match (preempt?, delay?) {
            (Some(false), Some(_)) => {
                let path = section.path.key("preempt_delay");
                Err(self.refuse(path, Problem::DelayWithoutPreempt))
            }
            (Some(false), None) => Ok(Preempt::Never),
            (_, delay) => Ok(Preempt::After(delay.unwrap_or_default())),
        }
    }

    fn password(&mut self, section: &Section<'_>) -> Read<Option<Password>> {
        let Some(value) = section.value.key("auth") else {
            return Ok(None);
        };
        let auth = self.section(value, section.path.key("auth"), &schema::AUTH)?;
        self.required(&auth, "pass", allowed::PASS, |value| match text(value, allowed::PASS)? {
            "" => Err(refuse(allowed::PASS)),
            pass => Ok(Some(Password::new(pass.as_bytes()))),
        })
    }

    fn vips(&mut self, section: &Section<'_>, outline: &mut Outline) -> Read<Vec<Vip>> {
        let path = section.path.key("addresses");
        let Some(value) = section.value.key("addresses") else {
            return Err(self.refuse(path, Problem::Missing { allowed: allowed::ADDRESSES }));
        };
        let (vips, read) = self.list(
            value,
            &path,
            allowed::ADDRESSES,
            |text| Ok(text.parse::<Vip>()?),
            |list| VirtualAddrs::new(list).map(drop),
        );
        outline.addresses = vips.iter().map(|&(at, vip)| (at, vip.address())).collect();
        read.map(|()| vips.into_iter().map(|(_, vip)| vip).collect())
    }

    fn unicast(&mut self, section: &Section<'_>, outline: &mut Outline) -> Read<Unicast> {
        let Some(value) = section.value.key("unicast") else {
            outline.mode = Some(Mode::Multicast);
            return Ok(Unicast { mode: Mode::Multicast, source: None });
        };
        let section = self.section(value, section.path.key("unicast"), &schema::UNICAST)?;
        let source =
            self.optional(&section, "source", |value| address(text(value, allowed::SOURCE)?));
        outline.source = source.unwrap_or_default();
        let solo = self.optional(&section, "solo", boolean);
        let peers = self.peers(&section, outline);

        let mode = match (peers?, solo?) {
            (Some(_), Some(true)) => {
                return Err(self.refuse(section.path.key("solo"), Problem::PeersAndSolo));
            }
            (Some(peers), _) => Mode::Unicast(peers),
            (None, Some(true)) => Mode::Solo,
            // An absent or empty list never means multicast: that made two owners elsewhere.
            (None, _) => {
                let problem = Problem::Missing { allowed: allowed::PEERS };
                return Err(self.refuse(section.path.key("peers"), problem));
            }
        };
        outline.mode = Some(mode.clone());
        Ok(Unicast { mode, source: source? })
    }

    fn peers(
        &mut self,
        section: &Section<'_>,
        outline: &mut Outline,
    ) -> Read<Option<UnicastPeers>> {
        let Some(value) = section.value.key("peers") else {
            return Ok(None);
        };
        let path = section.path.key("peers");
        let (peers, read) = self
            .list(value, &path, allowed::PEERS, address, |list| UnicastPeers::new(list).map(drop));
        let addresses: Vec<_> = peers.iter().map(|&(_, peer)| peer).collect();
        outline.peers = peers;
        read?;
        match UnicastPeers::new(&addresses) {
            Ok(peers) => Ok(Some(peers)),
            Err(error) => Err(self.refuse(path, error)),
        }
    }

    /// Reads a list of addresses. Each entry is judged by the core beside the good ones before
    /// it, so that each mistake is found and is known by its place.
    fn list<T: Copy + Into<IpAddr>>(
        &mut self,
        value: &Value,
        path: &Path,
        allowed: &'static str,
        parse: impl Fn(&str) -> Result<T, Problem>,
        check: impl Fn(&[IpAddr]) -> Result<(), AddrsError>,
    ) -> (Vec<(usize, T)>, Read<()>) {
        let (count, max) = match value {
            Value::List(entries) => (entries.len(), VirtualAddrs::MAX),
            other => {
                let problem = Problem::Type { found: other.kind(), allowed };
                return (Vec::new(), Err(self.refuse(path.clone(), problem)));
            }
        };
        if count == 0 {
            let problem = Problem::Empty { allowed };
            return (Vec::new(), Err(self.refuse(path.clone(), problem)));
        }
        if count > max {
            let problem = AddrsError::TooMany { count, max };
            return (Vec::new(), Err(self.refuse(path.clone(), problem)));
        }
        let mut good: Vec<(usize, T)> = Vec::new();
        let mut taken: Vec<IpAddr> = Vec::new();
        for (at, entry) in (0..count).filter_map(|at| Some((at, value.index(at)?))) {
            let judged = text(entry, allowed::ADDRESS).and_then(&parse).and_then(|parsed| {
                taken.push(parsed.into());
                check(&taken).inspect_err(|_| _ = taken.pop())?;
                Ok(parsed)
            });
            match judged {
                Ok(parsed) => good.push((at, parsed)),
                Err(problem) => _ = self.refuse(path.index(at), problem),
            }
        }
        let read = if good.len() == count { Ok(()) } else { Err(Refused) };
        (good, read)
    }

    /// Opens a table and refuses the keys that it must not have.
    fn section<'v>(&mut self, value: &'v Value, path: Path, keys: &Keys) -> Read<Section<'v>> {
        let Value::Table(entries) = value else {
            let problem = Problem::Type { found: value.kind(), allowed: keys.allowed };
            return Err(self.refuse(path, problem));
        };
        let mut seen = HashSet::new();
        for (key, _) in entries {
            if !seen.insert(key) {
                self.refuse(path.key(key.clone()), Problem::Repeated);
            } else if let Err(problem) = keys.check(key) {
                self.refuse(path.key(key.clone()), problem);
            }
        }
        Ok(Section { path, value })
    }

    fn required<'v, T>(
        &mut self,
        section: &Section<'v>,
        key: &'static str,
        allowed: &'static str,
        parse: impl FnOnce(&'v Value) -> Result<T, Problem>,
    ) -> Read<T> {
        match self.optional(section, key, parse)? {
            Some(value) => Ok(value),
            None => Err(self.refuse(section.path.key(key), Problem::Missing { allowed })),
        }
    }

    fn optional<'v, T>(
        &mut self,
        section: &Section<'v>,
        key: &'static str,
        parse: impl FnOnce(&'v Value) -> Result<T, Problem>,
    ) -> Read<Option<T>> {
        match section.value.key(key).map(parse) {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(problem)) => Err(self.refuse(section.path.key(key), problem)),
        }
    }

    fn refuse(&mut self, path: Path, problem: impl Into<Problem>) -> Refused {
        self.errors.push(ConfigError::new(path, problem));
        Refused
    }
}

fn or_default<T: Default>(read: Read<Option<T>>) -> T {
    read.unwrap_or_default().unwrap_or_default()
}

/// The place of a peer in the list as it was written.
fn peer(section: &Section<'_>, address: IpAddr) -> Path {
    let path = section.path.key("unicast").key("peers");
    let Some(Value::List(entries)) =
        section.value.key("unicast").and_then(|unicast| unicast.key("peers"))
    else {
        return path;
    };
    let is_it = |entry: &Value| matches!(entry, Value::Text(t) if t.parse() == Ok(address));
    match entries.iter().position(is_it) {
        Some(at) => path.index(at),
        None => path,
    }
}

fn refuse(allowed: &'static str) -> Problem {
    Problem::Value { allowed }
}

fn text<'v>(value: &'v Value, allowed: &'static str) -> Result<&'v str, Problem> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(Problem::Type { found: other.kind(), allowed }),
    }
}

fn boolean(value: &Value) -> Result<bool, Problem> {
    match value {
        Value::Bool(value) => Ok(*value),
        other => Err(Problem::Type { found: other.kind(), allowed: "true or false" }),
    }
}

fn byte(value: &Value, allowed: Number) -> Result<u8, Problem> {
    match value {
        Value::Integer(number) => u8::try_from(*number).map_err(|_| refuse(allowed.range)),
        other => Err(Problem::Type { found: other.kind(), allowed: allowed.whole }),
    }
}

fn list_of_tables(value: &Value) -> Result<&[Value], Problem> {
    match value {
        Value::List(entries) => Ok(entries),
        other => Err(Problem::Type { found: other.kind(), allowed: allowed::ROUTERS }),
    }
}

fn version(value: &Value) -> Result<Version, Problem> {
    match byte(value, allowed::VERSION)? {
        2 => Ok(Version::V2),
        3 => Ok(Version::V3),
        _ => Err(refuse(allowed::VERSION.range)),
    }
}

fn interval(value: &Value, version: Option<Version>) -> Result<AdvertInterval, Problem> {
    let allowed = schema::interval(version.unwrap_or_default());
    duration::parse(text(value, allowed)?)
        .and_then(AdvertInterval::from_duration)
        .ok_or(refuse(allowed))
}

fn preempt_delay(value: &Value) -> Result<Duration, Problem> {
    duration::parse(text(value, allowed::PREEMPT_DELAY)?)
        .filter(|delay| *delay <= schema::MAX_PREEMPT_DELAY)
        .ok_or(refuse(allowed::PREEMPT_DELAY))
}

fn checksum(value: &Value) -> Result<ChecksumMode, Problem> {
    match text(value, allowed::CHECKSUM)? {
        "auto" => Ok(ChecksumMode::Auto),
        "message-only" => Ok(ChecksumMode::MessageOnly),
        "pseudo-header" => Ok(ChecksumMode::PseudoHeader),
        _ => Err(refuse(allowed::CHECKSUM)),
    }
}

fn address(text: &str) -> Result<IpAddr, Problem> {
    text.parse().map_err(|_| Problem::NotAnAddress)
}
