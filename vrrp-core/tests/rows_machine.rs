//! Section 4 of the conformance digest: the state machine. `ledger.rs` says how the ids in the
//! comments are used; `reference_machine.rs` compares the same rows on random input lists.
#![allow(clippy::unwrap_used)]

mod support;

use support::*;
use vrrp_core::receive::Outcome;
use vrrp_core::{
    Action, ActionResult, AdvertInterval, AnnounceRound, AnnounceSchedule, ChecksumMode, Event,
    Facts, Input, Preempt, Priority, Profile, Reason, State, Timer,
};

fn started() -> Bench {
    Bench::started(config().build().unwrap())
}

fn active() -> Bench {
    Bench::active(config().build().unwrap())
}

fn owner() -> Bench {
    let mut bench = Bench::new(config().priority(Priority::OWNER).build().unwrap());
    bench.input(Input::Facts(bench.good_facts()));
    bench
}

fn timer(bench: &Bench) -> Option<Timer> {
    bench.router.snapshot().next_wakeup.map(|(_, timer)| timer)
}

fn adverts(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::SendAdvert(_))).count()
}

#[test]
fn at_startup_an_owner_claims_and_any_other_listens() {
    // digest: 4.101+ 4.101- 4.102+ 4.102-
    let mut bench = owner();
    let actions = bench.input(Input::Startup);
    let [first, Action::InstallAddresses(_), Action::Announce(AnnounceRound::Takeover)] =
        actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!(first, advert(255));
    assert_eq!((bench.router.state(), bench.next_in()), (State::Active, millis(1000)));
    for value in [1, 100, 254] {
        let bench = Bench::started(config().priority(priority(value)).build().unwrap());
        assert_eq!(bench.router.state(), State::Backup);
        assert_eq!(timer(&bench), Some(Timer::ActiveDown));
        assert_eq!(bench.router.stats().adverts_sent, 0);
        assert_eq!(bench.router.snapshot().active_interval, AdvertInterval::DEFAULT);
    }
}

#[test]
fn in_initialize_neither_adverts_nor_timers_do_anything() {
    // digest: 4.103+ 4.103- 4.104+ 4.104-
    let mut bench = Bench::new(config().build().unwrap());
    bench.input(Input::Facts(bench.good_facts()));
    let before = bench.router.snapshot();
    for value in [0, 1, 100, 255] {
        assert_eq!(bench.hear("192.0.2.2", value).1, []);
        bench.sleep(millis(10_000));
        bench.router.handle_timeout(bench.now);
        assert_eq!(bench.input(Input::Shutdown), []);
        assert_eq!(bench.router.snapshot(), before);
    }
    // The same adverts and the same time are something to a Backup.
    let mut bench = started();
    bench.hear("192.0.2.2", 0);
    bench.pass(millis(610));
    assert_eq!(bench.router.state(), State::Active);
}

#[test]
fn without_link_or_source_a_router_stays_in_initialize_until_they_are_there() {
    // digest: 4.105+ 4.105-
    let good = owner().good_facts();
    for bad in [Facts { link: false, ..good }, Facts { source: None, ..good }] {
        let mut bench = owner();
        bench.input(Input::Facts(bad));
        assert_eq!(bench.input(Input::Startup), []);
        assert_eq!(bench.router.state(), State::Initialize);
        assert!(!bench.input(Input::Facts(good)).is_empty());
        assert_eq!(bench.router.state(), State::Active);
    }
}

#[test]
fn when_the_down_timer_fires_a_backup_advertises_installs_and_announces() {
    // digest: 4.202+ 4.202- 4.505+ 4.505- 4.507+ 4.507-
    let mut bench = started();
    // Not a nanosecond before.
    bench.sleep(bench.next_in() - std::time::Duration::from_nanos(1));
    bench.router.handle_timeout(bench.now);
    assert_eq!(bench.drain(), []);
    bench.address_work = None;
    let actions = bench.timeout();
    let [first, Action::InstallAddresses(id)] = actions[..] else { panic!("{actions:?}") };
    assert_eq!(first, advert(100));
    assert_eq!((bench.router.state(), bench.next_in()), (State::Active, millis(1000)));
    // Nothing is announced that the kernel has not confirmed.
    assert_eq!(bench.input(Input::Reannounce), []);
    let actions = bench.input(Input::ActionDone { id, result: ActionResult::Done });
    assert_eq!(actions, [Action::Announce(AnnounceRound::Takeover)]);
}

#[test]
fn a_backup_follows_who_is_as_good_or_better() {
    // digest: 4.204+ 4.204- A14+ A14-
    let slow = AdvertInterval::from_centis(200).unwrap();
    for value in [100, 101, 254, 255] {
        let mut bench = started();
        bench.pass(millis(2000));
        let (accepted, actions) = bench.hear_with("192.0.2.2", value, slow);
        assert_eq!((accepted.outcome, actions), (Outcome::Followed, vec![]));
        let snapshot = bench.router.snapshot();
        assert_eq!(snapshot.active, Some((ip("192.0.2.2"), priority(value))));
        assert_eq!(snapshot.active_interval, slow);
        assert_eq!(bench.next_in().as_nanos(), 7_218_750_000);
    }
    // Nobody who is weaker, unless it does not preempt.
    assert_eq!(started().hear("192.0.2.2", 99).0.outcome, Outcome::Ignored);
    let mut bench = Bench::started(config().preempt(Preempt::Never).build().unwrap());
    assert_eq!(bench.hear("192.0.2.2", 99).0.outcome, Outcome::Followed);
}

#[test]
fn a_backup_that_preempts_lets_its_timer_run_on_under_a_weaker_router() {
    // digest: 4.205+ 4.205-
    let mut bench = started();
    let due = bench.router.poll_timeout();
    for _ in 0..3 {
        bench.pass(millis(1000));
        assert_eq!(bench.hear("192.0.2.2", 99).0.outcome, Outcome::Ignored);
        assert_eq!(bench.router.poll_timeout(), due);
    }
    bench.pass(millis(610));
    assert_eq!(bench.router.state(), State::Active);
    let mut bench = started();
    bench.pass(millis(1000));
    bench.hear("192.0.2.2", 100);
    assert_ne!(bench.router.poll_timeout(), due);
}

#[test]
fn an_active_advertises_every_interval_and_in_between_not() {
    // digest: 4.302+ 4.302- 3.09+ 3.09-
    let mut bench = active();
    assert_eq!(bench.pass(millis(999)), []);
    let sent = bench.pass(millis(3001));
    assert_eq!(adverts(&sent), 4);
    // Late once: the next is due when it would have been.
    bench.sleep(millis(1400));
    bench.router.handle_timeout(bench.now);
    assert_eq!(adverts(&bench.drain()), 1);
    assert_eq!(bench.next_in(), millis(600));
}

#[test]
fn an_active_yields_to_who_is_better_and_to_nobody_else() {
    // digest: 4.304+ 4.304-
    for (source, value, reason) in
        [("192.0.2.0", 101, Reason::BetterPriority), ("192.0.2.2", 100, Reason::BetterAddress)]
    {
        let mut bench = active();
        let slow = AdvertInterval::from_centis(200).unwrap();
        let (accepted, actions) = bench.hear_with(source, value, slow);
        assert_eq!(accepted.outcome, Outcome::Yielded);
        assert!(removes(&actions[..1]), "{actions:?}");
        assert_eq!(bench.router.snapshot().active_interval, slow);
        assert_eq!(bench.next_in().as_nanos(), 7_218_750_000);
        let (from, to) = (State::Active, State::Backup);
        assert!(bench.events().contains(&Event::Transition { from, to, reason }));
    }
    for (source, value) in [("192.0.2.0", 100), ("192.0.2.200", 99)] {
        let mut bench = active();
        bench.hear(source, value);
        assert_eq!(bench.router.state(), State::Active);
    }
}

#[test]
fn an_active_answers_a_weaker_claim_at_once_and_its_cadence_runs_on() {
    // digest: 4.305+ 4.305- 4.403+ 4.403- A4+ A4- 8.05+ 8.05-
    for profile in [Profile::Compatible, Profile::Rfc] {
        let builder = config().profile(profile).checksum(ChecksumMode::MessageOnly);
        for (source, value) in [("192.0.2.0", 100), ("192.0.2.200", 99)] {
            let mut bench = Bench::active(builder.clone().build().unwrap());
            bench.pass(millis(300));
            let actions = bench.hear(source, value).1;
            assert_eq!(actions, [advert(100), Action::Announce(AnnounceRound::Reassert)]);
            assert_eq!(bench.next_in(), millis(700));
        }
    }
    // To a better one it says nothing of the kind.
    assert_eq!(active().hear("192.0.2.2", 101).0.outcome, Outcome::Yielded);
}

#[test]
fn losing_the_link_or_the_right_to_run_is_a_shutdown_and_getting_it_back_a_startup() {
    // digest: 4.401+ 4.401-
    let mut bench = active();
    let good = bench.good_facts();
    let actions = bench.input(Input::Facts(Facts { eligible: false, ..good }));
    assert!(removes(&actions) && actions.contains(&resignation()));
    assert_eq!(bench.router.state(), State::Initialize);
    bench.pass(millis(60_000));
    assert_eq!(bench.router.state(), State::Initialize);
    bench.input(Input::Facts(good));
    assert_eq!(bench.router.state(), State::Backup);
    // On a dead link there is nobody to tell.
    let mut bench = active();
    let actions = bench.input(Input::Facts(Facts { link: false, ..good }));
    assert!(removes(&actions) && adverts(&actions) == 0);
}

#[test]
fn assertions_are_limited_unless_the_profile_is_rfc() {
    // digest: 4.402+ 4.402-
    for (profile, expected) in [(Profile::Compatible, 10), (Profile::Rfc, 200)] {
        let builder = config().profile(profile).checksum(ChecksumMode::MessageOnly);
        let mut bench = Bench::active(builder.build().unwrap());
        let mut sent = 0;
        for _ in 0..200 {
            sent += adverts(&bench.hear("192.0.2.2", 99).1);
            bench.sleep(millis(5));
        }
        assert_eq!(sent, expected, "{profile:?}");
    }
}

#[test]
fn changed_settings_are_told_at_once_and_touch_no_election() {
    // digest: 4.405+ 4.405-
    let mut bench = active();
    bench.pass(millis(300));
    let config_after = config().priority(priority(90)).build().unwrap();
    bench.router.reconfigure(bench.now, config_after).unwrap();
    assert_eq!(bench.drain(), [advert(90)]);
    assert_eq!(bench.next_in(), millis(700));
    // A Backup keeps what it learned and when it would claim.
    let mut bench = started();
    bench.hear_with("192.0.2.2", 200, AdvertInterval::from_centis(300).unwrap());
    let before = bench.router.snapshot().next_wakeup;
    let interval = AdvertInterval::from_centis(50).unwrap();
    bench.router.reconfigure(bench.now, config().interval(interval).build().unwrap()).unwrap();
    assert_eq!(bench.router.snapshot().next_wakeup, before);
    assert_eq!(bench.drain(), []);
}

#[test]
fn a_preempt_delay_treats_a_weaker_active_as_a_better_one_until_it_ends() {
    // digest: 4.406+ 4.406-
    let delay = Preempt::After(millis(2000));
    let mut bench = Bench::started(config().preempt(delay).build().unwrap());
    assert_eq!(bench.hear("192.0.2.2", 50).0.outcome, Outcome::Followed);
    bench.pass(millis(1999));
    assert_eq!(bench.hear("192.0.2.2", 50).0.outcome, Outcome::Followed);
    bench.pass(millis(1));
    assert_eq!(bench.hear("192.0.2.2", 50).0.outcome, Outcome::Ignored);
}

#[test]
fn an_advert_that_could_not_be_sent_stops_nothing() {
    // digest: 4.407+ 4.407-
    let mut bench = started();
    bench.now += bench.next_in();
    bench.router.handle_timeout(bench.now);
    let lost = Input::AdvertResult { delivered: false };
    bench.router.handle_input(bench.now, lost);
    let actions = bench.drain();
    assert!(installs(&actions), "{actions:?}");
    assert_eq!(bench.router.state(), State::Active);
    for _ in 0..10 {
        assert_eq!(adverts(&bench.timeout()), 1);
        bench.input(lost);
        assert_eq!(bench.router.state(), State::Active);
    }
    // But it is not forgotten.
    assert_eq!(bench.router.stats().adverts_undelivered, 11);
}

#[test]
fn a_packet_in_the_same_wake_up_as_the_timer_comes_first() {
    // digest: 4.408+ 4.408-
    let mut bench = started();
    bench.now += bench.next_in();
    assert_eq!(bench.hear("192.0.2.2", 200).0.outcome, Outcome::Followed);
    bench.router.handle_timeout(bench.now);
    assert_eq!(bench.router.state(), State::Backup);
    // Without the packet it would have claimed.
    let mut bench = started();
    bench.now += bench.next_in();
    bench.router.handle_timeout(bench.now);
    assert_eq!(bench.router.state(), State::Active);
}

#[test]
fn announcements_are_repeated_as_configured() {
    // digest: 4.506+ 4.506-
    let rounds = |schedule: AnnounceSchedule| {
        let mut bench = Bench::started(config().announce(schedule).build().unwrap());
        let mut actions = bench.timeout();
        actions.extend(bench.pass(millis(130_000)));
        let announced = |round| actions.iter().filter(|a| **a == Action::Announce(round)).count();
        [AnnounceRound::Takeover, AnnounceRound::Repeat, AnnounceRound::Refresh].map(announced)
    };
    assert_eq!(rounds(AnnounceSchedule::default()), [1, 1, 2]);
    let once = AnnounceSchedule { repeat_after: millis(0), refresh: millis(0), burst: 1 };
    assert_eq!(rounds(once), [1, 0, 0]);
}
