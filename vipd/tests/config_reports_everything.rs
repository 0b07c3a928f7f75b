//! Promise: all mistakes of a file are reported at once, no password is ever shown, and what can
//! run is taken and means what it says.

mod support;

use support::{accepted, refused, two, v4, v6};
use vipd::config::parse;

#[test]
fn all_mistakes_of_a_file_are_reported_in_its_order() {
    let text = r#"
colour = "red"

[[router]]
name = "api"
interface = "eth0"
vrid = 256
addresses = ["192.0.2.10", "127.0.0.1"]
unicast = { source = "192.0.2.1", peers = [] }
auth = { pass = "hunter2" }

[[router]]
addresses = ["192.0.2.10"]
name = "web"
interface = "eth0"
advert_interval = "41s"
version = 2
vrid = 0

[[check]]
name = "mcs"
"#;
    refused(
        text,
        &[
            "2:1: colour is not a known key; known here: router",
            "7:8: router \"api\": vrid = 256 is not allowed; allowed: 1 to 255",
            "8:28: router \"api\": addresses[1] = \"127.0.0.1\" is a loopback address; allowed: \
             a unicast address that a host can own",
            "9:43: router \"api\": unicast.peers is empty; allowed: a list of the other routers' \
             addresses, or solo = true if there are none",
            "13:14: router \"web\": addresses[0] = \"192.0.2.10\" is an address of router \"api\" \
             too; allowed: each address on one router",
            "18:8: router \"web\": vrid = 0 is not allowed; allowed: 1 to 255",
            "20:3: check is not supported by this version yet",
        ],
    );
}

#[test]
fn a_password_is_never_shown() {
    for more in [
        "auth = { pass = \"hunter2\" }",
        "auth = { pass = \"hunter2\", x = \"hunter2\" }",
        "auth = { passs = \"hunter2\" }",
        "auth = { pass = { hunter = \"hunter2\" } }",
        "auth = [\"hunter2\"]",
        "auth = \"hunter2\"",
        "auth.pass.secret = \"hunter2\"",
        "pass = \"hunter2\"",
        "auth = { pass = \"hunter2\\q\" }",
        "auth = { pass = \"hunter2 }",
        "auth = { pass = hunter2 }",
        "auth = { pass = \"hunter2\" } }",
        "auth = { pass = \"hunter2\", pass = \"hunter2\" }",
    ] {
        let mistakes = parse(&v4(more)).expect_err(more);
        assert!(!format!("{mistakes:?}").contains("hunter2"), "{mistakes:?}");
    }
    let config = parse(&v4("version = 2\nauth = { pass = \"hunter2\" }")).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn what_can_run_is_accepted() {
    accepted("");
    accepted("router = []\n");
    accepted(&v4(""));
    accepted(&v6(""));
    accepted(&v4("").replace('\n', "\r\n"));
    accepted(&format!("\u{feff}{}", v4("")));
    for more in [
        "priority = 1",
        "priority = 255",
        "advert_interval = \"10ms\"",
        "advert_interval = \"40.95s\"",
        "advert_interval = \"1.5s\"",
        "version = 2\nadvert_interval = \"255s\"",
        "version = 2\nauth = { pass = \"longer than eight\" }",
        "preempt = false",
        "preempt_delay = \"10s\"",
        "preempt = true\npreempt_delay = \"0s\"",
        "checksum = \"pseudo-header\"",
        "checksum = \"message-only\"",
        "label = \"vip\"",
        "unicast = { solo = true }",
        "unicast = { source = \"192.0.2.1\", solo = true }",
        "unicast = { peers = [\"192.0.2.2\"], solo = false }",
        "unicast.peers = [\"192.0.2.2\"]",
        "[router.unicast]\npeers = [\"192.0.2.2\"]",
        // The owner of an address sends from it.
        "priority = 255\nunicast = { source = \"192.0.2.10\", peers = [\"192.0.2.2\"] }",
    ] {
        accepted(&v4(more));
    }
    let unicast = |peer: &str| format!("unicast = {{ peers = [\"{peer}\"] }}");
    let (here, there) = (unicast("192.0.2.2"), unicast("192.0.2.3"));
    let second = |interface: &str, address: &str, more: &str| {
        let addresses = format!("addresses = [\"{address}\"]");
        let interface = format!("interface = \"{interface}\"");
        two(&here, &["name = \"b\"", &interface, "vrid = 1", &addresses, more])
    };
    accepted(&second("eth0", "192.0.2.11", &there));
    accepted(&second("eth1", "192.0.2.11", &here));
    accepted(&second("eth0", "fd00::11", ""));
}

#[test]
fn settings_mean_what_they_say() {
    let config = parse(&v4("advert_interval = \"40.95s\"\npreempt_delay = \"1.5s\"")).unwrap();
    let settings = config.router("a").unwrap().protocol();
    assert_eq!(settings.interval().centis(), 4095);
    let delay = std::time::Duration::from_millis(1500);
    assert_eq!(settings.preempt(), vrrp_core::Preempt::After(delay));

    let config = parse(&v4("")).unwrap();
    let router = config.router("a").unwrap();
    let settings = router.protocol();
    assert_eq!(settings.version(), vrrp_core::Version::V3);
    assert_eq!(settings.priority().value(), 100);
    assert_eq!(settings.interval().centis(), 100);
    assert_eq!(settings.preempt(), vrrp_core::Preempt::After(std::time::Duration::ZERO));
    assert_eq!(settings.mode(), &vrrp_core::Mode::Multicast);
    assert_eq!((router.label(), router.source()), (None, None));
    assert_eq!(router.vips()[0].to_string(), "192.0.2.10/32");
}
