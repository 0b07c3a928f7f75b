//! One router, any configuration, any calls in any order, with the invariants of every state.

use alloc::vec;
use core::time::Duration;

use arbitrary::{Result, Unstructured};

use super::generate;
use crate::receive::RxMeta;
use crate::wire;
use crate::{
    Action, ActionId, ActionResult, AddressState, AdvertSpec, Audience, Input, Instant, Mode,
    Priority, State, Timer, VirtualRouter, Vrid,
};

/// One router and whatever happens to it.
pub fn router_ops(data: &[u8]) {
    let _ = try_router_ops(&mut Unstructured::new(data)); // too few bytes: the end of the list
}

struct Bench {
    router: VirtualRouter,
    now: Instant,
    work: Option<ActionId>,
    /// `Startup` said, and neither `Shutdown` nor `Resign` since.
    started: bool,
    /// The driver broke its rule: actions of an earlier call may be waiting.
    undrained: bool,
}

fn try_router_ops(u: &mut Unstructured<'_>) -> Result<()> {
    let Some(vrid) = Vrid::new(51) else { return Ok(()) };
    let Some(config) = generate::config(u, vrid)? else { return Ok(()) };
    let now = Instant::from_millis(1_000_000);
    let router = VirtualRouter::new(config, now);
    let mut bench = Bench { router, now, work: None, started: false, undrained: false };
    while !u.is_empty() {
        step(&mut bench, u)?;
    }
    Ok(())
}

fn step(bench: &mut Bench, u: &mut Unstructured<'_>) -> Result<()> {
    let family = bench.router.config().family();
    let before = bench.router.state();
    let owed = bench.router.deadline(Timer::StaggeredResign).is_some();
    match u.int_in_range(0..=9)? {
        0 | 1 => {
            bench.now = bench.router.poll_timeout().unwrap_or(bench.now).max(bench.now);
            bench.router.handle_timeout(bench.now);
            assert!(bench.router.poll_timeout().is_none_or(|at| at > bench.now), "a busy loop");
        }
        2 => {
            bench.now += Duration::from_micros(u.arbitrary::<u32>()?.into());
            bench.router.handle_timeout(bench.now);
        }
        // A driver whose clock goes back: harmless.
        3 => bench
            .router
            .handle_timeout(bench.now - Duration::from_millis(u.arbitrary::<u8>()?.into())),
        4 => any_packet(bench, u)?,
        5 => advertisement(bench, u)?,
        6 => {
            if let Some(id) = bench.work.take() {
                let results = [ActionResult::Done, ActionResult::Partial, ActionResult::Failed];
                let result = *u.choose(&results)?;
                bench.router.handle_input(bench.now, Input::ActionDone { id, result });
            }
        }
        7 => {
            if let Some(config) = generate::config(u, bench.router.config().vrid())? {
                let state = bench.router.state();
                let _ = bench.router.reconfigure(bench.now, config); // another family is refused
                // Only a stall, which any call notices, may move it.
                assert!(bench.router.state() == state || state == State::Active);
            }
        }
        _ => {
            let input = generate::input(u, bench.now, family)?;
            match input {
                Input::Startup => bench.started = true,
                Input::Shutdown | Input::Resign(_) => bench.started = false,
                _ => {}
            }
            bench.router.handle_input(bench.now, input);
            // An adoption stands for a start, where it is possible.
            bench.started |= input == Input::Adopt && bench.router.state() == State::Active;
        }
    }
    if u.ratio(7, 8)? {
        drain(bench, before, owed);
    } else {
        bench.undrained = true;
    }
    check(bench);
    Ok(())
}

/// A discarded packet changes nothing.
fn any_packet(bench: &mut Bench, u: &mut Unstructured<'_>) -> Result<()> {
    let family = bench.router.config().family();
    let meta = RxMeta {
        source: generate::router_address(family, u.int_in_range(0..=4)?),
        destination: wire::group(family),
        ttl: wire::TTL,
        received_at: None,
        checksum_verified: false,
    };
    let length = u.int_in_range(0..=40)?;
    let payload = u.bytes(usize::min(length, u.len()))?;
    let before = bench.router.normalized_at(bench.now);
    if bench.router.handle_packet(bench.now, &meta, payload).is_err() {
        assert_eq!(bench.router.normalized_at(bench.now), before, "a discard changed something");
    }
    Ok(())
}

/// What another router with the same settings would send.
fn advertisement(bench: &mut Bench, u: &mut Unstructured<'_>) -> Result<()> {
    let config = bench.router.config().clone();
    let family = config.family();
    let index = u.int_in_range(1..=3)?;
    let destination = match config.mode() {
        Mode::Multicast => wire::group(family),
        _ => generate::router_address(family, 0),
    };
    let spec = AdvertSpec {
        audience: Audience::All,
        priority: Priority::new(u.arbitrary()?),
        interval: generate::interval(u, config.version())?,
    };
    let mut octets = vec![0; config.message_len()];
    let mut sender = VirtualRouter::new(config, Instant::ZERO);
    sender.handle_input(Instant::ZERO, Input::Facts(generate::good_facts(family, index)));
    let written = sender.encode_advert(&spec, destination, &mut octets);
    assert_eq!(written, Ok(octets.len()));
    let meta = RxMeta {
        source: generate::router_address(family, index),
        destination,
        ttl: wire::TTL,
        received_at: if u.arbitrary()? { Some(bench.now) } else { None },
        checksum_verified: false,
    };
    let _ = bench.router.handle_packet(bench.now, &meta, &octets); // Solo accepts none
    Ok(())
}

fn drain(bench: &mut Bench, before: State, owed: bool) {
    let mut octets = vec![0; bench.router.config().message_len()];
    let mut drained = 0;
    while let Some(action) = bench.router.poll_action() {
        drained += 1;
        assert!(drained <= 8, "an endless list of actions");
        match action {
            Action::SendAdvert(spec) => {
                for destination in bench.router.destinations(&spec) {
                    let written = bench.router.encode_advert(&spec, destination, &mut octets);
                    assert!(written.is_ok());
                }
                // Priority 0 from whoever was Active, or owes the second half of a resignation.
                // One that was not drained before may still be queued.
                let may_resign = before == State::Active || owed || bench.undrained;
                assert!(spec.priority.is_some() || may_resign, "priority 0 from {before:?}");
            }
            Action::InstallAddresses(id) | Action::RemoveAddresses(id) => bench.work = Some(id),
            Action::Announce(_) => {
                assert_eq!(bench.router.state(), State::Active);
                assert_eq!(bench.router.snapshot().addresses, AddressState::Present);
            }
        }
    }
    while bench.router.poll_event().is_some() {}
    bench.undrained = false;
}

fn check(bench: &Bench) {
    let router = &bench.router;
    let has = |timer| router.deadline(timer).is_some();
    let snapshot = router.snapshot();
    match router.state() {
        State::Active => {
            assert!(has(Timer::AdvertDue) && !has(Timer::ActiveDown) && !has(Timer::HoldEnd));
            assert_ne!(snapshot.addresses, AddressState::Absent);
        }
        State::Backup => {
            assert!(has(Timer::ActiveDown) && !has(Timer::AdvertDue) && !has(Timer::HoldEnd));
            assert_ne!(snapshot.addresses, AddressState::Present);
        }
        State::Initialize => {
            assert!(!has(Timer::ActiveDown) && !has(Timer::AdvertDue));
            assert!(snapshot.impediment.is_some());
            let present = snapshot.addresses == AddressState::Present;
            assert!(!present || has(Timer::HoldEnd), "addresses that nobody will remove");
        }
    }
    assert!(bench.started || router.state() == State::Initialize, "it takes part unasked");
    let normal = router.normalized_at(bench.now);
    assert_eq!(normal, normal.normalized_at(VirtualRouter::NORMAL_NOW), "not a normal form");
}
