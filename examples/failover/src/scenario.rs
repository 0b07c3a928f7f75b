//! What is done to the routers, step by step.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::cluster::{Cluster, INTERVAL, VIPS};
use crate::timeline::{Family, Presence, Probe, Recording, Step};
use crate::view::View;

/// A step that has not led to its owner by then has failed.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long the new owner is watched before the next step.
const WATCH: Duration = Duration::from_millis(1200);
const PROBE_EVERY: Duration = Duration::from_millis(5);
/// An answer later than this is none: while nobody owns the address, the client's kernel keeps
/// questions waiting for a neighbour, and delivers them to whoever comes.
const ANSWER_WITHIN: Duration = Duration::from_millis(100);

/// Plays all steps and returns what was recorded.
pub(crate) fn play(cluster: &mut Cluster, view: &mut View) -> anyhow::Result<Recording> {
    let mut stage = Stage { cluster, view, recording: Recording::default(), seen: Vec::new() };
    stage.recording.nodes = stage.cluster.node_names();
    stage.recording.interval = INTERVAL;
    let origin = stage.cluster.capture().started();
    let client = stage.cluster.client();
    let probes = [client.probe(VIPS[0], PROBE_EVERY)?, client.probe(VIPS[1], PROBE_EVERY)?];

    for (index, act) in ACTS.iter().enumerate() {
        stage.act(index, act).with_context(|| format!("step \"{}\"", act.title))?;
    }

    let Stage { cluster, mut recording, .. } = stage;
    for (family, probe) in Family::BOTH.into_iter().zip(probes) {
        let report = probe.finish()?;
        let offset = report.started.duration_since(origin).unwrap_or_default();
        recording.probes.extend(report.probes.into_iter().map(|asked| {
            Probe {
                sent: asked.sent + offset,
                family,
                answered_by: asked
                    .answer
                    .filter(|(at, _)| at.saturating_sub(asked.sent) <= ANSWER_WITHIN)
                    .map(|(_, host)| host.to_string()),
            }
        }));
    }
    recording.end = cluster.capture().now();
    recording.read(&cluster.capture().frames(), VIPS);
    Ok(recording)
}

/// One step: a cause, the node it befalls, and the node that must own the VIPs afterwards.
struct Act {
    title: &'static str,
    explained: &'static str,
    owner: usize,
    cause: fn(&mut Cluster) -> anyhow::Result<()>,
}

const ACTS: &[Act] = &[
    Act {
        title: "election",
        explained: "all three routers start; the highest priority wins",
        owner: 0,
        cause: |cluster| (0..3).try_for_each(|index| cluster.start(index)),
    },
    Act {
        title: "crash",
        explained: "node1's process is killed (SIGKILL); it cannot say goodbye",
        owner: 1,
        cause: |cluster| Ok(cluster.process(0)?.kill()?),
    },
    Act {
        title: "recovery",
        explained: "node1 starts again, cleans up and takes the addresses back",
        owner: 0,
        cause: |cluster| cluster.start(0),
    },
    Act {
        title: "planned stop",
        explained: "node1 is told to stop (SIGTERM); it hands over",
        owner: 1,
        cause: |cluster| Ok(cluster.process(0)?.terminate()?),
    },
    Act {
        title: "return",
        explained: "node1 starts again",
        owner: 0,
        cause: |cluster| cluster.start(0),
    },
    Act {
        title: "freeze",
        explained: "node1's process is stopped (SIGSTOP); it keeps what it has",
        owner: 1,
        cause: |cluster| Ok(cluster.process(0)?.stop()?),
    },
    Act {
        title: "thaw",
        explained: "node1's process goes on (SIGCONT); it withdraws, listens, competes",
        owner: 0,
        cause: |cluster| Ok(cluster.process(0)?.resume()?),
    },
    Act {
        title: "link failure",
        explained: "node1's cable is pulled",
        owner: 1,
        cause: |cluster| Ok(cluster.node(0).link_down()?),
    },
    Act {
        title: "link back",
        explained: "node1's cable is plugged in again",
        owner: 0,
        cause: |cluster| Ok(cluster.node(0).link_up()?),
    },
    Act {
        title: "partition",
        explained: "the switch drops everything between node1 and the rest",
        owner: 1,
        cause: |cluster| {
            let rest = [cluster.node(1), cluster.node(2), cluster.client()];
            Ok(cluster.bridge().partition(&[cluster.node(0)], &rest)?)
        },
    },
    Act {
        title: "healing",
        explained: "the partition is over; one of two owners yields",
        owner: 0,
        cause: |cluster| Ok(cluster.bridge().heal()?),
    },
];

struct Stage<'a> {
    cluster: &'a mut Cluster,
    view: &'a mut View,
    recording: Recording,
    /// Who had the VIP of each family when last looked at.
    seen: Vec<[bool; 2]>,
}

impl Stage<'_> {
    fn act(&mut self, index: usize, act: &Act) -> anyhow::Result<()> {
        self.view.step(index + 1, ACTS.len(), act.title, act.explained);
        let at = self.cluster.capture().now();
        (act.cause)(self.cluster)?;
        let names = self.cluster.node_names();
        self.recording.steps.push(Step {
            title: act.title,
            at,
            expected: names[act.owner].clone(),
            owners: [Vec::new(), Vec::new()],
        });
        self.wait_for_owner(act.owner, at)?;
        let end = Instant::now() + WATCH;
        while Instant::now() < end {
            self.look()?;
        }
        let owners = [self.cluster.owners(Family::V4)?, self.cluster.owners(Family::V6)?];
        self.view.result(&owners);
        if let Some(step) = self.recording.steps.last_mut() {
            step.owners = owners;
        }
        Ok(())
    }

    /// Waits until the node advertises for both families and its kernel has both addresses.
    fn wait_for_owner(&mut self, owner: usize, since: Duration) -> anyhow::Result<()> {
        let end = Instant::now() + PATIENCE;
        let name = self.cluster.node(owner).name().to_owned();
        loop {
            self.look()?;
            let frames = self.cluster.capture().frames();
            let advertises = |family| {
                frames.iter().rev().take_while(|frame| frame.at >= since).any(|frame| {
                    *frame.port == *name
                        && frame.vrrp().is_some_and(|advert| {
                            advert.priority > 0 && Family::of(advert.src) == family
                        })
                })
            };
            let has_both = self.seen.get(owner).is_some_and(|seen| seen.iter().all(|has| *has));
            if has_both && Family::BOTH.into_iter().all(advertises) {
                return Ok(());
            }
            if Instant::now() >= end {
                bail!("{name} did not own the addresses within {} s", PATIENCE.as_secs());
            }
        }
    }

    /// Looks at every kernel's addresses, notes what changed, and lets a little time pass.
    fn look(&mut self) -> anyhow::Result<()> {
        let at = self.cluster.capture().now();
        let names = self.cluster.node_names();
        self.seen.resize(names.len(), [false; 2]);
        for (index, node) in names.iter().enumerate() {
            for family in Family::BOTH {
                let present = self.cluster.has_vip(index, family)?;
                let before = &mut self.seen[index][family as usize];
                if std::mem::replace(before, present) != present {
                    let node = node.clone();
                    self.recording.presence.push(Presence { at, node, family, present });
                }
            }
        }
        self.view.owners(&self.seen);
        std::thread::sleep(Duration::from_millis(10));
        Ok(())
    }
}
