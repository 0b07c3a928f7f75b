//! One virtual router: the state machine of RFC 9568 section 6.4.
//!
//! One state, one file: `initialize.rs` (6.4.1), `backup.rs` (6.4.2), `active.rs` (6.4.3). What
//! is not in the RFC stands beside them: `ownership.rs` puts addresses on and takes them off,
//! `handoff.rs` gives up in an orderly way, `stall.rs` notices that the host did not run.

mod active;
mod advert;
mod backup;
mod election;
mod group;
mod handoff;
mod initialize;
mod limits;
mod outbox;
mod ownership;
mod reconfigure;
mod stall;
mod standing;
mod timers;

use core::net::IpAddr;

use self::election::{Heard, KnownRouters};
use self::limits::Limits;
use self::outbox::Outbox;
use self::ownership::Ownership;
use self::standing::Standing;
use self::timers::Timers;
use crate::receive::{self, Accepted, Discard, Received, RxMeta, Warning};
use crate::wire::ChecksumStyle;
use crate::{
    Action, AdvertInterval, Config, Event, Facts, Input, Instant, Priority, Reason, Snapshot,
    Stats, Timer,
};

pub use advert::{GROUP_V4, GROUP_V6};
pub use reconfigure::IdentityChanged;

/// The states of RFC 9568 section 6.3. RFC 5798 calls Active "Master".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Not taking part.
    #[default]
    Initialize,
    /// Watching the Active.
    Backup,
    /// Owning the virtual addresses.
    Active,
}

/// One virtual router. See the [crate documentation](crate) for the drive loop.
///
/// No call panics or allocates ([`reconfigure`](Self::reconfigure) included: a [`Config`] is
/// shared). Times may repeat or go back; a time earlier than one seen before counts as that one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VirtualRouter {
    config: Config,
    state: State,
    since: Instant,
    /// The latest time seen, so that time never runs backwards in here.
    now: Instant,
    standing: Standing,
    /// What the health checks leave of the base priority; `None` until they said something.
    tracked: Option<Priority>,
    /// A floor under the priority while a forced claim lasts.
    forced: Option<Priority>,
    /// AAI: the interval of the Active that is followed, the local one when nobody is.
    active_interval: AdvertInterval,
    heard: Heard,
    known: KnownRouters,
    /// The checksum style of the last valid advertisement of another router.
    peer_style: Option<ChecksumStyle>,
    preempt_delay_over: bool,
    /// After failed installations: no claim before this instant.
    claim_after: Instant,
    /// When Active_Down_Timer is due, were it not for the sync group. Means nothing but in Backup.
    down_at: Instant,
    /// No claim before the rest of the sync group is ready for it.
    group_claim_after: Instant,
    ownership: Ownership,
    /// The router that a staggered resignation was directed at.
    successor: Option<IpAddr>,
    timers: Timers,
    /// When the last advertisement was asked for, while Active.
    last_advert: Instant,
    /// Since when advertisements have not left the host, if they do not.
    undelivered_since: Option<Instant>,
    limits: Limits,
    outbox: Outbox,
    stats: Stats,
}

impl VirtualRouter {
    /// A router in Initialize. It takes part once [`Input::Startup`] and good [`Input::Facts`]
    /// have been said, in either order.
    pub fn new(config: Config, now: Instant) -> Self {
        Self {
            state: State::Initialize,
            since: now,
            now,
            standing: Standing::default(),
            tracked: None,
            forced: None,
            active_interval: config.interval(),
            heard: Heard::Nobody,
            known: KnownRouters::default(),
            peer_style: None,
            preempt_delay_over: false,
            claim_after: Instant::ZERO,
            down_at: now,
            group_claim_after: Instant::ZERO,
            ownership: Ownership::default(),
            successor: None,
            timers: Timers::default(),
            last_advert: now,
            undelivered_since: None,
            limits: Limits::default(),
            outbox: Outbox::default(),
            stats: Stats::default(),
            config,
        }
    }

    /// A packet for this router's protocol arrived. `payload` is what follows the IP header.
    ///
    /// # Errors
    /// The packet failed validation. No timer and no state changed, only a counter and, at a
    /// limited rate, an [`Event::Discarded`].
    pub fn handle_packet(
        &mut self,
        now: Instant,
        meta: &RxMeta,
        payload: &[u8],
    ) -> Result<Accepted, Discard> {
        let received = match receive::validate(&self.receive_policy(), meta, payload) {
            Ok(received) => received,
            Err(discard) => {
                self.note_discard(now, meta.source, discard);
                return Err(discard);
            }
        };
        let now = self.advance(now);
        self.note_received(now, meta, &received);
        let heard_at = self.heard_at(now, meta);
        let advert = Heard::from_packet(meta.source, &received, heard_at);
        let outcome = match self.state {
            State::Initialize => self.advert_in_initialize(now, &advert),
            State::Backup => self.advert_in_backup(&advert),
            State::Active => self.advert_in_active(now, &advert),
        };
        Ok(Accepted { outcome, warnings: received.warnings })
    }

    /// Something other than a packet or the passing of time happened.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        let now = self.advance(now);
        match input {
            Input::Startup => {
                self.standing.started = true;
                self.standing.resigned = false;
                self.follow_standing(now);
            }
            Input::Shutdown => {
                self.standing.started = false;
                self.end_hold();
                self.follow_standing(now);
            }
            Input::Facts(facts) => self.facts_changed(now, facts),
            Input::PriorityChanged(priority) => {
                let before = self.priority();
                self.tracked = Some(priority);
                self.priority_changed(now, before);
            }
            Input::Resign(handoff) => {
                self.standing.resigned = true;
                self.hand_off(now, handoff, Reason::Resigned);
            }
            Input::Drain(handoff) => {
                self.standing.drained = true;
                self.hand_off(now, handoff, Reason::Drained);
            }
            Input::Undrain => {
                self.standing.drained = false;
                self.follow_standing(now);
            }
            Input::ForceClaim => self.force_claim(now),
            Input::ReleaseClaim => {
                let before = self.priority();
                self.forced = None;
                self.priority_changed(now, before);
            }
            Input::Adopt => self.adopt(now),
            Input::SuccessorAnnounced => self.successor_announced(now),
            Input::ActionDone { id, result } => self.address_work_done(now, id, result),
            Input::AdvertResult { delivered } => self.advert_result(now, delivered),
            Input::Reannounce => self.reassert(),
        }
    }

    /// Time passed. Early, late and repeated calls are harmless: a timer fires when it is due and
    /// once, and advertisements that were missed are not made up for.
    ///
    /// When packets and a timer are due in the same wake-up, feed the packets first (RFC 9568
    /// leaves it open; an advertisement that is already here has been heard).
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.advance(now);
        while let Some((timer, due)) = self.timers.pop_due(now) {
            match timer {
                Timer::ActiveDown => self.active_down(now),
                Timer::AdvertDue => self.advert_due(now, due),
                Timer::PreemptDelay => self.preempt_delay_over = true,
                Timer::AnnounceRepeat => self.announce_repeat(),
                Timer::AnnounceRefresh => self.announce_refresh(now),
                Timer::HoldEnd => self.remove_addresses(),
                Timer::AddressRetry => self.retry_address_work(),
                Timer::SourceGrace => self.source_lost(now),
                Timer::StaggeredResign => self.staggered_resign(),
            }
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is next due. `None`: nothing is armed.
    ///
    /// Ask again after every call that takes `now`.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timers.earliest()
    }

    /// The next thing to do, in order. Ask after every call that takes `now`, until `None`.
    #[must_use]
    pub fn poll_action(&mut self) -> Option<Action> {
        self.outbox.next_action()
    }

    /// The next thing to report. Reading is optional: what is not read in time is lost, and
    /// counted in [`Event::Lagged`].
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.outbox.next_event()
    }

    /// The settings in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The priority in force: the base, or what the checks leave of it, or a forced claim's.
    pub fn priority(&self) -> Priority {
        if self.config.priority().is_owner() {
            return Priority::OWNER;
        }
        let tracked = self.tracked.unwrap_or(self.config.priority());
        let floor = self.forced.unwrap_or(Priority::MIN);
        tracked.max(floor).min(Priority::MAX_BACKUP)
    }

    /// The address to send from, and the one that decides ties. An Active keeps one that was lost
    /// for the grace.
    pub fn source(&self) -> Option<IpAddr> {
        self.standing.source()
    }

    /// The counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Everything an operator may ask about, at one point in time.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            state: self.state,
            impediment: self.standing.impediment(),
            addresses: self.ownership.state(),
            priority: self.priority(),
            active_interval: self.active_interval,
            active: self.heard.active(),
            source: self.standing.source(),
            epoch: self.ownership.epoch(),
            next_wakeup: self.timers.next(),
            since: self.since,
        }
    }

    /// When one timer fires; `None` if it is not armed.
    pub fn deadline(&self, timer: Timer) -> Option<Instant> {
        self.timers.deadline(timer)
    }

    /// The same router as it is at `now`, in the form that a model checker needs: two routers that
    /// will behave alike from now on compare and hash equal.
    ///
    /// Every instant is moved by the same distance, so that `now` (or the latest time seen, if
    /// that is later) becomes [`NORMAL_NOW`](Self::NORMAL_NOW). What is only told and does not
    /// decide anything is forgotten: counters, events, the numbers of ids and epochs (an
    /// outstanding answer has the id [`ActionId::default`](crate::ActionId)), what a state does
    /// not look at, and limits that have run out. The router goes on from there.
    #[must_use]
    pub fn normalized_at(&self, now: Instant) -> Self {
        let to = Self::NORMAL_NOW;
        let mut router = self.clone();
        let from = router.now.max(now);
        let moved = |at: &mut Instant| *at = timers::rebase(*at, from, to);
        router.now = to;
        router.since = to;
        moved(&mut router.last_advert);
        moved(&mut router.down_at);
        if let Some(since) = &mut router.undelivered_since {
            moved(since);
        }
        for after in [&mut router.claim_after, &mut router.group_claim_after] {
            *after = if *after <= from { Instant::ZERO } else { timers::rebase(*after, from, to) };
        }
        router.timers.rebase(from, to);
        router.known.forget_times();
        router.ownership.forget_history();
        router.limits = self.limits.rebased(from, to, self.assert_every());
        router.stats = Stats::default();
        router.outbox.clear_events();
        if router.state != State::Active {
            router.last_advert = to;
        }
        if router.state != State::Backup {
            router.down_at = to;
            router.heard = Heard::Nobody;
            router.preempt_delay_over = false;
            router.active_interval = router.config.interval();
        }
        if !router.timers.is_armed(Timer::StaggeredResign) {
            router.successor = None;
        }
        router
    }

    /// Where [`normalized_at`](Self::normalized_at) puts the present: one day after the origin.
    pub const NORMAL_NOW: Instant = Instant::from_millis(86_400_000);

    /// Whether neither actions nor events are waiting.
    pub(crate) fn is_quiet(&self) -> bool {
        self.outbox.is_empty()
    }

    /// Moves time on. An Active that was asleep for too long notices it here, before anything
    /// else is done in its name.
    fn advance(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.check_stall(self.now);
        self.now
    }

    fn report(&mut self, event: Event) {
        if self.outbox.report(event) {
            self.stats.event_lost();
        }
    }

    fn enter(&mut self, now: Instant, to: State, reason: Reason) {
        let from = self.state;
        self.state = to;
        self.since = now;
        if from != to {
            self.stats.transition(to);
            self.report(Event::Transition { from, to, reason });
        }
    }

    /// The facts changed: a lost source address is not believed before the grace has passed, as
    /// managers of the network replace addresses by removing and adding them.
    fn facts_changed(&mut self, now: Instant, facts: Facts) {
        let lost_source = facts.source.is_none() && self.standing.facts.source.is_some();
        if lost_source && self.state == State::Active && facts.link {
            self.standing.facts = Facts { source: self.standing.facts.source, ..facts };
            if !self.timers.is_armed(Timer::SourceGrace) {
                self.timers.arm(Timer::SourceGrace, now + self.source_grace());
            }
        } else {
            self.standing.facts = facts;
            self.timers.disarm(Timer::SourceGrace);
        }
        self.follow_standing(now);
    }

    fn source_lost(&mut self, now: Instant) {
        self.standing.facts.source = None;
        self.follow_standing(now);
    }

    fn source_grace(&self) -> core::time::Duration {
        const LONGEST: core::time::Duration = core::time::Duration::from_millis(200);
        (self.config.interval().duration() / 2).min(LONGEST)
    }

    /// Brings the state in line with the facts.
    fn follow_standing(&mut self, now: Instant) {
        match (self.state, self.standing.impediment()) {
            (State::Initialize, None) => self.start(now),
            (State::Backup, Some(impediment)) => self.stop_watching(now, impediment.reason()),
            (State::Active, Some(impediment)) => self.stand_down(now, impediment),
            (State::Initialize, Some(_)) | (State::Backup | State::Active, None) => {}
        }
    }

    /// The priority in force may differ from `before`. A Backup restarts nothing (RFC 9568
    /// section 6.1 derives its timer at the next event); an Active says so at once, and its
    /// cadence continues.
    fn priority_changed(&mut self, now: Instant, before: Priority) {
        let priority = self.priority();
        if priority == before {
            return;
        }
        self.report(Event::PriorityEffective { priority });
        if self.state == State::Active {
            self.advertise(now);
        }
    }

    fn note_discard(&mut self, now: Instant, source: IpAddr, discard: Discard) {
        self.stats.discard(discard);
        if self.limits.may_report_discard(now.max(self.now), discard) {
            self.report(Event::Discarded { source, discard });
        }
    }

    fn note_received(&mut self, now: Instant, meta: &RxMeta, received: &Received<'_>) {
        self.stats.received(received.priority);
        if received.checksum_style.is_some() {
            self.peer_style = received.checksum_style;
        }
        if let Some(priority) = received.priority {
            self.known.note(meta.source, priority, now);
        }
        for warning in received.warnings.iter() {
            self.stats.warn(warning);
            // The pseudo-header is what most deployed routers send: worth a counter, not an event.
            if warning != Warning::LegacyPseudoHeaderChecksum
                && self.limits.may_report_warning(now, warning)
            {
                self.report(Event::Odd { source: meta.source, warning });
            }
        }
    }

    /// From when a packet's deadline counts: from its arrival in the kernel, unless that lies so
    /// far back that newer packets may have been lost from a full buffer meanwhile.
    fn heard_at(&self, now: Instant, meta: &RxMeta) -> Instant {
        match meta.received_at {
            Some(at) if now.saturating_since(at) <= self.config.interval().duration() => {
                at.min(now)
            }
            _ => now,
        }
    }
}

// Kept beside the inputs it answers.
impl VirtualRouter {
    fn force_claim(&mut self, now: Instant) {
        match self.winning_priority() {
            Ok(priority) => self.claim_with(now, priority),
            Err(active) => self.refuse_claim(active),
        }
    }

    /// The priority with which this router would win now, or that of the Active above which there
    /// is nothing.
    fn winning_priority(&self) -> Result<Priority, Priority> {
        match self.heard.active() {
            Some((_, active)) if self.state == State::Backup => {
                if active >= Priority::MAX_BACKUP {
                    return Err(active);
                }
                Ok(active.one_above().max(self.priority()))
            }
            _ => Ok(self.priority()),
        }
    }

    fn claim_with(&mut self, now: Instant, priority: Priority) {
        let before = self.priority();
        match self.state {
            State::Initialize => {}
            State::Backup => {
                self.forced = Some(priority);
                self.claim(now, Reason::Forced);
            }
            State::Active => {
                self.forced = Some(priority.max(before));
                self.priority_changed(now, before);
            }
        }
    }

    fn refuse_claim(&mut self, active: Priority) {
        self.report(Event::ClaimRefused { active });
    }
}

const _: fn() = || {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<VirtualRouter>();
};
