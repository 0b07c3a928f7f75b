//! The run-directory record: which addresses this owner may have put on which interface.
//!
//! It is written before the first installation and when the configuration changes, never at a
//! takeover. The next process of the same owner reads it, so that what a crash left behind is
//! found even when the new configuration no longer names it. A record of another boot or another
//! network namespace says nothing about this one and is ignored.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::config::{InterfaceName, OwnerId, Vip};

const HEADER: &str = "vrrp-addresses 1";

/// An address on an interface.
pub(crate) type Entry = (InterfaceName, Vip);

/// The record of one owner.
#[derive(Debug)]
pub(crate) struct Record {
    path: PathBuf,
    place: Place,
    written: BTreeSet<Entry>,
}

/// Where a record holds: this boot, this network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    boot: String,
    namespace: u64,
}

impl Record {
    /// Opens the record of an owner and returns what its predecessor wrote, if that was here.
    /// Makes the directory if it does not exist.
    pub(crate) fn open(directory: &Path, owner: &OwnerId) -> io::Result<(Self, BTreeSet<Entry>)> {
        fs::create_dir_all(directory)?;
        let path = directory.join(format!("{owner}.addresses"));
        let place = Place::here()?;
        let before = match fs::read_to_string(&path) {
            Ok(text) => read(&text, &place).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
            Err(error) => return Err(error),
        };
        // What the predecessor wrote stays until this process knows what has become of it.
        Ok((Self { path, place, written: before.clone() }, before))
    }

    /// Makes the record say exactly this. Atomic: a reader finds the old record or the new one.
    pub(crate) fn write(&mut self, entries: BTreeSet<Entry>) -> io::Result<()> {
        if entries == self.written && self.path.exists() {
            return Ok(());
        }
        let mut text = format!("{HEADER}\n{}\n", self.place.line());
        for (interface, vip) in &entries {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{vip} {interface}");
        }
        let temporary = self.path.with_extension("addresses.new");
        fs::write(&temporary, text)?;
        fs::rename(&temporary, &self.path)?;
        self.written = entries;
        Ok(())
    }
}

impl Place {
    fn here() -> io::Result<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        let namespace = fs::metadata("/proc/thread-self/ns/net")?.ino();
        Ok(Self { boot, namespace })
    }

    fn line(&self) -> String {
        format!("boot {} namespace {}", self.boot, self.namespace)
    }
}

/// `None` for a record of another place, and for one that is not whole.
fn read(text: &str, place: &Place) -> Option<BTreeSet<Entry>> {
    let mut lines = text.lines();
    if lines.next()? != HEADER || lines.next()? != place.line() {
        return None;
    }
    lines
        .map(|line| {
            let (vip, interface) = line.split_once(' ')?;
            Some((interface.parse().ok()?, vip.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(interface: &str, vip: &str) -> Entry {
        (interface.parse().unwrap(), vip.parse().unwrap())
    }

    fn scratch(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("vrrp-record-{}-{name}", std::process::id()))
    }

    #[test]
    fn the_next_process_reads_what_the_last_one_wrote() {
        let (directory, owner) = (scratch("next"), "vipd".parse().unwrap());
        let (mut record, before) = Record::open(&directory, &owner).unwrap();
        assert!(before.is_empty());
        let entries = BTreeSet::from([entry("eth0", "192.0.2.1/32"), entry("é", "fd00::1/128")]);
        record.write(entries.clone()).unwrap();
        assert_eq!(Record::open(&directory, &owner).unwrap().1, entries);
        // Another owner has another record.
        let other = "other".parse().unwrap();
        assert!(Record::open(&directory, &other).unwrap().1.is_empty());
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_record_of_another_boot_or_namespace_or_half_a_record_says_nothing() {
        let place = Place { boot: "a".into(), namespace: 1 };
        let text = format!("{HEADER}\n{}\n192.0.2.1/32 eth0\n", place.line());
        assert_eq!(read(&text, &place).unwrap().len(), 1);
        assert_eq!(read(&text, &Place { boot: "b".into(), ..place.clone() }), None);
        assert_eq!(read(&text, &Place { namespace: 2, ..place.clone() }), None);
        assert_eq!(read(&text[..text.len() - 5], &place), None);
        assert_eq!(read("", &place), None);
    }
}
