//! Defects that the simulator found, each in its smallest form.
#![allow(clippy::unwrap_used)]

mod support;

use support::*;
use vrrp_core::{
    Action, AddressState, AdvertSpec, ChecksumMode, Facts, GroupId, Handoff, Impediment, Input,
    Instant, LinkId, Preempt, Profile, ResignMode, RouterId, RouterSet, State, Successor,
    VirtualAddrs, Vrid,
};

const LINK: LinkId = LinkId(0);
const PAIR: [RouterId; 2] = [RouterId(0), RouterId(1)];

/// Two routers of one sync group, Active and with their addresses.
fn active_pair(preempt: Preempt) -> (RouterSet, Instant) {
    let mut set = RouterSet::new();
    let mut now = Instant::from_millis(1_000_000);
    for (id, address) in PAIR.into_iter().zip(["192.0.2.10", "192.0.2.11"]) {
        let vips = VirtualAddrs::new(&[ip(address)]).unwrap();
        let vrid = Vrid::new(51 + id.0 as u8).unwrap();
        let config = vrrp_core::Config::builder(vrid, vips).preempt(preempt).build().unwrap();
        set.insert(now, id, LINK, config).unwrap();
    }
    set.set_group(now, GroupId(0), &PAIR).unwrap();
    for id in PAIR {
        let facts = Facts { link: true, source: Some(OWN), eligible: true };
        set.handle_input(now, id, Input::Facts(facts));
    }
    set.handle_input(now, PAIR[0], Input::Startup);
    now = set.poll_timeout().unwrap();
    set.handle_timeout(now);
    drain(&mut set, now);
    assert!(PAIR.iter().all(|&id| set.router(id).unwrap().state() == State::Active));
    (set, now)
}

/// Does all address work at once; returns what was asked for.
fn drain(set: &mut RouterSet, now: Instant) -> Vec<(RouterId, Action)> {
    let mut actions = Vec::new();
    while let Some((id, action)) = set.poll_action() {
        actions.push((id, action));
        if let Action::InstallAddresses(work) | Action::RemoveAddresses(work) = action {
            let result = vrrp_core::ActionResult::Done;
            set.handle_input(now, id, Input::ActionDone { id: work, result });
        }
    }
    actions
}

fn is_resignation((_, action): &(RouterId, Action)) -> bool {
    matches!(action, Action::SendAdvert(AdvertSpec { priority: None, .. }))
}

/// The first member to resign held its addresses, and the others dropped theirs because of it.
#[test]
fn every_member_of_a_group_holds_its_addresses_through_a_planned_handoff() {
    for input in [Input::Resign as fn(Handoff) -> Input, Input::Drain] {
        let (mut set, now) = active_pair(Preempt::default());
        let handoff = Handoff {
            mode: ResignMode::Hold,
            deadline: now + millis(5000),
            successor: Successor::Anyone,
        };
        set.handle_input(now, PAIR[0], input(handoff));
        let actions = drain(&mut set, now);
        assert_eq!(actions.len(), 2, "{actions:?}");
        assert!(actions.iter().all(is_resignation), "{actions:?}");
        for id in PAIR {
            let snapshot = set.router(id).unwrap().snapshot();
            assert_eq!(snapshot.addresses, AddressState::Present);
            assert_eq!(snapshot.state, State::Initialize);
        }
    }
}

/// The second member was taken along as if it had been awake, and resigned in place of whoever
/// had taken over meanwhile.
#[test]
fn after_a_stall_no_member_of_a_group_resigns() {
    let (mut set, now) = active_pair(Preempt::default());
    let later = now + millis(10_000);
    set.handle_timeout(later);
    let actions = drain(&mut set, later);
    let removals =
        actions.iter().filter(|(_, action)| matches!(action, Action::RemoveAddresses(_))).count();
    assert_eq!((removals, actions.len()), (2, 2), "{actions:?}");
}

/// The members that the first one promoted claimed with their own priority, and lost at once.
#[test]
fn a_forced_claim_lifts_every_member_of_a_group_above_the_active() {
    let (mut set, mut now) = active_pair(Preempt::Never);
    for id in PAIR {
        hear(&mut set, now, id, 200);
    }
    drain(&mut set, now);
    for id in PAIR {
        hear(&mut set, now, id, 200); // now that they watch, the one that they follow
        assert_eq!(set.router(id).unwrap().state(), State::Backup);
    }
    now += millis(10);
    set.handle_input(now, PAIR[1], Input::ForceClaim);
    drain(&mut set, now);
    for id in PAIR {
        let router = set.router(id).unwrap();
        assert_eq!((router.state(), router.priority()), (State::Active, priority(201)));
    }
}

/// One member had no room above its Active; the other claimed, and both lost.
#[test]
fn a_forced_claim_that_one_member_must_refuse_is_refused_by_all() {
    let (mut set, now) = active_pair(Preempt::Never);
    for _ in 0..2 {
        hear(&mut set, now, PAIR[0], 200);
        hear(&mut set, now, PAIR[1], 254);
        drain(&mut set, now);
    }
    set.handle_input(now, PAIR[0], Input::ForceClaim);
    assert_eq!(drain(&mut set, now), []);
    assert!(PAIR.iter().all(|&id| set.router(id).unwrap().state() == State::Backup));
}

fn hear(set: &mut RouterSet, now: Instant, id: RouterId, value: u8) {
    let config = set.router(id).unwrap().config().clone();
    let interval = config.interval();
    let (meta, message) = advert_from(&config, ip("192.0.2.7"), value, interval);
    set.handle_packet(now, LINK, &meta, &message).unwrap();
}

/// The grace ended with being Active, and the router watched, and claimed, without an address.
#[test]
fn a_source_address_lost_just_before_yielding_stays_lost() {
    let mut bench = Bench::active(config().build().unwrap());
    let facts = Facts { source: None, ..bench.good_facts() };
    bench.input(Input::Facts(facts));
    bench.hear("192.0.2.7", 200);
    assert_eq!(bench.router.state(), State::Backup);
    bench.pass(millis(200));
    assert_eq!(bench.router.snapshot().impediment, Some(Impediment::NoSource));
    assert_eq!(bench.router.state(), State::Initialize);
}

/// Two strict routers with the default checksum setting discarded each other's advertisements,
/// and both stayed Active.
#[test]
fn strict_routers_understand_each_other_with_the_default_checksum() {
    let config = config().profile(Profile::Rfc).checksum(ChecksumMode::Auto).build().unwrap();
    let mut bench = Bench::started(config.clone());
    let (meta, message) = advert_from(&config, ip("192.0.2.7"), 200, config.interval());
    bench.packet(&meta, &message).expect("what one sends the other accepts");
}

/// `Startup` leads to Backup at once, so adopting was possible neither before nor after it.
#[test]
fn addresses_that_were_handed_over_are_adopted_without_a_transition_on_the_link() {
    let mut bench = Bench::new(config().build().unwrap());
    bench.input(Input::Facts(bench.good_facts()));
    let actions = bench.input(Input::Adopt);
    assert_eq!(bench.router.state(), State::Active);
    assert_eq!(bench.router.snapshot().addresses, AddressState::Present);
    assert_eq!(actions[0], advert(100));
    assert!(installs(&actions) && !removes(&actions));
}

#[test]
fn a_sync_group_adopts_as_one() {
    let (set, now) = active_pair(Preempt::default());
    let config = |id| set.router(id).unwrap().config().clone();
    let configs = PAIR.map(config);
    let mut successor = RouterSet::new();
    for (id, config) in PAIR.into_iter().zip(configs) {
        successor.insert(now, id, LINK, config).unwrap();
    }
    successor.set_group(now, GroupId(0), &PAIR).unwrap();
    for id in PAIR {
        let facts = Facts { link: true, source: Some(OWN), eligible: true };
        successor.handle_input(now, id, Input::Facts(facts));
    }
    successor.handle_input(now, PAIR[1], Input::Adopt);
    let actions = drain(&mut successor, now);
    assert!(!actions.iter().any(is_resignation), "{actions:?}");
    assert!(PAIR.iter().all(|&id| successor.router(id).unwrap().state() == State::Active));
}

#[test]
fn adopting_where_something_forbids_running_changes_nothing() {
    let mut bench = Bench::new(config().build().unwrap());
    let before = bench.router.snapshot();
    assert_eq!(bench.input(Input::Adopt), []);
    assert_eq!(bench.router.snapshot(), before);
    bench.input(Input::Facts(bench.good_facts()));
    assert_eq!(bench.router.snapshot().impediment, Some(Impediment::NotStarted));
}
