//! Runs a comparison: draws the timeline, plays it on every strategy, hands out batches.

use super::error::{self, LockstepError};
use super::flow::Flow;
use super::players::{Play, Players};
use super::strategy::Strategy;
use super::tally::{Batch, BatchObserver, Probe};
use crate::engine::Waiting;
use crate::timeline::Timeline;
use weir_core::units::Nanos;
use weir_lab::dispatch::Level;
use weir_workload::source::{ArrivalSource, ServiceSource};

/// Ticks played at a time at most; bounds the memory of a segment.
const LONGEST_SEGMENT: u64 = 1 << 16;
/// How a run is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Ticks of a batch, at least 1.
    pub batch: u64,
    /// The time between readings of the queue monitor; 0 for none.
    pub monitor_period: Nanos,
    /// The loops to run; the results do not depend on it.
    pub level: Level,
}

impl Default for Options {
    /// Batches of 65,536 ticks, the queue read every 200 units of time.
    fn default() -> Self {
        Self { batch: 1 << 16, monitor_period: Nanos::new(200 * crate::UNIT), level: Level::detect() }
    }
}

/// Where a run ends, counted from its beginning; what waits then is not counted in the latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At the instant of this arrival.
    Messages(u64),
    /// When this many packets have been accepted.
    Packets(u64),
    /// When the arrivals have ended and everything has been served.
    Trace,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The limit was reached; a higher one lets the run go on.
    AtLimit,
    /// The arrivals ended, and everything has been served.
    AtEnd,
    /// The observer had enough.
    ByObserver,
}

/// Strategies compared on one timeline.
#[derive(Clone, Debug)]
pub struct Lockstep {
    lengths: Vec<u32>,
    options: Options,
    timeline: Timeline,
    players: Players,
    /// Counted from the beginning, now and at the end of the last batch.
    now: Batch,
    reported: Batch,
    flow: Flow,
}

impl Lockstep {
    /// A comparison of `strategies` over messages of the classes whose lengths are given.
    ///
    /// # Errors
    ///
    /// [`LockstepError`] for more classes than [`super::MOST_CLASSES`], a class of length 0, no strategy, no tick
    /// in a batch, or a table of alphas that does not fit the classes.
    pub fn new(strategies: &[Strategy], lengths: &[u32], options: Options) -> Result<Self, LockstepError> {
        error::check(strategies, lengths, &options)?;
        Ok(Self {
            lengths: lengths.to_vec(),
            options,
            timeline: Timeline::with_level(options.monitor_period, options.level),
            players: Players::new(strategies, lengths),
            now: Batch::new(strategies.len(), lengths.len()),
            reported: Batch::new(strategies.len(), lengths.len()),
            flow: Flow::default(),
        })
    }

    /// Runs on to the limit. The sources must be those of earlier calls, if any.
    ///
    /// # Errors
    ///
    /// [`LockstepError`] for a message that is not of its class, and from [`Timeline::extend`].
    pub fn run<P: Probe>(
        &mut self,
        arrivals: &mut dyn ArrivalSource,
        services: &mut dyn ServiceSource,
        limit: Limit,
        observer: &mut dyn BatchObserver,
        probe: &mut P,
    ) -> Result<Stopped, LockstepError> {
        loop {
            if self.play(limit, observer, probe)? {
                return Ok(Stopped::ByObserver);
            }
            if self.reached(limit) {
                return Ok(Stopped::AtLimit);
            }
            let wanted = match limit {
                Limit::Messages(n) => n - self.timeline.messages(),
                _ => u64::MAX,
            };
            let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
            if self.timeline.extend(arrivals, services, wanted)? == 0 {
                let enough = self.play(limit, observer, probe)?;
                return Ok(if enough {
                    Stopped::ByObserver
                } else if self.reached(limit) {
                    Stopped::AtLimit
                } else {
                    Stopped::AtEnd
                });
            }
        }
    }

    /// Hands out the batch begun, if it has a tick.
    pub fn finish(&mut self, observer: &mut dyn BatchObserver) {
        if self.now.end_tick > self.reported.end_tick {
            let _ = self.report(observer);
        }
    }

    /// Counts and sums since the beginning of the run.
    #[must_use]
    pub fn total(&mut self) -> Batch {
        self.players.read(&mut self.now);
        self.now.clone()
    }

    /// Packets handed to the strategies.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.flow.arrived
    }

    /// How many of them each strategy still holds by its own queue; `None` for FIFO, which keeps none.
    #[must_use]
    pub fn held(&self) -> Vec<Option<u64>> {
        self.players.held(self.now.count.len() / self.lengths.len())
    }

    /// The sum of all waits so far, which is what Little's law sets against the readings of the queue.
    #[must_use]
    pub fn waiting_time(&self) -> Waiting {
        let Flow { arrived, waits, last_accepted } = self.flow;
        let integral = i128::from(arrived - self.now.end_tick) * i128::from(last_accepted) + waits;
        Waiting { integral: u128::try_from(integral).unwrap_or(0), time: Nanos::new(last_accepted) }
    }

    /// The timeline: messages and packets so far.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    fn reached(&self, limit: Limit) -> bool {
        match limit {
            Limit::Messages(n) => self.timeline.messages() >= n,
            Limit::Packets(n) => self.now.end_tick >= n,
            Limit::Trace => false,
        }
    }

    /// Plays what the timeline has; returns whether the observer had enough.
    fn play<P: Probe>(
        &mut self,
        limit: Limit,
        observer: &mut dyn BatchObserver,
        probe: &mut P,
    ) -> Result<bool, LockstepError> {
        let limit = if let Limit::Packets(n) = limit { n } else { u64::MAX };
        loop {
            let boundary = self.reported.end_tick + self.options.batch;
            let stop = boundary.min(limit).min(self.now.end_tick + LONGEST_SEGMENT);
            let Some(segment) = self.timeline.next_segment(stop) else { return Ok(false) };
            error::check_classes(&segment, &self.lengths)?;
            self.now.end_tick = segment.end_tick;
            for sample in segment.queue {
                self.now.queue_readings += sample.readings;
                self.now.queue_packets += u128::from(sample.readings) * u128::from(sample.packets);
            }
            self.options.level.run(Play {
                players: &mut self.players,
                segment: &segment,
                flow: &mut self.flow,
                probe,
            });
            if self.now.end_tick == boundary && self.report(observer).is_break() {
                return Ok(true);
            }
        }
    }

    fn report(&mut self, observer: &mut dyn BatchObserver) -> core::ops::ControlFlow<()> {
        self.players.read(&mut self.now);
        let batch = self.now.since(&self.reported);
        self.reported.clone_from(&self.now);
        observer.batch(batch)
    }
}
