//! Packets of another router, made by hand: nothing here shares code with the library.

use std::net::Ipv4Addr;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use lab::Host;
use socket2::{Domain, Protocol, Socket, Type};

use crate::advert::Style;

const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 18);

/// A version 3 advertisement over IPv4.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its source, an address of the injecting host.
    pub source: Ipv4Addr,
    /// Its destination.
    pub destination: Ipv4Addr,
    /// Its priority.
    pub priority: u8,
    /// Its interval.
    pub interval: Duration,
    /// How it is summed.
    pub style: Style,
    /// What the checksum is XORed with: 0 for a right one.
    pub spoil: u16,
}

/// Sends a message again and again until it is dropped.
pub struct Injector {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Message {
    /// From the injector to the group, VRID 51, VIP 10.0.0.50, every 200 ms.
    pub fn new(priority: u8, style: Style) -> Self {
        let (source, interval) = (Ipv4Addr::new(10, 0, 0, 9), Duration::from_millis(200));
        Self { source, destination: GROUP, priority, interval, style, spoil: 0 }
    }

    fn bytes(&self) -> Vec<u8> {
        let interval = (self.interval.as_millis() / 10) as u16;
        let [high, low] = interval.to_be_bytes();
        let mut bytes = vec![0x31, 51, self.priority, 1, high, low, 0, 0, 10, 0, 0, 50];
        let pseudo = [&self.source.octets()[..], &self.destination.octets(), &[0, 112, 0, 12]];
        let parts = match self.style {
            Style::Message => bytes.clone(),
            Style::PseudoHeader => [&pseudo.concat()[..], &bytes].concat(),
        };
        let sum: u32 =
            parts.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        let sum = !((folded & 0xffff) + (folded >> 16)) as u16 ^ self.spoil;
        bytes[6..8].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
}

impl Injector {
    /// Starts to send from `host`, at the pace that the message states.
    pub fn start(host: &Host, message: &Message) -> Self {
        let open = || {
            let protocol = Protocol::from(112);
            let socket = Socket::new(Domain::IPV4, Type::RAW, Some(protocol)).unwrap();
            socket.set_ttl_v4(255).unwrap();
            socket.set_multicast_ttl_v4(255).unwrap();
            socket.set_multicast_if_v4(&message.source).unwrap();
            socket.bind(&std::net::SocketAddr::new(message.source.into(), 0).into()).unwrap();
            socket
        };
        let socket = host.run(open).unwrap();
        let (message, bytes) = (message.clone(), message.bytes());
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let to = std::net::SocketAddr::new(message.destination.into(), 0).into();
            while stopped.recv_timeout(message.interval) == Err(RecvTimeoutError::Timeout) {
                socket.send_to(&bytes, &to).unwrap();
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
