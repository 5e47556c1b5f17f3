//! FIFO where messages are served whole, without a queue: each begins when it arrives or when the one before it ends.
//!
//! | | |
//! |-|-|
//! | Source | Lindley, *The theory of queues with a single server*, Proc. Cambridge Philosophical Society 48(2), 1952 |
//! | Work | O(1) a message: a maximum and a sum |
//! | Memory | what has arrived and waits, 18 bytes a message |
//! | Units | ticks of the engine's clock |
//! | Departs from the source | none |
//!
//! This is the accelerated form of the discipline `fifo` in [`crate::whole`], for arrivals that do not depend on the
//! port; the two are held together departure by departure.

use crate::engine::{BACKLOG_LIMIT, Engine, Flow, State, Stopped, Waiting};
use crate::observer::{Departures, Observer};
use crate::whole::Work;
use weir_core::units::{Instant, Nanos};
use weir_lab::record::Departure;
use weir_workload::source::{ArrivalBlock, ArrivalSource};

/// Messages are read in blocks of this many.
const BLOCK: usize = 1024;

/// The engine: its input as far as it was read, and the end of the last service.
pub struct Lindley<S> {
    source: S,
    /// Whether the source has no more.
    ended: bool,
    block: ArrivalBlock,
    work: Work,
    /// What was read; what is before `served` has departed.
    read: ArrivalBlock,
    served: usize,
    departures: Departures,
    departed: u64,
    /// When the last service ended.
    now: Instant,
    busy: Nanos,
    /// The responses of those that departed, summed.
    responses: u128,
}

impl<S: ArrivalSource + Send> Engine for Lindley<S> {
    fn advance<O: Observer>(&mut self, until: u64, observer: &mut O) -> Stopped {
        while self.departed < until {
            let most = (until - self.departed).min(Departures::MOST as u64) as usize;
            match self.ready().min(most) {
                0 if self.ended => return Stopped::Exhausted,
                0 => self.read_more(),
                count => {
                    if self.serve(count, observer) == Stopped::Overloaded {
                        return Stopped::Overloaded;
                    }
                }
            }
        }
        Stopped::Reached
    }

    fn state(&self) -> State {
        let waiting = self.served..self.served + self.waiting(self.now);
        let arrived = self.departed + waiting.len() as u64;
        let held: u64 =
            self.read.length[waiting.clone()].iter().map(|&length| self.work.of(length).get()).sum();
        let waited = self.read.at[waiting.clone()]
            .iter()
            .map(|&at| u128::from((self.now - Instant::new(at)).get()))
            .sum::<u128>();
        State {
            ticks: self.departed,
            now: self.now.since(Instant::ZERO),
            busy: self.busy,
            arrived,
            unfinished: waiting.len() as u64,
            dropped: 0,
            flow: Flow {
                unit: self.work.unit(),
                arrived: self.busy.get() + held,
                served: self.busy.get(),
                held: Some(held),
            },
            message_time: self.responses + waited,
            packet_time: Waiting::default(),
            idle_over_backlog: 0,
        }
    }
}

impl<S: ArrivalSource> Lindley<S> {
    /// An idle server.
    pub fn new(source: S, work: Work) -> Self {
        Self {
            source,
            ended: false,
            block: ArrivalBlock::default(),
            work,
            read: ArrivalBlock::default(),
            served: 0,
            departures: Departures::default(),
            departed: 0,
            now: Instant::ZERO,
            busy: Nanos::ZERO,
            responses: 0,
        }
    }

    /// Messages that were read and not served yet.
    fn ready(&self) -> usize {
        self.read.len() - self.served
    }

    /// Those of them that arrive before `at`.
    fn waiting(&self, at: Instant) -> usize {
        self.read.at[self.served..].partition_point(|&arrival| Instant::new(arrival) < at)
    }

    /// Reads a block.
    fn read_more(&mut self) {
        let filled = self.source.fill(&mut self.block, BLOCK);
        // Nothing arrives at the end of time.
        let count = self.block.at.partition_point(|&at| Instant::new(at) < Instant::NEVER);
        self.ended = filled == 0 || count < filled;
        self.read.at.extend(&self.block.at[..count]);
        self.read.length.extend(&self.block.length[..count]);
        self.read.class.extend(&self.block.class[..count]);
        self.read.flow.extend(&self.block.flow[..count]);
    }

    /// Gives back the memory of what was served.
    fn forget(&mut self) {
        self.read.at.drain(..self.served);
        self.read.length.drain(..self.served);
        self.read.class.drain(..self.served);
        self.read.flow.drain(..self.served);
        self.served = 0;
    }

    /// Serves the next `count`, and reads what arrives until then.
    fn serve<O: Observer>(&mut self, count: usize, observer: &mut O) -> Stopped {
        if self.served >= self.ready().max(BLOCK) {
            self.forget();
        }
        let (began, from, to) = (self.now, self.served, self.served + count);
        let read = &self.read;
        let times = read.at[from..to].iter().zip(&read.length[from..to]);
        let marks = read.class[from..to].iter().zip(&read.flow[from..to]);
        let (mut now, mut departed) = (self.now, self.departed);
        let (mut busy, mut responses) = (self.busy, self.responses);
        let all = times.zip(marks).map(|((&at, &length), (&class, &flow))| {
            let (arrival, alone) = (Instant::new(at), self.work.of(length));
            let first = now.max(arrival);
            now = first + alone;
            busy += alone;
            responses += u128::from((now - arrival).get());
            departed += 1;
            let (index, tick, last, completion) = (departed - 1, departed - 1, now, now);
            Departure { index, flow, class, length, arrival, first, last, completion, alone, tick }
        });
        self.departures.tell_all(all, observer);
        (self.now, self.departed, self.busy, self.responses) = (now, departed, busy, responses);
        self.served = to;
        while !self.ended && self.read.at.last().is_none_or(|&last| Instant::new(last) < now) {
            self.read_more();
        }
        // As many are present at most as wait at the end and were served meanwhile.
        let many = self.waiting(now) + count >= BACKLOG_LIMIT;
        if many && self.most_present(from, began) >= BACKLOG_LIMIT {
            Stopped::Overloaded
        } else {
            Stopped::Reached
        }
    }

    /// The most messages present while those from place `from` on were served, the first of them after `began`.
    #[cold]
    fn most_present(&self, from: usize, began: Instant) -> usize {
        let read = &self.read;
        let present = (from..self.served).scan(began, |now, place| {
            *now = (*now).max(Instant::new(read.at[place])) + self.work.of(read.length[place]);
            Some(read.at.partition_point(|&at| Instant::new(at) < *now) - place)
        });
        present.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Open;
    use crate::testing::{Given, Seen, course};
    use crate::ticks::Ticks;
    use crate::whole::Whole;
    use proptest::prelude::*;
    use weir_core::item::Message;
    use weir_core::registry::message_discipline;

    fn both(gaps: &[(u64, u32)], per_unit: f64) -> (Lindley<Given>, impl Engine) {
        let work = Work::new(per_unit, Ticks::NANOSECONDS).expect("positive");
        let fifo = message_discipline::<Message<Nanos>>(&"fifo".parse().expect("a spec")).expect("fifo");
        (Lindley::new(Given::new(gaps), work), Whole::new(fifo, Open::new(Given::new(gaps)), work, true))
    }

    proptest! {
        #[test]
        fn it_is_the_engine_of_the_contract(
            gaps in prop::collection::vec((0..40_u64, 1..20_u32), 0..200),
            per_unit in 0.3..3.0,
            mut stops in prop::collection::vec(0..220_u64, 1..6),
        ) {
            stops.sort_unstable();
            let (lindley, whole) = both(&gaps, per_unit);
            prop_assert_eq!(course(lindley, &stops), course(whole, &stops));
        }
    }

    #[test]
    fn a_burst_up_to_the_limit_is_served_and_one_beyond_is_not() {
        for (burst, expected) in [(BACKLOG_LIMIT - 1, Stopped::Reached), (BACKLOG_LIMIT, Stopped::Overloaded)]
        {
            let gaps = vec![(0, 1); burst];
            let (mut lindley, mut whole) = both(&gaps, 5.0);
            let until = burst as u64;
            assert_eq!(lindley.advance(until, &mut Seen::default()), expected);
            assert_eq!(whole.advance(until, &mut Seen::default()), expected);
        }
    }

    #[test]
    fn nothing_arrives_at_the_end_of_time() {
        let (mut lindley, mut whole) = both(&[(5, 1), (u64::MAX - 5, 1)], 1.0);
        let stopped = |stopped, state: State| (stopped, state);
        let one = stopped(lindley.advance(9, &mut Seen::default()), lindley.state());
        assert_eq!(one, stopped(whole.advance(9, &mut Seen::default()), whole.state()));
        assert_eq!((one.0, one.1.ticks), (Stopped::Exhausted, 1));
    }

    #[test]
    fn what_was_served_is_forgotten() {
        let gaps = vec![(10, 1); 50_000];
        let (mut lindley, _) = both(&gaps, 1.0);
        assert_eq!(lindley.advance(50_000, &mut Seen::default()), Stopped::Reached);
        assert!(lindley.read.at.capacity() < 4 * BLOCK);
    }
}
