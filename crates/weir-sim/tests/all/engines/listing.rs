//! The plain engine against the listing of the report: one linear list, searched from its head, and time.

use proptest::prelude::*;

use super::script::{Given, open, plain_with};

/// What the list orders by; alpha in quarters.
#[derive(Clone, Copy, Debug)]
enum Rule {
    RoundRobin,
    RoundRobinHead,
    Alpha(i128),
}

/// A number of quarters against which the clock is negligible.
const SHORTEST_FIRST: i128 = 1 << 60;

const RULES: [(&str, Rule); 8] = [
    ("fifo", Rule::Alpha(0)),
    ("rr", Rule::RoundRobin),
    ("rr_head", Rule::RoundRobinHead),
    ("sf", Rule::Alpha(SHORTEST_FIRST)),
    ("alpha:0.25", Rule::Alpha(1)),
    ("alpha:1", Rule::Alpha(4)),
    ("alpha:2.5", Rule::Alpha(10)),
    ("alpha:20", Rule::Alpha(80)),
];

struct Entry {
    index: u64,
    remaining: u32,
    priority: i128,
}

/// The message port of the report, literally.
struct Port {
    rule: Rule,
    list: Vec<Entry>,
    tick: i128,
}

impl Port {
    fn submit(&mut self, index: u64, length: u32) {
        let priority = match self.rule {
            Rule::RoundRobin => self.tick,
            Rule::RoundRobinHead => 0,
            Rule::Alpha(quarters) => quarters * i128::from(length) + 4 * self.tick,
        };
        let place = self.list.iter().position(|entry| entry.priority > priority);
        self.list.insert(place.unwrap_or(self.list.len()), Entry { index, remaining: length, priority });
    }

    /// Takes a packet of the head: whose, and whether it was the last.
    fn take(&mut self) -> (u64, bool) {
        self.tick += 1;
        let mut head = self.list.remove(0);
        head.remaining -= 1;
        let (index, last) = (head.index, head.remaining == 0);
        match self.rule {
            _ if last => {}
            Rule::Alpha(quarters) => {
                head.priority -= quarters;
                self.list.insert(0, head);
            }
            Rule::RoundRobin | Rule::RoundRobinHead => {
                head.priority = self.tick;
                self.list.push(head);
            }
        }
        (index, last)
    }
}

/// What the listing gives: whom each tick served and when, and by message the latency.
#[derive(Default)]
struct Expected {
    schedule: Vec<u64>,
    accepted: Vec<u64>,
    latencies: Vec<u64>,
    end: u64,
}

fn listing(rule: Rule, messages: &[Given], times: &[u64]) -> Expected {
    let mut port = Port { rule, list: Vec::new(), tick: 0 };
    let mut expected = Expected { latencies: vec![0; messages.len()], ..Expected::default() };
    let mut next = 0;
    loop {
        if port.list.is_empty() {
            let Some(&(at, length, _)) = messages.get(next) else { return expected };
            expected.end = expected.end.max(at);
            port.submit(next as u64, length);
            next += 1;
        }
        let now = expected.end;
        let (index, last) = port.take();
        if last {
            expected.latencies[index as usize] = now - messages[index as usize].0;
        }
        expected.end += times[expected.schedule.len() % times.len()];
        expected.schedule.push(index);
        expected.accepted.push(now);
        while let Some(&(_, length, _)) = messages.get(next).filter(|message| message.0 < expected.end) {
            port.submit(next as u64, length);
            next += 1;
        }
    }
}

/// Packets that have arrived at `instant` and are not accepted then.
fn waiting(messages: &[Given], accepted: &[u64], instant: u64) -> u64 {
    let arrived = messages.iter().filter(|message| message.0 <= instant);
    let arrived: u64 = arrived.map(|message| u64::from(message.1)).sum();
    arrived - accepted.iter().filter(|&&at| at <= instant).count() as u64
}

/// Bursts at one instant, arrivals at the instant of an acceptance, idle periods, and everything between.
fn input() -> impl Strategy<Value = (Vec<Given>, Vec<u64>, u64)> {
    let gap = prop_oneof![Just(0_u64), Just(10), 1..40_u64, 100..400_u64];
    let messages = prop::collection::vec((gap, 1_u32..25, 0_u32..3), 1..120);
    let times = prop_oneof![Just(vec![10]), prop::collection::vec(1_u64..25, 1..30)];
    (messages, times, 1_u64..60).prop_map(|(gaps, times, period)| {
        let mut now = 0;
        let absolute = |(gap, length, flow)| {
            now += gap;
            (now, length, flow)
        };
        (gaps.into_iter().map(absolute).collect(), times, period)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn plain_engine_agrees_with_the_listing((messages, times, period) in input()) {
        for (spec, rule) in RULES {
            let expected = listing(rule, &messages, &times);
            let (log, state) = plain_with(spec, open(&messages), &times, period);
            prop_assert_eq!(&log.schedule, &expected.schedule, "{}", spec);
            prop_assert_eq!(log.latencies(), expected.latencies, "{}", spec);
            prop_assert_eq!(state.now.get(), expected.end);
            prop_assert_eq!(log.samples.len() as u64, (expected.end - 1) / period);
            for sample in &log.samples {
                let packets = waiting(&messages, &expected.accepted, sample.at.get());
                prop_assert_eq!(sample.packets, packets, "{} at {}", spec, sample.at.get());
            }
        }
    }
}
