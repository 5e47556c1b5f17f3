//! Who is woken: by posts, by data, by the timer demon, over the switch.

use crate::engine::process::State;
use crate::engine::processor::Node;
use crate::engine::switch::{Message, Parcel};
use crate::engine::timer::Alarm;
use crate::engine::world::{NOBODY, World, at, span, task};
use crate::record::Sink;
use weir_core::discipline::Enqueued;
use weir_core::task::{Task, TaskDiscipline};
use weir_core::units::Nanos;

impl<S: Sink> World<'_, S> {
    /// Marks an event as posted, and wakes its owner if it waits for it.
    #[inline]
    pub(super) fn post<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, event: u32, now: u64) {
        let owner = self.events.owner(event);
        let process = &mut self.processes[owner as usize];
        if self.events.post(event, &mut process.posted)
            && process.state == State::WaitsForEvent
            && self.programs.waits_for(process.step, event)
        {
            self.wake(node, owner, now);
        }
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
            self.books.sink.enqueued(queue as usize, from as usize, at(now), length);
            self.faults.bound_queue(queue, from, length);
            return;
        };
        self.books.sink.enqueued(queue as usize, from as usize, at(now), 0);
        self.books.sink.dequeued(queue as usize, first as usize, at(now), 0, Nanos::new(0));
        self.audit.queue(&mut self.faults, queue, dual, now);
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
        self.books.sink.dequeued(queue as usize, process as usize, at(now), length, span(now - put));
        self.audit.queue(&mut self.faults, queue, dual, now);
        true
    }

    /// The process that an alarm concerns.
    #[inline]
    pub(super) fn whose(&self, alarm: Alarm) -> u32 {
        match alarm {
            Alarm::Wake(process) => process,
            Alarm::Post(event) => self.events.owner(event),
        }
    }

    /// What the timer demon is to do by `now`.
    #[inline]
    pub(super) fn alarms<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        while let Some(alarm) = node.timer.take(now) {
            let process = self.whose(alarm);
            self.life.rests(&self.processes[process as usize]);
            match alarm {
                Alarm::Wake(process) => self.wake(node, process, now),
                Alarm::Post(event) => self.post(node, event, now),
            }
        }
    }

    /// What has come over the switch by `now`.
    pub(super) fn deliveries<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, now: u64) {
        while let Some(message) = node.inbox.take(now) {
            self.life.delivers();
            match message {
                Message::Post(event) => self.post(node, event, now),
                Message::Put { queue, from } => self.put(node, queue, from, now),
                Message::Given(process) => self.wake(node, process, now),
            }
        }
    }

    /// Sends over the switch.
    pub(super) fn send(&mut self, there: u32, message: Message) {
        self.life.sends();
        self.tally.messages += 1;
        self.outgoing.push(Parcel { there, message });
    }

    /// A process becomes ready.
    #[inline]
    pub(super) fn wake<D: TaskDiscipline<Task>>(&mut self, node: &mut Node<D>, process: u32, now: u64) {
        let one = &mut self.processes[process as usize];
        one.wakes(&self.clock, now);
        self.life.begins(one);
        self.books.sink.woke(process as usize, at(now));
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
                self.charge(node, used, now);
            }
        }
        if node.discipline.enqueue(at(now), task(process), &mut self.faults.drops) == Enqueued::Preempts {
            (node.enter, node.preempted) = (true, true);
        }
        self.audit.discipline(&mut self.faults, node, now);
    }
}
