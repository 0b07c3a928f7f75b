//! Giving up in an orderly way (architecture 3.2 and 3.4): orders, bounds, latches.

mod support;

use support::*;
use vrrp_core::{
    Action, AdvertInterval, Audience, Event, Handoff, Impediment, Input, Mode, ResignMode, State,
    Successor, Version,
};

const FAST: AdvertInterval = AdvertInterval::MIN;

fn handoff(bench: &Bench, mode: ResignMode, successor: Successor) -> Handoff {
    Handoff { mode, deadline: bench.now + millis(5000), successor }
}

fn resign(bench: &mut Bench, mode: ResignMode, successor: Successor) -> Vec<Action> {
    let handoff = handoff(bench, mode, successor);
    bench.input(Input::Resign(handoff))
}

#[test]
fn remove_first_removes_then_resigns() {
    let mut bench = Bench::active(config().build().unwrap());
    let actions = resign(&mut bench, ResignMode::RemoveFirst, Successor::Anyone);
    assert!(matches!(actions[..], [Action::RemoveAddresses(_), last] if last == resignation()));
    assert_eq!(bench.router.state(), State::Initialize);
}

#[test]
fn hold_resigns_and_keeps_the_addresses_until_the_successor_announces() {
    let mut bench = Bench::active(config().build().unwrap());
    assert_eq!(resign(&mut bench, ResignMode::Hold, Successor::Anyone), [resignation()]);
    assert_eq!(bench.router.state(), State::Initialize);
    bench.pass(millis(600));
    // Ownership ended with the resignation, not with the removal.
    assert!(matches!(bench.events()[0], Event::LostOwnership { epoch: 1, .. }));
    assert_eq!(bench.input(Input::SuccessorAnnounced), []);
    // What clients sent before they heard it is still answered; more announcements change nothing.
    assert_eq!(bench.pass(millis(9)), []);
    assert_eq!(bench.input(Input::SuccessorAnnounced), []);
    assert!(removes(&bench.pass(millis(1))));
    assert_eq!(bench.router.poll_timeout(), None);
}

#[test]
fn hold_ends_with_the_skew_of_the_weakest_successor_and_a_margin() {
    for version in [Version::V2, Version::V3] {
        let mut bench = Bench::active(config().version(version).build().unwrap());
        resign(&mut bench, ResignMode::Hold, Successor::Anyone);
        assert_eq!(bench.pass(millis(1190)), []);
        assert!(removes(&bench.pass(millis(10))));
    }
}

#[test]
fn hold_never_outlasts_its_deadline() {
    let mut bench = Bench::active(config().build().unwrap());
    let deadline = bench.now + millis(300);
    let handoff = Handoff { mode: ResignMode::Hold, deadline, successor: Successor::Anyone };
    bench.input(Input::Resign(handoff));
    assert_eq!(bench.pass(millis(299)), []);
    assert!(removes(&bench.pass(millis(1))));
}

#[test]
fn hold_ends_soon_after_a_successors_advertisement_where_its_announcement_is_not_seen() {
    let mut bench = Bench::active(config().build().unwrap());
    resign(&mut bench, ResignMode::Hold, Successor::Anyone);
    bench.pass(millis(400));
    bench.hear("192.0.2.2", 90);
    assert_eq!(bench.pass(millis(49)), []);
    assert!(removes(&bench.pass(millis(1))));
}

#[test]
fn a_second_impatient_resignation_ends_the_hold_and_says_nothing_twice() {
    let mut bench = Bench::active(config().build().unwrap());
    resign(&mut bench, ResignMode::Hold, Successor::Anyone);
    let actions = resign(&mut bench, ResignMode::RemoveFirst, Successor::Anyone);
    assert!(matches!(actions[..], [Action::RemoveAddresses(_)]));
    assert_eq!(resign(&mut bench, ResignMode::RemoveFirst, Successor::Anyone), []);
}

#[test]
fn a_resigned_router_never_claims_again_until_startup() {
    let mut bench = Bench::active(config().build().unwrap());
    resign(&mut bench, ResignMode::RemoveFirst, Successor::Anyone);
    let facts = bench.good_facts();
    bench.input(Input::Facts(vrrp_core::Facts { link: false, ..facts }));
    bench.input(Input::Facts(facts));
    bench.input(Input::Undrain);
    bench.input(Input::ForceClaim);
    bench.input(Input::Adopt);
    bench.pass(millis(60_000));
    assert_eq!(bench.router.state(), State::Initialize);
    assert_eq!(bench.router.snapshot().impediment, Some(Impediment::Resigned));
    bench.input(Input::Startup);
    assert_eq!(bench.router.state(), State::Backup);
}

#[test]
fn a19_a_drained_router_stays_out_until_undrain() {
    let mut bench = Bench::active(config().build().unwrap());
    let handoff = handoff(&bench, ResignMode::Hold, Successor::Anyone);
    bench.input(Input::Drain(handoff));
    bench.pass(millis(10_000));
    bench.input(Input::Startup);
    assert_eq!(bench.router.snapshot().impediment, Some(Impediment::Drained));
    bench.input(Input::Undrain);
    assert_eq!(bench.router.state(), State::Backup);
}

#[test]
fn a_backup_resigns_without_a_word() {
    let mut bench = Bench::started(config().build().unwrap());
    assert_eq!(resign(&mut bench, ResignMode::Hold, Successor::BestKnown), []);
    assert_eq!(bench.router.state(), State::Initialize);
    assert_eq!(bench.router.poll_timeout(), None);
}

#[test]
fn directed_in_unicast_the_fast_pair_goes_to_one_peer_and_plain_zero_to_the_rest() {
    let mode = unicast(&["192.0.2.2", "192.0.2.3", "192.0.2.4"]);
    let mut bench = Bench::active(config().mode(mode).build().unwrap());
    bench.hear("192.0.2.3", 90); // the only one heard
    let peer = ip("192.0.2.3");
    let expected = [
        advert_to(Audience::Only(peer), 100, FAST),
        advert_to(Audience::Only(peer), 0, AdvertInterval::DEFAULT),
        advert_to(Audience::AllExcept(peer), 0, AdvertInterval::DEFAULT),
    ];
    assert_eq!(resign(&mut bench, ResignMode::Hold, Successor::BestKnown), expected);
}

#[test]
fn directed_among_unheard_peers_the_highest_address_is_meant() {
    let mode = unicast(&["192.0.2.2", "192.0.2.3"]);
    let mut bench = Bench::active(config().mode(mode).build().unwrap());
    let actions = resign(&mut bench, ResignMode::Hold, Successor::BestKnown);
    assert_eq!(actions[0], advert_to(Audience::Only(ip("192.0.2.3")), 100, FAST));
}

#[test]
fn directed_in_v2_the_successor_hears_first_and_the_others_100_ms_later_each_once() {
    let mode = unicast(&["192.0.2.2", "192.0.2.3"]);
    let config = config().version(Version::V2).mode(mode).build().unwrap();
    let mut bench = Bench::active(config);
    let peer = ip("192.0.2.3");
    let first = advert_to(Audience::Only(peer), 0, AdvertInterval::DEFAULT);
    assert_eq!(resign(&mut bench, ResignMode::Hold, Successor::BestKnown), [first]);
    assert_eq!(bench.pass(millis(99)), []);
    let rest = advert_to(Audience::AllExcept(peer), 0, AdvertInterval::DEFAULT);
    assert_eq!(bench.pass(millis(1)), [rest]);
}

#[test]
fn directed_in_multicast_the_fast_advert_goes_to_one_router_and_zero_to_the_group() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.hear("192.0.2.7", 99); // weaker: not followed, but known
    bench.timeout();
    bench.drain();
    let expected = [advert_to(Audience::Only(ip("192.0.2.7")), 100, FAST), resignation()];
    assert_eq!(resign(&mut bench, ResignMode::Hold, Successor::BestKnown), expected);
}

#[test]
fn with_nobody_known_hold_is_plain_and_remove_first_hurries_everybody() {
    let mut bench = Bench::active(config().build().unwrap());
    assert_eq!(resign(&mut bench, ResignMode::Hold, Successor::BestKnown), [resignation()]);
    let mut bench = Bench::active(config().build().unwrap());
    let actions = resign(&mut bench, ResignMode::RemoveFirst, Successor::BestKnown);
    assert_eq!(actions[1..], [advert_to(Audience::All, 100, FAST), resignation()]);
}

#[test]
fn solo_has_nobody_to_hold_for() {
    let mut bench = Bench::active(config().mode(Mode::Solo).build().unwrap());
    assert!(removes(&resign(&mut bench, ResignMode::Hold, Successor::BestKnown)));
}

#[test]
fn shutdown_removes_then_resigns_and_stays_down() {
    let mut bench = Bench::active(config().build().unwrap());
    let actions = bench.input(Input::Shutdown);
    assert!(matches!(actions[..], [Action::RemoveAddresses(_), last] if last == resignation()));
    assert_eq!(bench.router.snapshot().impediment, Some(Impediment::NotStarted));
    assert_eq!(bench.router.poll_timeout(), None);
}

#[test]
fn after_a_claim_by_command_the_successor_still_learns_the_fast_interval() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.hear("192.0.2.2", 200);
    bench.input(Input::ForceClaim);
    let actions = resign(&mut bench, ResignMode::Hold, Successor::BestKnown);
    // A router of priority 200 would not learn from one of 100.
    assert_eq!(actions[0], advert_to(Audience::Only(ip("192.0.2.2")), 201, FAST));
}

#[test]
fn directed_in_v2_the_others_are_not_told_once_the_successor_has_spoken() {
    // A successor of priority 254 advertises 8 ms after its resignation arrived. Priority 0 after
    // that would leave the others their skew, which ends before its second advertisement.
    let mode = unicast(&["192.0.2.2", "192.0.2.3"]);
    let config = config().version(Version::V2).mode(mode).build().unwrap();
    let mut bench = Bench::active(config);
    resign(&mut bench, ResignMode::Hold, Successor::BestKnown);
    bench.pass(millis(10));
    bench.hear("192.0.2.3", 254);
    assert!(matches!(bench.pass(millis(1000))[..], [Action::RemoveAddresses(_)]));
}
