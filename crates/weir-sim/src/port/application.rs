//! The applications of a closed loop: each thinks and submits by random streams of its own.
//!
//! What an application draws for its n-th message does not depend on when it submits it, so all
//! disciplines see the same lengths and the same thinking times (common random numbers).

use weir_core::units::Nanos;

use crate::engine::stream::{Purpose, Stream, StreamKey};
use crate::port::arrivals::Application;
use crate::scenario::{Closed, Think};
use crate::workload::{MessageClasses, SizeSampler};

/// All applications of one replication.
pub struct Applications {
    think: Think,
    sizes: SizeSampler,
    classes: MessageClasses,
    /// Lengths, then thinking times, of each application.
    streams: Vec<(Stream, Stream)>,
}

impl Applications {
    /// The applications of `closed` in one replication.
    #[must_use]
    pub fn new(closed: &Closed, classes: &MessageClasses, seed: u64, replication: u32) -> Self {
        let stream = |purpose, index| Stream::new(StreamKey { seed, replication, purpose, index });
        let of_application = |index| (stream(Purpose::Lengths, index), stream(Purpose::Thinking, index));
        Self {
            think: closed.think,
            sizes: closed.lengths.sampler(),
            classes: classes.clone(),
            streams: (0..closed.applications).map(of_application).collect(),
        }
    }
}

impl Application for Applications {
    fn next(&mut self, flow: u32) -> (u64, u32, u16) {
        let (lengths, thinking) = &mut self.streams[flow as usize];
        let length = u32::try_from(self.sizes.sample(lengths.next_u64())).unwrap_or(u32::MAX);
        let think = match self.think {
            Think::Constant(time) => time,
            Think::Exponential(mean) => Nanos::new(thinking.next_exponential(mean.get() as f64)),
        };
        (think.get(), length, self.classes.class_of(length).unwrap_or(0))
    }
}
