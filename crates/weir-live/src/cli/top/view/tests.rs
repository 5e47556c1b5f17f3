//! Frames at several widths, as text and on a terminal.

use std::collections::BTreeMap;

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;

fn count(packets: u64) -> Count {
    Count { packets, bytes: packets * 125 }
}

fn class(name: &str, forwarded: u64, dropped: u64, bucket: (u64, u64)) -> ClassSnapshot {
    ClassSnapshot {
        name: name.to_owned(),
        forwarded: count(forwarded),
        dropped: BTreeMap::from([(Reason::QueueFull, count(dropped))]),
        waiting: count(3),
        oldest_ns: 2_000_000,
        sojourn: Sojourn { sum_ns: bucket.0 * bucket.1, longest_ns: bucket.0, buckets: vec![bucket] },
        ..ClassSnapshot::default()
    }
}

fn snapshot(seconds: u64, packets: u64) -> Snapshot {
    let eth0 = InterfaceSnapshot {
        name: "eth0".to_owned(),
        up: true,
        discipline: "drr:1514B".to_owned(),
        rate: Some("10Mbit".to_owned()),
        refused: BTreeMap::from([(Reason::NoRoute, count(seconds))]),
        classes: vec![
            class("voice", packets, 0, (1_000_000, packets)),
            class("default", 3 * packets, 2 * packets, (3_000_000, 3 * packets)),
        ],
        ..InterfaceSnapshot::default()
    };
    let eth1 = InterfaceSnapshot {
        name: "eth1".to_owned(),
        discipline: "fifo:1000pkt".to_owned(),
        classes: vec![ClassSnapshot { name: "default".to_owned(), ..ClassSnapshot::default() }],
        ..InterfaceSnapshot::default()
    };
    let (frames, frames_free) = (256, 250);
    Snapshot {
        name: "edge".to_owned(),
        now_ns: seconds * 1_000_000_000,
        frames,
        frames_free,
        interfaces: vec![eth0, eth1],
        ..Snapshot::default()
    }
}

#[test]
fn a_frame_is_the_difference_of_two_samples() {
    let shown = frame(&snapshot(10, 1_000), &snapshot(12, 3_000), None);
    let expected = "\
router edge, up 12s, the last 2s, 250 of 256 frames free

interface  state  discipline     limit   rate  packets  waiting  oldest  dropped  p50  p99   mean
eth0       up     drr:1514B     10Mbit  4Mbit     4k/s     6pkt     2ms     2k/s  3ms  3ms  2.5ms
  voice                                 1Mbit     1k/s     3pkt     2ms      0/s  1ms  1ms    1ms
  default                               3Mbit     3k/s     3pkt     2ms     2k/s  3ms  3ms    3ms
eth1       down   fifo:1000pkt    none   0bit      0/s     0pkt       -      0/s    -    -      -

interface  where     dropped because   in all   now
eth0       arriving  no route           12pkt   1/s
eth0       default   queue full       6000pkt  2k/s
";
    assert_eq!(shown.text(200), expected);
}

#[test]
fn narrow_frames_keep_what_matters() {
    let shown = frame(&snapshot(10, 1_000), &snapshot(12, 3_000), None);
    for width in [200, 80, 60, 40, 20, 10, 1, 0] {
        let text = shown.text(width);
        let figures = text.lines().skip(2).take_while(|line| !line.is_empty());
        for line in figures.filter(|_| width >= 9) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        assert!(text.contains("eth0"), "{width}");
    }
    let text = shown.text(40);
    assert!(text.lines().nth(2).is_some_and(|head| head == "interface   rate  packets  waiting"), "{text}");
}

#[test]
fn a_daemon_started_anew_counts_from_zero() {
    let text = frame(&snapshot(100, 90_000), &snapshot(2, 1_000), None).text(200);
    assert!(text.starts_with("router edge, up 2s, the last 2s, "), "{text}");
    assert!(text.contains("2Mbit     2k/s"), "{text}");
}

#[test]
fn terminals_of_all_sizes_are_drawn() {
    let shown = frame(&snapshot(10, 1_000), &snapshot(12, 3_000), None);
    for (width, height) in [(120, 40), (80, 24), (40, 6), (20, 3), (1, 1), (0, 0)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|area| shown.draw(area)).expect("drawn");
        if width < 80 {
            continue;
        }
        let picture = terminal.backend().to_string();
        assert!(
            ["eth0", "voice", "4Mbit", "queue full", "q quits"].iter().all(|it| picture.contains(it)),
            "{picture}"
        );
    }
}
