//! From a seed to a schedule.

use fastrand::Rng;

use crate::schedule::{
    Fault, LINKS, Leave, MAX_NODES, MAX_ROUTERS, Preemption, RouterPlan, Schedule,
};

/// The longest time without a fault beginning.
const LONGEST_PAUSE_MS: u64 = 60_000;

impl Schedule {
    /// A cluster and its faults, at least one each simulated minute.
    ///
    /// `nodes` outside 2 to 7 lets the seed choose.
    pub fn from_seed(seed: u64, nodes: usize, millis: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let chosen = rng.usize(2..=MAX_NODES);
        let nodes = if (2..=MAX_NODES).contains(&nodes) { nodes } else { chosen };
        let count = rng.usize(1..=MAX_ROUTERS);
        let grouped = count > 1 && rng.u8(0..3) == 0;
        let group = if grouped { (1 << rng.usize(2..=count)) - 1 } else { 0 };
        let lease = rng.u8(0..4) == 0;
        let mut routers: Vec<_> = (0..count).map(|_| router(&mut rng, lease)).collect();
        // Members of a group win or lose together, so they agree on what decides that.
        for member in 1..count {
            if group & (1 << member) != 0 {
                routers[member].priorities = routers[0].priorities;
                routers[member].preempt = routers[0].preempt;
                routers[member].retry_install = routers[0].retry_install;
            }
        }
        let mut drift_ppm = [0; MAX_NODES];
        let drift = [0, 50, 500, 5_000][rng.usize(0..4)];
        drift_ppm.fill_with(|| rng.i32(-drift..=drift));
        let mut schedule = Self {
            seed,
            nodes,
            routers,
            group,
            lease,
            drift_ppm,
            delay_us: [100, 1_000, 4_000][rng.usize(0..3)],
            millis,
            faults: Vec::new(),
        };
        let mut at = rng.u64(3_000..20_000);
        while at + 5_000 < millis {
            let fault = fault(&mut rng, &schedule);
            schedule.faults.push((at, fault));
            at += match rng.u8(0..8) {
                // Now and then one fault falls into another.
                0 => rng.u64(0..3_000),
                _ => rng.u64(8_000..LONGEST_PAUSE_MS),
            };
        }
        schedule
    }
}

fn router(rng: &mut Rng, lease: bool) -> RouterPlan {
    let version = if rng.u8(0..4) == 0 { 2 } else { 3 };
    let family = if version == 3 && rng.bool() { 6 } else { 4 };
    let interval_ms = match rng.u8(0..8) {
        _ if version == 2 || lease => 1_000,
        0 => 100,
        1 => 300,
        2 => 500,
        _ => 1_000,
    };
    let [strict, message_only, pseudo_header] = match rng.u8(0..8) {
        // RFC 9568 by its word, for some or all, beside nodes that learn the style.
        0 => [rng.u8(..), 0, 0],
        1 => [rng.u8(..), u8::MAX, 0],
        2 => [0, rng.u8(..), rng.u8(..)],
        _ => [0, 0, 0],
    };
    RouterPlan {
        version,
        family,
        unicast: rng.bool(),
        interval_ms,
        addresses: rng.u8(1..=3),
        priorities: priorities(rng),
        preempt: match rng.u8(0..6) {
            0 => Preemption::Never,
            1 => Preemption::AfterMs(rng.u32(1..8_000)),
            _ => Preemption::Now,
        },
        strict,
        message_only,
        pseudo_header,
        password: version == 2 && rng.bool(),
        retry_install: rng.u8(0..4) == 0,
    }
}

fn priorities(rng: &mut Rng) -> [u8; MAX_NODES] {
    let mut all = [100; MAX_NODES];
    match rng.u8(0..6) {
        // Equal, as where nobody thought about it.
        0 => {}
        // Neighbours.
        1 => all.iter_mut().zip(100..).for_each(|(priority, value)| *priority = value),
        // What tracking checks leave.
        2 => all.fill_with(|| [40, 40, 60, 68][rng.usize(0..4)]),
        // An owner.
        3 => {
            all.fill_with(|| rng.u8(1..=254));
            all[rng.usize(0..2)] = 255;
        }
        _ => all.fill_with(|| rng.u8(1..=254)),
    }
    all
}

fn fault(rng: &mut Rng, schedule: &Schedule) -> Fault {
    let node = rng.usize(0..schedule.nodes) as u8;
    let router = rng.usize(0..schedule.routers.len()) as u8;
    let link = rng.usize(0..LINKS) as u8;
    // Shorter and longer than what an election takes.
    let ms = if rng.bool() { rng.u32(10..3_000) } else { rng.u32(3_000..12_000) };
    let how = [Leave::Hold, Leave::HoldPlain, Leave::RemoveFirst][rng.usize(0..3)];
    match rng.u8(0..25) {
        0 => Fault::Partition { side: rng.u8(1..127), ms },
        1 => Fault::OneWay { from: node, to: rng.usize(0..schedule.nodes) as u8, ms },
        2 => Fault::Loss { permille: rng.u16(10..900), ms },
        3 => Fault::Delay { up_to_ms: rng.u16(5..1_500), ms },
        4 => Fault::Duplicate { permille: rng.u16(10..900), ms },
        5 => Fault::Junk { node, ms },
        6 | 7 => Fault::Stall { node, deaf: rng.bool(), ms },
        8 => Fault::Crash { node, guardian_ms: None, ms },
        9 | 10 => Fault::Crash { node, guardian_ms: Some(rng.u16(1..20)), ms },
        11 => Fault::Resign { node, router, how, ms },
        12 => Fault::Drain { node, router, how, ms },
        13 => Fault::Shutdown { node, router, ms },
        14 => Fault::ForceClaim { node, router, ms },
        15 | 16 => Fault::Check { node, router, check: rng.u8(0..3), ms },
        17 => Fault::Carrier { node, link, ms },
        18 => Fault::Source { node, link, ms },
        19 => Fault::WorkFails { node, partly: rng.bool(), ms },
        20 => Fault::WorkSlow { node, up_to_ms: rng.u16(5..600), ms },
        21 => Fault::SendFails { node, ms },
        22 => priority(rng, schedule, node, router),
        23 => interval(rng, schedule, router),
        _ => match rng.bool() {
            true => Fault::Addresses { router, count: rng.u8(1..=3) },
            false => Fault::Peers { node, router, ms },
        },
    }
}

/// An owner stays one.
fn priority(rng: &mut Rng, schedule: &Schedule, node: u8, router: u8) -> Fault {
    let plan = &schedule.routers[usize::from(router)];
    let value = match plan.priorities[usize::from(node)] {
        255 => 255,
        _ => rng.u8(1..=254),
    };
    Fault::Priority { node, router, value }
}

fn interval(rng: &mut Rng, schedule: &Schedule, router: u8) -> Fault {
    let plan = &schedule.routers[usize::from(router)];
    let ms = match plan.version {
        _ if schedule.lease => 1_000,
        2 => 1_000,
        _ => [100, 200, 500, 1_000][rng.usize(0..4)],
    };
    Fault::Interval { router, ms }
}
