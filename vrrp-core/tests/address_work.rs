//! Putting addresses on and taking them off: what is promised when it is slow, late or fails.

mod support;

use proptest::prelude::*;
use support::*;
use vrrp_core::{
    Action, ActionId, ActionResult, AddressState, AnnounceRound, Config, Event, Input,
    InstallFailure, Mode, Reason, State,
};

/// Back-off after failed installations, in seconds.
const INSTALL_BACKOFF: [u64; 9] = [1, 2, 4, 8, 16, 32, 60, 60, 60];
/// Back-off after failed removals, in milliseconds.
const REMOVE_BACKOFF: [u64; 9] = [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000];

/// The one piece of address work among the actions.
fn work(actions: &[Action]) -> ActionId {
    let ids: Vec<_> = actions.iter().filter_map(id_of).collect();
    assert_eq!(ids.len(), 1, "{actions:?}");
    ids[0]
}

fn id_of(action: &Action) -> Option<ActionId> {
    match *action {
        Action::InstallAddresses(id) | Action::RemoveAddresses(id) => Some(id),
        _ => None,
    }
}

fn adverts(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::SendAdvert(_))).count()
}

fn answer(bench: &mut Bench, id: ActionId, result: ActionResult) -> Vec<Action> {
    bench.input(Input::ActionDone { id, result })
}

fn retries(bench: &mut Bench) -> Vec<(bool, std::time::Duration)> {
    let events = bench.events().into_iter();
    events
        .filter_map(|event| match event {
            Event::AddressWorkFailed { installing, retry_in, .. } => Some((installing, retry_in)),
            _ => None,
        })
        .collect()
}

/// A router whose address work waits for the test, at the moment of its claim.
fn claiming(config: Config) -> (Bench, ActionId) {
    let mut bench = Bench::started(config);
    bench.address_work = None;
    let id = work(&bench.timeout());
    bench.events();
    (bench, id)
}

#[test]
fn nothing_is_announced_and_nothing_is_owned_before_the_kernel_confirmed() {
    let (mut bench, id) = claiming(config().build().unwrap());
    assert_eq!(bench.router.snapshot().addresses, AddressState::Installing);
    let mut actions = bench.pass(millis(3000));
    actions.extend(bench.input(Input::Reannounce));
    actions.extend(bench.hear("192.0.2.2", 50).1);
    // Advertisements do not wait: three that were due and the answer to the weaker router.
    assert_eq!(actions, [advert(100); 4]);
    assert_eq!(bench.router.snapshot().epoch, 0);
    let announced = answer(&mut bench, id, ActionResult::Done);
    assert_eq!(announced, [Action::Announce(AnnounceRound::Takeover)]);
    assert_eq!(bench.router.snapshot().addresses, AddressState::Present);
    assert_eq!(bench.router.snapshot().epoch, 1);
}

#[test]
fn an_active_without_its_addresses_removes_resigns_and_backs_off() {
    for failure in [ActionResult::Failed, ActionResult::Partial] {
        let (mut bench, id) = claiming(config().build().unwrap());
        let actions = answer(&mut bench, id, failure);
        assert!(removes(&actions[..1]) && actions[1..] == [resignation()], "{actions:?}");
        assert_eq!(bench.router.state(), State::Backup);
        let (from, to, reason) = (State::Active, State::Backup, Reason::InstallFailed);
        let retry_in = millis(1000);
        let expected = [
            Event::AddressWorkFailed { installing: true, result: failure, retry_in },
            Event::Transition { from, to, reason },
        ];
        assert_eq!(bench.events(), expected);
        // Nothing was owned, so nothing was lost.
        assert_eq!(bench.router.stats().install_failures, 1);
    }
}

/// Lets the installation fail, and the removal that follows end as `removal`.
fn fail_to_install(bench: &mut Bench, id: ActionId, removal: ActionResult) {
    let removing = work(&answer(bench, id, ActionResult::Failed));
    answer(bench, removing, removal);
}

#[test]
fn the_back_off_of_claims_doubles_from_1_s_to_60_s_and_ends_with_a_success() {
    let (mut bench, mut id) = claiming(config().build().unwrap());
    for seconds in INSTALL_BACKOFF {
        let failed_at = bench.now;
        fail_to_install(&mut bench, id, ActionResult::Done);
        assert_eq!(retries(&mut bench), [(true, millis(seconds * 1000))]);
        while bench.router.state() == State::Backup {
            let actions = bench.timeout();
            if let Some(found) = actions.iter().find_map(id_of) {
                id = found;
            }
        }
        let waited = bench.now.saturating_since(failed_at);
        assert_eq!(waited, millis(seconds * 1000).max(down(&bench)), "{seconds}");
    }
    answer(&mut bench, id, ActionResult::Done);
    bench.hear("192.0.2.2", 200);
    let id = work(&bench.timeout());
    bench.events();
    fail_to_install(&mut bench, id, ActionResult::Done);
    assert_eq!(retries(&mut bench), [(true, millis(1000))]);
}

fn down(bench: &Bench) -> std::time::Duration {
    let config = bench.router.config();
    config.interval().active_down(config.version(), config.priority())
}

#[test]
fn a_removal_that_fails_as_well_does_not_lengthen_the_back_off_of_claims() {
    let (mut bench, mut id) = claiming(config().build().unwrap());
    for seconds in [1, 2, 4] {
        bench.events();
        fail_to_install(&mut bench, id, ActionResult::Failed);
        let expected = [(true, millis(seconds * 1000)), (false, millis(100))];
        assert_eq!(retries(&mut bench), expected);
        while bench.router.state() == State::Backup {
            for action in bench.timeout() {
                if matches!(action, Action::RemoveAddresses(_)) {
                    answer(&mut bench, id_of(&action).unwrap(), ActionResult::Done);
                }
                id = id_of(&action).unwrap_or(id);
            }
        }
    }
}

#[test]
fn nobody_else_is_kept_from_serving_during_the_back_off() {
    let (mut bench, id) = claiming(config().build().unwrap());
    fail_to_install(&mut bench, id, ActionResult::Done);
    bench.hear("192.0.2.2", 50);
    bench.hear("192.0.2.2", 0);
    // Its skew is over before the back-off is: it waits.
    assert_eq!(bench.pass(millis(999)), []);
    assert_eq!(bench.router.state(), State::Backup);
    assert!(installs(&bench.pass(millis(1))));
}

#[test]
fn an_operators_claim_does_not_wait_for_the_back_off() {
    let (mut bench, id) = claiming(config().build().unwrap());
    fail_to_install(&mut bench, id, ActionResult::Done);
    assert!(installs(&bench.input(Input::ForceClaim)));
}

#[test]
fn with_retry_or_alone_the_active_stays_and_tries_again() {
    for builder in [config().install_failure(InstallFailure::Retry), config().mode(Mode::Solo)] {
        let (mut bench, mut id) = claiming(builder.build().unwrap());
        for seconds in INSTALL_BACKOFF {
            assert_eq!(answer(&mut bench, id, ActionResult::Failed), []);
            assert_eq!(retries(&mut bench), [(true, millis(seconds * 1000))]);
            assert_eq!(bench.router.state(), State::Active);
            let before = bench.pass(millis(seconds * 1000 - 1));
            assert!(!installs(&before));
            let actions = bench.pass(millis(1));
            id = work(&actions);
            // The cadence goes on meanwhile.
            assert!(adverts(&before) + adverts(&actions) >= seconds as usize);
        }
        let announced = answer(&mut bench, id, ActionResult::Done);
        assert_eq!(announced, [Action::Announce(AnnounceRound::Takeover)]);
    }
}

#[test]
fn a_removal_is_tried_until_it_is_done_from_100_ms_to_5_s() {
    let mut bench = Bench::active(config().build().unwrap());
    bench.address_work = None;
    let mut id = work(&bench.input(Input::Shutdown));
    bench.events();
    for milliseconds in REMOVE_BACKOFF {
        let wait = millis(milliseconds);
        assert_eq!(answer(&mut bench, id, ActionResult::Partial), []);
        assert_eq!(retries(&mut bench), [(false, wait)]);
        assert_eq!(bench.router.snapshot().addresses, AddressState::Removing);
        assert_eq!(bench.next_in(), wait);
        let actions = bench.timeout();
        assert!(matches!(actions[..], [Action::RemoveAddresses(_)]));
        id = work(&actions);
    }
    answer(&mut bench, id, ActionResult::Done);
    assert_eq!(bench.events(), [Event::AddressesRemoved]);
    assert_eq!(bench.router.snapshot().addresses, AddressState::Absent);
    assert_eq!(bench.router.poll_timeout(), None);
    assert_eq!(bench.router.stats().remove_failures, REMOVE_BACKOFF.len() as u64);
}

#[test]
fn a_removal_supersedes_the_installation_in_flight_and_its_late_answer_is_ignored() {
    let (mut bench, installing) = claiming(config().build().unwrap());
    let removing = work(&bench.hear("192.0.2.2", 200).1);
    assert_ne!(installing, removing);
    let before = bench.router.snapshot();
    for result in [ActionResult::Done, ActionResult::Failed, ActionResult::Partial] {
        assert_eq!(answer(&mut bench, installing, result), []);
        assert_eq!(bench.router.snapshot(), before);
    }
    assert_eq!(bench.router.stats().install_failures, 0);
    answer(&mut bench, removing, ActionResult::Done);
    assert_eq!(bench.router.snapshot().addresses, AddressState::Absent);
    assert_eq!(bench.router.snapshot().epoch, 0);
}

#[test]
fn an_installation_supersedes_the_removal_in_flight_and_its_late_answer_is_ignored() {
    let mut bench = Bench::active(config().build().unwrap());
    bench.address_work = None;
    let removing = work(&bench.hear("192.0.2.2", 200).1);
    let installing = work(&bench.timeout());
    bench.events();
    for result in [ActionResult::Done, ActionResult::Failed] {
        assert_eq!(answer(&mut bench, removing, result), []);
        assert_eq!(bench.router.snapshot().addresses, AddressState::Installing);
    }
    assert_eq!(bench.events(), []);
    answer(&mut bench, installing, ActionResult::Done);
    assert_eq!(bench.events(), [Event::BecameOwner { epoch: 2 }]);
}

#[test]
fn the_retry_of_a_removal_dies_with_a_claim() {
    let mut bench = Bench::active(config().build().unwrap());
    bench.address_work = None;
    bench.hear("192.0.2.2", 200);
    bench.hear("192.0.2.2", 0);
    // The removal fails just before this router claims again.
    bench.pass(millis(600));
    let removing = ActionId::from_raw(2);
    answer(&mut bench, removing, ActionResult::Failed);
    let actions = bench.pass(millis(10));
    assert!(installs(&actions) && !removes(&actions));
    assert!(!removes(&bench.pass(millis(1000))));
}

#[test]
fn an_answer_counts_once() {
    let (mut bench, id) = claiming(config().build().unwrap());
    answer(&mut bench, id, ActionResult::Done);
    let before = bench.router.clone();
    for result in [ActionResult::Done, ActionResult::Partial, ActionResult::Failed] {
        assert_eq!(answer(&mut bench, id, result), []);
    }
    assert_eq!(bench.router, before);
}

#[test]
fn work_that_was_never_started_is_replaced_in_the_queue() {
    let mut bench = Bench::started(config().build().unwrap());
    bench.now = bench.router.poll_timeout().unwrap();
    bench.router.handle_timeout(bench.now);
    bench.router.handle_input(bench.now, Input::Shutdown);
    let actions = bench.drain();
    assert!(!installs(&actions) && removes(&actions), "{actions:?}");
}

#[test]
fn announcements_repeat_once_and_then_go_on_at_their_period() {
    let mut bench = Bench::active(config().build().unwrap());
    let announced = |actions: Vec<Action>| -> Vec<AnnounceRound> {
        let rounds = actions.into_iter();
        rounds
            .filter_map(|action| match action {
                Action::Announce(round) => Some(round),
                _ => None,
            })
            .collect()
    };
    assert_eq!(announced(bench.pass(millis(4999))), []);
    assert_eq!(announced(bench.pass(millis(1))), [AnnounceRound::Repeat]);
    assert_eq!(announced(bench.pass(millis(54_999))), []);
    assert_eq!(announced(bench.pass(millis(1))), [AnnounceRound::Refresh]);
    assert_eq!(announced(bench.pass(millis(60_000))), [AnnounceRound::Refresh]);
    // Told that neighbours may be wrong.
    assert_eq!(bench.input(Input::Reannounce), [Action::Announce(AnnounceRound::Reassert)]);
    // And nothing more once the addresses go.
    bench.hear("192.0.2.2", 200);
    bench.hear("192.0.2.2", 200);
    assert_eq!(announced(bench.pass(millis(3000))), []);
    assert_eq!(bench.input(Input::Reannounce), []);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// An id that this router did not hand out last means nothing to it, whatever it is doing.
    #[test]
    fn foreign_ids_change_nothing(raw in any::<u32>(), stage in 0..4_u8, failed in any::<bool>()) {
        let (mut bench, id) = claiming(config().build().unwrap());
        let mut latest = id;
        if stage > 0 {
            answer(&mut bench, id, ActionResult::Done);
        }
        if stage > 1 {
            latest = work(&bench.hear("192.0.2.2", 200).1);
        }
        if stage > 2 {
            answer(&mut bench, latest, ActionResult::Failed);
        }
        prop_assume!(raw != latest.as_raw());
        let before = bench.router.clone();
        let result = if failed { ActionResult::Failed } else { ActionResult::Done };
        prop_assert_eq!(answer(&mut bench, ActionId::from_raw(raw), result), []);
        prop_assert_eq!(bench.router, before);
    }
}
