//! The applications of a closed loop: each thinks and submits by random streams of its own.
//!
//! What an application draws for its n-th message does not depend on when it submits it, so all
//! disciplines see the same lengths and the same thinking times (common random numbers).

use crate::arrivals::{Application, Step};
use crate::model::{Closed, Think};
use weir_core::units::Nanos;
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::{MessageClasses, SizeSampler};

/// All applications of one replication.
pub struct Applications {
    think: Think,
    sizes: SizeSampler,
    classes: MessageClasses,
    /// Of each application.
    streams: Vec<Draws>,
}

/// What an application draws from.
struct Draws {
    lengths: Stream,
    thinking: Stream,
}

impl Applications {
    /// The applications of `closed` in one replication.
    #[must_use]
    pub fn new(closed: &Closed, classes: &MessageClasses, seed: u64, replication: u32) -> Self {
        let stream = |purpose, index| Stream::new(StreamKey { seed, replication, purpose, index });
        let of_application = |index| Draws {
            lengths: stream(Purpose::Lengths, index),
            thinking: stream(Purpose::Thinking, index),
        };
        Self {
            think: closed.think,
            sizes: closed.lengths.sampler(),
            classes: classes.clone(),
            streams: (0..closed.applications).map(of_application).collect(),
        }
    }
}

impl Application for Applications {
    fn next(&mut self, flow: u32) -> Step {
        let Draws { lengths, thinking } = &mut self.streams[flow as usize];
        let length = u32::try_from(self.sizes.sample(lengths.next_u64())).unwrap_or(u32::MAX);
        let think = match self.think {
            Think::Constant(time) => time,
            Think::Exponential(mean) => Nanos::new(thinking.next_exponential(mean.get() as f64)),
        };
        Step { think, length, class: self.classes.class_of(length).unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_workload::Sizes;

    fn applications(think: Think, replication: u32) -> Applications {
        let lengths = Sizes::alpha_report();
        let classes = MessageClasses::by_length(&lengths, 10).expect("six lengths");
        Applications::new(&Closed { applications: 3, think, lengths }, &classes, 5, replication)
    }

    /// What `flow` draws when the applications are asked in this order.
    fn drawn(order: &[u32], flow: u32, replication: u32) -> Vec<Step> {
        let mut applications = applications(Think::Exponential(Nanos::new(1_000)), replication);
        let all: Vec<_> = order.iter().map(|&flow| (flow, applications.next(flow))).collect();
        all.into_iter().filter(|(of, _)| *of == flow).map(|(_, drawn)| drawn).collect()
    }

    #[test]
    fn what_an_application_draws_does_not_depend_on_the_others() {
        let alone = drawn(&[1; 50], 1, 0);
        let among: Vec<u32> = (0..150).map(|place| place * 7 % 3).collect();
        assert_eq!(drawn(&among, 1, 0), alone);
        assert_ne!(drawn(&[2; 50], 2, 0), alone);
        assert_ne!(drawn(&[1; 50], 1, 1), alone);
    }

    #[test]
    fn a_constant_time_of_thinking_is_kept() {
        let mut applications = applications(Think::Constant(Nanos::new(77)), 0);
        for _ in 0..100 {
            let Step { think, length, class } = applications.next(0);
            assert_eq!(think, Nanos::new(77));
            assert_eq!(length, [1, 2, 3, 4, 5, 20][usize::from(class)]);
        }
    }
}
