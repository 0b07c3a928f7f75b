//! Becoming Active otherwise than by the election: adoption, an operator's claim, the delay before
//! a claim.

mod support;

use support::*;
use vrrp_core::receive::Outcome;
use vrrp_core::{
    Action, AddressState, AnnounceRound, Event, Facts, Handoff, Impediment, Input, Preempt,
    Priority, Reason, ResignMode, State, Successor, Timer,
};

#[test]
fn an_adopting_router_is_active_at_once_and_never_removes_what_it_was_handed() {
    let mut bench = Bench::new(config().build().unwrap());
    bench.input(Input::Facts(bench.good_facts()));
    let actions = bench.input(Input::Adopt);
    assert_eq!(bench.router.state(), State::Active);
    // The list is brought up to date in place, then neighbours are told where it is now.
    let [first, Action::InstallAddresses(_), Action::Announce(AnnounceRound::Reassert)] =
        actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!(first, advert(100));
    let (from, to, reason) = (State::Initialize, State::Active, Reason::Adopted);
    let expected = [Event::Transition { from, to, reason }, Event::BecameOwner { epoch: 1 }];
    assert_eq!(bench.events(), expected);
    assert_eq!(bench.next_in(), millis(1000));
    bench.pass(millis(10_000));
    assert_eq!(bench.router.state(), State::Active);
}

#[test]
fn adopted_addresses_count_as_present_before_the_driver_has_looked() {
    let mut bench = Bench::new(config().build().unwrap());
    bench.address_work = None;
    bench.input(Input::Facts(bench.good_facts()));
    bench.input(Input::Adopt);
    assert_eq!(bench.router.snapshot().addresses, AddressState::Present);
    // A fault takes them off even if nothing was ever confirmed.
    let facts = bench.good_facts();
    assert!(removes(&bench.input(Input::Facts(Facts { eligible: false, ..facts }))));
}

#[test]
fn adoption_is_refused_where_the_router_may_not_run() {
    let good = Bench::new(config().build().unwrap()).good_facts();
    for facts in [
        Facts { link: false, ..good },
        Facts { source: None, ..good },
        Facts { eligible: false, ..good },
    ] {
        let mut bench = Bench::new(config().build().unwrap());
        bench.input(Input::Facts(facts));
        assert_eq!(bench.input(Input::Adopt), []);
        assert_eq!(bench.router.state(), State::Initialize);
        assert_eq!(bench.router.snapshot().addresses, AddressState::Absent);
    }
    for (latch, impediment) in [
        (Input::Resign as fn(Handoff) -> Input, Impediment::Resigned),
        (Input::Drain, Impediment::Drained),
    ] {
        let mut bench = Bench::started(config().build().unwrap());
        let (mode, successor) = (ResignMode::RemoveFirst, Successor::Anyone);
        bench.input(latch(Handoff { mode, deadline: bench.now, successor }));
        assert_eq!(bench.input(Input::Adopt), []);
        assert_eq!(bench.router.snapshot().impediment, Some(impediment));
    }
}

#[test]
fn a_router_that_takes_part_already_adopts_nothing() {
    let mut bench = Bench::started(config().build().unwrap());
    let before = bench.router.clone();
    assert_eq!(bench.input(Input::Adopt), []);
    assert_eq!(bench.router, before);
}

#[test]
fn an_operators_claim_wins_by_one_and_lasts_until_it_is_released() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.hear("192.0.2.2", 200);
    let actions = bench.input(Input::ForceClaim);
    assert_eq!(actions[0], advert(201));
    assert_eq!(bench.router.state(), State::Active);
    // What the checks say meanwhile does not take the claim back.
    assert_eq!(bench.input(Input::PriorityChanged(priority(50))), []);
    assert_eq!(bench.hear("192.0.2.2", 200).0.outcome, Outcome::Asserted);
    assert_eq!(bench.input(Input::ReleaseClaim), [advert(50)]);
    assert_eq!(bench.hear("192.0.2.2", 200).0.outcome, Outcome::Yielded);
    assert_eq!(bench.router.priority(), priority(50));
}

#[test]
fn an_operators_claim_keeps_the_own_priority_where_that_is_enough() {
    let mut bench = Bench::started(config().preempt(Preempt::Never).build().unwrap());
    bench.hear("192.0.2.2", 50);
    assert_eq!(bench.input(Input::ForceClaim)[0], advert(100));
}

#[test]
fn an_operators_claim_is_refused_where_nothing_lies_above_the_active() {
    for active in [254, 255] {
        let mut bench = Bench::started(config().build().unwrap());
        bench.hear("192.0.2.2", active);
        bench.events();
        let before = bench.router.snapshot();
        assert_eq!(bench.input(Input::ForceClaim), []);
        assert_eq!(bench.events(), [Event::ClaimRefused { active: priority(active) }]);
        assert_eq!(bench.router.snapshot(), before);
    }
    let mut bench = Bench::started(config().build().unwrap());
    bench.hear("192.0.2.2", 253);
    assert_eq!(bench.input(Input::ForceClaim)[0], advert(254));
}

#[test]
fn an_operators_claim_ends_with_the_ownership_it_brought() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.hear("192.0.2.2", 150);
    bench.input(Input::ForceClaim);
    assert_eq!(bench.hear("192.0.2.2", 200).0.outcome, Outcome::Yielded);
    assert_eq!(bench.router.priority(), priority(100));
}

#[test]
fn an_active_that_is_told_to_claim_keeps_its_priority_under_failing_checks() {
    let mut bench = Bench::active(config().build().unwrap());
    assert_eq!(bench.input(Input::ForceClaim), []);
    assert_eq!(bench.input(Input::PriorityChanged(priority(50))), []);
    assert_eq!(bench.router.priority(), priority(100));
}

#[test]
fn nobody_claims_by_command_in_initialize() {
    let mut bench = Bench::new(config().build().unwrap());
    bench.input(Input::Facts(bench.good_facts()));
    assert_eq!(bench.input(Input::ForceClaim), []);
    assert_eq!(bench.router.state(), State::Initialize);
}

#[test]
fn the_preempt_delay_starts_with_the_weaker_active_and_ends_with_a_better_one() {
    let config = config().preempt(Preempt::After(millis(10_000))).build().unwrap();
    let mut bench = Bench::started(config);
    bench.hear("192.0.2.2", 50);
    bench.pass(millis(3000));
    // A better router in between: the delay begins anew with the next weaker one.
    bench.hear("192.0.2.3", 200);
    bench.pass(millis(3000));
    let outcomes: Vec<Outcome> = (0..13)
        .map(|_| {
            let outcome = bench.hear("192.0.2.2", 50).0.outcome;
            bench.pass(millis(1000));
            outcome
        })
        .collect();
    assert_eq!(outcomes[..10], [Outcome::Followed; 10]);
    assert_eq!(outcomes[10..], [Outcome::Ignored; 3]);
}

#[test]
fn the_preempt_delay_never_delays_a_claim_when_nobody_is_active() {
    let config = config().preempt(Preempt::After(millis(60_000))).build().unwrap();
    // From startup,
    let mut bench = Bench::started(config.clone());
    assert_eq!(bench.next_in().as_nanos(), 3_609_375_000);
    // after a weaker Active fell silent,
    bench.hear("192.0.2.2", 50);
    assert_eq!(bench.next_in().as_nanos(), 3_609_375_000);
    // and after one resigned.
    bench.hear("192.0.2.2", 0);
    assert_eq!(bench.next_in().as_nanos(), 609_375_000);
    bench.timeout();
    assert_eq!(bench.router.state(), State::Active);
    // The delay is over with the claim.
    assert!(bench.router.snapshot().next_wakeup.unwrap().1 != Timer::PreemptDelay);
}

#[test]
fn an_owner_preempts_whatever_the_setting_says() {
    for preempt in [Preempt::Never, Preempt::After(millis(60_000))] {
        let builder = config().priority(Priority::OWNER).preempt(preempt);
        let mut bench = Bench::active(builder.build().unwrap());
        // Another owner with a higher address: this one is Backup at 255 (digest 4.206).
        bench.hear("192.0.2.2", 255);
        assert_eq!(bench.router.state(), State::Backup);
        let before = bench.router.poll_timeout();
        assert_eq!(bench.hear("192.0.2.3", 254).0.outcome, Outcome::Ignored);
        assert_eq!(bench.router.poll_timeout(), before);
    }
}
