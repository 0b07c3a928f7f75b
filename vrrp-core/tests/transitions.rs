//! The transition table: what a router does, in which order, in every situation and on every
//! input. `snapshots/transitions.txt` is the table, to be read and reviewed by people;
//! `UPDATE_SNAPSHOTS=1` writes it anew.
//!
//! The first table is complete. The others, one per setting that bears on the protocol, hold the
//! rows in which a router with that setting differs from the first.
#![allow(clippy::unwrap_used)]

mod support;

use std::fmt::Write as _;

use support::snapshot::assert_snapshot;
use support::*;
use vrrp_core::{
    Action, ActionId, ActionResult, AdvertInterval, Audience, ChecksumMode, Config, ConfigBuilder,
    Event, Facts, Handoff, Input, InstallFailure, Mode, Preempt, Priority, Profile, ResignMode,
    State, Successor, Version, VirtualRouter,
};

/// This router's address; the others are below and above it.
const SOURCE: &str = "192.0.2.5";
const BELOW: &str = "192.0.2.2";
const ABOVE: &str = "192.0.2.9";

const TITLE: &str = "\
# Transition table

One router, 192.0.2.5, base priority 100, 1 s unless a table says otherwise; the others are
192.0.2.2 and 192.0.2.9. Each situation has lasted for 100 ms when the input arrives. Actions are in
order; address work is answered only by the inputs `done` and `failed`. Then follow the state and
the place of the addresses, `.` if they are what they were, and the next deadline, in seconds from
the input on. `-` is none.
";

fn tables() -> Vec<(&'static str, ConfigBuilder)> {
    let v2 = || config().version(Version::V2);
    let peers = || unicast(&[BELOW, ABOVE]);
    vec![
        ("v3, multicast", config()),
        ("v3, multicast, preempt never", config().preempt(Preempt::Never)),
        ("v3, multicast, preempt after 10 s", config().preempt(Preempt::After(millis(10_000)))),
        ("v3, multicast, address owner", config().priority(Priority::OWNER)),
        (
            "v3, multicast, retry failed installations",
            config().install_failure(InstallFailure::Retry),
        ),
        ("v3, multicast, profile rfc", rfc()),
        ("v3, multicast, profile rfc, address owner", rfc().priority(Priority::OWNER)),
        ("v3, unicast", config().mode(peers())),
        ("v3, solo", config().mode(Mode::Solo)),
        ("v2, multicast", v2()),
        ("v2, unicast", v2().mode(peers())),
    ]
}

fn rfc() -> ConfigBuilder {
    config().profile(Profile::Rfc).checksum(ChecksumMode::MessageOnly)
}

/// A way to get somewhere, from a router with good facts that was not started.
type Reach = fn(&mut Bench);

const SITUATIONS: [(State, &str, Reach); 17] = [
    (State::Initialize, "not started", |_| {}),
    (State::Initialize, "started, link down", |b| {
        b.input(Input::Facts(Facts { link: false, ..facts() }));
        b.input(Input::Startup);
    }),
    (State::Initialize, "resigned", |b| {
        become_active(b);
        b.input(Input::Resign(handoff(b, ResignMode::RemoveFirst)));
        answer(b, ActionResult::Done);
    }),
    (State::Initialize, "drained", |b| {
        become_active(b);
        b.input(Input::Drain(handoff(b, ResignMode::RemoveFirst)));
        answer(b, ActionResult::Done);
    }),
    (State::Initialize, "resigned, holding the addresses", |b| {
        become_active(b);
        b.input(Input::Resign(handoff(b, ResignMode::Hold)));
    }),
    (State::Initialize, "drained, holding the addresses", |b| {
        become_active(b);
        b.input(Input::Drain(handoff(b, ResignMode::Hold)));
    }),
    (State::Initialize, "shut down, removing", |b| {
        become_active(b);
        b.input(Input::Shutdown);
    }),
    (State::Backup, "nobody heard", start),
    (State::Backup, "following a better router at 3 s", |b| {
        start(b);
        let slow = match b.router.config().version() {
            Version::V2 => AdvertInterval::DEFAULT,
            Version::V3 => AdvertInterval::from_centis(300).unwrap(),
        };
        hear(b, ABOVE, 200, slow);
    }),
    (State::Backup, "a weaker router heard", |b| {
        start(b);
        hear(b, ABOVE, 50, AdvertInterval::DEFAULT);
    }),
    (State::Backup, "the Active resigned", |b| {
        start(b);
        hear(b, ABOVE, 200, AdvertInterval::DEFAULT);
        hear(b, ABOVE, 0, AdvertInterval::DEFAULT);
    }),
    (State::Backup, "yielded, removing", |b| {
        become_active(b);
        hear(b, ABOVE, 255, AdvertInterval::DEFAULT);
    }),
    (State::Backup, "backing off after a failed installation", |b| {
        claim(b);
        answer(b, ActionResult::Failed);
        answer(b, ActionResult::Done);
    }),
    (State::Active, "installing", claim),
    (State::Active, "addresses present", become_active),
    (State::Active, "the source in its grace", |b| {
        become_active(b);
        b.input(Input::Facts(Facts { source: None, ..facts() }));
    }),
    (State::Active, "claimed by command", |b| {
        start(b);
        hear(b, ABOVE, 200, AdvertInterval::DEFAULT);
        b.input(Input::ForceClaim);
        answer(b, ActionResult::Done);
    }),
];

type Act = fn(&mut Bench);

const INPUTS: [(&str, Act); 28] = [
    ("startup", |b| say(b, Input::Startup)),
    ("shutdown", |b| say(b, Input::Shutdown)),
    ("facts: good", |b| say(b, Input::Facts(facts()))),
    ("facts: link down", |b| say(b, Input::Facts(Facts { link: false, ..facts() }))),
    ("facts: no source", |b| say(b, Input::Facts(Facts { source: None, ..facts() }))),
    ("facts: ineligible", |b| say(b, Input::Facts(Facts { eligible: false, ..facts() }))),
    ("priority 50", |b| say(b, Input::PriorityChanged(priority(50)))),
    ("resign, hold", |b| say(b, Input::Resign(handoff(b, ResignMode::Hold)))),
    ("resign, remove first", |b| say(b, Input::Resign(handoff(b, ResignMode::RemoveFirst)))),
    ("drain, hold", |b| say(b, Input::Drain(handoff(b, ResignMode::Hold)))),
    ("undrain", |b| say(b, Input::Undrain)),
    ("force claim", |b| say(b, Input::ForceClaim)),
    ("release claim", |b| say(b, Input::ReleaseClaim)),
    ("adopt", |b| say(b, Input::Adopt)),
    ("successor announced", |b| say(b, Input::SuccessorAnnounced)),
    ("done", |b| answer(b, ActionResult::Done)),
    ("failed", |b| answer(b, ActionResult::Failed)),
    ("advert lost", |b| say(b, Input::AdvertResult { delivered: false })),
    ("reannounce", |b| say(b, Input::Reannounce)),
    ("advert 200", |b| hear(b, BELOW, 200, AdvertInterval::DEFAULT)),
    ("advert 255", |b| hear(b, BELOW, 255, AdvertInterval::DEFAULT)),
    ("advert 100, higher address", |b| hear(b, ABOVE, 100, AdvertInterval::DEFAULT)),
    ("advert 100, lower address", |b| hear(b, BELOW, 100, AdvertInterval::DEFAULT)),
    ("advert 50", |b| hear(b, ABOVE, 50, AdvertInterval::DEFAULT)),
    ("advert 0", |b| hear(b, ABOVE, 0, AdvertInterval::DEFAULT)),
    ("deadline", |b| {
        b.now = b.router.poll_timeout().unwrap_or(b.now);
        b.router.handle_timeout(b.now);
    }),
    ("deadline, 500 ms late", |b| {
        b.now = b.router.poll_timeout().unwrap_or(b.now) + millis(500);
        b.router.handle_timeout(b.now);
    }),
    ("asleep for 60 s", |b| {
        b.sleep(millis(60_000));
        b.router.handle_timeout(b.now);
    }),
];

fn facts() -> Facts {
    Facts { link: true, source: Some(ip(SOURCE)), eligible: true }
}

fn handoff(bench: &Bench, mode: ResignMode) -> Handoff {
    let deadline = bench.now + millis(5000);
    Handoff { mode, deadline, successor: Successor::BestKnown }
}

fn start(bench: &mut Bench) {
    bench.input(Input::Startup);
}

fn claim(bench: &mut Bench) {
    start(bench);
    if bench.router.state() == State::Backup {
        bench.timeout();
    }
}

fn become_active(bench: &mut Bench) {
    claim(bench);
    answer(bench, ActionResult::Done);
}

fn say(bench: &mut Bench, input: Input) {
    bench.router.handle_input(bench.now, input);
}

/// Answers the latest address work, if any is under way: ids count from 1, and every other one is
/// ignored.
fn answer(bench: &mut Bench, result: ActionResult) {
    for raw in 1..16 {
        let mut probe = bench.router.clone();
        let id = ActionId::from_raw(raw);
        probe.handle_input(bench.now, Input::ActionDone { id, result });
        let normal = |router: &VirtualRouter| router.normalized_at(bench.now);
        if normal(&probe) != normal(&bench.router) {
            bench.router = probe;
            return;
        }
    }
}

fn hear(bench: &mut Bench, source: &str, value: u8, interval: AdvertInterval) {
    let (meta, message) = advert_from(bench.router.config(), ip(source), value, interval);
    let _ = bench.packet(&meta, &message);
}

/// `None` where this configuration does not get there.
fn reach(config: &Config, state: State, way: Reach) -> Option<Bench> {
    let mut bench = Bench::new(config.clone());
    bench.address_work = None;
    bench.input(Input::Facts(facts()));
    way(&mut bench);
    bench.sleep(millis(100));
    bench.drain();
    bench.events();
    (bench.router.state() == state).then_some(bench)
}

#[derive(PartialEq)]
struct Row {
    actions: String,
    next: String,
    addresses: String,
    deadline: String,
    /// Nothing to do, and neither state nor deadline changed.
    idle: bool,
}

fn row(before: &Bench, act: Act) -> Row {
    let mut bench = before.clone();
    act(&mut bench);
    let actions: Vec<String> = bench.drain().iter().map(name).collect();
    let old = before.router.snapshot();
    let snapshot = bench.router.snapshot();
    let reason = bench.events().into_iter().rev().find_map(|event| match event {
        Event::Transition { reason, .. } => Some(reason),
        _ => None,
    });
    let next = match reason {
        Some(reason) => format!("{:?} ({reason:?})", snapshot.state),
        None => ".".to_owned(),
    };
    let addresses = match snapshot.addresses {
        same if same == old.addresses => ".".to_owned(),
        other => format!("{other:?}"),
    };
    let idle = actions.is_empty()
        && reason.is_none()
        && snapshot.addresses == old.addresses
        && snapshot.next_wakeup == old.next_wakeup;
    let deadline = snapshot.next_wakeup.map_or("-".to_owned(), |(at, timer)| {
        format!("{:>10.6} {timer:?}", at.saturating_since(bench.now).as_secs_f64())
    });
    let actions = if actions.is_empty() { "-".to_owned() } else { actions.join(", ") };
    Row { actions, next, addresses, deadline, idle }
}

fn name(action: &Action) -> String {
    match action {
        Action::SendAdvert(spec) => {
            let to = match spec.audience {
                Audience::All => String::new(),
                Audience::Only(peer) => format!(" to {peer}"),
                Audience::AllExcept(peer) => format!(" to all but {peer}"),
                other => format!(" to {other:?}"),
            };
            let at = match spec.interval {
                AdvertInterval::DEFAULT => String::new(),
                other => format!(" at {other}"),
            };
            format!("advert {}{at}{to}", spec.priority.map_or(0, Priority::value))
        }
        Action::InstallAddresses(_) => "install".to_owned(),
        Action::RemoveAddresses(_) => "remove".to_owned(),
        Action::Announce(round) => format!("announce {round:?}").to_lowercase(),
        other => format!("{other:?}"),
    }
}

/// One situation of one configuration: the rows that the reference does not have.
fn write_situation(text: &mut String, bench: &Bench, reference: Option<&Bench>) -> bool {
    let rows: Vec<(&str, Row)> = INPUTS
        .iter()
        .map(|&(input, act)| (input, row(bench, act)))
        .zip(INPUTS.map(|(_, act)| reference.map(|reference| row(reference, act))))
        .filter(|((_, row), reference)| Some(row) != reference.as_ref())
        .map(|(row, _)| row)
        .collect();
    let moving = || rows.iter().filter(|(_, row)| !row.idle);
    let width = |of: fn(&Row) -> &str| moving().map(|(_, row)| of(row).len()).max().unwrap_or(0);
    let (actions, next) = (width(|row| &row.actions), width(|row| &row.next));
    let addresses = width(|row| &row.addresses);
    for (input, row) in moving() {
        let Row { actions: todo, next: state, addresses: place, deadline, .. } = row;
        let line = format!(
            "  {input:<26}  {todo:<actions$}  {state:<next$}  {place:<addresses$}  {deadline}"
        );
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
    let idle: Vec<&str> =
        rows.iter().filter(|(_, row)| row.idle).map(|(input, _)| *input).collect();
    if !idle.is_empty() {
        text.push_str(&wrapped("  nothing: ", &idle));
    }
    !rows.is_empty()
}

/// A list in lines of at most a hundred characters.
fn wrapped(head: &str, items: &[&str]) -> String {
    let mut text = head.to_owned();
    let mut column = head.len();
    for (index, item) in items.iter().enumerate() {
        let end = if index + 1 < items.len() { "; " } else { "" };
        if column + item.len() > 98 {
            text.truncate(text.trim_end().len());
            write!(text, "\n{:width$}", "", width = head.len()).unwrap();
            column = head.len();
        }
        write!(text, "{item}{end}").unwrap();
        column += item.len() + end.len();
    }
    text + "\n"
}

fn write_table(text: &mut String, title: &str, config: &Config, reference: Option<&Config>) {
    writeln!(text, "\n\n## {title}").unwrap();
    let mut alike = Vec::new();
    for (state, situation, way) in SITUATIONS {
        let title = format!("{state:?}, {situation}");
        let Some(bench) = reach(config, state, way) else {
            writeln!(text, "\n### {title}\n  not reached this way").unwrap();
            continue;
        };
        let reference = reference.and_then(|config| reach(config, state, way));
        let mut rows = String::new();
        if write_situation(&mut rows, &bench, reference.as_ref()) {
            let before =
                bench.router.snapshot().next_wakeup.map_or("-".to_owned(), |(at, timer)| {
                    format!("{:.6} {timer:?}", at.saturating_since(bench.now).as_secs_f64())
                });
            writeln!(text, "\n### {title}: {before}\n{rows}").unwrap();
            text.pop();
        } else {
            alike.push(title);
        }
    }
    if !alike.is_empty() {
        writeln!(text, "\n### As in the first table").unwrap();
        for title in alike {
            writeln!(text, "  {title}").unwrap();
        }
    }
}

#[test]
fn the_transition_table_is_as_reviewed() {
    let mut text = TITLE.to_owned();
    let mut reference = None;
    for (title, builder) in tables() {
        let config = builder.build().unwrap();
        write_table(&mut text, title, &config, reference.as_ref());
        reference.get_or_insert(config);
    }
    assert_snapshot("tests/snapshots/transitions.txt", &text);
}
