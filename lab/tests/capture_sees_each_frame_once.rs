//! A judge counts frames: each is there once, with its sender and in order.

use std::net::UdpSocket;
use std::time::Duration;

use lab::{Direction, Lab};

const SOON: Duration = Duration::from_secs(5);

/// Sends `count` numbered broadcasts from `from`.
fn broadcast(from: &lab::Host, count: u32) {
    from.run(|| {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.set_broadcast(true).unwrap();
        for number in 0..count {
            socket.send_to(format!("no {number:06}").as_bytes(), "10.0.0.255:9").unwrap();
        }
    })
    .unwrap();
}

fn number(frame: &lab::Frame) -> Option<u32> {
    let tail = frame.data.get(frame.data.len() - 9..)?;
    std::str::from_utf8(tail).ok()?.strip_prefix("no ")?.parse().ok()
}

#[test]
fn every_broadcast_is_there_once_with_its_sender() {
    lab::require!();
    let lab = Lab::new().unwrap();
    let bridge = lab.bridge("lan").unwrap();
    let a = lab.host("a", &bridge, &["10.0.0.1/24"]).unwrap();
    let b = lab.host("b", &bridge, &["10.0.0.2/24"]).unwrap();
    let _c = lab.host("c", &bridge, &["10.0.0.3/24"]).unwrap();
    let capture = bridge.capture().unwrap();
    broadcast(&a, 500);
    broadcast(&b, 3);
    capture.wait_for(SOON, |f| &*f.port == "b" && number(f) == Some(2)).expect("the last frame");

    let frames = capture.frames();
    let numbers = |port| -> Vec<u32> {
        frames.iter().filter(|f| &*f.port == port).filter_map(number).collect()
    };
    assert_eq!(numbers("a"), (0..500).collect::<Vec<_>>());
    assert_eq!(numbers("b"), [0, 1, 2]);
    assert_eq!(numbers("c"), []);
    assert_eq!(capture.lost(), 0);
    assert!(frames.is_sorted_by_key(|f| f.at), "kernel timestamps are in order");
    assert!(frames.iter().all(|f| f.at < capture.now()));
}

#[test]
fn a_swallowed_frame_is_seen_where_it_was_sent_only() {
    lab::require!();
    let lab = Lab::new().unwrap();
    let bridge = lab.bridge("lan").unwrap();
    let a = lab.host("a", &bridge, &["10.0.0.1/24"]).unwrap();
    let b = lab.host("b", &bridge, &["10.0.0.2/24"]).unwrap();
    let on_bridge = bridge.capture().unwrap();
    let on_a = a.capture("eth0").unwrap();
    let on_b = b.capture("eth0").unwrap();

    broadcast(&a, 1);
    on_b.wait_for(SOON, |f| number(f) == Some(0)).expect("a frame at b");
    a.port_disable().unwrap();
    broadcast(&a, 2);
    on_bridge.wait_for(SOON, |f| number(f) == Some(1)).expect("the last frame");

    assert_eq!(on_bridge.frames().iter().filter_map(number).count(), 3);
    assert_eq!(on_b.frames().iter().filter_map(number).count(), 1);
    let at_a = on_a.frames();
    let sent: Vec<_> = at_a.iter().filter(|f| number(f).is_some()).collect();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|f| f.direction == Direction::Out && &*f.port == "eth0"));
}

#[test]
fn a_recreated_interface_is_captured_again() {
    lab::require!();
    let lab = Lab::new().unwrap();
    let bridge = lab.bridge("lan").unwrap();
    let a = lab.host("a", &bridge, &["10.0.0.1/24"]).unwrap();
    let capture = bridge.capture().unwrap();
    a.delete_interface().unwrap();
    a.recreate_interface().unwrap();
    broadcast(&a, 1);
    let frame = capture.wait_for(SOON, |f| number(f) == Some(0)).expect("a frame from a");
    assert_eq!((&*frame.port, frame.src_mac()), ("a", a.mac("eth0").unwrap()));
}

#[test]
fn the_file_is_read_by_tcpdump() {
    lab::require!();
    let lab = Lab::new().unwrap();
    let bridge = lab.bridge("lan").unwrap();
    let a = lab.host("a", &bridge, &["10.0.0.1/24"]).unwrap();
    let capture = bridge.capture().unwrap();
    broadcast(&a, 7);
    capture.wait_for(SOON, |f| number(f) == Some(6)).expect("the last frame");
    let file = a.run_dir().join("lan.pcap");
    capture.write_pcap(&file).unwrap();
    let text = match a.exec(["tcpdump", "-nr", "/run/lan.pcap", "--nano", "udp", "port", "9"]) {
        Ok(text) => text,
        Err(lab::Error::Io { .. }) => return eprintln!("skipped: no tcpdump"),
        Err(e) => panic!("{e}"),
    };
    assert_eq!(text.matches("10.0.0.255.9: UDP, length 9").count(), 7, "{text}");
}
