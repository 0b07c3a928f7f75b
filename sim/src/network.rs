//! The network between the nodes: who hears whom, how late, and what is on its way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

use fastrand::Rng;

use crate::clock::{MICRO, Time};
use crate::schedule::MAX_NODES;

/// Longer than the largest advertisement of a plan: 8 + 3 · 16 octets.
const PACKET: usize = 64;

/// What will happen, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A packet arrives; its place in the slab.
    Packet(u32),
    /// Gratuitous ARP or an unsolicited neighbour advertisement for a router's address arrives.
    Announcement {
        to: u8,
        router: u8,
    },
    /// Address work ends. `boot` tells the process that asked for it.
    WorkDone {
        node: u8,
        router: u8,
        boot: u16,
        id: u32,
        installs: bool,
    },
    /// The driver looks after the lease of a router's addresses.
    Refresh {
        node: u8,
        router: u8,
        boot: u16,
    },
    /// The kernel looks whether a lease has ended.
    LeaseEnd {
        node: u8,
        router: u8,
    },
    /// A fault begins or ends; its place in the schedule.
    FaultBegins(u16),
    FaultEnds(u16),
    /// What a fault left behind has passed.
    NoiseEnds,
    /// A node's first start.
    Boot(u8),
    /// The guardian of a process that died wakes up.
    Guardian(u8),
    /// The next invalid packet of a fault.
    Junk(u16),
    /// One node of several is reconfigured.
    Reconfigure {
        fault: u16,
        node: u8,
    },
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) to: u8,
    pub(crate) router: u8,
    pub(crate) link: u8,
    /// Made up by a fault: the receiver must discard it.
    pub(crate) junk: bool,
    /// As on the wire; 0 resigns.
    pub(crate) priority: u8,
    pub(crate) centis: u16,
    /// When it reached the host.
    pub(crate) arrived: Time,
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) len: u8,
    pub(crate) bytes: [u8; PACKET],
}

impl Packet {
    pub(crate) fn payload(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// What passes between nodes, and everything that is going to happen.
#[derive(Debug)]
pub(crate) struct Network {
    queue: BinaryHeap<Reverse<(Time, u64, Event)>>,
    sequence: u64,
    packets: Vec<Packet>,
    free: Vec<u32>,
    /// How many faults block the way from one node to another.
    blocked: [[u8; MAX_NODES]; MAX_NODES],
    base_delay_us: u32,
    pub(crate) extra_delay_ms: u32,
    pub(crate) loss_permille: u16,
    pub(crate) duplicate_permille: u16,
}

impl Network {
    pub(crate) fn new(base_delay_us: u32) -> Self {
        Self {
            queue: BinaryHeap::with_capacity(256),
            sequence: 0,
            packets: Vec::with_capacity(64),
            free: Vec::with_capacity(64),
            blocked: [[0; MAX_NODES]; MAX_NODES],
            base_delay_us: base_delay_us.max(1),
            extra_delay_ms: 0,
            loss_permille: 0,
            duplicate_permille: 0,
        }
    }

    /// Something will happen. Things of one instant happen in the order of this call.
    pub(crate) fn schedule(&mut self, at: Time, event: Event) {
        self.sequence += 1;
        self.queue.push(Reverse((at, self.sequence, event)));
    }

    pub(crate) fn next_at(&self) -> Option<Time> {
        self.queue.peek().map(|Reverse((at, _, _))| *at)
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, Event)> {
        self.queue.pop().map(|Reverse((at, _, event))| (at, event))
    }

    /// Adds or lifts one reason for which nothing passes from one node to another.
    pub(crate) fn block(&mut self, from: usize, to: usize, blocked: bool) {
        let reasons = &mut self.blocked[from][to];
        *reasons = if blocked { *reasons + 1 } else { reasons.saturating_sub(1) };
    }

    pub(crate) fn passes(&self, from: usize, to: usize) -> bool {
        self.blocked[from][to] == 0
    }

    pub(crate) fn delay(&self, rng: &mut Rng) -> Time {
        let base = Time::from(rng.u32(20..20 + self.base_delay_us)) * MICRO;
        match self.extra_delay_ms {
            0 => base,
            extra => base + Time::from(rng.u32(0..=extra * 1_000)) * MICRO,
        }
    }

    /// Sends one packet on its way, or loses it.
    pub(crate) fn send(&mut self, now: Time, rng: &mut Rng, from: usize, packet: Packet) {
        if !self.passes(from, usize::from(packet.to)) {
            return;
        }
        let mut copies = 1;
        if self.loss_permille > 0 && rng.u16(0..1_000) < self.loss_permille {
            copies = 0;
        }
        if self.duplicate_permille > 0 && rng.u16(0..1_000) < self.duplicate_permille {
            copies *= 2;
        }
        for _ in 0..copies {
            let at = now + self.delay(rng);
            let place = self.keep(packet);
            self.schedule(at, Event::Packet(place));
        }
    }

    pub(crate) fn packet(&self, place: u32) -> Packet {
        self.packets[place as usize]
    }

    /// The packet has reached its host.
    pub(crate) fn arrived(&mut self, place: u32, now: Time) -> &Packet {
        let packet = &mut self.packets[place as usize];
        packet.arrived = now;
        packet
    }

    pub(crate) fn forget(&mut self, place: u32) {
        self.free.push(place);
    }

    fn keep(&mut self, packet: Packet) -> u32 {
        if let Some(place) = self.free.pop() {
            self.packets[place as usize] = packet;
            return place;
        }
        self.packets.push(packet);
        self.packets.len() as u32 - 1
    }

    /// The longest that an ordinary packet takes.
    pub(crate) fn longest_delay(&self) -> Time {
        Time::from(self.base_delay_us + 20) * MICRO
    }
}

/// An empty packet buffer.
pub(crate) const NO_BYTES: [u8; PACKET] = [0; PACKET];
