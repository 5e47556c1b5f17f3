//! Questions and answers as they stand on the wire, and what is no neighbour's message.

use super::*;
use crate::DeviceFacts;
use crate::frame::{self, Frame};
use crate::snapshot::Reason;
use crate::testing::*;

const STRANGER: MacAddress = MacAddress([2, 0, 0, 0, 2, 0]);

/// A neighbour solicitation.
fn solicitation(from: &str, target: &str) -> Vec<u8> {
    let read = |text: &str| text.parse::<Ipv6Addr>().expect("an address");
    let mut frame = vec![0; ETHERNET + 40 + MESSAGE];
    solicit(&mut frame, STRANGER, read(from), read(target), None);
    frame
}

/// A neighbour advertisement of `fd00::9` to the router.
fn advertisement(own: MacAddress, flags: u8) -> Vec<u8> {
    let mut frame = vec![0; ETHERNET + 40 + MESSAGE];
    let (from, to) = ("fd00::9".parse().expect("an address"), "fd00::fe".parse().expect("an address"));
    let (kind, device) = (ADVERTISEMENT, crate::testing::own(0));
    Message { kind, flags, target: from, from, own, to, device }.write(&mut frame);
    frame
}

fn speaker(address: &str, mac: MacAddress, answers: bool) -> Option<Speaker> {
    Some(Speaker { address: v4(address), mac: Some(mac), answers, overrides: true })
}

#[test]
fn arp_questions_about_the_router_are_answered() {
    let mut bench = Bench::new(router("fifo"));
    bench.arrive(7, 0, &arp(true, ("10.0.0.9", STRANGER), "10.0.0.254"));
    assert_eq!(bench.wake(), Some(7));
    let answers = bench.depart(7, 0, 9);
    let mut expected = arp(false, ("10.0.0.254", own(0)), "10.0.0.9");
    expected[..6].copy_from_slice(&STRANGER.0);
    expected[ETHERNET + 18..ETHERNET + 24].copy_from_slice(&STRANGER.0);
    assert_eq!(answers, [expected]);
    // Who asked is known from then on.
    bench.datagram(8, 1, &Udp::new("10.0.1.1", "10.0.0.9", 72));
    let sent = bench.run(0, 1_000_000);
    assert_eq!(
        sent.iter().map(|(at, frame)| (*at, mac(frame, 0))).collect::<Vec<_>>(),
        [(100_008, STRANGER)]
    );
    bench.holds(1_000_000);
}

#[test]
fn questions_about_others_are_not_answered_and_teach_nothing() {
    let mut bench = Bench::new(router("fifo"));
    bench.arrive(0, 0, &arp(true, ("10.0.0.9", STRANGER), "10.0.0.8"));
    bench.arrive(0, 0, &arp(true, ("0.0.0.0", STRANGER), "10.0.0.8"));
    bench.arrive(0, 0, &arp(false, ("10.0.0.254", STRANGER), "10.0.0.8"));
    assert_eq!((bench.wake(), bench.arena.free()), (None, FRAMES));
    bench.datagram(1, 1, &Udp::new("10.0.1.1", "10.0.0.9", 72));
    assert_eq!(
        bench.depart(1, 0, 9),
        [{
            let mut question = arp(true, ("10.0.0.254", own(0)), "10.0.0.9");
            question[6..12].copy_from_slice(&own(0).0);
            question
        }]
    );
    assert_eq!(bench.snapshot(1).interfaces[0].originated.packets, 1);
}

#[test]
fn an_arp_probe_is_answered() {
    let mut bench = Bench::new(router("fifo"));
    bench.arrive(0, 0, &arp(true, ("0.0.0.0", STRANGER), "10.0.0.254"));
    let answers = bench.depart(0, 0, 9);
    assert_eq!(read_arp(&answers[0]).and_then(|heard| heard.speaker), speaker("10.0.0.254", own(0), true));
}

fn v4(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

#[test]
fn neighbour_solicitations_are_answered() {
    for target in ["fd00:0::fe".to_owned(), link_local(own(0)).to_string()] {
        for (asker, to) in [("fd00::9", STRANGER), ("::", MacAddress([0x33, 0x33, 0, 0, 0, 1]))] {
            let mut bench = Bench::new(router("fifo"));
            bench.arrive(0, 0, &solicitation(asker, &target));
            let answers = bench.depart(0, 0, 9);
            assert_eq!((answers.len(), mac(&answers[0], 0)), (1, to), "{asker} {target}");
            let Ok(Frame::Ip(packet)) = frame::read(&answers[0]) else { panic!("{answers:?}") };
            let heard = read_neighbour(&answers[0], &packet).expect("an advertisement");
            assert!(!heard.asks);
            // To all goes what is no answer.
            assert_eq!(heard.speaker, speaker(&target, own(0), to == STRANGER));
            bench.holds(0);
        }
    }
}

#[test]
fn a_neighbour_of_ipv6_is_asked_for_and_believed() {
    let mut bench = Bench::new(router("fifo"));
    bench.datagram(0, 1, &Udp::new("fd00:1::1", "fd00::9", 52));
    let asked = bench.depart(0, 0, 9);
    let Ok(Frame::Ip(packet)) = frame::read(&asked[0]) else { panic!("{asked:?}") };
    let heard = read_neighbour(&asked[0], &packet).expect("a solicitation");
    assert!(
        heard.asks && heard.target == v4("fd00::9") && heard.speaker == speaker("fd00::fe", own(0), false)
    );
    assert_eq!(asked[0][..6], [0x33, 0x33, 0xff, 0, 0, 9]);
    // Its packet has left the line before the answer comes.
    assert_eq!(bench.depart(500_000, 0, 9).len(), 0);
    let answer = advertisement(STRANGER, SOLICITED | OVERRIDE);
    bench.arrive(600_000, 0, &answer);
    assert_eq!(bench.wake(), Some(600_000));
    let sent = bench.depart(600_000, 0, 9);
    assert_eq!((sent.len(), mac(&sent[0], 0), sent[0].len()), (1, STRANGER, 114));
    bench.holds(600_000);
}

#[test]
fn who_does_not_answer_gets_nothing() {
    let mut bench = Bench::new(router("fifo"));
    for _ in 0..100 {
        bench.datagram(0, 1, &Udp::new("10.0.1.1", "10.0.0.9", 72));
    }
    let questions = bench.run(0, 4_000_000_000);
    assert_eq!(questions.len(), 3);
    let class = |bench: &Bench| bench.snapshot(0).interfaces[0].classes[0].clone();
    // A 24th of the frames may wait for neighbours here: the last ten did until the end.
    assert_eq!(class(&bench).dropped[&Reason::NoNeighbour].packets, 10);
    assert_eq!(class(&bench).dropped[&Reason::NeighbourQueueFull].packets, 90);
    // While it is silent nothing is queued for it, and the sender gets a report.
    bench.datagram(4_000_000_000, 1, &Udp::new("10.0.1.1", "10.0.0.9", 72));
    assert_eq!(bench.snapshot(0).interfaces[1].refused[&Reason::NoNeighbour].packets, 1);
    assert_eq!(bench.depart(4_000_000_000, 1, 9).len(), 1);
    assert_eq!(bench.arena.free(), FRAMES);
    bench.holds(4_000_000_000);
}

#[test]
fn messages_that_are_not_to_be_believed() {
    let good = solicitation("fd00::9", "fd00::fe");
    let read = |frame: &[u8]| match frame::read(frame) {
        Ok(Frame::Ip(packet)) => read_neighbour(frame, &packet),
        _ => None,
    };
    assert!(read(&good).is_some());
    for (at, value) in [
        (ETHERNET + 7, 254),   // It has passed a router.
        (ETHERNET + 40, 134),  // Of another type.
        (ETHERNET + 41, 1),    // Of another code.
        (ETHERNET + 48, 0xff), // A target that is many.
        (ETHERNET + 43, 1),    // A wrong checksum.
    ] {
        let mut bad = good.clone();
        bad[at] = value;
        if at != ETHERNET + 43 {
            write_icmpv6_checksum(&mut bad);
        }
        assert_eq!(read(&bad), None, "{at}");
    }
    // An option without length ends the options.
    let mut bad = good.clone();
    bad[ETHERNET + 40 + 25] = 0;
    write_icmpv6_checksum(&mut bad);
    assert_eq!(read(&bad).map(|heard| heard.speaker), Some(None));
    for length in 0..ETHERNET + ARP_LENGTH {
        assert_eq!(read_arp(&arp(true, ("10.0.0.9", STRANGER), "10.0.0.254")[..length]), None);
    }
}

/// The device that a packet to a neighbour is sent to; nothing where it waits.
fn reached(bench: &mut Bench, now: u64, to: &str) -> Option<MacAddress> {
    let from = if to.contains(':') { "fd00:1::1" } else { "10.0.1.1" };
    bench.datagram(now, 1, &Udp::new(from, to, 40));
    let sent = bench.run(0, now + 1_000_000);
    sent.iter().find(|(_, frame)| frame[frame.len() - 1] == 0x5a).map(|(_, frame)| mac(frame, 0))
}

const OTHER: MacAddress = MacAddress([2, 0, 0, 0, 2, 1]);
const SECOND: u64 = 1_000_000_000;

#[test]
fn a_neighbour_with_another_device_is_believed_at_once() {
    let gratuitous = |asks| arp(asks, ("10.0.0.9", OTHER), "10.0.0.9");
    let question = arp(true, ("10.0.0.9", OTHER), "10.0.0.254");
    let elsewhere = arp(true, ("10.0.0.9", OTHER), "10.0.0.8");
    for said in [gratuitous(true), gratuitous(false), question, elsewhere] {
        let mut bench = Bench::new(router("fifo"));
        bench.arrive(0, 0, &arp(true, ("10.0.0.9", STRANGER), "10.0.0.254"));
        assert_eq!(reached(&mut bench, 1, "10.0.0.9"), Some(STRANGER));
        bench.arrive(SECOND, 0, &said);
        assert_eq!(reached(&mut bench, SECOND, "10.0.0.9"), Some(OTHER));
        bench.holds(2 * SECOND);
    }
}

#[test]
fn an_advertisement_overrides_where_it_says_so() {
    for (flags, expected) in [(0, STRANGER), (SOLICITED, STRANGER), (OVERRIDE, OTHER)] {
        let mut bench = Bench::new(router("fifo"));
        assert_eq!(reached(&mut bench, 0, "fd00::9"), None);
        bench.arrive(SECOND / 2, 0, &advertisement(STRANGER, SOLICITED));
        assert_eq!(bench.run(0, SECOND).len(), 1);
        bench.arrive(SECOND, 0, &advertisement(OTHER, flags));
        assert_eq!(reached(&mut bench, SECOND, "fd00::9"), Some(expected), "{flags:#x}");
        bench.holds(2 * SECOND);
    }
}

#[test]
fn a_probe_goes_to_the_neighbour_alone_and_need_not_repeat_its_device() {
    let mut bench = Bench::new(router("fifo"));
    bench.arrive(0, 0, &solicitation("fd00::9", "fd00::fe"));
    assert_eq!(reached(&mut bench, 0, "fd00::9"), Some(STRANGER));
    let probe = bench.run(0, 5 * SECOND).pop().expect("after five seconds").1;
    assert_eq!((mac(&probe, 0), &probe[38..54]), (STRANGER, &v6("fd00::9").octets()[..]));
    let mut answer = advertisement(STRANGER, SOLICITED);
    answer.truncate(ETHERNET + 40 + 24);
    answer[18..20].copy_from_slice(&[0, 24]);
    write_icmpv6_checksum(&mut answer);
    bench.arrive(5 * SECOND + 1, 0, &answer);
    // No further probe.
    assert_eq!(bench.run(0, 30 * SECOND), []);
    assert_eq!(reached(&mut bench, 30 * SECOND, "fd00::9"), Some(STRANGER));
}

fn v6(text: &str) -> Ipv6Addr {
    text.parse().expect("an address")
}

#[test]
fn another_device_has_other_neighbours() {
    let changes: [fn(&mut DeviceFacts); 4] = [
        |facts| facts.mac = STRANGER,
        |facts| facts.index += 9,
        |facts| facts.carrier_changes += 2,
        |facts| facts.up = false,
    ];
    for change in changes {
        let mut bench = Bench::new(router("fifo"));
        bench.arrive(0, 0, &arp(true, ("10.0.0.9", STRANGER), "10.0.0.254"));
        assert_eq!(reached(&mut bench, 0, "10.0.0.8"), None);
        let mut facts = device(0);
        facts.mtu = 1400;
        bench.plane.device(0, facts);
        assert_eq!(reached(&mut bench, SECOND / 2, "10.0.0.9"), Some(STRANGER));
        change(&mut facts);
        bench.plane.device(0, facts);
        // What waited asks again where the device is up, and is lost where it is not.
        let questions = bench.run(0, SECOND * 3 / 4).len();
        assert_eq!((questions, bench.plane.waiting()), if facts.up { (1, 1) } else { (0, 0) });
        bench.plane.device(0, DeviceFacts { up: true, ..facts });
        bench.datagram(SECOND, 1, &Udp::new("10.0.1.1", "10.0.0.9", 40));
        let sent = bench.run(0, SECOND);
        assert_eq!(mac(&sent[0].1, 0), MacAddress::BROADCAST);
        bench.holds(2 * SECOND);
    }
}

/// Two hundred neighbours are to be probed at one instant, and 128 questions wait at most.
#[test]
fn who_finds_no_room_for_a_question_asks_when_there_is() {
    let mut bench = Bench::new(router("fifo"));
    for last in 2..202 {
        bench.arrive(0, 1, &arp(true, (&format!("10.0.1.{last}"), STRANGER), "10.0.1.254"));
        bench.depart(0, 1, u32::MAX);
    }
    for last in 2..202 {
        bench.datagram(SECOND + last * 100_000, 0, &Udp::new("10.0.0.1", &format!("10.0.1.{last}"), 10));
    }
    let is_probe = |(at, frame): &(u64, Vec<u8>)| *at > 5 * SECOND && frame[12..14] == [8, 6];
    let probed = bench.run(1, 6 * SECOND + SECOND / 2).iter().filter(|sent| is_probe(sent)).count();
    assert_eq!(probed, 200);
}

#[test]
fn a_reload_makes_room_for_more_neighbours_and_loses_nothing() {
    let mut bench = Bench::new(router("fifo"));
    bench.arrive(0, 0, &arp(true, ("10.0.0.9", STRANGER), "10.0.0.254"));
    assert_eq!(reached(&mut bench, 0, "10.0.0.8"), None);
    assert_eq!(bench.plane.waiting(), 1);
    let told = crate::config::Router { most_neighbours: 65_536, ..router("fifo") };
    bench.plane.reload(weir_core::units::Instant::new(SECOND / 2), told, &mut bench.arena).expect("a router");
    // What waited asks anew, and who was known is asked for.
    assert_eq!((bench.run(0, SECOND * 3 / 4).len(), bench.plane.waiting()), (1, 1));
    assert_eq!(reached(&mut bench, SECOND, "10.0.0.9"), None);
    bench.holds(2 * SECOND);
}
