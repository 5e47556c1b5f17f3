//! Times that packets take besides their transmission: constant parts and what is drawn on top.

use crate::model::{Delay, Jitter};
use weir_core::units::{Cost, Instant, Nanos};
use weir_lab::stream::{LONGEST_MEAN, Stream};

/// A span that is drawn for each packet, from a stream of its own.
#[derive(Clone, Debug)]
pub struct Spans {
    constant: Nanos,
    drawn: Drawn,
}

#[derive(Clone, Debug)]
enum Drawn {
    Nothing,
    /// Uniform over whole nanoseconds below the bound.
    Below(u64, Box<Stream>),
    Exponential(f64, Box<Stream>),
}

impl Spans {
    /// The spans of `delay`; `stream` is made where something is drawn.
    pub fn new(delay: Delay, stream: impl FnOnce() -> Stream) -> Self {
        let drawn = match delay.jitter {
            Jitter::None => Drawn::Nothing,
            Jitter::Uniform(span) if span.get() == 0 => Drawn::Nothing,
            Jitter::Exponential(mean) if mean.get() == 0 => Drawn::Nothing,
            Jitter::Uniform(span) => Drawn::Below(span.get().saturating_add(1), Box::new(stream())),
            Jitter::Exponential(mean) => {
                Drawn::Exponential((mean.get() as f64).min(LONGEST_MEAN), Box::new(stream()))
            }
        };
        Self { constant: delay.constant, drawn }
    }

    /// The next span.
    #[inline]
    pub fn draw(&mut self) -> Nanos {
        let drawn = match &mut self.drawn {
            Drawn::Nothing => return self.constant,
            Drawn::Below(bound, stream) => stream.next_below(*bound),
            Drawn::Exponential(mean, stream) => stream.next_exponential(*mean),
        };
        self.constant.plus(Nanos::new(drawn))
    }
}

/// The way of one input through a node: packets take their time in it and keep their order.
#[derive(Clone, Debug)]
pub struct Passage {
    spans: Spans,
    /// When the packet before left it.
    last: Instant,
}

impl Passage {
    /// A way that takes `spans`.
    #[must_use]
    pub fn new(spans: Spans) -> Self {
        Self { spans, last: Instant::ZERO }
    }

    /// When a packet leaves it that enters at `at`.
    #[inline]
    pub fn through(&mut self, at: Instant) -> Instant {
        let span = self.spans.draw();
        self.past(at.after(span))
    }

    /// When a packet leaves it that would at `at`, were it alone.
    #[inline]
    pub fn past(&mut self, at: Instant) -> Instant {
        self.last = self.last.max(at);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_lab::stream::{Purpose, StreamKey};

    fn spans(constant: u64, jitter: Jitter) -> Spans {
        let delay = Delay { constant: Nanos::new(constant), jitter };
        Spans::new(delay, || {
            Stream::new(StreamKey { seed: 1, replication: 0, purpose: Purpose::Test, index: 0 })
        })
    }

    #[test]
    fn drawn_spans_stay_inside_and_have_their_mean() {
        let mut uniform = spans(100, Jitter::Uniform(Nanos::new(10)));
        let drawn: Vec<u64> = (0..10_000).map(|_| uniform.draw().get()).collect();
        assert!(drawn.iter().all(|span| (100..=110).contains(span)));
        assert!([100, 110].iter().all(|end| drawn.contains(end)));
        let mut exponential = spans(1_000, Jitter::Exponential(Nanos::new(10_000)));
        let mean = (0..40_000).map(|_| exponential.draw().get() as f64).sum::<f64>() / 40_000.0;
        assert!((mean - 11_000.0).abs() < 4.0 * 10_000.0 / 200.0, "{mean}");
        assert_eq!(spans(7, Jitter::Uniform(Nanos::new(0))).draw(), Nanos::new(7));
    }

    #[test]
    fn packets_keep_their_order() {
        let mut passage = Passage::new(spans(5, Jitter::Uniform(Nanos::new(1_000))));
        let left: Vec<u64> = (0..1_000).map(|n| passage.through(Instant::new(n * 10)).get()).collect();
        assert!(left.is_sorted());
        assert!(left.iter().enumerate().all(|(n, &at)| at >= n as u64 * 10 + 5));
    }
}
