//! No allocation per packet, timer or action: what runs on the protocol thread after construction
//! never waits for an allocator.
#![allow(clippy::unwrap_used)]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use support::*;
use vrrp_core::{
    Action, ActionResult, Facts, GroupId, Handoff, Input, Instant, LinkId, Preempt, ResignMode,
    RouterId, RouterSet, Successor,
};

/// The system's allocator, counting for the thread that asks.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    drop(std::hint::black_box(vec![1, 2, 3]));
    assert!(allocations() > before);
}

/// Drains a set as a driver does and answers all address work with `result`.
fn drain(set: &mut RouterSet, now: Instant, result: ActionResult, wire: &mut [u8]) {
    while let Some((id, action)) = set.poll_action() {
        match action {
            Action::SendAdvert(spec) => {
                let Some(router) = set.router(id) else {
                    continue;
                };
                for destination in router.destinations(&spec) {
                    router.encode_advert(&spec, destination, wire).unwrap();
                }
            }
            Action::InstallAddresses(work) | Action::RemoveAddresses(work) => {
                set.handle_input(now, id, Input::ActionDone { id: work, result });
            }
            _ => {}
        }
    }
    while set.poll_event().is_some() {}
}

#[test]
fn a_whole_life_of_a_set_with_a_sync_group_allocates_nothing() {
    let mut now = Instant::from_millis(1000);
    let mut set = RouterSet::new();
    let mut configs = Vec::new();
    for index in 0..8_u8 {
        let vip = std::net::IpAddr::from([192, 0, 2, 100 + index]);
        let vips = vrrp_core::VirtualAddrs::new(&[vip]).unwrap();
        let vrid = vrrp_core::Vrid::new(index + 1).unwrap();
        let config = vrrp_core::Config::builder(vrid, vips)
            .preempt(Preempt::After(millis(u64::from(index) * 700)))
            .build()
            .unwrap();
        set.insert(now, RouterId(index.into()), LinkId(0), config.clone()).unwrap();
        configs.push(config);
    }
    set.set_group(now, GroupId(1), &[RouterId(0), RouterId(1), RouterId(2)]).unwrap();
    let packets: Vec<_> = configs
        .iter()
        .flat_map(|config| {
            [0, 50, 200].map(|value| advert_from(config, ip("192.0.2.9"), value, config.interval()))
        })
        .collect();
    let mut wire = [0; 1500];
    let facts = Facts { link: true, source: Some(OWN), eligible: true };

    let before = allocations();
    for round in 0..2000_u32 {
        let id = RouterId(round % 8);
        let deadline = now + millis(50);
        let handoff = Handoff { mode: ResignMode::Hold, deadline, successor: Successor::BestKnown };
        let input = match round % 31 {
            0 => Some(Input::Facts(Facts { link: false, ..facts })),
            3 => Some(Input::Resign(handoff)),
            9 => Some(Input::Drain(handoff)),
            12 => Some(Input::Undrain),
            14 => Some(Input::ForceClaim),
            17 => Some(Input::ReleaseClaim),
            21 => Some(Input::Reannounce),
            n if n % 2 == 1 => Some(Input::Startup),
            _ => Some(Input::Facts(facts)),
        };
        let result = if round % 17 == 0 { ActionResult::Failed } else { ActionResult::Done };
        if let Some(input) = input {
            set.handle_input(now, id, input);
            drain(&mut set, now, result, &mut wire);
        }
        if round % 5 == 0 {
            let (meta, message) = &packets[round as usize % packets.len()];
            let _ = set.handle_packet(now, LinkId(0), meta, message);
            let _ = set.handle_packet(now, LinkId(1), meta, message);
            let _ = set.handle_packet(now, LinkId(0), meta, &message[..7]);
            drain(&mut set, now, result, &mut wire);
        }
        now = set.poll_timeout().unwrap_or(now).max(now) + millis(u64::from(round % 3));
        set.handle_timeout(now);
        drain(&mut set, now, result, &mut wire);
    }
    assert_eq!(allocations() - before, 0);
    // It was a life, not a sleep.
    let stats = |which: fn(&vrrp_core::Stats) -> u64| -> u64 {
        set.iter().map(|(_, _, router)| which(router.stats())).sum()
    };
    assert!(stats(|s| s.to_active) > 50, "{}", stats(|s| s.to_active));
    assert!(stats(|s| s.install_failures) > 5);
    assert!(stats(|s| s.priority_zero_sent) > 20);
    assert!(stats(|s| s.adverts_received) > 100);
}
