//! The checkers can fail: each way of being wrong is found, under the name of the promise that it
//! breaks, and shrunk to a few faults.

use sim::{Checker, Mutation, Options, Schedule};

/// Runs seeds until the mutation is found; returns what was broken and the shrunk schedule.
fn find(mutation: Mutation, expected: &[Checker]) -> Schedule {
    let options = Options { mutation: Some(mutation), ..Options::default() };
    for seed in 0..300 {
        let schedule = Schedule::from_seed(seed, 0, 300_000);
        let Some(violation) = sim::run_with(&schedule, options).violation else {
            continue;
        };
        if !expected.contains(&violation.checker) {
            println!("{mutation:?} seed {seed}: {violation}");
            continue;
        }
        let short = sim::shrink(&schedule, options);
        let again = sim::run_with(&short, options).violation.expect("it still fails");
        println!("{mutation:?}: {again}, {} faults", short.faults.len());
        assert_eq!(again.checker, violation.checker, "shrinking keeps the promise that is broken");
        assert!(short.faults.len() <= 3, "{}", short.to_test("too_long"));
        assert_eq!(sim::run(&short).violation, None, "the plain driver keeps the promise");
        return short;
    }
    panic!("{mutation:?} was not found");
}

macro_rules! found {
    ($($name:ident: $mutation:ident breaks $($checker:ident)|+;)*) => {
        $(
            #[test]
            fn $name() {
                find(Mutation::$mutation, &[$(Checker::$checker),+]);
            }
        )*
    };
}

found! {
    timeouts_fed_before_waiting_packets: TimeoutsBeforePackets breaks ClaimsOnlyAfterSilence;
    a_discarded_packet_that_restarts_the_timer: DiscardRestartsTimer breaks DiscardChangesNothing;
    a_removal_that_does_nothing: RemovalDoesNothing breaks AddressesFollowState | OneOwner;
    an_installation_confirmed_too_early: InstallConfirmedEarly breaks AnnouncesWhatIsThere;
    a_lease_refreshed_after_a_stall: RefreshAfterStall breaks WithdrawsBeforeSending;
    an_advertisement_sent_first_after_a_stall: SendsAfterStall breaks WithdrawsBeforeSending;
    a_guardian_that_resigns_for_what_was_not_held: GuardianResignsForAll breaks ZeroOnlyOnResigning;
    a_driver_that_sleeps_through_deadlines: SleepsThroughDeadlines breaks SomeoneServes;
    a_clock_behind_its_deadlines: ClockBehind breaks NoBusyLoop;
    a_clock_far_ahead: ClockAhead breaks DeadlineArmed;
    a_group_that_was_forgotten: GroupForgotten breaks GroupSharesState;
    facts_that_are_not_reported: FactsNotReported breaks StandingFollowsFacts;
    a_resignation_said_twice: ResignsTwice breaks ZeroOncePerPeer;
    a_handoff_carried_out_as_a_shutdown: HoldIgnored breaks HoldKeepsAddresses;
    damaged_advertisements: EncodesWrongly breaks OneOwner;
}

#[test]
fn a_shrunk_schedule_prints_as_a_test() {
    let short = find(Mutation::HoldIgnored, &[Checker::HoldKeepsAddresses]);
    let text = short.to_test("seed_1");
    assert!(text.starts_with("#[test]\nfn seed_1() {\n"), "{text}");
    assert!(text.contains("sim::run(&schedule)"), "{text}");
    for (_, fault) in &short.faults {
        assert!(text.contains(&format!("{fault:?}")), "{text}");
    }
}
