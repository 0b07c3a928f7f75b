//! Own a virtual address from a blocking program: start a node, watch it, resign.
//!
//! ```text
//! embed_node INTERFACE VRID PRIORITY VIP [SECONDS]
//! ```
//!
//! Needs CAP_NET_ADMIN and CAP_NET_RAW.

use std::error::Error;
use std::time::Duration;

use vrrp_core::{Config, Priority, VirtualAddrs, Vrid};
use vrrp_net::{EventKind, Node, ResignMode, RouterConfig};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [interface, vrid, priority, vip, rest @ ..] = args.as_slice() else {
        return Err("usage: embed_node INTERFACE VRID PRIORITY VIP [SECONDS]".into());
    };
    let protocol = Config::builder(
        Vrid::new(vrid.parse()?).ok_or("a VRID is 1 to 255")?,
        VirtualAddrs::new(&[vip.parse()?])?,
    )
    .priority(Priority::new(priority.parse()?).ok_or("a priority is 1 to 255")?)
    .build()?;
    let router = RouterConfig::builder("example".parse()?, interface.parse()?, protocol).build()?;
    let seconds = rest.first().map_or(Ok(10), |seconds| seconds.parse())?;

    let node = Node::builder().router(router).start()?;
    let mut events = node.events();
    std::thread::spawn(move || {
        while let Ok(event) = events.next_blocking() {
            match event.kind {
                EventKind::Protocol(what) => println!("{} {}: {what:?}", event.at, event.router),
                EventKind::Notice(what) => println!("{} {}: {what:?}", event.at, event.router),
                _ => {}
            }
        }
    });
    std::thread::sleep(Duration::from_secs(seconds));
    println!("{:?}", node.resign_blocking(ResignMode::Hold, Duration::from_secs(3)));
    Ok(())
}
