//! Runs programs on: from the end of what a process computes to where it next uses time or waits.

use crate::engine::code::Step;
use crate::engine::memory::Turn;
use crate::engine::process::State;
use crate::engine::processor::Node;
use crate::engine::switch::Message;
use crate::engine::timer::Alarm;
use crate::engine::world::{World, at, span, task};
use crate::record::Sink;
use weir_core::task::{Task, TaskDiscipline};

/// What comes after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The next step.
    Next,
    /// This one.
    Goto(u32),
    /// The next step, once this much time was used.
    Uses(u64),
    /// The same step, once this much time was used for it.
    Pays(u64),
    /// The same step, once this much time was used.
    Computes(u64),
    /// The process waits; it goes on with the next step.
    Waits(State),
    /// The process waits; it tries the same step again.
    LooksAgain(State),
}

impl<S: Sink> World<'_, S> {
    /// The running process goes on.
    #[inline]
    pub(super) fn run_on<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        let process = node.running;
        let mut step = self.processes[process as usize].step;
        loop {
            self.tally.operations += 1;
            if !self.clock.may_go_on(now) {
                self.endless(node.number, process, now);
                node.compute_end = u64::MAX;
                break;
            }
            match self.operate(node, process, step, now) {
                Then::Next | Then::Uses(0) => step += 1,
                Then::Goto(to) => step = to,
                Then::Computes(0) => {}
                Then::Uses(time) => {
                    step += 1;
                    node.compute_end = now.saturating_add(time);
                    break;
                }
                Then::Computes(time) => {
                    node.compute_end = now.saturating_add(time);
                    break;
                }
                Then::Pays(time) => {
                    self.processes[process as usize].paid = true;
                    node.compute_end = now.saturating_add(time);
                    break;
                }
                Then::Waits(state) => {
                    self.waits(node, process, state, now);
                    step += 1;
                    break;
                }
                Then::LooksAgain(state) => {
                    self.waits(node, process, state, now);
                    break;
                }
            }
        }
        self.processes[process as usize].step = step;
    }

    #[inline]
    fn operate<D: TaskDiscipline<Task>>(
        &mut self,
        node: &mut Node<D>,
        process: u32,
        step: u32,
        now: u64,
    ) -> Then {
        match self.programs.steps[step as usize] {
            Step::Compute(time) => {
                self.processes[process as usize].acted = true;
                Then::Uses(time)
            }
            Step::Draw { law } => {
                self.processes[process as usize].acted = true;
                Then::Uses(self.memory.draw(&self.programs, process, law))
            }
            Step::Post { event } => self.post_for(node, process, event, now),
            Step::PostAfter { event, law } => {
                self.processes[process as usize].acted = true;
                let after = self.memory.draw(&self.programs, process, law);
                self.ask(node, now.saturating_add(after), Alarm::Post(event));
                Then::Next
            }
            Step::WaitOne { .. } | Step::WaitSet { .. } | Step::WaitAny => {
                let posted = &mut self.processes[process as usize].posted;
                match self.events.take(posted, &self.programs, step) {
                    true => self.goes_on(node, process, now),
                    false => Then::LooksAgain(State::WaitsForEvent),
                }
            }
            Step::Enqueue { queue } => self.enqueue_for(node, process, queue, now),
            Step::Dequeue { queue } => match self.take_data(process, queue, now) {
                true => {
                    self.processes[process as usize].acted = true;
                    self.goes_on(node, process, now)
                }
                false => Then::Waits(State::WaitsForData(queue)),
            },
            Step::Sleep { law } => {
                let time = self.memory.draw(&self.programs, process, law);
                self.sleep(node, process, now.saturating_add(time), now)
            }
            Step::SleepUntil { grid } => self.sleep_until(node, process, grid, now),
            Step::Begin { counter } => {
                self.memory.begin(&self.programs, counter);
                Then::Next
            }
            Step::Again { counter, to } => match self.memory.again(counter) {
                true => Then::Goto(to),
                false => Then::Next,
            },
            Step::Jump { to } => Then::Goto(to),
            Step::Replay { runs, counter } => self.replay(node, process, runs, counter, now),
            Step::Exit => Then::LooksAgain(State::Ended),
        }
    }

    /// Who is to move sleeps for a nanosecond at least, in which it does.
    #[inline]
    fn sleep<D>(&mut self, node: &mut Node<D>, process: u32, until: u64, now: u64) -> Then {
        let least = if self.is_to_move(process) { now.saturating_add(1) } else { now };
        self.ask(node, until.max(least), Alarm::Wake(process));
        Then::Waits(State::Sleeps)
    }

    /// An operation at which the process could have waited is done at once.
    #[inline]
    fn goes_on<D>(&mut self, node: &mut Node<D>, process: u32, now: u64) -> Then {
        match self.is_to_move(process) {
            true => self.sleep(node, process, now, now),
            false => Then::Next,
        }
    }

    #[inline]
    fn is_to_move(&self, process: u32) -> bool {
        self.processes[process as usize].is_to_move()
    }

    /// Every instant of a grid is taken once, in order: one that has passed begins a response of its own at once, from
    /// when it was due. The first is one after the process became ready or, if it has done nothing since, at that: it
    /// became ready for this, and there is no response before.
    #[inline]
    fn sleep_until<D>(&mut self, node: &mut Node<D>, process: u32, grid: u32, now: u64) -> Then {
        let one = &mut self.processes[process as usize];
        let from = one.woke.saturating_add(u64::from(one.acted));
        let Turn { due, is_first } = self.memory.turn(self.programs.grids[grid as usize], from);
        if due > now {
            return self.sleep(node, process, due, now);
        }
        if one.is_to_move() {
            one.owed = due;
            return self.sleep(node, process, now, now);
        }
        let since = std::mem::replace(&mut one.woke, due);
        if std::mem::replace(&mut one.acted, true) || !is_first {
            self.books.sink.responded(process as usize, at(now), at(since));
        }
        Then::Next
    }

    /// A post uses time before it takes effect, more of it to another node; what was paid for is done, also where the
    /// owner has moved since.
    #[inline]
    fn post_for<D: TaskDiscipline<Task>>(
        &mut self,
        node: &mut Node<D>,
        process: u32,
        event: u32,
        now: u64,
    ) -> Then {
        let there = self.processes[self.events.owner(event) as usize].node;
        let cost = if there == node.number { self.prices.post } else { self.prices.remote };
        let one = &mut self.processes[process as usize];
        one.acted = true;
        let paid = std::mem::take(&mut one.paid);
        if cost > 0 && !paid {
            return Then::Pays(cost);
        }
        match there == node.number {
            true => self.post(node, event, now),
            false => self.send(there, Message::Post(event)),
        }
        Then::Next
    }

    /// An enqueue uses time where it is to another node's queue, or posts who waits; what was paid for is done,
    /// whether anybody still waits or not.
    #[inline]
    fn enqueue_for<D: TaskDiscipline<Task>>(
        &mut self,
        node: &mut Node<D>,
        process: u32,
        queue: u32,
        now: u64,
    ) -> Then {
        let dual = &self.queues[queue as usize];
        let there = dual.node;
        let cost = match dual.waiting.front() {
            _ if there != node.number => self.prices.remote,
            Some(&first) if self.processes[first as usize].node != node.number => self.prices.remote,
            Some(_) => self.prices.post,
            None => 0,
        };
        let one = &mut self.processes[process as usize];
        one.acted = true;
        let paid = std::mem::take(&mut one.paid);
        if cost > 0 && !paid {
            return Then::Pays(cost);
        }
        match there == node.number {
            true => self.put(node, queue, process, now),
            false => self.send(there, Message::Put { queue, from: process }),
        }
        Then::Next
    }

    /// Wakes at the time of its next run, and computes it. A run that is due already is a response of its own, from the
    /// time at which it was due. The counter is twice the run's number, and one once it has woken.
    fn replay<D>(&mut self, node: &mut Node<D>, process: u32, runs: u32, counter: u32, now: u64) -> Then {
        let counter = &mut self.memory.counters[counter as usize];
        let (number, has_woken) = (*counter / 2, *counter % 2 == 1);
        let Some(&run) = self.programs.runs[runs as usize].get(number as usize) else {
            *counter = 0;
            return Then::Next;
        };
        *counter += 1;
        let (due, one) = (run.wake.get(), &mut self.processes[process as usize]);
        if due > now {
            self.ask(node, due, Alarm::Wake(process));
            return Then::LooksAgain(State::Sleeps);
        }
        if !has_woken && one.is_to_move() {
            one.owed = due;
            self.ask(node, now.saturating_add(1), Alarm::Wake(process));
            return Then::LooksAgain(State::Sleeps);
        }
        let since = std::mem::replace(&mut one.woke, due);
        if has_woken {
            return Then::Computes(run.run.get());
        }
        if number > 0 {
            self.books.sink.responded(process as usize, at(now), at(since));
        }
        Then::Computes(0)
    }

    /// The running process waits, or ends.
    #[inline]
    fn waits<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, process: u32, state: State, now: u64) {
        let used = node.unpaid(now);
        node.discipline.finish(at(now), &task(process), span(used));
        node.vacate();
        node.enter = true;
        self.audit.charge(&mut self.faults, node, process, used, now);
        let one = &mut self.processes[process as usize];
        one.waits(&self.clock, state);
        self.life.rests(one);
        if one.is_to_move() {
            self.moves.push(process);
        }
        if let State::WaitsForData(queue) = state {
            self.queues[queue as usize].waiting.push_back(process);
        }
        self.books.sink.waits(process as usize, at(now), at(one.woke));
        if state == State::Ended {
            self.ends(node, process, now);
        }
    }

    #[cold]
    fn ends<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, process: u32, now: u64) {
        node.discipline.exit(at(now), task(process).process);
        self.life.ends(&self.processes[process as usize]);
        self.audit.discipline(&mut self.faults, node, now);
    }

    /// Asks the timer demon of a node.
    #[inline]
    pub(super) fn ask<D>(&mut self, node: &mut Node<D>, at: u64, alarm: Alarm) {
        let process = self.whose(alarm);
        self.life.begins(&self.processes[process as usize]);
        node.timer.ask(self.clock.due(at), alarm);
        self.faults.bound_timer(node.number, process, node.timer.len());
    }
}
