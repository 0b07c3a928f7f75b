//! The live view: one line per node on a terminal, plain lines otherwise.

use std::io::{IsTerminal as _, Write as _, stdout};
use std::time::Instant;

/// What a person sees while the steps are played.
pub(crate) struct View {
    live: bool,
    nodes: Vec<String>,
    started: Instant,
    shown: Vec<[bool; 2]>,
    lines: usize,
}

impl View {
    pub(crate) fn new(plain: bool, nodes: Vec<String>) -> Self {
        let live = !plain && stdout().is_terminal();
        println!("Three routers and a client; the client asks the virtual address every 5 ms.");
        Self { live, nodes, started: Instant::now(), shown: Vec::new(), lines: 0 }
    }

    pub(crate) fn step(&mut self, number: usize, of: usize, title: &str, explained: &str) {
        self.settle();
        let seconds = self.started.elapsed().as_secs_f64();
        println!("\n[{seconds:5.1} s] {number}/{of} {title}: {explained}");
    }

    /// Who has the addresses now, per node and family.
    pub(crate) fn owners(&mut self, owners: &[[bool; 2]]) {
        if self.shown == owners {
            return;
        }
        self.shown = owners.to_vec();
        if self.live {
            self.draw();
        } else {
            let seconds = self.started.elapsed().as_secs_f64();
            println!("[{seconds:5.1} s]   {}", self.line(owners));
        }
    }

    pub(crate) fn result(&mut self, owners: &[Vec<String>; 2]) {
        if owners.iter().any(|owners| owners.len() > 1) {
            self.settle();
            println!("          two nodes have the address");
        }
    }

    pub(crate) fn finish(&mut self) {
        self.settle();
    }

    /// Draws over what was drawn before.
    fn draw(&mut self) {
        let mut out = stdout().lock();
        if self.lines > 0 {
            // A terminal that went away needs no picture.
            let _ = write!(out, "\x1b[{}A", self.lines);
        }
        for (node, has) in self.nodes.iter().zip(&self.shown) {
            let mark = |has: bool, name: &str| {
                if has {
                    format!("\x1b[1;32m● {name}\x1b[0m")
                } else {
                    format!("\x1b[2m○ {name}\x1b[0m")
                }
            };
            let _ = writeln!(
                out,
                "\x1b[2K    {node}  {}  {}",
                mark(has[0], "IPv4"),
                mark(has[1], "IPv6")
            );
        }
        let _ = out.flush();
        self.lines = self.nodes.len();
    }

    /// What was drawn stays; the next drawing goes below.
    fn settle(&mut self) {
        self.lines = 0;
    }

    fn line(&self, owners: &[[bool; 2]]) -> String {
        let words: Vec<String> = self
            .nodes
            .iter()
            .zip(owners)
            .map(|(node, has)| match has {
                [true, true] => format!("{node} has both"),
                [true, false] => format!("{node} has IPv4"),
                [false, true] => format!("{node} has IPv6"),
                [false, false] => format!("{node} -"),
            })
            .collect();
        words.join(", ")
    }
}
