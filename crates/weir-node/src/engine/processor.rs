//! A node: its processor, the scheduler on it, and what interrupts it.
//!
//! A node is seen at the instants at which something is due, but never within an interrupt: what falls due meanwhile is
//! seen at its end. [`World::instant`] goes through all that is due in the order that [the crate](crate) states, and
//! enters the scheduler at most once; as long as something is due at the same instant it goes through it again.
//!
//! `mark` is the time up to which the open grant was charged, less the overheads that were carried into it. So what is
//! to be charged is always the time since `mark`, and the slice ends a quantum after it.

use crate::engine::books::{Start, Who};
use crate::engine::process::{Process, State};
use crate::engine::switch::Inbox;
use crate::engine::timer::Timer;
use crate::engine::world::{NEVER, NOBODY, World, at, span, task};
use crate::record::{Path, Sink};
use weir_core::discipline::Open;
use weir_core::task::{Task, TaskDiscipline};

/// What takes the processor from programs.
#[derive(Clone, Copy)]
struct Interrupt {
    /// What the timer's costs.
    timer: u64,
    /// What is charged to nobody.
    uncharged: u64,
}

/// What the scheduler has decided.
#[derive(Clone, Copy)]
struct Decision {
    /// Who ran, and who runs now, at which level and for how long at most.
    before: u32,
    after: u32,
    level: Option<i8>,
    quantum: u64,
    /// What the interrupt costs who is left, or started; what is charged to nobody.
    cost: u64,
    uncharged: u64,
}

/// A node.
pub(super) struct Node<D> {
    pub(super) discipline: D,
    pub(super) number: u32,
    /// When it is to be seen next.
    pub(super) next: u64,
    /// The process of the open grant, and the level that it runs on.
    pub(super) running: u32,
    pub(super) level: Option<i8>,
    /// Who ran last: its registers are still loaded.
    last: u32,
    /// See above.
    pub(super) mark: u64,
    slice_end: u64,
    pub(super) compute_end: u64,
    /// The end of the interrupt.
    pub(super) busy_until: u64,
    /// How much of the interrupt does not count in the open grant: `mark` is ahead by it from the beginning on.
    lead: u64,
    /// Since when the time of the one that has the processor has not been reported.
    pub(super) untold: u64,
    /// When the discipline has an event of its own.
    own_event: u64,
    /// When time that is charged to nobody is to be spent.
    pub(super) turn: u64,
    /// The scheduler is to be entered at this instant.
    pub(super) enter: bool,
    /// And this because a process outranks the running one.
    pub(super) preempted: bool,
    /// The discipline was called since its own event was read.
    pub(super) stale: bool,
    pub(super) timer: Timer,
    pub(super) inbox: Inbox,
}

impl<D: TaskDiscipline<Task>> Node<D> {
    pub(super) fn new(discipline: D, number: u32) -> Self {
        Self {
            discipline,
            number,
            next: NEVER,
            running: NOBODY,
            level: None,
            last: NOBODY,
            mark: 0,
            slice_end: NEVER,
            compute_end: NEVER,
            busy_until: 0,
            lead: 0,
            untold: 0,
            own_event: NEVER,
            turn: NEVER,
            enter: false,
            preempted: false,
            stale: false,
            timer: Timer::new(),
            inbox: Inbox::new(),
        }
    }

    /// What the running process has used and was not charged for.
    #[inline]
    pub(super) fn unpaid(&mut self, now: u64) -> u64 {
        now - std::mem::replace(&mut self.mark, now)
    }

    /// The same where `now` may be within an interrupt.
    pub(super) fn unpaid_so_far(&mut self, now: u64) -> u64 {
        let up_to = if now < self.busy_until { (now + self.lead).min(self.busy_until) } else { now };
        let unpaid = up_to.saturating_sub(self.mark);
        self.mark += unpaid;
        unpaid
    }

    #[inline]
    fn read_own_event(&mut self) {
        self.own_event = self.discipline.next_event().map_or(NEVER, |event| event.get());
        self.stale = false;
    }

    /// Works out when it is to be seen next.
    #[inline]
    pub(super) fn look_ahead(&mut self) {
        let asked = self.timer.due().min(self.inbox.due()).min(self.turn);
        let due = self.compute_end.min(self.slice_end).min(self.own_event.min(asked));
        self.next = due.max(self.busy_until);
    }

    /// Asks the discipline anew, and works out when it is to be asked next.
    pub(super) fn refresh(&mut self) {
        self.read_own_event();
        self.look_ahead();
    }

    /// Nobody runs.
    #[inline]
    pub(super) fn vacate(&mut self) {
        (self.running, self.slice_end, self.compute_end) = (NOBODY, NEVER, NEVER);
        self.stale = true;
    }

    /// Takes the processor, at `now`, without entering the scheduler.
    #[inline]
    fn interrupt(&mut self, now: u64, Interrupt { timer, uncharged }: Interrupt) {
        (self.busy_until, self.lead) = (now + timer + uncharged, uncharged);
        if self.running != NOBODY {
            self.compute_end = self.compute_end.saturating_add(timer + uncharged);
            self.mark += uncharged;
            self.slice_end = self.slice_end.saturating_add(uncharged);
        }
    }

    /// Gives the processor to the process that was chosen, behind the interrupt.
    #[inline]
    fn start(&mut self, process: &mut Process, now: u64, decision: Decision) {
        let Decision { before, after, quantum, cost, uncharged, .. } = decision;
        let begins = now + cost + uncharged;
        // From an idle processor it pays itself, and where it goes on.
        let pays = before == NOBODY || before == after;
        let paid_from = if pays { now + uncharged } else { begins };
        self.lead = paid_from - now;
        // Another node may have charged it for an interrupt that is longer than all the time so far.
        let carried = process.carried.min(paid_from);
        process.carried -= carried;
        self.mark = paid_from - carried;
        self.slice_end = self.mark.saturating_add(quantum);
        self.compute_end = begins.saturating_add(std::mem::take(&mut process.left));
        self.running = after;
        self.last = after;
    }
}

impl<S: Sink> World<'_, S> {
    /// Sees to all that is due on a node at `now`.
    #[inline]
    pub(super) fn instant<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        while node.next <= now {
            self.pass(node, now);
            if self.faults.is_failed() {
                return;
            }
        }
    }

    /// Goes through all that is due once, in order.
    #[inline]
    fn pass<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        let before = node.running;
        (node.enter, node.preempted) = (false, false);
        if node.compute_end <= now {
            self.run_on(node, now);
        }
        let over = node.running != NOBODY && node.slice_end <= now;
        let mut timer = over;
        if node.timer.due() <= now {
            timer = true;
            self.alarms(node, now);
        }
        if node.inbox.due() <= now {
            self.deliveries(node, now);
        }
        self.own_event(node, now);
        node.enter |= over;
        let uncharged = if node.turn <= now { self.scenario.uncharged.get() } else { 0 };
        if uncharged > 0 {
            node.turn = NEVER;
        }
        let interrupt = Interrupt { timer: if timer { self.prices.timer } else { 0 }, uncharged };
        if node.enter {
            self.schedule(node, now, before, interrupt);
        } else if timer || uncharged > 0 {
            self.interrupt(node, now, interrupt);
        }
        if node.stale {
            node.read_own_event();
        }
        node.look_ahead();
        if !self.clock.may_go_on(now) {
            self.endless(node.number, before, now);
        }
    }

    /// The event of the discipline: who runs is given back at once.
    #[inline]
    fn own_event<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        if node.stale {
            node.read_own_event();
        }
        if node.own_event <= now {
            node.enter = true;
            if node.running != NOBODY {
                self.give_back(node, now);
            }
        }
    }

    /// Closes the open grant; its process is still ready.
    #[inline]
    fn give_back<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        let process = node.running;
        let used = node.unpaid(now);
        let state = &mut self.processes[process as usize];
        state.left = node.compute_end.saturating_sub(now);
        state.state = State::Ready;
        node.discipline.requeue(at(now), task(process), span(used), &mut self.faults.drops);
        node.vacate();
        self.audit.charge(&mut self.faults, node, process, used, now);
    }

    /// Enters the scheduler.
    #[inline]
    fn schedule<D: TaskDiscipline<Task>>(
        &mut self,
        node: &mut Node<D>,
        now: u64,
        before: u32,
        Interrupt { timer, uncharged }: Interrupt,
    ) {
        if node.running != NOBODY {
            self.give_back(node, now);
        }
        let grant = node.discipline.dequeue(at(now), &Open, &mut self.faults.drops);
        let (after, quantum) = match grant {
            Some(grant) => (grant.item.process.0, grant.quantum.get()),
            None => (NOBODY, NEVER),
        };
        let level = grant.and_then(|grant| node.discipline.level(grant.item.process));
        self.audit.decision(&mut self.faults, &self.processes, node, after, now);
        let somebody = |process| (process != NOBODY).then_some(process);
        let path = Path::between(somebody(before), somebody(after), somebody(node.last));
        let cost = timer + self.prices.path[path as usize];
        self.tally.decisions += 1;
        let (number, sink) = (node.number as usize, &mut *self.books.sink);
        sink.path(number, at(now), path);
        if let Some(begins) = node.discipline.critical() {
            sink.critical(number, at(now), begins);
        }
        if node.preempted && node.level < Some(0) && level >= Some(0) && path == Path::Swap {
            sink.high_over_low(number, at(now));
        }
        let decision = Decision { before, after, level, quantum, cost, uncharged };
        node.busy_until = now + cost + uncharged;
        self.hand_over(node, now, decision);
        node.stale = true;
        if after != NOBODY {
            let process = &mut self.processes[after as usize];
            node.start(process, now, decision);
            let woke = process.starts();
            self.books.started(Start { node: node.number, process: after, at: node.busy_until, woke });
        }
    }

    /// Tells the time of who is left, or was idle, and charges it for the interrupt if it is left: what follows is of who
    /// is started, or idle.
    #[inline]
    fn hand_over<D>(&mut self, node: &mut Node<D>, now: u64, decision: Decision) {
        let Decision { before, after, level, cost, uncharged, .. } = decision;
        let paid = now + cost;
        // Reported in one place, whoever it is of: the code for each of them would stand here in full.
        let (who, until) = match (before, after) {
            (NOBODY, NOBODY) if cost > 0 => {
                self.tell(node, Who::Idle, now);
                (Who::Overhead, paid)
            }
            (NOBODY, NOBODY) => (Who::Idle, node.untold),
            (NOBODY, _) => (Who::Idle, now),
            _ if before == after && node.level == level => (Who::Idle, node.untold),
            _ if before == after => (Who::runs(before, node.level), now),
            _ => {
                self.processes[before as usize].carried += cost;
                (Who::runs(before, node.level), paid)
            }
        };
        self.tell_rest(node, who, until);
        if before != NOBODY && before != after {
            self.audit.left(&mut self.faults, before, self.processes[before as usize].carried, now);
        }
        if uncharged > 0 {
            self.tell(node, Who::runs(after, level), paid);
            self.tell(node, Who::Overhead, paid + uncharged);
        }
        node.level = level;
    }

    /// Takes the processor without entering the scheduler.
    #[inline]
    fn interrupt<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64, interrupt: Interrupt) {
        node.interrupt(now, interrupt);
        if node.running == NOBODY && node.busy_until > now {
            self.tell(node, Who::Idle, now);
            self.tell(node, Who::Overhead, node.busy_until);
        } else if interrupt.uncharged > 0 {
            self.tell(node, Who::runs(node.running, node.level), now + interrupt.timer);
            self.tell(node, Who::Overhead, node.busy_until);
        }
    }

    /// Tells the time of who has the processor up to `now`.
    pub(super) fn tell_up_to<D>(&mut self, node: &mut Node<D>, now: u64) {
        self.tell_rest(node, Who::runs(node.running, node.level), now);
    }
}
