//! The applications of a closed loop: each thinks and submits by random streams of its own.
//!
//! What an application draws for its n-th message does not depend on when it submits it, so all
//! disciplines see the same lengths and the same thinking times (common random numbers).

use crate::arrivals::{Application, Step};
use crate::model::{Closed, Group, Think};
use crate::ticks::Ticks;
use weir_core::units::Nanos;
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::{MessageClasses, SizeSampler};

/// All applications of one replication.
pub struct Applications {
    groups: Vec<Alike>,
    classes: MessageClasses,
    /// Of each application.
    streams: Vec<Draws>,
}

/// What the applications of a group do alike.
struct Alike {
    /// In ticks of the clock.
    think: Think,
    sizes: SizeSampler,
}

/// What an application draws from, and whose laws it follows.
struct Draws {
    lengths: Stream,
    thinking: Stream,
    group: u16,
}

impl Applications {
    /// The applications of `closed` under a key of seed and replication; thinking is counted in `ticks`.
    #[must_use]
    pub fn new(closed: &Closed, classes: &MessageClasses, ticks: Ticks, key: (u64, u32)) -> Self {
        let (seed, replication) = key;
        let alike = |group: &Group| {
            let think = match group.think {
                Think::Constant(time) => Think::Constant(ticks.of_span(time)),
                Think::Exponential(mean) => Think::Exponential(ticks.of_span(mean)),
            };
            Alike { think, sizes: group.lengths.sampler() }
        };
        let members =
            (0..).zip(&closed.groups).flat_map(|(at, group)| (0..group.applications).map(move |_| at));
        let stream = |purpose, index| Stream::new(StreamKey { seed, replication, purpose, index });
        let of_application = |(index, group)| Draws {
            lengths: stream(Purpose::Lengths, index),
            thinking: stream(Purpose::Thinking, index),
            group,
        };
        Self {
            groups: closed.groups.iter().map(alike).collect(),
            classes: classes.clone(),
            streams: (0..).zip(members).map(of_application).collect(),
        }
    }
}

impl Application for Applications {
    fn next(&mut self, flow: u32) -> Step {
        let Draws { lengths, thinking, group } = &mut self.streams[flow as usize];
        let Alike { think, sizes } = &self.groups[usize::from(*group)];
        let length = u32::try_from(sizes.sample(lengths.next_u64())).unwrap_or(u32::MAX);
        let think = match *think {
            Think::Constant(time) => time,
            Think::Exponential(mean) => Nanos::new(thinking.next_exponential(mean.get() as f64)),
        };
        // Classes that lengths do not make are the groups.
        Step { think, length, class: self.classes.class_of(length).unwrap_or(*group) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_workload::Sizes;

    fn group(applications: u32, think: Think, lengths: Sizes) -> Group {
        Group { name: String::new(), applications, think, lengths }
    }

    fn applications(think: Think, replication: u32) -> Applications {
        let lengths = Sizes::alpha_report();
        let classes = MessageClasses::by_length(&lengths, 10).expect("six lengths");
        let closed = Closed { groups: vec![group(3, think, lengths)] };
        Applications::new(&closed, &classes, Ticks::NANOSECONDS, (5, replication))
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

    /// Finding B6: each application has the lengths and the thinking of its group, and its class where groups are.
    #[test]
    fn b6_applications_follow_their_groups() {
        let constant = |length| Sizes::constant(length).expect("a length");
        let think = |time| Think::Constant(Nanos::new(time));
        let groups = vec![group(2, think(7), constant(20)), group(1, think(0), constant(1))];
        let classes =
            MessageClasses::Named { names: vec!["long".to_owned(), "short".to_owned()], alphas: None };
        let closed = Closed { groups };
        assert_eq!((closed.applications(), closed.mean_length()), (3, 41.0 / 3.0));
        let mut applications = Applications::new(&closed, &classes, Ticks::PICOSECONDS, (5, 0));
        let mut of = |flow| {
            let Step { think, length, class } = applications.next(flow);
            (think.get(), length, class)
        };
        assert_eq!([0, 1, 2].map(&mut of), [(7_000, 20, 0), (7_000, 20, 0), (0, 1, 1)]);
    }
}
