//! The TOML file: read, judged, and every mistake given its line and column.
//!
//! What is right and wrong is decided by [`vrrp_net::config`]; the schema is in its documentation.
//! This module only finds the places. It never shows a line of the file, which may hold a
//! password.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use vrrp_net::NodeConfig;
use vrrp_net::config::{ConfigError, Path, Problem, Segment, Value};

/// The largest file that is read; 255 addresses take 4 KiB.
const MAX_BYTES: u64 = 4 << 20;

/// Reads and judges a file.
///
/// # Errors
/// The file cannot be read, or is refused; no call here changes anything.
pub fn load(path: &FilePath) -> Result<NodeConfig, LoadError> {
    let unreadable = |error| LoadError::Unreadable { path: path.into(), error };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(LoadError::TooLarge { path: path.into() });
    }
    let refused = |mistakes| LoadError::Refused(Refused { path: path.into(), mistakes });
    match std::str::from_utf8(&bytes) {
        Ok(text) => parse(text).map_err(refused),
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let message = "the file is not UTF-8; allowed: TOML in UTF-8".to_owned();
            Err(refused(vec![Mistake::at(&valid, valid.len(), message)]))
        }
    }
}

/// Judges the text of a file.
///
/// # Errors
/// All mistakes, in the order of the file. If it is no TOML, those of the syntax alone.
pub fn parse(text: &str) -> Result<NodeConfig, Vec<Mistake>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut mistakes: Vec<_> = if errors.is_empty() {
        let value = Value::Table(entries(table.get_ref()));
        match NodeConfig::from_value(&value) {
            Ok(config) => return Ok(config),
            Err(errors) => errors
                .into_iter()
                .map(|error| {
                    let place = locate(table.get_ref(), &error);
                    Mistake::at(text, place.start, error.to_string())
                })
                .collect(),
        }
    } else {
        // The parser's own display quotes the line: never use it.
        let syntax = |error: &toml::de::Error| {
            let place = error.span().map_or(0, |span| span.start);
            Mistake::at(text, place, format!("not TOML: {}", error.message()))
        };
        errors.iter().map(syntax).collect()
    };
    mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    mistakes.dedup();
    Err(mistakes)
}

/// Why a file was not taken. `Display` has a line per mistake, each beginning with
/// `file:line:column:` where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    #[error("{}: cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// No configuration is that large.
    #[error("{}: is larger than {} MiB, and no configuration is", path.display(), MAX_BYTES >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// There are mistakes in it.
    #[error("{0}")]
    Refused(Refused),
}

/// A file and its mistakes; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The file.
    pub path: PathBuf,
    /// In the order of the file.
    pub mistakes: Vec<Mistake>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            write!(f, "{newline}{}:{mistake}", self.path.display())?;
        }
        Ok(())
    }
}

/// One mistake in a file. `Display`: `line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// One sentence: router, setting, value, what is allowed. Never a password.
    pub message: String,
}

impl Mistake {
    fn at(text: &str, offset: usize, message: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_start..].chars().filter(|c| *c != '\u{feff}').count(),
            message,
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

fn entries(table: &DeTable<'_>) -> Vec<(String, Value)> {
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        (String::from(AsRef::<str>::as_ref(key.get_ref())), untyped(value.get_ref()))
    };
    table.iter().map(entry).collect()
}

/// The parser bounds the nesting, so this recursion is bounded too.
fn untyped(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Other("an integer beyond all bounds"),
        },
        DeValue::Float(_) => Value::Other("a float"),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(_) => Value::Other("a date or time"),
        DeValue::Array(list) => Value::List(list.iter().map(|v| untyped(v.get_ref())).collect()),
        DeValue::Table(table) => Value::Table(entries(table)),
    }
}

/// Where in the file an error is: the key if that is wrong, else the value. What is absent is
/// missing from the innermost table that is there.
fn locate(root: &DeTable<'_>, error: &ConfigError) -> Range<usize> {
    let segments = Path::segments(&error.path);
    let key_is_wrong =
        matches!(error.problem, Problem::UnknownKey { .. } | Problem::NotYet | Problem::Repeated);
    let mut place = 0..0;
    let mut table = Some(root);
    let mut list = None;
    for (depth, segment) in segments.iter().enumerate() {
        let value: &Spanned<DeValue<'_>> = match segment {
            Segment::Key(key) => {
                let Some((key, value)) = table.and_then(|table| table.get_key_value(&key[..]))
                else {
                    break;
                };
                if key_is_wrong && depth + 1 == segments.len() {
                    return key.span();
                }
                value
            }
            Segment::Index(index) => match list.and_then(|list: &[_]| list.get(*index)) {
                Some(value) => value,
                None => break,
            },
        };
        place = value.span();
        (table, list) = match value.get_ref() {
            DeValue::Table(table) => (Some(table), None),
            DeValue::Array(array) => (None, Some(&array[..])),
            _ => (None, None),
        };
    }
    place
}
