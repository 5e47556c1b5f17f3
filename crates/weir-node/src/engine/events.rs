//! Events and dual queues: who posts, who waits, who is woken.

use weir_core::discipline::Enqueued;
use weir_core::task::{Task, TaskDiscipline};
use weir_core::units::Nanos;

use crate::engine::code::Step;
use crate::engine::processor::Node;
use crate::engine::switch::Message;
use crate::engine::timer::Alarm;
use crate::engine::world::{NOBODY, State, World, at, span, task};
use crate::record::Sink;

impl<S: Sink, const V: bool> World<'_, S, V> {
    /// Marks an event as posted, and wakes its owner if it waits for it.
    #[inline]
    pub(super) fn post<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, event: u32, now: u64) {
        let one = &mut self.events[event as usize];
        if one.posted {
            return;
        }
        let owner = one.owner;
        let process = &mut self.processes[owner as usize];
        let last = std::mem::replace(&mut process.last_posted, event);
        (one.posted, one.before, one.after) = (true, last, NOBODY);
        if last == NOBODY {
            process.first_posted = event;
        } else {
            self.events[last as usize].after = event;
        }
        let (waits, step) = (process.state == State::WaitsForEvent, process.step);
        if waits && self.waits_for(step, event) {
            self.wake(node, owner, now);
        }
    }

    #[inline]
    pub(super) fn waits_for(&self, step: u32, event: u32) -> bool {
        match self.programs.steps[step as usize] {
            Step::WaitOne { event: one } => one == event,
            Step::WaitSet { from, until } => {
                self.programs.sets[from as usize..until as usize].contains(&event)
            }
            _ => true,
        }
    }

    /// Takes the first posted event that a step waits for; `false` if there is none.
    #[inline]
    pub(super) fn take_posted(&mut self, process: u32, step: u32) -> bool {
        let mut event = match self.programs.steps[step as usize] {
            Step::WaitOne { event } if self.events[event as usize].posted => event,
            Step::WaitOne { .. } => NOBODY,
            _ => self.processes[process as usize].first_posted,
        };
        while event != NOBODY && !self.waits_for(step, event) {
            event = self.events[event as usize].after;
        }
        if event == NOBODY {
            return false;
        }
        let one = &mut self.events[event as usize];
        one.posted = false;
        let (before, after) = (one.before, one.after);
        match before {
            NOBODY => self.processes[process as usize].first_posted = after,
            before => self.events[before as usize].after = after,
        }
        match after {
            NOBODY => self.processes[process as usize].last_posted = before,
            after => self.events[after as usize].before = before,
        }
        true
    }

    /// Gives data to who waits first at a queue of this node, or leaves it there.
    #[inline]
    pub(super) fn put<D: TaskDiscipline<Task>>(
        &mut self,
        node: &mut Node<D>,
        queue: u32,
        from: u32,
        now: u64,
    ) {
        let dual = &mut self.queues[queue as usize];
        let Some(first) = dual.waiting.pop_front() else {
            dual.data.push_back(now);
            let length = dual.data.len();
            self.sink.enqueued(queue as usize, from as usize, at(now), length);
            self.bound_queue(queue, from, length);
            return;
        };
        self.sink.enqueued(queue as usize, from as usize, at(now), 0);
        self.sink.dequeued(queue as usize, first as usize, at(now), 0, Nanos::new(0));
        if V {
            self.audit_queue(queue, now);
        }
        let there = self.processes[first as usize].node;
        match there == node.number {
            true => self.wake(node, first, now),
            false => self.send(there, Message::Given(first)),
        }
    }

    /// Takes data from a queue of whichever node; `false` if there is none.
    #[inline]
    pub(super) fn take_data(&mut self, process: u32, queue: u32, now: u64) -> bool {
        let dual = &mut self.queues[queue as usize];
        let Some(put) = dual.data.pop_front() else {
            return false;
        };
        let length = dual.data.len();
        self.sink.dequeued(queue as usize, process as usize, at(now), length, span(now - put));
        if V {
            self.audit_queue(queue, now);
        }
        true
    }

    /// The process that an alarm concerns.
    #[inline]
    pub(super) fn whose(&self, alarm: Alarm) -> u32 {
        match alarm {
            Alarm::Wake(process) => process,
            Alarm::Post(event) => self.events[event as usize].owner,
        }
    }

    /// What the timer demon is to do by `now`.
    #[inline]
    pub(super) fn alarms<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        while let Some(alarm) = node.timer.take(now) {
            let process = self.whose(alarm);
            self.active -= u64::from(!self.processes[process as usize].system);
            match alarm {
                Alarm::Wake(process) => self.wake(node, process, now),
                Alarm::Post(event) => self.post(node, event, now),
            }
        }
    }

    /// What has come over the switch by `now`.
    pub(super) fn deliveries<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        while let Some(message) = node.inbox.take(now) {
            self.active -= 1;
            match message {
                Message::Post(event) => self.post(node, event, now),
                Message::Put { queue, from } => self.put(node, queue, from, now),
                Message::Given(process) => self.wake(node, process, now),
            }
        }
    }

    /// Sends over the switch.
    pub(super) fn send(&mut self, there: u32, message: Message) {
        self.active += 1;
        self.tally.messages += 1;
        self.outgoing.push((there, message));
    }

    /// A process becomes ready.
    #[inline]
    pub(super) fn wake<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, process: u32, now: u64) {
        let one = &mut self.processes[process as usize];
        (one.state, one.woke, one.fresh) = (State::Ready, now, true);
        if now > self.epoch_start {
            one.unready = self.epoch;
        }
        self.active += u64::from(!one.system);
        self.sink.woke(process as usize, at(now));
        self.offer(node, process, now);
    }

    /// Hands a readiness to the discipline, which knows before what the running process has used.
    #[inline]
    fn offer<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, process: u32, now: u64) {
        node.stale = true;
        if node.running == NOBODY {
            node.enter = true;
        } else {
            let used = node.unpaid(now);
            if used > 0 {
                node.discipline.charge(at(now), &task(node.running), span(used));
                if V {
                    self.audit_charge(node, node.running, used, now);
                }
            }
        }
        if node.discipline.enqueue(at(now), task(process), &mut self.drops) == Enqueued::Preempts {
            (node.enter, node.preempted) = (true, true);
        }
        if V {
            self.audit_discipline(node, now);
        }
    }
}
