//! Configurations put together in code, and read through serde. The messages of files are
//! `vipd`'s to test.

use std::net::IpAddr;

use super::*;
use vrrp_core::{Config, Mode, Priority, UnicastPeers, VirtualAddrs, Vrid};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn core(vrid: u8, addresses: &[&str], mode: Mode) -> vrrp_core::ConfigBuilder {
    let addresses: Vec<_> = addresses.iter().map(|a| ip(a)).collect();
    Config::builder(Vrid::new(vrid).unwrap(), VirtualAddrs::new(&addresses).unwrap()).mode(mode)
}

fn unicast(peers: &[&str]) -> Mode {
    let peers: Vec<_> = peers.iter().map(|a| ip(a)).collect();
    Mode::Unicast(UnicastPeers::new(&peers).unwrap())
}

fn builder(name: &str, interface: &str, core: vrrp_core::ConfigBuilder) -> RouterBuilder {
    RouterConfig::builder(name.parse().unwrap(), interface.parse().unwrap(), core.build().unwrap())
}

fn messages<T: std::fmt::Debug>(result: Result<T, ConfigErrors>) -> Vec<String> {
    result.unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn addresses_are_installed_as_hosts_unless_told_otherwise() {
    let router = builder("a", "eth0", core(1, &["192.0.2.10", "192.0.2.11"], Mode::Multicast))
        .prefix("192.0.2.11/24".parse().unwrap())
        .label(Some("vip".parse().unwrap()))
        .build()
        .unwrap();
    let shown: Vec<_> = router.vips().iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["192.0.2.10/32", "192.0.2.11/24"]);
    assert_eq!(router.label().unwrap().as_str(), "vip");
}

#[test]
fn a_router_is_judged_alone() {
    let result = builder("a", "eth0", core(1, &["fd00::10"], unicast(&["fd00::2"])))
        .prefix("fd00::11/64".parse().unwrap())
        .label(Some("vip".parse().unwrap()))
        .source(Some(ip("192.0.2.1")))
        .build();
    assert_eq!(
        messages(result),
        [
            "router \"a\": addresses = \"fd00::11/64\" is not an address of the router; \
             allowed: one that it has, such as fd00::10",
            "router \"a\": label = \"vip\" is set, and the addresses are IPv6; \
             allowed: a label for IPv4 only",
            "router \"a\": unicast.source = \"192.0.2.1\" is not IPv6; \
             allowed: the family of the addresses",
        ]
    );
}

#[test]
fn only_the_owner_of_an_address_sends_from_it() {
    let core = core(1, &["192.0.2.10"], unicast(&["192.0.2.2"]));
    let source = Some(ip("192.0.2.10"));
    let backup = builder("a", "eth0", core.clone()).source(source).build();
    assert_eq!(
        messages(backup),
        ["router \"a\": unicast.source = \"192.0.2.10\" is a virtual address of this router; \
             allowed: an address that stays on its host"]
    );
    let owner = builder("a", "eth0", core.priority(Priority::OWNER)).source(source).build();
    assert_eq!(owner.unwrap().source(), source);
}

#[test]
fn routers_are_judged_beside_each_other() {
    let routers = [
        builder("a", "eth0", core(1, &["192.0.2.10"], unicast(&["192.0.2.2", "192.0.2.3"]))),
        builder("a", "eth0", core(1, &["192.0.2.10"], unicast(&["192.0.2.3"]))),
        builder("c", "eth0", core(1, &["192.0.2.12"], unicast(&["192.0.2.10"]))),
    ];
    let result = NodeConfig::new(routers.map(|router| router.build().unwrap()).into());
    assert_eq!(
        messages(result),
        [
            "router \"a\": name = \"a\" is the name of router #1 too; allowed: a name of its own",
            "router \"a\": vrid = 1 is the vrid of router \"a\" too, on the same interface, for \
             the same family and for the same peers; allowed: a vrid of its own",
            "router \"a\": addresses[0] = \"192.0.2.10\" is an address of router \"a\" too; \
             allowed: each address on one router",
            "router \"c\": unicast.peers[0] = \"192.0.2.10\" is a virtual address of router \"a\"; \
             allowed: an address that stays on its host",
        ]
    );
}

#[test]
fn one_vrid_serves_other_links_families_and_peers() {
    let routers = [
        builder("a", "eth0", core(1, &["192.0.2.10"], Mode::Multicast)),
        builder("b", "eth1", core(1, &["192.0.2.11"], Mode::Multicast)),
        builder("c", "eth0", core(1, &["fe80::10"], Mode::Multicast)),
        // The same link-local address on another link is another address.
        builder("d", "eth1", core(1, &["fe80::10"], Mode::Multicast)),
        builder("e", "eth2", core(1, &["192.0.2.12"], unicast(&["192.0.2.2"]))),
        builder("f", "eth2", core(1, &["192.0.2.13"], unicast(&["192.0.2.3"]))),
    ];
    let node = NodeConfig::new(routers.map(|router| router.build().unwrap()).into()).unwrap();
    assert_eq!(node.routers().len(), 6);
    assert_eq!(node.router("d").unwrap().interface().as_str(), "eth1");
}

#[test]
fn a_node_without_routers_is_legal() {
    assert_eq!(NodeConfig::new(Vec::new()), Ok(NodeConfig::default()));
    assert_eq!(NodeConfig::from_value(&Value::Table(Vec::new())), Ok(NodeConfig::default()));
}

#[test]
fn a_password_is_never_shown() {
    let pass = |value: Value| {
        let auth = Value::Table(vec![("pass".into(), value)]);
        let router = Value::Table(vec![("auth".into(), auth)]);
        Value::Table(vec![("router".into(), Value::List(vec![router]))])
    };
    for value in [
        pass(Value::Text("hunter2".into())),
        pass(Value::List(vec![Value::Text("hunter2".into())])),
        pass(Value::Table(vec![("x".into(), Value::Text("hunter2".into()))])),
    ] {
        let errors = NodeConfig::from_value(&value).unwrap_err();
        assert!(!format!("{value:?} {errors} {errors:?}").contains("hunter2"));
    }
}

#[cfg(feature = "serde")]
#[test]
fn any_self_describing_format_will_do() {
    let json = r#"{ "router": [ { "name": "api", "interface": "eth0", "vrid": 51,
        "version": 2, "advert_interval": "3s", "addresses": ["192.0.2.10/24"],
        "unicast": { "source": "192.0.2.1", "peers": ["192.0.2.3", "192.0.2.2"] },
        "auth": { "pass": "hunter2" }, "preempt_delay": "1.5s" } ] }"#;
    let node: NodeConfig = serde_json::from_str(json).unwrap();
    let router = node.router("api").unwrap();
    assert_eq!(router.protocol().interval().centis(), 300);
    assert_eq!(router.protocol().mode(), &unicast(&["192.0.2.2", "192.0.2.3"]));
    assert_eq!(router.source(), Some(ip("192.0.2.1")));
    assert!(!format!("{node:?}").contains("hunter2"));

    let error = serde_json::from_str::<NodeConfig>(
        r#"{ "router": [ { "name": "api", "interface": null, "vrid": 1.5, "vrid": 2 } ] }"#,
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "router \"api\": vrid is given twice; allowed: each key once\n\
         router \"api\": interface is null; allowed: a text of 1 to 15 bytes without whitespace, '/' or ':', \
         not '.' or '..'\n\
         router \"api\": vrid is a float; allowed: an integer, 1 to 255\n\
         router \"api\": addresses is missing; allowed: a list of 1 to 255 addresses such as \
         [\"192.0.2.10\"]"
    );
}
