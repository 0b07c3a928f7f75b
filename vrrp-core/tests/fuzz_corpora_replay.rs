//! What fuzzing has found, and what it started from, still passes: every file of every corpus goes
//! through its target. Run with `--features __fuzzing`.

use std::fs;
use std::path::Path;

use vrrp_core::fuzzing::TARGETS;

#[test]
fn every_corpus_replays() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (name, target) in TARGETS {
        let folder = corpora.join(name);
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut replayed = 0;
        for entry in entries {
            let path = entry.expect("a readable corpus").path();
            // The name of the file that fails stands above the panic.
            println!("{}", path.display());
            target(&fs::read(&path).expect("a readable file"));
            replayed += 1;
        }
        assert!(replayed >= 10, "{name} has only {replayed} files");
    }
}

/// Inputs that no corpus has, so that the targets run in every build and not only under a fuzzer.
#[test]
fn arbitrary_octets_replay() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64; // xorshift: the same octets in every run
    let mut octet = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    for length in (0..600).step_by(3) {
        let data: Vec<u8> = (0..length).map(|_| octet()).collect();
        for (_, target) in TARGETS {
            target(&data);
        }
    }
}
