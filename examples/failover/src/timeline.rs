//! What happened, read from the capture: who reigned when, and whom the client heard.

use std::net::IpAddr;
use std::time::Duration;

use lab::Frame;

/// One of the two routers that each node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    pub(crate) const BOTH: [Self; 2] = [Self::V4, Self::V6];

    pub(crate) fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }
}

/// One advertisement.
#[derive(Clone, Debug)]
pub(crate) struct Advert {
    pub(crate) at: Duration,
    pub(crate) node: String,
    pub(crate) family: Family,
    /// 0 is a resignation.
    pub(crate) priority: u8,
}

/// One gratuitous ARP or unsolicited neighbour advertisement for the VIP.
#[derive(Clone, Debug)]
pub(crate) struct Announcement {
    pub(crate) at: Duration,
    pub(crate) family: Family,
}

/// A stretch in which a node advertised.
#[derive(Clone, Debug)]
pub(crate) struct Reign {
    pub(crate) node: String,
    pub(crate) family: Family,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    pub(crate) resigned: bool,
}

/// One probe of the client and the node that answered it.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) sent: Duration,
    pub(crate) family: Family,
    pub(crate) answered_by: Option<String>,
}

/// A node's kernel had the VIP, or had it no more, when looked at.
#[derive(Clone, Debug)]
pub(crate) struct Presence {
    pub(crate) at: Duration,
    pub(crate) node: String,
    pub(crate) family: Family,
    pub(crate) present: bool,
}

/// A step of the demonstration.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) title: &'static str,
    /// When the cause was set: the signal sent, the cable pulled.
    pub(crate) at: Duration,
    /// The node that is expected to own the VIPs afterwards.
    pub(crate) expected: String,
    /// Nodes whose kernel had the VIP at the end of the step, per family.
    pub(crate) owners: [Vec<String>; 2],
}

/// Everything that was recorded.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) nodes: Vec<String>,
    pub(crate) end: Duration,
    pub(crate) interval: Duration,
    pub(crate) steps: Vec<Step>,
    pub(crate) adverts: Vec<Advert>,
    pub(crate) announcements: Vec<Announcement>,
    pub(crate) probes: Vec<Probe>,
    pub(crate) presence: Vec<Presence>,
}

impl Recording {
    /// Takes what concerns the VIPs from captured frames.
    pub(crate) fn read(&mut self, frames: &[Frame], vips: [IpAddr; 2]) {
        for frame in frames {
            let node = frame.port.to_string();
            if !self.nodes.contains(&node) {
                continue;
            }
            if let Some(advert) = frame.vrrp() {
                let family = Family::of(advert.src);
                self.adverts.push(Advert { at: frame.at, node, family, priority: advert.priority });
            } else if let Some(claimed) = announced(frame)
                && vips.contains(&claimed)
            {
                let family = Family::of(claimed);
                self.announcements.push(Announcement { at: frame.at, family });
            }
        }
    }

    /// Stretches of advertising: they end with a resignation, or with a silence in which another
    /// advert was due.
    pub(crate) fn reigns(&self) -> Vec<Reign> {
        let mut reigns: Vec<Reign> = Vec::new();
        for advert in &self.adverts {
            let open = reigns.iter_mut().rev().find(|reign| {
                reign.node == advert.node && reign.family == advert.family && !reign.resigned
            });
            match open {
                Some(reign) if advert.at.saturating_sub(reign.to) < self.interval * 2 => {
                    reign.to = advert.at;
                    reign.resigned = advert.priority == 0;
                }
                _ if advert.priority > 0 => reigns.push(Reign {
                    node: advert.node.clone(),
                    family: advert.family,
                    from: advert.at,
                    to: advert.at,
                    resigned: false,
                }),
                _ => {}
            }
        }
        reigns
    }

    /// The end of a step: the cause of the next one, or of the recording.
    pub(crate) fn step_end(&self, index: usize) -> Duration {
        self.steps.get(index + 1).map_or(self.end, |next| next.at)
    }

    /// From the cause of a step to the first advert of the expected owner.
    pub(crate) fn takeover(&self, index: usize, family: Family) -> Option<Duration> {
        let (step, end) = (&self.steps[index], self.step_end(index));
        let first = self.adverts.iter().find(|advert| {
            advert.family == family
                && advert.node == step.expected
                && advert.priority > 0
                && (step.at..end).contains(&advert.at)
        })?;
        Some(first.at - step.at)
    }

    /// Announcements of the VIP within a step.
    pub(crate) fn announced(&self, index: usize, family: Family) -> usize {
        let range = self.steps[index].at..self.step_end(index);
        self.announcements.iter().filter(|a| a.family == family && range.contains(&a.at)).count()
    }

    /// Probes sent within a step, those lost among them, and the longest time between two answers.
    pub(crate) fn client(&self, index: usize, family: Family) -> Client {
        let range = self.steps[index].at..self.step_end(index);
        let mut client = Client::default();
        let mut silent_since = None;
        for probe in self.probes.iter().filter(|p| p.family == family && range.contains(&p.sent)) {
            client.sent += 1;
            if probe.answered_by.is_some() {
                silent_since = None;
            } else {
                client.lost += 1;
                let since = *silent_since.get_or_insert(probe.sent);
                client.outage = client.outage.max(probe.sent - since);
            }
        }
        client
    }
}

/// What the client saw of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    pub(crate) sent: usize,
    pub(crate) lost: usize,
    pub(crate) outage: Duration,
}

fn announced(frame: &Frame) -> Option<IpAddr> {
    frame.garp().map(|arp| IpAddr::V4(arp.sender)).or_else(|| {
        let advert = frame.unsolicited_na()?;
        Some(IpAddr::V6(advert.target))
    })
}
