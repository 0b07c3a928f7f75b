use std::fmt::Write;
use std::fs;
use std::io;
use std::process::Command;
use std::time::Duration;

use nix::mount::{MsFlags, mount};

use crate::namespace::sysctl;
use crate::{Cidr, Error, Host, Mac, Process, Unavailable, netlink, within};

const ZEBRA: &str = "/usr/lib/frr/zebra";
const VRRPD: &str = "/usr/lib/frr/vrrpd";

/// One virtual router of FRR's vrrpd, of one or both families.
#[derive(Debug, Clone)]
pub struct FrrRouter {
    /// VRRP version, 2 (IPv4 only) or 3. Default 3.
    pub version: u8,
    /// Default 51.
    pub vrid: u8,
    /// 1 to 254. Default 100.
    pub priority: u8,
    /// Advertisement interval: whole seconds in version 2, tens of milliseconds in
    /// version 3. Default 1 s.
    pub interval: Duration,
    /// The virtual addresses of both families, such as `10.0.0.100/24`.
    pub vips: Vec<String>,
    /// Whether a higher priority takes over from a living Active. Default true.
    pub preempt: bool,
}

impl Default for FrrRouter {
    fn default() -> Self {
        Self {
            version: 3,
            vrid: 51,
            priority: 100,
            interval: Duration::from_secs(1),
            vips: Vec::new(),
            preempt: true,
        }
    }
}

/// A running zebra and vrrpd.
///
/// FRR keeps the VIPs on macvlan interfaces with the virtual MAC, `vrrp4-VRID` and
/// `vrrp6-VRID`, also while Backup; what comes and goes with the Active state is their
/// carrier, see [`is_active`](Self::is_active). They stay when FRR ends.
#[derive(Debug)]
pub struct Frr {
    /// The daemon that speaks VRRP.
    pub vrrpd: Process,
    /// The daemon that it configures interfaces through.
    pub zebra: Process,
    host: Host,
}

impl Frr {
    /// The installed version.
    ///
    /// # Errors
    ///
    /// When zebra or vrrpd does not run here.
    pub fn available() -> Result<String, Unavailable> {
        super::version(ZEBRA, "--version")?;
        super::version(VRRPD, "--version")
    }

    /// Makes the macvlan interfaces on `eth0` and starts zebra and vrrpd.
    ///
    /// # Errors
    ///
    /// When an address is not one, an interface cannot be made, or zebra does not come
    /// up within 10 s.
    pub fn start(host: &Host, routers: &[FrrRouter]) -> Result<Self, Error> {
        host.netlink("users for FRR", become_frr)?;
        // Else eth0 answers ARP for the VIPs of its macvlans, and asks in their name, with
        // its own MAC address: an administrator of FRR has to set this as well.
        host.netlink("ARP for FRR", || {
            sysctl("ipv4/conf/eth0/arp_ignore", "1")?;
            sysctl("ipv4/conf/eth0/arp_announce", "2")
        })?;
        for router in routers {
            router.make_interfaces(host)?;
        }
        let config = routers.iter().fold("interface eth0\n".to_owned(), |mut text, router| {
            // Writing to a string cannot fail.
            let _ = router.write(&mut text);
            text
        });
        host.write("vrrpd.conf", config)?;
        host.write("zebra.conf", "")?;

        let zebra = host.spawn(daemon(ZEBRA, "zebra"))?;
        let socket = host.run_dir().join("frr/zserv.api");
        within(Duration::from_secs(10), "zebra opens its socket", || socket.exists())?;
        let vrrpd = host.spawn(daemon(VRRPD, "vrrpd"))?;
        Ok(Self { vrrpd, zebra, host: host.clone() })
    }

    /// Whether the virtual router of this family is Active.
    ///
    /// # Errors
    ///
    /// When it has no interface.
    pub fn is_active(&self, vrid: u8, ipv6: bool) -> Result<bool, Error> {
        self.host.carrier(&interface(vrid, ipv6))
    }

    /// Asks vrrpd through its terminal, as in `show vrrp json`.
    ///
    /// # Errors
    ///
    /// When vtysh fails.
    pub fn show(&self, what: &str) -> Result<String, Error> {
        self.host.exec(["vtysh", "--vty_socket", "/run/frr", "-d", "vrrpd", "-c", what])
    }
}

impl FrrRouter {
    fn make_interfaces(&self, host: &Host) -> Result<(), Error> {
        let vips = self.vips.iter().map(|v| v.parse()).collect::<Result<Vec<Cidr>, _>>()?;
        for ipv6 in [false, true] {
            let vips: Vec<Cidr> = vips.iter().copied().filter(|v| v.ip.is_ipv6() == ipv6).collect();
            if vips.is_empty() {
                continue;
            }
            let name = interface(self.vrid, ipv6);
            let mac = Mac([0, 0, 0x5e, 0, if ipv6 { 2 } else { 1 }, self.vrid]);
            host.netlink(&format!("interface {name}"), || {
                netlink::add_macvlan(&name, netlink::index("eth0")?, mac)?;
                // All routers have the virtual MAC: an address made from it would be a
                // duplicate. 3 is a random one.
                sysctl(&format!("ipv6/conf/{name}/addr_gen_mode"), "3")?;
                let index = netlink::index(&name)?;
                netlink::set_up(index, true)?;
                vips.iter().try_for_each(|&vip| netlink::add_address(index, vip))
            })?;
        }
        Ok(())
    }

    fn write(&self, to: &mut String) -> std::fmt::Result {
        let vrid = self.vrid;
        writeln!(to, " vrrp {vrid} version {}", self.version)?;
        writeln!(to, " vrrp {vrid} priority {}", self.priority)?;
        writeln!(to, " vrrp {vrid} advertisement-interval {}", self.interval.as_millis())?;
        if !self.preempt {
            writeln!(to, " no vrrp {vrid} preempt")?;
        }
        for vip in &self.vips {
            let ip = vip.split('/').next().unwrap_or_default();
            let family = if ip.contains(':') { "ipv6" } else { "ip" };
            writeln!(to, " vrrp {vrid} {family} {ip}")?;
        }
        Ok(())
    }
}

fn interface(vrid: u8, ipv6: bool) -> String {
    format!("vrrp{}-{vrid}", if ipv6 { 6 } else { 4 })
}

/// FRR changes to the user `frr`, which a user namespace with a single user cannot, and
/// which would make the kernel forget to kill it with us. On this host `frr` is root.
///
/// Runs on a thread inside the host, so the bind mounts are seen there only.
fn become_frr() -> io::Result<()> {
    fs::create_dir_all("/run/frr")?;
    let users = fs::read_to_string("/etc/passwd")?;
    let groups = fs::read_to_string("/etc/group")?;
    let as_root = |file: &str, is: &dyn Fn(&str) -> bool, ids: &str| {
        let lines = file.lines().map(|line| match line.splitn(4, ':').collect::<Vec<_>>()[..] {
            [name, ..] if is(name) => format!("{name}:x:{ids}"),
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    let users = as_root(&users, &|n| n == "frr", "0:0::/run/frr:/bin/sh");
    let groups = as_root(&groups, &|n| n == "frr" || n == "frrvty", "0:frr");
    for (path, contents) in [("/etc/passwd", users), ("/etc/group", groups)] {
        let ours = format!("/run/frr{}", path.replace('/', "-"));
        fs::write(&ours, contents)?;
        let none: Option<&str> = None;
        mount(Some(ours.as_str()), path, none, MsFlags::MS_BIND, none)?;
    }
    Ok(())
}

fn daemon(program: &str, name: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["-f", &format!("/run/{name}.conf"), "-i", &format!("/run/frr/{name}.pid")]);
    command.args(["-z", "/run/frr/zserv.api", "--vty_socket", "/run/frr", "-P", "0"]);
    command.args(["--log", "stdout", "--log-level", "informational"]);
    command
}
