//! Promise (B06): version 3 over IPv4 works beside routers of either reading of its checksum. Both
//! styles are accepted in every mode and a wrong sum in none; `auto` answers in the style that it
//! hears, and the other modes send what they say.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use lab::Checksum;
use promises::{
    Family, Injector, Message, Router, SOON, Segment, Style, adverts_of, vipd, wait_for_advert,
};

fn router(mode: &str) -> Router {
    let more = format!("checksum = \"{mode}\"");
    Router { more, ..Router::new(100, Family::V4) }
}

/// What a router of this mode sends before and after it has heard adverts of this style.
fn b06(mode: &str, heard: Style, alone: Checksum, after: Checksum) {
    let segment = Segment::new();
    let Segment { bridge, b, x, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let _vipd = vipd!().start(b, &router(mode).toml()).unwrap();
    let first = wait_for_advert(&capture, Duration::ZERO, b, |_| true);
    assert_eq!(first.seen.checksum, alone, "before anything was heard");

    // Accepted: the better router is obeyed, at its first advertisement.
    let better = Message::new(200, heard);
    let injector = Injector::start(x, &better);
    let obeyed = wait_for_advert(&capture, first.at, x, |_| true);
    let vip = Family::V4.vip();
    lab::eventually(SOON, "b yields", || !b.has(vip).unwrap());
    wait_for_advert(&capture, obeyed.at + 8 * better.interval, x, |_| true);
    let sent = adverts_of(&capture, b);
    let since = |advert: &&promises::Advert| advert.at > obeyed.at + Duration::from_millis(150);
    assert!(!sent.iter().any(|advert| since(&advert)), "b is silent: {sent:?}");

    // It takes over from the silent one, and speaks as it heard.
    drop(injector);
    let last = adverts_of(&capture, x).pop().unwrap();
    let takeover = wait_for_advert(&capture, last.at, b, |_| true);
    assert_eq!(takeover.seen.checksum, after, "after {heard:?} was heard");
}

#[test]
fn b06_auto_begins_with_the_pseudo_header_and_keeps_to_it_among_its_like() {
    lab::require!();
    b06("auto", Style::PseudoHeader, Checksum::PseudoHeader, Checksum::PseudoHeader);
}

#[test]
fn b06_auto_follows_a_router_that_sums_the_message_only() {
    lab::require!();
    b06("auto", Style::Message, Checksum::PseudoHeader, Checksum::Message);
}

#[test]
fn b06_message_only_accepts_both_and_sends_one() {
    lab::require!();
    b06("message-only", Style::PseudoHeader, Checksum::Message, Checksum::Message);
    b06("message-only", Style::Message, Checksum::Message, Checksum::Message);
}

#[test]
fn b06_pseudo_header_accepts_both_and_sends_one() {
    lab::require!();
    b06("pseudo-header", Style::PseudoHeader, Checksum::PseudoHeader, Checksum::PseudoHeader);
    b06("pseudo-header", Style::Message, Checksum::PseudoHeader, Checksum::PseudoHeader);
}

#[test]
fn b06_auto_follows_a_lower_router_too_although_it_does_not_obey_it() {
    lab::require!();
    let segment = Segment::new();
    let Segment { bridge, b, x, .. } = &segment;
    let capture = bridge.capture().unwrap();
    let _vipd = vipd!().start(b, &router("auto").toml()).unwrap();
    wait_for_advert(&capture, Duration::ZERO, b, |s| s.checksum == Checksum::PseudoHeader);
    let _injector = Injector::start(x, &Message::new(50, Style::Message));
    wait_for_advert(&capture, Duration::ZERO, b, |s| s.checksum == Checksum::Message);
}

#[test]
fn b06_a_wrong_sum_is_accepted_in_no_mode_and_teaches_nothing() {
    lab::require!();
    for mode in ["auto", "message-only", "pseudo-header"] {
        let segment = Segment::new();
        let Segment { bridge, b, x, .. } = &segment;
        let capture = bridge.capture().unwrap();
        let wrong = Message { spoil: 1, ..Message::new(200, Style::Message) };
        let _injector = Injector::start(x, &wrong);
        let router = router(mode);
        let heard = wait_for_advert(&capture, Duration::ZERO, x, |_| true);
        assert_eq!(heard.seen.checksum, Checksum::Wrong);
        let _vipd = vipd!().start(b, &router.toml()).unwrap();
        let first = wait_for_advert(&capture, heard.at, b, |_| true);
        wait_for_advert(&capture, first.at + 5 * router.interval, x, |_| true);
        let later = wait_for_advert(&capture, first.at + 5 * router.interval, b, |_| true);
        let style = if mode == "message-only" { Checksum::Message } else { Checksum::PseudoHeader };
        assert_eq!((first.seen.checksum, later.seen.checksum), (style, style), "{mode}");
        assert!(b.has(Family::V4.vip()).unwrap(), "{mode}");
    }
}
