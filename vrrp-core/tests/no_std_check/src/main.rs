//! A program without the standard library that contains `vrrp-core`.
//!
//! It brings its own panic handler and allocator. If the core, or anything that the core depends
//! on, pulled in `std`, there would be two panic handlers and the build would fail, so building is
//! most of the test. Running it wins an election against nobody.

#![no_std]
#![no_main]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::net::{IpAddr, Ipv4Addr};
use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use vrrp_core::{
    Action, ActionResult, Config, Event, Facts, Input, Instant, LinkId, RouterId, RouterSet,
    VirtualAddrs, Vrid,
};

// Nothing else of the C library, but for `memcpy` and its like, for which the compiler asks on
// every target.
#[link(name = "c")]
unsafe extern "C" {
    safe fn abort() -> !;
}

#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    c_int::from(owns_its_address() != Some(true))
}

/// Whether a router that hears nobody comes to own its address.
fn owns_its_address() -> Option<bool> {
    let vip = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 10));
    let addresses = VirtualAddrs::new(&[vip]).ok()?;
    let config = Config::builder(Vrid::new(51)?, addresses).build().ok()?;

    let id = RouterId(1);
    let mut set = RouterSet::new();
    set.insert(Instant::ZERO, id, LinkId(1), config).ok()?;
    let facts =
        Facts { link: true, source: Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))), eligible: true };
    set.handle_input(Instant::ZERO, id, Input::Facts(facts));
    set.handle_input(Instant::ZERO, id, Input::Startup);
    let now = set.poll_timeout()?;
    set.handle_timeout(now);

    let mut wire = [0; 64];
    while let Some((id, action)) = set.poll_action() {
        match action {
            Action::SendAdvert(spec) => {
                set.encode_advert(id, &spec, vip, &mut wire)?.ok()?;
            }
            Action::InstallAddresses(work) => {
                let result = ActionResult::Done;
                set.handle_input(now, id, Input::ActionDone { id: work, result });
            }
            _ => {}
        }
    }
    while let Some((_, event)) = set.poll_event() {
        if matches!(event, Event::BecameOwner { .. }) {
            return Some(true);
        }
    }
    Some(false)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    abort()
}

/// Hands out a fixed piece of memory and never takes any back.
struct Bump {
    memory: UnsafeCell<[u8; SIZE]>,
    used: AtomicUsize,
}

const SIZE: usize = 64 * 1024;

// SAFETY: `used` only grows, so every part of `memory` is handed out at most once.
unsafe impl Sync for Bump {}

#[global_allocator]
static MEMORY: Bump = Bump { memory: UnsafeCell::new([0; SIZE]), used: AtomicUsize::new(0) };

// SAFETY: each allocation is a part of `memory` of its own, aligned and within bounds, or null.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.memory.get().cast::<u8>();
        // Reserving the worst case of alignment keeps this a single atomic step.
        let reserve = layout.size().saturating_add(layout.align());
        let start = self.used.fetch_add(reserve, Ordering::Relaxed);
        if start.saturating_add(reserve) > SIZE {
            return ptr::null_mut();
        }
        let address = base.addr() + start;
        base.wrapping_add(start + address.next_multiple_of(layout.align()) - address)
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
