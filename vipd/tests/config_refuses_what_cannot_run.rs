//! Promise: a setting that cannot be is refused, with line, column, setting, value and what is
//! allowed.

mod support;

use support::{but, refused, v4, v6};

#[test]
fn what_is_not_toml_is_refused_with_its_place() {
    refused(
        "[[router]]\nname = \"a\nvrid = 1\n",
        &["2:10: not TOML: invalid basic string, expected `\"`"],
    );
    refused("[[router]\nvrid = 1\n", &["1:10: not TOML: unclosed array table, expected `]`"]);
    refused("[[router]]\nvrid = 1\nvrid = 2\n", &["3:1: not TOML: duplicate key"]);
    refused(
        "[[router]]\nvrid = \n",
        &["2:8: not TOML: string values must be quoted, expected literal string"],
    );
    refused(
        "\u{feff}vrid == 1\n",
        &[
            "1:7: not TOML: extra `=`, expected nothing",
            "1:9: not TOML: unexpected key or value, expected newline, `#`",
        ],
    );
}

#[test]
fn keys_nobody_knows_are_refused() {
    refused(&v4("vird = 1"), &["6:1: router \"a\": vird is not a known key; did you mean vrid?"]);
    refused(
        &v4("zzz = 1"),
        &[
            "6:1: router \"a\": zzz is not a known key; known here: name, interface, vrid, version, priority, advert_interval, addresses, preempt, preempt_delay, unicast, auth, checksum, label",
        ],
    );
    refused(
        &v4("advert_int = 1"),
        &["6:1: router \"a\": advert_int is not a known key; did you mean advert_interval?"],
    );
    refused(
        &v4("nopreempt = true"),
        &["6:1: router \"a\": nopreempt is not a known key; did you mean preempt?"],
    );
    refused(
        &v4("password = \"hunter2\""),
        &["6:1: router \"a\": password is not a known key; did you mean auth?"],
    );
    refused(
        &v4("unicast = { source = \"192.0.2.1\", peer = [\"192.0.2.2\"] }"),
        &[
            "6:11: router \"a\": unicast.peers is missing; allowed: a list of the other routers' addresses, or solo = true if there are none",
            "6:35: router \"a\": unicast.peer is not a known key; did you mean peers?",
        ],
    );
    refused(
        &v4("version = 2\nauth = { type = \"PASS\", pass = \"hunter2\" }"),
        &["7:10: router \"a\": auth.type is not a known key; known here: pass"],
    );
    refused("routers = []\n", &["1:1: routers is not a known key; did you mean router?"]);
    refused("[router2]\n", &["1:2: router2 is not a known key; did you mean router?"]);
    refused("\"a\\nb\" = 1\n", &["1:1: a\\nb is not a known key; known here: router"]);
}

#[test]
fn keys_of_later_versions_are_refused_by_name() {
    refused(
        &v4("track = [{ check = \"mcs\", weight = 3 }]"),
        &["6:1: router \"a\": track is not supported by this version yet"],
    );
    refused("[[check]]\nname = \"mcs\"\n", &["1:3: check is not supported by this version yet"]);
    refused("[safety]\nguardian = true\n", &["1:2: safety is not supported by this version yet"]);
    refused(
        "[[sync_group]]\nname = \"api\"\n",
        &["1:3: sync_group is not supported by this version yet"],
    );
    refused("shutdown = \"logind\"\n", &["1:1: shutdown is not supported by this version yet"]);
    refused(
        "on_sigterm = \"handover\"\n",
        &["1:1: on_sigterm is not supported by this version yet"],
    );
}

#[test]
fn keys_without_a_default_must_be_there() {
    refused(
        "[[router]]\n",
        &[
            "1:1: router #1: name is missing; allowed: a text of 1 to 64 of A-Z a-z 0-9 - _ . : @, the first a letter, a digit or _",
            "1:1: router #1: interface is missing; allowed: a text of 1 to 15 bytes without whitespace, '/' or ':', not '.' or '..'",
            "1:1: router #1: vrid is missing; allowed: 1 to 255",
            "1:1: router #1: addresses is missing; allowed: a list of 1 to 255 addresses such as [\"192.0.2.10\"]",
        ],
    );
    refused(&but("vrid", ""), &["1:1: router \"a\": vrid is missing; allowed: 1 to 255"]);
    refused(
        &v4("unicast = { source = \"192.0.2.1\" }"),
        &[
            "6:11: router \"a\": unicast.peers is missing; allowed: a list of the other routers' addresses, or solo = true if there are none",
        ],
    );
    refused(
        &v4("unicast = { solo = false }"),
        &[
            "6:11: router \"a\": unicast.peers is missing; allowed: a list of the other routers' addresses, or solo = true if there are none",
        ],
    );
    refused(
        &v4("version = 2\nauth = {}"),
        &[
            "7:8: router \"a\": auth.pass is missing; allowed: a text of at least 1 byte, of which the first 8 are used",
        ],
    );
}

#[test]
fn values_of_the_wrong_type_are_refused() {
    refused(
        "[router]\nname = \"a\"\n",
        &["1:1: router is a table; allowed: any number of tables, each headed [[router]]"],
    );
    refused(
        "router = \"a\"\n",
        &["1:10: router = \"a\" is a text; allowed: any number of tables, each headed [[router]]"],
    );
    refused(
        "router = [1, {}]\n",
        &[
            "1:11: router #1: the entry is an integer; allowed: a table of settings, headed [[router]]",
            "1:14: router #2: name is missing; allowed: a text of 1 to 64 of A-Z a-z 0-9 - _ . : @, the first a letter, a digit or _",
            "1:14: router #2: interface is missing; allowed: a text of 1 to 15 bytes without whitespace, '/' or ':', not '.' or '..'",
            "1:14: router #2: vrid is missing; allowed: 1 to 255",
            "1:14: router #2: addresses is missing; allowed: a list of 1 to 255 addresses such as [\"192.0.2.10\"]",
        ],
    );
    refused(
        &but("name", "name = 1"),
        &[
            "2:8: router #1: name = 1 is an integer; allowed: a text of 1 to 64 of A-Z a-z 0-9 - _ . : @, the first a letter, a digit or _",
        ],
    );
    refused(
        &but("interface", "interface = [\"eth0\"]"),
        &[
            "3:13: router \"a\": interface is a list; allowed: a text of 1 to 15 bytes without whitespace, '/' or ':', not '.' or '..'",
        ],
    );
    refused(
        &but("vrid", "vrid = \"51\""),
        &["4:8: router \"a\": vrid = \"51\" is a text; allowed: an integer, 1 to 255"],
    );
    refused(
        &but("vrid", "vrid = 51.0"),
        &["4:8: router \"a\": vrid is a float; allowed: an integer, 1 to 255"],
    );
    refused(
        &but("vrid", "vrid = 1979-05-27"),
        &["4:8: router \"a\": vrid is a date or time; allowed: an integer, 1 to 255"],
    );
    refused(
        &but("addresses", "addresses = \"192.0.2.10\""),
        &[
            "5:13: router \"a\": addresses = \"192.0.2.10\" is a text; allowed: a list of 1 to 255 addresses such as [\"192.0.2.10\"]",
        ],
    );
    refused(
        &but("addresses", "addresses = [1]"),
        &["5:14: router \"a\": addresses[0] = 1 is an integer; allowed: an address in quotes"],
    );
    refused(
        &but("addresses", "addresses = [[\"192.0.2.10\"]]"),
        &["5:14: router \"a\": addresses[0] is a list; allowed: an address in quotes"],
    );
    refused(
        &v4("priority = true"),
        &["6:12: router \"a\": priority = true is a boolean; allowed: an integer, 1 to 255"],
    );
    refused(
        &v4("version = \"3\""),
        &["6:11: router \"a\": version = \"3\" is a text; allowed: the integer 2 or 3"],
    );
    refused(
        &v4("advert_interval = 1"),
        &[
            "6:19: router \"a\": advert_interval = 1 is an integer; allowed: a duration in quotes, \"10ms\" to \"40.95s\" in steps of 10ms for version 3",
        ],
    );
    refused(
        &v4("preempt = \"yes\""),
        &["6:11: router \"a\": preempt = \"yes\" is a text; allowed: true or false"],
    );
    refused(
        &v4("preempt_delay = 10"),
        &[
            "6:17: router \"a\": preempt_delay = 10 is an integer; allowed: a duration in quotes, \"0s\" to \"24h\"",
        ],
    );
    refused(
        &v4("unicast = true"),
        &[
            "6:11: router \"a\": unicast = true is a boolean; allowed: a table such as { source = \"192.0.2.1\", peers = [\"192.0.2.2\"] }",
        ],
    );
    refused(
        &v4("unicast = { peers = \"192.0.2.2\" }"),
        &[
            "6:21: router \"a\": unicast.peers = \"192.0.2.2\" is a text; allowed: a list of the other routers' addresses, or solo = true if there are none",
        ],
    );
    refused(
        &v4("unicast = { solo = 1 }"),
        &["6:20: router \"a\": unicast.solo = 1 is an integer; allowed: true or false"],
    );
    refused(
        &v4("version = 2\nauth = \"hunter2\""),
        &["7:8: router \"a\": auth is a text; allowed: a table such as { pass = \"...\" }"],
    );
    refused(
        &v4("version = 2\nauth = { pass = [\"hunter2\"] }"),
        &[
            "7:17: router \"a\": auth.pass is a list; allowed: a text of at least 1 byte, of which the first 8 are used",
        ],
    );
    refused(
        &v4("checksum = 1"),
        &[
            "6:12: router \"a\": checksum = 1 is an integer; allowed: \"auto\", \"message-only\" or \"pseudo-header\"",
        ],
    );
    refused(
        &v4("label = {}"),
        &[
            "6:9: router \"a\": label is a table; allowed: a text of 1 to 15 visible ASCII characters",
        ],
    );
}

#[test]
fn values_out_of_range_are_refused() {
    refused(
        &but("vrid", "vrid = 0"),
        &["4:8: router \"a\": vrid = 0 is not allowed; allowed: 1 to 255"],
    );
    refused(
        &but("vrid", "vrid = 256"),
        &["4:8: router \"a\": vrid = 256 is not allowed; allowed: 1 to 255"],
    );
    refused(
        &but("vrid", "vrid = -1"),
        &["4:8: router \"a\": vrid = -1 is not allowed; allowed: 1 to 255"],
    );
    refused(
        &but("vrid", "vrid = 0x100"),
        &["4:8: router \"a\": vrid = 256 is not allowed; allowed: 1 to 255"],
    );
    refused(
        &but("vrid", "vrid = 99999999999999999999999999999999999999999"),
        &["4:8: router \"a\": vrid is an integer beyond all bounds; allowed: an integer, 1 to 255"],
    );
    refused(
        &v4("priority = 0"),
        &["6:12: router \"a\": priority = 0 is not allowed; allowed: 1 to 255"],
    );
    refused(
        &v4("priority = 256"),
        &["6:12: router \"a\": priority = 256 is not allowed; allowed: 1 to 255"],
    );
    refused(
        &v4("version = 4"),
        &["6:11: router \"a\": version = 4 is not allowed; allowed: 2 or 3"],
    );
    refused(
        &v4("checksum = \"none\""),
        &[
            "6:12: router \"a\": checksum = \"none\" is not allowed; allowed: \"auto\", \"message-only\" or \"pseudo-header\"",
        ],
    );
    refused(
        &v4("version = 2\nauth = { pass = \"\" }"),
        &[
            "7:17: router \"a\": auth.pass is not allowed; allowed: a text of at least 1 byte, of which the first 8 are used",
        ],
    );
}

#[test]
fn intervals_fit_their_version() {
    refused(
        &v4("advert_interval = \"0s\""),
        &[
            "6:19: router \"a\": advert_interval = \"0s\" is not allowed; allowed: a duration in quotes, \"10ms\" to \"40.95s\" in steps of 10ms for version 3",
        ],
    );
    refused(
        &v4("advert_interval = \"5ms\""),
        &[
            "6:19: router \"a\": advert_interval = \"5ms\" is not allowed; allowed: a duration in quotes, \"10ms\" to \"40.95s\" in steps of 10ms for version 3",
        ],
    );
    refused(
        &v4("advert_interval = \"15ms\""),
        &[
            "6:19: router \"a\": advert_interval = \"15ms\" is not allowed; allowed: a duration in quotes, \"10ms\" to \"40.95s\" in steps of 10ms for version 3",
        ],
    );
    refused(
        &v4("advert_interval = \"40.96s\""),
        &[
            "6:19: router \"a\": advert_interval = \"40.96s\" is not allowed; allowed: a duration in quotes, \"10ms\" to \"40.95s\" in steps of 10ms for version 3",
        ],
    );
    refused(
        &v4("advert_interval = \"41s\""),
        &[
            "6:19: router \"a\": advert_interval = \"41s\" is not allowed; allowed: a duration in quotes, \"10ms\" to \"40.95s\" in steps of 10ms for version 3",
        ],
    );
    refused(
        &v4("advert_interval = \"1\""),
        &[
            "6:19: router \"a\": advert_interval = \"1\" is not allowed; allowed: a duration in quotes, \"10ms\" to \"40.95s\" in steps of 10ms for version 3",
        ],
    );
    refused(
        &v4("advert_interval = \"1 s\""),
        &[
            "6:19: router \"a\": advert_interval = \"1 s\" is not allowed; allowed: a duration in quotes, \"10ms\" to \"40.95s\" in steps of 10ms for version 3",
        ],
    );
    refused(
        &v4("version = 2\nadvert_interval = \"10ms\""),
        &[
            "7:19: router \"a\": advert_interval = \"10ms\" is not allowed; allowed: a duration in quotes, \"1s\" to \"255s\" in whole seconds for version 2",
        ],
    );
    refused(
        &v4("version = 2\nadvert_interval = \"1.5s\""),
        &[
            "7:19: router \"a\": advert_interval = \"1.5s\" is not allowed; allowed: a duration in quotes, \"1s\" to \"255s\" in whole seconds for version 2",
        ],
    );
    refused(
        &v4("version = 2\nadvert_interval = \"256s\""),
        &[
            "7:19: router \"a\": advert_interval = \"256s\" is not allowed; allowed: a duration in quotes, \"1s\" to \"255s\" in whole seconds for version 2",
        ],
    );
    refused(
        &v4("preempt_delay = \"25h\""),
        &[
            "6:17: router \"a\": preempt_delay = \"25h\" is not allowed; allowed: a duration in quotes, \"0s\" to \"24h\"",
        ],
    );
    refused(
        &v4("preempt_delay = \"-1s\""),
        &[
            "6:17: router \"a\": preempt_delay = \"-1s\" is not allowed; allowed: a duration in quotes, \"0s\" to \"24h\"",
        ],
    );
}

#[test]
fn names_can_be_used() {
    refused(
        &but("name", "name = \"\""),
        &[
            "2:8: router #1: name = \"\" is not allowed; allowed: a text of 1 to 64 of A-Z a-z 0-9 - _ . : @, the first a letter, a digit or _",
        ],
    );
    refused(
        &but("name", "name = \"a b\""),
        &[
            "2:8: router #1: name = \"a b\" is not allowed; allowed: a text of 1 to 64 of A-Z a-z 0-9 - _ . : @, the first a letter, a digit or _",
        ],
    );
    refused(
        &but("name", "name = \"a\\u001b[31mb\""),
        &[
            "2:8: router #1: name = \"a\\u{1b}[31mb\" is not allowed; allowed: a text of 1 to 64 of A-Z a-z 0-9 - _ . : @, the first a letter, a digit or _",
        ],
    );
    refused(
        &but("interface", "interface = \"\""),
        &[
            "3:13: router \"a\": interface = \"\" is not allowed; allowed: a text of 1 to 15 bytes without whitespace, '/' or ':', not '.' or '..'",
        ],
    );
    refused(
        &but("interface", "interface = \"sixteen-bytes-xx\""),
        &[
            "3:13: router \"a\": interface = \"sixteen-bytes-xx\" is not allowed; allowed: a text of 1 to 15 bytes without whitespace, '/' or ':', not '.' or '..'",
        ],
    );
    refused(
        &but("interface", "interface = \"eth0/1\""),
        &[
            "3:13: router \"a\": interface = \"eth0/1\" is not allowed; allowed: a text of 1 to 15 bytes without whitespace, '/' or ':', not '.' or '..'",
        ],
    );
    refused(
        &but("interface", "interface = \"..\""),
        &[
            "3:13: router \"a\": interface = \"..\" is not allowed; allowed: a text of 1 to 15 bytes without whitespace, '/' or ':', not '.' or '..'",
        ],
    );
    refused(
        &v4("label = \"sixteen-bytes-xx\""),
        &[
            "6:9: router \"a\": label = \"sixteen-bytes-xx\" is not allowed; allowed: a text of 1 to 15 visible ASCII characters",
        ],
    );
    refused(
        &v4("label = \"\""),
        &[
            "6:9: router \"a\": label = \"\" is not allowed; allowed: a text of 1 to 15 visible ASCII characters",
        ],
    );
    refused(
        &v6("label = \"vip\""),
        &[
            "6:9: router \"a\": label = \"vip\" is set, and the addresses are IPv6; allowed: a label for IPv4 only",
        ],
    );
}

#[test]
fn combinations_that_cannot_run_are_refused() {
    refused(
        &v6("version = 2"),
        &[
            "6:11: router \"a\": version = 2 is for IPv4 only, and the addresses are IPv6; allowed: 3",
        ],
    );
    refused(
        &v4("auth = { pass = \"hunter2\" }"),
        &["6:8: router \"a\": auth is for version 2 only; allowed: no auth, or version = 2"],
    );
    refused(
        &v4("preempt = false\npreempt_delay = \"10s\""),
        &[
            "7:17: router \"a\": preempt_delay = \"10s\" is set, and preempt is false; allowed: one of them",
        ],
    );
}
