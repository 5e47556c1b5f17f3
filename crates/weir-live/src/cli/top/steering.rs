//! One interval of a daemon that steers: its processors, and what its classes waited.

use weir_core::units::Nanos;
use weir_gauge::spans::Sojourn;
use weir_gauge::text::{packets, per_second, span, span_if_any};

use super::frame::{Block, Frame, Row};
use crate::cli::ctl::steering::thread;
use crate::steer::report::{ClassStats, ProcessorStats, SteeringStats};

/// What is shown of a processor, with its rank.
const PROCESSORS: [(&str, u8); 9] = [
    ("processor", 0),
    ("in use", 1),
    ("thread", 8),
    ("priority", 7),
    ("steered", 2),
    ("served", 3),
    ("dropped", 4),
    ("waiting", 5),
    ("served in all", 6),
];
/// What is shown of a class, with its rank.
const CLASSES: [(&str, u8); 6] =
    [("class", 0), ("rate", 1), ("mean", 2), ("p50", 4), ("p99", 3), ("longest of all", 5)];
/// What is shown of frames that were steered to nobody.
const FRAMES: [(&str, u8); 3] = [("frames", 0), ("in all", 2), ("now", 1)];

/// What happened between two samples of one daemon.
pub(super) fn frame(before: &SteeringStats, now: &SteeringStats) -> Frame {
    // A daemon that was started anew counts from zero.
    let nothing = SteeringStats::default();
    let before = if before.at_ns < now.at_ns { before } else { &nothing };
    let seconds = (now.at_ns - before.at_ns).max(1) as f64 / 1e9;
    let processors = now.processors.iter().map(|at| {
        let old = before.processors.iter().find(|old| old.processor == at.processor).cloned();
        Row::plain(processor(at, &old.unwrap_or_default(), seconds))
    });
    let classes = now.classes.iter().map(|at| {
        let old = before.classes.iter().find(|old| old.name == at.name).map(|old| &old.delay);
        Row::plain(class(at, old.unwrap_or(&Sojourn::default()), seconds))
    });
    Frame {
        title: title(now, seconds),
        blocks: vec![
            Block { head: PROCESSORS.to_vec(), left: 4, rows: processors.collect() },
            Block { head: CLASSES.to_vec(), left: 1, rows: classes.collect() },
            Block { head: FRAMES.to_vec(), left: 1, rows: frames(before, now, seconds) },
        ],
    }
}

fn title(now: &SteeringStats, seconds: f64) -> String {
    format!(
        "steering {}, interface {}, up {}, the last {}, {}: {} of {} processors in use, {} decisions",
        now.name,
        now.interface,
        span(Nanos::new(now.at_ns)),
        span(Nanos::new((seconds * 1e9) as u64)),
        now.policy,
        now.in_use,
        now.processors.len(),
        now.changes
    )
}

fn processor(at: &ProcessorStats, old: &ProcessorStats, seconds: f64) -> Vec<String> {
    let used = match (at.online, at.in_use, at.draining) {
        (false, ..) => "offline",
        (_, true, _) => "yes",
        (.., true) => "draining",
        _ => "no",
    };
    let each = |now: u64, old: u64| per_second(now.saturating_sub(old) as f64 / seconds);
    vec![
        at.processor.to_string(),
        used.to_owned(),
        thread(at.thread),
        at.priority.clone(),
        each(at.steered, old.steered),
        each(at.served, old.served),
        each(at.dropped, old.dropped),
        packets(at.waiting),
        packets(at.served),
    ]
}

fn class(at: &ClassStats, old: &Sojourn, seconds: f64) -> Vec<String> {
    let delay = at.delay.since(old);
    vec![
        at.name.clone(),
        per_second(delay.count() as f64 / seconds),
        span_if_any(delay.mean()),
        span_if_any(delay.quantile(0.5)),
        span_if_any(delay.quantile(0.99)),
        span_if_any((at.requests > 0).then_some(Nanos::new(at.delay.longest_ns))),
    ]
}

/// Those that were not steered, where there are any.
fn frames(before: &SteeringStats, now: &SteeringStats, seconds: f64) -> Vec<Row> {
    let of = |stats: &SteeringStats| {
        let frames = stats.frames;
        [frames.passed, frames.short, frames.fragment, frames.no_server]
    };
    let names = ["not ours", "short", "fragments", "without a processor"];
    let figures = names.into_iter().zip(of(now)).zip(of(before)).filter(|((_, all), _)| *all > 0);
    let row = |((name, all), old): ((&str, u64), u64)| {
        Row::plain(vec![name.to_owned(), packets(all), per_second(all.saturating_sub(old) as f64 / seconds)])
    };
    figures.map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(seconds: u64, requests: u64) -> SteeringStats {
        let delay = Sojourn { sum_ns: 2_000 * requests, longest_ns: 5_000, buckets: vec![(2_047, requests)] };
        let processors =
            [(1, true, false), (2, false, true)].map(|(processor, in_use, draining)| ProcessorStats {
                processor,
                thread: Some(70 + processor),
                priority: "SCHED_FIFO 50".to_owned(),
                online: true,
                in_use,
                draining,
                steered: requests,
                served: requests - 3,
                dropped: 1,
                waiting: 2,
            });
        let mut stats = SteeringStats {
            name: "kv".to_owned(),
            interface: "eth0".to_owned(),
            at_ns: seconds * 1_000_000_000,
            policy: "rr".to_owned(),
            in_use: 1,
            changes: 4,
            processors: processors.to_vec(),
            classes: vec![ClassStats { name: "short".to_owned(), requests, delay }],
            ..SteeringStats::default()
        };
        stats.frames.fragment = seconds;
        stats
    }

    #[test]
    fn a_page_is_the_difference_of_two_samples() {
        let expected = "\
steering kv, interface eth0, up 12s, the last 2s, rr: 1 of 2 processors in use, 4 decisions

processor  in use    thread  priority       steered  served  dropped  waiting  served in all
1          yes       71      SCHED_FIFO 50     1k/s    1k/s      0/s     2pkt        2997pkt
2          draining  72      SCHED_FIFO 50     1k/s    1k/s      0/s     2pkt        2997pkt

class  rate  mean     p50     p99  longest of all
short  1k/s   2us  2.05us  2.05us             5us

frames     in all  now
fragments   12pkt  1/s
";
        let page = frame(&stats(10, 1_000), &stats(12, 3_000));
        assert_eq!(page.text(200), expected);
        assert!(
            page.text(30).lines().any(|line| line == "processor  in use    steered"),
            "{}",
            page.text(30)
        );
    }
}
