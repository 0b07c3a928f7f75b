//! The keys of the schema, and in words what each takes.

use std::time::Duration;

use vrrp_core::Version;

use super::Problem;

/// The longest `preempt_delay`. No protocol limit: a longer one is a mistake of units.
pub(super) const MAX_PREEMPT_DELAY: Duration = Duration::from_secs(24 * 3600);

/// What each setting takes, in the words of an error.
pub(super) mod allowed {
    /// What to say of a number out of range, and of what is no number.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Number {
        pub(in super::super) range: &'static str,
        pub(in super::super) whole: &'static str,
    }

    pub(in super::super) const ROUTERS: &str = "any number of tables, each headed [[router]]";
    pub(in super::super) const VRID: Number =
        Number { range: "1 to 255", whole: "an integer, 1 to 255" };
    pub(in super::super) const VERSION: Number =
        Number { range: "2 or 3", whole: "the integer 2 or 3" };
    pub(in super::super) const PRIORITY: Number = VRID;
    pub(in super::super) const PREEMPT_DELAY: &str = "a duration in quotes, \"0s\" to \"24h\"";
    pub(in super::super) const CHECKSUM: &str = "\"auto\", \"message-only\" or \"pseudo-header\"";
    pub(in super::super) const ADDRESSES: &str =
        "a list of 1 to 255 addresses such as [\"192.0.2.10\"]";
    pub(in super::super) const ADDRESS: &str = "an address in quotes";
    pub(in super::super) const SOURCE: &str = "an own address of this host, in quotes";
    pub(in super::super) const PEERS: &str =
        "a list of the other routers' addresses, or solo = true if there are none";
    pub(in super::super) const PASS: &str =
        "a text of at least 1 byte, of which the first 8 are used";
}

/// What `advert_interval` takes.
pub(super) const fn interval(version: Version) -> &'static str {
    match version {
        Version::V2 => "a duration in quotes, \"1s\" to \"255s\" in whole seconds for version 2",
        Version::V3 => {
            "a duration in quotes, \"10ms\" to \"40.95s\" in steps of 10ms for version 3"
        }
    }
}

/// The keys of one table.
pub(super) struct Keys {
    known: &'static [&'static str],
    /// Keys that a later version will know: naming them says more than "unknown".
    later: &'static [&'static str],
    /// What people write who know another program, or look for the key one level too high.
    alike: &'static [(&'static str, &'static str)],
    /// What the table is, in words.
    pub(super) allowed: &'static str,
}

pub(super) const NODE: Keys = Keys {
    known: &["router"],
    later: &["check", "on_sigterm", "safety", "shutdown", "sync_group"],
    alike: &[("instance", "router"), ("vrrp_instance", "router")],
    allowed: "a table of settings",
};

pub(super) const ROUTER: Keys = Keys {
    known: &[
        "name",
        "interface",
        "vrid",
        "version",
        "priority",
        "advert_interval",
        "addresses",
        "preempt",
        "preempt_delay",
        "unicast",
        "auth",
        "checksum",
        "label",
    ],
    later: &["track"],
    alike: &[
        ("advert_int", "advert_interval"),
        ("advertisement_interval", "advert_interval"),
        ("auth_pass", "auth"),
        ("authentication", "auth"),
        ("checks", "track"),
        ("dev", "interface"),
        ("id", "vrid"),
        ("interval", "advert_interval"),
        ("nopreempt", "preempt"),
        ("pass", "auth"),
        ("password", "auth"),
        ("peers", "unicast"),
        ("solo", "unicast"),
        ("source", "unicast"),
        ("unicast_peer", "unicast"),
        ("unicast_peers", "unicast"),
        ("unicast_src_ip", "unicast"),
        ("vip", "addresses"),
        ("vips", "addresses"),
        ("virtual_ipaddress", "addresses"),
        ("virtual_router_id", "vrid"),
    ],
    allowed: "a table of settings, headed [[router]]",
};

pub(super) const UNICAST: Keys = Keys {
    known: &["source", "peers", "solo"],
    later: &[],
    alike: &[("src", "source"), ("src_ip", "source")],
    allowed: "a table such as { source = \"192.0.2.1\", peers = [\"192.0.2.2\"] }",
};

pub(super) const AUTH: Keys = Keys {
    known: &["pass"],
    later: &[],
    alike: &[("auth_pass", "pass"), ("secret", "pass")],
    allowed: "a table such as { pass = \"...\" }",
};

impl Keys {
    pub(super) fn check(&self, key: &str) -> Result<(), Problem> {
        if self.known.contains(&key) {
            return Ok(());
        }
        if self.later.contains(&key) {
            return Err(Problem::NotYet);
        }
        Err(Problem::UnknownKey { nearest: self.nearest(key), known: self.known })
    }

    fn nearest(&self, key: &str) -> Option<&'static str> {
        let key = key.to_ascii_lowercase().replace('-', "_");
        if let Some((_, meant)) = self.alike.iter().find(|(other, _)| *other == key) {
            return Some(meant);
        }
        // One slip in short keys, up to three in long ones.
        let slips = |known: &&str| strsim::osa_distance(&key, known);
        self.known
            .iter()
            .copied()
            .min_by_key(slips)
            .filter(|known| slips(known) <= known.len().div_ceil(4).min(3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_was_meant_is_suggested() {
        for (key, meant) in [
            ("vird", Some("vrid")),
            ("VRID", Some("vrid")),
            ("advert-interval", Some("advert_interval")),
            ("adress", Some("addresses")),
            ("addreses", Some("addresses")),
            ("prority", Some("priority")),
            ("preempt-dely", Some("preempt_delay")),
            ("virtual_router_id", Some("vrid")),
            ("zzz", None),
            ("", None),
            ("𝕧𝕣𝕚𝕕", None),
        ] {
            assert_eq!(ROUTER.nearest(key), meant, "{key:?}");
        }
    }
}
