//! Who runs next: drives a discipline of tasks over the readiness of tasks, without a clock, a thread or a future.
//!
//! The worker tells it what a poll came to, and who became ready; it says who is polled next and until when. The order
//! within an instant is that of the model of the node (`weir-node`), and so is the schedule: first what the poll came to,
//! then alarms, then what came from other threads, then the event of the discipline (the turn of an epoch), then the
//! end of the slice. The discipline is asked once, after all of these.
//!
//! | | |
//! |-|-|
//! | Source | Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report 5285, 1983, sections 2 and 3 |
//! | Time | nanoseconds of the executor's clock |
//! | Work of a decision | the discipline's, and O(1) |
//! | Departs from the source | a task cannot be interrupted: its slice ends where it gives way, and what it used more is charged to it |

use crate::counters::Decisions;
use crate::signal::NEVER;
use weir_core::discipline::{Drops, Enqueued, Open};
use weir_core::item::FlowId;
use weir_core::registry::visit_task;
use weir_core::spec::{Spec, SpecError};
use weir_core::task::{
    DeclarationError, Declared, Overcommitted, Path, Task, TaskDiscipline, TaskVisitor, Used,
};
use weir_core::units::{Instant, Nanos};

/// No task.
pub(crate) const NOBODY: u32 = u32::MAX;

/// What a poll came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The task is runnable, and gave way because it was asked to.
    GivesWay,
    /// It is runnable, and gave way of its own accord.
    Yields,
    Waits,
    Ends,
}

/// A discipline must lose nobody: what it drops, it was given twice.
struct Nothing;

impl Drops<Task> for Nothing {
    fn dropped(&mut self, item: Task, reason: weir_core::discipline::DropReason) {
        debug_assert!(false, "the discipline dropped {item:?}: {reason:?}");
    }
}

/// Who is polled next, and when that is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// [`NOBODY`] if nobody is ready.
    pub(crate) task: u32,
    /// When the discipline is to be asked again, alarms left out.
    pub(crate) due: u64,
    /// When the slice of the task ends.
    pub(crate) slice_end: u64,
}

/// What a worker asks of its dispatcher, whatever the discipline.
pub(crate) trait Dispatch {
    /// # Errors
    /// The discipline does not admit it.
    fn declare(
        &mut self,
        now: u64,
        number: u32,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError>;

    /// A task that waited becomes ready; `true`: the running task is to give way.
    fn wake(&mut self, now: u64, number: u32) -> bool;

    /// The poll of the running task came to this.
    fn polled(&mut self, now: u64, after: After);

    /// When the running task is to be asked to give way, alarms left out.
    fn due(&mut self) -> u64;

    /// Who is polled next, once everything due at `now` has been reported.
    fn next(&mut self, now: u64) -> Decision;

    /// The level of the queue on which the running task runs; `None` where there are no levels.
    fn level(&self) -> Option<i8>;

    /// What a task has used of each kind of time; `None` where all time is alike.
    fn used(&self, number: u32) -> Option<Used>;

    /// What was decided so far, up to `now`.
    fn decisions(&self, now: u64) -> Decisions;
}

/// Makes dispatchers of one discipline.
struct Make(usize);

impl TaskVisitor<Task> for Make {
    type Output = Vec<Box<dyn Dispatch + Send>>;
    fn visit<D: TaskDiscipline<Task> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output {
        (0..self.0).map(|_| Box::new(Dispatcher::new(make())) as Box<dyn Dispatch + Send>).collect()
    }
}

/// Makes `count` dispatchers of the discipline that a spec names.
///
/// # Errors
/// There is no such discipline, or an argument is refused.
pub(crate) fn dispatchers(spec: &str, count: usize) -> Result<Vec<Box<dyn Dispatch + Send>>, SpecError> {
    visit_task(&spec.parse::<Spec>()?, Make(count))
}

/// See above.
struct Dispatcher<D> {
    discipline: D,
    running: u32,
    level: Option<i8>,
    /// Whom the last decision started, and who ran last.
    before: u32,
    last: u32,
    /// Up to when the running task was charged.
    mark: u64,
    slice_end: u64,
    own_event: u64,
    /// The discipline was called since its event was read.
    stale: bool,
    /// The discipline is to be asked, because a task outranks the running one if `preempted`.
    enter: bool,
    preempted: bool,
    /// Since when nobody runs.
    idle_since: u64,
    decisions: Decisions,
}

fn task(number: u32) -> Task {
    Task { process: FlowId(number) }
}

fn at(now: u64) -> Instant {
    Instant::new(now)
}

impl<D: TaskDiscipline<Task>> Dispatcher<D> {
    fn new(discipline: D) -> Self {
        Self {
            discipline,
            running: NOBODY,
            level: None,
            before: NOBODY,
            last: NOBODY,
            mark: 0,
            slice_end: NEVER,
            own_event: NEVER,
            stale: true,
            enter: false,
            preempted: false,
            idle_since: 0,
            decisions: Decisions::default(),
        }
    }

    /// Charges the running task for what it used since it was last charged.
    fn unpaid(&mut self, now: u64) -> Nanos {
        let used = now.saturating_sub(std::mem::replace(&mut self.mark, now));
        Nanos::new(used)
    }

    fn charge_running(&mut self, now: u64) {
        if self.running != NOBODY {
            let used = self.unpaid(now);
            if used.get() > 0 {
                self.discipline.charge(at(now), &task(self.running), used);
                self.stale = true;
            }
        }
    }

    fn vacate(&mut self) {
        (self.running, self.slice_end, self.stale) = (NOBODY, NEVER, true);
    }

    fn give_back(&mut self, now: u64) {
        let (number, used) = (self.running, self.unpaid(now));
        self.discipline.requeue(at(now), task(number), used, &mut Nothing);
        self.vacate();
    }

    #[inline]
    fn read_own_event(&mut self) {
        if self.stale {
            self.own_event = self.discipline.next_event().map_or(NEVER, Instant::get);
            self.stale = false;
        }
    }

    #[inline]
    fn schedule(&mut self, now: u64) {
        if self.running != NOBODY {
            self.give_back(now);
        }
        let before = self.before;
        let grant = self.discipline.dequeue(at(now), &Open, &mut Nothing);
        let level = grant.and_then(|grant| self.discipline.level(grant.item.process));
        (self.running, self.mark) = (grant.map_or(NOBODY, |grant| grant.item.process.0), now);
        self.slice_end = grant.map_or(NEVER, |grant| now.saturating_add(grant.quantum.get()));
        let somebody = |task| (task != NOBODY).then_some(task);
        let path = Path::between(somebody(before), somebody(self.running), somebody(self.last));
        let high_over_low = self.preempted && self.level < Some(0) && level >= Some(0) && path == Path::Swap;
        self.decisions.made(path, high_over_low);
        (self.enter, self.preempted, self.stale, self.level) = (false, false, true, level);
        if before == NOBODY {
            self.decisions.idle += now.saturating_sub(std::mem::replace(&mut self.idle_since, now));
        }
        (self.before, self.idle_since) = (self.running, now);
        if self.running != NOBODY {
            self.last = self.running;
        }
    }
}

impl<D: TaskDiscipline<Task>> Dispatch for Dispatcher<D> {
    fn declare(
        &mut self,
        now: u64,
        number: u32,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        self.charge_running(now);
        self.stale = true;
        self.discipline.declare(at(now), FlowId(number), declared)
    }

    #[inline]
    fn wake(&mut self, now: u64, number: u32) -> bool {
        self.charge_running(now);
        self.stale = true;
        let outranks = self.discipline.enqueue(at(now), task(number), &mut Nothing) == Enqueued::Preempts;
        self.enter |= outranks || self.running == NOBODY;
        self.preempted |= outranks;
        outranks
    }

    #[inline]
    fn polled(&mut self, now: u64, after: After) {
        if after == After::GivesWay {
            return;
        }
        let number = self.running;
        let used = self.unpaid(now);
        self.discipline.finish(at(now), &task(number), used);
        self.vacate();
        self.enter = true;
        match after {
            After::Yields => {
                let _ = self.discipline.enqueue(at(now), task(number), &mut Nothing);
            }
            After::Ends => self.discipline.exit(at(now), FlowId(number)),
            After::Waits | After::GivesWay => {}
        }
    }

    #[inline]
    fn due(&mut self) -> u64 {
        self.read_own_event();
        self.slice_end.min(self.own_event)
    }

    #[inline]
    fn next(&mut self, now: u64) -> Decision {
        let over = self.running != NOBODY && self.slice_end <= now;
        self.read_own_event();
        if self.own_event <= now {
            self.enter = true;
            if self.running != NOBODY {
                self.give_back(now);
            }
        }
        if self.enter || over {
            self.schedule(now);
        }
        let due = self.due();
        Decision { task: self.running, due, slice_end: self.slice_end }
    }

    #[inline]
    fn level(&self) -> Option<i8> {
        self.level
    }

    fn used(&self, number: u32) -> Option<Used> {
        self.discipline.used(FlowId(number))
    }

    fn decisions(&self, now: u64) -> Decisions {
        let still = if self.before == NOBODY { now.saturating_sub(self.idle_since) } else { 0 };
        Decisions { idle: self.decisions.idle + still, ..self.decisions }
    }
}
