//! The timeline as a drawing: lanes of nodes, reigns, adverts and the client's answers.

use std::fmt::Write as _;
use std::time::Duration;

use crate::timeline::{Family, Recording};

const WIDTH: f64 = 1400.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 92.0;
const LANE: f64 = 34.0;
const GROUP_GAP: f64 = 40.0;

/// Colours that can be told apart by most eyes (Okabe and Ito), one per node.
const COLOURS: [&str; 4] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];
const LOST: &str = "#d52b1e";
const INK: &str = "#222";
const FAINT: &str = "#8a8a8a";

/// Draws a recording.
pub(crate) fn render(recording: &Recording, subtitle: &str) -> String {
    Drawing::new(recording).render(subtitle)
}

struct Drawing<'a> {
    recording: &'a Recording,
    out: String,
}

impl<'a> Drawing<'a> {
    fn new(recording: &'a Recording) -> Self {
        Self { recording, out: String::new() }
    }

    fn render(mut self, subtitle: &str) -> String {
        let height = self.bottom() + 74.0;
        self.put(format_args!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="13">"##
        ));
        self.put(format_args!(r##"<rect width="100%" height="100%" fill="#fff"/>"##));
        self.text(
            20.0,
            28.0,
            INK,
            "start",
            18.0,
            "A virtual IP address and everything that can happen to it",
        );
        self.text(20.0, 48.0, FAINT, "start", 13.0, subtitle);
        self.steps();
        for family in Family::BOTH {
            self.family(family);
        }
        self.axis();
        self.legend(height - 16.0);
        self.out.push_str("</svg>\n");
        self.out
    }

    /// One column per step, shaded in turn, with its title above.
    fn steps(&mut self) {
        let bottom = self.bottom();
        for index in 0..self.recording.steps.len() {
            let step = &self.recording.steps[index];
            let (from, to) = (self.x(step.at), self.x(self.recording.step_end(index)));
            let fill = if index % 2 == 0 { "#f4f4f4" } else { "#fff" };
            let (width, height) = (to - from, bottom - TOP + 14.0);
            let top = TOP - 14.0;
            self.put(format_args!(
                r##"<rect x="{from:.1}" y="{top}" width="{width:.1}" height="{height}" fill="{fill}"/>"##
            ));
            self.put(format_args!(
                r##"<line x1="{from:.1}" y1="{top}" x2="{from:.1}" y2="{bottom}" stroke="{INK}" stroke-dasharray="2 3"/>"##
            ));
            // Titles of short steps would run into each other in one row.
            let row = if index % 2 == 0 { TOP - 18.0 } else { TOP - 2.0 };
            self.text(from + 3.0, row, INK, "start", 12.0, step.title);
        }
    }

    fn family(&mut self, family: Family) {
        let top = self.group_top(family);
        let nodes = self.recording.nodes.clone();
        self.text(20.0, top - 6.0, INK, "start", 14.0, family.name());
        for (index, node) in nodes.iter().enumerate() {
            let y = self.lane(family, index);
            self.text(LEFT - 12.0, y + 4.0, INK, "end", 13.0, node);
            self.line(y, "#ccc");
        }
        let client = self.lane(family, nodes.len());
        self.text(LEFT - 12.0, client + 4.0, INK, "end", 13.0, "client hears");
        self.presence(family, &nodes);
        self.reigns(family, &nodes);
        self.adverts(family, &nodes);
        self.answers(family, &nodes);
    }

    /// A thin bar where the kernel had the address: what stays behind shows as a bar without
    /// adverts.
    fn presence(&mut self, family: Family, nodes: &[String]) {
        for (index, node) in nodes.iter().enumerate() {
            let y = self.lane(family, index) + 9.0;
            let mut since = None;
            let changes: Vec<_> = self
                .recording
                .presence
                .iter()
                .filter(|p| p.family == family && p.node == *node)
                .map(|p| (p.at, p.present))
                .chain([(self.recording.end, false)])
                .collect();
            for (at, present) in changes {
                match (since, present) {
                    (None, true) => since = Some(at),
                    (Some(from), false) => {
                        let (x, width) = (self.x(from), self.x(at) - self.x(from));
                        self.put(format_args!(
                            r##"<rect x="{x:.1}" y="{y}" width="{width:.1}" height="3" fill="{INK}"/>"##
                        ));
                        since = None;
                    }
                    _ => {}
                }
            }
        }
    }

    fn reigns(&mut self, family: Family, nodes: &[String]) {
        for reign in self.recording.reigns().iter().filter(|reign| reign.family == family) {
            let Some(index) = nodes.iter().position(|node| *node == reign.node) else { continue };
            let y = self.lane(family, index) - 8.0;
            let (x, colour) = (self.x(reign.from), COLOURS[index % COLOURS.len()]);
            let width = (self.x(reign.to) - x).max(2.0);
            self.put(format_args!(
                r##"<rect x="{x:.1}" y="{y}" width="{width:.1}" height="16" rx="2" fill="{colour}" opacity="0.45"/>"##
            ));
        }
    }

    fn adverts(&mut self, family: Family, nodes: &[String]) {
        let adverts = self.recording.adverts.clone();
        for advert in adverts.iter().filter(|advert| advert.family == family) {
            let Some(index) = nodes.iter().position(|node| *node == advert.node) else { continue };
            let (x, y) = (self.x(advert.at), self.lane(family, index));
            let colour = COLOURS[index % COLOURS.len()];
            if advert.priority == 0 {
                let (left, right, low, high) = (x - 5.0, x + 5.0, y + 6.0, y - 6.0);
                self.put(format_args!(
                    r##"<path d="M{x:.1} {high} L{right:.1} {y} L{x:.1} {low} L{left:.1} {y} Z" fill="{LOST}"/>"##
                ));
            } else {
                let (high, low) = (y - 8.0, y + 8.0);
                self.put(format_args!(
                    r##"<line x1="{x:.1}" y1="{high}" x2="{x:.1}" y2="{low}" stroke="{colour}"/>"##
                ));
            }
        }
    }

    /// The client's lane: one run of colour per node that answered, red where nobody did.
    fn answers(&mut self, family: Family, nodes: &[String]) {
        let y = self.lane(family, nodes.len()) - 8.0;
        let mut runs: Vec<(Option<usize>, Duration, Duration)> = Vec::new();
        for probe in self.recording.probes.iter().filter(|probe| probe.family == family) {
            let by = probe.answered_by.as_ref();
            let by = by.and_then(|by| nodes.iter().position(|node| node == by));
            match runs.last_mut() {
                Some((last, _, to)) if *last == by => *to = probe.sent,
                Some((_, _, to)) => {
                    *to = probe.sent;
                    runs.push((by, probe.sent, probe.sent));
                }
                None => runs.push((by, probe.sent, probe.sent)),
            }
        }
        for (by, from, to) in runs {
            let colour = by.map_or(LOST, |index| COLOURS[index % COLOURS.len()]);
            let (x, width) = (self.x(from), (self.x(to) - self.x(from)).max(1.0));
            self.put(format_args!(
                r##"<rect x="{x:.1}" y="{y}" width="{width:.1}" height="16" fill="{colour}"/>"##
            ));
        }
    }

    fn axis(&mut self) {
        let y = self.bottom() + 4.0;
        self.line(y, INK);
        let seconds = self.recording.end.as_secs();
        let step = [1, 2, 5, 10].into_iter().find(|step| seconds / step <= 24).unwrap_or(10);
        for second in (0..=seconds).step_by(usize::try_from(step).unwrap_or(10)) {
            let x = self.x(Duration::from_secs(second));
            let end = y + 5.0;
            self.put(format_args!(
                r##"<line x1="{x:.1}" y1="{y}" x2="{x:.1}" y2="{end}" stroke="{INK}"/>"##
            ));
            self.text(x, y + 19.0, INK, "middle", 12.0, &format!("{second} s"));
        }
    }

    fn legend(&mut self, y: f64) {
        let entries = [
            ("advertises (each line is one advert)", "bar"),
            ("priority 0: resigns", "diamond"),
            ("the kernel has the address", "thin"),
            ("client: nobody answers", "lost"),
        ];
        let mut x = LEFT;
        for (label, kind) in entries {
            let (high, middle) = (y - 12.0, y - 4.0);
            match kind {
                "bar" => self.put(format_args!(
                    r##"<rect x="{x}" y="{high}" width="22" height="16" rx="2" fill="{}" opacity="0.45"/>"##,
                    COLOURS[0]
                )),
                "diamond" => {
                    let (a, b, c) = (x + 11.0, x + 16.0, x + 6.0);
                    let (top, low) = (middle - 6.0, middle + 6.0);
                    self.put(format_args!(
                        r##"<path d="M{a} {top} L{b} {middle} L{a} {low} L{c} {middle} Z" fill="{LOST}"/>"##
                    ));
                }
                "thin" => self.put(format_args!(
                    r##"<rect x="{x}" y="{middle}" width="22" height="3" fill="{INK}"/>"##
                )),
                _ => self.put(format_args!(
                    r##"<rect x="{x}" y="{high}" width="22" height="16" fill="{LOST}"/>"##
                )),
            }
            self.text(x + 28.0, y, INK, "start", 13.0, label);
            x += 60.0 + 7.0 * f64::from(u32::try_from(label.len()).unwrap_or(0));
        }
    }

    fn line(&mut self, y: f64, colour: &str) {
        let right = WIDTH - RIGHT;
        self.put(format_args!(
            r##"<line x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="{colour}"/>"##
        ));
    }

    fn text(&mut self, x: f64, y: f64, fill: &str, anchor: &str, size: f64, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.put(format_args!(
            r##"<text x="{x:.1}" y="{y:.1}" fill="{fill}" text-anchor="{anchor}" font-size="{size}">{text}</text>"##
        ));
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{element}");
    }

    fn x(&self, at: Duration) -> f64 {
        let whole = self.recording.end.as_secs_f64().max(0.001);
        LEFT + (WIDTH - LEFT - RIGHT) * at.as_secs_f64() / whole
    }

    fn lanes(&self) -> f64 {
        // The client has a lane too.
        f64::from(u32::try_from(self.recording.nodes.len() + 1).unwrap_or(4))
    }

    fn group_top(&self, family: Family) -> f64 {
        TOP + 16.0 + f64::from(family as u8) * (self.lanes() * LANE + GROUP_GAP)
    }

    fn lane(&self, family: Family, index: usize) -> f64 {
        self.group_top(family) + LANE * (f64::from(u32::try_from(index).unwrap_or(0)) + 0.6)
    }

    fn bottom(&self) -> f64 {
        self.group_top(Family::V6) + self.lanes() * LANE + 6.0
    }
}
