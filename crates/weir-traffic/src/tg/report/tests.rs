//! Reports on logs made by hand.

use weir_core::random::Random;
use weir_core::units::{Nanos, Rate};

use super::{Asked, Pair, Report, csv, report, text};
use crate::tg::log::{Kind, Reader, Record, Role, Transport};
use crate::tg::testing::{header, log, packet};

/// Two intervals of one second; the packet of 0.5 s is lost, that of 1.5 s comes before that of 1.25 s, which comes twice.
const SCRIPT: &str = "on 1 udp 10.0.0.2.5 at 1 arrival 0.25 length 93 time 2";
const ASKED: Asked = Asked {
    interval: Some(Nanos::new(1_000_000_000)),
    rate: Some(Rate::new(10_000)),
    from: None,
    until: None,
};

fn local() -> std::net::SocketAddrV4 {
    "10.0.0.1:999".parse().unwrap()
}

/// Due each quarter of a second from 1.25 s on; the second 3 ms late.
fn source() -> Vec<Record> {
    let mut records = vec![Record { address: local(), ..Record::new(Kind::Setup, 0) }];
    records.extend((0..7).map(|number| packet(Kind::Transmit, number, 1250 + 250 * i64::from(number), 93)));
    records[2].time += 3_000_000;
    records.push(Record::new(Kind::Teardown, 3_000_000_000));
    records
}

fn arrival(number: u32, milliseconds: i64) -> Record {
    Record { address: local(), ..packet(Kind::Receive, number, milliseconds, 93) }
}

fn sink() -> Vec<Record> {
    let other = Record { address: "10.9.9.9:1".parse().unwrap(), ..arrival(3, 1) };
    let arrivals = [(0, 1260), (2, 1780), (5, 2510), (4, 2520), (4, 2530), (3, 2600), (6, 4000)];
    let mut records: Vec<_> = arrivals.into_iter().map(|(number, at)| arrival(number, at)).collect();
    records.insert(3, other);
    records.push(arrival(77, 4001));
    records.push(Record { other: 1, errno: 105, ..Record::new(Kind::Error, 4_500_000_000) });
    records
}

fn pair_of(source: &[u8], sink: &[u8]) -> Result<Pair, String> {
    let names = ["a.log".to_owned(), "b.log".to_owned()];
    let open = |bytes, name: &String| Reader::new(bytes, name).map_err(|error| error.to_string());
    Pair::read(open(source, &names[0])?, open(sink, &names[1])?, names.clone())
        .map_err(|error| error.to_string())
}

fn logs() -> [Vec<u8>; 2] {
    let (source_header, sink_header) =
        (header(Role::Source, Transport::Udp, SCRIPT), header(Role::Sink, Transport::Udp, SCRIPT));
    [log(&source_header, &source()), log(&sink_header, &sink())]
}

fn by_hand() -> Report {
    let [source, sink] = logs();
    report(vec![pair_of(&source, &sink).unwrap()], ASKED).unwrap()
}

#[test]
fn a_report_is_what_was_computed_by_hand() {
    let report = by_hand();
    let pair = &report.pairs[0];
    // Packets due at 0.25, 0.5, 0.75 s of 125 bytes; the second lost.
    let first = &pair.intervals[0];
    assert_eq!((first.from_s, first.until_s, first.sent, first.lost), (0.0, 1.0, 3, 1));
    assert_eq!((first.offer_bit_s, first.throughput_bit_s), (3000.0, 2000.0));
    assert_eq!((first.offer_pct, first.throughput_pct), (Some(30.0), Some(20.0)));
    let delay = first.delay.as_ref().unwrap();
    assert!((delay.mean_s - 0.02).abs() < 1e-12);
    assert!((delay.variance_s2.unwrap() - 0.0002).abs() < 1e-15);
    assert_eq!((delay.min_s, delay.p50_s, delay.p99_s, delay.max_s), (0.01, 0.01, 0.03, 0.03));
    // Due at 1 s, 1.25, 1.5, 1.75: one arrives after both later ones, one after one; one twice; one very late.
    let second = &pair.intervals[1];
    assert_eq!((second.sent, second.lost, second.reordered, second.duplicates), (4, 0, 2, 1));
    assert_eq!(second.throughput_bit_s, 4000.0);
    assert_eq!(second.delay.as_ref().unwrap().max_s, 1.25);
    assert_eq!((pair.all.sent, pair.all.received, pair.all.until_s), (7, 6, 2.0));
    assert_eq!((pair.counts.of_others, pair.counts.not_sent, pair.counts.dropped_at_sink), (1, 1, 1));
    assert_eq!(pair.lateness.unwrap().max_ns, 3_000_000);
}

#[test]
fn the_texts_are_these() {
    let report = by_hand();
    let golden = include_str!("golden.txt");
    let told = [text::text(&report, 80), text::text(&report, 40), csv::csv(&report)].join("----\n");
    assert_eq!(told, golden, "the report is now:\n{told}");
    let figures = text::text(&report, 80);
    assert!(figures.lines().all(|line| line.len() < 80 || line.starts_with("warning")));
}

#[test]
fn windows_are_those_of_the_script_clipped_as_asked() {
    let [source, sink] = logs();
    let sent = |from: Option<u64>, until: Option<u64>| {
        let nanos = |tenths: u64| Nanos::new(tenths * 100_000_000);
        let asked = Asked { interval: None, from: from.map(nanos), until: until.map(nanos), ..ASKED };
        let all = report(vec![pair_of(&source, &sink).unwrap()], asked).unwrap().pairs.remove(0).all;
        (all.from_s, all.until_s, all.sent)
    };
    assert_eq!(sent(None, None), (0.0, 2.0, 7));
    assert_eq!(sent(Some(5), Some(10)), (0.5, 1.0, 2));
    assert_eq!(sent(Some(18), Some(90)), (1.8, 2.0, 0));
    let too_short = Asked { interval: Some(Nanos::new(1)), ..ASKED };
    let error = report(vec![pair_of(&source, &sink).unwrap()], too_short).unwrap_err();
    assert!(error.to_string().contains("gives 2000000000 intervals, must give at most 100000"), "{error}");
    let late = Asked { from: Some(Nanos::new(9_000_000_000)), ..ASKED };
    assert!(report(vec![pair_of(&source, &sink).unwrap()], late).is_err());
}

#[test]
fn bytes_of_tcp_bring_the_packets_that_they_complete() {
    let text = "on 1 tcp 10.0.0.2.5 arrival 1 length 100 packet 3";
    let [source_header, sink_header] =
        [Role::Source, Role::Sink].map(|role| header(role, Transport::Tcp, text));
    let mut sent = vec![Record { address: local(), ..Record::new(Kind::Setup, 0) }];
    sent.extend((0..3).map(|number| packet(Kind::Transmit, number, 1000 + i64::from(number), 100)));
    // The kernel took the last 5 ms after the source had handed it over.
    sent.push(packet(Kind::Left, 1, 1006, 0));
    let read = |at, length| Record { address: local(), ..packet(Kind::Receive, 0, at, length) };
    let received = [read(1010, 50), read(1020, 149), read(1030, 1)];
    let pair = pair_of(&log(&source_header, &sent), &log(&sink_header, &received)).unwrap();
    let delays: Vec<_> =
        pair.packets.iter().map(|packet| packet.delay.map(|delay| delay / 1_000_000)).collect();
    assert_eq!(delays, [Some(20), Some(24), None]);
    assert_eq!(pair.packets[0].size, 140);
}

#[test]
fn logs_that_do_not_belong_together_are_refused() {
    let [source, sink] = logs();
    let error = pair_of(&sink, &source).unwrap_err();
    assert!(error.starts_with("a.log: it is the log of a sink, must be that of a source"), "{error}");
    let tcp = log(&header(Role::Sink, Transport::Tcp, SCRIPT), &[]);
    assert!(pair_of(&source, &tcp).unwrap_err().contains("different protocols"));
    let twice = log(&header(Role::Source, Transport::Udp, SCRIPT), &[source_packet(5), source_packet(5)]);
    assert!(pair_of(&twice, &sink).unwrap_err().contains("packet 5 comes after packet 5"));
}

fn source_packet(number: u32) -> Record {
    packet(Kind::Transmit, number, 1000, 93)
}

#[test]
fn logs_that_were_cut_are_told() {
    let [source, sink] = logs();
    let pair = pair_of(&source[..source.len() - 40], &sink[..sink.len() - 256]).unwrap();
    let warnings = pair.warnings.join("\n");
    assert!(warnings.contains("a.log was cut: it has no last record, and 24 bytes of one"), "{warnings}");
    assert!(warnings.contains("b.log was cut"), "{warnings}");
    assert!(warnings.contains("b.log ends 240ms before the last packet was sent"), "{warnings}");
}

#[test]
fn mutated_logs_never_panic() {
    let logs = logs();
    let mut random = Random::new(1);
    for round in 0..4_000 {
        let mut both = logs.clone();
        for log in &mut both {
            for _ in 0..random.below(4) {
                // Mostly in the records, where a change may be accepted.
                let from = if round % 4 == 0 { 0 } else { log.len() - 300 };
                let place = from + random.below((log.len() - from) as u64) as usize;
                log[place] = [random.bits() as u8, 0, 255, 127, 3][random.below(5) as usize];
            }
            if random.one_in(4) {
                log.truncate(random.below(log.len() as u64 + 1) as usize);
            }
        }
        let told = pair_of(&both[0], &both[1]).ok().and_then(|pair| report(vec![pair], ASKED).ok());
        if let Some(report) = told {
            assert!(!text::text(&report, 80).contains("NaN"));
            assert!(!csv::csv(&report).contains("NaN"));
        }
    }
}
