//! The lower of two loads, each the latency of a server, averaged with a jump to every peak, times the requests under way.
//!
//! The latency of a server is the response of the requests sent there: a response above it replaces it at once, one below it
//! moves it by `1 - e^(-t / decay)` of the difference, where `t` is the time since it was last moved; it decays towards
//! nothing while no response comes. The load is the latency times one more than the requests under way. A server of which
//! nothing is known is the best while it has no request, and nearly the worst while it has one. A request joins the server
//! with the lower load of `d` that are drawn. Each receiver knows the responses and the requests of its own alone.
//!
//! | | |
//! |-|-|
//! | Source | the load metric *Peak EWMA* of Finagle, `PeakEwma.scala`, 2015, with its default of 10 s; power of two choices |
//! | Needs to know | when its requests are answered |
//! | Work per request | O(d) |
//! | Units | `decay`: time; latencies: nanoseconds |
//! | Memory | three words per server and receiver, four per request under way |
//! | Departs from the source | the exponential is computed from sums and products, so that every machine decides alike |

use super::drawn::Drawn;
use super::random::SEED;
use super::{Dispatcher, Heard, MAX_SERVERS, ReceiverId, ServerId, Servers, Site, Step};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// A day.
const LONGEST: Nanos = Nanos::new(86_400_000_000_000);

/// What the listings say.
pub const INFO: Info = Info {
    name: "peak_ewma",
    kind: Kind::Dispatcher,
    title: "lowest latency, averaged with its peaks (Peak EWMA)",
    rule: "each request joins the server with the lowest load of d that are drawn: the mean latency, which jumps to \
        every peak, times the requests under way and one",
    source: "Finagle, PeakEwma.scala, 2015",
    work: "O(d)",
    parameters: &[
        Parameter::new("decay", Takes::Span(Nanos::ONE..=LONGEST), "10s")
            .meaning("after how long the past counts by 1/e"),
        Parameter::new("d", Takes::Whole(1..=MAX_SERVERS as u64), "2")
            .listed("servers, {}; all where there are fewer")
            .meaning("how many servers are drawn"),
        SEED,
    ],
    example: "peak_ewma:decay=10ms",
};

/// The load of a server that has requests of which none has been answered, and of which nothing is known; as the source
/// has it, 2^47.
const UNKNOWN: f64 = (1_u64 << 47) as f64;

/// What a receiver knows of a server.
#[derive(Clone, Copy, Debug)]
struct Metric {
    /// The latency, in nanoseconds; 0 where nothing is known.
    latency: f64,
    /// When it was moved.
    moved: Instant,
    /// Requests under way.
    pending: u32,
}

impl Metric {
    const NONE: Self = Self { latency: 0.0, moved: Instant::ZERO, pending: 0 };

    /// Moves the latency towards what is observed now, or to a peak.
    fn observe(&mut self, now: Instant, response: f64, decay: Nanos) {
        let past = exp_of_minus(now.since(self.moved).get() as f64 / decay.get() as f64);
        self.moved = now.max(self.moved);
        self.latency =
            if response > self.latency { response } else { self.latency * past + response * (1.0 - past) };
    }

    fn load(&mut self, now: Instant, decay: Nanos) -> f64 {
        self.observe(now, 0.0, decay);
        let pending = f64::from(self.pending);
        if self.latency == 0.0 && self.pending > 0 {
            UNKNOWN + pending
        } else {
            self.latency * (pending + 1.0)
        }
    }
}

/// e to the power of -x, of an x that is not negative: the series at a fraction of x, squared as often as it was halved.
fn exp_of_minus(x: f64) -> f64 {
    if x > 700.0 {
        return 0.0;
    }
    let (mut part, mut halved) = (x, 0);
    while part > 0.25 {
        (part, halved) = (part / 2.0, halved + 1);
    }
    // Ten terms at a quarter are exact to 10^-14.
    let series = (1..=10).rev().fold(1.0, |sum, n| 1.0 - part / f64::from(n) * sum);
    (0..halved).fold(series, |power, _| power * power)
}

/// The lowest latency, averaged with its peaks.
#[derive(Clone, Debug)]
pub struct PeakEwma {
    drawn: Drawn,
    choices: u32,
    decay: Nanos,
    servers: usize,
    /// What is known of the servers, receiver after receiver.
    metrics: Vec<Metric>,
}

impl PeakEwma {
    /// As a spec names it.
    ///
    /// # Errors
    /// A number or the span is out of its bounds, or the seed is none.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let choices: u32 = arguments.whole("d")?;
        let servers = site.servers as usize;
        Ok(Self {
            drawn: Drawn::new(arguments.whole(SEED.name)?, site.server_ids()),
            choices: choices.min(site.servers),
            decay: arguments.span("decay")?,
            servers,
            metrics: vec![Metric::NONE; servers * site.receivers as usize],
        })
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for PeakEwma {
    #[inline]
    fn dispatch(
        &mut self,
        now: Instant,
        _item: &I,
        receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let mut all = self.metrics.chunks_exact_mut(self.servers);
        let metrics = all.nth(receiver.0 as usize).ok_or(DropReason::Unclassified)?;
        let first = self.drawn.draw(0);
        let mut best = (metrics[first.0 as usize].load(now, self.decay), first);
        for place in 1..self.choices {
            let server = self.drawn.draw(place);
            let load = metrics[server.0 as usize].load(now, self.decay);
            if load < best.0 {
                best = (load, server);
            }
        }
        Ok(best.1)
    }

    #[inline]
    fn hears(&self) -> bool {
        true
    }

    fn heard(&mut self, now: Instant, heard: &Heard) {
        let mut all = self.metrics.chunks_exact_mut(self.servers);
        let own = all.nth(heard.receiver.0 as usize);
        let Some(metric) = own.and_then(|metrics| metrics.get_mut(heard.server.0 as usize)) else { return };
        match heard.step {
            Step::Joined => metric.pending += 1,
            Step::Dropped => metric.pending = metric.pending.saturating_sub(1),
            Step::Left { response } => {
                metric.pending = metric.pending.saturating_sub(1);
                metric.observe(now, response.get() as f64, self.decay);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::testing::{Named, refused, site};

    const DECAY: Nanos = Nanos::new(1_000);

    fn at(time: u64) -> Instant {
        Instant::new(time)
    }

    #[test]
    fn the_exponential_is_that_of_the_machine() {
        for x in [0.0, 1e-9, 0.1, 0.25, 0.3, 1.0, 2.5, 17.0, 300.0, 699.0] {
            let (found, exact) = (exp_of_minus(x), (-x).exp());
            assert!((found - exact).abs() <= 1e-12 * exact, "{x}: {found}, {exact}");
        }
        assert_eq!((exp_of_minus(701.0), exp_of_minus(f64::INFINITY)), (0.0, 0.0));
    }

    #[test]
    fn a_peak_counts_at_once_and_fades() {
        let mut metric = Metric::NONE;
        metric.observe(at(0), 500.0, DECAY);
        assert!((metric.latency - 500.0).abs() < 1e-9);
        // One below moves it by 1 - 1/e after one decay.
        metric.observe(at(1_000), 100.0, DECAY);
        let expected = 500.0 * (-1.0_f64).exp() + 100.0 * (1.0 - (-1.0_f64).exp());
        assert!((metric.latency - expected).abs() < 1e-9, "{metric:?}");
        metric.observe(at(1_000), 900.0, DECAY);
        assert!((metric.latency - 900.0).abs() < 1e-9);
        // Two under way: three times what has faded.
        metric.pending = 2;
        assert!((metric.load(at(2_000), DECAY) - 3.0 * 900.0 * (-1.0_f64).exp()).abs() < 1e-6);
    }

    /// Three servers, all drawn: what is known decides alone.
    #[test]
    fn by_hand() {
        let mut named = Named::new("peak_ewma(decay=1s,d=3)", &site(3));
        let hear = |named: &mut Named, server, step| {
            let heard = Heard { step, server: ServerId(server), receiver: ReceiverId(0), length: 0 };
            named.0.heard(Instant::ZERO, &heard);
        };
        let answers = [100, 300, 200].map(|response| Step::Left { response: Nanos::new(response) });
        for (server, answer) in (0..).zip(answers) {
            hear(&mut named, server, Step::Joined);
            hear(&mut named, server, answer);
        }
        assert_eq!(named.send(0, 0), Some(0));
        // 100 x 3, 300 x 1 and 200 x 1; then 200 x 2; then without the two.
        (0..2).for_each(|_| hear(&mut named, 0, Step::Joined));
        assert_eq!(named.send(0, 0), Some(2));
        hear(&mut named, 2, Step::Joined);
        (0..2).for_each(|_| hear(&mut named, 0, Step::Joined));
        assert_eq!(named.send(0, 0), Some(1));
        (0..4).for_each(|_| hear(&mut named, 0, Step::Dropped));
        assert_eq!(named.send(0, 0), Some(0));
    }

    #[test]
    fn who_has_not_answered_yet_is_nearly_the_worst() {
        let mut metric = Metric { pending: 1, ..Metric::NONE };
        assert!(metric.load(at(5), DECAY) > 1e14);
        metric.pending = 0;
        assert!(metric.load(at(5), DECAY) < 1e-9);
    }

    #[test]
    fn each_receiver_knows_its_own() {
        let mut named = Named::new("peak_ewma(decay=1s,d=2)", &Site { receivers: 2, ..site(2) });
        let joined = Heard { step: Step::Joined, server: ServerId(0), receiver: ReceiverId(1), length: 1 };
        named.0.heard(Instant::ZERO, &joined);
        assert!((0..20).all(|_| named.send(1, 0) == Some(1)));
        assert!((0..20).any(|_| named.send(0, 0) == Some(0)));
        assert_eq!(named.send(2, 0), None);
    }

    #[test]
    fn bounds_are_said() {
        assert_eq!(
            refused("peak_ewma:decay=0s", &site(2)),
            "`peak_ewma`: decay is `0s`, must be a span from 1ns to 86400s"
        );
    }
}
