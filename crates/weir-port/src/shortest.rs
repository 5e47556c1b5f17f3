//! Messages served whole, the shortest first: `sf`, `psjf` and `sjf` without the calls of their contract.
//!
//! | | |
//! |-|-|
//! | Source | Harchol-Balter, *Performance Modeling and Design of Computer Systems*, 2013, chapters 31 (`sjf`), 32 (`psjf`) and 33 (`sf`, there SRPT) |
//! | Work | O(log n) a message that waits, O(1) one that does not |
//! | Memory | 48 bytes a message in the port, and 20 where it waits |
//! | Units | ticks of the engine's clock |
//! | Departs from the source | equal lengths, which it leaves open, are first come, first served, as in the disciplines |
//!
//! The message that is served is kept apart from those that wait, so that it is inserted only where a newcomer takes its place, and
//! a newcomer only where it has to wait. This is the accelerated form of the three disciplines in [`crate::whole`], for
//! arrivals that do not depend on the port; the two are held together departure by departure.

use crate::arrivals::{Arrival, Arrivals, Open};
use crate::engine::{BACKLOG_LIMIT, Engine, Flow, State, Stopped, Waiting};
use crate::flight::Flight;
use crate::observer::{Departures, Observer};
use crate::whole::Work;
use weir_core::heap::{Heap, Order};
use weir_core::units::{Instant, Nanos};
use weir_lab::record::Departure;
use weir_workload::source::ArrivalSource;

/// Which length counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// What is left of a message (`sf`).
    Remaining,
    /// What it had when it arrived (`psjf`, `sjf`).
    Original,
}

/// A place among those that wait: the length that counts, then the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u128);

impl Order for Rank {
    const LAST: Self = Self(u128::MAX);
}

impl Rank {
    #[inline]
    fn new(length: Nanos, number: u64) -> Self {
        Self(u128::from(length.get()) << u64::BITS | u128::from(number))
    }
}

/// A message that is served or waits, with what is left of it.
#[derive(Clone, Copy, Debug, Default)]
struct Job {
    slot: u32,
    /// Its number in order of arrival.
    number: u64,
    original: Nanos,
    left: Nanos,
}

/// The engine: its input, who is served, and who waits.
pub struct Shortest<S> {
    arrivals: Open<S>,
    work: Work,
    by: Length,
    /// Whether a shorter newcomer takes the place of who is served.
    preempts: bool,
    flight: Flight,
    /// What was left of each message of [`Self::flight`] when it last waited, and its original length.
    lengths: Vec<(Nanos, Nanos)>,
    waiting: Heap<Rank, u32>,
    served: Option<Job>,
    departures: Departures,
    departed: u64,
    now: Instant,
    busy: Nanos,
    arrived_work: Nanos,
}

impl<S: ArrivalSource + Send> Engine for Shortest<S> {
    fn advance<O: Observer>(&mut self, until: u64, observer: &mut O) -> Stopped {
        let stopped = self.run(until, observer);
        self.departures.tell(observer);
        stopped
    }

    fn state(&self) -> State {
        let mut held = self.served.map_or(0, |job| job.left.get());
        self.waiting.handles().for_each(|slot| held += self.lengths[slot as usize].0.get());
        State {
            ticks: self.departed,
            now: self.now.since(Instant::ZERO),
            busy: self.busy,
            arrived: self.flight.arrived(),
            unfinished: self.flight.len() as u64,
            dropped: 0,
            flow: Flow {
                unit: self.work.unit(),
                arrived: self.arrived_work.get(),
                served: self.busy.get(),
                held: Some(held),
            },
            message_time: self.flight.message_time(),
            packet_time: Waiting::default(),
            idle_over_backlog: 0,
        }
    }
}

impl<S: ArrivalSource + Send> Shortest<S> {
    /// An idle server.
    pub fn new(source: S, work: Work, by: Length, preempts: bool) -> Self {
        Self {
            arrivals: Open::new(source),
            work,
            by,
            preempts,
            flight: Flight::default(),
            lengths: Vec::new(),
            waiting: Heap::default(),
            served: None,
            departures: Departures::default(),
            departed: 0,
            now: Instant::ZERO,
            busy: Nanos::ZERO,
            arrived_work: Nanos::ZERO,
        }
    }

    fn run<O: Observer>(&mut self, until: u64, observer: &mut O) -> Stopped {
        let mut served = self.served.take();
        let stopped = loop {
            if self.departed >= until {
                break Stopped::Reached;
            }
            let Some(job) = served.or_else(|| self.next()) else { break Stopped::Exhausted };
            served = self.serve(job, observer);
            if self.flight.len() >= BACKLOG_LIMIT {
                break Stopped::Overloaded;
            }
        };
        self.served = served;
        stopped
    }

    /// The shortest of those that wait, or else whoever comes next.
    #[inline]
    fn next(&mut self) -> Option<Job> {
        match self.waiting.pop() {
            Some((rank, slot)) => {
                let (left, original) = self.lengths[slot as usize];
                Some(Job { slot, number: rank.0 as u64, original, left })
            }
            None if self.arrivals.next_at() == Instant::NEVER => None,
            None => {
                let arrival = self.arrivals.take();
                self.now = self.now.max(arrival.at);
                Some(self.admit(&arrival))
            }
        }
    }

    #[inline]
    fn admit(&mut self, arrival: &Arrival) -> Job {
        let number = self.flight.arrived();
        let work = self.work.of(arrival.length);
        self.arrived_work += work;
        Job { slot: self.flight.admit(arrival), number, original: work, left: work }
    }

    /// Serves until the end or, where that is earlier, the next arrival; gives back who is served then.
    #[inline]
    fn serve<O: Observer>(&mut self, mut job: Job, observer: &mut O) -> Option<Job> {
        let (since, next) = (self.now, self.arrivals.next_at());
        let end = since + job.left;
        if next >= end {
            self.depart(job, end, observer);
            return None;
        }
        let at = next.max(since);
        let used = at - since;
        if used > Nanos::ZERO {
            self.flight.begin(job.slot, since);
        }
        self.busy += used;
        job.left -= used;
        self.now = at;
        let arrival = self.arrivals.take();
        let newcomer = self.admit(&arrival);
        if self.preempts && newcomer.original < self.length(&job) {
            self.wait(job);
            return Some(newcomer);
        }
        self.wait(newcomer);
        Some(job)
    }

    /// The length of it that counts.
    #[inline]
    fn length(&self, job: &Job) -> Nanos {
        match self.by {
            Length::Remaining => job.left,
            Length::Original => job.original,
        }
    }

    #[inline]
    fn wait(&mut self, job: Job) {
        let (place, lengths) = (job.slot as usize, (job.left, job.original));
        match self.lengths.get_mut(place) {
            Some(kept) => *kept = lengths,
            None => {
                self.lengths.resize(place, (Nanos::ZERO, Nanos::ZERO));
                self.lengths.push(lengths);
            }
        }
        self.waiting.push(Rank::new(self.length(&job), job.number), job.slot);
    }

    #[inline]
    fn depart<O: Observer>(&mut self, job: Job, end: Instant, observer: &mut O) {
        self.flight.begin(job.slot, self.now);
        self.busy += job.left;
        self.now = end;
        let message = self.flight.release(job.slot, end);
        let departure = Departure {
            index: message.index,
            flow: message.flow,
            class: message.class,
            length: message.length,
            arrival: message.arrival,
            first: message.first,
            last: end,
            completion: end,
            alone: job.original,
            tick: self.departed,
        };
        self.departures.push(departure, observer);
        self.departed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Given, Seen, course};
    use crate::ticks::Ticks;
    use crate::whole::Whole;
    use proptest::prelude::*;
    use weir_core::item::Message;
    use weir_core::registry::message_discipline;

    /// Discipline, whether the server can be interrupted, and what the engine is given for that.
    const ALL: [(&str, bool, Length, bool); 5] = [
        ("sf", true, Length::Remaining, true),
        ("sf", false, Length::Remaining, false),
        ("psjf", true, Length::Original, true),
        ("psjf", false, Length::Original, false),
        ("sjf", true, Length::Original, false),
    ];

    fn both(which: usize, gaps: &[(u64, u32)], per_unit: f64) -> (Shortest<Given>, impl Engine) {
        let (name, preemption, by, preempts) = ALL[which];
        let work = Work::new(per_unit, Ticks::NANOSECONDS).expect("positive");
        let discipline = message_discipline::<Message<Nanos>>(&name.parse().expect("a spec")).expect("known");
        let whole = Whole::new(discipline, Open::new(Given::new(gaps)), work, preemption);
        (Shortest::new(Given::new(gaps), work, by, preempts), whole)
    }

    proptest! {
        #[test]
        fn it_is_the_engine_of_the_contract(
            which in 0..ALL.len(),
            gaps in prop::collection::vec((0..40_u64, 1..20_u32), 0..200),
            per_unit in 0.3..3.0,
            mut stops in prop::collection::vec(0..220_u64, 1..6),
        ) {
            stops.sort_unstable();
            let (shortest, whole) = both(which, &gaps, per_unit);
            prop_assert_eq!(course(shortest, &stops), course(whole, &stops));
        }
    }

    #[test]
    fn a_burst_up_to_the_limit_is_served_and_one_beyond_is_not() {
        for (burst, expected) in [(BACKLOG_LIMIT - 1, Stopped::Reached), (BACKLOG_LIMIT, Stopped::Overloaded)]
        {
            for which in 0..ALL.len() {
                let gaps = vec![(0, 1); burst];
                let (mut shortest, mut whole) = both(which, &gaps, 5.0);
                let until = burst as u64;
                assert_eq!(shortest.advance(until, &mut Seen::default()), expected);
                assert_eq!(whole.advance(until, &mut Seen::default()), expected);
            }
        }
    }

    #[test]
    fn by_hand() {
        // 9 begins at 0; at 2 the 3 comes, at 4 the 4: of the first 7 are left.
        let order = |which| {
            let mut seen = Seen::default();
            let (mut engine, _) = both(which, &[(0, 9), (2, 3), (2, 4)], 1.0);
            assert_eq!(engine.advance(3, &mut seen), Stopped::Reached);
            seen.0.iter().map(|gone| (gone.index, gone.completion.get())).collect::<Vec<_>>()
        };
        assert_eq!(order(0), [(1, 5), (2, 9), (0, 16)]);
        assert_eq!(order(4), [(0, 9), (1, 12), (2, 16)]);
    }
}
