//! Plain text files that a test compares with and people review.

use std::path::Path;

/// Compares `text` with a file of this crate; writes the file if `UPDATE_SNAPSHOTS` is set.
#[track_caller]
pub fn assert_snapshot(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        return std::fs::write(&file, text).unwrap();
    }
    let reviewed = std::fs::read_to_string(&file).unwrap_or_default();
    if reviewed == text {
        return;
    }
    let (mut old, mut new) = (reviewed.lines(), text.lines());
    let (line, old, new) = (1..)
        .map(|line| (line, old.next(), new.next()))
        .find(|(_, old, new)| old != new)
        .unwrap_or((0, None, None));
    panic!(
        "{path} differs from line {line} on:\n  file: {}\n  now:  {}\n\
         If that is meant, run the test with UPDATE_SNAPSHOTS=1 and review the change.",
        old.unwrap_or("(end)"),
        new.unwrap_or("(end)")
    );
}
