//! The table at the end: what each step cost.

use std::fmt::Write as _;
use std::time::Duration;

use crate::timeline::{Family, Recording};

/// One row per step and family.
pub(crate) fn render(recording: &Recording) -> String {
    let mut rows = vec![[
        "step".to_owned(),
        "IP".into(),
        "takeover".into(),
        "client: lost".into(),
        "longest outage".into(),
        "announced".into(),
        "has the VIP afterwards".into(),
    ]];
    for (index, step) in recording.steps.iter().enumerate() {
        for family in Family::BOTH {
            let client = recording.client(index, family);
            let owners = &step.owners[family as usize];
            let several = if owners.len() > 1 { "  <- two owners" } else { "" };
            rows.push([
                if family == Family::V4 { step.title.to_owned() } else { String::new() },
                family.name().into(),
                recording.takeover(index, family).map_or("-".into(), millis),
                format!("{} of {}", client.lost, client.sent),
                if client.lost == 0 { "-".into() } else { millis(client.outage) },
                recording.announced(index, family).to_string(),
                format!("{}{several}", owners.join(", ")),
            ]);
        }
    }
    layout(&rows)
}

fn millis(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1000.0)
}

/// Columns as wide as their widest cell; figures to the right.
fn layout<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    });
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            let right = (2..=5).contains(&column);
            // Writing to a string cannot fail.
            let _ = if right {
                write!(text, "{cell:>width$}  ")
            } else {
                write!(text, "{cell:<width$}  ")
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        if index == 0 {
            let total: usize = widths.iter().sum::<usize>() + 2 * (N - 1);
            text.push_str(&"-".repeat(total));
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [
            ["a", "b", "c", "d", "e", "f", "g"].map(String::from),
            ["long", "b", "100.0 ms", "d", "e", "f", "g"].map(String::from),
        ];
        let text = layout(&rows);
        let ends: Vec<_> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(ends[0], ends[2]);
        assert!(text.contains("100.0 ms  d"));
    }
}
