//! What the kernel thread reports.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use vrrp_core::{Facts, Family, Input, LinkId, RouterId, State};

use super::Driver;
use crate::clock;
use crate::kernel::Report;
use crate::node::Notice;
use crate::poll::Token;
use crate::socket::{Reach, VrrpSocket};

/// How long a router stays out after others removed its VIPs again and again.
const CONTEST_PENALTY: Duration = Duration::from_secs(60);

/// The sockets, by what they are for.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    open: HashMap<Token, (LinkId, Family, Reach, VrrpSocket)>,
    next: Token,
}

impl Sockets {
    pub(super) fn by_token(&self, token: Token) -> Option<(LinkId, &VrrpSocket)> {
        self.open.get(&token).map(|(link, .., socket)| (*link, socket))
    }

    pub(super) fn get(&self, link: LinkId, family: Family, reach: Reach) -> Option<&VrrpSocket> {
        self.open
            .values()
            .find(|(l, f, r, _)| (*l, *f, *r) == (link, family, reach))
            .map(|(.., socket)| socket)
    }

    fn close_link(&mut self, link: LinkId) {
        self.open.retain(|_, (other, ..)| *other != link);
    }
}

impl Driver {
    pub(super) fn report(&mut self, report: Report) {
        match report {
            Report::Socket { link, family, reach, socket } => {
                self.socket_opened(link, family, reach, socket);
            }
            Report::SocketsGone { link } => self.sockets.close_link(link),
            Report::Facts { router, link, source } => self.host_facts(router, link, source),
            Report::Done { router, id, result } => {
                self.input(router, Input::ActionDone { id, result });
            }
            Report::Claimed { router, address, mac } => {
                let state = self.set.router(router).map(vrrp_core::VirtualRouter::state);
                if state == Some(State::Active) {
                    self.notice(router, Notice::ForeignClaim { address, mac });
                }
                self.input(router, Input::SuccessorAnnounced);
            }
            Report::MacChanged { router } => self.input(router, Input::Reannounce),
            Report::Restored { router, address } => {
                self.notice(router, Notice::AddressRestored { address });
            }
            Report::Evicted { router, address } => {
                if let Some(resignation) = &mut self.resignation {
                    resignation.rival_seen(address);
                }
                self.notice(router, Notice::AddressEvicted { address });
            }
            Report::Contested { router, removals } => self.contested(router, removals),
            Report::Verified(result) => {
                if let Some(resignation) = &mut self.resignation {
                    resignation.verified(clock::now(), result);
                }
            }
            Report::Trouble { what, error } => tracing::warn!(%error, "{what} failed"),
        }
    }

    fn socket_opened(&mut self, link: LinkId, family: Family, reach: Reach, socket: VrrpSocket) {
        self.sockets.open.retain(|_, (l, f, r, _)| (*l, *f, *r) != (link, family, reach));
        let token = self.sockets.next;
        self.sockets.next += 1;
        // Without it packets would go unread: better no socket, which the facts cannot hide.
        match self.poller.add(&socket, token) {
            Ok(()) => drop(self.sockets.open.insert(token, (link, family, reach, socket))),
            Err(error) => tracing::error!(%error, "watching a socket failed"),
        }
    }

    fn host_facts(&mut self, id: RouterId, link: bool, source: Option<IpAddr>) {
        let Some(router) = self.names.get_mut(id) else { return };
        router.facts = Facts { link, source, eligible: router.facts.eligible };
        let facts = router.facts;
        self.input(id, Input::Facts(facts));
    }

    /// Others remove the VIPs faster than it makes sense to put them back: let another node try.
    fn contested(&mut self, id: RouterId, removals: usize) {
        let Some(router) = self.names.get_mut(id) else { return };
        router.facts.eligible = false;
        let facts = router.facts;
        self.names.contest(id, clock::now() + CONTEST_PENALTY);
        self.notice(id, Notice::Contested { removals });
        self.input(id, Input::Facts(facts));
    }

    /// Lets routers compete again whose penalty is over.
    pub(super) fn restore_contested(&mut self) {
        while let Some(id) = self.names.pop_contest(clock::now()) {
            let Some(router) = self.names.get_mut(id) else { continue };
            router.facts.eligible = true;
            let facts = router.facts;
            self.input(id, Input::Facts(facts));
        }
    }

    pub(super) fn notice(&mut self, id: RouterId, notice: Notice) {
        self.publisher.notice(&self.names, id, notice);
    }
}
