//! Fragments put together again: by hand, at random, and what cannot be cut.

use weir_core::random::Random;

use super::*;
use crate::arena::MOST_MTU;
use crate::frame::{self, Ends, Frame, Part};
use crate::testing::*;

fn read(frame: &[u8]) -> Packet {
    match frame::read(frame) {
        Ok(Frame::Ip(packet)) => packet,
        other => panic!("{other:?}"),
    }
}

/// A packet with these options and this much data, which may be a fragment itself.
fn packet(options: &[u8], data: usize, flags: u16) -> Vec<u8> {
    let mut frame = Udp { whole: false, ..Udp::across(0, 1, 28) }.frame(own(0), next(0));
    frame.truncate(ETHERNET + FIXED);
    frame.extend(options);
    let header = (frame.len() - ETHERNET).next_multiple_of(4);
    frame.resize(ETHERNET + header, END);
    frame.extend((0..data).map(|at| (at / 7 % 251) as u8));
    let ip = &mut frame[ETHERNET..];
    ip[0] = 0x40 | (header / 4) as u8;
    place(ip, header, flags);
    frame
}

/// The fragments of a packet, from their Ethernet headers on, or why there are none.
fn fragments(frame: &[u8], mtu: u32) -> Result<Vec<Vec<u8>>, Reason> {
    let mut bench = Bench::new(router("fifo"));
    let mut buffer = bench.buffer(frame).expect("a free frame");
    let mut pieces = Vec::new();
    let done = cut(&mut buffer, &mut bench.arena, &read(frame), mtu, &mut pieces);
    assert!(done.is_ok() || (bench.arena.bytes(&buffer) == frame && pieces.is_empty()));
    done.map(|()| core::iter::once(&buffer).chain(&pieces).map(|it| bench.arena.bytes(it).to_vec()).collect())
}

/// The data of fragments that come in any order, as the receiver puts them together from the place of the first, and
/// whether more follow.
fn together(fragments: &[Vec<u8>], begin: u16) -> (Vec<u8>, bool) {
    let mut parts: Vec<(u16, bool, &[u8])> = fragments
        .iter()
        .map(|frame| {
            let (packet, flags) = (read(frame), word(frame, ETHERNET + 6));
            (flags & OFFSET, flags & MORE != 0, &frame[ETHERNET + usize::from(packet.payload)..])
        })
        .collect();
    parts.sort_unstable();
    let (mut data, mut follows) = (Vec::new(), true);
    for (at, more, part) in parts {
        assert!(follows && usize::from(at - begin) * 8 == data.len(), "a gap at {at}");
        data.extend(part);
        follows = more;
    }
    (data, follows)
}

#[test]
fn a_packet_is_cut_at_multiples_of_eight() {
    let frame = packet(&[], 1_000, 0);
    let fragments = fragments(&frame, 600).expect("fragments");
    let told: Vec<_> = fragments.iter().map(|it| (it.len() - ETHERNET, word(it, ETHERNET + 6))).collect();
    // 580 bytes of data are 576.
    assert_eq!(told, [(596, MORE), (444, 72)]);
    for fragment in &fragments {
        let packet = read(fragment);
        assert_eq!((packet.ends, packet.ttl, packet.protocol), (read(&frame).ends, 64, 17));
        assert_eq!((&fragment[..14], &fragment[18..20]), (&frame[..14], &frame[18..20]));
    }
    assert_eq!(together(&fragments, 0), (frame[34..].to_vec(), false));
}

#[test]
fn options_are_copied_that_say_so() {
    // Record route stays with the first; router alert, and a stream number behind nothing, are copied.
    let (route, alert, stream) = ([7, 7, 4, 0, 0, 0, 0], [148, 4, 0, 0], [136, 4, 0, 9]);
    let options = [&route[..], &[NOTHING], &alert, &stream, &[END, 0, 0]].concat();
    let frame = packet(&options, 300, 0);
    let fragments = fragments(&frame, 200).expect("fragments");
    assert_eq!(fragments[0][34..34 + options.len()], options);
    for later in &fragments[1..] {
        assert_eq!((later[ETHERNET], &later[34..42]), (0x47, &[alert, stream].concat()[..]));
    }
    assert_eq!(together(&fragments, 0).0, frame[frame.len() - 300..]);
    // One that cannot be read ends them.
    let fragments = super::tests::fragments(&packet(&[148, 4, 0, 0, 136, 1, 136, 4], 300, 0), 200);
    assert_eq!(fragments.expect("fragments")[1][ETHERNET], 0x46);
}

#[test]
fn fragments_are_the_packet_whatever_its_size_its_options_and_its_place() {
    let mut random = Random::new(1);
    for _ in 0..3_000 {
        let options: Vec<u8> = (0..4 * random.below(11)).map(|_| random.bits() as u8).collect();
        let (begin, more) = (random.below(7_000) as u16, random.one_in(2));
        let most = u64::from(MOST_MTU) - 20 - options.len() as u64;
        let data = 8 * (1 + random.below(most / 8 - 1)) as usize;
        let data = if more { data } else { data - random.below(8) as usize };
        let frame = packet(&options, data, begin | if more { MORE } else { 0 });
        let size = frame.len() - ETHERNET;
        let mtu = 68 + random.below(1_500) as u32;
        if size <= mtu as usize {
            continue;
        }
        let fragments = match fragments(&frame, mtu) {
            Err(reason) => {
                assert!(reason == Reason::TooLarge && size / room(mtu as usize, LONGEST) > MOST);
                continue;
            }
            Ok(fragments) => fragments,
        };
        assert!(fragments.iter().all(|it| it.len() - ETHERNET <= mtu as usize));
        let full = &fragments[..fragments.len() - 1];
        assert!(full.iter().all(|it| it.len() - ETHERNET + 8 > mtu as usize));
        let header = usize::from(read(&frame).payload);
        assert_eq!(together(&fragments, begin), (frame[ETHERNET + header..].to_vec(), more));
    }
}

#[test]
fn what_cannot_be_cut_is_left_as_it_was() {
    // Data beyond the end of the longest datagram.
    assert_eq!(fragments(&packet(&[], 1_000, 8_100), 600), Err(Reason::Malformed));
    // A header that leaves no room, or almost none.
    assert_eq!(fragments(&packet(&[148; 40], 1_000, 0), 64), Err(Reason::TooLarge));
    assert_eq!(fragments(&packet(&[NOTHING; 40], 3_000, 0), 68).map(|it| it.len()), Ok(64));
    let alerts = [148, 4, 0, 0].repeat(10);
    assert_eq!(fragments(&packet(&alerts, 3_000, 0), 68), Err(Reason::TooLarge));
}

/// A bench whose second interface takes packets of 600 bytes.
fn narrow() -> Bench {
    let mut bench = Bench::new(router("fifo"));
    bench.plane.device(1, crate::DeviceFacts { mtu: 600, ..device(1) });
    bench
}

#[test]
fn a_packet_that_is_too_large_leaves_in_fragments_in_order() {
    let mut bench = narrow();
    let datagram = Udp { whole: false, ..Udp::across(0, 1, 1_428) };
    let frame = datagram.frame(own(0), next(0));
    bench.arrive(0, 0, &frame);
    bench.datagram(0, 0, &Udp::across(0, 1, 100));
    let left = bench.run(1, 1 << 40);
    // Each takes its own size of the line.
    let told: Vec<_> = left.iter().map(|(at, frame)| (at / 1_000, frame.len() - ETHERNET)).collect();
    assert_eq!(told, [(596, 596), (1_192, 596), (1_468, 276), (1_568, 100)]);
    let fragments: Vec<Vec<u8>> = left[..3].iter().map(|(_, frame)| frame.clone()).collect();
    assert_eq!(together(&fragments, 0), (frame[34..].to_vec(), false));
    assert!(
        fragments.iter().all(|it| read(it).ttl == 63 && it[..6] == next(1).0 && read(it).part != Part::Whole)
    );
    let interface = &bench.snapshot(1 << 40).interfaces[0];
    let [cut, made] = [interface.fragmented, interface.fragments].map(|count| (count.packets, count.bytes));
    assert_eq!((cut, made), ((1, 1_428), (3, 1_468)));
    assert_eq!((bench.arena.free(), interface.refused.len()), (FRAMES, 0));
    bench.holds(1 << 40);
}

#[test]
fn who_forbids_fragments_is_told_what_fits() {
    let mut bench = narrow();
    bench.datagram(0, 0, &Udp::across(0, 1, 1_428));
    let answers = bench.depart(0, 0, 9);
    assert_eq!(answers[0][34..36], [3, 4]);
    assert_eq!(word(&answers[0], 40), 600);
    assert_eq!(bench.snapshot(0).interfaces[0].refused[&Reason::TooLarge].packets, 1);
    bench.holds(0);
}

#[test]
fn a_checksum_that_was_left_to_the_device_is_completed_before_the_cut() {
    let mut bench = narrow();
    let datagram = Udp { whole: false, ..Udp::across(0, 1, 1_428) };
    let complete = datagram.frame(own(0), next(0));
    let (mut partial, packet) = (complete.clone(), read(&complete));
    assert!(matches!(packet.ends, Ends::V4 { .. }));
    let pseudo = fold(checksum::pseudo(&partial, packet.ends, 17, 1_408));
    checksum::write(&mut partial, 40, pseudo);
    bench.arrive(0, 0, &partial);
    let left: Vec<Vec<u8>> = bench.run(1, 1 << 40).into_iter().map(|(_, frame)| frame).collect();
    assert_eq!(together(&left, 0).0, complete[34..]);
}

#[test]
fn where_frames_are_few_the_packet_is_dropped_as_a_whole() {
    let mut bench = narrow();
    let frame = Udp { whole: false, ..Udp::across(0, 1, 1_428) }.frame(own(0), next(0));
    let taken: Vec<_> = (0..FRAMES - 4).filter_map(|_| bench.arena.take(0)).collect();
    bench.arrive(0, 0, &frame);
    assert_eq!((bench.run(1, 1 << 40), bench.arena.free()), (vec![], 4));
    assert_eq!(bench.snapshot(0).interfaces[0].refused[&Reason::NoMemory].packets, 1);
    taken.into_iter().for_each(|buffer| bench.arena.give(buffer));
    bench.holds(0);
    bench.arrive(0, 0, &frame);
    assert_eq!(bench.run(1, 1 << 40).len(), 3);
}
