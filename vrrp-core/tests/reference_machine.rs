//! The router against a naive machine that was written from sections 3 and 4 of the conformance
//! digest alone, without a look at `src/router`. Both get the same random input lists; state,
//! advertisements and deadline must agree after every step.
//!
//! `Profile::Rfc` turns off what deployed routers made us add (the limit on assertions, the
//! last advertisement of a yielding Active). Announcements, address work, stalls and preempt
//! delay are no part of the digest's table and are kept out of the way.
#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::*;
use vrrp_core::{
    Action, AdvertInterval, AnnounceSchedule, ChecksumMode, Config, Facts, Input, Preempt,
    Priority, Profile, State, Version,
};

/// Nanoseconds.
type Time = u64;
/// Priority (0: giving up) and interval in centiseconds.
type Advert = (u8, u16);

const CENTI: Time = 10_000_000;
/// 192.0.2.100.
const OWN_HOST: u8 = 100;

struct Machine {
    version: Version,
    local_interval: u16,
    preempt: bool,
    priority: u8,
    started: bool,
    link: bool,
    may_run: bool,
    state: State,
    /// AAI of row 3.02.
    active_interval: u16,
    /// Active_Down_Timer in Backup, Adver_Timer in Active.
    deadline: Option<Time>,
    sent: Vec<Advert>,
}

impl Machine {
    fn owner(&self) -> bool {
        self.priority == 255
    }

    /// Row 3.03.
    fn skew(&self) -> Time {
        let base = match self.version {
            Version::V2 => 1_000_000_000,
            Version::V3 => Time::from(self.active_interval) * CENTI,
        };
        (256 - Time::from(self.priority)) * base / 256
    }

    /// Row 3.04.
    fn active_down(&self) -> Time {
        3 * Time::from(self.active_interval) * CENTI + self.skew()
    }

    fn advertise(&mut self) {
        self.sent.push((self.priority, self.local_interval));
    }

    fn adver_timer(&self, from: Time) -> Option<Time> {
        Some(from + Time::from(self.local_interval) * CENTI)
    }

    /// Rows 4.101, 4.102 and 4.105.
    fn run_if_possible(&mut self, now: Time) {
        if !self.started || !self.may_run || self.state != State::Initialize {
            return;
        }
        if self.owner() {
            self.become_active(now);
        } else {
            self.active_interval = self.local_interval;
            self.deadline = Some(now + self.active_down());
            self.state = State::Backup;
        }
    }

    /// Row 4.202.
    fn become_active(&mut self, now: Time) {
        self.advertise();
        self.deadline = self.adver_timer(now);
        self.state = State::Active;
    }

    /// Rows 4.201 and 4.301; nothing can be sent on a link that is down (4.401: "if it can").
    fn stop(&mut self) {
        if self.state == State::Active && self.link {
            self.sent.push((0, self.local_interval));
        }
        self.deadline = None;
        self.state = State::Initialize;
    }

    fn startup(&mut self, now: Time) {
        self.started = true;
        self.run_if_possible(now);
    }

    fn shutdown(&mut self) {
        self.started = false;
        self.stop();
    }

    /// Row 4.401: as Shutdown, then as Startup.
    fn facts(&mut self, now: Time, link: bool, eligible: bool) {
        self.link = link;
        self.may_run = link && eligible;
        if self.may_run {
            self.run_if_possible(now);
        } else {
            self.stop();
        }
    }

    /// Rows 3.05 and 4.405.
    fn set_priority(&mut self, priority: u8) {
        let changed = self.priority != priority;
        if self.owner() || !changed {
            return;
        }
        self.priority = priority;
        if self.state == State::Active {
            self.advertise();
        }
    }

    fn timer(&mut self, now: Time) {
        match self.state {
            State::Initialize => {}
            State::Backup => self.become_active(now),
            // Rows 4.302 and 3.09.
            State::Active => {
                self.advertise();
                self.deadline = self.adver_timer(self.deadline.unwrap());
            }
        }
    }

    fn advert(&mut self, now: Time, priority: u8, host: u8, interval: u16) {
        // Rows 2.14 and 2.15 as published.
        if host == OWN_HOST || self.owner() {
            return;
        }
        match self.state {
            State::Initialize => {}
            State::Backup if priority == 0 => self.deadline = Some(now + self.skew()),
            State::Backup if !self.preempt || priority >= self.priority => {
                self.follow(now, interval);
            }
            State::Backup => {}
            State::Active if priority == 0 => {
                self.advertise();
                self.deadline = self.adver_timer(now);
            }
            State::Active if (priority, host) > (self.priority, OWN_HOST) => {
                self.state = State::Backup;
                self.follow(now, interval);
            }
            // Rows 4.305 and 4.403.
            State::Active => self.advertise(),
        }
    }

    fn follow(&mut self, now: Time, interval: u16) {
        if self.version == Version::V3 {
            self.active_interval = interval;
        }
        self.deadline = Some(now + self.active_down());
    }
}

#[derive(Clone, Debug)]
enum Step {
    Startup,
    Shutdown,
    Link(bool),
    Eligible(bool),
    Priority(u8),
    Advert {
        priority: u8,
        host: u8,
        /// Ignored with v2, whose interval must be the local one.
        interval: u16,
    },
    /// In thousandths of the local interval; timers fire `late` after they are due.
    Pass {
        duration: u64,
        late: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let near = prop_oneof![Just(0_u8), Just(255), 98..=102_u8, any::<u8>()];
    let interval = prop_oneof![Just(100_u16), Just(1), Just(4095), 1..=4095_u16];
    prop_oneof![
        2 => Just(Step::Startup),
        1 => Just(Step::Shutdown),
        1 => any::<bool>().prop_map(Step::Link),
        1 => any::<bool>().prop_map(Step::Eligible),
        2 => prop_oneof![98..=102_u8, 1..=254_u8].prop_map(Step::Priority),
        8 => (near, OWN_HOST - 1..=OWN_HOST + 1, interval)
            .prop_map(|(priority, host, interval)| Step::Advert { priority, host, interval }),
        8 => (0..6000_u64, prop_oneof![Just(0), 0..900_u64])
            .prop_map(|(duration, late)| Step::Pass { duration, late }),
    ]
}

#[derive(Clone, Debug)]
struct Case {
    version: Version,
    interval: u16,
    priority: u8,
    preempt: bool,
    steps: Vec<Step>,
}

fn case() -> impl Strategy<Value = Case> {
    let settings = prop_oneof![
        2 => (Just(Version::V3), prop_oneof![Just(100_u16), 1..=4095_u16]),
        1 => (Just(Version::V2), prop_oneof![Just(100_u16), (1..=255_u16).prop_map(|s| s * 100)]),
    ];
    let priority = prop_oneof![4 => Just(100_u8), 2 => 1..=254_u8, 1 => Just(255)];
    (settings, priority, any::<bool>(), prop::collection::vec(step(), 1..60)).prop_map(
        |((version, interval), priority, preempt, steps)| Case {
            version,
            interval,
            priority,
            preempt,
            steps,
        },
    )
}

/// The router and the machine side by side.
struct Pair {
    bench: Bench,
    machine: Machine,
    facts: Facts,
}

impl Pair {
    fn new(case: &Case) -> Self {
        let facts = Facts { link: true, source: Some(ip("192.0.2.100")), eligible: true };
        let mut bench = Bench::new(settings(case));
        bench.input(Input::Facts(facts));
        let machine = Machine {
            version: case.version,
            local_interval: case.interval,
            preempt: case.preempt,
            priority: case.priority,
            started: false,
            link: true,
            may_run: true,
            state: State::Initialize,
            active_interval: case.interval,
            deadline: None,
            sent: Vec::new(),
        };
        Self { bench, machine, facts }
    }

    fn now(&self) -> Time {
        self.bench.now.as_nanos()
    }

    fn apply(&mut self, step: &Step) -> Result<(), TestCaseError> {
        let now = self.now();
        let actions = match *step {
            Step::Startup => {
                self.machine.startup(now);
                self.bench.input(Input::Startup)
            }
            Step::Shutdown => {
                self.machine.shutdown();
                self.bench.input(Input::Shutdown)
            }
            Step::Link(link) => self.set_facts(Facts { link, ..self.facts }),
            Step::Eligible(eligible) => self.set_facts(Facts { eligible, ..self.facts }),
            Step::Priority(value) => {
                self.machine.set_priority(value);
                self.bench.input(Input::PriorityChanged(priority(value)))
            }
            Step::Advert { priority, host, interval } => self.hear(priority, host, interval),
            Step::Pass { duration, late } => {
                let unit = u64::from(self.machine.local_interval) * CENTI / 1000;
                return self.pass(duration * unit, late * unit);
            }
        };
        self.agree(&actions)
    }

    fn set_facts(&mut self, facts: Facts) -> Vec<Action> {
        self.facts = facts;
        self.machine.facts(self.now(), facts.link, facts.eligible);
        self.bench.input(Input::Facts(facts))
    }

    fn hear(&mut self, priority: u8, host: u8, interval: u16) -> Vec<Action> {
        let interval = match self.machine.version {
            Version::V2 => self.machine.local_interval,
            Version::V3 => interval,
        };
        self.machine.advert(self.now(), priority, host, interval);
        let source = ip(&format!("192.0.2.{host}"));
        let interval = AdvertInterval::from_centis(interval).unwrap();
        let (meta, message) = advert_from(self.bench.router.config(), source, priority, interval);
        let _ = self.bench.packet(&meta, &message);
        self.bench.drain()
    }

    fn pass(&mut self, duration: u64, late: u64) -> Result<(), TestCaseError> {
        let end = self.now() + duration;
        while let Some(due) = self.machine.deadline.filter(|due| due + late <= end) {
            self.bench.now = vrrp_core::Instant::from_nanos(self.now().max(due + late));
            self.machine.timer(self.now());
            self.bench.router.handle_timeout(self.bench.now);
            let actions = self.bench.drain();
            self.agree(&actions)?;
        }
        self.bench.now = vrrp_core::Instant::from_nanos(end);
        Ok(())
    }

    fn agree(&mut self, actions: &[Action]) -> Result<(), TestCaseError> {
        let sent: Vec<Advert> = actions
            .iter()
            .filter_map(|action| match action {
                Action::SendAdvert(spec) => {
                    Some((spec.priority.map_or(0, Priority::value), spec.interval.centis()))
                }
                _ => None,
            })
            .collect();
        let router = &self.bench.router;
        prop_assert_eq!(router.state(), self.machine.state);
        prop_assert_eq!(sent, std::mem::take(&mut self.machine.sent));
        let deadline = router.poll_timeout().map(vrrp_core::Instant::as_nanos);
        prop_assert_eq!(deadline, self.machine.deadline);
        if self.machine.state == State::Backup {
            let interval = router.snapshot().active_interval.centis();
            prop_assert_eq!(interval, self.machine.active_interval);
        }
        Ok(())
    }
}

fn settings(case: &Case) -> Config {
    let preempt = if case.preempt { Preempt::default() } else { Preempt::Never };
    let silent = AnnounceSchedule {
        repeat_after: std::time::Duration::ZERO,
        refresh: std::time::Duration::ZERO,
        ..AnnounceSchedule::default()
    };
    config()
        .version(case.version)
        .interval(AdvertInterval::from_centis(case.interval).unwrap())
        .priority(priority(case.priority))
        .preempt(preempt)
        .checksum(ChecksumMode::MessageOnly)
        .profile(Profile::Rfc)
        .announce(silent)
        .build()
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_router_does_what_the_digest_says(case in case()) {
        let mut pair = Pair::new(&case);
        for step in &case.steps {
            pair.apply(step)?;
        }
    }
}
