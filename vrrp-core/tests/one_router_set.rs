//! A set of one router behaves as that router.
#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use proptest::sample::select;
use support::rack::{A, LINK, Rack};
use support::*;
use vrrp_core::{
    Action, ActionResult, AdvertInterval, Config, Event, Facts, GroupId, Handoff, Input, Preempt,
    Priority, ResignMode, Successor, Version,
};

#[derive(Clone, Debug)]
enum Step {
    Input(Input),
    Facts(u8),
    Resign(bool, bool),
    Hear(u8, u8),
    Spoilt,
    Pass(u64),
    Sleep(u64),
    Work(Option<ActionResult>),
    Reconfigure(u8, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let commands = vec![
        Input::Startup,
        Input::Startup,
        Input::Startup,
        Input::Shutdown,
        Input::Undrain,
        Input::ForceClaim,
        Input::ReleaseClaim,
        Input::Adopt,
        Input::SuccessorAnnounced,
        Input::Reannounce,
        Input::AdvertResult { delivered: false },
        Input::AdvertResult { delivered: true },
        Input::PriorityChanged(Priority::MIN),
        Input::PriorityChanged(Priority::DEFAULT),
    ];
    let results = vec![ActionResult::Done, ActionResult::Failed, ActionResult::Partial];
    prop_oneof![
        4 => select(commands).prop_map(Step::Input),
        2 => prop_oneof![3 => Just(0_u8), 1 => 0..8_u8].prop_map(Step::Facts),
        1 => any::<(bool, bool)>().prop_map(|(drain, hold)| Step::Resign(drain, hold)),
        4 => (1..4_u8, any::<u8>()).prop_map(|(host, value)| Step::Hear(host, value)),
        1 => Just(Step::Spoilt),
        5 => (0..5000_u64).prop_map(Step::Pass),
        1 => (0..9000_u64).prop_map(Step::Sleep),
        1 => prop::option::of(select(results)).prop_map(Step::Work),
        1 => (1..=254_u8, any::<bool>()).prop_map(|(value, never)| Step::Reconfigure(value, never)),
    ]
}

/// A router and a set that hears the same.
struct Twins {
    bench: Bench,
    rack: Rack,
    work: Option<ActionResult>,
}

impl Twins {
    fn new(config: &Config, grouped: bool) -> Self {
        let bench = Bench::new(config.clone());
        let mut rack = Rack::new(&[(A, config.clone())]);
        if grouped {
            rack.set.set_group(rack.now, GroupId(1), &[A]).unwrap();
        }
        assert_eq!(bench.now, rack.now);
        Self { bench, rack, work: Some(ActionResult::Done) }
    }

    fn input(&mut self, input: Input) {
        self.bench.router.handle_input(self.bench.now, input);
        self.rack.set.handle_input(self.rack.now, A, input);
    }

    fn sleep(&mut self, time: u64) {
        self.bench.now += millis(time);
        self.rack.now = self.bench.now;
    }

    fn hear(&mut self, host: u8, value: u8, spoilt: bool) -> Result<(), TestCaseError> {
        let config = self.bench.router.config();
        let source = ip(&format!("192.0.2.{}", host - 1));
        let (meta, mut message) = advert_from(config, source, value, config.interval());
        message[6] ^= u8::from(spoilt);
        let alone = self.bench.router.handle_packet(self.bench.now, &meta, &message);
        let in_set = self.rack.set.handle_packet(self.rack.now, LINK, &meta, &message);
        prop_assert_eq!(alone, in_set.map(|(_, accepted)| accepted));
        Ok(())
    }

    fn timeout(&mut self) {
        self.bench.router.handle_timeout(self.bench.now);
        self.rack.set.handle_timeout(self.rack.now);
    }

    fn agree(&mut self) -> Result<(), TestCaseError> {
        loop {
            let alone = self.bench.router.poll_action();
            let in_set = self.rack.set.poll_action();
            prop_assert_eq!(alone, in_set.map(|(_, action)| action));
            let Some(action) = alone else { break };
            if let (Action::InstallAddresses(id) | Action::RemoveAddresses(id), Some(result)) =
                (action, self.work)
            {
                self.input(Input::ActionDone { id, result });
            }
        }
        let alone: Vec<Event> = self.bench.events();
        let in_set: Vec<Event> = self.rack.events().into_iter().map(|(_, event)| event).collect();
        prop_assert_eq!(alone, in_set);
        prop_assert_eq!(self.bench.router.poll_timeout(), self.rack.set.poll_timeout());
        // A set wakes only routers that are due, so the latest time that each has seen may differ.
        let (alone, in_set) = (&self.bench.router, self.rack.set.router(A).unwrap());
        let now = self.bench.now;
        prop_assert!(alone.normalized_at(now) == in_set.normalized_at(now));
        prop_assert_eq!(alone.snapshot(), in_set.snapshot());
        prop_assert_eq!(alone.stats(), in_set.stats());
        Ok(())
    }

    fn pass(&mut self, time: u64) -> Result<(), TestCaseError> {
        let end = self.bench.now + millis(time);
        while let Some(at) = self.bench.router.poll_timeout().filter(|&at| at <= end) {
            self.bench.now = self.bench.now.max(at);
            self.rack.now = self.bench.now;
            self.timeout();
            self.agree()?;
        }
        self.bench.now = end;
        self.rack.now = end;
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_set_of_one_behaves_as_its_router(
        base in select(vec![100_u8, 255]),
        version in select(vec![Version::V2, Version::V3]),
        peers in any::<bool>(),
        grouped in any::<bool>(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let settings = |base: u8, never: bool| {
            let preempt = if never { Preempt::Never } else { Preempt::After(millis(1500)) };
            let builder = config().version(version).priority(priority(base)).preempt(preempt);
            let mode = unicast(&["192.0.2.2", "192.0.2.3"]);
            (if peers { builder.mode(mode) } else { builder }).build().unwrap()
        };
        let mut twins = Twins::new(&settings(base, false), grouped);
        let good = Facts { link: true, source: Some(OWN), eligible: true };
        twins.input(Input::Facts(good));
        for step in steps {
            match step {
                Step::Input(input) => twins.input(input),
                Step::Facts(bad) => twins.input(Input::Facts(Facts {
                    link: bad & 1 == 0,
                    source: good.source.filter(|_| bad & 2 == 0),
                    eligible: bad & 4 == 0,
                })),
                Step::Resign(drain, hold) => {
                    let mode = if hold { ResignMode::Hold } else { ResignMode::RemoveFirst };
                    let deadline = twins.bench.now + millis(700);
                    let handoff = Handoff { mode, deadline, successor: Successor::BestKnown };
                    twins.input(if drain { Input::Drain(handoff) } else { Input::Resign(handoff) });
                }
                Step::Hear(host, value) => twins.hear(host, value, false)?,
                Step::Spoilt => twins.hear(3, 200, true)?,
                Step::Pass(time) => twins.pass(time)?,
                Step::Sleep(time) => {
                    twins.sleep(time);
                    twins.timeout();
                }
                Step::Work(result) => twins.work = result,
                Step::Reconfigure(value, never) => {
                    let base = if base == 255 { base } else { value };
                    let config = settings(base, never);
                    let now = twins.bench.now;
                    twins.bench.router.reconfigure(now, config.clone()).unwrap();
                    twins.rack.set.reconfigure(now, A, config).unwrap();
                }
            }
            twins.agree()?;
        }
    }
}

#[test]
fn an_unknown_router_hears_nothing() {
    let mut rack = Rack::new(&[]);
    rack.input(A, Input::Startup);
    assert_eq!(rack.set.poll_timeout(), None);
    assert!(rack.set.remove(rack.now, A).is_none());
    let config = config().build().unwrap();
    let (meta, message) = advert_from(&config, ip("192.0.2.2"), 200, AdvertInterval::DEFAULT);
    assert!(rack.set.handle_packet(rack.now, LINK, &meta, &message).is_err());
    assert_eq!(rack.set.unclaimed_packets(), 1);
}
