//! Both formats in both byte orders: the same packets give the same schedule.

use super::made::*;
use weir_capture::capture::Format;

/// Three packets of two flows: times in nanoseconds since 1970, frames.
fn packets() -> Vec<(u64, Vec<u8>)> {
    let begin = 1_700_000_000_000_000_000;
    vec![
        (begin + 123_456_000, tcp((1, 40_000), (2, 80), 40)),
        (begin + 124_000_000, ethernet(IPV6, &[7], &ipv6((1, 5000), (3, 53), 17, 46, 30))),
        (begin + 3_000_000_000, tcp((2, 80), (1, 40_000), 1400)),
    ]
}

const TIMED: [(u64, u64); 3] = [(0, 78), (544_000, 92), (2_876_544_000, 1438)];

fn as_pcap(order: Order, magic: u32) -> Vec<u8> {
    let nanoseconds = if magic == NANO { 1 } else { 1000 };
    let mut file = pcap(order, magic, 1);
    for (at, frame) in packets() {
        let (second, fraction) = (at / 1_000_000_000, at % 1_000_000_000 / nanoseconds);
        file.extend(record(order, (second as u32, fraction as u32), &frame));
    }
    file
}

/// In units of an interface: `resolution` as its option has it, `units` in a second.
fn as_pcapng(order: Order, resolution: Option<u8>, units: u128, offset: Option<i64>) -> Vec<u8> {
    let mut file = section(order);
    file.extend(interface(order, 1, resolution, offset));
    for (at, frame) in packets() {
        let since = i128::from(at) - i128::from(offset.unwrap_or(0)) * 1_000_000_000;
        file.extend(enhanced(order, 0, (since as u128 * units / 1_000_000_000) as u64, &frame));
    }
    file
}

#[test]
fn pcap_in_both_orders_and_units() {
    for order in [Little, Big] {
        for magic in [MICRO, NANO] {
            let (rows, summary) = good(&as_pcap(order, magic));
            assert_eq!(timed(&rows), TIMED, "{order:?} {magic:x}");
            assert_eq!(flows(&rows), "0f 1f 0r");
            assert_eq!((rows[1].packet.dscp, rows[1].packet.protocol), (46, 17));
            assert_eq!((summary.format, summary.frames, summary.flows), (Format::Pcap, 3, 2));
            assert_eq!((summary.packets, summary.bytes, summary.span_ns), (3, 1608, 2_876_544_000));
            assert_eq!(summary.notes, Default::default());
        }
    }
}

#[test]
fn pcapng_in_both_orders_and_units_gives_the_same_schedule() {
    let (expected, _) = good(&as_pcap(Little, MICRO));
    for order in [Little, Big] {
        for (resolution, units, offset) in [
            (None, 1_000_000, None),
            (Some(6), 1_000_000, Some(1_600_000_000)),
            (Some(9), 1_000_000_000, Some(-3600)),
            (Some(12), 1_000_000_000_000, Some(1_699_999_000)),
        ] {
            let (rows, summary) = good(&as_pcapng(order, resolution, units, offset));
            assert_eq!(rows, expected, "{order:?} {resolution:?}");
            assert_eq!(summary.format, Format::Pcapng);
        }
    }
    // Powers of two do not hold every microsecond: to the nanosecond below, after cutting off.
    for order in [Little, Big] {
        let (rows, _) = good(&as_pcapng(order, Some(0x80 | 33), 1 << 33, None));
        for (row, (at, size)) in rows.iter().zip(TIMED) {
            assert!(row.at.get().abs_diff(at) <= 1 && row.size.get() == size, "{row:?}");
        }
    }
}

#[test]
fn a_compressed_file_is_the_file() {
    use std::io::Write;
    for file in [as_pcap(Big, NANO), as_pcapng(Little, None, 1_000_000, None)] {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(&file).expect("in memory");
        assert_eq!(good(&packer.finish().expect("in memory")), good(&file));
    }
}

#[test]
fn sections_have_their_own_order_and_interfaces() {
    let frame = tcp((1, 1), (2, 2), 0);
    let mut file = section(Little);
    file.extend(interface(Little, 1, Some(9), None));
    file.extend(interface(Little, 101, None, None));
    file.extend(enhanced(Little, 0, 1_000_000_000, &frame));
    file.extend(enhanced(Little, 1, 1_000_500, &ipv4((1, 1), (2, 2), 6, 0, 0)));
    file.extend(section(Big));
    file.extend(interface(Big, 113, Some(3), None));
    let mut cooked = vec![0; 14];
    cooked.extend(IPV4.to_be_bytes());
    cooked.extend(ipv4((2, 2), (1, 1), 6, 0, 100));
    file.extend(enhanced(Big, 0, 1_002, &cooked));
    let (rows, _) = good(&file);
    assert_eq!(timed(&rows), [(0, 38), (500_000, 24), (2_000_000, 124)]);
    assert_eq!(flows(&rows), "0f 0f 0r");
}

#[test]
fn all_kinds_of_packet_blocks_are_read_and_other_blocks_passed_over() {
    for order in [Little, Big] {
        let frame = tcp((1, 1), (2, 2), 3);
        let mut file = section(order);
        file.extend(interface(order, 1, None, None));
        file.extend(block(order, 4, &[1; 40]));
        file.extend(obsolete(order, 0, 5_000_000_000, &frame));
        file.extend(block(order, 0x0bad, &[2; 100_000]));
        file.extend(simple(order, &frame));
        file.extend(block(order, 0x7777, &[]));
        file.extend(enhanced(order, 0, 5_000_000_001, &frame));
        let (rows, summary) = good(&file);
        assert_eq!(timed(&rows), [(0, 41), (1000, 41)]);
        assert_eq!((summary.frames, summary.notes.without_time), (3, 1));
    }
}

#[test]
fn links_are_read_and_what_was_never_sent_is_not_counted() {
    let packet = ipv4((1, 7), (2, 8), 17, 10, 20);
    let with = |header: &[u8]| [header, &packet].concat();
    let cooked2 = [&IPV4.to_be_bytes()[..], &[0; 18]].concat();
    let cooked = [&[0; 14][..], &IPV4.to_be_bytes()].concat();
    for (link, frame, size) in [
        (1, ethernet(IPV4, &[], &packet), 58),
        (1, ethernet(IPV4, &[1], &packet), 62),
        (1, ethernet(IPV4, &[1, 2, 3], &packet), 70),
        (101, packet.clone(), 44),
        (12, packet.clone(), 44),
        (228, packet.clone(), 44),
        (113, with(&cooked), 44),
        (276, with(&cooked2), 44),
        (0, with(&[2, 0, 0, 0]), 44),
        (108, with(&[0, 0, 0, 2]), 44),
        (0xf400_0001, ethernet(IPV4, &[], &packet), 58),
    ] {
        let mut file = pcap(Little, MICRO, link);
        file.extend(record(Little, (0, 0), &frame));
        let (rows, _) = good(&file);
        assert_eq!(timed(&rows), [(0, size)], "link {link}");
        assert_eq!((rows[0].packet.ports, rows[0].packet.dscp), ((7, 8), 10));
    }
    let mut file = pcap(Little, MICRO, 0);
    file.extend(record(Little, (0, 0), &[&[30, 0, 0, 0][..], &ipv6((1, 7), (2, 8), 6, 0, 0)].concat()));
    assert_eq!(timed(&good(&file).0), [(0, 44)]);
}

#[test]
fn fragments_protocols_without_ports_and_short_captures() {
    let mut fragment = ipv4((1, 7), (2, 8), 17, 0, 8);
    fragment[6] = 0x20;
    let mut second = fragment.clone();
    (second[6], second[7]) = (0, 3);
    let mut file = pcap(Big, MICRO, 101);
    let whole = ipv4((1, 7), (2, 8), 17, 0, 8);
    for packet in [&whole, &fragment, &second, &ipv4((2, 0), (1, 0), 1, 0, 0)] {
        file.extend(record(Big, (1, 0), packet));
    }
    // The addresses were captured and the ports were not; then not even the addresses.
    file.extend(record_of(Big, (1, 0), 20, 60, &whole[..20]));
    file.extend(record_of(Big, (1, 0), 19, 60, &whole[..19]));
    file.extend(record_of(Big, (1, 0), 0, 60, &[]));
    let (rows, summary) = good(&file);
    assert_eq!(flows(&rows), "0f 1f 1f 2f 1f");
    assert_eq!((summary.notes.fragments, summary.notes.unreadable), (2, 2));
}

#[test]
fn frames_without_ip_are_left_out_and_told_apart() {
    let mut file = pcap(Little, MICRO, 1);
    let arp = [0, 1, 8, 0, 6, 4, 0, 1].into_iter().chain([0; 20]).collect::<Vec<u8>>();
    for frame in
        [ethernet(0x0806, &[], &arp), ethernet(0x88cc, &[5], &[0; 50]), ethernet(0x0026, &[], &[0x42; 38])]
    {
        file.extend(record(Little, (1, 0), &frame));
    }
    file.extend(record(Little, (9, 0), &tcp((1, 1), (2, 2), 0)));
    let (rows, summary) = good(&file);
    assert_eq!(timed(&rows), [(0, 38)]);
    let without: Vec<_> = summary.notes.without_ip.iter().map(|(kind, count)| (&kind[..], *count)).collect();
    assert_eq!(without, [("0x0000", 1), ("0x0806", 1), ("0x88cc", 1)]);
}

#[test]
fn small_steps_back_are_put_right_and_counted() {
    let mut file = pcap(Little, NANO, 1);
    for at in [(1, 0), (1, 500), (1, 200), (0, 900_000_000), (1, 600)] {
        file.extend(record(Little, at, &tcp((1, 1), (2, 2), 0)));
    }
    let (rows, summary) = good(&file);
    assert_eq!(rows.iter().map(|row| row.at.get()).collect::<Vec<_>>(), [0, 500, 500, 500, 600]);
    assert_eq!((summary.notes.stepped_back, summary.notes.longest_step_ns), (2, 100_000_500));
}

#[test]
fn a_tail_that_was_cut_off_is_told_and_what_was_read_is_kept() {
    for (file, last) in [
        (as_pcap(Little, MICRO), 1438 + 16),
        (as_pcap(Big, NANO), 1438 + 16),
        (as_pcapng(Little, None, 1_000_000, None), 1440 + 32),
        (as_pcapng(Big, None, 1_000_000, None), 1440 + 32),
    ] {
        for cut in 1..last {
            let (rows, summary) = good(&file[..file.len() - cut]);
            assert_eq!(timed(&rows), TIMED[..2]);
            assert_eq!(summary.notes.cut_at_byte, Some((file.len() - last) as u64));
        }
        assert_eq!(good(&file[..file.len() - last]).1.notes.cut_at_byte, None);
    }
}

#[test]
fn the_largest_flows_come_first() {
    let mut file = pcap(Little, NANO, 1);
    for (at, from, to, payload) in [
        (0, (1, 9000), (2, 443), 0),
        (1, (3, 502), (1, 9000), 900),
        (2, (2, 443), (1, 9000), 1400),
        (3, (1, 9000), (2, 443), 4),
    ] {
        file.extend(record(Little, (0, at), &tcp(from, to, payload)));
    }
    let (_, summary) = good(&file);
    assert_eq!(summary.flows, 2);
    let [first, second] = &summary.largest[..] else { panic!("two flows") };
    assert_eq!((first.flow, first.service_port, first.forward.bytes), (1, 502, 938));
    assert_eq!((second.flow, second.service_port, second.ip_proto), (0, 443, 6));
    assert_eq!((second.forward.packets, second.forward.first_ns, second.forward.last_ns), (2, 0, 3));
    assert_eq!((second.reverse.packets, second.reverse.bytes), (1, 1438));
}

#[test]
fn a_schedule_is_text_with_or_without_addresses() {
    let file = as_pcap(Little, MICRO);
    let text = |addresses| {
        let mut csv = weir_capture::csv::Csv::new(Vec::new(), addresses).expect("in memory");
        weir_capture::read(&file[..], 1, &mut |row| csv.row(row)).expect("in order");
        String::from_utf8(csv.finish().expect("in memory")).expect("text")
    };
    assert_eq!(
        text(false),
        "t_ns,frame_bytes,flow,dir,ip_proto,dscp\n0,78,0,f,6,0\n544000,92,1,f,17,46\n2876544000,1438,0,r,6,0\n"
    );
    let lines: Vec<String> = text(true).lines().map(str::to_owned).collect();
    assert_eq!(
        lines[0],
        "t_ns,frame_bytes,flow,dir,ip_proto,dscp,source,destination,source_port,destination_port"
    );
    assert_eq!(lines[3], "2876544000,1438,0,r,6,0,10.0.0.2,10.0.0.1,80,40000");
}
