//! The conformance ledger: every row of the digest has a test that shows the rule kept, a test
//! that shows what the rule forbids or where it ends, or a written exception.
//!
//! A test says what it proves in a comment in its body, `// digest: 2.09+ 2.09-`: `+` where the
//! rule's condition holds, `-` where it does not. `ledger/rows.txt` has the rows,
//! `ledger/exceptions.txt` the reasons, and `docs/conformance.md` what follows from both;
//! `UPDATE_SNAPSHOTS=1` writes it anew.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use support::snapshot::assert_snapshot;

const MARK: &str = "// digest:";

/// From a row's id with `+` or `-` to the tests that prove it.
type Proofs = BTreeMap<String, BTreeSet<String>>;

struct Row<'a> {
    id: &'a str,
    level: &'a str,
    text: &'a str,
}

/// A heading with its rows.
type Section<'a> = (&'a str, Vec<Row<'a>>);

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push((heading, Vec::new()));
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            let parts: Vec<&str> = line.split(" | ").collect();
            let [id, level, text] = parts[..] else { panic!("not `id | level | rule`: {line}") };
            let levels = ["MUST", "SHOULD", "MAY", "REC", "INFO"];
            assert!(levels.contains(&level), "{id}: no such level: {level}");
            sections.last_mut().expect("a heading first").1.push(Row { id, level, text });
        }
    }
    sections
}

fn exceptions(text: &str) -> BTreeMap<&str, &str> {
    let mut exceptions = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let (id, reason) = line.split_once(" | ").expect("id | reason");
        assert!(reason.len() > 5, "{id}: a reason, please");
        assert!(exceptions.insert(id, reason).is_none(), "{id} is excepted twice");
    }
    exceptions
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// What the tests of one file say that they prove. A mark counts only in the body of a test that
/// runs.
fn proofs_in(name: &str, text: &str, proofs: &mut Proofs) {
    let (mut attributes, mut test) = (Attributes::None, None);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line == "#[test]" {
            attributes = Attributes::Test;
        } else if line.starts_with("#[ignore") {
            attributes = Attributes::Ignored;
        } else if let Some(function) = function_name(line) {
            test = (attributes == Attributes::Test).then(|| function.to_owned());
            attributes = Attributes::None;
        } else if let Some(ids) = line.strip_prefix(MARK) {
            let test = test.as_ref();
            let test = test.unwrap_or_else(|| panic!("{name}:{}: no test here", number + 1));
            for id in ids.split_whitespace() {
                proofs.entry(id.to_owned()).or_default().insert(format!("{name}::{test}"));
            }
        }
    }
}

/// The name, if a line begins a function.
fn function_name(line: &str) -> Option<&str> {
    let qualifier = |word: &&str| word.starts_with("pub") || matches!(*word, "const" | "unsafe");
    let mut words = line.split_whitespace().skip_while(qualifier);
    (words.next() == Some("fn"))
        .then(|| words.next())?
        .and_then(|name| name.split(['(', '<']).next())
}

#[derive(PartialEq)]
enum Attributes {
    None,
    Test,
    Ignored,
}

fn all_proofs() -> Proofs {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("tests"), &mut files);
    sources(&root.join("src"), &mut files);
    let mut proofs = Proofs::new();
    for file in files.iter().filter(|file| !file.ends_with("tests/ledger.rs")) {
        let name = file.file_stem().unwrap().to_string_lossy();
        proofs_in(&name, &std::fs::read_to_string(file).unwrap(), &mut proofs);
    }
    proofs
}

/// Everything that is wrong with the books.
fn faults(
    sections: &[Section<'_>],
    exceptions: &BTreeMap<&str, &str>,
    proofs: &Proofs,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut known = BTreeSet::new();
    for row in sections.iter().flat_map(|(_, rows)| rows) {
        if !known.insert(row.id) {
            faults.push(format!("{} stands in rows.txt twice", row.id));
        }
        for sign in ['+', '-'] {
            let id = format!("{}{sign}", row.id);
            let excepted = exceptions.contains_key(row.id) || exceptions.contains_key(&*id);
            match (proofs.contains_key(&id), excepted) {
                (false, false) => faults.push(format!("{id} has neither test nor exception")),
                (true, true) => faults.push(format!("{id} has a test and an exception")),
                _ => {}
            }
        }
    }
    let ids = exceptions.keys().copied().chain(proofs.keys().map(String::as_str));
    for id in ids {
        if !known.contains(id.trim_end_matches(['+', '-'])) {
            faults.push(format!("{id} is no row of the digest"));
        }
    }
    for id in proofs.keys().filter(|id| !id.ends_with(['+', '-'])) {
        faults.push(format!("{id}: a test proves one side, `+` or `-`"));
    }
    faults
}

const TITLE: &str = "\
# Conformance

What the protocol asks for, and where it is proved. The rows sum up RFC 9568, RFC 5798 and RFC 3768
with their errata, and what deployed routers do; their numbers do not change. A test beside **+**
shows the rule kept; a test beside **-** shows what the rule forbids, or where it ends. The tests
are in `vrrp-core/tests` and run with `cargo test -p vrrp-core`.

A rule without a test has a reason. Where the reason names `vrrp-net` or the lab, the rule is about
sockets, frames or the kernel, and belongs to the tests there.

MUST, SHOULD and MAY are the RFCs' words. REC is our decision where they have none, and INFO is what
other routers do.

This file is generated: `UPDATE_SNAPSHOTS=1 cargo test -p vrrp-core --test ledger`.
";

fn document(
    sections: &[Section<'_>],
    exceptions: &BTreeMap<&str, &str>,
    proofs: &Proofs,
) -> String {
    let rows: Vec<&Row<'_>> = sections.iter().flat_map(|(_, rows)| rows).collect();
    let proved = |row: &Row<'_>| {
        let has = |sign: char| proofs.contains_key(&format!("{}{sign}", row.id));
        has('+') || has('-')
    };
    let tests: BTreeSet<&String> = proofs.values().flatten().collect();
    let mut text = TITLE.to_owned();
    writeln!(
        text,
        "\n{} rows: {} proved by {} tests, {} excepted.",
        rows.len(),
        rows.iter().filter(|row| proved(row)).count(),
        tests.len(),
        rows.iter().filter(|row| !proved(row)).count()
    )
    .unwrap();
    for (heading, rows) in sections {
        writeln!(text, "\n## {heading}\n\n| row | level | rule | proof |\n|---|---|---|---|")
            .unwrap();
        for Row { id, level, text: rule } in rows {
            let proof = match exceptions.get(id) {
                Some(reason) => format!("*none*: {reason}"),
                None => ['+', '-'].map(|sign| side(id, sign, exceptions, proofs)).join("<br>"),
            };
            writeln!(text, "| {id} | {level} | {rule} | {proof} |").unwrap();
        }
    }
    text
}

fn side(id: &str, sign: char, exceptions: &BTreeMap<&str, &str>, proofs: &Proofs) -> String {
    let id = format!("{id}{sign}");
    match (exceptions.get(&*id), proofs.get(&id)) {
        (Some(reason), _) => format!("{sign} *none*: {reason}"),
        (None, Some(tests)) => {
            let tests: Vec<String> = tests.iter().map(|test| format!("`{test}`")).collect();
            format!("{sign} {}", tests.join(", "))
        }
        (None, None) => format!("{sign} **missing**"),
    }
}

#[test]
fn every_row_has_its_tests_or_its_reason() {
    let sections = sections(include_str!("ledger/rows.txt"));
    let exceptions = exceptions(include_str!("ledger/exceptions.txt"));
    let proofs = all_proofs();
    let faults = faults(&sections, &exceptions, &proofs);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_snapshot("../docs/conformance.md", &document(&sections, &exceptions, &proofs));
}

#[test]
fn the_ledger_has_all_rows_of_the_digest() {
    let sections = sections(include_str!("ledger/rows.txt"));
    let count = |prefix: &str| {
        let rows = sections.iter().flat_map(|(_, rows)| rows);
        rows.filter(|row| row.id.starts_with(prefix)).count()
    };
    let counts = ["1.", "2.", "3.", "4.", "5.", "6.", "7.", "8.", "A"].map(count);
    assert_eq!(counts, [49, 27, 24, 34, 20, 11, 13, 18, 15]);
}

#[test]
fn a_ledger_with_a_fault_is_refused() {
    let sections = sections("## One\n1.01 | MUST | a rule\n1.02 | MUST | another");
    let check = |excepted: &str, tests: &str| {
        let mut proofs = Proofs::new();
        proofs_in("file", tests, &mut proofs);
        faults(&sections, &exceptions(excepted), &proofs)
    };
    let test = |ids: &str| format!("#[test]\nfn proves() {{\n    {MARK} {ids}\n}}\n");
    assert_eq!(check("1.02 | a good reason", &test("1.01+ 1.01-")), [""; 0]);
    assert_eq!(check("1.02- | a good reason", &test("1.01+ 1.01- 1.02+")), [""; 0]);
    for (excepted, tests, fault) in [
        ("1.02 | a good reason", test("1.01+"), "1.01- has neither test nor exception"),
        ("1.02 | a good reason", test("1.01+ 1.01- 1.02+"), "1.02+ has a test and an exception"),
        ("1.02 | a good reason", test("1.01+ 1.01- 1.03+"), "1.03+ is no row of the digest"),
        ("1.02 | a good reason\n9 | gone since", test("1.01+ 1.01-"), "9 is no row of the digest"),
        (
            "1.02 | a good reason",
            test("1.01+ 1.01- 1.01"),
            "1.01: a test proves one side, `+` or `-`",
        ),
    ] {
        assert_eq!(check(excepted, &tests), [fault]);
    }
}

#[test]
#[should_panic(expected = "file:4: no test here")]
fn a_mark_outside_a_test_is_refused() {
    let test = "#[test]\nfn test() {}";
    let text = format!("{test}\npub(super) fn helper() {{\n{MARK} 1.01+\n}}");
    proofs_in("file", &text, &mut Proofs::new());
}

#[test]
#[should_panic(expected = "file:4: no test here")]
fn a_mark_in_a_test_that_does_not_run_is_refused() {
    let text = format!("#[test]\n#[ignore = \"slow\"]\nfn test() {{\n{MARK} 1.01+\n}}");
    proofs_in("file", &text, &mut Proofs::new());
}
