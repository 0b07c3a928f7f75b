//! Section 3 of the conformance digest: times, and who wins. `ledger.rs` says how the ids in the
//! comments are used.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use support::*;
use vrrp_core::receive::Outcome;
use vrrp_core::{
    Action, AdvertInterval, Audience, Config, Event, Facts, Input, Preempt, Priority, State,
    Version, VirtualAddrs, Vrid,
};

fn centis(value: u16) -> AdvertInterval {
    AdvertInterval::from_centis(value).unwrap()
}

fn started() -> Bench {
    Bench::started(config().build().unwrap())
}

fn active() -> Bench {
    Bench::active(config().build().unwrap())
}

#[test]
fn an_interval_is_what_its_version_can_carry() {
    // digest: 3.01+ 3.01-
    let builds = |version, value| config().version(version).interval(centis(value)).build().is_ok();
    assert_eq!(AdvertInterval::default(), centis(100));
    assert!(builds(Version::V3, 1) && builds(Version::V3, 4095));
    assert!(!builds(Version::V3, 4096));
    assert!(builds(Version::V2, 100) && builds(Version::V2, 25_500));
    assert!(!builds(Version::V2, 1) && !builds(Version::V2, 150));
    assert_eq!([0, 25_501].map(AdvertInterval::from_centis), [None; 2]);
}

#[test]
fn v3_learns_the_interval_of_the_active_it_follows_and_v2_does_not() {
    // digest: 3.02+ 3.02- 4.404+
    let mut bench = started();
    assert_eq!(bench.router.snapshot().active_interval, centis(100));
    bench.hear_with("192.0.2.2", 200, centis(300));
    assert_eq!(bench.router.snapshot().active_interval, centis(300));
    // When it yields, as well.
    let mut bench = active();
    let (accepted, _) = bench.hear_with("192.0.2.2", 200, centis(50));
    assert_eq!(accepted.outcome, Outcome::Yielded);
    assert_eq!(bench.router.snapshot().active_interval, centis(50));
    // Such a difference is reported, since one packet can make it large.
    assert!(bench.events().iter().any(|event| matches!(event, Event::Odd { .. })));
    // Not from a weaker one, and not in v2.
    let mut bench = started();
    bench.hear_with("192.0.2.2", 99, centis(300));
    assert_eq!(bench.router.snapshot().active_interval, centis(100));
    let mut bench = Bench::started(config().version(Version::V2).build().unwrap());
    bench.hear("192.0.2.2", 200);
    assert_eq!(bench.next_in().as_nanos(), 3_609_375_000);
}

#[test]
fn skew_and_down_interval_are_the_formulas() {
    // digest: 3.03+ 3.03- 3.04+ 3.04-
    for (version, interval, value, skew, down) in [
        (Version::V3, 100, 100, 609_375_000, 3_609_375_000),
        (Version::V3, 100, 255, 3_906_250, 3_003_906_250),
        (Version::V3, 10, 100, 60_937_500, 360_937_500),
        (Version::V3, 300, 1, 2_988_281_250, 11_988_281_250),
        (Version::V2, 100, 100, 609_375_000, 3_609_375_000),
        // A second's share, whatever the interval.
        (Version::V2, 300, 100, 609_375_000, 9_609_375_000),
        (Version::V2, 25_500, 254, 7_812_500, 765_007_812_500),
    ] {
        let interval = centis(interval);
        assert_eq!(interval.skew(version, priority(value)).as_nanos(), skew);
        assert_eq!(interval.active_down(version, priority(value)).as_nanos(), down);
        if value < 255 {
            let builder = config().version(version).interval(interval).priority(priority(value));
            assert_eq!(Bench::started(builder.build().unwrap()).next_in().as_nanos(), down);
        }
    }
}

#[test]
fn a_changed_priority_counts_from_the_next_event() {
    // digest: 3.05+ 3.05-
    let mut bench = started();
    bench.pass(millis(1000));
    let due = bench.router.poll_timeout();
    bench.input(Input::PriorityChanged(priority(200)));
    assert_eq!(bench.router.poll_timeout(), due);
    bench.hear("192.0.2.2", 200);
    assert_eq!(bench.next_in().as_nanos(), 3_218_750_000);
}

#[test]
fn skew_is_never_rounded_until_it_orders_nobody() {
    // digest: 3.06+ 3.06- A10+ A10-
    for version in [Version::V2, Version::V3] {
        for interval in [1, 2, 10, 100, 4095, 25_500].map(centis) {
            let skews: Vec<Duration> =
                (1..=255).map(|value| interval.skew(version, priority(value))).collect();
            assert!(skews.windows(2).all(|pair| pair[0] > pair[1]), "{version:?} {interval}");
            assert!(skews.iter().all(|skew| !skew.is_zero()));
        }
    }
    // 1 cs, priority 254: 2/256 of 10 ms, where whole centiseconds or milliseconds would be zero.
    assert_eq!(centis(1).skew(Version::V3, Priority::MAX_BACKUP).as_nanos(), 78_125);
}

#[test]
fn an_active_sends_its_own_interval_and_never_the_learned_one() {
    // digest: 3.07+ 3.07-
    let mut bench = started();
    bench.hear_with("192.0.2.2", 200, centis(300));
    let claim = bench.timeout()[0];
    assert_eq!(claim, advert_to(Audience::All, 100, centis(100)));
    assert_eq!(bench.next_in(), millis(1000));
    assert_eq!(bench.router.snapshot().active_interval, centis(100));
    assert_eq!(bench.timeout(), [advert_to(Audience::All, 100, centis(100))]);
}

#[test]
fn the_longest_waits_are_as_long_as_the_formulas_say() {
    // digest: 3.08+ 3.08-
    let longest = |version, interval| centis(interval).active_down(version, Priority::MIN);
    assert_eq!(longest(Version::V3, 4095).as_nanos(), 163_640_039_062);
    assert_eq!(longest(Version::V2, 25_500).as_nanos(), 765_996_093_750);
    for value in 1..=255 {
        for interval in 1..=4095 {
            let down = centis(interval).active_down(Version::V3, priority(value));
            assert!(down <= longest(Version::V3, 4095));
        }
    }
}

#[test]
fn an_advert_that_is_not_obeyed_moves_no_deadline() {
    // digest: 3.10+ 3.10-
    for version in [Version::V2, Version::V3] {
        let mut bench = Bench::started(config().version(version).build().unwrap());
        bench.pass(millis(1000));
        let due = bench.router.poll_timeout();
        assert_eq!(bench.hear("192.0.2.2", 99).0.outcome, Outcome::Ignored);
        assert_eq!(bench.router.poll_timeout(), due);
        assert_eq!(bench.hear("192.0.2.2", 100).0.outcome, Outcome::Followed);
        assert_ne!(bench.router.poll_timeout(), due);
    }
}

#[test]
fn priority_zero_leaves_a_backup_its_skew_and_teaches_it_nothing() {
    // digest: 3.20+ 3.20- 4.203+ 4.203- A8+ A8-
    for preempt in [Preempt::default(), Preempt::Never] {
        let mut bench = Bench::started(config().preempt(preempt).build().unwrap());
        bench.hear_with("192.0.2.2", 200, centis(200));
        bench.hear_with("192.0.2.2", 0, centis(1));
        // By the interval learned before, not by the one in this packet.
        assert_eq!(bench.next_in().as_nanos(), 1_218_750_000);
        assert_eq!(bench.router.snapshot().active_interval, centis(200));
        assert_eq!(bench.router.state(), State::Backup);
    }
}

#[test]
fn priority_zero_makes_an_active_answer_at_once_and_start_its_cadence_anew() {
    // digest: 3.21+ 3.21- 4.303+ 4.303-
    let mut bench = active();
    bench.pass(millis(900));
    assert_eq!(bench.hear("192.0.2.2", 0).1, [advert(100)]);
    assert_eq!(bench.next_in(), millis(1000));
    assert_eq!(bench.router.state(), State::Active);
    // However often: this answer is never limited.
    for _ in 0..3 {
        assert_eq!(bench.hear("192.0.2.2", 0).1, [advert(100)]);
    }
    // Any other priority leaves the cadence as it is.
    bench.pass(millis(400));
    bench.hear("192.0.2.2", 1);
    assert_eq!(bench.next_in(), millis(600));
}

#[test]
fn a_shutdown_is_one_priority_zero_of_an_active_and_silence_of_a_backup() {
    // digest: 3.22+ 3.22- 4.201+ 4.201- 4.301+ 4.301-
    let mut bench = active();
    let actions = bench.input(Input::Shutdown);
    assert_eq!(actions.iter().filter(|action| **action == resignation()).count(), 1);
    assert_eq!(bench.router.poll_timeout(), None);
    assert_eq!(bench.router.state(), State::Initialize);
    let mut bench = started();
    assert_eq!(bench.input(Input::Shutdown), []);
    assert_eq!(bench.router.poll_timeout(), None);
    assert_eq!(bench.router.state(), State::Initialize);
}

#[test]
fn after_priority_zero_backups_claim_in_the_order_of_their_priorities() {
    // digest: 3.23+ 3.23-
    let wait = |value| {
        let mut bench = Bench::started(config().priority(priority(value)).build().unwrap());
        bench.hear("192.0.2.2", 255);
        bench.hear("192.0.2.2", 0);
        bench.next_in()
    };
    assert!(wait(254) < wait(101) && wait(101) < wait(100) && wait(100) < wait(1));
    assert!(wait(1) < millis(1000));
    // Equal ones claim together in multicast, and the comparison of addresses settles it.
    assert_eq!(wait(100), wait(100));
}

#[test]
fn priority_zero_is_a_full_advertisement() {
    // digest: 3.24+ 3.24-
    let bench = active();
    let wire = probe::message(&bench, ip("224.0.0.18"), 0);
    assert_eq!(wire[..6], [0x31, 51, 0, 1, 0, 100]);
    assert_eq!(wire[8..], [192, 0, 2, 10]);
    // One without addresses is none.
    probe::Probe::new(config()).set(2, 0).accepted();
    probe::Probe::new(config()).set(2, 0).set(3, 0).discarded("count_zero");
}

#[test]
fn priority_zero_sets_the_timer_even_if_that_lengthens_it() {
    // digest: 3.25+ 3.25-
    let mut bench = started();
    bench.pass(bench.next_in() - millis(5));
    bench.hear("192.0.2.2", 0);
    assert_eq!(bench.next_in().as_nanos(), 609_375_000);
    // And shortens it otherwise.
    let mut bench = started();
    bench.hear("192.0.2.2", 0);
    assert_eq!(bench.next_in().as_nanos(), 609_375_000);
}

#[test]
fn the_higher_priority_wins() {
    // digest: 3.30+ 3.30-
    let mut bench = active();
    assert_eq!(bench.hear("192.0.2.0", 101).0.outcome, Outcome::Yielded);
    let mut bench = active();
    assert_eq!(bench.hear("192.0.2.200", 99).0.outcome, Outcome::Asserted);
    assert_eq!(bench.router.state(), State::Active);
}

#[test]
fn among_equals_the_higher_source_address_wins_as_a_number() {
    // digest: 3.31+ 3.31-
    // 9 < 10 as numbers; as text it would be the other way round.
    for (own, other, yields) in [
        ("192.0.2.9", "192.0.2.10", true),
        ("192.0.2.10", "192.0.2.9", false),
        ("10.0.0.1", "192.0.2.1", true),
        ("200.0.0.1", "192.0.2.1", false),
    ] {
        let mut bench = active();
        let facts = bench.good_facts();
        bench.input(Input::Facts(Facts { source: Some(ip(own)), ..facts }));
        let expected = if yields { Outcome::Yielded } else { Outcome::Asserted };
        assert_eq!(bench.hear(other, 100).0.outcome, expected, "{own} against {other}");
    }
}

#[test]
fn the_address_compared_is_the_source_and_never_a_vip() {
    // digest: 3.32+ 3.32-
    let vip = VirtualAddrs::new(&[ip("192.0.2.250")]).unwrap();
    let config = Config::builder(Vrid::new(51).unwrap(), vip).build().unwrap();
    let mut bench = Bench::active(config);
    assert_eq!(bench.hear("192.0.2.2", 100).0.outcome, Outcome::Yielded);
}

#[test]
fn a_backup_follows_an_equal_whatever_its_address() {
    // digest: 3.33+ 3.33-
    for source in ["192.0.2.0", "192.0.2.200"] {
        assert_eq!(started().hear(source, 100).0.outcome, Outcome::Followed);
    }
    assert_eq!(started().hear("192.0.2.200", 99).0.outcome, Outcome::Ignored);
}

#[test]
fn without_preemption_anybody_alive_is_followed() {
    // digest: 3.34+ 3.34- A9+ A9-
    let mut bench = Bench::started(config().preempt(Preempt::Never).build().unwrap());
    assert_eq!(bench.hear_with("192.0.2.2", 1, centis(300)).0.outcome, Outcome::Followed);
    assert_eq!(bench.router.snapshot().active_interval, centis(300));
    // With it, which is the default, a weaker one is not.
    assert_eq!(started().hear("192.0.2.2", 99).0.outcome, Outcome::Ignored);
    // And an Active stays one whatever the setting.
    let mut bench = Bench::active(config().preempt(Preempt::Never).build().unwrap());
    assert_eq!(bench.hear("192.0.2.2", 99).0.outcome, Outcome::Asserted);
}

#[test]
fn two_owners_are_reported_and_the_comparison_decides() {
    // digest: 3.36+ 3.36-
    let mut bench = Bench::active(config().priority(Priority::OWNER).build().unwrap());
    assert_eq!(bench.hear("192.0.2.0", 255).0.outcome, Outcome::Asserted);
    let dual = bench.events().into_iter().any(|event| matches!(event, Event::DualOwner { .. }));
    assert!(dual);
    assert_eq!(bench.hear("192.0.2.2", 255).0.outcome, Outcome::Yielded);
    // Nobody else makes an owner yield.
    let mut bench = Bench::active(config().priority(Priority::OWNER).build().unwrap());
    assert_eq!(bench.hear("192.0.2.200", 254).0.outcome, Outcome::Asserted);
}

#[test]
fn an_owner_preempts_whatever_is_configured() {
    // digest: 3.37+ 3.37- 4.206+ 4.206-
    let builder = config().priority(Priority::OWNER).preempt(Preempt::Never);
    let mut bench = Bench::active(builder.build().unwrap());
    bench.hear("192.0.2.2", 255);
    assert_eq!(bench.router.state(), State::Backup);
    let due = bench.router.poll_timeout();
    assert_eq!(bench.hear("192.0.2.3", 254).0.outcome, Outcome::Ignored);
    assert_eq!(bench.router.poll_timeout(), due);
    assert_eq!(bench.hear("192.0.2.2", 255).0.outcome, Outcome::Followed);
    assert!(matches!(bench.timeout()[0], Action::SendAdvert(_)));
}
