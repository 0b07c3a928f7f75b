//! Promise: addresses that cannot be owned, other routers that are named with doubt, and routers
//! that cannot live beside each other are refused, with line, column, value and what is allowed.

mod support;

use support::{but, refused, two, v4};

#[test]
fn addresses_can_be_owned() {
    refused(
        &but("addresses", "addresses = []"),
        &[
            "5:13: router \"a\": addresses is empty; allowed: a list of 1 to 255 addresses such as [\"192.0.2.10\"]",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"0.0.0.0\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"0.0.0.0\" is unspecified; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"127.0.0.1\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"127.0.0.1\" is a loopback address; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"224.0.0.18\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"224.0.0.18\" is a multicast address; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"255.255.255.255\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"255.255.255.255\" is the broadcast address; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"240.0.0.1\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"240.0.0.1\" is a reserved address; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"::\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"::\" is unspecified; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"::1\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"::1\" is a loopback address; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"ff02::12\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"ff02::12\" is a multicast address; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"::ffff:192.0.2.1\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"::ffff:192.0.2.1\" is an IPv4-mapped address; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"vip.example\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"vip.example\" is not an IP address; allowed: an address such as 192.0.2.10, 192.0.2.10/24 or fd00::10",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"192.0.2.10 \"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"192.0.2.10 \" is not an IP address; allowed: an address such as 192.0.2.10, 192.0.2.10/24 or fd00::10",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"fe80::1%eth0\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"fe80::1%eth0\" is not an IP address; allowed: an address such as 192.0.2.10, 192.0.2.10/24 or fd00::10",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"192.0.2.10/33\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"192.0.2.10/33\" has no usable prefix length; allowed: /1 to /32",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"fd00::1/129\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"fd00::1/129\" has no usable prefix length; allowed: /1 to /128",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"192.0.2.10/0\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"192.0.2.10/0\" has no usable prefix length; allowed: /1 to /32",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"192.0.2.10/x\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"192.0.2.10/x\" has no usable prefix length; allowed: /1 to /32",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"192.0.2.0/24\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"192.0.2.0/24\" is the address of the /24 network itself; allowed: the address of a host in it",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"192.0.2.255/24\"]"),
        &[
            "5:14: router \"a\": addresses[0] = \"192.0.2.255/24\" is the broadcast address of its /24; allowed: the address of a host in it",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"192.0.2.10\", \"fd00::10\"]"),
        &[
            "5:28: router \"a\": addresses[1] = \"fd00::10\" is IPv6, and 192.0.2.10 is IPv4; allowed: one family per router",
        ],
    );
    refused(
        &but("addresses", "addresses = [\"FD00:0::1\", \"fd00::2\", \"fd00::1\"]"),
        &[
            "5:38: router \"a\": addresses[2] = \"fd00::1\" is listed twice; allowed: each address once",
        ],
    );
    refused(
        &but("addresses", "addresses = [\n  \"192.0.2.10\",\n  \"127.0.0.1\", \"x\",\n]"),
        &[
            "7:3: router \"a\": addresses[1] = \"127.0.0.1\" is a loopback address; allowed: a unicast address that a host can own",
            "7:16: router \"a\": addresses[2] = \"x\" is not an IP address; allowed: an address such as 192.0.2.10, 192.0.2.10/24 or fd00::10",
        ],
    );
    refused(
        &but("addresses", &format!("addresses = [{}]", "\"192.0.2.1\", ".repeat(256))),
        &["5:13: router \"a\": addresses has 256 entries; allowed: 1 to 255 addresses"],
    );
}

#[test]
fn other_routers_are_named_without_doubt() {
    refused(
        &v4("unicast = {}"),
        &[
            "6:11: router \"a\": unicast.peers is missing; allowed: a list of the other routers' addresses, or solo = true if there are none",
        ],
    );
    refused(
        &v4("unicast = { source = \"192.0.2.1\", peers = [] }"),
        &[
            "6:43: router \"a\": unicast.peers is empty; allowed: a list of the other routers' addresses, or solo = true if there are none",
        ],
    );
    refused(
        &v4("unicast = { peers = [\"192.0.2.2\"], solo = true }"),
        &[
            "6:43: router \"a\": unicast.solo = true is set, and peers are listed; allowed: peers or solo = true",
        ],
    );
    refused(
        &v4("unicast = { peers = [\"192.0.2.2\", \"fd00::2\"] }"),
        &[
            "6:35: router \"a\": unicast.peers[1] = \"fd00::2\" is IPv6, and 192.0.2.2 is IPv4; allowed: one family per router",
        ],
    );
    refused(
        &v4("unicast = { peers = [\"fd00::2\"] }"),
        &[
            "6:22: router \"a\": unicast.peers[0] = \"fd00::2\" is not IPv4; allowed: the family of the addresses",
        ],
    );
    refused(
        &v4("unicast = { peers = [\"192.0.2.2\", \"192.0.2.2\"] }"),
        &[
            "6:35: router \"a\": unicast.peers[1] = \"192.0.2.2\" is listed twice; allowed: each address once",
        ],
    );
    refused(
        &v4("unicast = { peers = [\"192.0.2.2/24\"] }"),
        &[
            "6:22: router \"a\": unicast.peers[0] = \"192.0.2.2/24\" is not an IP address; allowed: an address such as 192.0.2.1 or fd00::1",
        ],
    );
    refused(
        &v4("unicast = { peers = [\"224.0.0.18\"] }"),
        &[
            "6:22: router \"a\": unicast.peers[0] = \"224.0.0.18\" is a multicast address; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &v4("unicast = { peers = [\"192.0.2.2\", \"192.0.2.10\"] }"),
        &[
            "6:35: router \"a\": unicast.peers[1] = \"192.0.2.10\" is a virtual address of this router; allowed: an address that stays on its host",
        ],
    );
    refused(
        &v4("unicast = { source = \"192.0.2.10\", peers = [\"192.0.2.2\"] }"),
        &[
            "6:22: router \"a\": unicast.source = \"192.0.2.10\" is a virtual address of this router; allowed: an address that stays on its host",
        ],
    );
    refused(
        &v4("unicast = { source = \"192.0.2.2\", peers = [\"192.0.2.2\"] }"),
        &[
            "6:22: router \"a\": unicast.source = \"192.0.2.2\" is one of the peers too; allowed: the peers are the other routers",
        ],
    );
    refused(
        &v4("unicast = { source = \"fd00::1\", peers = [\"192.0.2.2\"] }"),
        &[
            "6:22: router \"a\": unicast.source = \"fd00::1\" is not IPv4; allowed: the family of the addresses",
        ],
    );
    refused(
        &v4("unicast = { source = \"0.0.0.0\", peers = [\"192.0.2.2\"] }"),
        &[
            "6:22: router \"a\": unicast.source = \"0.0.0.0\" is unspecified; allowed: a unicast address that a host can own",
        ],
    );
    refused(
        &v4("unicast = { source = \"eth0\", peers = [\"192.0.2.2\"] }"),
        &[
            "6:22: router \"a\": unicast.source = \"eth0\" is not an IP address; allowed: an address such as 192.0.2.1 or fd00::1",
        ],
    );
}

#[test]
fn routers_can_live_beside_each_other() {
    refused(
        &two(
            "",
            &["name = \"a\"", "interface = \"eth1\"", "vrid = 1", "addresses = [\"192.0.2.11\"]"],
        ),
        &[
            "9:8: router \"a\": name = \"a\" is the name of router #1 too; allowed: a name of its own",
        ],
    );
    refused(
        &two(
            "",
            &["name = \"b\"", "interface = \"eth1\"", "vrid = 1", "addresses = [\"192.0.2.10\"]"],
        ),
        &[
            "12:14: router \"b\": addresses[0] = \"192.0.2.10\" is an address of router \"a\" too; allowed: each address on one router",
        ],
    );
    refused(
        &two(
            "",
            &["name = \"b\"", "interface = \"eth0\"", "vrid = 1", "addresses = [\"192.0.2.11\"]"],
        ),
        &[
            "11:8: router \"b\": vrid = 1 is the vrid of router \"a\" too, on the same interface, for the same family; allowed: a vrid of its own",
        ],
    );
    refused(
        &two(
            "unicast = { source = \"192.0.2.1\", peers = [\"192.0.2.2\", \"192.0.2.3\"] }",
            &[
                "name = \"b\"",
                "interface = \"eth0\"",
                "vrid = 1",
                "addresses = [\"192.0.2.11\"]",
                "unicast = { source = \"192.0.2.1\", peers = [\"192.0.2.3\"] }",
            ],
        ),
        &[
            "11:8: router \"b\": vrid = 1 is the vrid of router \"a\" too, on the same interface, for the same family and for the same peers; allowed: a vrid of its own",
        ],
    );
    refused(
        &two(
            "unicast = { source = \"192.0.2.1\", peers = [\"192.0.2.2\"] }",
            &["name = \"b\"", "interface = \"eth0\"", "vrid = 1", "addresses = [\"192.0.2.11\"]"],
        ),
        &[
            "11:8: router \"b\": vrid = 1 is the vrid of router \"a\" too, on the same interface, for the same family; allowed: a vrid of its own",
        ],
    );
    refused(
        &two(
            "",
            &[
                "name = \"b\"",
                "interface = \"eth1\"",
                "vrid = 2",
                "addresses = [\"192.0.2.11\"]",
                "unicast = { source = \"192.0.2.10\", peers = [\"192.0.2.2\"] }",
            ],
        ),
        &[
            "13:22: router \"b\": unicast.source = \"192.0.2.10\" is a virtual address of router \"a\"; allowed: an address that stays on its host",
        ],
    );
    refused(
        &two(
            "",
            &[
                "name = \"b\"",
                "interface = \"eth1\"",
                "vrid = 2",
                "addresses = [\"192.0.2.11\"]",
                "unicast = { source = \"192.0.2.1\", peers = [\"192.0.2.10\"] }",
            ],
        ),
        &[
            "13:44: router \"b\": unicast.peers[0] = \"192.0.2.10\" is a virtual address of router \"a\"; allowed: an address that stays on its host",
        ],
    );
    refused(
        &two(
            "priority = 0",
            &["name = \"b\"", "interface = \"eth1\"", "vrid = 2", "addresses = [\"192.0.2.10\"]"],
        ),
        &[
            "6:12: router \"a\": priority = 0 is not allowed; allowed: 1 to 255",
            "12:14: router \"b\": addresses[0] = \"192.0.2.10\" is an address of router \"a\" too; allowed: each address on one router",
        ],
    );
}
