//! How long requests wait for their service to begin, before they leave.
//!
//! A stream of its own (`Services` 2), from which every request draws in order of arrival; so it is the same under every
//! discipline. Clients of a closed loop draw from the streams of their own.

use super::services::{Exponential, Sampler};
use crate::model::{ServerScenario, Service};
use weir_lab::stream::{Purpose, Stream, StreamKey};

/// Who waits for ever.
pub(crate) const FOR_EVER: u64 = u64::MAX;

/// The patience of requests, by their classes.
#[derive(Debug)]
pub(crate) struct Patience {
    laws: Vec<Option<Sampler>>,
    /// Where all are exponential.
    exponential: Option<Exponential>,
    draws: Stream,
}

impl Patience {
    /// `None` where all wait for ever.
    pub(crate) fn new(scenario: &ServerScenario, replication: u32) -> Option<Self> {
        let key = StreamKey { seed: scenario.seed, replication, purpose: Purpose::Services, index: 2 };
        let of = |patience: &Option<Service>| patience.as_ref().map(Sampler::new);
        let laws: Vec<_> = scenario.classes.iter().map(|class| of(&class.patience)).collect();
        let exponential = Exponential::new(laws.iter().map(Option::as_ref));
        scenario.has_patience().then(|| Self { laws, exponential, draws: Stream::new(key) })
    }

    /// Appends the patience of requests of these classes, in nanoseconds.
    pub(crate) fn fill(&mut self, classes: &[u16], out: &mut Vec<u64>) {
        let Self { laws, exponential, draws } = self;
        if let Some(exponential) = exponential {
            exponential.fill(classes, draws, out);
            return;
        }
        let of = |&class: &u16| draw(laws, class, draws);
        out.extend(classes.iter().map(of));
    }

    /// The patience of a request of a class, drawn from the stream of its client, in nanoseconds.
    pub(crate) fn of(&self, class: u16, stream: &mut Stream) -> u64 {
        draw(&self.laws, class, stream)
    }
}

fn draw(laws: &[Option<Sampler>], class: u16, stream: &mut Stream) -> u64 {
    laws[usize::from(class)].as_ref().map_or(FOR_EVER, |law| law.draw(stream))
}
