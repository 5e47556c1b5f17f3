//! Events and queues: who posts, who waits, who is woken.

use super::{Mail, Naive, State};
use crate::model::Operation;
use crate::record::Sink;
use weir_core::discipline::{CountDrops, Enqueued};
use weir_core::units::Nanos;

impl Naive<'_> {
    pub(super) fn wake(&mut self, number: usize, process: usize) {
        let at = self.at();
        let one = &mut self.processes[process];
        (one.state, one.woke, one.fresh, one.acted) = (State::Ready, self.now, true, false);
        if self.now > self.epoch * self.scenario.epoch.get() {
            one.waited_in = Some(self.epoch);
        }
        self.trace.woke(process, at);
        match self.nodes[number].running {
            None => self.nodes[number].enter = true,
            Some(_) => self.charge(number),
        }
        let node = &mut self.nodes[number];
        if node.discipline.enqueue(at, Self::task(process), &mut CountDrops(0)) == Enqueued::Preempts {
            (node.enter, node.preempted) = (true, true);
        }
    }

    pub(super) fn post(&mut self, number: usize, event: usize) {
        let owner = self.scenario.events[event].owner;
        let process = &mut self.processes[owner];
        if process.posted.contains(&event) {
            return;
        }
        process.posted.push(event);
        let wants = match &self.scenario.processes[owner].program.operations.get(process.place) {
            Some(Operation::Wait(events)) => events.contains(&event),
            _ => true,
        };
        if process.state == State::Event && wants {
            self.wake(number, owner);
        }
    }

    pub(super) fn put(&mut self, number: usize, queue: usize, from: usize) {
        let at = self.at();
        let Some(first) = self.waiting[queue].pop_front() else {
            self.data[queue].push_back(self.now);
            self.trace.enqueued(queue, from, at, self.data[queue].len());
            return;
        };
        self.trace.enqueued(queue, from, at, 0);
        self.trace.dequeued(queue, first, at, 0, Nanos::new(0));
        match self.processes[first].node {
            there if there == number => self.wake(number, first),
            there => self.send(there, Mail::Given(first)),
        }
    }
}
