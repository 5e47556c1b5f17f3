//! Runs a comparison: draws the timeline, plays it on every strategy, hands out batches.

use super::fifo::Fifo;
use super::keyed::{self, Keyed};
use super::queues::Queues;
use super::robin::RoundRobin;
use super::strategy::Strategy;
use super::tally::{Batch, BatchObserver, Probe};
use crate::engine::dispatch::{Level, Work};
use crate::port::source::{ArrivalSource, ServiceSource};
use crate::port::timeline::{Segment, Timeline, TimelineError};
use core::fmt;

/// The largest number of classes.
pub const MOST_CLASSES: usize = 64;
/// Ticks played at a time at most; bounds the memory of a segment.
const LONGEST_SEGMENT: u64 = 1 << 16;
/// Classes for which the loops are unrolled.
const FEW: usize = 8;
/// Strategies ordered by key that are played side by side.
const WIDEST: usize = 16;

/// How a run is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Ticks of a batch, at least 1.
    pub batch: u64,
    /// Clock counts between readings of the queue monitor; 0 for none.
    pub monitor_period: u64,
    /// The loops to run; the results do not depend on it.
    pub level: Level,
}

impl Default for Options {
    /// Batches of 65,536 ticks, the queue read every 200 units of time.
    fn default() -> Self {
        Self { batch: 1 << 16, monitor_period: 200 * crate::port::UNIT, level: Level::detect() }
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

/// What the accelerated engine cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockstepError {
    /// No class, or more than [`MOST_CLASSES`].
    Classes(usize),
    /// No strategy was given.
    NoStrategy,
    /// A batch of no ticks.
    EmptyBatch,
    /// A class of length 0.
    ZeroLength {
        /// The class.
        class: usize,
    },
    /// A table of alphas does not have one entry per class.
    Alphas {
        /// The entries it has.
        given: usize,
        /// The classes there are.
        classes: usize,
    },
    /// A message is not of the class it names.
    Class {
        /// Its place among all arrivals, from 0.
        order: u64,
        /// Its class.
        class: u16,
        /// Its length.
        length: u32,
    },
    /// The workload cannot be scheduled.
    Timeline(TimelineError),
}

impl fmt::Display for LockstepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Classes(n) => {
                write!(f, "{n} length classes, must be 1 to {MOST_CLASSES}; use the plain engine for more")
            }
            Self::NoStrategy => f.write_str("no strategy to run, must be at least 1"),
            Self::EmptyBatch => f.write_str("a batch has 0 ticks, must have at least 1"),
            Self::ZeroLength { class } => write!(f, "class {class} has length 0 packets, must be at least 1"),
            Self::Alphas { given, classes } => {
                write!(f, "{given} alphas for {classes} classes, must be one each")
            }
            Self::Class { order, class, length } => {
                let message = order + 1;
                write!(
                    f,
                    "message {message} has {length} packets, which is not the length of its class {class}"
                )
            }
            Self::Timeline(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LockstepError {}

impl From<TimelineError> for LockstepError {
    fn from(error: TimelineError) -> Self {
        Self::Timeline(error)
    }
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
}

/// The strategies by the way they are played.
#[derive(Clone, Debug)]
struct Players {
    queues: Queues,
    fifo: Vec<Fifo>,
    robin: Vec<RoundRobin<false>>,
    robin_head: Vec<RoundRobin<true>>,
    /// One strategy, or many side by side, over few classes or many.
    single: Vec<Keyed<FEW, 1>>,
    side_by_side: Vec<Keyed<FEW, WIDEST>>,
    single_of_many: Vec<Keyed<MOST_CLASSES, 1>>,
    side_by_side_of_many: Vec<Keyed<MOST_CLASSES, WIDEST>>,
}

impl Lockstep {
    /// A comparison of `strategies` over messages of the classes whose lengths are given.
    ///
    /// # Errors
    ///
    /// [`LockstepError`] for more classes than [`MOST_CLASSES`], a class of length 0, no strategy, no tick
    /// in a batch, or a table of alphas that does not fit the classes.
    pub fn new(strategies: &[Strategy], lengths: &[u32], options: Options) -> Result<Self, LockstepError> {
        check(strategies, lengths, &options)?;
        Ok(Self {
            lengths: lengths.to_vec(),
            options,
            timeline: Timeline::with_level(options.monitor_period, options.level),
            players: Players::new(strategies, lengths),
            now: Batch::new(strategies.len(), lengths.len()),
            reported: Batch::new(strategies.len(), lengths.len()),
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
            check_classes(&segment, &self.lengths)?;
            self.now.end_tick = segment.end_tick;
            for sample in segment.queue {
                self.now.queue_readings += sample.readings;
                self.now.queue_packets += u128::from(sample.readings) * u128::from(sample.packets);
            }
            self.options.level.run(Play { players: &mut self.players, segment: &segment, probe });
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

fn check(strategies: &[Strategy], lengths: &[u32], options: &Options) -> Result<(), LockstepError> {
    let classes = lengths.len();
    if classes == 0 || classes > MOST_CLASSES {
        return Err(LockstepError::Classes(classes));
    }
    if strategies.is_empty() {
        return Err(LockstepError::NoStrategy);
    }
    if options.batch == 0 {
        return Err(LockstepError::EmptyBatch);
    }
    if let Some(class) = lengths.iter().position(|&length| length == 0) {
        return Err(LockstepError::ZeroLength { class });
    }
    for strategy in strategies {
        if let Strategy::AlphaPerClass(alphas) = strategy
            && alphas.len() != classes
        {
            return Err(LockstepError::Alphas { given: alphas.len(), classes });
        }
    }
    Ok(())
}

fn check_classes(segment: &Segment<'_>, lengths: &[u32]) -> Result<(), LockstepError> {
    let wrong = |(&class, &length): (&u16, &u32)| lengths.get(usize::from(class)) != Some(&length);
    match segment.class.iter().zip(segment.length).position(wrong) {
        None => Ok(()),
        Some(i) => Err(LockstepError::Class {
            order: segment.first_order + i as u64,
            class: segment.class[i],
            length: segment.length[i],
        }),
    }
}

impl Players {
    fn new(strategies: &[Strategy], lengths: &[u32]) -> Self {
        let classes = lengths.len();
        let class_bits = if classes <= FEW { FEW } else { MOST_CLASSES }.trailing_zeros();
        let is_keyed = |strategy: &Strategy| {
            !matches!(strategy, Strategy::Fifo | Strategy::RoundRobin | Strategy::RoundRobinHead)
        };
        let keyed: Vec<_> = strategies.iter().enumerate().filter(|lane| is_keyed(lane.1)).collect();
        let (queues, unused) = keyed::queues(&keyed, lengths, class_bits);
        let mut players = Self {
            queues,
            fifo: Vec::new(),
            robin: Vec::new(),
            robin_head: Vec::new(),
            single: Vec::new(),
            side_by_side: Vec::new(),
            single_of_many: Vec::new(),
            side_by_side_of_many: Vec::new(),
        };
        for (place, strategy) in strategies.iter().enumerate() {
            match strategy {
                Strategy::Fifo => players.fifo.push(Fifo::new(place, classes)),
                Strategy::RoundRobin => players.robin.push(RoundRobin::new(place, classes)),
                Strategy::RoundRobinHead => players.robin_head.push(RoundRobin::new(place, classes)),
                _ => {}
            }
        }
        for lanes in keyed.chunks(WIDEST) {
            match (lanes.len() == 1, classes <= FEW) {
                (true, true) => players.single.push(Keyed::new(lanes, lengths, unused)),
                (false, true) => players.side_by_side.push(Keyed::new(lanes, lengths, unused)),
                (true, false) => players.single_of_many.push(Keyed::new(lanes, lengths, unused)),
                (false, false) => players.side_by_side_of_many.push(Keyed::new(lanes, lengths, unused)),
            }
        }
        players
    }

    /// Writes counts and sums since the beginning.
    fn read(&self, into: &mut Batch) {
        let classes = into.classes;
        let mut put = |strategy: usize, class: usize, count: u64, sum: u128| {
            into.count[strategy * classes + class] = count;
            into.sum[strategy * classes + class] = sum;
        };
        for class in 0..classes {
            self.fifo.iter().for_each(|p| put(p.strategy, class, p.count[class], p.sum[class]));
            self.robin.iter().for_each(|p| put(p.strategy, class, p.count[class], p.sum[class]));
            self.robin_head.iter().for_each(|p| put(p.strategy, class, p.count[class], p.sum[class]));
            self.single.iter().for_each(|p| p.lanes.read(class, &mut put));
            self.side_by_side.iter().for_each(|p| p.lanes.read(class, &mut put));
            self.single_of_many.iter().for_each(|p| p.lanes.read(class, &mut put));
            self.side_by_side_of_many.iter().for_each(|p| p.lanes.read(class, &mut put));
        }
    }

    /// The place in a class up to which every strategy is through; `None` if none needs the queues.
    fn kept(&self, class: usize) -> Option<u64> {
        let robin = self.robin.iter().map(|p| p.count[class]);
        let robin_head = self.robin_head.iter().map(|p| p.count[class]);
        let single = self.single.iter().map(|p| p.lanes.slowest(class));
        let side_by_side = self.side_by_side.iter().map(|p| p.lanes.slowest(class));
        let single_of_many = self.single_of_many.iter().map(|p| p.lanes.slowest(class));
        let side_by_side_of_many = self.side_by_side_of_many.iter().map(|p| p.lanes.slowest(class));
        let few = robin.chain(robin_head).chain(single).chain(side_by_side);
        few.chain(single_of_many).chain(side_by_side_of_many).min()
    }

    #[inline(always)]
    fn play<P: Probe>(&mut self, segment: &Segment<'_>, probe: &mut P) {
        let mut queues = core::mem::take(&mut self.queues);
        if self.kept(0).is_some() {
            queues.append(segment, |class| self.kept(class).unwrap_or(0));
        }
        for player in &mut self.fifo {
            player.play(segment, probe);
        }
        for player in &mut self.robin {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.robin_head {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.single {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.side_by_side {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.single_of_many {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.side_by_side_of_many {
            player.play(&queues, segment, probe);
        }
        self.queues = queues;
    }
}

struct Play<'a, 'b, P> {
    players: &'a mut Players,
    segment: &'a Segment<'b>,
    probe: &'a mut P,
}

impl<P: Probe> Work for Play<'_, '_, P> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.players.play(self.segment, self.probe);
    }
}
