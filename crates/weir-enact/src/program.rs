//! The interpreter of programs: one operation after the other, as a future.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use weir_core::units::Nanos;
use weir_exec::{DualQueue, Event, Events, Moment, now, sleep, sleep_until};
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_node::model::{NodeScenario, Operation};
use weir_workload::duration::Run;

/// What the processes of a scenario share: their events and queues.
pub struct World {
    node: NodeScenario,
    /// Of each process, what it may wait for together.
    sets: Vec<Events>,
    events: Vec<Event>,
    queues: Vec<DualQueue<()>>,
    late: Mutex<Vec<Late>>,
}

/// A process came to an instant of its grid when that had passed: a response is over and another has begun, without a wait
/// in between. Times are nanoseconds since the executor began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// The place of the process.
    pub process: usize,
    /// When the instant was.
    pub due: u64,
    /// When the process came to it.
    pub at: u64,
}

impl World {
    /// The events and queues of a scenario, none of which is posted or holds data.
    #[must_use]
    pub fn of(node: &NodeScenario) -> Arc<Self> {
        let sets: Vec<Events> = node.processes.iter().map(|_| Events::new()).collect();
        let events = node.events.iter().map(|event| sets[event.owner].event()).collect();
        let queues = node.queues.iter().map(|_| DualQueue::new()).collect();
        Arc::new(Self { node: node.clone(), sets, events, queues, late: Mutex::default() })
    }

    /// Where processes came late so far, in the order of time of each.
    #[must_use]
    pub fn late(&self) -> Vec<Late> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Does what the program of the process at this place says; `compute` uses processor time.
pub async fn interpret(world: Arc<World>, process: usize, compute: impl AsyncFn(Duration)) {
    let mut one = Interpreter::new(&world, process);
    let operations = &world.node.processes[process].program.operations;
    let mut at = 0;
    while let Some(operation) = operations.get(at) {
        at += 1;
        match operation {
            Operation::Compute(law) => compute(span(law.draw(&mut one.stream))).await,
            Operation::Post(event) => drop(world.events[*event].poster().post()),
            Operation::PostAfter(event, law) => {
                world.events[*event].poster().post_after(span(law.draw(&mut one.stream)), ());
            }
            Operation::Wait(events) => one.wait(events).await,
            Operation::WaitAny => drop(world.sets[process].wait_any().await.expect("its own")),
            Operation::Enqueue(queue) => world.queues[*queue].enqueue(()),
            Operation::Dequeue(queue) => world.queues[*queue].dequeue().await,
            Operation::Sleep(law) => sleep(span(law.draw(&mut one.stream))).await,
            Operation::SleepUntil { every, offset } => sleep_until(one.next(*every, *offset)).await,
            Operation::Loop { times: Some(0), after } => at = *after,
            Operation::Loop { times, .. } => one.left[at - 1] = times.unwrap_or(u64::MAX),
            Operation::End(begin) => {
                one.left[*begin] -= 1;
                if one.left[*begin] > 0 {
                    at = begin + 1;
                }
            }
            Operation::Replay(runs) => replay(runs, &compute).await,
            Operation::Exit => return,
        }
    }
}

async fn replay(runs: &[Run], compute: &impl AsyncFn(Duration)) {
    for run in runs {
        sleep_until(Moment::default().after(span(run.wake))).await;
        compute(span(run.run)).await;
    }
}

const fn span(time: Nanos) -> Duration {
    Duration::from_nanos(time.get())
}

/// What a process knows beside its place.
struct Interpreter<'w> {
    world: &'w World,
    process: usize,
    stream: Stream,
    /// How often each loop is still done.
    left: Vec<u64>,
    /// The instant of a grid that it takes next.
    due: Option<u64>,
}

impl<'w> Interpreter<'w> {
    fn new(world: &'w World, process: usize) -> Self {
        let key = StreamKey {
            seed: world.node.seed,
            replication: 0,
            purpose: Purpose::Services,
            index: process as u32,
        };
        let left = vec![0; world.node.processes[process].program.operations.len()];
        Self { world, process, stream: Stream::new(key), left, due: None }
    }

    async fn wait(&self, events: &[usize]) {
        let waited = match events {
            [event] => self.world.events[*event].wait().await.map(drop),
            _ => {
                let numbers: Vec<u64> =
                    events.iter().map(|&event| self.world.events[event].number()).collect();
                self.world.sets[self.process].wait_for(&numbers).await.map(drop)
            }
        };
        waited.expect("a scenario lets a process wait for its own events only");
    }

    /// The next instant `offset` after a multiple of `every`, of which each is taken once, also late.
    fn next(&mut self, every: Nanos, offset: Nanos) -> Moment {
        let (every, offset) = (every.get().max(1), offset.get());
        let since = now().elapsed().as_nanos() as u64;
        let first = || since.saturating_sub(offset).div_ceil(every) * every + offset;
        let due = self.due.unwrap_or_else(first);
        if self.due.replace(due.saturating_add(every)).is_some() && due <= since {
            let late = Late { process: self.process, due, at: since };
            self.world.late.lock().unwrap_or_else(PoisonError::into_inner).push(late);
        }
        Moment::default().after(Duration::from_nanos(due))
    }
}
