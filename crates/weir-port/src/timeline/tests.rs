//! The timeline against a server that takes one packet at a time.

use super::*;
use weir_core::units::Nanos;
use weir_lab::stream::{Purpose, Stream, StreamKey};

/// Arrivals read from a list.
struct Listed {
    arrivals: Vec<(u64, u32)>,
    drawn: usize,
}

impl ArrivalSource for Listed {
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
        block.clear();
        let n = n.min(self.arrivals.len() - self.drawn);
        for &(at, length) in &self.arrivals[self.drawn..self.drawn + n] {
            block.push(at, length, 0, 0);
        }
        self.drawn += n;
        n
    }
}

struct Cycle(Vec<u64>, usize);

impl ServiceSource for Cycle {
    fn fill(&mut self, out: &mut [u64]) {
        for slot in out {
            *slot = self.0[self.1 % self.0.len()];
            self.1 += 1;
        }
    }
}

#[derive(Debug, Default, PartialEq)]
struct Played {
    tick: Vec<u64>,
    accepted: Vec<u64>,
    finished: Vec<u64>,
    queue: Vec<(u64, u64)>,
}

fn play(arrivals: &[(u64, u32)], services: &[u64], period: u64, stop: u64, level: Level) -> Played {
    let mut source = Listed { arrivals: arrivals.to_vec(), drawn: 0 };
    let mut times = Cycle(services.to_vec(), 0);
    let mut timeline = Timeline::with_level(Nanos::new(period), level);
    let mut played = Played::default();
    let mut boundary = stop;
    loop {
        let drawn = timeline.extend(&mut source, &mut times, 37).unwrap();
        loop {
            while let Some(segment) = timeline.next_segment(boundary) {
                played.tick.extend(segment.tick);
                played.accepted.extend(segment.accepted);
                played.finished.extend(segment.finished.last_tick);
                let rows = segment
                    .queue
                    .iter()
                    .flat_map(|q| core::iter::repeat_n((q.tick, q.packets), q.readings as usize));
                played.queue.extend(rows);
            }
            if timeline.accepted() < boundary {
                break;
            }
            boundary += stop;
        }
        if drawn == 0 {
            return played;
        }
    }
}

/// The same, one packet at a time.
fn plain(arrivals: &[(u64, u32)], services: &[u64], period: u64) -> Played {
    let mut played = Played::default();
    let mut free = 0;
    let mut packets = 0;
    for &(at, length) in arrivals {
        for _ in 0..length {
            let begin = at.max(free);
            free = begin + services[played.accepted.len() % services.len()];
            played.accepted.push(begin);
        }
        played.finished.push(played.accepted.len() as u64 - 1);
    }
    for &(at, length) in arrivals {
        played.tick.push(played.accepted[..packets].partition_point(|&begin| begin <= at) as u64);
        packets += length as usize;
    }
    let end = played.accepted.last().copied().unwrap_or(0);
    for sample in (1..).map(|k| k * period).take_while(|&sample| sample < end) {
        let gone = played.accepted.partition_point(|&begin| begin <= sample) as u64;
        let here: u64 =
            arrivals.iter().filter(|(at, _)| *at <= sample).map(|&(_, length)| u64::from(length)).sum();
        played.queue.push((gone, here - gone));
    }
    played
}

#[test]
fn equals_a_packet_by_packet_server_on_random_input() {
    let mut stream = Stream::new(StreamKey { seed: 1, replication: 0, purpose: Purpose::Test, index: 0 });
    for case in 0..300 {
        let gap = 1 + stream.next_below(60);
        let mut at = stream.next_below(20);
        let mut arrivals = Vec::new();
        for _ in 0..stream.next_below(300) {
            arrivals.push((at, 1 + stream.next_below(12) as u32));
            at += stream.next_below(gap) * (1 + 50 * u64::from(stream.next_below(20) == 0));
        }
        let services: Vec<u64> = (0..1 + case % 5).map(|_| 1 + stream.next_below(8)).collect();
        let expected = plain(&arrivals, &services, 13);
        for &level in Level::available() {
            let stop = 1 + stream.next_below(90);
            assert_eq!(play(&arrivals, &services, 13, stop, level), expected, "case {case}, {level:?}");
        }
    }
}

#[test]
fn bad_arrivals_are_named() {
    let mut timeline = Timeline::new(Nanos::new(0));
    let mut source = Listed { arrivals: vec![(5, 1), (4, 1)], drawn: 0 };
    let mut times = Cycle(vec![1], 0);
    let error = timeline.extend(&mut source, &mut times, 10).unwrap_err();
    assert_eq!(error, TimelineError::Unsorted { order: 1 });
    assert_eq!(error.to_string(), "message 2 arrives before its predecessor; sort the arrivals by time");
    let mut source = Listed { arrivals: vec![(5, 0)], drawn: 0 };
    let error = Timeline::new(Nanos::new(0)).extend(&mut source, &mut times, 10).unwrap_err();
    assert_eq!(error, TimelineError::ZeroLength { order: 0 });
    let mut source = Listed { arrivals: vec![(1 << 63, 1)], drawn: 0 };
    let error = Timeline::new(Nanos::new(0)).extend(&mut source, &mut times, 10).unwrap_err();
    assert_eq!(error, TimelineError::ClockEnds);
}
