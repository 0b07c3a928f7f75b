//! A run as a picture: in text, or as SVG.

use std::fmt;

use vrrp_core::State;

use crate::schedule::Schedule;
use crate::trace::Happening;
use crate::world::Report;

/// Columns of the picture in text.
const COLUMNS: usize = 100;
/// Width of a run in SVG units, and height of one lane.
const WIDTH: f64 = 1_600.0;
const LANE: f64 = 16.0;
const LEFT: f64 = 120.0;

/// The states of every router of every node over time, with faults and advertisements.
///
/// Needs a report with a trace; without one it is empty.
#[derive(Debug)]
pub struct Timeline<'a> {
    schedule: &'a Schedule,
    happenings: &'a [(u64, Happening)],
    end: u64,
}

impl<'a> Timeline<'a> {
    /// The picture of a run.
    pub fn new(schedule: &'a Schedule, report: &'a Report) -> Self {
        let happenings = report.trace.as_ref().map_or(&[][..], |trace| &trace.happenings);
        let violated = report.violation.as_ref().map_or(u64::MAX, |violation| violation.at);
        Self { schedule, happenings, end: (schedule.millis * 1_000_000).min(violated).max(1) }
    }

    /// Spans of one state: from, to, state.
    fn states(&self, node: usize, router: usize) -> Vec<(u64, u64, State)> {
        let mut spans = Vec::new();
        let mut current = (0, State::Initialize);
        for (at, happening) in self.happenings {
            let Happening::State { node: n, router: r, to } = happening else {
                continue;
            };
            if (usize::from(*n), usize::from(*r)) == (node, router) {
                spans.push((current.0, *at, current.1));
                current = (*at, *to);
            }
        }
        spans.push((current.0, self.end, current.1));
        spans
    }

    /// Faults: from, to, place in the schedule.
    fn faults(&self) -> Vec<(u64, u64, usize)> {
        let mut spans: Vec<(u64, u64, usize)> = Vec::new();
        for (at, happening) in self.happenings {
            match happening {
                Happening::FaultBegan(place) => spans.push((*at, self.end, *place)),
                Happening::FaultEnded(place) => {
                    if let Some(span) = spans.iter_mut().find(|span| span.2 == *place) {
                        span.1 = *at;
                    }
                }
                _ => {}
            }
        }
        spans
    }

    /// The picture as SVG. Lanes are routers of nodes; dark is Active, light is Backup,
    /// ticks are advertisements (red: priority 0), the line below a lane is where the addresses are.
    pub fn svg(&self) -> String {
        let (nodes, routers) = (self.schedule.nodes, self.schedule.routers.len());
        let lane = |node: usize, router: usize| 24.0 + (router * (nodes + 1) + node) as f64 * LANE;
        let height = lane(0, routers) + LANE;
        let x = |at: u64| LEFT + at as f64 / self.end as f64 * (WIDTH - LEFT);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"monospace\" font-size=\"10\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        for (from, to, place) in self.faults() {
            let (left, width) = (x(from), (x(to) - x(from)).max(1.0));
            let fault = &self.schedule.faults[place].1;
            out += &format!(
                "<rect x=\"{left:.1}\" y=\"0\" width=\"{width:.1}\" height=\"{height}\" \
                 fill=\"#fb8\" opacity=\"0.4\"><title>{fault:?}</title></rect>\n"
            );
        }
        for router in 0..routers {
            for node in 0..nodes {
                self.svg_lane(&mut out, node, router, lane(node, router), &x);
            }
        }
        out + "</svg>\n"
    }

    fn svg_lane(
        &self,
        out: &mut String,
        node: usize,
        router: usize,
        top: f64,
        x: &dyn Fn(u64) -> f64,
    ) {
        let base = top + 11.0;
        *out += &format!("<text x=\"4\" y=\"{base}\">router {router} node {node}</text>\n");
        for (from, to, state) in self.states(node, router) {
            let colour = match state {
                State::Initialize => continue,
                State::Backup => "#cde",
                State::Active => "#258",
            };
            let (left, width) = (x(from), x(to) - x(from));
            *out += &format!(
                "<rect x=\"{left:.2}\" y=\"{top}\" width=\"{width:.2}\" height=\"11\" \
                 fill=\"{colour}\"/>\n"
            );
        }
        let mut since = None;
        let here = |n: u8, r: u8| (usize::from(n), usize::from(r)) == (node, router);
        for (at, happening) in self.happenings {
            match *happening {
                Happening::Advert { node: n, router: r, priority } if here(n, r) => {
                    let colour = if priority == 0 { "#d00" } else { "#fd4" };
                    let left = x(*at);
                    *out += &format!(
                        "<path d=\"M{left:.2} {top}v11\" stroke=\"{colour}\" stroke-width=\"0.5\"/>\n"
                    );
                }
                Happening::Addresses { node: n, router: r, present } if here(n, r) => {
                    if let Some(from) = since.take() {
                        svg_addresses(out, x(from), x(*at), top);
                    }
                    since = present.then_some(*at);
                }
                _ => {}
            }
        }
        if let Some(from) = since {
            svg_addresses(out, x(from), x(self.end), top);
        }
    }
}

fn svg_addresses(out: &mut String, from: f64, to: f64, top: f64) {
    let (y, width) = (top + 11.0, to - from);
    *out += &format!(
        "<rect x=\"{from:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"2.5\" fill=\"#2a4\"/>\n"
    );
}

impl fmt::Display for Timeline<'_> {
    /// The faults and transitions as a list, then one line for each router of each node:
    /// `#` Active, `-` Backup, a space Initialize; the state that a column ends with, or `#` if it
    /// had any Active in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, happening) in self.happenings {
            let seconds = *at as f64 / 1e9;
            match happening {
                Happening::State { node, router, to } => {
                    writeln!(f, "{seconds:>12.6}  node {node} router {router}: {to:?}")?;
                }
                Happening::FaultBegan(place) => {
                    writeln!(f, "{seconds:>12.6}  {:?}", self.schedule.faults[*place].1)?;
                }
                Happening::FaultEnded(place) => {
                    writeln!(f, "{seconds:>12.6}  over: {:?}", self.schedule.faults[*place].1)?;
                }
                Happening::Advert { node, router, priority: 0 } => {
                    writeln!(f, "{seconds:>12.6}  node {node} router {router}: priority 0")?;
                }
                _ => {}
            }
        }
        writeln!(f)?;
        let column = |at: u64| (u128::from(at) * COLUMNS as u128 / u128::from(self.end)) as usize;
        for router in 0..self.schedule.routers.len() {
            for node in 0..self.schedule.nodes {
                let mut line = vec![' '; COLUMNS + 1];
                for (from, to, state) in self.states(node, router) {
                    let mark = match state {
                        State::Initialize => ' ',
                        State::Backup => '-',
                        State::Active => '#',
                    };
                    for cell in &mut line[column(from)..=column(to)] {
                        *cell = if *cell == '#' { '#' } else { mark };
                    }
                }
                let line: String = line.into_iter().take(COLUMNS).collect();
                writeln!(f, "router {router} node {node} |{line}|")?;
            }
        }
        let mut line = vec![' '; COLUMNS + 1];
        for (from, to, _) in self.faults() {
            line[column(from)..=column(to)].fill('!');
        }
        let line: String = line.into_iter().take(COLUMNS).collect();
        let seconds = self.end as f64 / 1e9;
        writeln!(f, "{:>15} |{line}| {seconds:.3} s", "faults")
    }
}
