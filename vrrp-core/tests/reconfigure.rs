//! New settings for a living router never touch the election (A14, B29, B61).
#![allow(clippy::unwrap_used)]

mod support;

use std::net::IpAddr;

use support::rack::{A, B, LINK, Rack, good, member};
use support::*;
use vrrp_core::receive::{Outcome, Warning};
use vrrp_core::{
    Action, AdvertInterval, AnnounceRound, AnnounceSchedule, ChecksumMode, Config, Event, Input,
    InsertError, Mode, Preempt, Priority, ReconfigureError, RouterId, RouterSet, State, Timer,
    UnicastPeers, Version, VirtualAddrs, Vrid,
};

fn reconfigure(bench: &mut Bench, config: Config) -> Vec<Action> {
    bench.router.reconfigure(bench.now, config).unwrap();
    bench.drain()
}

fn transitions(bench: &mut Bench) -> usize {
    let events = bench.events();
    events.iter().filter(|event| matches!(event, Event::Transition { .. })).count()
}

fn with_addresses(addresses: &[&str]) -> Config {
    let list: Vec<IpAddr> = addresses.iter().map(|a| ip(a)).collect();
    Config::builder(Vrid::new(51).unwrap(), VirtualAddrs::new(&list).unwrap()).build().unwrap()
}

fn advert_due(bench: &Bench) -> vrrp_core::Instant {
    let (at, timer) = bench.router.snapshot().next_wakeup.unwrap();
    assert_eq!(timer, Timer::AdvertDue);
    at
}

#[test]
fn b61_a_hundred_peer_sets_in_a_second_leave_an_active_alone() {
    let peers = |round: usize| {
        let list: Vec<IpAddr> = (2..4 + round % 5).map(|h| ip(&format!("192.0.2.{h}"))).collect();
        Mode::Unicast(UnicastPeers::new(&list).unwrap())
    };
    let mut bench = Bench::active(config().mode(peers(0)).build().unwrap());
    let due = advert_due(&bench);
    for round in 1..=100 {
        bench.pass(millis(9));
        let actions = reconfigure(&mut bench, config().mode(peers(round)).build().unwrap());
        // The new peers hear of the Active at once; no address is touched.
        assert_eq!(actions, [advert(100)], "{round}");
        assert_eq!(advert_due(&bench), due);
    }
    assert_eq!(transitions(&mut bench), 0);
    bench.timeout();
    assert_eq!(bench.now, due);
    assert_eq!(advert_due(&bench), due + millis(1000));
}

#[test]
fn losing_the_last_peer_of_an_active_keeps_its_ownership() {
    let mut bench = Bench::active(config().mode(unicast(&["192.0.2.2"])).build().unwrap());
    let due = advert_due(&bench);
    reconfigure(&mut bench, config().mode(Mode::Solo).build().unwrap());
    reconfigure(&mut bench, config().mode(unicast(&["192.0.2.3"])).build().unwrap());
    assert_eq!(advert_due(&bench), due);
    assert_eq!(transitions(&mut bench), 0);
}

#[test]
fn a14_a_new_list_of_addresses_is_installed_in_place() {
    let mut bench = Bench::active(with_addresses(&["192.0.2.10", "192.0.2.11"]));
    let due = advert_due(&bench);
    let actions = reconfigure(&mut bench, with_addresses(&["192.0.2.11", "192.0.2.12"]));
    // One installation of the whole list: the driver adds and removes what differs, and nothing
    // that stays is ever removed. What is new is announced.
    let [first, Action::InstallAddresses(_), Action::Announce(AnnounceRound::Reassert)] =
        actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!(first, advert(100));
    assert_eq!(advert_due(&bench), due);
    assert_eq!(bench.events(), []);
}

#[test]
fn b29_a_peer_with_another_list_is_heard_all_the_same() {
    for version in [Version::V2, Version::V3] {
        let mut bench = Bench::started(config().version(version).build().unwrap());
        let list = VirtualAddrs::new(&[VIP, ip("192.0.2.11"), ip("192.0.2.12")]).unwrap();
        let theirs = Config::builder(Vrid::new(51).unwrap(), list).version(version);
        let theirs = theirs.build().unwrap();
        for _ in 0..20 {
            let interval = AdvertInterval::DEFAULT;
            let (meta, message) = advert_from(&theirs, ip("192.0.2.2"), 200, interval);
            let accepted = bench.packet(&meta, &message).unwrap();
            assert_eq!(accepted.outcome, Outcome::Followed);
            assert!(accepted.warnings.contains(Warning::AddressListMismatch));
            bench.pass(millis(1000));
        }
        assert_eq!(bench.router.state(), State::Backup);
    }
}

#[test]
fn a_backups_deadline_and_learned_interval_outlive_new_settings() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.hear_with("192.0.2.2", 200, AdvertInterval::from_centis(300).unwrap());
    let before = bench.router.snapshot();
    let interval = AdvertInterval::from_centis(50).unwrap();
    let builder = config().interval(interval).priority(priority(150));
    assert_eq!(reconfigure(&mut bench, builder.build().unwrap()), []);
    let after = bench.router.snapshot();
    assert_eq!(after.active_interval, before.active_interval);
    assert_eq!(after.next_wakeup, before.next_wakeup);
    assert_eq!(after.state, State::Backup);
    assert_eq!(after.priority, priority(150));
}

#[test]
fn a_v2_backup_takes_the_new_interval_which_is_one_for_all() {
    let mut bench = Bench::started(config().version(Version::V2).build().unwrap());
    let slow = AdvertInterval::from_centis(300).unwrap();
    let builder = config().version(Version::V2).interval(slow);
    reconfigure(&mut bench, builder.build().unwrap());
    bench.hear("192.0.2.2", 200);
    assert_eq!(bench.next_in().as_nanos(), 9_609_375_000);
}

#[test]
fn an_active_tells_its_new_priority_at_once_and_keeps_its_cadence() {
    let mut bench = Bench::active(config().build().unwrap());
    bench.pass(millis(300));
    let due = advert_due(&bench);
    let actions = reconfigure(&mut bench, config().priority(priority(50)).build().unwrap());
    assert_eq!(actions, [advert(50)]);
    assert_eq!(advert_due(&bench), due);
    // Even if a better router will take over now: that is the election's to say.
    assert_eq!(bench.events(), [Event::PriorityEffective { priority: priority(50) }]);
}

#[test]
fn a_new_interval_of_an_active_counts_from_the_advert_that_tells_it() {
    for centis in [10, 400] {
        let mut bench = Bench::active(config().build().unwrap());
        bench.pass(millis(300));
        let interval = AdvertInterval::from_centis(centis).unwrap();
        let actions = reconfigure(&mut bench, config().interval(interval).build().unwrap());
        assert_eq!(actions, [advert_to(vrrp_core::Audience::All, 100, interval)]);
        assert_eq!(advert_due(&bench), bench.now + interval.duration());
        // Its own stall limit follows.
        bench.pass(interval.duration() * 10);
        assert_eq!(bench.router.state(), State::Active);
    }
}

#[test]
fn a_new_base_priority_cancels_what_the_checks_said_of_the_old_one() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.input(Input::PriorityChanged(priority(60)));
    reconfigure(&mut bench, config().preempt(Preempt::Never).build().unwrap());
    assert_eq!(bench.router.priority(), priority(60));
    reconfigure(&mut bench, config().priority(priority(150)).build().unwrap());
    assert_eq!(bench.router.priority(), priority(150));
}

#[test]
fn the_same_settings_again_say_nothing() {
    for mut bench in [
        Bench::started(config().build().unwrap()),
        Bench::active(config().build().unwrap()),
        Bench::new(config().build().unwrap()),
    ] {
        let before = bench.router.clone();
        assert_eq!(reconfigure(&mut bench, config().build().unwrap()), []);
        assert_eq!(bench.router, before);
    }
}

#[test]
fn settings_of_another_router_are_refused_and_change_nothing() {
    let vip6 = VirtualAddrs::new(&[ip("fe80::10")]).unwrap();
    let other_vrid = Config::builder(Vrid::new(52).unwrap(), VirtualAddrs::new(&[VIP]).unwrap());
    let other_family = Config::builder(Vrid::new(51).unwrap(), vip6);
    for (builder, setting) in
        [(other_vrid, "vrid"), (config().version(Version::V2), "version"), (other_family, "family")]
    {
        let mut bench = Bench::active(config().build().unwrap());
        let before = bench.router.clone();
        let error = bench.router.reconfigure(bench.now, builder.build().unwrap()).unwrap_err();
        assert_eq!(error.setting, setting);
        assert!(error.to_string().contains(setting));
        assert_eq!(bench.router, before);
    }
}

#[test]
fn new_announcement_times_apply_to_the_living() {
    let mut bench = Bench::active(config().build().unwrap());
    bench.pass(millis(6000));
    let every = |refresh| AnnounceSchedule { refresh, ..AnnounceSchedule::default() };
    reconfigure(&mut bench, config().announce(every(millis(10_000))).build().unwrap());
    let refresh = Action::Announce(AnnounceRound::Refresh);
    assert!(bench.pass(millis(10_000)).contains(&refresh));
    reconfigure(&mut bench, config().announce(every(millis(0))).build().unwrap());
    assert!(!bench.pass(millis(300_000)).contains(&refresh));
}

#[test]
fn every_setting_that_may_change_in_place_changes_no_state() {
    let peers = UnicastPeers::new(&[ip("192.0.2.2")]).unwrap();
    let changes = [
        config().priority(priority(1)),
        config().priority(Priority::OWNER),
        config().interval(AdvertInterval::MIN),
        config().preempt(Preempt::Never),
        config().preempt(Preempt::After(millis(1000))),
        config().checksum(ChecksumMode::MessageOnly),
        config().profile(vrrp_core::Profile::Rfc),
        config().install_failure(vrrp_core::InstallFailure::Retry),
        config().max_peer_priority(priority(100)),
        config().allowed_sources(Some(peers)),
        config().unicast_min_ttl(255),
        config().mode(Mode::Solo),
        config().mode(unicast(&["192.0.2.2"])),
    ];
    for (index, builder) in changes.into_iter().enumerate() {
        let config_after = builder.build().unwrap();
        for mut bench in [
            Bench::new(config().build().unwrap()),
            Bench::started(config().build().unwrap()),
            Bench::active(config().build().unwrap()),
        ] {
            let state = bench.router.state();
            bench.events();
            let actions = reconfigure(&mut bench, config_after.clone());
            assert_eq!(bench.router.state(), state, "{index}");
            assert_eq!(transitions(&mut bench), 0, "{index}");
            assert!(!removes(&actions), "{index}: {actions:?}");
            assert_eq!(bench.router.config(), &config_after);
        }
    }
}

#[test]
fn a_set_refuses_an_address_on_two_routers_and_changes_nothing() {
    let configs = [A, B].map(|id| (id, member(id).build().unwrap()));
    let mut rack = Rack::new(&configs);
    let stolen = configs[0].1.addresses().clone();
    let vrid = Vrid::new(2).unwrap();
    let config = Config::builder(vrid, stolen.clone()).build().unwrap();
    let taken = InsertError::AddressTaken { address: stolen[0], other: A };
    let refused = rack.set.reconfigure(rack.now, B, config.clone());
    assert_eq!(refused, Err(ReconfigureError::Conflict(taken)));
    assert_eq!(rack.set.router(B).unwrap().config(), &configs[1].1);
    let third = Config::builder(Vrid::new(3).unwrap(), stolen).build().unwrap();
    assert_eq!(rack.set.insert(rack.now, RouterId(3), LINK, third), Err(taken));
    let unknown = rack.set.reconfigure(rack.now, RouterId(9), config);
    assert_eq!(unknown, Err(ReconfigureError::Unknown(RouterId(9))));
}

#[test]
fn a_set_hears_the_peers_that_a_router_has_now() {
    let with = |peer: &str| member(A).mode(unicast(&[peer])).build().unwrap();
    let mut rack = Rack { set: RouterSet::new(), ..Rack::new(&[]) };
    rack.set.insert(rack.now, A, LINK, with("192.0.2.2")).unwrap();
    rack.input(A, Input::Facts(good()));
    rack.input(A, Input::Startup);
    rack.set.reconfigure(rack.now, A, with("192.0.2.3")).unwrap();
    for (source, heard) in [("192.0.2.2", false), ("192.0.2.3", true)] {
        let interval = AdvertInterval::DEFAULT;
        let (meta, message) = advert_from(&with(source), ip(source), 200, interval);
        let result = rack.set.handle_packet(rack.now, LINK, &meta, &message);
        assert_eq!(result.is_ok(), heard, "{source}: {result:?}");
    }
    // An address that was given up is free for another router.
    let moved =
        Config::builder(Vrid::new(1).unwrap(), VirtualAddrs::new(&[ip("192.0.2.77")]).unwrap());
    let freed = with("192.0.2.3").addresses().clone();
    let moved = moved.mode(unicast(&["192.0.2.3"])).build().unwrap();
    rack.set.reconfigure(rack.now, A, moved).unwrap();
    let second = Config::builder(Vrid::new(9).unwrap(), freed).build().unwrap();
    rack.set.insert(rack.now, B, LINK, second).unwrap();
}
