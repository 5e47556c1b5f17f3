//! The compatible random mode against the departures behind the tables of the SFQ report: `vectors.csv`.

use std::sync::Arc;

use weir_core::units::{Bytes, Nanos};
use weir_tg::{BsdRandom, Departures, Random, Traffic, parse};

const VECTORS: &str = include_str!("vectors.csv");
/// Of every stream of the report, in seconds.
const LASTING: &str = "245";
/// Of the report's links, in bits per second.
const RATE: f64 = 1_344_000.0;

/// The rows: item, and its other fields as numbers where they are.
fn rows() -> impl Iterator<Item = (&'static str, Vec<Option<f64>>)> {
    let lines = VECTORS.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| {
        let mut fields = line.split(',');
        (fields.next().unwrap(), fields.map(|field| field.parse().ok()).collect())
    })
}

/// The departures of a stream of the report, and its traffic.
fn departures(mean: f64) -> (Vec<(Nanos, Bytes)>, Traffic) {
    let text = format!("on 15 udp 10.0.2.1.4000 arr exponential {mean} l 750 time {LASTING}");
    let script = parse(&text, "vectors.tg", &mut |_| Err("no file".to_owned())).unwrap();
    let traffic = Traffic::of(&script).unwrap();
    (Departures::new(Arc::new(traffic.clone()), BsdRandom::new()).collect(), traffic)
}

#[test]
fn the_first_numbers_are_those_of_4_3bsd() {
    let mut random = BsdRandom::new();
    let expected: Vec<f64> = rows()
        .filter(|(item, _)| item.starts_with("random_output"))
        .map(|(_, row)| row[3].unwrap())
        .collect();
    assert_eq!(expected.len(), 5);
    for value in expected {
        assert_eq!(f64::from(random.next_31()), value);
    }
}

#[test]
fn departures_counts_and_offers_are_those_of_the_report() {
    let mut compared = 0;
    for (item, row) in rows().filter(|(item, _)| !item.starts_with("random_output")) {
        let (departures, traffic) = departures(row[0].unwrap());
        let value = row[3].unwrap();
        if let Some(number) = item.strip_prefix("send_time_") {
            let number: usize = number.parse().unwrap();
            let seconds = departures[number - 1].0.get() as f64 / 1e9;
            assert_eq!(format!("{seconds:.6}"), format!("{value:.6}"), "{item}");
        } else {
            let (from, to) = (row[1].unwrap(), row[2].unwrap());
            let within = |at: Nanos| (from..to).contains(&(at.get() as f64 / 1e9));
            let sent: Vec<_> = departures.iter().filter(|(at, _)| within(*at)).collect();
            let bytes: u64 = sent.iter().map(|(_, data)| traffic.wire_size(*data).get()).sum();
            let offer = bytes as f64 * 8.0 / RATE / (to - from) * 100.0;
            match item {
                "packets" => assert_eq!(sent.len() as f64, value),
                _ => assert_eq!(format!("{offer:.2}"), format!("{value:.2}"), "from {from} to {to}"),
            }
        }
        compared += 1;
    }
    assert_eq!(compared, 26);
}

#[test]
fn a_packet_of_the_report_has_782_bytes() {
    let (departures, traffic) = departures(0.007_692);
    assert_eq!(traffic.wire_size(departures[0].1), Bytes::new(782));
}
