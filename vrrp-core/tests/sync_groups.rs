//! Routers in a sync group own their addresses together or not at all (A15).
#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::rack::*;
use support::*;
use vrrp_core::{
    Action, ActionResult, AdvertInterval, AdvertSpec, AnnounceRound, Event, Facts, GroupError,
    GroupId, Handoff, Impediment, Input, Priority, ResignMode, RouterId, State, Successor,
};

fn of(id: RouterId, actions: &[(RouterId, Action)]) -> Vec<Action> {
    actions.iter().filter(|(of, _)| *of == id).map(|(_, action)| *action).collect()
}

fn priorities_sent(actions: &[(RouterId, Action)]) -> Vec<(RouterId, u8)> {
    let sent = actions.iter().filter_map(|&(id, action)| match action {
        Action::SendAdvert(AdvertSpec { priority, .. }) => {
            Some((id, priority.map_or(0, Priority::value)))
        }
        _ => None,
    });
    sent.collect()
}

fn hold(rack: &Rack) -> Handoff {
    let deadline = rack.now + millis(5000);
    Handoff { mode: ResignMode::Hold, deadline, successor: Successor::Anyone }
}

#[test]
fn all_claim_together_and_each_of_them_announces() {
    let mut rack = Rack::backups();
    let actions = rack.pass(millis(3700));
    assert_eq!(rack.states(), [State::Active; 3]);
    for id in [A, B, C] {
        let its = of(id, &actions);
        assert_eq!(its[0], advert(100));
        assert!(installs(&its), "{its:?}");
        assert!(its.contains(&Action::Announce(AnnounceRound::Takeover)), "{its:?}");
    }
}

#[test]
fn none_runs_while_one_may_not() {
    let configs = [A, B, C].map(|id| (id, member(id).build().unwrap()));
    let mut rack = Rack::new(&configs);
    rack.set.set_group(rack.now, GROUP, &[A, B, C]).unwrap();
    for id in [A, B] {
        rack.input(id, Input::Facts(good()));
    }
    rack.input(A, Input::Startup);
    rack.pass(millis(60_000));
    assert_eq!(rack.states(), [State::Initialize; 3]);
    let impediment = |id| rack.set.router(id).unwrap().snapshot().impediment;
    assert_eq!(impediment(A), Some(Impediment::Group));
    assert_eq!(impediment(C), Some(Impediment::LinkDown));
    rack.input(C, Input::Facts(good()));
    assert_eq!(rack.states(), [State::Backup; 3]);
}

#[test]
fn a15_a_fault_in_one_takes_all_down_and_the_others_resign() {
    for facts in [Facts { link: false, ..good() }, Facts { eligible: false, ..good() }] {
        let mut rack = Rack::active();
        let actions = rack.input(B, Input::Facts(facts));
        assert_eq!(rack.states(), [State::Initialize; 3]);
        for id in [A, B, C] {
            assert!(removes(&of(id, &actions)), "{id:?}");
        }
        let mut resigned = vec![(A, 0), (C, 0)];
        if facts.link {
            resigned.insert(1, (B, 0));
        }
        let mut sent = priorities_sent(&actions);
        sent.sort_unstable();
        assert_eq!(sent, resigned);
        rack.input(B, Input::Facts(good()));
        assert_eq!(rack.states(), [State::Backup; 3]);
    }
}

#[test]
fn one_that_yields_takes_all_back() {
    let mut rack = Rack::active();
    let actions = rack.hear(B, 200);
    assert_eq!(rack.states(), [State::Backup; 3]);
    for id in [A, C] {
        let its = of(id, &actions);
        assert!(matches!(its[..], [Action::RemoveAddresses(_), last] if last == resignation()));
    }
}

#[test]
fn a_failed_installation_of_one_takes_all_back_and_none_claims_before_its_back_off() {
    let mut rack = Rack::backups();
    rack.address_work = ActionResult::Failed;
    rack.pass(millis(3650));
    assert_eq!(rack.states(), [State::Backup; 3]);
    rack.address_work = ActionResult::Done;
    rack.events();
    // A resignation heard by all would let them claim at once, but for the back-off.
    for id in [A, B, C] {
        rack.hear(id, 0);
    }
    let before = rack.now;
    while rack.states() != [State::Active; 3] {
        rack.timeout();
    }
    assert!(rack.now.saturating_since(before) >= millis(900));
}

#[test]
fn the_group_claims_when_the_last_of_its_members_would() {
    let mut rack = Rack::backups();
    // Only B still hears the Active.
    for _ in 0..20 {
        rack.hear(B, 200);
        rack.pass(millis(1000));
        assert_eq!(rack.states(), [State::Backup; 3]);
    }
    assert_eq!(rack.transitions(), 3); // Startup
    // B's Active falls silent: one second of its down interval is over.
    assert!(!priorities_sent(&rack.pass(millis(2600))).iter().any(|_| true));
    let mut sent = priorities_sent(&rack.pass(millis(10)));
    sent.sort_unstable();
    assert_eq!(sent, [(A, 100), (B, 100), (C, 100)]);
    assert_eq!(rack.states(), [State::Active; 3]);
}

#[test]
fn a_resignation_heard_by_the_last_member_is_answered_after_its_skew() {
    let mut rack = Rack::backups();
    // A and C would claim long since; only B keeps the group waiting.
    for _ in 0..6 {
        rack.hear(B, 200);
        rack.pass(millis(1000));
    }
    rack.hear(B, 200);
    rack.hear(B, 0);
    assert_eq!(rack.pass(millis(609)), []);
    rack.pass(millis(1));
    assert_eq!(rack.states(), [State::Active; 3]);
}

#[test]
fn members_wait_for_each_other_and_not_for_ever() {
    let mut rack = Rack::backups();
    rack.pass(millis(1000));
    rack.hear(A, 200); // due at 4.609 s
    rack.pass(millis(1000));
    rack.hear(B, 200); // due at 5.609 s
    rack.pass(millis(2700)); // 4.7 s: A was due and waits for B
    rack.hear(B, 0); // due at 5.309 s
    assert_eq!(rack.states(), [State::Backup; 3]);
    rack.pass(millis(610));
    assert_eq!(rack.states(), [State::Active; 3]);
}

#[test]
fn a_claim_by_command_is_one_of_all_with_the_priority_that_wins_everywhere() {
    for (told, heard) in [(A, [(A, 150), (B, 200)]), (B, [(A, 200), (B, 150)])] {
        let mut rack = Rack::backups();
        for (id, value) in heard {
            rack.hear(id, value);
        }
        let actions = rack.input(told, Input::ForceClaim);
        assert_eq!(rack.states(), [State::Active; 3]);
        let mut sent = priorities_sent(&actions);
        sent.sort_unstable();
        assert_eq!(sent, [(A, 201), (B, 201), (C, 201)]);
        // The old Active of either is answered, not obeyed.
        for (id, value) in heard {
            rack.hear(id, value);
        }
        assert_eq!(rack.states(), [State::Active; 3]);
        rack.input(C, Input::ReleaseClaim);
        rack.hear(B, 150);
        assert_eq!(rack.states(), [State::Backup; 3]);
    }
}

#[test]
fn a_claim_by_command_that_one_member_cannot_win_is_refused_to_all() {
    let mut rack = Rack::backups();
    rack.hear(A, 150);
    rack.hear(C, 254);
    rack.events();
    assert_eq!(rack.input(A, Input::ForceClaim), []);
    assert_eq!(rack.states(), [State::Backup; 3]);
    assert_eq!(rack.events(), [(C, Event::ClaimRefused { active: Priority::MAX_BACKUP })]);
    for id in [A, B, C] {
        assert_eq!(rack.set.router(id).unwrap().priority(), Priority::DEFAULT);
    }
}

#[test]
fn a_resignation_of_one_is_one_of_all_in_the_order_asked_for() {
    for told in [A, C] {
        let mut rack = Rack::active();
        let handoff = hold(&rack);
        let actions = rack.input(told, Input::Resign(handoff));
        assert_eq!(rack.states(), [State::Initialize; 3]);
        // Hold: resigned and not removed, every one of them.
        for id in [A, B, C] {
            assert_eq!(of(id, &actions), [resignation()], "{id:?}");
        }
        assert!(rack.events().iter().all(|(_, event)| match event {
            Event::Transition { reason, .. } | Event::LostOwnership { reason, .. } =>
                *reason == vrrp_core::Reason::Resigned,
            _ => true,
        }));
        let removed = rack.pass(millis(1300));
        for id in [A, B, C] {
            assert!(removes(&of(id, &removed)), "{id:?}");
        }
        rack.input(B, Input::Startup);
        assert_eq!(rack.states(), [State::Backup; 3]);
    }
}

#[test]
fn a_drained_group_returns_as_one() {
    let mut rack = Rack::active();
    let handoff = hold(&rack);
    let actions = rack.input(B, Input::Drain(handoff));
    assert_eq!(priorities_sent(&actions).len(), 3);
    assert!(!actions.iter().any(|(_, a)| matches!(a, Action::RemoveAddresses(_))));
    rack.pass(millis(10_000));
    assert_eq!(rack.states(), [State::Initialize; 3]);
    rack.input(A, Input::Undrain);
    assert_eq!(rack.states(), [State::Backup; 3]);
}

#[test]
fn a_shutdown_of_one_is_one_of_all() {
    let mut rack = Rack::active();
    let actions = rack.input(A, Input::Shutdown);
    for id in [A, B, C] {
        let its = of(id, &actions);
        assert!(matches!(its[..], [Action::RemoveAddresses(_), last] if last == resignation()));
    }
    rack.input(C, Input::Startup);
    assert_eq!(rack.states(), [State::Backup; 3]);
}

#[test]
fn a_stalled_group_sends_nothing_before_it_has_listened() {
    let mut rack = Rack::active();
    rack.now += millis(5000);
    rack.set.handle_timeout(rack.now);
    let actions = rack.drain();
    assert_eq!(rack.states(), [State::Backup; 3]);
    assert_eq!(priorities_sent(&actions), []);
    for id in [A, B, C] {
        assert!(removes(&of(id, &actions)), "{id:?}");
    }
}

#[test]
fn owners_start_together() {
    let owner = |id| (id, member(id).priority(Priority::OWNER).build().unwrap());
    let configs = [A, B].map(owner);
    let mut rack = Rack::new(&configs);
    rack.set.set_group(rack.now, GROUP, &[A, B]).unwrap();
    rack.input(A, Input::Facts(good()));
    assert_eq!(rack.input(A, Input::Startup), []);
    let actions = rack.input(B, Input::Facts(good()));
    assert_eq!(rack.states(), [State::Active; 2]);
    let mut sent = priorities_sent(&actions);
    sent.sort_unstable();
    assert_eq!(sent, [(A, 255), (B, 255)]);
}

#[test]
fn a_group_adopts_as_one_or_not_at_all() {
    let configs = [A, B].map(|id| (id, member(id).build().unwrap()));
    let mut rack = Rack::new(&configs);
    rack.set.set_group(rack.now, GROUP, &[A, B]).unwrap();
    rack.input(A, Input::Facts(good()));
    assert_eq!(rack.input(A, Input::Adopt), []);
    assert_eq!(rack.states(), [State::Initialize; 2]);
    rack.input(B, Input::Facts(good()));
    let actions = rack.input(A, Input::Adopt);
    assert_eq!(rack.states(), [State::Active; 2]);
    for id in [A, B] {
        let its = of(id, &actions);
        assert!(installs(&its) && !removes(&its), "{its:?}");
    }
    rack.pass(millis(10_000));
    assert_eq!(rack.states(), [State::Active; 2]);
}

#[test]
fn b55_a_member_added_to_an_active_group_claims_and_announces() {
    let configs = [A, B, C].map(|id| (id, member(id).build().unwrap()));
    let mut rack = Rack::new(&configs);
    rack.set.set_group(rack.now, GROUP, &[A, B]).unwrap();
    for id in [A, B, C] {
        rack.input(id, Input::Facts(good()));
    }
    rack.input(A, Input::Startup);
    rack.pass(millis(3700));
    rack.input(C, Input::Startup);
    rack.events();
    rack.set.set_group(rack.now, GROUP, &[A, B, C]).unwrap();
    let actions = rack.drain();
    assert_eq!(rack.states(), [State::Active; 3]);
    assert!(of(A, &actions).is_empty() && of(B, &actions).is_empty(), "{actions:?}");
    let its = of(C, &actions);
    assert!(its.contains(&Action::Announce(AnnounceRound::Takeover)), "{its:?}");
    assert_eq!(rack.transitions(), 1);
}

#[test]
fn saying_the_same_group_again_changes_nothing() {
    for base in [Priority::DEFAULT, Priority::OWNER] {
        let configs = [A, B].map(|id| (id, member(id).priority(base).build().unwrap()));
        let mut rack = Rack::started(&configs);
        rack.input(B, Input::Facts(Facts { link: false, ..good() }));
        rack.events();
        rack.set.set_group(rack.now, GROUP, &[A, B]).unwrap();
        assert_eq!(rack.drain(), []);
        assert_eq!(rack.states(), [State::Initialize; 2]);
        assert_eq!(rack.transitions(), 0);
    }
}

#[test]
fn a_member_that_leaves_is_on_its_own_again() {
    let mut rack = Rack::active();
    rack.input(C, Input::Facts(Facts { link: false, ..good() }));
    assert_eq!(rack.states(), [State::Initialize; 3]);
    rack.set.set_group(rack.now, GROUP, &[A, B]).unwrap();
    assert_eq!(rack.states(), [State::Backup, State::Backup, State::Initialize]);
    rack.set.set_group(rack.now, GROUP, &[]).unwrap();
    rack.input(A, Input::Facts(Facts { link: false, ..good() }));
    assert_eq!(rack.states(), [State::Initialize, State::Backup, State::Initialize]);
    // And a router that is removed from the set keeps nobody waiting.
    let mut rack = Rack::active();
    rack.input(C, Input::Facts(Facts { link: false, ..good() }));
    rack.set.remove(rack.now, C).unwrap();
    assert_eq!(rack.states(), [State::Backup; 2]);
}

#[test]
fn groups_that_cannot_work_are_refused_and_nothing_changes() {
    let mut rack = Rack::backups();
    let odd = RouterId(4);
    rack.set
        .insert(rack.now, odd, LINK, member(odd).priority(priority(90)).build().unwrap())
        .unwrap();
    let taken = rack.set.set_group(rack.now, GroupId(2), &[A]);
    assert_eq!(taken, Err(GroupError::Taken(A)));
    let twice = rack.set.set_group(rack.now, GROUP, &[A, A]);
    assert_eq!(twice, Err(GroupError::Taken(A)));
    let unknown = rack.set.set_group(rack.now, GROUP, &[A, RouterId(9)]);
    assert_eq!(unknown, Err(GroupError::Unknown(RouterId(9))));
    let unequal = rack.set.set_group(rack.now, GROUP, &[A, odd]);
    let (expected, other) = (priority(100), priority(90));
    assert_eq!(
        unequal,
        Err(GroupError::Priorities { first: A, expected, other: odd, priority: other })
    );
    let changed = rack.set.reconfigure(rack.now, A, member(A).priority(other).build().unwrap());
    assert!(changed.is_err());
    // A fault of one still moves the same three.
    rack.input(A, Input::Facts(Facts { link: false, ..good() }));
    assert_eq!(rack.states()[..3], [State::Initialize; 3]);
}

#[derive(Clone, Debug)]
enum Step {
    Input(u32, Input),
    Facts(u32, u8),
    Hear(u32, u8),
    Resign(u32, bool),
    Pass(u64),
    Sleep(u64),
    Work(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let id = 1..=3_u32;
    let command = prop_oneof![
        3 => Just(Input::Startup),
        1 => Just(Input::Shutdown),
        1 => Just(Input::Undrain),
        1 => Just(Input::ForceClaim),
        1 => Just(Input::ReleaseClaim),
        1 => Just(Input::Adopt),
    ];
    let bad = prop_oneof![4 => Just(0_u8), 1 => 0..8_u8];
    prop_oneof![
        2 => (id.clone(), command).prop_map(|(id, input)| Step::Input(id, input)),
        3 => (id.clone(), bad).prop_map(|(id, bad)| Step::Facts(id, bad)),
        3 => (id.clone(), any::<u8>()).prop_map(|(id, value)| Step::Hear(id, value)),
        1 => (id, any::<bool>()).prop_map(|(id, drain)| Step::Resign(id, drain)),
        4 => (0..5000_u64).prop_map(Step::Pass),
        1 => (0..9000_u64).prop_map(Step::Sleep),
        1 => any::<bool>().prop_map(Step::Work),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// A15, after every step of any history.
    #[test]
    fn members_always_share_their_state(
        owner in any::<bool>(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let base = if owner { Priority::OWNER } else { Priority::DEFAULT };
        // Members of different pace stall at different times.
        let interval = |id: RouterId| AdvertInterval::from_centis(100 * id.0 as u16).unwrap();
        let configs = [A, B, C].map(|id| {
            (id, member(id).priority(base).interval(interval(id)).build().unwrap())
        });
        let mut rack = Rack::started(&configs);
        for step in steps {
            match step {
                Step::Input(id, input) => drop(rack.input(RouterId(id), input)),
                Step::Facts(id, bad) => {
                    let facts = Facts {
                        link: bad & 1 == 0,
                        source: Some(OWN).filter(|_| bad & 2 == 0),
                        eligible: bad & 4 == 0,
                    };
                    rack.input(RouterId(id), Input::Facts(facts));
                }
                Step::Hear(id, value) => drop(rack.hear(RouterId(id), value)),
                Step::Resign(id, drain) => {
                    let handoff = hold(&rack);
                    let input = if drain { Input::Drain(handoff) } else { Input::Resign(handoff) };
                    rack.input(RouterId(id), input);
                }
                Step::Pass(time) => drop(rack.pass(millis(time))),
                Step::Sleep(time) => rack.now += millis(time),
                Step::Work(works) => {
                    rack.address_work =
                        if works { ActionResult::Done } else { ActionResult::Failed };
                }
            }
            let states = rack.states();
            prop_assert!(states.iter().all(|state| *state == states[0]), "{:?}", states);
        }
    }
}
