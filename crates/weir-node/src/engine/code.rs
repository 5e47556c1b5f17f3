//! Programs as the engine runs them: flat, checked once, with the counters of loops and the places of laws resolved.

use std::sync::Arc;

use crate::engine::refused;
use crate::model::{NodeScenario, Operation};
use weir_lab::error::RunError;
use weir_lab::stream::LONGEST_MEAN;
use weir_workload::duration::{AnyLaw, Law, Run};

/// One step of a program. Numbers are places in the tables of [`Programs`], or in the scenario's lists.
///
/// `Compute` uses a constant time, `Draw` one that is drawn. `WaitSet` waits for one of a range of [`Programs::sets`].
/// `Begin` begins a loop that is counted; `Again` ends it: back to `to`, unless it was the last time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Compute(u64),
    Draw { law: u32 },
    Post { event: u32 },
    PostAfter { event: u32, law: u32 },
    WaitOne { event: u32 },
    WaitSet { from: u32, until: u32 },
    WaitAny,
    Enqueue { queue: u32 },
    Dequeue { queue: u32 },
    Sleep { law: u32 },
    SleepUntil { grid: u32 },
    Begin { counter: u32 },
    Again { counter: u32, to: u32 },
    Jump { to: u32 },
    Replay { runs: u32, counter: u32 },
    Exit,
}

/// The programs of all processes.
#[derive(Debug, Default)]
pub(super) struct Programs {
    pub(super) steps: Vec<Step>,
    /// The operation of its program that each step is of, from 1 on; one more than it has for the end.
    pub(super) operations: Vec<u32>,
    /// Where each process begins.
    pub(super) entries: Vec<u32>,
    pub(super) laws: Vec<AnyLaw>,
    pub(super) sets: Vec<u32>,
    pub(super) grids: Vec<Grid>,
    /// How often each counted loop is done; 0 for the counter of a replay, and for when a sleep is next over.
    pub(super) times: Vec<u64>,
    pub(super) runs: Vec<Arc<[Run]>>,
    /// Whether a process draws random numbers.
    pub(super) random: Vec<bool>,
}

/// The instants of a periodic sleep: multiples, and what is added to them. The counter is the next of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) every: u64,
    offset: u64,
    pub(super) counter: u32,
}

impl Grid {
    /// The first of its instants that is not before `from`.
    #[inline]
    pub(super) fn first_from(self, from: u64) -> u64 {
        let Self { every, offset, .. } = self;
        from.saturating_sub(offset).div_ceil(every).saturating_mul(every).saturating_add(offset)
    }
}

/// Where a loop began, while its end is looked for.
struct Open {
    /// The operation.
    at: usize,
    /// The step.
    step: u32,
    times: Option<u64>,
}

impl Programs {
    /// # Errors
    /// An operation names what is not there or not its own, or a loop is not matched.
    pub(super) fn new(node: &NodeScenario) -> Result<Self, RunError> {
        let mut programs = Self::default();
        for (number, process) in node.processes.iter().enumerate() {
            let entry = place(programs.steps.len());
            programs.entries.push(entry);
            programs.random.push(false);
            let mut open = Vec::new();
            for (at, operation) in process.program.operations.iter().enumerate() {
                programs.add(node, number, at, operation, &mut open).map_err(|reason| {
                    refused(format!("process `{}`, operation {}", process.name, at + 1), reason)
                })?;
                programs.operations.resize(programs.steps.len(), place(at + 1));
            }
            if let Some(open) = open.last() {
                let reason = "a loop begins that has no end".to_owned();
                return Err(refused(
                    format!("process `{}`, operation {}", process.name, open.at + 1),
                    reason,
                ));
            }
            programs.steps.push(Step::Exit);
            programs.operations.push(place(process.program.operations.len() + 1));
        }
        Ok(programs)
    }

    /// Whether a step waits for an event of its process.
    #[inline]
    pub(super) fn waits_for(&self, step: u32, event: u32) -> bool {
        match self.steps[step as usize] {
            Step::WaitOne { event: one } => one == event,
            Step::WaitSet { from, until } => self.sets[from as usize..until as usize].contains(&event),
            _ => true,
        }
    }

    fn add(
        &mut self,
        node: &NodeScenario,
        process: usize,
        at: usize,
        operation: &Operation,
        open: &mut Vec<Open>,
    ) -> Result<(), String> {
        let step = match operation {
            Operation::Compute(AnyLaw::Plain(Law::Constant(span))) => Step::Compute(span.get()),
            Operation::Compute(law) => Step::Draw { law: self.law(process, law)? },
            Operation::Post(event) => Step::Post { event: any_event(node, *event)? },
            Operation::PostAfter(event, law) => {
                Step::PostAfter { event: own_event(node, process, *event)?, law: self.law(process, law)? }
            }
            Operation::Wait(events) => self.wait(node, process, events)?,
            Operation::WaitAny => Step::WaitAny,
            Operation::Enqueue(queue) => Step::Enqueue { queue: a_queue(node, *queue)? },
            Operation::Dequeue(queue) => Step::Dequeue { queue: a_queue(node, *queue)? },
            Operation::Sleep(law) => Step::Sleep { law: self.law(process, law)? },
            Operation::SleepUntil { every, offset } => {
                if offset >= every {
                    return Err(format!(
                        "it sleeps until {offset} after a multiple of {every}, must be less after"
                    ));
                }
                Step::SleepUntil { grid: self.grid(process, every.get(), offset.get()) }
            }
            Operation::Loop { times, .. } => return self.begin(at, *times, open),
            Operation::End(_) => return self.end(open),
            Operation::Replay(runs) => {
                self.runs.push(Arc::clone(runs));
                self.times.push(0);
                Step::Replay { runs: place(self.runs.len() - 1), counter: place(self.times.len() - 1) }
            }
            Operation::Exit => Step::Exit,
        };
        self.steps.push(step);
        Ok(())
    }

    /// The grid of these instants; a process that names them more than once takes each of them once.
    fn grid(&mut self, process: usize, every: u64, offset: u64) -> u32 {
        let own = self.steps[self.entries[process] as usize..].iter();
        let same = own.filter_map(|step| match step {
            Step::SleepUntil { grid } => Some(*grid),
            _ => None,
        });
        let mut same = same.filter(|&grid| {
            let one = self.grids[grid as usize];
            (one.every, one.offset) == (every, offset)
        });
        if let Some(grid) = same.next() {
            return grid;
        }
        self.grids.push(Grid { every, offset, counter: place(self.times.len()) });
        self.times.push(0);
        place(self.grids.len() - 1)
    }

    fn law(&mut self, process: usize, law: &AnyLaw) -> Result<u32, String> {
        match law {
            AnyLaw::Plain(Law::Exponential(mean)) if mean.get() as f64 > LONGEST_MEAN => {
                return Err(format!("the mean is {mean}, must be at most {LONGEST_MEAN:.0}ns"));
            }
            AnyLaw::Plain(Law::Uniform(low, high)) if low > high => {
                return Err(format!(
                    "it is uniform from {low} to {high}, must be from the shorter to the longer"
                ));
            }
            _ => {}
        }
        self.random[process] |= law.is_random();
        self.laws.push(law.clone());
        Ok(place(self.laws.len() - 1))
    }

    fn wait(&mut self, node: &NodeScenario, process: usize, events: &[usize]) -> Result<Step, String> {
        let own: Vec<u32> =
            events.iter().map(|&event| own_event(node, process, event)).collect::<Result<_, _>>()?;
        match own[..] {
            [] => Err("it waits for one of no events, which never comes: name an event, or write `wait any`"
                .to_owned()),
            [event] => Ok(Step::WaitOne { event }),
            _ => {
                let from = place(self.sets.len());
                self.sets.extend(own);
                Ok(Step::WaitSet { from, until: place(self.sets.len()) })
            }
        }
    }

    /// A loop that goes on for ever needs no step here; one that is never done is jumped over.
    fn begin(&mut self, at: usize, times: Option<u64>, open: &mut Vec<Open>) -> Result<(), String> {
        match times {
            None => {}
            Some(0) => self.steps.push(Step::Jump { to: 0 }),
            Some(times) => {
                self.times.push(times);
                self.steps.push(Step::Begin { counter: place(self.times.len() - 1) });
            }
        }
        open.push(Open { at, step: place(self.steps.len()), times });
        Ok(())
    }

    fn end(&mut self, open: &mut Vec<Open>) -> Result<(), String> {
        let Some(Open { step: to, times, .. }) = open.pop() else {
            return Err("a loop ends that has not begun".to_owned());
        };
        match times {
            None => self.steps.push(Step::Jump { to }),
            Some(0) => self.steps[to as usize - 1] = Step::Jump { to: place(self.steps.len()) },
            Some(_) => {
                let Step::Begin { counter } = self.steps[to as usize - 1] else {
                    return Err("a loop has lost its beginning".to_owned());
                };
                self.steps.push(Step::Again { counter, to });
            }
        }
        Ok(())
    }
}

/// A place in a table; none of them has as many entries as there are numbers.
fn place(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn any_event(node: &NodeScenario, event: usize) -> Result<u32, String> {
    match node.events.get(event) {
        Some(_) => Ok(place(event)),
        None => Err(format!("there is no event {event}, must be below {}", node.events.len())),
    }
}

fn own_event(node: &NodeScenario, process: usize, event: usize) -> Result<u32, String> {
    match node.events.get(event) {
        Some(found) if found.owner != process => {
            Err(format!("event `{}` is another's, must be its own", found.name))
        }
        _ => any_event(node, event),
    }
}

fn a_queue(node: &NodeScenario, queue: usize) -> Result<u32, String> {
    match node.queues.get(queue) {
        Some(_) => Ok(place(queue)),
        None => Err(format!("there is no queue {queue}, must be below {}", node.queues.len())),
    }
}
