//! Questions and answers as they stand on the wire, and what is no neighbour's message.

use super::*;
use crate::frame::{self, Frame};
use crate::snapshot::Reason;
use crate::testing::*;

const STRANGER: MacAddress = MacAddress([2, 0, 0, 0, 2, 0]);

/// A neighbour solicitation.
fn solicitation(from: &str, target: &str) -> Vec<u8> {
    let read = |text: &str| text.parse::<Ipv6Addr>().expect("an address");
    let mut frame = vec![0; ETHERNET + 40 + MESSAGE];
    solicit(&mut frame, STRANGER, read(from), read(target));
    frame
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
    assert_eq!(
        read_arp(&answers[0]).and_then(|heard| heard.speaker),
        Some(Neighbour { address: v4("10.0.0.254"), mac: own(0) })
    );
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
            assert_eq!(
                heard.speaker,
                Some(Neighbour { address: target.parse().expect("an address"), mac: own(0) })
            );
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
        heard.asks
            && heard.target == v4("fd00::9")
            && heard.speaker == Some(Neighbour { address: v4("fd00::fe"), mac: own(0) })
    );
    assert_eq!(asked[0][..6], [0x33, 0x33, 0xff, 0, 0, 9]);
    // Its packet has left the line before the answer comes.
    assert_eq!(bench.depart(500_000, 0, 9).len(), 0);
    let mut answer = vec![0; ETHERNET + 40 + MESSAGE];
    let (from, to) = ("fd00::9".parse().expect("an address"), "fd00::fe".parse().expect("an address"));
    let message =
        Message { kind: ADVERTISEMENT, flags: 0x60, target: from, from, own: STRANGER, to, device: own(0) };
    message.write(&mut answer);
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
    // 64 waited for the answer, and the others found no room among them.
    assert_eq!(class(&bench).dropped[&Reason::NoNeighbour].packets, 64);
    assert_eq!(class(&bench).dropped[&Reason::NeighbourQueueFull].packets, 36);
    // While it is silent nothing is queued for it, and the sender is told.
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
