//! Files that can run, and how to spoil them.
#![allow(dead_code, unreachable_pub, reason = "each test takes what it needs")]

use vipd::config::parse;

/// One IPv4 router that can run, with more lines: they begin at line 6.
pub fn v4(more: &str) -> String {
    format!(
        "[[router]]\nname = \"a\"\ninterface = \"eth0\"\nvrid = 1\n\
         addresses = [\"192.0.2.10\"]\n{more}\n"
    )
}

/// The same for IPv6.
pub fn v6(more: &str) -> String {
    v4(more).replace("192.0.2.10", "fd00::10")
}

/// The first router with the line of one key replaced.
pub fn but(key: &str, line: &str) -> String {
    let text = v4("");
    let found = text.lines().find(|l| l.starts_with(key)).expect("the line of a key");
    text.replace(found, line)
}

/// Two routers; the second one's lines begin at line 8: name, interface, vrid, addresses, more.
pub fn two(first: &str, second: &[&str]) -> String {
    format!("{}\n[[router]]\n{}\n", v4(first), second.join("\n"))
}

#[track_caller]
pub fn refused(text: &str, expected: &[&str]) {
    let Err(mistakes) = parse(text) else { panic!("accepted:\n{text}") };
    let messages: Vec<_> = mistakes.iter().map(ToString::to_string).collect();
    assert_eq!(messages, expected, "for:\n{text}");
}

#[track_caller]
pub fn accepted(text: &str) {
    if let Err(mistakes) = parse(text) {
        let messages: Vec<_> = mistakes.iter().map(ToString::to_string).collect();
        panic!("refused: {messages:#?}\n{text}");
    }
}
