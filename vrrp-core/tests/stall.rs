//! A host that did not run, or could not send, for longer than its peers wait: B18, B19, B73.
#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::*;
use vrrp_core::receive::Outcome;
use vrrp_core::{
    Action, AddressState, AdvertInterval, AnnounceRound, ConfigBuilder, Event, Input, Mode,
    Priority, Reason, State, Version,
};

/// Three intervals and the skew of priority 254: whoever was last heard longer ago than this may
/// have been replaced.
const SHORTEST_DOWN_NANOS: u64 = 3_007_812_500;

fn nanos(value: u64) -> std::time::Duration {
    std::time::Duration::from_nanos(value)
}

/// An Active that advertised this moment.
fn just_advertised(builder: ConfigBuilder) -> Bench {
    let mut bench = Bench::active(builder.build().unwrap());
    bench.pass(bench.router.config().interval().duration());
    bench.events();
    bench
}

fn reasserts(actions: &[Action]) -> bool {
    actions.contains(&Action::Announce(AnnounceRound::Reassert))
}

#[test]
fn b18_after_a_pause_the_addresses_go_first_and_nothing_is_sent() {
    let mut bench = just_advertised(config());
    bench.sleep(millis(5000));
    bench.router.handle_timeout(bench.now);
    let actions = bench.drain();
    assert!(matches!(actions[..], [Action::RemoveAddresses(_)]), "{actions:?}");
    let (from, to, reason) = (State::Active, State::Backup, Reason::Stalled);
    let expected = [
        Event::Stalled { silence: millis(5000) },
        Event::LostOwnership { epoch: 1, reason },
        Event::Transition { from, to, reason },
        Event::AddressesRemoved,
    ];
    assert_eq!(bench.events(), expected);
    // It listens for a whole down interval, then competes again.
    assert_eq!(bench.next_in().as_nanos(), 3_609_375_000);
    assert_eq!(bench.timeout()[0], advert(100));
    assert_eq!(bench.router.stats().stalls, 1);
}

#[test]
fn whatever_wakes_a_paused_active_the_addresses_go_before_anything_is_done_in_its_name() {
    let wake: [fn(&mut Bench) -> Vec<Action>; 8] = [
        |b| b.timeout(),
        |b| b.input(Input::Reannounce),
        |b| b.input(Input::PriorityChanged(priority(120))),
        |b| b.input(Input::AdvertResult { delivered: true }),
        |b| b.input(Input::Facts(b.good_facts())),
        |b| b.hear("192.0.2.2", 50).1,
        |b| b.hear("192.0.2.2", 0).1,
        |b| {
            let longer = AdvertInterval::from_centis(200).unwrap();
            let config = config().interval(longer).build().unwrap();
            b.router.reconfigure(b.now, config).unwrap();
            b.drain()
        },
    ];
    for (index, wake) in wake.into_iter().enumerate() {
        let mut bench = just_advertised(config());
        bench.sleep(millis(231_000));
        let actions = wake(&mut bench);
        assert!(matches!(actions[..], [Action::RemoveAddresses(_)]), "{index}: {actions:?}");
        assert_eq!(bench.router.state(), State::Backup, "{index}");
    }
}

#[test]
fn a_paused_active_that_finds_a_successor_follows_it() {
    let mut bench = just_advertised(config());
    bench.sleep(millis(5000));
    assert_eq!(bench.hear("192.0.2.2", 100).0.outcome, Outcome::Followed);
    for _ in 0..10 {
        bench.pass(millis(1000));
        bench.hear("192.0.2.2", 100);
    }
    assert_eq!(bench.router.state(), State::Backup);
}

#[test]
fn the_limit_is_the_shortest_down_interval_that_a_peer_can_have() {
    for (silence, state) in
        [(SHORTEST_DOWN_NANOS, State::Active), (SHORTEST_DOWN_NANOS + 1, State::Backup)]
    {
        let mut bench = just_advertised(config());
        bench.sleep(nanos(silence));
        bench.router.handle_timeout(bench.now);
        assert_eq!(bench.router.state(), state, "{silence}");
    }
    // v2: the skew does not depend on the interval. And a known weaker peer waits longer.
    let slow = AdvertInterval::from_centis(300).unwrap();
    for (builder, silence) in [
        (config().version(Version::V2).interval(slow), 9_007_812_500),
        (config().interval(slow), 9_023_437_500),
        (config().max_peer_priority(Priority::DEFAULT), 3_609_375_000),
    ] {
        let mut bench = just_advertised(builder);
        bench.sleep(nanos(silence));
        bench.router.handle_timeout(bench.now);
        assert_eq!(bench.router.state(), State::Active, "{silence}");
        let mut late = bench.clone();
        late.sleep(nanos(silence + 1));
        late.router.handle_timeout(late.now);
        assert_eq!(late.router.state(), State::Backup, "{silence}");
    }
}

#[test]
fn a_shorter_pause_costs_one_late_advert_and_no_burst_of_missed_ones() {
    let mut bench = just_advertised(config());
    bench.sleep(millis(2900));
    bench.router.handle_timeout(bench.now);
    assert_eq!(bench.drain(), [advert(100)]);
    assert_eq!(bench.next_in(), millis(1000));
}

#[test]
fn a_pause_costs_a_backup_nothing_but_time() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.hear("192.0.2.2", 200);
    bench.sleep(millis(231_000));
    // The packet that waited in the socket is heard first, and keeps it Backup.
    assert_eq!(bench.hear("192.0.2.2", 200).0.outcome, Outcome::Followed);
    bench.router.handle_timeout(bench.now);
    assert_eq!(bench.router.state(), State::Backup);
    assert_eq!(bench.next_in().as_nanos(), 3_609_375_000);
    assert_eq!(bench.router.stats().stalls, 0);
}

#[test]
fn alone_there_is_nobody_who_could_have_taken_over() {
    let mut bench = just_advertised(config().mode(Mode::Solo));
    bench.sleep(millis(231_000));
    bench.router.handle_timeout(bench.now);
    assert_eq!(bench.router.state(), State::Active);
    assert!(!removes(&bench.drain()));
}

#[test]
fn a_stalled_owner_listens_as_well_and_comes_back() {
    let mut bench = just_advertised(config().priority(Priority::OWNER));
    bench.sleep(millis(5000));
    assert!(removes(&bench.timeout()));
    assert_eq!(bench.router.state(), State::Backup);
    bench.timeout();
    assert_eq!(bench.router.state(), State::Active);
}

#[test]
fn b19_an_active_announces_again_after_a_weaker_claim() {
    let mut bench = just_advertised(config());
    bench.sleep(millis(2500));
    // A Backup claimed during the pause; it is weaker and will yield, but neighbours believed it.
    let (accepted, actions) = bench.hear("192.0.2.2", 99);
    assert_eq!(accepted.outcome, Outcome::Asserted);
    assert_eq!(actions, [advert(100), Action::Announce(AnnounceRound::Reassert)]);
}

#[test]
fn b73_an_outage_of_sending_longer_than_the_peers_wait_is_followed_by_an_announcement() {
    let mut bench = just_advertised(config());
    bench.input(Input::AdvertResult { delivered: true });
    for _ in 0..4 {
        bench.timeout();
        bench.input(Input::AdvertResult { delivered: false });
    }
    bench.timeout();
    let actions = bench.input(Input::AdvertResult { delivered: true });
    assert_eq!(actions, [Action::Announce(AnnounceRound::Reassert)]);
    assert_eq!(bench.router.state(), State::Active);
    assert_eq!(bench.router.stats().adverts_undelivered, 4);
    // Once.
    bench.timeout();
    assert_eq!(bench.input(Input::AdvertResult { delivered: true }), []);
}

#[test]
fn a_short_outage_of_sending_needs_no_announcement() {
    let mut bench = just_advertised(config());
    bench.timeout();
    bench.input(Input::AdvertResult { delivered: false });
    bench.timeout();
    assert_eq!(bench.input(Input::AdvertResult { delivered: true }), []);
}

#[test]
fn the_outage_counts_from_the_last_advert_that_arrived() {
    // Two lost: the peers heard nothing for three intervals, which they all wait out.
    for (lost, expected) in [(2, false), (3, true)] {
        let mut bench = just_advertised(config());
        for _ in 0..lost {
            bench.timeout();
            bench.input(Input::AdvertResult { delivered: false });
        }
        bench.timeout();
        let actions = bench.input(Input::AdvertResult { delivered: true });
        assert_eq!(reasserts(&actions), expected, "{lost}");
    }
}

#[test]
fn what_became_of_an_advert_does_not_matter_to_a_backup() {
    let mut bench = Bench::started(config().build().unwrap());
    let before = bench.router.clone();
    for delivered in [false, true] {
        assert_eq!(bench.input(Input::AdvertResult { delivered }), []);
    }
    assert_eq!(bench.router, before);
}

#[test]
fn addresses_that_were_being_installed_go_as_well() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.address_work = None;
    bench.timeout();
    assert_eq!(bench.router.snapshot().addresses, AddressState::Installing);
    bench.sleep(millis(5000));
    assert!(removes(&bench.timeout()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the settings and whenever it wakes: an Active that may have been replaced has
    /// asked for the removal before it says or does anything else.
    #[test]
    fn no_pause_lets_an_active_speak_before_it_let_go(
        centis in 1..=4095_u16,
        value in 1..=255_u8,
        pauses in prop::collection::vec(0..8000_u64, 1..12),
    ) {
        let interval = AdvertInterval::from_centis(centis).unwrap();
        let mut bench = just_advertised(config().interval(interval).priority(priority(value)));
        let limit = interval.active_down(Version::V3, Priority::MAX_BACKUP);
        let mut last_sent = bench.now;
        for pause in pauses {
            let active = bench.router.state() == State::Active;
            bench.sleep(interval.duration() * pause as u32 / 1000);
            bench.router.handle_timeout(bench.now);
            let stalled = active && bench.now.saturating_since(last_sent) > limit;
            let actions = bench.drain();
            if stalled {
                prop_assert!(matches!(actions[..], [Action::RemoveAddresses(_)]), "{:?}", actions);
            } else if active {
                prop_assert_eq!(bench.router.state(), State::Active);
            }
            if actions.iter().any(|action| matches!(action, Action::SendAdvert(_))) {
                last_sent = bench.now;
            }
        }
    }
}
