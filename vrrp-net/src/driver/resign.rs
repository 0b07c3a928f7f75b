//! Giving everything up, with proof.
//!
//! The core resigns and asks for removal; the kernel confirms. Then the addresses are listed a few
//! times, since another program may put them back (deployed hosts have several agents that touch
//! VIPs). The result says what the lists said, never what was hoped.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use tokio::sync::oneshot;
use vrrp_core::{AddressState, Handoff, Input, Instant, ResignMode, Successor};

use super::Driver;
use crate::clock;
use crate::kernel::Request;
use crate::node::Resigned;

/// Lists without a VIP that it takes to believe that nobody puts them back: 80 ms, longer than a
/// rival's usual loop, which finds the VIP in place until it is removed.
const QUIET_LISTS: u32 = 5;
/// As above, once somebody was seen to put one back.
const QUIET_LISTS_AFTER_RIVAL: u32 = 10;
const BETWEEN_LISTS: Duration = Duration::from_millis(20);

/// A resignation under way.
#[derive(Debug)]
pub(super) struct Resignation {
    waiting: Vec<(Instant, oneshot::Sender<Resigned>)>,
    stage: Stage,
    quiet_needed: u32,
    /// Whether any router had or may have had addresses when it began.
    had_addresses: bool,
    /// What somebody put back since the last proof. Taken away again each time.
    put_back: BTreeSet<IpAddr>,
    last_list: Result<Vec<IpAddr>, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Routers still hold or remove addresses.
    Releasing,
    /// The next list is due, after this many without a VIP.
    ListDue { at: Instant, quiet: u32 },
    /// A list was asked for.
    Listing { quiet: u32 },
    /// Proved; asking again starts another proof.
    Proved,
}

impl Resignation {
    /// When something must be looked at again.
    pub(super) fn next_step(&self) -> Instant {
        let deadline = self.waiting.iter().map(|(deadline, _)| *deadline).min();
        let step = match self.stage {
            Stage::ListDue { at, .. } => Some(at),
            Stage::Releasing | Stage::Listing { .. } | Stage::Proved => None,
        };
        deadline.into_iter().chain(step).min().unwrap_or(Instant::MAX)
    }

    /// Somebody put a VIP back, and it was taken away again.
    pub(super) fn rival_seen(&mut self, address: IpAddr) {
        self.put_back.insert(address);
        self.quiet_needed = QUIET_LISTS_AFTER_RIVAL;
        match &mut self.stage {
            Stage::ListDue { quiet, .. } | Stage::Listing { quiet } => *quiet = 0,
            Stage::Releasing | Stage::Proved => {}
        }
    }

    pub(super) fn verified(&mut self, now: Instant, list: Result<Vec<IpAddr>, String>) {
        let Stage::Listing { quiet } = self.stage else { return };
        let is_quiet = matches!(&list, Ok(present) if present.is_empty());
        self.last_list = list;
        let quiet = if is_quiet { quiet + 1 } else { 0 };
        self.stage = if quiet >= self.quiet_needed {
            self.put_back.clear();
            Stage::Proved
        } else {
            Stage::ListDue { at: now + BETWEEN_LISTS, quiet }
        };
    }

    fn result(&self) -> Resigned {
        match &self.last_list {
            Ok(present) if present.is_empty() && self.stage == Stage::Proved => Resigned::Removed,
            // A list rarely shows what is taken away as soon as it is put back.
            Ok(present) if !(present.is_empty() && self.put_back.is_empty()) => {
                let again = self.put_back.iter().filter(|address| !present.contains(address));
                Resigned::StillPresent(present.iter().chain(again).copied().collect())
            }
            Ok(_) => Resigned::Unknown("the deadline passed before the proof was complete".into()),
            Err(error) => Resigned::Unknown(error.clone()),
        }
    }
}

impl Driver {
    pub(super) fn resign(
        &mut self,
        mode: ResignMode,
        within: Duration,
        reply: oneshot::Sender<Resigned>,
    ) {
        let deadline = clock::now() + within;
        let ids: Vec<_> = self.names.iter().map(|(id, _)| id).collect();
        let had_addresses = ids.iter().any(|&id| self.address_state(id) != AddressState::Absent);
        for &id in &ids {
            // Holding ends early enough to remove and prove within the deadline.
            let reserve = (within / 4).min(Duration::from_millis(200));
            let handoff =
                Handoff { mode, deadline: deadline - reserve, successor: Successor::Anyone };
            self.input(id, Input::Resign(handoff));
        }
        let resignation = self.resignation.get_or_insert_with(|| Resignation {
            waiting: Vec::new(),
            stage: Stage::Releasing,
            quiet_needed: 1,
            had_addresses: false,
            put_back: BTreeSet::new(),
            last_list: Ok(Vec::new()),
        });
        // A host that held nothing has nobody to fight: one list is proof enough.
        resignation.had_addresses |= had_addresses;
        if resignation.had_addresses {
            resignation.quiet_needed = resignation.quiet_needed.max(QUIET_LISTS);
        }
        if resignation.stage == Stage::Proved {
            resignation.stage = Stage::Releasing;
        }
        resignation.waiting.push((deadline, reply));
    }

    /// Takes the next step of a resignation that is under way.
    pub(super) fn follow_resignation(&mut self) {
        self.forget_left(false);
        if self.resignation.as_ref().is_none_or(|resignation| resignation.waiting.is_empty()) {
            return;
        }
        let now = clock::now();
        let held: Vec<IpAddr> = self
            .names
            .iter()
            .filter(|(id, _)| self.address_state(*id) != AddressState::Absent)
            .flat_map(|(_, router)| router.config.vips().iter().map(|vip| vip.address()))
            .collect();
        let released = held.is_empty();
        let Some(resignation) = &mut self.resignation else { return };
        match resignation.stage {
            Stage::Releasing if released => {
                resignation.stage = Stage::Listing { quiet: 0 };
                self.ask_kernel(Request::Verify);
            }
            Stage::ListDue { at, quiet } if at <= now => {
                resignation.stage = Stage::Listing { quiet };
                self.ask_kernel(Request::Verify);
            }
            _ => {}
        }
        let Some(resignation) = &mut self.resignation else { return };
        let proved = resignation.stage == Stage::Proved;
        let mut index = 0;
        while index < resignation.waiting.len() {
            if proved || resignation.waiting[index].0 <= now {
                let result = if released || proved {
                    resignation.result()
                } else {
                    Resigned::StillPresent(held.clone())
                };
                let (_, reply) = resignation.waiting.swap_remove(index);
                // A caller that stopped waiting has no use for the answer.
                let _ = reply.send(result);
            } else {
                index += 1;
            }
        }
    }

    fn address_state(&self, id: vrrp_core::RouterId) -> AddressState {
        self.set.router(id).map_or(AddressState::Absent, |router| router.snapshot().addresses)
    }
}
