//! The turn of an epoch of 100,000 ready tasks: what it costs the dispatches that follow, and itself.

use std::time::Instant as Clock;

use weir_core::discipline::{Discipline, Drops, Open};
use weir_core::item::FlowId;
use weir_core::registry::task_discipline;
use weir_core::task::{Declared, Task, TaskDiscipline};
use weir_core::units::{Instant, Nanos};

const TASKS: u32 = 100_000;
/// Epochs, in each of which every task is dispatched once.
const EPOCHS: u64 = 5;
const RUNS: u64 = 300_000;

struct Nothing;

impl Drops<Task> for Nothing {
    fn dropped(&mut self, _: Task, _: weir_core::discipline::DropReason) {}
}

/// Nanoseconds of a turn for each task: what a dispatch takes more where every task is dispatched once an epoch, so that
/// all of them are renewed, than where the epoch does not end. Nothing, where so many are not admitted.
pub fn turn() -> f64 {
    let once = u64::from(TASKS) * RUNS;
    let (turning, lasting) = (dispatches(once), dispatches(once * EPOCHS * 2));
    (turning - lasting).max(0.0)
}

/// How long a dispatch takes.
fn dispatches(epoch: u64) -> f64 {
    let spec = format!("epoch({epoch}ns,slice={RUNS}ns)").parse().expect("a spec");
    let mut discipline: Box<dyn TaskDiscipline<Task> + Send> = task_discipline(&spec).expect("a discipline");
    for number in 0..TASKS {
        let declared = Declared { need: Nanos::new(0), ..Declared::default() };
        if discipline.declare(Instant::ZERO, FlowId(number), declared).is_err() {
            return f64::NAN;
        }
        let _ = discipline.enqueue(Instant::ZERO, Task { process: FlowId(number) }, &mut Nothing);
    }
    let (mut now, begin) = (0, Clock::now());
    let count = u64::from(TASKS) * EPOCHS;
    for _ in 0..count {
        let Some(grant) = discipline.dequeue(Instant::new(now), &Open, &mut Nothing) else { return f64::NAN };
        now += RUNS;
        discipline.requeue(Instant::new(now), grant.item, Nanos::new(RUNS), &mut Nothing);
    }
    begin.elapsed().as_nanos() as f64 / count as f64
}
