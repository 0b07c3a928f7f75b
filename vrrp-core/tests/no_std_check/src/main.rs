//! A program without the standard library that contains `vrrp-core`.
//!
//! It brings its own panic handler and allocator. If the core, or anything that the core depends
//! on, pulled in `std`, there would be two panic handlers and the build would fail, so building is
//! the test. Linking then shows that no symbol is missing.

#![no_std]
#![no_main]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::hint::black_box;
use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use vrrp_core::{Action, Event, Input, Instant, RouterSet};

// `memcpy` and its like, nothing else: the compiler asks for them on every target.
#[link(name = "c")]
unsafe extern "C" {}

#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    // Called through a pointer that the compiler cannot see through, so the whole core is linked.
    let turn: fn(&mut RouterSet, Instant) = black_box(turn);
    let _ = black_box(turn);
    0
}

/// One turn of a driver with nothing to drive.
fn turn(set: &mut RouterSet, now: Instant) {
    set.handle_input(now, vrrp_core::RouterId(1), Input::Startup);
    set.handle_timeout(now);
    while let Some((_, action)) = set.poll_action() {
        let _: Action = black_box(action);
    }
    while let Some((_, event)) = set.poll_event() {
        let _: Event = black_box(event);
    }
    let _ = black_box(set.poll_timeout());
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
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
static MEMORY: Bump = Bump {
    memory: UnsafeCell::new([0; SIZE]),
    used: AtomicUsize::new(0),
};

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
