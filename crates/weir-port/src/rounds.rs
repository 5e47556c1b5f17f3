//! Runs the lanes of all replications in rounds, on threads.
//!
//! In a round every lane advances to the same tick, so that between rounds all disciplines have served the
//! same packets: there the run may be broken off, its precision read, and its records handed over. Rounds
//! depend on the scenario alone, never on the machine.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::build::Placed;
use crate::engine::Stopped;
use weir_lab::parallel::in_parallel;

/// Ticks of the disciplines together in a round, about: what is done before the next chance to break off.
const ROUND: u64 = 1 << 25;
/// The fewest ticks of a lane in a round.
const SHORTEST: u64 = 1 << 14;

/// Ticks of all lanes together in a round whose records are kept to its end.
const ROUND_OF_RECORDS: u64 = 1 << 20;

/// What the length of a round is made of.
#[derive(Clone, Copy, Debug)]
pub struct Grain {
    /// Rounds end where a window of the batches does.
    pub batch: u64,
    /// Whether records are kept.
    pub records: bool,
}

/// A lane, and how it ended.
pub struct Running {
    /// The replication.
    pub replication: u32,
    /// The lane.
    pub placed: Placed,
    stopped: Stopped,
}

/// All lanes of a run.
pub struct Rounds {
    /// In the order of the replications.
    pub lanes: Vec<Running>,
    tick: u64,
    target: u64,
    round: u64,
    grain: u64,
    threads: NonZeroUsize,
}

/// Where a run stands after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is more to do.
    Going,
    /// Every lane reached the target, or the end of its trace.
    Done,
    /// It was broken off.
    Interrupted,
    /// A lane could not go on; its place in the list.
    Failed(usize),
}

impl Rounds {
    /// Lanes that each run to `target` ticks.
    #[must_use]
    pub fn new(lanes: Vec<(u32, Placed)>, target: u64, grain: Grain, threads: NonZeroUsize) -> Self {
        let running = |(replication, placed)| Running { replication, placed, stopped: Stopped::Reached };
        let lanes: Vec<_> = lanes.into_iter().map(running).collect();
        let disciplines: usize = lanes.iter().map(|running| running.placed.disciplines.len()).sum();
        let work = if grain.records { ROUND_OF_RECORDS } else { ROUND };
        let round = (work / disciplines.max(1) as u64).max(SHORTEST).next_multiple_of(grain.batch);
        Self { lanes, tick: 0, target, round, grain: grain.batch, threads }
    }

    /// Ticks done by each lane, and ticks to do.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.tick, self.target)
    }

    /// Whether every lane has come to the end of the window in which `tick` lies, or of the run.
    #[must_use]
    pub fn has_reached(&self, tick: u64) -> bool {
        self.tick >= tick
    }

    /// One round, to the end of the window in which tick `until` lies at most.
    pub fn advance(&mut self, until: u64, cancel: &AtomicBool) -> Standing {
        let until = until.checked_next_multiple_of(self.grain).unwrap_or(until);
        self.tick = (self.tick + self.round).min(self.target).min(until);
        let tick = self.tick;
        let lanes = std::mem::take(&mut self.lanes);
        self.lanes = in_parallel(lanes, self.threads, |mut running| {
            if running.stopped == Stopped::Reached {
                running.stopped = running.placed.lane.advance(tick);
            }
            running
        });
        if let Some(failed) = self.lanes.iter().position(|running| running.stopped == Stopped::Overloaded) {
            return Standing::Failed(failed);
        }
        if tick >= self.target || self.lanes.iter().all(|running| running.stopped == Stopped::Exhausted) {
            return Standing::Done;
        }
        if cancel.load(Ordering::Relaxed) { Standing::Interrupted } else { Standing::Going }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::Collector;
    use crate::engine::State;
    use crate::lane::Lane;

    /// Reaches each tick asked for, up to the end of its input.
    struct Steps {
        ticks: u64,
        end: u64,
        then: Stopped,
    }

    impl Lane for Steps {
        fn advance(&mut self, until: u64) -> Stopped {
            assert!(self.ticks < self.end, "a lane that has stopped is left alone");
            self.ticks = until.min(self.end);
            if self.ticks < self.end { Stopped::Reached } else { self.then }
        }
        fn state(&self, _place: usize) -> State {
            State { ticks: self.ticks, ..State::default() }
        }
        fn collectors(&mut self) -> Vec<&mut Collector> {
            Vec::new()
        }
    }

    fn rounds(lanes: &[(u64, Stopped)], target: u64) -> Rounds {
        let place = |&(end, then): &(u64, Stopped)| {
            let lane = Box::new(Steps { ticks: 0, end, then });
            (0, Placed { disciplines: vec![0], engine: "steps", lane })
        };
        let grain = Grain { batch: 1, records: false };
        Rounds::new(lanes.iter().map(place).collect(), target, grain, NonZeroUsize::MIN)
    }

    fn ticks(rounds: &Rounds) -> Vec<u64> {
        rounds.lanes.iter().map(|running| running.placed.lane.state(0).ticks).collect()
    }

    const LONG: (u64, Stopped) = (u64::MAX, Stopped::Exhausted);

    #[test]
    fn every_lane_reaches_the_same_tick() {
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        let mut rounds = rounds(&[LONG; 3], 10_000);
        assert_eq!(rounds.advance(4_000, &go), Standing::Going);
        assert_eq!((ticks(&rounds), rounds.progress()), (vec![4_000; 3], (4_000, 10_000)));
        assert_eq!(rounds.advance(5_000, &stop), Standing::Interrupted);
        assert_eq!(ticks(&rounds), [5_000; 3]);
        // What has reached its end is done, whoever breaks it off.
        assert_eq!(rounds.advance(u64::MAX, &stop), Standing::Done);
        assert_eq!(ticks(&rounds), [10_000; 3]);
    }

    #[test]
    fn a_round_is_bounded() {
        let mut rounds = rounds(&[LONG; 2], u64::MAX);
        assert_eq!(rounds.advance(u64::MAX, &AtomicBool::new(false)), Standing::Going);
        assert_eq!(rounds.progress().0, ROUND / 2);
    }

    #[test]
    fn traces_end_when_all_of_them_have() {
        let go = AtomicBool::new(false);
        let mut rounds = rounds(&[(50, Stopped::Exhausted), (150, Stopped::Exhausted)], u64::MAX);
        assert_eq!(rounds.advance(100, &go), Standing::Going);
        assert_eq!(rounds.advance(200, &go), Standing::Done);
        assert_eq!(ticks(&rounds), [50, 150]);
    }

    #[test]
    fn a_lane_that_cannot_go_on_is_named() {
        let mut rounds = rounds(&[LONG, (10, Stopped::Overloaded)], 10_000);
        assert_eq!(rounds.advance(100, &AtomicBool::new(false)), Standing::Failed(1));
    }
}
