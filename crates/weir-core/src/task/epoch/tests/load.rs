//! Random processes, for the tests of properties.

use super::node::{Node, Program, Step};
use crate::conformance::Random;
use crate::task::{Declared, Task, TaskDiscipline};
use crate::units::Nanos;

/// The epoch of the loads.
pub(super) const EPOCH: u64 = 100_000_000;

/// How a process goes about its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// Computes without end.
    Always,
    /// Computes and waits, for at most `longest` each.
    ComputesAndWaits { longest: u64 },
    /// Computes for at most `longest`, then waits for a moment in the next epoch.
    Periodic { longest: u64, phase: u64 },
    /// Yields after at most `longest`.
    Yields { longest: u64 },
}

/// Some processes: what they declare and do.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) declared: Vec<Declared>,
    habits: Vec<Habit>,
    seed: u64,
    /// All times are multiples of it.
    grain: u64,
}

impl Load {
    /// Up to eight processes, whose needs together are at most `most`; all their times are multiples of `grain`.
    pub(super) fn random(seed: u64, most: u64, grain: u64) -> Self {
        let mut random = Random::new(seed);
        let number = 2 + random.below(7);
        let mut left = if random.one_in(3) { most } else { random.below(most + 1) };
        let last = number - 1;
        let declared = (0..number).map(|process| {
            let need = match random.below(4) {
                0 => 0,
                _ if process == last => left,
                _ => random.below(left + 1),
            };
            let need = need / grain * grain;
            left -= need;
            let slice = (1_000_000 + random.below(40_000_000)) / grain * grain;
            let (need, slice) = (Nanos::new(need), Some(Nanos::new(slice)));
            Declared { need, slice, priority: random.below(4) as u8, ..Declared::default() }
        });
        let declared = declared.collect();
        let habits = (0..number).map(|_| Habit::random(&mut random)).collect();
        Self { declared, habits, seed, grain }
    }

    /// The node with these processes.
    pub(super) fn node<D: TaskDiscipline<Task>>(&self, discipline: D) -> Node<D> {
        let mut node = Node::new(discipline);
        for (declared, program) in self.declared.iter().zip(self.programs(0)) {
            node.add(*declared, program);
        }
        node
    }

    /// What the processes do; the same for the same number.
    pub(super) fn programs(&self, number: u64) -> Vec<Program> {
        let seed = |process: usize| self.seed + 1_000_000 * process as u64 + 1_000_000_000 * number;
        self.habits
            .iter()
            .enumerate()
            .map(|(process, habit)| habit.program(seed(process), self.grain))
            .collect()
    }

    /// Whether a process computes without end.
    pub(super) fn is_always_ready(&self, process: usize) -> bool {
        self.habits[process] == Habit::Always
    }
}

impl Habit {
    fn random(random: &mut Random) -> Self {
        let longest = [200_000, 5_000_000, 60_000_000][random.below(3) as usize];
        match random.below(6) {
            0 | 1 => Self::Always,
            2 | 3 => Self::ComputesAndWaits { longest },
            4 => Self::Periodic { longest, phase: random.below(EPOCH) },
            _ => Self::Yields { longest: longest.max(1_000_000) },
        }
    }

    /// Its steps: as many random numbers for each, whatever happens.
    fn program(self, seed: u64, grain: u64) -> Program {
        let mut random = Random::new(seed);
        let (mut waits, mut epoch) = (false, 0);
        Box::new(move || {
            let mut span = |longest: u64| (1 + random.below(longest)).next_multiple_of(grain);
            waits = !waits;
            match self {
                Self::Always => Step::Compute(u64::MAX / 4 / grain * grain),
                Self::ComputesAndWaits { longest } if waits => Step::Compute(span(longest)),
                Self::ComputesAndWaits { longest } => Step::Wait(span(longest)),
                Self::Periodic { longest, .. } if !waits => Step::Compute(span(longest)),
                Self::Periodic { phase, .. } => {
                    epoch += 1;
                    Step::Until(epoch * EPOCH + phase / grain * grain)
                }
                Self::Yields { longest } if waits => Step::Compute(span(longest)),
                Self::Yields { .. } => Step::Wait(0),
            }
        })
    }
}
