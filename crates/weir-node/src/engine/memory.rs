//! What programs remember from one step to the next: how far their loops are, and where their random streams stand.

use crate::engine::code::{Grid, Programs};
use crate::job::Job;
use crate::model::NodeScenario;
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::duration::{AnyLaw, Law};

/// An instant of a grid, and whether it is the first that a process takes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) due: u64,
    pub(super) is_first: bool,
}

/// What all programs remember.
pub(super) struct Memory {
    /// How often each counted loop is still done; of a replay, twice the run it is at, and one if it has woken; of a
    /// periodic sleep, when the next one is over, or 0 before the first: that can be at 0, and the next of them cannot.
    pub(super) counters: Vec<u64>,
    /// Of each process that draws.
    streams: Vec<Option<Box<Stream>>>,
}

impl Memory {
    pub(super) fn new(scenario: &NodeScenario, programs: &Programs, job: Job) -> Self {
        let stream = |(number, is_random): (u32, &bool)| {
            let key = StreamKey {
                seed: scenario.seed,
                replication: job.replication,
                purpose: Purpose::Services,
                index: number,
            };
            is_random.then(|| Box::new(Stream::new(key)))
        };
        Self { counters: programs.times.clone(), streams: (0..).zip(&programs.random).map(stream).collect() }
    }

    /// How long a law says.
    #[inline]
    pub(super) fn draw(&mut self, programs: &Programs, process: u32, law: u32) -> u64 {
        match (&programs.laws[law as usize], &mut self.streams[process as usize]) {
            (law, Some(stream)) => law.draw(stream).get(),
            (AnyLaw::Plain(Law::Constant(span)), None) => span.get(),
            (_, None) => unreachable!("a process that draws has a stream"),
        }
    }

    /// Begins a loop that is counted.
    #[inline]
    pub(super) fn begin(&mut self, programs: &Programs, counter: u32) {
        self.counters[counter as usize] = programs.times[counter as usize];
    }

    /// Whether it is done once more.
    #[inline]
    pub(super) fn again(&mut self, counter: u32) -> bool {
        let left = &mut self.counters[counter as usize];
        *left -= 1;
        *left > 0
    }

    /// The next instant of a grid that was not yet taken; the first is not before `from`.
    #[inline]
    pub(super) fn turn(&mut self, grid: Grid, from: u64) -> Turn {
        let next = &mut self.counters[grid.counter as usize];
        let is_first = *next == 0;
        let due = if is_first { grid.first_from(from) } else { *next };
        *next = due.saturating_add(grid.every);
        Turn { due, is_first }
    }
}
