//! Whether a router may run follows from the facts of the moment, whatever came before (B10).

mod support;

use proptest::prelude::*;
use support::*;
use vrrp_core::{
    AdvertInterval, Event, Facts, Handoff, Impediment, Input, Mode, Priority, Reason, ResignMode,
    State, Successor, Timer,
};

fn transitions(bench: &mut Bench) -> Vec<(State, State, Reason)> {
    let events = bench.events().into_iter();
    events
        .filter_map(|event| match event {
            Event::Transition { from, to, reason } => Some((from, to, reason)),
            _ => None,
        })
        .collect()
}

fn lose_source(bench: &mut Bench) -> Vec<vrrp_core::Action> {
    let facts = bench.good_facts();
    bench.input(Input::Facts(Facts { source: None, ..facts }))
}

fn remove_first(bench: &Bench) -> Handoff {
    let deadline = bench.now + millis(5000);
    Handoff { mode: ResignMode::RemoveFirst, deadline, successor: Successor::Anyone }
}

#[test]
fn b10_a_router_that_starts_on_a_dead_link_runs_as_soon_as_the_last_fact_is_good() {
    let mut bench = Bench::new(config().build().unwrap());
    bench.input(Input::Startup);
    let good = bench.good_facts();
    let mut facts = Facts::default();
    assert_eq!(bench.router.snapshot().impediment, Some(Impediment::LinkDown));
    // The link flaps and every fact arrives several times before the address does.
    for _ in 0..5 {
        for (link, eligible) in [(true, false), (false, false), (true, true), (true, true)] {
            facts = Facts { link, eligible, source: None };
            bench.input(Input::Facts(facts));
            assert_eq!(bench.router.state(), State::Initialize);
            assert_eq!(bench.router.poll_timeout(), None);
        }
    }
    assert_eq!(bench.router.snapshot().impediment, Some(Impediment::NoSource));
    bench.input(Input::Facts(Facts { source: good.source, ..facts }));
    assert_eq!(bench.router.state(), State::Backup);
    assert_eq!(bench.next_in().as_nanos(), 3_609_375_000);
}

#[test]
fn the_impediment_named_is_the_most_telling_one() {
    let mut bench = Bench::new(config().build().unwrap());
    let good = bench.good_facts();
    let impediment = |bench: &Bench| bench.router.snapshot().impediment;
    assert_eq!(impediment(&bench), Some(Impediment::NotStarted));
    bench.input(Input::Startup);
    assert_eq!(impediment(&bench), Some(Impediment::LinkDown));
    bench.input(Input::Facts(Facts { link: true, ..Facts::default() }));
    assert_eq!(impediment(&bench), Some(Impediment::NoSource));
    bench.input(Input::Facts(Facts { eligible: false, ..good }));
    assert_eq!(impediment(&bench), Some(Impediment::Ineligible));
    let handoff = remove_first(&bench);
    bench.input(Input::Drain(handoff));
    assert_eq!(impediment(&bench), Some(Impediment::Drained));
    bench.input(Input::Resign(handoff));
    assert_eq!(impediment(&bench), Some(Impediment::Resigned));
    bench.input(Input::Shutdown);
    assert_eq!(impediment(&bench), Some(Impediment::NotStarted));
}

#[test]
fn a_failed_check_makes_an_active_remove_and_resign_at_once() {
    let mut bench = Bench::active(config().build().unwrap());
    let facts = bench.good_facts();
    let actions = bench.input(Input::Facts(Facts { eligible: false, ..facts }));
    assert!(removes(&actions[..1]) && actions[1..] == [resignation()], "{actions:?}");
    let expected = [(State::Active, State::Initialize, Reason::Ineligible)];
    assert_eq!(transitions(&mut bench), expected);
    assert_eq!(bench.router.poll_timeout(), None);
}

#[test]
fn a_lost_link_makes_an_active_remove_without_a_word_that_nobody_could_hear() {
    let mut bench = Bench::active(config().build().unwrap());
    let facts = bench.good_facts();
    let actions = bench.input(Input::Facts(Facts { link: false, ..facts }));
    assert!(removes(&actions) && actions.len() == 1, "{actions:?}");
    let expected = [(State::Active, State::Initialize, Reason::LinkDown)];
    assert_eq!(transitions(&mut bench), expected);
}

#[test]
fn a_fault_makes_a_backup_leave_without_a_word() {
    let good = Bench::new(config().build().unwrap()).good_facts();
    for facts in [
        Facts { link: false, ..good },
        Facts { source: None, ..good },
        Facts { eligible: false, ..good },
    ] {
        let mut bench = Bench::started(config().build().unwrap());
        assert_eq!(bench.input(Input::Facts(facts)), []);
        assert_eq!(bench.router.state(), State::Initialize);
        assert_eq!(bench.router.poll_timeout(), None);
    }
}

#[test]
fn a_source_that_is_replaced_within_its_grace_costs_nothing() {
    let mut bench = Bench::active(config().build().unwrap());
    let before = bench.router.poll_timeout();
    assert_eq!(lose_source(&mut bench), []);
    bench.pass(millis(199));
    assert_eq!(bench.router.state(), State::Active);
    let new = ip("192.0.2.7");
    let facts = bench.good_facts();
    bench.input(Input::Facts(Facts { source: Some(new), ..facts }));
    assert_eq!(bench.router.snapshot().source, Some(new));
    assert_eq!(bench.router.poll_timeout(), before);
    bench.pass(millis(5000));
    assert_eq!(transitions(&mut bench), []);
}

#[test]
fn a_source_that_stays_away_ends_ownership_after_half_an_interval_and_200_ms_at_most() {
    for (centis, grace) in [(100, 200), (40, 200), (10, 50), (1, 5)] {
        let interval = AdvertInterval::from_centis(centis).unwrap();
        let mut bench = Bench::active(config().interval(interval).build().unwrap());
        lose_source(&mut bench);
        bench.pass(millis(grace - 1));
        // Hearing the same again does not prolong it.
        lose_source(&mut bench);
        assert_eq!(bench.router.state(), State::Active, "{interval}");
        let actions = bench.pass(millis(1));
        assert!(removes(&actions), "{interval}: {actions:?}");
        let expected = [(State::Active, State::Initialize, Reason::NoSource)];
        assert_eq!(transitions(&mut bench), expected);
    }
}

#[test]
fn the_grace_is_for_the_source_alone() {
    let mut bench = Bench::active(config().build().unwrap());
    let facts = bench.good_facts();
    bench.input(Input::Facts(Facts { link: false, source: None, ..facts }));
    assert_eq!(bench.router.state(), State::Initialize);
    // And none of it is left when the link is back.
    bench.input(Input::Facts(facts));
    assert_eq!(bench.router.state(), State::Backup);
    assert_eq!(bench.router.snapshot().next_wakeup.unwrap().1, Timer::ActiveDown);
}

#[test]
fn a_router_that_yields_during_the_grace_does_not_run_on_without_a_source() {
    let mut bench = Bench::active(config().build().unwrap());
    lose_source(&mut bench);
    bench.hear("192.0.2.2", 200);
    assert_eq!(bench.router.state(), State::Backup);
    bench.pass(millis(200));
    assert_eq!(bench.router.state(), State::Initialize);
    assert_eq!(bench.router.snapshot().impediment, Some(Impediment::NoSource));
    bench.pass(millis(60_000));
    assert_eq!(bench.router.state(), State::Initialize);
}

#[test]
fn a_router_that_resigns_during_the_grace_does_not_start_without_a_source() {
    let mut bench = Bench::active(config().build().unwrap());
    lose_source(&mut bench);
    let handoff = remove_first(&bench);
    bench.input(Input::Resign(handoff));
    bench.pass(millis(1000));
    bench.input(Input::Startup);
    assert_eq!(bench.router.snapshot().impediment, Some(Impediment::NoSource));
}

#[test]
fn a_new_source_decides_ties_from_then_on() {
    let mut bench = Bench::active(config().build().unwrap());
    let facts = bench.good_facts();
    bench.input(Input::Facts(Facts { source: Some(ip("192.0.2.200")), ..facts }));
    bench.hear("192.0.2.2", 100);
    assert_eq!(bench.router.state(), State::Active);
    bench.input(Input::Facts(facts));
    bench.hear("192.0.2.2", 100);
    assert_eq!(bench.router.state(), State::Backup);
}

#[test]
fn solo_needs_its_facts_as_well() {
    let mut bench = Bench::active(config().mode(Mode::Solo).build().unwrap());
    let facts = bench.good_facts();
    assert!(removes(&bench.input(Input::Facts(Facts { eligible: false, ..facts }))));
    bench.input(Input::Facts(facts));
    bench.timeout();
    assert_eq!(bench.router.state(), State::Active);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Facts(Facts),
    Startup,
    Shutdown,
    Resign,
    Hear(u8),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    // Mostly good or one step away from it, so that routers live long enough to be hurt.
    let bad = prop_oneof![4 => Just(0_u8), 4 => (0..3).prop_map(|bit| 1_u8 << bit), 1 => 0..8_u8];
    let facts = bad.prop_map(|bad| Facts {
        link: bad & 1 == 0,
        source: Some(OWN).filter(|_| bad & 2 == 0),
        eligible: bad & 4 == 0,
    });
    prop_oneof![
        4 => facts.prop_map(Step::Facts),
        1 => Just(Step::Startup),
        1 => Just(Step::Shutdown),
        1 => Just(Step::Resign),
        2 => any::<u8>().prop_map(Step::Hear),
        2 => (0..5000_u64).prop_map(Step::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The set of facts decides, not its history: after any history a started router takes part
    /// if the facts said last are good, and only then, once the grace of the source is over.
    #[test]
    fn history_leaves_no_fault_behind(
        owner in any::<bool>(),
        steps in prop::collection::vec(step(), 0..40),
    ) {
        let base = if owner { Priority::OWNER } else { Priority::DEFAULT };
        let mut bench = Bench::new(config().priority(base).build().unwrap());
        let mut said = Facts::default();
        for step in steps {
            match step {
                Step::Facts(facts) => {
                    said = facts;
                    bench.input(Input::Facts(facts));
                }
                Step::Startup => drop(bench.input(Input::Startup)),
                Step::Shutdown => drop(bench.input(Input::Shutdown)),
                Step::Resign => {
                    let handoff = remove_first(&bench);
                    bench.input(Input::Resign(handoff));
                }
                Step::Hear(value) => drop(bench.hear("192.0.2.2", value)),
                Step::Pass(time) => drop(bench.pass(millis(time))),
            }
        }
        bench.input(Input::Startup);
        bench.pass(millis(200));
        let good = said.link && said.source.is_some() && said.eligible;
        prop_assert_eq!(bench.router.state() != State::Initialize, good);
        prop_assert_eq!(bench.router.snapshot().impediment.is_none(), good);
        prop_assert_eq!(bench.router.poll_timeout().is_some(), good);
    }
}
