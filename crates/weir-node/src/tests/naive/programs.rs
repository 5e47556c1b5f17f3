//! What processes do: every operation at its turn, and nothing ahead of it.

use super::{Alarm, Mail, Naive, State};
use crate::model::Operation;
use crate::record::Sink;
use weir_core::item::FlowId;
use weir_core::task::TaskDiscipline;
use weir_core::units::{Instant, Nanos};
use weir_workload::duration::{AnyLaw, Law, Run};

impl Naive<'_> {
    fn draw(&mut self, process: usize, law: &AnyLaw) -> u64 {
        let stream = &mut self.processes[process].stream;
        match law {
            AnyLaw::Plain(Law::Constant(span)) => span.get(),
            AnyLaw::Plain(Law::Exponential(mean)) => stream.next_exponential(mean.get() as f64),
            AnyLaw::Plain(Law::Uniform(low, high)) => {
                low.get() + stream.next_below(high.get() - low.get() + 1)
            }
            AnyLaw::Textbook(law) => law.draw_whole(stream),
        }
    }

    fn waits(&mut self, number: usize, process: usize, state: State) {
        let at = self.at();
        let used = self.paid(number);
        self.nodes[number].discipline.finish(at, &Self::task(process), used);
        self.nodes[number].running = None;
        self.nodes[number].enter = true;
        let one = &mut self.processes[process];
        (one.state, one.waited_in) = (state, Some(self.epoch));
        self.trace.waits(process, at, Instant::new(one.woke));
        if state == State::Ended {
            self.nodes[number].discipline.exit(at, FlowId(process as u32));
        }
    }

    /// The process runs on until it uses time or waits.
    pub(super) fn run_on(&mut self, number: usize, process: usize) {
        if let Some(due) = self.processes[process].late_for.take() {
            self.processes[process].woke = due;
        }
        let operations = &self.scenario.processes[process].program.operations;
        while self.nodes[number].running == Some(process) && self.processes[process].left == 0 {
            let place = self.processes[process].place;
            let Some(operation) = operations.get(place) else {
                return self.waits(number, process, State::Ended);
            };
            self.processes[process].place += 1;
            self.processes[process].acted |= match operation {
                Operation::Compute(_) | Operation::Post(_) | Operation::PostAfter(..) => true,
                Operation::Enqueue(_) => true,
                Operation::Dequeue(queue) => !self.data[*queue].is_empty(),
                _ => false,
            };
            match operation {
                Operation::Compute(law) => self.processes[process].left = self.draw(process, law),
                Operation::Post(event) => self.post_for(number, process, *event),
                Operation::PostAfter(event, law) => {
                    let at = self.now + self.draw(process, law);
                    self.ask(number, at, Alarm::Post(*event));
                }
                Operation::Wait(events) => self.wait_for(number, process, Some(events)),
                Operation::WaitAny => self.wait_for(number, process, None),
                Operation::Enqueue(queue) => self.enqueue_for(number, process, *queue),
                Operation::Dequeue(queue) => match self.data[*queue].pop_front() {
                    Some(put) => {
                        let (length, age) = (self.data[*queue].len(), Nanos::new(self.now - put));
                        self.trace.dequeued(*queue, process, self.at(), length, age);
                        self.moves_on(number, process);
                    }
                    None => {
                        self.waiting[*queue].push_back(process);
                        self.waits(number, process, State::Data);
                    }
                },
                Operation::Sleep(law) => {
                    let until = self.now + self.draw(process, law);
                    self.sleep(number, process, until);
                }
                Operation::SleepUntil { every, offset } => {
                    self.sleep_until(number, process, (every.get(), offset.get()));
                }
                Operation::Loop { times, after } => match times {
                    Some(0) => self.processes[process].place = *after,
                    Some(times) => {
                        self.processes[process].loops.insert(place, *times);
                    }
                    None => {}
                },
                Operation::End(begin) => {
                    let again = match self.processes[process].loops.get_mut(begin) {
                        Some(left) => {
                            *left -= 1;
                            *left > 0
                        }
                        None => true,
                    };
                    if again {
                        self.processes[process].place = begin + 1;
                    } else {
                        self.processes[process].loops.remove(begin);
                    }
                }
                Operation::Replay(runs) => self.replay(number, process, place, runs),
                Operation::Exit => {
                    self.processes[process].place = place;
                    return self.waits(number, process, State::Ended);
                }
            }
        }
    }

    /// It did not have to wait, but if it is to move it does so for a nanosecond.
    fn moves_on(&mut self, number: usize, process: usize) {
        if self.processes[process].destination.is_some() {
            self.ask(number, self.now + 1, Alarm::Wake(process));
            self.waits(number, process, State::Sleeping);
        }
    }

    fn sleep(&mut self, number: usize, process: usize, until: u64) {
        if until == self.now && self.processes[process].destination.is_some() {
            return self.moves_on(number, process);
        }
        self.ask(number, until, Alarm::Wake(process));
        self.waits(number, process, State::Sleeping);
    }

    /// Sleeps until the next instant of the grid that the process has not taken; the first of them is one that comes
    /// after it woke, or with it if it has done nothing since.
    fn sleep_until(&mut self, number: usize, process: usize, (every, offset): (u64, u64)) {
        let one = &mut self.processes[process];
        let taken = one.taken.get(&(every, offset)).copied();
        let mut due = taken.map_or(offset, |taken| taken + every);
        while taken.is_none() && (due < one.woke || due == one.woke && one.acted) {
            due += every;
        }
        one.taken.insert((every, offset), due);
        let goes_on = one.acted || taken.is_some();
        if due > self.now {
            return self.sleep(number, process, due);
        }
        if self.processes[process].destination.is_some() {
            self.processes[process].late_for = Some(due);
            return self.moves_on(number, process);
        }
        self.processes[process].acted = true;
        let since = std::mem::replace(&mut self.processes[process].woke, due);
        if goes_on {
            self.trace.responded(process, self.at(), Instant::new(since));
        }
    }

    fn replay(&mut self, number: usize, process: usize, place: usize, runs: &[Run]) {
        let one = &mut self.processes[process];
        let Some(run) = runs.get(one.replayed) else {
            one.replayed = 0;
            return;
        };
        one.place = place;
        if !one.replay_woken && run.wake.get() <= self.now && one.destination.is_some() {
            one.replay_woken = true;
            one.late_for = Some(run.wake.get());
            return self.moves_on(number, process);
        }
        if one.replay_woken || run.wake.get() <= self.now {
            let since = std::mem::replace(&mut one.woke, run.wake.get());
            let goes_on = !std::mem::take(&mut one.replay_woken) && one.replayed > 0;
            one.replayed += 1;
            one.left = run.run.get();
            if goes_on {
                self.trace.responded(process, self.at(), Instant::new(since));
            }
            return;
        }
        one.replay_woken = true;
        self.sleep(number, process, run.wake.get());
    }

    /// Uses the cost of an operation first; `false` while that is not done.
    fn pays(&mut self, process: usize, cost: u64) -> bool {
        let one = &mut self.processes[process];
        if std::mem::take(&mut one.paid) || cost == 0 {
            return true;
        }
        one.paid = true;
        one.left = cost;
        one.place -= 1;
        false
    }

    fn post_for(&mut self, number: usize, process: usize, event: usize) {
        let there = self.processes[self.scenario.events[event].owner].node;
        let costs = self.scenario.costs;
        if self.pays(process, if there == number { costs.post } else { costs.remote }.get()) {
            match there == number {
                true => self.post(number, event),
                false => self.send(there, Mail::Post(event)),
            }
        }
    }

    fn enqueue_for(&mut self, number: usize, process: usize, queue: usize) {
        let there = self.scenario.queues[queue].node;
        let costs = self.scenario.costs;
        let cost = match self.waiting[queue].front() {
            _ if there != number => costs.remote.get(),
            None => 0,
            Some(&first) if self.processes[first].node == number => costs.post.get(),
            Some(_) => costs.remote.get(),
        };
        if self.pays(process, cost) {
            match there == number {
                true => self.put(number, queue, process),
                false => self.send(there, Mail::Put(queue, process)),
            }
        }
    }

    fn wait_for(&mut self, number: usize, process: usize, set: Option<&Vec<usize>>) {
        let one = &mut self.processes[process];
        let wanted = |event: &usize| set.is_none_or(|set| set.contains(event));
        if let Some(first) = one.posted.iter().position(wanted) {
            one.posted.remove(first);
            return self.moves_on(number, process);
        }
        one.place -= 1;
        self.waits(number, process, State::Event);
    }
}
