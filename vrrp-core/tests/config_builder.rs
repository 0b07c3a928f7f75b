//! Whatever the configuration's builder accepts can run, and each refusal names the setting, the
//! value and what is allowed.
#![allow(clippy::unwrap_used)]

mod support;

use std::net::IpAddr;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use support::*;
use vrrp_core::{
    AddrsError, AdvertInterval, AdvertSpec, AnnounceSchedule, Audience, ChecksumMode, Config,
    ConfigError, ConfigWarning, Facts, Family, Input, InstallFailure, Mode, Password, Preempt,
    Priority, Profile, State, UnicastPeers, Version, VirtualAddrs, Vrid,
};

fn v4() -> impl Strategy<Value = IpAddr> {
    (1..=20_u8).prop_map(|host| IpAddr::from([192, 0, 2, host]))
}

fn v6() -> impl Strategy<Value = IpAddr> {
    (any::<bool>(), 1..=20_u16).prop_map(|(local, host)| {
        let first = if local { 0xfe80 } else { 0x2001 };
        IpAddr::from([first, 0xdb8 * u16::from(!local), 0, 0, 0, 0, 0, host])
    })
}

fn list() -> impl Strategy<Value = Vec<IpAddr>> {
    let some = |address: BoxedStrategy<IpAddr>| prop::collection::vec(address, 1..5);
    prop_oneof![some(v4().boxed()), some(v6().boxed())]
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![
        Just(Mode::Multicast),
        Just(Mode::Solo),
        list().prop_filter_map("no list", |peers| Some(Mode::Unicast(
            UnicastPeers::new(&peers).ok()?
        ))),
    ]
}

prop_compose! {
    /// The settings that bear on whether a combination can run.
    fn essential()(
        addresses in list().prop_filter_map("no list", |list| VirtualAddrs::new(&list).ok()),
        vrid in 1..=255_u8,
        version in select(vec![Version::V2, Version::V3]),
        mode in mode(),
        interval in prop_oneof![(1..=255_u16).prop_map(|s| s * 100), 1..=25_500_u16],
        password in prop::option::of(prop::collection::vec(any::<u8>(), 0..12)),
        allowed in prop::option::weighted(0.2, list()),
        profile in select(vec![Profile::Compatible, Profile::Rfc]),
    ) -> vrrp_core::ConfigBuilder {
        Config::builder(Vrid::new(vrid).unwrap(), addresses)
            .version(version)
            .mode(mode)
            .interval(AdvertInterval::from_centis(interval).unwrap())
            .password(password.map(|password| Password::new(&password)))
            .allowed_sources(allowed.and_then(|list| UnicastPeers::new(&list).ok()))
            .profile(profile)
    }
}

prop_compose! {
    fn builder()(
        essential in essential(),
        value in 1..=255_u8,
        max_peer in 1..=255_u8,
        min_ttl in any::<u8>(),
        delay in prop::option::of(0..100_000_u64),
        repeat_after in 0..100_000_u64,
        refresh in 0..100_000_u64,
        checksum in select(vec![
            ChecksumMode::Auto, ChecksumMode::MessageOnly, ChecksumMode::PseudoHeader,
        ]),
        retry in any::<bool>(),
    ) -> vrrp_core::ConfigBuilder {
        essential
            .priority(priority(value))
            .max_peer_priority(priority(max_peer))
            .unicast_min_ttl(min_ttl)
            .preempt(delay.map_or(Preempt::Never, |delay| Preempt::After(millis(delay))))
            .announce(AnnounceSchedule {
                burst: 1,
                repeat_after: millis(repeat_after),
                refresh: millis(refresh),
            })
            .checksum(checksum)
            .install_failure(if retry { InstallFailure::Retry } else { InstallFailure::Resign })
    }
}

fn facts(config: &Config) -> Facts {
    let source = match config.family() {
        Family::V4 => ip("192.0.2.200"),
        Family::V6 => ip("fe80::200"),
    };
    Facts { link: true, source: Some(source), eligible: true }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_accepted_reaches_active_alone_and_stays_there(builder in builder()) {
        let Ok(config) = builder.build() else { return Ok(()) };
        let mut bench = Bench::new(config.clone());
        bench.input(Input::Facts(facts(&config)));
        bench.input(Input::Startup);
        let started = bench.now;
        while bench.router.state() != State::Active {
            bench.timeout();
        }
        // Three intervals, a skew, and the time by which unicast routers of equal priority are
        // told apart, which is less than a step of priority.
        let (interval, own) = (config.interval(), config.priority());
        let (limit, step) = match config.version() {
            _ if own.is_owner() => (Duration::ZERO, Duration::ZERO),
            Version::V2 => (interval.active_down(Version::V2, own), Duration::from_secs(1) / 256),
            Version::V3 => (interval.active_down(Version::V3, own), interval.duration() / 256),
        };
        let took = bench.now.saturating_since(started);
        prop_assert!(took >= limit && took <= limit + step, "{:?}, {:?}", took, limit);
        bench.pass(interval.duration() * 20);
        prop_assert_eq!(bench.router.state(), State::Active);
    }

    #[test]
    fn what_is_accepted_can_be_written_and_is_understood_by_another_of_its_kind(
        builder in builder(),
    ) {
        let Ok(config) = builder.build() else { return Ok(()) };
        let mut bench = Bench::new(config.clone());
        bench.input(Input::Facts(facts(&config)));
        let (audience, interval) = (Audience::All, config.interval());
        let spec = AdvertSpec { audience, priority: Some(Priority::DEFAULT), interval };
        for destination in bench.router.destinations(&spec) {
            let mut wire = vec![0; config.message_len()];
            let length = bench.router.encode_advert(&spec, destination, &mut wire).unwrap();
            prop_assert_eq!(length, config.message_len());
            // One octet less is too few, and says so.
            let short = &mut wire[..length - 1];
            prop_assert!(bench.router.encode_advert(&spec, destination, short).is_err());
        }
        let copies = bench.router.destinations(&spec).count();
        prop_assert_eq!(copies, match config.mode() {
            Mode::Multicast => 1,
            Mode::Unicast(peers) => peers.len(),
            Mode::Solo => 0,
        });
    }

    #[test]
    fn every_refusal_names_the_setting_the_value_and_what_is_allowed(builder in essential()) {
        let Err(error) = builder.build() else { return Ok(()) };
        let text = error.to_string();
        let named: Vec<String> = match error {
            ConfigError::Addresses { setting, error } => vec![setting.into(), error.to_string()],
            ConfigError::VersionFamily => vec!["version: 2".into(), "use version 3".into()],
            ConfigError::Interval { interval, version: Version::V2 } => {
                vec![format!("advert_interval: {interval} "), "whole seconds, 1s to 255s".into()]
            }
            ConfigError::Interval { interval, version: Version::V3 } => {
                vec![format!("advert_interval: {interval} "), "10ms to 40.95s".into()]
            }
            ConfigError::PasswordVersion => vec!["auth:".into(), "version 2".into()],
            ConfigError::ListFamily { setting, first, family } => {
                vec![format!("{setting}: {first}"), family.to_string()]
            }
            ConfigError::ListHoldsVip { setting, address } => {
                vec![format!("{setting}: {address}"), "by their own".into()]
            }
            ConfigError::SourcesWithoutMulticast => {
                vec!["allowed_sources:".into(), "multicast only".into()]
            }
            ConfigError::FirstAddress { first } => {
                vec!["addresses:".into(), first.to_string(), "link-local".into()]
            }
            other => return Err(TestCaseError::fail(format!("{other:?} is not in this test"))),
        };
        for part in named {
            prop_assert!(text.contains(&part), "{:?} lacks {:?}", text, part);
        }
    }

    #[test]
    fn lists_of_addresses_are_refused_for_the_address_at_fault(
        list in prop::collection::vec(prop_oneof![
            4 => v4(),
            1 => v6(),
            1 => select(vec![
                ip("0.0.0.0"), ip("127.0.0.1"), ip("224.0.0.18"), ip("255.255.255.255"), ip("240.0.0.1"),
                ip("::"), ip("::1"), ip("ff02::12"), ip("::ffff:192.0.2.1"),
            ]),
        ], 0..5),
    ) {
        let unusable = |a: &IpAddr| match a {
            IpAddr::V4(v4) => v4.octets()[0] != 192,
            IpAddr::V6(v6) => !matches!(v6.segments()[0], 0xfe80 | 0x2001),
        };
        let repeated = |a: &IpAddr| list.iter().filter(|b| *b == a).count() > 1;
        for error in [VirtualAddrs::new(&list).err(), UnicastPeers::new(&list).err()] {
            match error {
                None => {
                    prop_assert!(!list.is_empty() && !list.iter().any(|a| unusable(a) || repeated(a)));
                    prop_assert!(list.iter().all(|a| a.is_ipv4() == list[0].is_ipv4()));
                }
                Some(AddrsError::Empty) => prop_assert!(list.is_empty()),
                Some(AddrsError::Duplicate { address }) => prop_assert!(repeated(&address)),
                Some(AddrsError::MixedFamilies { first, other }) => {
                    prop_assert!(first.is_ipv4() != other.is_ipv4());
                }
                Some(AddrsError::Unusable { address, .. }) => prop_assert!(unusable(&address)),
                Some(other) => prop_assert!(false, "{:?}", other),
            }
        }
    }
}

#[test]
fn every_kind_of_refusal_is_met() {
    // The properties above say what refusals say; this says that there are any.
    let vip6 =
        || Config::builder(Vrid::new(1).unwrap(), VirtualAddrs::new(&[ip("2001:db8::1")]).unwrap());
    let secs = |s: u16| AdvertInterval::from_centis(s).unwrap();
    let peers =
        |list: &[&str]| UnicastPeers::new(&list.iter().map(|a| ip(a)).collect::<Vec<_>>()).unwrap();
    let refused = [
        (vip6().version(Version::V2), "version: 2 is for IPv4 only"),
        (config().interval(secs(4096)), "advert_interval: 40960ms does not fit version 3"),
        (config().version(Version::V2).interval(secs(150)), "advert_interval: 1500ms does not"),
        (config().password(Some(Password::new(b"x"))), "auth: only version 2"),
        (config().mode(Mode::Unicast(peers(&["fe80::1"]))), "peers: fe80::1 is not IPv4"),
        (config().allowed_sources(Some(peers(&["fe80::1"]))), "allowed_sources: fe80::1 is not"),
        (config().mode(unicast(&["192.0.2.10"])), "peers: 192.0.2.10 is one of the virtual"),
        (
            config().mode(Mode::Solo).allowed_sources(Some(peers(&["192.0.2.2"]))),
            "allowed_sources: for multicast only",
        ),
        (vip6().profile(Profile::Rfc), "addresses: the first must be link-local"),
    ];
    for (builder, text) in refused {
        let found = builder.build().unwrap_err().to_string();
        assert!(found.starts_with(text), "{found:?} is not {text:?}");
    }
}

#[test]
fn what_is_legal_but_hardly_meant_is_remarked_upon() {
    let many: Vec<IpAddr> = (1..=21_u8).map(|h| IpAddr::from([192, 0, 2, h])).collect();
    let vip6 = |address| VirtualAddrs::new(&[ip(address)]).unwrap();
    let vrid = Vrid::new(1).unwrap();
    let warnings = |builder: vrrp_core::ConfigBuilder| -> Vec<ConfigWarning> {
        builder.build().unwrap().warnings().collect()
    };
    assert_eq!(warnings(config()), []);
    let at_most = VirtualAddrs::new(&many[..20]).unwrap();
    assert_eq!(warnings(Config::builder(vrid, at_most)), []);
    let many = VirtualAddrs::new(&many).unwrap();
    let expected = [ConfigWarning::ManyAddresses { count: 21 }];
    assert_eq!(warnings(Config::builder(vrid, many)), expected);
    let first = ip("2001:db8::1");
    let expected = [ConfigWarning::FirstAddressNotLinkLocal { first }];
    assert_eq!(warnings(Config::builder(vrid, vip6("2001:db8::1"))), expected);
    assert_eq!(warnings(Config::builder(vrid, vip6("fe80::1"))), []);
    let pass = |word: &[u8]| config().version(Version::V2).password(Some(Password::new(word)));
    assert_eq!(warnings(pass(b"12345678")), []);
    assert_eq!(warnings(pass(b"123456789")), [ConfigWarning::PasswordCut]);
}

#[test]
fn a_password_is_never_shown() {
    let config = config().version(Version::V2).password(Some(Password::new(b"hunter2"))).build();
    let text = format!("{config:?}");
    assert!(
        text.contains("Password(..)") && !text.contains("hunter2") && !text.contains("104, 117")
    );
}
