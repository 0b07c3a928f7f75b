//! Promise: no text makes the reader panic, every refusal has a place inside the file, and
//! whatever is accepted can run: the core takes all its routers beside each other.

use std::cell::Cell;
use std::collections::HashMap;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use vipd::config::parse;
use vrrp_core::{Instant, LinkId, RouterId, RouterSet};
use vrrp_net::NodeConfig;

proptest! {
    #[test]
    fn arbitrary_text(text in any::<String>()) {
        judge(&text)?;
    }

    #[test]
    fn text_made_of_toml(tokens in prop::collection::vec(select(TOKENS), 0..60)) {
        judge(&tokens.concat())?;
    }

    #[test]
    fn a_good_file_with_a_scar(at in any::<Index>(), len in 0_usize..8, patch in ".{0,4}") {
        let chars: Vec<char> = GOOD.chars().collect();
        let start = at.index(chars.len());
        let end = (start + len).min(chars.len());
        let scarred: String =
            chars[..start].iter().copied().chain(patch.chars()).chain(chars[end..].iter().copied())
            .collect();
        judge(&scarred)?;
    }
}

#[test]
fn what_is_accepted_can_run() {
    let accepted = Cell::new(0);
    let config = ProptestConfig { cases: 2000, ..ProptestConfig::default() };
    let files = prop::collection::vec(router(), 0..4).prop_map(|routers| routers.concat());
    proptest!(config, |(text in files)| {
        accepted.set(accepted.get() + u32::from(judge(&text)?));
    });
    // Else the property has been shown of next to nothing.
    assert!(accepted.get() > 200, "only {} files were accepted", accepted.get());
}

/// Whether the text was accepted.
fn judge(text: &str) -> Result<bool, TestCaseError> {
    match parse(text) {
        Ok(config) => can_run(&config).map(|()| true),
        Err(mistakes) => {
            prop_assert!(!mistakes.is_empty());
            for mistake in mistakes {
                // The line after the last newline is a place as well.
                let lines = text.matches('\n').count() + 1;
                prop_assert!((1..=lines).contains(&mistake.line), "{mistake}");
                let line = text.split('\n').nth(mistake.line - 1).unwrap_or_default();
                prop_assert!((1..=line.chars().count() + 1).contains(&mistake.column), "{mistake}");
                prop_assert!(!mistake.message.contains('\n'), "{mistake}");
            }
            Ok(false)
        }
    }
}

fn can_run(config: &NodeConfig) -> Result<(), TestCaseError> {
    let mut links = HashMap::new();
    let mut set = RouterSet::new();
    for (id, router) in (0..).map(RouterId).zip(config.routers()) {
        let next = LinkId(links.len() as u32);
        let link = *links.entry(router.interface().clone()).or_insert(next);
        let inserted = set.insert(Instant::from_nanos(0), id, link, router.protocol().clone());
        prop_assert!(inserted.is_ok(), "{inserted:?}");
        let vips: Vec<_> = router.vips().iter().map(|vip| vip.address()).collect();
        prop_assert_eq!(&vips[..], &router.protocol().addresses()[..]);
    }
    Ok(())
}

/// A router of which each setting is probably good by itself.
fn router() -> impl Strategy<Value = String> {
    let optional = |lines: &'static [&'static str]| prop::option::weighted(0.4, select(lines));
    (
        (select(&["a", "b", "c", "d"][..]), select(&["eth0", "eth1"][..]), 1_u8..4),
        prop::sample::subsequence(ADDRESSES, 1..3),
        optional(&["version = 2", "version = 3"]),
        optional(&["advert_interval = \"10ms\"", "advert_interval = \"2s\""]),
        optional(&["priority = 255", "priority = 0"]),
        optional(&["preempt = false", "preempt_delay = \"1s\""]),
        optional(&["auth = { pass = \"x\" }"]),
        optional(&[
            "unicast = { solo = true }",
            "unicast = { source = \"192.0.2.1\", peers = [\"192.0.2.2\"] }",
            "unicast = { peers = [\"192.0.2.3\", \"192.0.2.10\"] }",
            "unicast = { source = \"fe80::10\", peers = [\"fe80::2\"] }",
        ]),
        optional(&["label = \"vip\""]),
    )
        .prop_map(|((name, interface, vrid), addresses, a, b, c, d, e, f, g)| {
            let more: Vec<_> = [a, b, c, d, e, f, g].into_iter().flatten().collect();
            format!(
                "[[router]]\nname = \"{name}\"\ninterface = \"{interface}\"\nvrid = {vrid}\n\
                 addresses = {addresses:?}\n{}\n",
                more.join("\n")
            )
        })
}

const ADDRESSES: &[&str] =
    &["192.0.2.10", "192.0.2.11/24", "192.0.2.12", "fd00::10/64", "fe80::10", "fe80::11"];

const GOOD: &str = r#"[[router]]
name = "api"
interface = "eth0"
vrid = 51
version = 2
addresses = ["192.0.2.10/32", "192.0.2.11"]
unicast = { source = "192.0.2.1", peers = ["192.0.2.2"] }
auth = { pass = "secret" }
"#;

const TOKENS: &[&str] = &[
    "[[router]]",
    "[router]",
    "[[",
    "]]",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\n",
    "\r\n",
    " ",
    "\"",
    "'",
    "\"\"\"",
    "#",
    "name",
    "vrid",
    "addresses",
    "unicast",
    "peers",
    "auth",
    "pass",
    "\"192.0.2.10\"",
    "\"fd00::1\"",
    "\"eth0\"",
    "1",
    "-1",
    "0x",
    "1e9",
    "true",
    "1979-05-27",
    "é",
    "\u{feff}",
    "\0",
    "\\u0000",
    "\"\\",
    "router",
    "safety",
    "track",
];
