//! A tour of the lab: `cargo run -p lab --example tour`, as root or as anybody.

use std::net::IpAddr;
use std::time::Duration;

use lab::peers::{Instance, Keepalived};
use lab::{Error, Lab, within};

const SOON: Duration = Duration::from_secs(10);

fn main() -> Result<(), Error> {
    let privilege = lab::enter()?;
    let peer = Keepalived::available()?;
    println!("{privilege:?}, {peer}");

    // Two routers and a client on a segment, and everything on it recorded.
    let lab = Lab::new()?;
    let bridge = lab.bridge("lan")?;
    let a = lab.host("a", &bridge, &["10.0.0.1/24"])?;
    let b = lab.host("b", &bridge, &["10.0.0.2/24"])?;
    let client = lab.host("client", &bridge, &["10.0.0.9/24"])?;
    let capture = bridge.capture()?;

    // Two keepalived share a VIP; the client asks every 5 ms who has it.
    let vip: IpAddr = [10, 0, 0, 100].into();
    let router = |priority| {
        let interval = Duration::from_millis(100);
        let vips = vec!["10.0.0.100/24".into()];
        Keepalived::new([Instance { priority, interval, vips, ..Instance::default() }])
    };
    let _echoes = [a.echo()?, b.echo()?];
    let _running = [router(200).start(&a)?, router(100).start(&b)?];
    let probe = client.probe(vip, Duration::from_millis(5))?;
    within(SOON, "the client hears a", || probe.owner().as_deref() == Some("a"))?;
    println!("a has the VIP; look around with\n  {}", a.nsenter());

    // The cable of its owner is pulled.
    a.link_down()?;
    within(SOON, "the client hears b", || probe.owner().as_deref() == Some("b"))?;

    for stretch in probe.finish()?.timeline() {
        let owner = stretch.owner.as_deref().unwrap_or("nobody");
        println!("{:>8.3} s  {owner}", stretch.from.as_secs_f64());
    }
    let adverts = capture.frames().iter().filter(|f| f.vrrp().is_some()).count();
    println!("{adverts} advertisements, {} frames lost by the capture", capture.lost());
    Ok(())
} // everything is gone
