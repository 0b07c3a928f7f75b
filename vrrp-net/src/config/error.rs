//! What is wrong with a configuration, and where.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use vrrp_core::{AddrsError, Family};

use super::{NameError, RouterName, Value, VipError};

/// All that is wrong with a configuration; at least one error. Nothing was changed.
///
/// `Display` gives a line per error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(Vec<ConfigError>);

impl ConfigErrors {
    /// `Ok` of the value if there is no error.
    pub(super) fn or<T>(errors: Vec<ConfigError>, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if errors.is_empty() => Ok(value),
            _ => Err(Self(errors)),
        }
    }

    /// The errors, in the order in which they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, ConfigError> {
        self.0.iter()
    }
}

impl IntoIterator for ConfigErrors {
    type Item = ConfigError;
    type IntoIter = std::vec::IntoIter<ConfigError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a ConfigErrors {
    type Item = &'a ConfigError;
    type IntoIter = std::slice::Iter<'a, ConfigError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            write!(f, "{newline}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

/// One mistake in a configuration.
///
/// `Display` is one sentence: router, setting, value, what is wrong, what is allowed. A password
/// is never part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// Where, from the root of the configuration: `router[1].unicast.peers[0]`. From the router on
    /// (`unicast.peers[0]`) where a [`RouterBuilder`](super::RouterBuilder) is the judge.
    pub path: Path,
    /// The name of the router, where it has a usable one.
    pub router: Option<RouterName>,
    /// The value that was refused, as it was written; `None` for tables, lists, absent values and
    /// whatever could be a secret.
    pub value: Option<String>,
    /// What is wrong with it.
    pub problem: Problem,
}

impl ConfigError {
    pub(super) fn new(path: Path, problem: impl Into<Problem>) -> Self {
        Self { path, router: None, value: None, problem: problem.into() }
    }

    /// About a text, shown in quotes.
    pub(super) fn valued(path: Path, value: impl fmt::Display, problem: Problem) -> Self {
        Self { value: Some(format!("\"{value}\"")), ..Self::new(path, problem) }
    }

    /// The same, of a configuration in which its own is found at `path`.
    pub(super) fn under(self, path: &Path) -> Self {
        Self { path: path.join(&self.path), ..self }
    }

    /// Takes the router's name and the value from where they were written.
    pub(super) fn quote(&mut self, root: &Value) {
        if let Some((index, _)) = self.path.split_router()
            && let Some(router) = root.key("router").and_then(|list| list.index(index))
            && let Some(Value::Text(name)) = router.key("name")
        {
            self.router = RouterName::new(name).ok();
        }
        // What is below `auth` is a secret, and what an unknown key holds may be one.
        let is_auth = |segment: &Segment| matches!(segment, Segment::Key(key) if key == "auth");
        let unknown = matches!(
            self.problem,
            Problem::UnknownKey { .. } | Problem::NotYet | Problem::Repeated
        );
        if unknown || self.path.0.iter().any(is_auth) {
            self.value = None;
            return;
        }
        let written = self.path.0.iter().try_fold(root, |value, segment| match segment {
            Segment::Key(key) => value.key(key),
            Segment::Index(index) => value.index(*index),
        });
        match written {
            Some(Value::Text(text)) => self.value = Some(quoted(text)),
            Some(Value::Integer(number)) => self.value = Some(number.to_string()),
            Some(Value::Bool(value)) => self.value = Some(value.to_string()),
            _ => {}
        }
    }

    /// About a number.
    pub(super) fn of_number(self, value: impl fmt::Display) -> Self {
        Self { value: Some(value.to_string()), ..self }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = self.path.split_router();
        match (&self.router, within) {
            (Some(name), _) => write!(f, "router \"{name}\": ")?,
            (None, Some((index, _))) => write!(f, "router #{}: ", index + 1)?,
            (None, None) => {}
        }
        let setting = within.map_or(&self.path.0[..], |(_, setting)| setting);
        match (setting, &self.value) {
            ([], _) if self.path.0.is_empty() => f.write_str("the configuration")?,
            ([], _) => f.write_str("the entry")?,
            (_, None) => write_segments(setting, f)?,
            (_, Some(value)) => {
                write_segments(setting, f)?;
                write!(f, " = {value}")?;
            }
        }
        write!(f, " {}", self.problem)
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.problem)
    }
}

/// A place in a configuration. `Display`: `router[1].unicast.peers[0]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(Vec<Segment>);

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "tables and lists are all there is")]
pub enum Segment {
    /// Into a table.
    Key(Cow<'static, str>),
    /// Into a list.
    Index(usize),
}

impl Path {
    /// The steps from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    pub(super) fn router(index: usize) -> Self {
        Self::default().key("router").index(index)
    }

    pub(super) fn key(&self, key: impl Into<Cow<'static, str>>) -> Self {
        self.with(Segment::Key(key.into()))
    }

    pub(super) fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    pub(super) fn join(&self, rest: &Self) -> Self {
        Self([&self.0[..], &rest.0[..]].concat())
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }

    /// The router's index and the path within it.
    pub(super) fn split_router(&self) -> Option<(usize, &[Segment])> {
        match &self.0[..] {
            [Segment::Key(key), Segment::Index(index), rest @ ..] if key == "router" => {
                Some((*index, rest))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_segments(&self.0, f)
    }
}

fn write_segments(segments: &[Segment], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (position, segment) in segments.iter().enumerate() {
        match segment {
            Segment::Key(key) => {
                let dot = if position == 0 { "" } else { "." };
                // Keys of ours need no escape; an unknown key can be anything.
                write!(f, "{dot}{}", key.escape_debug())?;
            }
            Segment::Index(index) => write!(f, "[{index}]")?,
        }
    }
    Ok(())
}

/// What can be wrong with a setting. `Display` is the predicate of a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Nobody knows the key.
    #[error("is not a known key; {}", suggestion(.nearest.as_ref(), .known))]
    UnknownKey {
        /// The known key that was probably meant.
        nearest: Option<&'static str>,
        /// All keys known in this place.
        known: &'static [&'static str],
    },
    /// A later version will know the key.
    #[error("is not supported by this version yet")]
    NotYet,
    /// A key without a default is absent.
    #[error("is missing; allowed: {allowed}")]
    Missing {
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// The same key stands twice in one table.
    #[error("is given twice; allowed: each key once")]
    Repeated,
    /// A value of the wrong type.
    #[error("is {found}; allowed: {allowed}")]
    Type {
        /// What it is: `a text`.
        found: &'static str,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A value out of range.
    #[error("is not allowed; allowed: {allowed}")]
    Value {
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A list that needs an entry.
    #[error("is empty; allowed: {allowed}")]
    Empty {
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A text that is no address, where one without a prefix length is needed.
    #[error("is not an IP address; allowed: an address such as 192.0.2.1 or fd00::1")]
    NotAnAddress,
    /// A list of addresses, or one address in it.
    #[error("{}", addrs_predicate(.0))]
    Address(AddrsError),
    /// A virtual address.
    #[error("{}", vip_predicate(.0))]
    Vip(VipError),
    /// v2 exists for IPv4 only (RFC 3768).
    #[error("is for IPv4 only, and the addresses are IPv6; allowed: 3")]
    VersionFamily,
    /// v3 has no authentication (RFC 9568 section 9).
    #[error("is for version 2 only; allowed: no auth, or version = 2")]
    AuthVersion,
    /// A peer or source of the wrong family.
    #[error("is not {family}; allowed: the family of the addresses")]
    Family {
        /// That of the addresses.
        family: Family,
    },
    /// `peers` and `solo = true` are two answers to one question.
    #[error("is set, and peers are listed; allowed: peers or solo = true")]
    PeersAndSolo,
    /// A delay of what never happens.
    #[error("is set, and preempt is false; allowed: one of them")]
    DelayWithoutPreempt,
    /// IPv6 addresses have no label.
    #[error("is set, and the addresses are IPv6; allowed: a label for IPv4 only")]
    LabelFamily,
    /// A router, which must be named by an address of its own, is named by a VIP.
    #[error(
        "is a virtual address of router \"{owner}\"; allowed: an address that stays on its host"
    )]
    IsVip {
        /// The router with that VIP.
        owner: RouterName,
    },
    /// The same within one router.
    #[error("is a virtual address of this router; allowed: an address that stays on its host")]
    OwnVip,
    /// The source is listed as a peer.
    #[error("is one of the peers too; allowed: the peers are the other routers")]
    SourceIsPeer,
    /// A source where the sockets choose it.
    #[error("is for unicast only; allowed: no source for multicast")]
    SourceWithoutUnicast,
    /// A prefix length for an address that the router does not have.
    #[error("is not an address of the router; allowed: one that it has, such as {address}")]
    ForeignPrefix {
        /// The first address that it does have.
        address: IpAddr,
    },
    /// Two routers of the same name.
    #[error("is the name of router #{} too; allowed: a name of its own", .first + 1)]
    DuplicateName {
        /// The index of the first.
        first: usize,
    },
    /// One VIP on two routers of one node.
    #[error("is an address of router {other} too; allowed: each address on one router")]
    AddressTaken {
        /// The other router: its name in quotes, or `#2`.
        other: String,
    },
    /// Two routers whose packets could not be told apart.
    #[error(
        "is the vrid of router {other} too, on the same interface, for the same family{}; \
         allowed: a vrid of its own", if *.peers { " and for the same peers" } else { "" }
    )]
    SameGroup {
        /// The other router: its name in quotes, or `#2`.
        other: String,
        /// True if both are unicast: then disjoint peers are allowed too.
        peers: bool,
    },
    /// The core refused the router for a reason without a sentence of its own here.
    #[error("was refused: {0}")]
    Core(vrrp_core::ConfigError),
}

/// In quotes, escaped, and no longer than a line of an error can bear.
fn quoted(text: &str) -> String {
    const MAX: usize = 60;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

fn suggestion(nearest: Option<&&'static str>, known: &[&str]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("known here: {}", known.join(", ")),
    }
}

fn vip_predicate(error: &VipError) -> String {
    match error {
        VipError::Unusable(error) => addrs_predicate(error),
        other => other.to_string(),
    }
}

fn addrs_predicate(error: &AddrsError) -> String {
    match error {
        AddrsError::TooMany { count, max } => {
            format!("has {count} entries; allowed: 1 to {max} addresses")
        }
        AddrsError::Duplicate { .. } => "is listed twice; allowed: each address once".into(),
        AddrsError::MixedFamilies { first, other } => format!(
            "is {}, and {first} is {}; allowed: one family per router",
            Family::of(*other),
            Family::of(*first),
        ),
        AddrsError::Unusable { why, .. } => {
            format!("is {why}; allowed: a unicast address that a host can own")
        }
        other => format!("was refused: {other}"),
    }
}

impl From<NameError> for Problem {
    fn from(error: NameError) -> Self {
        Self::Value { allowed: error.allowed }
    }
}

impl From<VipError> for Problem {
    fn from(error: VipError) -> Self {
        Self::Vip(error)
    }
}

impl From<AddrsError> for Problem {
    fn from(error: AddrsError) -> Self {
        Self::Address(error)
    }
}
