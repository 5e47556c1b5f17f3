//! The rules as they stand in the report, word for word: queues are lists, every epoch begins on time, and everything
//! is renewed then.

use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant};
use crate::item::FlowId;
use crate::task::{DeclarationError, Declared, Overcommitted, Task, TaskDiscipline, Used, Violation};
use crate::units::{Instant, Nanos};

/// The parameters, in nanoseconds.
const LENGTH: i64 = 100_000;
const SLICE: i64 = 20_000;
const USEFUL: i64 = 300;

#[derive(Clone, Debug, Default)]
struct Process {
    need: i64,
    next_need: i64,
    slice: i64,
    priority: i8,
    rem: i64,
    teocs: i64,
    u: i64,
    low: bool,
    allocated: bool,
    ready: bool,
    used: Used,
}

/// Readings of what the report leaves open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    pub(super) at_dispatch: bool,
    pub(super) ahead: bool,
    pub(super) keep: bool,
    /// All that is unused of a slice goes back to `csp`, the part that was owed anyway too.
    pub(super) all_unused: bool,
    /// How much longer all times are than in an epoch of 100 us.
    pub(super) scale: i64,
}

impl Reading {
    pub(super) fn spec(self) -> String {
        format!(
            "epoch(length=100us,slice=20us,min_slice=300ns,preempt_left=300ns,allocate={},returning={},leftover={})",
            if self.at_dispatch { "at_dispatch" } else { "at_wait" },
            if self.ahead { "ahead" } else { "behind" },
            if self.keep { "keep" } else { "void" },
        )
    }
}

pub(super) struct Oracle {
    reading: Reading,
    processes: Vec<Process>,
    /// From the highest level to the lowest: 3 to -4.
    queues: [Vec<usize>; 8],
    running: Option<(usize, i8)>,
    started: bool,
    epoch_end: i64,
    csp: i64,
}

impl Oracle {
    pub(super) fn new(reading: Reading) -> Self {
        let queues = std::array::from_fn(|_| Vec::new());
        let (length, processes) = (LENGTH * reading.scale, Vec::new());
        Self { reading, processes, queues, running: None, started: false, epoch_end: length, csp: length }
    }

    fn level_of(&self, process: usize) -> i8 {
        let process = &self.processes[process];
        if process.low { process.priority - 4 } else { process.priority }
    }

    fn queue_of(&mut self, process: usize) -> &mut Vec<usize> {
        let level = self.level_of(process);
        &mut self.queues[(3 - level) as usize]
    }

    /// Every epoch begins on time, unless a process runs: it is given back first.
    fn advance(&mut self, now: i64) {
        if !self.started {
            self.epoch_end = now / (LENGTH * self.reading.scale) * LENGTH * self.reading.scale;
            self.started = true;
            self.begin_epoch();
        }
        while self.running.is_none() && self.epoch_end <= now {
            self.begin_epoch();
        }
    }

    /// The same of the epochs that have begun before now: what is posted at the very instant is posted before the turn.
    fn advance_before(&mut self, now: i64) {
        if self.started { self.advance(now - 1) } else { self.advance(now) }
    }

    fn begin_epoch(&mut self) {
        self.epoch_end += LENGTH * self.reading.scale;
        self.epoch_start();
    }

    fn epoch_start(&mut self) {
        for process in &mut self.processes {
            process.need = process.next_need;
            (process.rem, process.u, process.low) = (process.need, 0, false);
            process.allocated &= self.reading.keep;
        }
        self.csp = self.epoch_end - self.processes.iter().map(|process| process.need).sum::<i64>();
        for level in 0..4 {
            let low = std::mem::take(&mut self.queues[level + 4]);
            let at = if self.reading.ahead { 0 } else { self.queues[level].len() };
            self.queues[level].splice(at..at, low);
        }
    }

    fn account(&mut self, process: usize, used: i64) {
        let process = &mut self.processes[process];
        let count = |sum: &mut Nanos, more: i64| *sum = Nanos::new(sum.get() + more.unsigned_abs());
        if process.low {
            count(&mut process.used.windfall, used);
        } else {
            let a = used.min(process.rem);
            process.rem -= a;
            let b = (used - a).min(process.u);
            process.u -= b;
            self.csp += a + b;
            count(&mut process.used.need, a);
            count(&mut process.used.uncommitted, used - a);
        }
        process.teocs -= used;
    }

    fn allocate(&mut self, process: usize, now: i64) {
        let process = &mut self.processes[process];
        let unused = if self.reading.all_unused && !process.low { process.teocs.max(0) } else { process.u };
        self.csp += unused;
        (process.u, process.allocated) = (0, true);
        if process.low {
            process.teocs = process.slice;
            return;
        }
        let available = process.rem + (self.csp - now).max(0);
        if available < USEFUL * self.reading.scale {
            (process.low, process.teocs) = (true, process.slice);
        } else {
            process.teocs = process.slice.min(available);
            process.u = (process.teocs - process.rem).max(0);
            self.csp -= process.u;
        }
    }

    fn stop(&mut self, process: usize, used: Nanos) {
        self.account(process, used.get() as i64);
        self.running = None;
    }

    fn runs(&self, item: &Task) -> Option<usize> {
        let process = item.process.0 as usize;
        self.running.filter(|(running, _)| *running == process).map(|_| process)
    }
}

impl Discipline<Task> for Oracle {
    fn enqueue(&mut self, now: Instant, item: Task, drops: &mut dyn Drops<Task>) -> Enqueued {
        let process = item.process.0 as usize;
        if self.processes[process].ready || self.runs(&item).is_some() {
            drops.dropped(item, DropReason::AlreadyReady);
            return Enqueued::Queued;
        }
        self.advance_before(now.get() as i64);
        self.processes[process].ready = true;
        self.queue_of(process).push(process);
        match self.running {
            Some((_, level)) if self.level_of(process) > level => Enqueued::Preempts,
            _ => Enqueued::Queued,
        }
    }

    fn dequeue(
        &mut self,
        now: Instant,
        _gate: &dyn Gate<Task>,
        _drops: &mut dyn Drops<Task>,
    ) -> Option<Grant<Task>> {
        self.advance(now.get() as i64);
        loop {
            let level = self.queues.iter().position(|queue| !queue.is_empty())?;
            let process = self.queues[level].remove(0);
            if !self.processes[process].allocated {
                self.allocate(process, now.get() as i64);
                if self.level_of(process) != 3 - level as i8 {
                    self.queue_of(process).push(process);
                    continue;
                }
            }
            self.processes[process].ready = false;
            self.running = Some((process, 3 - level as i8));
            let quantum = Nanos::new(self.processes[process].teocs.unsigned_abs());
            return Some(Grant { item: Task { process: FlowId(process as u32) }, quantum });
        }
    }

    fn charge(&mut self, _now: Instant, item: &Task, used: Nanos) {
        if let Some(process) = self.runs(item) {
            self.account(process, used.get() as i64);
        }
    }

    fn requeue(&mut self, now: Instant, item: Task, used: Nanos, drops: &mut dyn Drops<Task>) {
        let now_is = now.get() as i64;
        let Some(process) = self.runs(&item) else {
            let _ = self.enqueue(now, item, drops);
            return;
        };
        self.stop(process, used);
        let keeps = self.processes[process].teocs > USEFUL * self.reading.scale;
        if now_is >= self.epoch_end {
            self.processes[process].allocated &= keeps;
            self.advance(now_is);
        } else if !keeps {
            self.allocate(process, now_is);
        }
        self.processes[process].ready = true;
        let queue = self.queue_of(process);
        queue.insert(if keeps { 0 } else { queue.len() }, process);
    }

    fn finish(&mut self, now: Instant, item: &Task, used: Nanos) {
        let now = now.get() as i64;
        let Some(process) = self.runs(item) else { return };
        self.stop(process, used);
        if now >= self.epoch_end {
            self.csp += std::mem::take(&mut self.processes[process].u);
            self.processes[process].allocated = false;
            self.advance_before(now);
        } else if self.reading.at_dispatch {
            self.csp += std::mem::take(&mut self.processes[process].u);
            self.processes[process].allocated = false;
        } else {
            self.allocate(process, now);
        }
    }

    fn next_event(&self) -> Option<Instant> {
        let busy = self.running.is_some() || self.queues.iter().any(|queue| !queue.is_empty());
        busy.then(|| Instant::new(self.epoch_end.unsigned_abs()))
    }

    fn backlog(&self) -> Backlog<Nanos> {
        let items = self.queues.iter().map(Vec::len).sum::<usize>() as u64;
        Backlog { items, cost: Nanos::new(0) }
    }
}

impl TaskDiscipline<Task> for Oracle {
    fn declare(
        &mut self,
        now: Instant,
        process: FlowId,
        declared: Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        let process = process.0 as usize;
        if self.started {
            self.advance_before(now.get() as i64);
        }
        self.processes.resize_with(self.processes.len().max(process + 1), Process::default);
        let state = &mut self.processes[process];
        state.next_need = declared.need.get() as i64;
        state.priority = declared.priority as i8;
        state.slice = declared.slice.map_or(SLICE * self.reading.scale, |slice| slice.get() as i64);
        Ok(None)
    }

    fn exit(&mut self, now: Instant, process: FlowId) {
        let (number, task) = (process.0 as usize, Task { process });
        if self.processes[number].ready || self.runs(&task).is_some() {
            return;
        }
        self.advance_before(now.get() as i64);
        let state = &mut self.processes[number];
        self.csp += state.rem + state.u;
        *state = Process {
            slice: SLICE * self.reading.scale,
            priority: 1,
            used: state.used,
            ..Default::default()
        };
    }

    fn used(&self, process: FlowId) -> Option<Used> {
        self.processes.get(process.0 as usize).map(|state| state.used)
    }

    fn level(&self, process: FlowId) -> Option<i8> {
        Some(self.level_of(process.0 as usize))
    }

    fn critical(&self) -> Option<Instant> {
        Some(Instant::new(self.csp.max(0).unsigned_abs()))
    }

    fn verify(&self) -> Result<(), Violation> {
        Ok(())
    }
}
