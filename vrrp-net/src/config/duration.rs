//! Durations as people write them: `10ms`, `1s`, `40.95s`, `2m`, `1h`.

use std::time::Duration;

/// Parses one number and one unit (`ms`, `s`, `m`, `h`), exactly: decimal digits become
/// nanoseconds without a float in between, and more digits than nanoseconds have are refused.
///
/// `None` for anything else, among them a bare number, a sign, and blanks.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let unit_nanos: u64 = match unit {
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60 * 1_000_000_000,
        "h" => 3_600 * 1_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
        Some(_) => return None,
        None => (number, "0"),
    };
    if !is_digits(whole) {
        return None;
    }
    let mut nanos = whole.parse::<u64>().ok()?.checked_mul(unit_nanos)?;
    let mut place = unit_nanos;
    for digit in fraction.bytes() {
        let digit = u64::from(digit - b'0'); // a digit, checked above
        if digit != 0 && !place.is_multiple_of(10) {
            return None; // finer than a nanosecond
        }
        place /= 10;
        nanos = nanos.checked_add(digit * place)?;
    }
    Some(Duration::from_nanos(nanos))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact() {
        let table: &[(&str, u64)] = &[
            ("10ms", 10_000_000),
            ("0s", 0),
            ("1s", 1_000_000_000),
            ("1.5s", 1_500_000_000),
            ("40.95s", 40_950_000_000),
            ("0.29s", 290_000_000),
            ("2m", 120_000_000_000),
            ("0.5h", 1_800_000_000_000),
            ("0.000000001s", 1),
            ("1.5000000000000000s", 1_500_000_000),
            ("18446744073s", 18_446_744_073_000_000_000),
        ];
        for &(text, nanos) in table {
            assert_eq!(parse(text), Some(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn nothing_else_is_a_duration() {
        for text in [
            "",
            "1",
            "s",
            "1 s",
            " 1s",
            "1s ",
            "-1s",
            "+1s",
            ".5s",
            "1.s",
            "1.2.3s",
            "1e3s",
            "1S",
            "1sec",
            "1m30s",
            "1,5s",
            "٣s",
            "0.0000000001s",
            "18446744074s",
            "99999999999999999999s",
            "1µs",
            "1us",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
