//! Deadlines of many routers: a binary heap that knows where each router's entry is, so that a
//! deadline moves in place and nothing stale is left behind.

use alloc::vec::Vec;

use crate::Instant;

const NOWHERE: usize = usize::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct DeadlineHeap {
    /// (deadline, slot), the earliest first.
    heap: Vec<(Instant, usize)>,
    /// Where in `heap` each slot is.
    position: Vec<usize>,
}

impl DeadlineHeap {
    /// Makes room for slots `0..slots`, so that no later call allocates.
    pub(super) fn reserve(&mut self, slots: usize) {
        if self.position.len() < slots {
            self.position.resize(slots, NOWHERE);
        }
        self.heap.reserve(slots.saturating_sub(self.heap.len()));
    }

    pub(super) fn earliest(&self) -> Option<(Instant, usize)> {
        self.heap.first().copied()
    }

    /// Sets, moves or clears the deadline of one slot below the reserved number.
    pub(super) fn set(&mut self, slot: usize, deadline: Option<Instant>) {
        match (self.position[slot], deadline) {
            (NOWHERE, None) => {}
            (NOWHERE, Some(at)) => {
                self.heap.push((at, slot));
                self.position[slot] = self.heap.len() - 1;
                self.up(self.heap.len() - 1);
            }
            (at, Some(deadline)) => {
                let before = core::mem::replace(&mut self.heap[at].0, deadline);
                if deadline < before {
                    self.up(at);
                } else if deadline > before {
                    self.down(at);
                }
            }
            (at, None) => {
                let last = self.heap.len() - 1;
                self.swap(at, last);
                self.heap.pop();
                self.position[slot] = NOWHERE;
                if at < last {
                    self.up(at);
                    self.down(at);
                }
            }
        }
    }

    fn up(&mut self, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heap[parent] <= self.heap[at] {
                break;
            }
            self.swap(at, parent);
            at = parent;
        }
    }

    fn down(&mut self, mut at: usize) {
        loop {
            let children = [2 * at + 1, 2 * at + 2];
            let Some(least) = children
                .into_iter()
                .filter(|&child| child < self.heap.len())
                .min_by_key(|&child| self.heap[child])
            else {
                break;
            };
            if self.heap[at] <= self.heap[least] {
                break;
            }
            self.swap(at, least);
            at = least;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.position[self.heap[a].1] = a;
        self.position[self.heap[b].1] = b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_is_always_first_whatever_moves() {
        let mut heap = DeadlineHeap::default();
        heap.reserve(50);
        let mut expected: Vec<Option<Instant>> = alloc::vec![None; 50];
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..20_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let slot = (random % 50) as usize;
            let at = (random & 0x100 == 0).then(|| Instant::from_nanos(random >> 40));
            heap.set(slot, at);
            expected[slot] = at;
            let earliest = expected.iter().flatten().min().copied();
            assert_eq!(heap.earliest().map(|(at, _)| at), earliest);
        }
    }
}
