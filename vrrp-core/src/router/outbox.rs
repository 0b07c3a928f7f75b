//! What a router has to say: a queue of actions for its driver and one of events for observers.
//!
//! Both are of fixed size. A driver that keeps to the drive-loop rule (feed one input, then drain)
//! never fills them. One that does not still gets a correct, if coarser, sequence: newer address
//! work replaces older work that was never started, and the oldest advertisement or announcement
//! goes first, except resignations.

use crate::{Action, AdvertSpec, Event};

/// The longest sequence of actions that one input can cause, with room to spare. A directed
/// resignation is the longest: removal, two advertisements to the successor, one to the rest.
const ACTIONS: usize = 8;
const EVENTS: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Outbox {
    actions: Ring<Action, ACTIONS>,
    events: Ring<Event, EVENTS>,
    lost_events: u32,
}

impl Outbox {
    pub(super) fn act(&mut self, action: Action) {
        match action {
            Action::InstallAddresses(_) | Action::RemoveAddresses(_) => {
                self.actions.retain(|queued| {
                    !matches!(queued, Action::InstallAddresses(_) | Action::RemoveAddresses(_))
                });
            }
            // Nothing may be announced that is about to go, and one announcement is enough.
            Action::Announce(_) => {
                self.actions.retain(|queued| !matches!(queued, Action::Announce(_)));
            }
            Action::SendAdvert(_) => {}
        }
        if self.actions.is_full() && !self.actions.remove_first(is_expendable) {
            self.actions.pop();
        }
        self.actions.push(action);
    }

    /// Drops an announcement that was not sent yet: the addresses are about to go.
    pub(super) fn retract_announcements(&mut self) {
        self.actions.retain(|queued| !matches!(queued, Action::Announce(_)));
    }

    /// Returns whether an older event had to go.
    pub(super) fn report(&mut self, event: Event) -> bool {
        let lost = self.events.is_full() && self.events.pop().is_some();
        self.lost_events = self.lost_events.saturating_add(u32::from(lost));
        self.events.push(event);
        lost
    }

    pub(super) fn next_action(&mut self) -> Option<Action> {
        self.actions.pop()
    }

    pub(super) fn next_event(&mut self) -> Option<Event> {
        match core::mem::take(&mut self.lost_events) {
            0 => self.events.pop(),
            lost => Some(Event::Lagged(lost)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.actions.len == 0 && self.events.len == 0 && self.lost_events == 0
    }

    pub(super) fn clear_events(&mut self) {
        self.events = Ring::default();
        self.lost_events = 0;
    }
}

/// An ordinary advertisement repeats, an announcement is repeated; a resignation is said once.
fn is_expendable(action: &Action) -> bool {
    matches!(action, Action::Announce(_) | Action::SendAdvert(AdvertSpec { priority: Some(_), .. }))
}

/// A bounded first-in first-out queue without heap. Entries lie from index 0 on: the queues are
/// short, and equal contents must compare equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Ring<T, const N: usize> {
    entries: [Option<T>; N],
    len: usize,
}

impl<T: Copy, const N: usize> Default for Ring<T, N> {
    fn default() -> Self {
        Self { entries: [None; N], len: 0 }
    }
}

impl<T: Copy, const N: usize> Ring<T, N> {
    fn is_full(&self) -> bool {
        self.len == N
    }

    /// The caller has made room.
    fn push(&mut self, entry: T) {
        if let Some(slot) = self.entries.get_mut(self.len) {
            *slot = Some(entry);
            self.len += 1;
        }
    }

    fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let first = self.entries[0].take();
        self.entries[..self.len].rotate_left(1);
        self.len -= 1;
        first
    }

    fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let mut kept = 0;
        for index in 0..self.len {
            if let Some(entry) = self.entries[index].take()
                && keep(&entry)
            {
                self.entries[kept] = Some(entry);
                kept += 1;
            }
        }
        self.len = kept;
    }

    fn remove_first(&mut self, mut which: impl FnMut(&T) -> bool) -> bool {
        let before = self.len;
        let mut removed = false;
        self.retain(|entry| {
            let remove = !removed && which(entry);
            removed |= remove;
            !remove
        });
        self.len < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    use crate::{ActionId, AdvertInterval, AnnounceRound, Audience, Priority};

    fn advert(priority: Option<Priority>) -> Action {
        let interval = AdvertInterval::DEFAULT;
        Action::SendAdvert(AdvertSpec { audience: Audience::All, priority, interval })
    }

    fn drain(outbox: &mut Outbox) -> Vec<Action> {
        core::iter::from_fn(|| outbox.next_action()).collect()
    }

    #[test]
    fn newer_address_work_replaces_what_was_never_started() {
        let mut outbox = Outbox::default();
        outbox.act(Action::InstallAddresses(ActionId::from_raw(1)));
        outbox.act(advert(None));
        outbox.act(Action::RemoveAddresses(ActionId::from_raw(2)));
        let removal = Action::RemoveAddresses(ActionId::from_raw(2));
        assert_eq!(drain(&mut outbox), [advert(None), removal]);
    }

    #[test]
    fn an_undrained_queue_keeps_the_resignation_and_the_latest_work() {
        let mut outbox = Outbox::default();
        outbox.act(advert(None));
        outbox.act(Action::RemoveAddresses(ActionId::from_raw(7)));
        for _ in 0..100 {
            outbox.act(advert(Some(Priority::DEFAULT)));
            outbox.act(Action::Announce(AnnounceRound::Refresh));
        }
        let actions = drain(&mut outbox);
        assert_eq!(actions.len(), ACTIONS);
        assert_eq!(actions[0], advert(None));
        assert_eq!(actions[1], Action::RemoveAddresses(ActionId::from_raw(7)));
    }

    #[test]
    fn a_slow_observer_is_told_how_much_it_missed_and_gets_the_newest() {
        let mut outbox = Outbox::default();
        for lost in 0..20 {
            outbox.report(Event::Lagged(lost)); // any event will do
        }
        assert_eq!(outbox.next_event(), Some(Event::Lagged(4)));
        assert_eq!(outbox.next_event(), Some(Event::Lagged(4)));
        assert_eq!(outbox.next_event(), Some(Event::Lagged(5)));
    }
}
