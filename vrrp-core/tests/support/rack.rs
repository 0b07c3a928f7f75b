//! A router set on a bench: three routers of one link, in a sync group or not.

use std::time::Duration;

use super::*;
use vrrp_core::{GroupId, LinkId, RouterId, RouterSet};

pub const GROUP: GroupId = GroupId(1);
pub const LINK: LinkId = LinkId(1);
pub const A: RouterId = RouterId(1);
pub const B: RouterId = RouterId(2);
pub const C: RouterId = RouterId(3);

/// A set on a bench: address work ends at once, as `address_work` says.
#[derive(Clone)]
pub struct Rack {
    pub set: RouterSet,
    pub now: Instant,
    pub address_work: ActionResult,
}

pub fn member(id: RouterId) -> ConfigBuilder {
    let vrid = Vrid::new(id.0 as u8).unwrap();
    let vip = ip(&format!("192.0.2.{}", 10 + id.0));
    Config::builder(vrid, VirtualAddrs::new(&[vip]).unwrap())
}

pub fn good() -> Facts {
    Facts { link: true, source: Some(OWN), eligible: true }
}

impl Rack {
    pub fn new(configs: &[(RouterId, Config)]) -> Self {
        let now = Instant::from_millis(1_000_000);
        let mut set = RouterSet::new();
        for (id, config) in configs {
            set.insert(now, *id, LINK, config.clone()).unwrap();
        }
        Self { set, now, address_work: ActionResult::Done }
    }

    /// Grouped, with good facts and started.
    pub fn started(configs: &[(RouterId, Config)]) -> Self {
        let mut rack = Self::new(configs);
        let ids: Vec<_> = configs.iter().map(|(id, _)| *id).collect();
        rack.set.set_group(rack.now, GROUP, &ids).unwrap();
        for &id in &ids {
            rack.input(id, Input::Facts(good()));
        }
        rack.input(ids[0], Input::Startup);
        rack
    }

    pub fn backups() -> Self {
        let rack = Self::started(&[A, B, C].map(|id| (id, member(id).build().unwrap())));
        assert_eq!(rack.states(), [State::Backup; 3]);
        rack
    }

    pub fn active() -> Self {
        let mut rack = Self::backups();
        rack.pass(millis(3700));
        assert_eq!(rack.states(), [State::Active; 3]);
        rack.events();
        rack
    }

    pub fn input(&mut self, id: RouterId, input: Input) -> Vec<(RouterId, Action)> {
        self.set.handle_input(self.now, id, input);
        self.drain()
    }

    pub fn hear(&mut self, id: RouterId, value: u8) -> Vec<(RouterId, Action)> {
        let config = self.set.router(id).unwrap().config();
        let (meta, message) = advert_from(config, ip("192.0.2.2"), value, config.interval());
        self.set.handle_packet(self.now, LINK, &meta, &message).unwrap();
        self.drain()
    }

    pub fn timeout(&mut self) -> Vec<(RouterId, Action)> {
        self.now = self.set.poll_timeout().unwrap().max(self.now);
        self.set.handle_timeout(self.now);
        self.drain()
    }

    pub fn pass(&mut self, duration: Duration) -> Vec<(RouterId, Action)> {
        let end = self.now + duration;
        let mut actions = Vec::new();
        while self.set.poll_timeout().is_some_and(|at| at <= end) {
            actions.extend(self.timeout());
        }
        self.now = end;
        actions
    }

    pub fn drain(&mut self) -> Vec<(RouterId, Action)> {
        let mut actions = Vec::new();
        while let Some((id, action)) = self.set.poll_action() {
            actions.push((id, action));
            if let Action::InstallAddresses(work) | Action::RemoveAddresses(work) = action {
                let result = self.address_work;
                self.set.handle_input(self.now, id, Input::ActionDone { id: work, result });
            }
        }
        actions
    }

    pub fn events(&mut self) -> Vec<(RouterId, Event)> {
        std::iter::from_fn(|| self.set.poll_event()).collect()
    }

    pub fn states(&self) -> Vec<State> {
        self.set.iter().map(|(_, _, router)| router.state()).collect()
    }

    pub fn transitions(&mut self) -> usize {
        let events = self.events();
        events.iter().filter(|(_, event)| matches!(event, Event::Transition { .. })).count()
    }
}
