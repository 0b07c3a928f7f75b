//! Doing what the core asks.

use std::io;

use vrrp_core::{Action, AdvertSpec, AnnounceRound, Audience, Input, Mode, RouterId};

use super::Driver;
use crate::clock;
use crate::kernel::Request;
use crate::node::Notice;
use crate::socket::Reach;

impl Driver {
    /// Does every waiting action, in order, then passes on every waiting event.
    pub(super) fn drain(&mut self) {
        while let Some((id, action)) = self.set.poll_action() {
            self.names.mark(id);
            match action {
                Action::SendAdvert(spec) => self.send(id, &spec),
                Action::InstallAddresses(work) => {
                    self.ask_kernel(Request::Install { router: id, id: work });
                }
                Action::RemoveAddresses(work) => {
                    self.ask_kernel(Request::Remove { router: id, id: work });
                }
                // The kernel thread announces what it has just installed, without a way back and
                // forth between the threads.
                Action::Announce(AnnounceRound::Takeover) => {}
                Action::Announce(round) => {
                    let burst = round == AnnounceRound::Repeat;
                    self.ask_kernel(Request::Announce { router: id, burst });
                }
                _ => {}
            }
        }
        while let Some((id, event)) = self.set.poll_event() {
            self.names.mark(id);
            self.publisher.protocol_event(&self.names, id, event);
        }
    }

    fn send(&mut self, id: RouterId, spec: &AdvertSpec) {
        let outcome = self.try_send(id, spec);
        let now = clock::now();
        let Some(router) = self.names.get_mut(id) else { return };
        match outcome {
            Ok(()) => {
                if router.send_failing {
                    router.send_failing = false;
                    self.set.handle_input(now, id, Input::AdvertResult { delivered: true });
                    self.publisher.notice(&self.names, id, Notice::SendingAgain);
                }
            }
            Err(error) => {
                let first = !std::mem::replace(&mut router.send_failing, true);
                self.set.handle_input(now, id, Input::AdvertResult { delivered: false });
                if first {
                    let error = error.to_string();
                    self.publisher.notice(&self.names, id, Notice::SendFailed { error });
                }
            }
        }
    }

    /// Sends one copy to each destination. Success if at least one copy left.
    fn try_send(&mut self, id: RouterId, spec: &AdvertSpec) -> io::Result<()> {
        let gone = || io::Error::from_raw_os_error(libc::ENODEV);
        let link = self.link_of(id).ok_or_else(gone)?;
        let router = self.set.router(id).ok_or_else(gone)?;
        let config = router.config();
        let reach = match config.mode() {
            Mode::Multicast => Reach::Multicast,
            Mode::Unicast(_) => Reach::Unicast,
            Mode::Solo => return Ok(()),
        };
        // A unicast Ethernet frame to one member of the group comes with directed handoff.
        if reach == Reach::Multicast && matches!(spec.audience, Audience::Only(_)) {
            return Ok(());
        }
        let source =
            router.source().ok_or_else(|| io::Error::from_raw_os_error(libc::EADDRNOTAVAIL))?;
        let socket = self.sockets.get(link, config.family(), reach).ok_or_else(gone)?;
        self.message.resize(config.message_len(), 0);
        let mut result = Ok(());
        let mut delivered = false;
        for destination in router.destinations(spec) {
            // The buffer was made for this message.
            let Ok(length) = router.encode_advert(spec, destination, &mut self.message) else {
                continue;
            };
            match socket.send(source, destination, &self.message[..length]) {
                Ok(()) => delivered = true,
                Err(error) => result = Err(error),
            }
        }
        if delivered { Ok(()) } else { result }
    }
}
