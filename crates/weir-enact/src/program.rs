//! The interpreter of programs: one operation after the other, as a future.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use weir_core::units::Nanos;
use weir_exec::{DualQueue, Event, Events, Moment, now, ready_since, sleep, sleep_until};
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
            Operation::Compute(law) => {
                one.acted = true;
                compute(span(law.draw(&mut one.stream))).await;
            }
            Operation::Post(event) => {
                one.acted = true;
                let _ = world.events[*event].poster().post();
            }
            Operation::PostAfter(event, law) => {
                one.acted = true;
                world.events[*event].poster().post_after(span(law.draw(&mut one.stream)), ());
            }
            Operation::Wait(events) => one.wait(events).await,
            Operation::WaitAny => {
                let _ = one.waits(world.sets[process].wait_any()).await.expect("its own");
            }
            Operation::Enqueue(queue) => {
                one.acted = true;
                world.queues[*queue].enqueue(());
            }
            Operation::Dequeue(queue) => {
                one.acted = true;
                one.waits(world.queues[*queue].dequeue()).await;
            }
            Operation::Sleep(law) => {
                let time = span(law.draw(&mut one.stream));
                one.waits(sleep(time)).await;
            }
            Operation::SleepUntil { every, offset } => one.sleep_until(*every, *offset).await,
            Operation::Loop { times: Some(0), after } => at = *after,
            Operation::Loop { times, .. } => one.left[at - 1] = times.unwrap_or(u64::MAX),
            Operation::End(begin) => {
                one.left[*begin] -= 1;
                if one.left[*begin] > 0 {
                    at = begin + 1;
                }
            }
            Operation::Replay(runs) => one.replay(runs, &compute).await,
            Operation::Exit => return,
        }
    }
}

const fn span(time: Nanos) -> Duration {
    Duration::from_nanos(time.get())
}

/// What a process knows besides its place.
struct Interpreter<'w> {
    world: &'w World,
    process: usize,
    stream: Stream,
    /// How often each loop is still done.
    left: Vec<u64>,
    /// The instant that it takes next of each grid it has come to, which is (every, offset).
    grids: Vec<(Nanos, Nanos, u64)>,
    /// Since when it is ready, or when the instant was to which it came late; nanoseconds since the executor began.
    woke: u64,
    /// It has done something since.
    acted: bool,
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
        Self {
            world,
            process,
            stream: Stream::new(key),
            left,
            grids: Vec::new(),
            woke: nanoseconds(ready_since()),
            acted: false,
        }
    }

    /// Waits, if it must: then it has done nothing since.
    async fn waits<T>(&mut self, future: impl Future<Output = T>) -> T {
        let (mut future, mut has_waited) = (pin!(future), false);
        let found = poll_fn(|cx| {
            let polled = future.as_mut().poll(cx);
            has_waited |= polled.is_pending();
            polled
        });
        let found = found.await;
        if has_waited {
            (self.woke, self.acted) = (nanoseconds(ready_since()), false);
        }
        found
    }

    async fn wait(&mut self, events: &[usize]) {
        let world = self.world;
        let waited = match events {
            [event] => self.waits(world.events[*event].wait()).await.map(drop),
            _ => {
                let numbers: Vec<u64> = events.iter().map(|&event| world.events[event].number()).collect();
                self.waits(world.sets[self.process].wait_for(&numbers)).await.map(drop)
            }
        };
        waited.expect("a scenario lets a process wait for its own events only");
    }

    async fn replay(&mut self, runs: &[Run], compute: &impl AsyncFn(Duration)) {
        for run in runs {
            self.waits(sleep_until(Moment::default().after(span(run.wake)))).await;
            self.acted = true;
            compute(span(run.run)).await;
        }
    }

    /// Waits for the next instant `offset` after a multiple of `every`, of which each is taken once, also late. The first is
    /// the next after it became ready or, if it has done nothing since, at that.
    async fn sleep_until(&mut self, every: Nanos, offset: Nanos) {
        let known = self.grids.iter().position(|grid| (grid.0, grid.1) == (every, offset));
        let place = known.unwrap_or_else(|| {
            let from = self.woke.saturating_add(u64::from(self.acted));
            let first = from.saturating_sub(offset.get()).div_ceil(every.get().max(1));
            let first = first.saturating_mul(every.get()).saturating_add(offset.get());
            self.grids.push((every, offset, first));
            self.grids.len() - 1
        });
        let due = self.grids[place].2;
        self.grids[place].2 = due.saturating_add(every.get());
        let at = nanoseconds(now());
        if due > at {
            return self.waits(sleep_until(Moment::default().after(Duration::from_nanos(due)))).await;
        }
        if self.acted || known.is_some() {
            let late = Late { process: self.process, due, at };
            self.world.late.lock().unwrap_or_else(PoisonError::into_inner).push(late);
        }
        (self.woke, self.acted) = (due, true);
    }
}

fn nanoseconds(moment: Moment) -> u64 {
    u64::try_from(moment.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
