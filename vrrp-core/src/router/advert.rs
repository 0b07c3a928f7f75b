//! Making and judging advertisements with this router's settings.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::VirtualRouter;
use crate::receive::{AuthRule, ChecksumRule, DestinationRule, OwnerRule, ReceivePolicy};
use crate::wire::{AdvertRepr, BufferTooSmall, ChecksumStyle, PseudoHeader};
use crate::{AdvertSpec, Audience, ChecksumMode, Family, Instant, Mode, Profile, Timer, Version};

/// The VRRP group of IPv4, 224.0.0.18 (RFC 9568 section 5.1.1.2).
pub const GROUP_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 18);
/// The VRRP group of IPv6, ff02::12 (RFC 9568 section 5.1.2.2).
pub const GROUP_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x12);

impl VirtualRouter {
    /// Makes the message of an [`Action::SendAdvert`](crate::Action::SendAdvert) for one of its
    /// [`destinations`](Self::destinations), with the values of this moment. Returns its length.
    ///
    /// The destination is a parameter because a pseudo-header makes the checksum differ from one
    /// peer to the next. The source in the checksum is that of the latest
    /// [`Facts`](crate::Facts): the driver must send from it.
    ///
    /// # Errors
    /// The buffer is shorter than [`Config::message_len`](crate::Config::message_len); it is left
    /// as it was.
    pub fn encode_advert(
        &self,
        spec: &AdvertSpec,
        destination: IpAddr,
        buffer: &mut [u8],
    ) -> Result<usize, BufferTooSmall> {
        let unspecified = match self.config.family() {
            Family::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Family::V6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let header =
            PseudoHeader { source: self.standing.source().unwrap_or(unspecified), destination };
        let message = AdvertRepr {
            version: self.config.version(),
            vrid: self.config.vrid(),
            priority: spec.priority,
            interval: spec.interval,
            password: self.config.password(),
            addresses: self.config.addresses(),
        };
        message.emit(header, self.send_style(), buffer)
    }

    /// Where the copies of an advertisement go: to the group, or to each peer of the audience.
    ///
    /// For [`Audience::Only`] with multicast this is the group as well: the driver sends that
    /// packet in a frame to the one router's MAC.
    pub fn destinations(&self, spec: &AdvertSpec) -> impl Iterator<Item = IpAddr> + '_ {
        let audience = spec.audience;
        let (group, peers): (Option<IpAddr>, &[IpAddr]) = match self.config.mode() {
            Mode::Multicast => (Some(group(self.config.family())), &[]),
            Mode::Unicast(peers) => (None, peers),
            Mode::Solo => (None, &[]),
        };
        let chosen = peers.iter().copied().filter(move |&peer| match audience {
            Audience::All => true,
            Audience::Only(only) => peer == only,
            Audience::AllExcept(except) => peer != except,
        });
        group.into_iter().chain(chosen)
    }

    /// An ordinary advertisement to all, now.
    pub(super) fn advertise(&mut self, now: Instant) {
        self.last_advert = now;
        self.send(Audience::All, Some(self.priority()), self.config.interval());
    }

    pub(super) fn arm_advert(&mut self, at: Instant) {
        self.timers.arm(Timer::AdvertDue, at);
    }

    /// Sending may fail for a while (a firewall reloads). Others may have claimed and yielded
    /// meanwhile, and neighbours may still believe them: announce again once it works.
    pub(super) fn advert_result(&mut self, now: Instant, delivered: bool) {
        if self.state != super::State::Active {
            return;
        }
        if !delivered {
            self.stats.send_failed();
            // The one before was the last that arrived.
            let before = self.last_advert - self.config.interval().duration();
            self.undelivered_since.get_or_insert(before.max(self.since));
            return;
        }
        let outage = self.undelivered_since.take().map(|since| now.saturating_since(since));
        if outage.is_some_and(|outage| outage > self.peers_shortest_down()) {
            self.reassert();
        }
    }

    pub(super) fn receive_policy(&self) -> ReceivePolicy<'_> {
        let config = &self.config;
        let rfc = config.profile() == Profile::Rfc;
        let multicast = *config.mode() == Mode::Multicast;
        ReceivePolicy {
            version: config.version(),
            allow_v2_ipv6: false,
            vrid: config.vrid(),
            interval: config.interval(),
            destination: if multicast {
                DestinationRule::Multicast
            } else {
                DestinationRule::Unicast
            },
            min_ttl: config.unicast_min_ttl(),
            checksum: if rfc { ChecksumRule::MessageOnly } else { ChecksumRule::Either },
            auth: match config.password() {
                Some(&password) => AuthRule::Pass(password),
                None => AuthRule::None,
            },
            allow_trailing: false,
            require_first_link_local: rfc && multicast,
            require_link_local_source: multicast,
            sources: config.sources(),
            own_source: self.standing.source(),
            owner: match (config.priority().is_owner(), rfc) {
                (false, _) => OwnerRule::NotOwner,
                (true, false) => OwnerRule::Process,
                (true, true) => OwnerRule::Discard,
            },
            addresses: Some(config.addresses()),
            strict_v2_list: rfc,
        }
    }

    fn send_style(&self) -> ChecksumStyle {
        match self.config.checksum() {
            // RFC 9568 knows one style, and its strict receivers understand no other.
            ChecksumMode::Auto if self.config.profile() == Profile::Rfc => {
                ChecksumStyle::MessageOnly
            }
            ChecksumMode::Auto => self.peer_style.unwrap_or(ChecksumStyle::PseudoHeader),
            ChecksumMode::MessageOnly => ChecksumStyle::MessageOnly,
            ChecksumMode::PseudoHeader => ChecksumStyle::PseudoHeader,
        }
    }

    /// Whether a v2 router, where one interval holds for all.
    pub(super) fn is_v2(&self) -> bool {
        self.config.version() == Version::V2
    }
}

fn group(family: Family) -> IpAddr {
    match family {
        Family::V4 => IpAddr::V4(GROUP_V4),
        Family::V6 => IpAddr::V6(GROUP_V6),
    }
}
