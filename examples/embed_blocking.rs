//! The drive loop of `vrrp-core` with the standard library alone: two routers in two threads, a
//! channel for a wire, and no async runtime, socket or privilege anywhere.
//!
//! It shows the whole contract: *feed one input, then drain*. The router with the higher priority
//! owns the address, resigns after a while, and the other takes over.

use std::net::IpAddr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant as Clock};

use vrrp_core::receive::RxMeta;
use vrrp_core::{
    Action, ActionResult, AdvertInterval, Config, Event, Facts, Handoff, Input, Instant, Priority,
    ResignMode, Successor, VirtualAddrs, VirtualRouter, Vrid,
};

/// A message on the pretended wire.
type Frame = (RxMeta, Vec<u8>);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Clock::now();
    let (to_a, from_b) = mpsc::channel();
    let (to_b, from_a) = mpsc::channel();
    let a = router("192.0.2.1".parse()?, 200)?;
    let b = router("192.0.2.2".parse()?, 100)?;
    let resign_at = Some(Duration::from_millis(800));
    let a = thread::spawn(move || drive("a", a, &from_b, &to_b, start, resign_at));
    let b = thread::spawn(move || drive("b", b, &from_a, &to_a, start, None));
    a.join().map_err(|_| "a panicked")?;
    b.join().map_err(|_| "b panicked")?;
    Ok(())
}

/// A router at 50 ms, told that its link is up and that it may run.
fn router(source: IpAddr, priority: u8) -> Result<VirtualRouter, Box<dyn std::error::Error>> {
    let vips = VirtualAddrs::new(&["192.0.2.10".parse()?])?;
    let config = Config::builder(Vrid::new(51).ok_or("VRID")?, vips)
        .priority(Priority::new(priority).ok_or("priority")?)
        .interval(AdvertInterval::from_centis(5).ok_or("interval")?)
        .build()?;
    let mut router = VirtualRouter::new(config, Instant::ZERO);
    let facts = Facts { link: true, source: Some(source), eligible: true };
    router.handle_input(Instant::ZERO, Input::Facts(facts));
    router.handle_input(Instant::ZERO, Input::Startup);
    Ok(router)
}

fn drive(
    name: &str,
    mut router: VirtualRouter,
    receive: &Receiver<Frame>,
    send: &Sender<Frame>,
    start: Clock,
    mut resign_at: Option<Duration>,
) {
    let now = || Instant::from_nanos(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let end = Instant::from_millis(1500);
    while now() < end {
        // Drain: do every action, in order, before the next input.
        while let Some(action) = router.poll_action() {
            match action {
                Action::SendAdvert(spec) => {
                    let Some(source) = router.snapshot().source else { continue };
                    for destination in router.destinations(&spec) {
                        let mut message = vec![0; router.config().message_len()];
                        if router.encode_advert(&spec, destination, &mut message).is_err() {
                            continue;
                        }
                        let meta = RxMeta {
                            source,
                            destination,
                            ttl: 255,
                            received_at: None,
                            checksum_verified: false,
                        };
                        // The other router may have ended already.
                        let _ = send.send((meta, message));
                    }
                }
                Action::InstallAddresses(id) | Action::RemoveAddresses(id) => {
                    // A real driver asks the kernel and answers later.
                    let result = ActionResult::Done;
                    router.handle_input(now(), Input::ActionDone { id, result });
                }
                _ => {}
            }
        }
        while let Some(event) = router.poll_event() {
            if let Event::Transition { from, to, reason } = event {
                println!("{} {name}: {from:?} -> {to:?} ({reason:?})", now());
            }
        }
        // Wait for a packet, the deadline, or the end; then feed one input.
        let deadline = router.poll_timeout().unwrap_or(end).min(end);
        match receive.recv_timeout(deadline.saturating_since(now())) {
            Ok((meta, message)) => {
                // A packet that fails validation changes nothing.
                let _ = router.handle_packet(now(), &meta, &message);
            }
            Err(RecvTimeoutError::Timeout) => router.handle_timeout(now()),
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(deadline.saturating_since(now()));
                router.handle_timeout(now());
            }
        }
        if resign_at.is_some_and(|at| start.elapsed() >= at) {
            resign_at = None;
            let deadline = now() + Duration::from_millis(200);
            let mode = ResignMode::Hold;
            let successor = Successor::Anyone;
            router.handle_input(now(), Input::Resign(Handoff { mode, deadline, successor }));
        }
    }
}
