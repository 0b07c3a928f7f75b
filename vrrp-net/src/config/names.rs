//! Names that the kernel or an operator must be able to use.

use std::fmt;
use std::sync::Arc;

/// The name of a network interface, as the kernel would accept it.
///
/// Interfaces are found by name whenever they are needed: they may be missing, come later, and
/// come back with another index.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceName(Arc<str>);

impl InterfaceName {
    /// What is allowed, in words.
    pub const ALLOWED: &'static str =
        "a text of 1 to 15 bytes without whitespace, '/' or ':', not '.' or '..'";

    /// The kernel's own rule (`dev_valid_name`): 1–15 bytes, no whitespace, no `/` or `:`, and
    /// neither `.` nor `..`.
    ///
    /// # Errors
    /// Any other name.
    pub fn new(name: &str) -> Result<Self, NameError> {
        // The kernel's isspace knows Latin-1's no-break space, and looks at bytes: an UTF-8 name
        // with 0xa0 in it cannot exist.
        let refused = |b: u8| matches!(b, 0 | b'/' | b':' | b' ' | 0x09..=0x0d | 0xa0);
        let ok = !matches!(name, "" | "." | "..") && name.len() <= 15 && !name.bytes().any(refused);
        if !ok {
            return Err(NameError { allowed: Self::ALLOWED });
        }
        Ok(Self(name.into()))
    }
}

/// The name of a router: how logs, events, status and commands refer to it. Unique per node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouterName(Arc<str>);

impl RouterName {
    /// What is allowed, in words.
    pub const ALLOWED: &'static str =
        "a text of 1 to 64 of A-Z a-z 0-9 - _ . : @, the first a letter, a digit or _";

    /// Names must survive a log line, a shell and a file name without quoting.
    ///
    /// # Errors
    /// Anything but 1–64 of `A-Z a-z 0-9 - _ . : @`, the first a letter, a digit or `_`.
    pub fn new(name: &str) -> Result<Self, NameError> {
        let first = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let rest = |b: u8| b.is_ascii_alphanumeric() || b"-_.:@".contains(&b);
        let ok = name.as_bytes().first().is_some_and(first)
            && name.len() <= 64
            && name.bytes().all(rest);
        if !ok {
            return Err(NameError { allowed: Self::ALLOWED });
        }
        Ok(Self(name.into()))
    }
}

/// The label of an IPv4 address (`IFA_LABEL`), by which other programs recognise a VIP.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(Arc<str>);

impl Label {
    /// What is allowed, in words.
    pub const ALLOWED: &'static str = "a text of 1 to 15 visible ASCII characters";

    /// The kernel keeps 15 bytes and would take any; `ip` and its readers need visible ones.
    ///
    /// # Errors
    /// Anything but 1–15 visible ASCII characters.
    pub fn new(label: &str) -> Result<Self, NameError> {
        let ok = (1..=15).contains(&label.len()) && label.bytes().all(|b| b.is_ascii_graphic());
        if !ok {
            return Err(NameError { allowed: Self::ALLOWED });
        }
        Ok(Self(label.into()))
    }
}

/// Who put an address on an interface: the marks of two owners on one host are kept apart, and
/// neither ever takes the other's addresses away. Default `vrrp`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(Arc<str>);

impl OwnerId {
    /// What is allowed, in words.
    pub const ALLOWED: &'static str = RouterName::ALLOWED;

    /// As [`RouterName::new`]: it becomes part of a file name.
    ///
    /// # Errors
    /// As [`RouterName::new`].
    pub fn new(id: &str) -> Result<Self, NameError> {
        RouterName::new(id).map(|name| Self(name.0))
    }
}

impl Default for OwnerId {
    fn default() -> Self {
        Self("vrrp".into())
    }
}

/// A name was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a usable name; allowed: {allowed}")]
pub struct NameError {
    /// What is allowed, in words.
    pub allowed: &'static str,
}

macro_rules! as_text {
    ($($name:ty)*) => {$(
        impl $name {
            /// As text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }
    )*};
}

as_text!(InterfaceName RouterName Label OwnerId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_names_are_those_of_the_kernel() {
        for good in ["eth0", "br-ex", "enp1s0f0np0.1234", "é", "..."] {
            let fits = good.len() <= 15;
            assert_eq!(InterfaceName::new(good).is_ok(), fits, "{good:?}");
        }
        for bad in ["", ".", "..", "a/b", "eth0:1", "a b", "a\tb", "a\0b", "sixteen-bytes-xx", "à"]
        {
            assert!(InterfaceName::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn router_names_need_no_quoting() {
        for good in ["api", "api-v4", "VI_1", "_x", "a.b:c@d", &"x".repeat(64)] {
            assert!(RouterName::new(good).is_ok(), "{good:?}");
        }
        for bad in ["", "-x", ".", "a b", "a/b", "a\n", "ä", "a\"", &"x".repeat(65)] {
            assert!(RouterName::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn labels_are_visible_and_fit_the_kernel() {
        for good in ["vip", "eth0:vip", &"x".repeat(15)] {
            assert!(Label::new(good).is_ok(), "{good:?}");
        }
        for bad in ["", "a b", "é", "\n", &"x".repeat(16)] {
            assert!(Label::new(bad).is_err(), "{bad:?}");
        }
    }
}
