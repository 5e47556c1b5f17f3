//! Departures of TG scripts, as a source has them.
//!
//! In the compatible mode every flow draws the one sequence of 4.3BSD, in every replication. In the independent
//! mode a flow has a stream of its own; a seed in the script selects a stream that does not depend on the flow,
//! so that flows of one seed send alike, and replications still differ.

use std::sync::Arc;

use crate::source::{Schedule, Scheduled};
use weir_core::units::{Bytes, Nanos};
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_tg::{BsdRandom, Departures, Random, RandomMode, Traffic};

/// The index of the streams of seeds, which no flow has.
const SEEDED: u32 = u32::MAX;

/// A stream of the project behind a script.
struct Streamed {
    stream: Stream,
    /// Where it began.
    key: StreamKey,
}

impl Streamed {
    fn new(key: StreamKey) -> Self {
        Self { stream: Stream::new(key), key }
    }
}

impl Random for Streamed {
    #[inline]
    fn next_31(&mut self) -> u32 {
        self.stream.next_u32() >> 1
    }

    fn seed(&mut self, seed: u64) {
        *self = Self::new(StreamKey { seed, index: SEEDED, ..self.key });
    }

    fn reset(&mut self) {
        *self = Self::new(self.key);
    }
}

/// The schedule of a flow, whose own stream has this key.
#[must_use]
pub fn schedule(traffic: &Arc<Traffic>, mode: RandomMode, key: StreamKey) -> Schedule {
    let own = traffic.clone();
    let on_the_wire = move |(after, data): (Nanos, Bytes)| {
        let size = u32::try_from(own.wire_size(data).get()).unwrap_or(u32::MAX);
        Scheduled { after, size }
    };
    let key = StreamKey { purpose: Purpose::Arrivals, ..key };
    match mode {
        RandomMode::Compatible => {
            Schedule::Listed(Box::new(Departures::new(traffic.clone(), BsdRandom::new()).map(on_the_wire)))
        }
        RandomMode::Independent => {
            Schedule::Listed(Box::new(Departures::new(traffic.clone(), Streamed::new(key)).map(on_the_wire)))
        }
    }
}

/// How many packets a script sends in `seconds` on average; infinite where it sends any number at once.
#[must_use]
pub fn expected(traffic: &Traffic, seconds: f64) -> f64 {
    let of_burst = |burst: &weir_tg::traffic::Burst| {
        let span = burst.time.map_or(seconds, |time| (time.get() as f64 / 1e9).min(seconds));
        let by_time = span / burst.arrival.mean();
        let by_data = burst.data.map_or(f64::INFINITY, |data| data.get() as f64 / burst.length.mean());
        let by_count = burst.packets.map_or(f64::INFINITY, |packets| packets as f64);
        // Nothing over nothing is no number, which `min` leaves out.
        by_count.min(by_data).min(by_time)
    };
    traffic.bursts.iter().map(of_burst).sum()
}
