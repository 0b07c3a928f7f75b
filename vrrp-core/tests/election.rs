//! RFC 9568 section 6.4: who becomes Active, when, and what it does first.
#![allow(clippy::unwrap_used)]

mod support;

use support::*;
use vrrp_core::receive::Outcome;
use vrrp_core::{
    Action, AdvertInterval, AnnounceRound, Event, Input, Mode, Preempt, Priority, Profile, Reason,
    State, Timer,
};

#[test]
fn a_backup_claims_after_three_intervals_and_its_skew() {
    for (value, skew_nanos) in [(1, 996_093_750), (100, 609_375_000), (254, 7_812_500)] {
        let bench = Bench::started(config().priority(priority(value)).build().unwrap());
        assert_eq!(bench.router.state(), State::Backup);
        assert_eq!(bench.next_in().as_nanos(), 3_000_000_000 + skew_nanos);
    }
}

#[test]
fn a_claim_advertises_then_installs_then_announces() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.address_work = None;
    let actions = bench.timeout();
    let &[first, Action::InstallAddresses(id)] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(first, advert(100));
    // Nothing is announced before the kernel has confirmed the addresses.
    let result = vrrp_core::ActionResult::Done;
    let actions = bench.input(Input::ActionDone { id, result });
    assert_eq!(actions, [Action::Announce(AnnounceRound::Takeover)]);
    let expected = [
        Event::Transition { from: State::Initialize, to: State::Backup, reason: Reason::Started },
        Event::Transition { from: State::Backup, to: State::Active, reason: Reason::ActiveDown },
        Event::BecameOwner { epoch: 1 },
    ];
    assert_eq!(bench.events(), expected);
}

#[test]
fn an_owner_claims_at_startup() {
    let mut bench = Bench::new(config().priority(Priority::OWNER).build().unwrap());
    bench.input(Input::Facts(bench.good_facts()));
    let actions = bench.input(Input::Startup);
    assert_eq!(actions[0], advert(255));
    assert_eq!(bench.router.state(), State::Active);
}

#[test]
fn a_backup_follows_a_better_or_equal_router_and_learns_its_interval() {
    let mut bench = Bench::started(config().build().unwrap());
    for value in [100, 200] {
        bench.pass(millis(500));
        let slow = AdvertInterval::from_centis(300).unwrap();
        let (accepted, actions) = bench.hear_with("192.0.2.2", value, slow);
        assert_eq!(accepted.outcome, Outcome::Followed);
        assert_eq!(actions, []);
        // 3 · 3 s + 156/256 · 3 s
        assert_eq!(bench.next_in().as_nanos(), 10_828_125_000);
        assert_eq!(bench.router.snapshot().active_interval, slow);
    }
}

#[test]
fn a_preempting_backup_lets_its_timer_run_on_under_a_weaker_router() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.pass(millis(1000));
    let before = bench.router.poll_timeout();
    let (accepted, _) = bench.hear("192.0.2.2", 99);
    assert_eq!(accepted.outcome, Outcome::Ignored);
    assert_eq!(bench.router.poll_timeout(), before);
}

#[test]
fn without_preemption_a_weaker_router_is_followed() {
    let mut bench = Bench::started(config().preempt(Preempt::Never).build().unwrap());
    bench.pass(millis(1000));
    assert_eq!(bench.hear("192.0.2.2", 1).0.outcome, Outcome::Followed);
    assert_eq!(bench.next_in().as_nanos(), 3_609_375_000);
}

#[test]
fn b22_the_preempt_delay_applies_from_every_path_into_backup() {
    let config = config().preempt(Preempt::After(millis(10_000))).build().unwrap();
    let mut bench = Bench::started(config);
    for round in 0..3 {
        assert_eq!(bench.router.state(), State::Backup, "round {round}");
        for _ in 0..10 {
            assert_eq!(bench.hear("192.0.2.2", 50).0.outcome, Outcome::Followed);
            bench.pass(millis(1000));
        }
        // Ten seconds after the first one heard, it is not followed any more.
        assert_eq!(bench.hear("192.0.2.2", 50).0.outcome, Outcome::Ignored);
        bench.timeout();
        assert_eq!(bench.router.state(), State::Active);
        // The link flaps: back into Backup through Initialize.
        let facts = bench.good_facts();
        bench.input(Input::Facts(vrrp_core::Facts { link: false, ..facts }));
        assert_eq!(bench.router.state(), State::Initialize);
        bench.input(Input::Facts(facts));
    }
}

#[test]
fn a_resignation_shortens_the_wait_to_the_skew_and_teaches_no_interval() {
    for preempt in [Preempt::Never, Preempt::default()] {
        let mut bench = Bench::started(config().preempt(preempt).build().unwrap());
        bench.hear("192.0.2.2", 200);
        let fast = AdvertInterval::from_centis(1).unwrap();
        let (accepted, _) = bench.hear_with("192.0.2.2", 0, fast);
        assert_eq!(accepted.outcome, Outcome::Resignation);
        assert_eq!(bench.next_in().as_nanos(), 609_375_000);
        bench.timeout();
        let last = bench.events().into_iter().rev().find_map(|event| match event {
            Event::Transition { reason, .. } => Some(reason),
            _ => None,
        });
        assert_eq!(last, Some(Reason::PeerResigned));
    }
}

#[test]
fn a_learned_short_interval_makes_the_skew_short() {
    // What the fast handoff rests on: an advertisement with 1 cs, then priority 0.
    let mut bench = Bench::started(config().build().unwrap());
    let fast = AdvertInterval::from_centis(1).unwrap();
    bench.hear_with("192.0.2.2", 200, fast);
    bench.hear_with("192.0.2.2", 0, fast);
    assert_eq!(bench.next_in().as_nanos(), 6_093_750);
}

#[test]
fn an_active_keeps_its_cadence_without_drift() {
    let mut bench = Bench::active(config().build().unwrap());
    let claimed = bench.now;
    for round in 1..=20_u32 {
        bench.now = bench.router.poll_timeout().unwrap() + millis(7); // each wake-up is late
        bench.router.handle_timeout(bench.now);
        assert!(bench.drain().contains(&advert(100)));
        let due = claimed + millis(1000) * (round + 1);
        assert_eq!(bench.router.snapshot().next_wakeup, Some((due, Timer::AdvertDue)));
        if round == 4 {
            bench.pass(millis(100));
        }
    }
}

#[test]
fn an_active_yields_to_a_higher_priority_and_removes_before_anything_else() {
    let mut bench = Bench::active(config().build().unwrap());
    let (accepted, actions) = bench.hear("192.0.2.2", 101);
    assert_eq!(accepted.outcome, Outcome::Yielded);
    // The last advertisement makes the new Active announce itself again.
    assert!(matches!(actions[..], [Action::RemoveAddresses(_), Action::SendAdvert(_)]));
    assert_eq!(bench.router.state(), State::Backup);
    assert_eq!(bench.next_in().as_nanos(), 3_609_375_000);
    let events = bench.events();
    let lost = events.iter().position(|e| matches!(e, Event::LostOwnership { epoch: 1, .. }));
    let gone = events.iter().position(|e| matches!(e, Event::AddressesRemoved));
    assert!(lost.unwrap() < gone.unwrap(), "{events:?}");
}

#[test]
fn in_profile_rfc_a_yielding_active_says_nothing() {
    let mut bench = Bench::active(config().profile(Profile::Rfc).build().unwrap());
    let (meta, message) = message_only_advert("192.0.2.2", 101);
    bench.packet(&meta, &message).unwrap();
    assert!(matches!(bench.drain()[..], [Action::RemoveAddresses(_)]));
}

fn message_only_advert(source: &str, value: u8) -> (vrrp_core::receive::RxMeta, Vec<u8>) {
    let config = config().checksum(vrrp_core::ChecksumMode::MessageOnly).build().unwrap();
    advert_from(&config, ip(source), value, AdvertInterval::DEFAULT)
}

#[test]
fn among_equals_the_higher_address_wins() {
    let mut bench = Bench::active(config().build().unwrap());
    assert_eq!(bench.hear("192.0.2.0", 100).0.outcome, Outcome::Asserted);
    assert_eq!(bench.router.state(), State::Active);
    assert_eq!(bench.hear("192.0.2.2", 100).0.outcome, Outcome::Yielded);
    assert_eq!(bench.router.state(), State::Backup);
}

#[test]
fn an_active_answers_a_weaker_router_at_once_and_its_cadence_continues() {
    let mut bench = Bench::active(config().build().unwrap());
    bench.pass(millis(300));
    let (accepted, actions) = bench.hear("192.0.2.2", 99);
    assert_eq!(accepted.outcome, Outcome::Asserted);
    assert_eq!(actions, [advert(100), Action::Announce(AnnounceRound::Reassert)]);
    assert_eq!(bench.next_in(), millis(700));
}

#[test]
fn assertions_are_limited_to_one_per_tenth_of_an_interval() {
    let mut bench = Bench::active(config().build().unwrap());
    let mut sent = 0;
    for _ in 0..100 {
        sent += bench.hear("192.0.2.2", 99).1.iter().filter(|&&a| a == advert(100)).count();
        bench.pass(millis(5));
    }
    assert_eq!(sent, 5);
}

#[test]
fn an_active_answers_a_resignation_at_once_and_starts_its_cadence_anew() {
    let mut bench = Bench::active(config().build().unwrap());
    bench.pass(millis(300));
    let (accepted, actions) = bench.hear("192.0.2.2", 0);
    assert_eq!(accepted.outcome, Outcome::Resignation);
    assert_eq!(actions, [advert(100)]);
    assert_eq!(bench.next_in(), millis(1000));
}

#[test]
fn packets_change_nothing_in_initialize() {
    let mut bench = Bench::new(config().build().unwrap());
    let before = bench.router.snapshot();
    assert_eq!(bench.hear("192.0.2.2", 200).0.outcome, Outcome::Ignored);
    assert_eq!(bench.router.snapshot(), before);
    assert_eq!(bench.router.poll_timeout(), None);
}

#[test]
fn b58_unicast_backups_of_equal_priority_claim_one_after_the_other() {
    // The router that would win the comparison of addresses claims first, all within one step of
    // priority, so that no weaker router comes in between.
    let all = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
    let claims: Vec<_> = all
        .iter()
        .map(|own| {
            let peers: Vec<&str> = all.iter().copied().filter(|peer| peer != own).collect();
            let mut bench = Bench::new(config().mode(unicast(&peers)).build().unwrap());
            let facts = vrrp_core::Facts { source: Some(ip(own)), ..bench.good_facts() };
            bench.input(Input::Facts(facts));
            bench.input(Input::Startup);
            bench.next_in()
        })
        .collect();
    assert!(claims[2] < claims[1] && claims[1] < claims[0], "{claims:?}");
    let weaker = AdvertInterval::DEFAULT.active_down(Default::default(), priority(99));
    assert!(claims[0] < weaker);
    assert_eq!(claims[2], AdvertInterval::DEFAULT.active_down(Default::default(), priority(100)));
}

#[test]
fn solo_never_sends_and_owns_after_its_down_interval() {
    let mut bench = Bench::started(config().mode(Mode::Solo).build().unwrap());
    let actions = bench.timeout();
    assert_eq!(bench.router.state(), State::Active);
    let Action::SendAdvert(spec) = actions[0] else { panic!("{actions:?}") };
    assert_eq!(bench.router.destinations(&spec).count(), 0);
}

#[test]
fn timeouts_may_come_early_late_and_twice() {
    let mut bench = Bench::started(config().build().unwrap());
    let snapshot = bench.router.snapshot();
    bench.router.handle_timeout(bench.now + millis(3609));
    assert_eq!(bench.router.snapshot(), snapshot);
    bench.sleep(millis(3610));
    bench.router.handle_timeout(bench.now);
    assert_eq!(bench.router.state(), State::Active);
    bench.drain();
    let snapshot = bench.router.snapshot();
    bench.router.handle_timeout(bench.now);
    assert_eq!(bench.router.snapshot(), snapshot);
    assert_eq!(bench.drain(), []);
}
