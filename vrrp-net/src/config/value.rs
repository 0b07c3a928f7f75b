//! A configuration before it means anything.
//!
//! [`Value`] is what every self-describing format has in common. Reading goes through it for
//! three reasons: all mistakes can be reported instead of the first, each with the path at which a
//! front end finds its line and column, and no format needs rules of its own.

use std::fmt;

/// A value of a configuration file: TOML, JSON, or what a caller puts together.
///
/// `Debug` shows the shape and never a text, since one of the texts may be a password.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// An integer of any size that matters.
    Integer(i128),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// Keys and values, in the order of the file. A key that stands twice is reported.
    Table(Vec<(String, Self)>),
    /// What no setting takes, with its name for the error: `"a float"`.
    Other(&'static str),
}

impl Value {
    /// What the value is, with its article: `a text`.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(kind) => kind,
        }
    }

    /// The value under a key; `None` as well where this is no table.
    pub(super) fn key(&self, key: &str) -> Option<&Self> {
        let Self::Table(entries) = self else {
            return None;
        };
        entries.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The entry at an index; `None` as well where this is no list.
    pub(super) fn index(&self, index: usize) -> Option<&Self> {
        let Self::List(entries) = self else {
            return None;
        };
        entries.get(index)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Text(_) => f.write_str("Text(..)"),
            Self::List(entries) => entries.fmt(f),
            Self::Table(entries) => {
                f.debug_map().entries(entries.iter().map(|(k, v)| (k, v))).finish()
            }
            Self::Other(kind) => write!(f, "Other({kind})"),
        }
    }
}

#[cfg(feature = "serde")]
mod de {
    use std::fmt;

    use serde::Deserialize;
    use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

    use super::Value;

    impl<'de> Deserialize<'de> for Value {
        /// From any self-describing format.
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(ValueVisitor)
        }
    }

    struct ValueVisitor;

    impl<'de> Visitor<'de> for ValueVisitor {
        type Value = Value;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a configuration")
        }

        fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
            Ok(Value::Bool(value))
        }

        fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
            Ok(Value::Integer(value.into()))
        }

        fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
            Ok(Value::Integer(value.into()))
        }

        fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
            Ok(Value::Other("a float"))
        }

        fn visit_str<E>(self, value: &str) -> Result<Value, E> {
            Ok(Value::Text(value.to_owned()))
        }

        fn visit_string<E>(self, value: String) -> Result<Value, E> {
            Ok(Value::Text(value))
        }

        fn visit_unit<E>(self) -> Result<Value, E> {
            Ok(Value::Other("null"))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = seq.next_element()? {
                entries.push(entry);
            }
            Ok(Value::List(entries))
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(Value::Table(entries))
        }
    }

    impl<'de> Deserialize<'de> for crate::config::NodeConfig {
        /// The schema of the module documentation. The error text has a line per mistake.
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let value = Value::deserialize(deserializer)?;
            Self::from_value(&value).map_err(D::Error::custom)
        }
    }
}
