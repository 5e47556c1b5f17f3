use weir_core::units::{Instant, Rate};

use super::*;
use crate::config::Rule;
use crate::testing::{Bench, Udp, arp, device, next, own, router};
use crate::{DeviceFacts, Part, Plane};

const FRAMES: u32 = 256;
const CUSTOMER: u16 = 0x8100;
const SERVICE: u16 = 0x88a8;
/// The tags of each interface of [`trunk`].
const TAGS: [&[(u16, u16)]; 3] = [&[], &[(CUSTOMER, 100)], &[(SERVICE, 200), (CUSTOMER, 7)]];

/// The router of the other tests, whose three interfaces are of one device: without a tag, VLAN 100, and VLAN 7 within 200.
fn trunk(discipline: &str) -> Router {
    let mut router = router(discipline);
    for interface in &mut router.interfaces {
        interface.device = "if0".into();
        interface.rate = None;
    }
    router.interfaces[1].vlan = Some(Vlan { id: 100, outer: None });
    let outer = Some(Outer { id: 200, kind: TagType::Service });
    router.interfaces[2].vlan = Some(Vlan { id: 7, outer });
    router
}

fn bench(router: Router) -> Bench {
    let plane = Plane::new(router, &[device(0)], FRAMES, 1).expect("a router of one device");
    Bench { plane, arena: Arena::new(FRAMES).expect("memory") }
}

/// A frame with these tags: type and control information of each.
fn tagged(frame: &[u8], tags: &[(u16, u16)]) -> Vec<u8> {
    let tags: Vec<u8> =
        tags.iter().flat_map(|&(kind, control)| [kind, control]).flat_map(u16::to_be_bytes).collect();
    [&frame[..ADDRESSES], &tags, &frame[ADDRESSES..]].concat()
}

/// The same tags with a priority.
fn with_priority(tags: &[(u16, u16)], priority: u16) -> Vec<(u16, u16)> {
    tags.iter().map(|&(kind, id)| (kind, id | priority << 13)).collect()
}

fn across(from: usize, to: usize, size: usize) -> Vec<u8> {
    Udp::across(from, to, size).frame(own(0), next(from))
}

/// The tags of a frame, and the frame without them.
fn bare(frame: &[u8]) -> (Vec<(u16, u16)>, Vec<u8>) {
    let mut tags = Vec::new();
    while TagType::of(word(frame, ADDRESSES + 4 * tags.len())).is_some() {
        let at = ADDRESSES + 4 * tags.len();
        tags.push((word(frame, at), word(frame, at + 2)));
    }
    (tags.clone(), [&frame[..ADDRESSES], &frame[ADDRESSES + 4 * tags.len()..]].concat())
}

/// The only frame that leaves by an interface.
fn left(bench: &mut Bench, now: u64, interface: usize) -> (Vec<(u16, u16)>, Vec<u8>) {
    let frames = bench.depart(now, interface, u32::MAX);
    assert_eq!(frames.len(), 1, "of interface {interface}");
    bare(&frames[0])
}

#[test]
fn packets_are_routed_between_all_kinds_of_interfaces() {
    let mut bench = bench(trunk("fifo"));
    for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2), (1, 1), (2, 2)] {
        let frame = tagged(&across(from, to, 100), TAGS[from]);
        if from == to {
            // From another neighbour there, on a stick.
            let frame = tagged(&Udp::across(from, to, 100).frame(own(0), next(9)), TAGS[from]);
            bench.arrive(1, 0, &frame);
        } else {
            bench.arrive(1, 0, &frame);
        }
        let (tags, frame) = left(&mut bench, 1, to);
        assert_eq!(tags, TAGS[to], "{from} to {to}");
        assert_eq!((&frame[..6], &frame[6..12]), (&next(to).0[..], &own(0).0[..]));
        assert_eq!((frame.len(), frame[ETHERNET + 8]), (ETHERNET + 100, 63));
        bench.holds(1);
    }
    assert_eq!(bench.arena.free(), FRAMES);
}

#[test]
fn a_frame_is_of_the_interface_that_has_all_of_its_tags() {
    let known: [(&[(u16, u16)], usize); 4] =
        [(TAGS[0], 0), (TAGS[1], 1), (&[(CUSTOMER, 0xf000 | 100)], 1), (TAGS[2], 2)];
    for (tags, expected) in known {
        let mut bench = bench(trunk("fifo"));
        bench.arrive(0, 0, &tagged(&across(0, 0, 60), tags));
        let snapshot = bench.snapshot(0);
        let received: Vec<u64> = snapshot.interfaces.iter().map(|it| it.received.packets).collect();
        assert_eq!(received.iter().position(|&count| count == 1), Some(expected), "{tags:x?}");
    }
    let unknown: [&[(u16, u16)]; 11] = [
        &[(CUSTOMER, 101)],
        &[(CUSTOMER, 0)],
        &[(CUSTOMER, 4095)],
        &[(SERVICE, 100)],
        &[(CUSTOMER, 200), (CUSTOMER, 7)],
        &[(SERVICE, 200), (SERVICE, 7)],
        &[(SERVICE, 7), (CUSTOMER, 200)],
        &[(CUSTOMER, 100), (CUSTOMER, 100)],
        &[(SERVICE, 200)],
        &[(SERVICE, 200), (CUSTOMER, 7), (CUSTOMER, 7)],
        &[(CUSTOMER, 100), (CUSTOMER, 100), (SERVICE, 100)],
    ];
    for (count, tags) in (1..).zip(unknown) {
        let mut bench = bench(trunk("fifo"));
        for _ in 0..count {
            bench.arrive(0, 0, &tagged(&across(0, 1, 60), tags));
        }
        let snapshot = bench.snapshot(0);
        assert_eq!(snapshot.interfaces[0].refused[&Reason::Vlan].packets, count, "{tags:x?}");
        bench.holds(0);
        assert_eq!(bench.arena.free(), FRAMES);
    }
}

#[test]
fn without_an_interface_for_them_frames_without_a_tag_are_let_go() {
    let mut router = trunk("fifo");
    router.interfaces[0].vlan = Some(Vlan { id: 1, outer: None });
    let mut bench = bench(router);
    bench.arrive(0, 0, &across(0, 1, 60));
    bench.arrive(0, 0, &across(0, 1, 60)[..13]);
    let refused = &bench.snapshot(0).interfaces[0].refused;
    assert_eq!((refused[&Reason::Vlan].packets, refused[&Reason::Malformed].packets), (1, 1));
    bench.holds(0);
}

#[test]
fn frames_that_end_early_are_counted_once() {
    for tags in [TAGS[1], TAGS[2], &[(CUSTOMER, 9)], &[(SERVICE, 200), (CUSTOMER, 7), (CUSTOMER, 1)]] {
        let frame = tagged(&across(0, 1, 60), tags);
        let headers = ETHERNET + 4 * tags.len();
        for length in 0..headers + 20 {
            let mut bench = bench(trunk("fifo"));
            bench.arrive(0, 0, &frame[..length]);
            let refused: u64 = (bench.snapshot(0).interfaces.iter())
                .flat_map(|it| it.refused.iter())
                .filter(|(reason, _)| matches!(reason, Reason::Malformed | Reason::Vlan))
                .map(|(_, count)| count.packets)
                .sum();
            assert_eq!(refused, 1, "{length} bytes of {tags:x?}");
            if length < headers && tags.len() < 3 {
                assert!(bench.snapshot(0).interfaces[0].refused.contains_key(&Reason::Malformed), "{length}");
            }
            bench.holds(0);
            assert_eq!(bench.arena.free(), FRAMES);
        }
    }
}

#[test]
fn the_priority_is_kept_follows_the_packet_or_is_set() {
    let dei = 0x1000;
    let came = |priority: u16| vec![(SERVICE, 200 | priority << 13 | dei), (CUSTOMER, 7 | 1 << 13)];
    for (from_dscp, class, set, expected) in [
        (PriorityFrom::Received, 46 << 2, None, 5),
        (PriorityFrom::Dscp, 46 << 2, None, 5),
        (PriorityFrom::Received, 0, None, 3),
        (PriorityFrom::Dscp, 0, None, 0),
        (PriorityFrom::Received, 0, Some(7), 7),
        (PriorityFrom::Dscp, 46 << 2, Some(0), 0),
    ] {
        let mut router = trunk("fifo");
        router.interfaces[1].priority_from = from_dscp;
        router.classes[0].mark.priority = set;
        let mut bench = bench(router);
        let datagram = Udp { class, ..Udp::across(2, 1, 100) };
        let received = if class == 0 { 3 } else { 5 };
        bench.arrive(0, 0, &tagged(&datagram.frame(own(0), next(2)), &came(received)));
        let (tags, _) = left(&mut bench, 0, 1);
        assert_eq!(tags, [(CUSTOMER, 100 | expected << 13 | dei)], "{from_dscp:?} {class} {set:?}");
    }
    // Without a tag there is none to keep, and both tags have that of the outer one.
    let mut bench = bench(trunk("fifo"));
    bench.arrive(0, 0, &across(0, 2, 100));
    assert_eq!(left(&mut bench, 0, 2).0, TAGS[2]);
    bench.arrive(0, 0, &tagged(&across(1, 2, 100), &with_priority(TAGS[1], 6)));
    assert_eq!(left(&mut bench, 0, 2).0, with_priority(TAGS[2], 6));
}

#[test]
fn a_class_sets_the_code_point_of_its_packets() {
    for six in [false, true] {
        let mut router = trunk("fifo");
        router.classes[0].mark = Mark { priority: None, dscp: Some(10) };
        router.interfaces[1].priority_from = PriorityFrom::Dscp;
        let mut bench = bench(router);
        let datagram = if six { Udp::new("fd00:0::1", "fd00:1::1", 100) } else { Udp::across(0, 1, 100) };
        // ECN stays.
        let datagram = Udp { class: 46 << 2 | 2, ..datagram };
        bench.arrive(0, 0, &datagram.frame(own(0), next(0)));
        let (tags, frame) = left(&mut bench, 0, 1);
        assert_eq!(tags, [(CUSTOMER, 100 | 1 << 13)]);
        let expected = Udp { class: 10 << 2 | 2, ttl: 63, ..datagram };
        let mut expected = expected.frame(next(1), own(0));
        expected[..12].copy_from_slice(&frame[..12]);
        assert_eq!(frame, expected);
    }
}

#[test]
fn classes_know_where_packets_came_from_and_their_priority() {
    let mut router = trunk("fifo");
    let rules = [
        Rule { vlan: vec![100, 5], priority: vec![5, 6], ..Rule::default() },
        Rule { vlan: vec![100], ..Rule::default() },
        Rule { outer: vec![200], ..Rule::default() },
        Rule { priority: vec![0], ..Rule::default() },
    ];
    let last = router.classes.pop().expect("one");
    let class = |rule| crate::config::Class { rule, ..last.clone() };
    router.classes = rules.into_iter().map(class).chain([last.clone()]).collect();
    let mut bench = bench(router);
    for (at, from, tags) in [
        (0, 1, with_priority(TAGS[1], 5)),
        (1, 1, with_priority(TAGS[1], 4)),
        (2, 2, with_priority(TAGS[2], 6)),
        (4, 0, vec![]),
    ] {
        let to = if from == 0 { 1 } else { 0 };
        let offered = |bench: &Bench, class: usize| -> u64 {
            bench.snapshot(0).interfaces.iter().map(|it| it.classes[class].offered.packets).sum()
        };
        let before = offered(&bench, at);
        bench.arrive(0, 0, &tagged(&across(from, to, 100), &tags));
        assert_eq!(offered(&bench, at), before + 1, "class {at}");
        bench.holds(0);
    }
}

#[test]
fn what_waits_is_labelled_anew_by_its_tags() {
    let mut router = trunk("fifo");
    router.interfaces.iter_mut().for_each(|it| it.rate = Some(Rate::new(8_000_000)));
    let mut bench = bench(router.clone());
    for _ in 0..3 {
        bench.arrive(0, 0, &tagged(&across(1, 0, 1000), &with_priority(TAGS[1], 5)));
    }
    let rule = Rule { vlan: vec![100], priority: vec![5], ..Rule::default() };
    router.classes.insert(0, crate::config::Class { name: "voice".into(), rule, mark: Mark::default() });
    // Ranks are those of classes.
    router.interfaces[0].discipline = "drr".parse().expect("a spec");
    bench.plane.reload(Instant::new(0), router, &mut bench.arena).expect("it follows");
    bench.holds(0);
    assert_eq!(bench.run(0, u64::MAX).len(), 3);
    bench.holds(1_000_000_000);
}

#[test]
fn questions_answers_and_errors_have_the_tags_of_their_interface() {
    let stranger = next(9);
    for at in [1, 2] {
        let mut bench = bench(trunk("fifo"));
        let question = arp(true, (&format!("10.0.{at}.9"), stranger), &format!("10.0.{at}.254"));
        bench.arrive(0, 0, &tagged(&question, TAGS[at]));
        let (tags, answer) = left(&mut bench, 0, at);
        assert_eq!(
            (tags.as_slice(), &answer[..6], &answer[12..14]),
            (TAGS[at], &stranger.0[..], &[8, 6][..])
        );
        // Who has an address of another VLAN is not answered there.
        let question = arp(true, (&format!("10.0.{at}.9"), stranger), "10.0.0.254");
        bench.arrive(0, 0, &tagged(&question, TAGS[at]));
        assert!((0..3).all(|it| bench.depart(0, it, u32::MAX).is_empty()));
        // It was learned there, and nowhere else.
        bench.arrive(0, 0, &Udp::new("10.0.0.1", &format!("10.0.{at}.9"), 10).frame(own(0), next(0)));
        let (tags, frame) = left(&mut bench, 0, at);
        assert_eq!((tags.as_slice(), &frame[..6]), (TAGS[at], &stranger.0[..]));
        // An error goes back with the priority of what it is about.
        let expired = Udp { ttl: 1, ..Udp::across(at, 0, 100) };
        bench.arrive(0, 0, &tagged(&expired.frame(own(0), next(at)), &with_priority(TAGS[at], 5)));
        let (tags, error) = left(&mut bench, 0, at);
        assert_eq!((tags, error[ETHERNET + 9], error[ETHERNET + 20]), (with_priority(TAGS[at], 5), 1, 11));
        // A neighbour that is not known is asked for there.
        let unknown = Udp::new("10.0.0.1", &format!("10.0.{at}.77"), 10).frame(own(0), next(0));
        bench.arrive(0, 0, &unknown);
        let (tags, question) = left(&mut bench, 0, at);
        assert_eq!((tags.as_slice(), &question[..6]), (TAGS[at], &[255; 6][..]));
        bench.holds(0);
    }
}

#[test]
fn fragments_have_the_priority_of_their_packet_and_two_tags_count() {
    let mut bench = bench(trunk("fifo"));
    let datagram = Udp { whole: false, ..Udp::across(1, 2, 1500) };
    bench.arrive(0, 0, &tagged(&datagram.frame(own(0), next(1)), &with_priority(TAGS[1], 5)));
    let frames = bench.depart(0, 2, u32::MAX);
    let sizes: Vec<usize> = frames.iter().map(|frame| bare(frame).1.len() - ETHERNET).collect();
    // 1472 is the most in multiples of eight that 1492 bytes hold behind a header.
    assert_eq!(sizes, [1492, 28]);
    assert!(frames.iter().all(|frame| bare(frame).0 == with_priority(TAGS[2], 5)));
    assert!(frames.iter().all(|frame| frame.len() <= ETHERNET + 1500));
    bench.holds(0);
    // One tag does not count, and a device that takes two in addition to its MTU is named by `mtu`.
    let mut router = trunk("fifo");
    router.interfaces[2].mtu = Some(weir_core::units::Bytes::new(1500));
    let mut bench = self::bench(router);
    for to in [1, 2] {
        bench.arrive(0, 0, &across(0, to, 1500));
        assert_eq!(left(&mut bench, 0, to).1.len(), ETHERNET + 1500);
    }
}

#[test]
fn what_is_dropped_is_shown_with_its_tags() {
    let mut bench = bench(trunk("fifo"));
    let lost = Udp::new("10.0.1.1", "192.0.2.1", 10).frame(own(0), next(1));
    let frame = tagged(&lost, &with_priority(TAGS[1], 5));
    bench.arrive(0, 0, &frame);
    bench.arrive(0, 0, &tagged(&lost, &[(CUSTOMER, 9)]));
    let heads: Vec<Vec<u8>> = bench.arena.dropped().last().map(|it| it.head().to_vec()).collect();
    assert_eq!(heads, [frame, tagged(&lost, &[(CUSTOMER, 9)])]);
    // Of one that was dressed and not taken, what was to be sent.
    bench.arrive(0, 0, &tagged(&across(2, 1, 60), TAGS[2]));
    let mut into = Vec::new();
    bench.plane.depart(Instant::new(0), 1, 9, &mut bench.arena, &mut into);
    bench.plane.failed(1, into.pop().expect("it left"), &mut bench.arena);
    let last = bench.arena.dropped().last().last().expect("one");
    assert_eq!((bare(last.head()).0.as_slice(), last.reason), (TAGS[1], Reason::InterfaceDown));
    bench.holds(0);
}

#[test]
fn a_vlan_comes_and_goes_without_loss_elsewhere() {
    let slow = |mut router: Router| {
        router.interfaces.iter_mut().for_each(|it| it.rate = Some(Rate::new(8_000_000)));
        router
    };
    let (all, mut fewer) = (slow(trunk("fifo")), slow(trunk("fifo")));
    fewer.interfaces.pop();
    fewer.routes.retain(|route| route.interface < 2);
    let mut bench = bench(fewer.clone());
    for _ in 0..4 {
        bench.arrive(0, 0, &across(0, 1, 1000));
    }
    let now = Instant::new(500_000);
    let next = all.clone().following(&fewer).expect("it follows");
    bench.plane.reload(now, next.clone(), &mut bench.arena).expect("it follows");
    for _ in 0..4 {
        bench.arrive(500_000, 0, &across(0, 2, 1000));
    }
    bench.holds(500_000);
    assert_eq!(bench.snapshot(500_000).interfaces[1].classes[0].waiting.packets, 4);
    let back = fewer.following(&next).expect("it follows");
    bench.plane.reload(now, back.clone(), &mut bench.arena).expect("it follows");
    bench.arrive(500_000, 0, &tagged(&across(2, 0, 60), TAGS[2]));
    assert_eq!(bench.run(1, 100_000_000).len(), 4);
    let snapshot = bench.snapshot(100_000_000);
    let gone = &snapshot.interfaces[2];
    assert_eq!((gone.up, gone.classes[0].dropped[&Reason::InterfaceDown].packets), (false, 4));
    assert_eq!(snapshot.interfaces[0].refused[&Reason::Vlan].packets, 1);
    bench.holds(100_000_000);
    // News of the device are not for it, and it comes back in its place.
    bench.plane.device(0, DeviceFacts { mtu: 1400, ..device(0) });
    assert!(!bench.snapshot(100_000_000).interfaces[2].up);
    let again = all.following(&back).expect("it follows");
    bench.plane.reload(Instant::new(100_000_000), again, &mut bench.arena).expect("it follows");
    bench.arrive(100_000_000, 0, &across(0, 2, 1000));
    assert_eq!(bench.run(2, 200_000_000).len(), 1);
    assert_eq!(bench.snapshot(200_000_000).interfaces.len(), 3);
    bench.holds(200_000_000);
}

#[test]
fn another_process_knows_the_tags_of_what_waits() {
    let mut router = trunk("fifo");
    router.interfaces.iter_mut().for_each(|it| it.rate = Some(Rate::new(8_000_000)));
    let rule = Rule { priority: vec![5], ..Rule::default() };
    router.classes.insert(0, crate::config::Class { name: "voice".into(), rule, mark: Mark::default() });
    let (mut old, mut new) = (bench(router.clone()), bench(router));
    for priority in [5, 4] {
        old.arrive(0, 0, &tagged(&across(2, 1, 1000), &with_priority(TAGS[2], priority)));
    }
    let estate = old.plane.bequeath(Instant::new(0), 1, &old.arena);
    assert_eq!(new.plane.inherit(Instant::new(0), 1, &estate, &mut new.arena), 0);
    let waiting: Vec<u64> =
        new.snapshot(0).interfaces[1].classes.iter().map(|class| class.waiting.packets).collect();
    assert_eq!(waiting, [1, 1]);
    let left = new.run(1, u64::MAX);
    let tags: Vec<_> = left.iter().map(|(_, frame)| bare(frame).0).collect();
    assert_eq!(tags, [with_priority(TAGS[1], 5), with_priority(TAGS[1], 4)]);
    // A process without that interface has what it counted, and drops what waited there.
    let mut without = trunk("fifo");
    without.interfaces.truncate(1);
    without.routes.retain(|route| route.interface == 0);
    let mut past = bench(without).snapshot(0);
    past.add_past(&old.snapshot(0));
    let gone = past.interfaces.iter().find(|it| it.name == "if1").expect("it stands there");
    let dropped: u64 = gone.classes.iter().map(|class| class.dropped[&Reason::InterfaceDown].packets).sum();
    assert_eq!((gone.up, dropped, gone.classes[0].waiting.packets), (false, 2, 0));
    // A frame that ends within its tags is none.
    let mut broken = estate;
    broken.waiting[0].frame.truncate(2 * 17);
    assert_eq!(new.plane.inherit(Instant::new(0), 1, &broken, &mut new.arena), 1);
}

#[test]
fn the_vlans_of_a_device_are_served_by_one_plane() {
    let mut router = trunk("fifo");
    router.interfaces[2].device = "if1".into();
    router.interfaces[2].vlan = None;
    router.workers = 2;
    let devices = [device(0), device(1)];
    let plane =
        |this| Plane::part_of(router.clone(), Part::new(this, 2), &devices, FRAMES, 1).expect("a router");
    let (first, second) = (plane(0), plane(1));
    let serves = |plane: &Plane| [0, 1, 2].map(|at| plane.part().serves(at));
    assert_eq!((serves(&first), serves(&second)), ([true, true, false], [false, false, true]));
    assert_eq!((first.interfaces_of(0), first.interfaces_of(1)), (&[0, 1][..], &[2][..]));
}
