//! Sync groups: routers that own their addresses together or not at all.
//!
//! - A member that may not run keeps all others from running.
//! - The group claims when the last of its members would: a member that still hears an Active
//!   keeps the others waiting, so that a fault of one family alone does not make a group flap.
//! - One member that becomes Active otherwise (an owner's start, a forced claim) takes all along;
//!   one that yields takes all back, and those resign.
//!
//! That the members share their state holds after the actions have been drained.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{GroupId, RouterId, RouterSet};
use crate::{Instant, Priority, State};

#[derive(Clone, Debug, Default)]
pub(super) struct Groups(BTreeMap<GroupId, Vec<usize>>);

impl Groups {
    pub(super) fn member(&self, group: GroupId, index: usize) -> Option<usize> {
        self.0.get(&group)?.get(index).copied()
    }

    pub(super) fn remove_member(&mut self, group: GroupId, slot: usize) {
        if let Some(members) = self.0.get_mut(&group) {
            members.retain(|&member| member != slot);
        }
    }
}

impl RouterSet {
    /// Makes these routers, and no others, the members of a group. An empty list dissolves it.
    ///
    /// # Errors
    /// A router is unknown, named twice or in another group, or the base priorities differ:
    /// members of different priority would be won by different nodes, each of which takes the
    /// other's away. Nothing changed.
    pub fn set_group(
        &mut self,
        now: Instant,
        group: GroupId,
        members: &[RouterId],
    ) -> Result<(), GroupError> {
        let mut slots = Vec::with_capacity(members.len());
        let mut first: Option<(RouterId, Priority)> = None;
        for &id in members {
            let &slot = self.ids.get(&id).ok_or(GroupError::Unknown(id))?;
            let entry = self.slots[slot].as_ref().ok_or(GroupError::Unknown(id))?;
            if entry.group.is_some_and(|other| other != group) || slots.contains(&slot) {
                return Err(GroupError::Taken(id));
            }
            let priority = entry.router.config().priority();
            let (first, expected) = *first.get_or_insert((id, priority));
            if priority != expected {
                return Err(GroupError::Priorities { first, expected, other: id, priority });
            }
            slots.push(slot);
        }
        let old = self.groups.0.remove(&group).unwrap_or_default();
        for &slot in &old {
            if let Some(entry) = self.slots[slot].as_mut() {
                entry.group = None;
                entry.router.claim_with_group_after(Instant::ZERO);
                entry.router.hold_for_group(now, false);
                self.refresh(slot);
            }
        }
        for &slot in &slots {
            if let Some(entry) = self.slots[slot].as_mut() {
                entry.group = Some(group);
            }
        }
        if !slots.is_empty() {
            self.groups.0.insert(group, slots);
            self.follow_group(now, group);
            self.join_active_members(now, group);
        }
        Ok(())
    }

    pub(super) fn check_group_priority(
        &self,
        group: GroupId,
        slot: usize,
        priority: Priority,
    ) -> Result<(), GroupError> {
        let mut index = 0;
        while let Some(member) = self.groups.member(group, index) {
            index += 1;
            let (Some(other), Some(this)) = (&self.slots[member], &self.slots[slot]) else {
                continue;
            };
            let expected = other.router.config().priority();
            if member != slot && expected != priority {
                let (first, other) = (other.id, this.id);
                return Err(GroupError::Priorities { first, expected, other, priority });
            }
        }
        Ok(())
    }

    /// A member changed: bring the others along.
    pub(super) fn member_changed(
        &mut self,
        now: Instant,
        group: GroupId,
        slot: usize,
        before: State,
    ) {
        self.follow_group(now, group);
        let Some(after) = self.slots[slot].as_ref().map(|entry| entry.router.state()) else {
            return;
        };
        match (before, after) {
            (State::Initialize | State::Backup, State::Active) => self.promote_others(now, group),
            (State::Active, State::Backup) => self.demote_others(now, group, slot),
            _ => {}
        }
    }

    /// What every member must know of the others: whether they may run, and when they would claim.
    pub(super) fn follow_group(&mut self, now: Instant, group: GroupId) {
        let impeded = self.count(group, |router| !router.may_run_alone());
        self.each_member(group, |set, slot| {
            if let Some(entry) = set.slots[slot].as_mut() {
                let others = impeded - usize::from(!entry.router.may_run_alone());
                entry.router.hold_for_group(now, others > 0);
                set.refresh(slot);
            }
        });
        // The two latest claims: each member waits for the latest of the others.
        let mut latest = (Instant::ZERO, usize::MAX);
        let mut second = Instant::ZERO;
        self.each_member(group, |set, slot| {
            let due = set.slots[slot].as_ref().and_then(|entry| entry.router.claim_due());
            match due {
                Some(due) if due > latest.0 => {
                    second = latest.0;
                    latest = (due, slot);
                }
                Some(due) => second = second.max(due),
                None => {}
            }
        });
        self.each_member(group, |set, slot| {
            if let Some(entry) = set.slots[slot].as_mut() {
                let wait_for = if slot == latest.1 { second } else { latest.0 };
                entry.router.claim_with_group_after(wait_for);
            }
        });
    }

    fn promote_others(&mut self, now: Instant, group: GroupId) {
        self.each_member(group, |set, slot| {
            if let Some(entry) = set.slots[slot].as_mut() {
                entry.router.promote(now);
                set.refresh(slot);
            }
        });
    }

    fn demote_others(&mut self, now: Instant, group: GroupId, origin: usize) {
        self.each_member(group, |set, slot| {
            if slot == origin {
                return;
            }
            let (Some(mut entry), Some(from)) = (set.slots[slot].take(), &set.slots[origin]) else {
                return;
            };
            entry.router.demote(now, &from.router);
            set.slots[slot] = Some(entry);
            set.refresh(slot);
        });
    }

    /// A group made of routers of which some are Active: one state for all.
    fn join_active_members(&mut self, now: Instant, group: GroupId) {
        if self.count(group, |router| router.state() == State::Active) > 0 {
            self.promote_others(now, group);
        }
    }

    pub(super) fn count(
        &self,
        group: GroupId,
        which: impl Fn(&crate::VirtualRouter) -> bool,
    ) -> usize {
        let members = self.groups.0.get(&group).map_or(&[][..], Vec::as_slice);
        members
            .iter()
            .filter(|&&slot| self.slots[slot].as_ref().is_some_and(|entry| which(&entry.router)))
            .count()
    }

    /// By index, since the set is changed on the way.
    pub(super) fn each_member(&mut self, group: GroupId, mut act: impl FnMut(&mut Self, usize)) {
        let mut index = 0;
        while let Some(slot) = self.groups.member(group, index) {
            act(self, slot);
            index += 1;
        }
    }
}

/// Why a sync group was refused. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// There is no such router.
    #[error("there is no router {}", .0.0)]
    Unknown(RouterId),
    /// The router is in another group, or named twice.
    #[error("router {} is in a sync group already", .0.0)]
    Taken(RouterId),
    /// The members' base priorities differ.
    #[error(
        "router {} has priority {priority} and router {} of the same sync group {expected}; \
         members need equal priorities",
        other.0, first.0
    )]
    Priorities {
        /// The first member.
        first: RouterId,
        /// Its priority.
        expected: Priority,
        /// The member that differs.
        other: RouterId,
        /// Its priority.
        priority: Priority,
    },
}
