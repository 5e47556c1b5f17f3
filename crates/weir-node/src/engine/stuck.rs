//! Programs that come to no end, wait for what never comes, or pile up without bound: told with who, where and what.

use weir_core::units::Nanos;

use crate::engine::code::Step;
use crate::engine::refused;
use crate::engine::world::{MOST_AT_ONCE, MOST_WAITING, NOBODY, State, World};
use crate::record::Sink;
use weir_lab::error::RunError;

/// So many processes are named at most.
const NAMED: usize = 10;

impl<S: Sink, const V: bool> World<'_, S, V> {
    /// More has happened at one instant than any program that comes to an end does.
    #[cold]
    #[inline(never)]
    pub(super) fn endless(&mut self, node: u32, process: u32, now: u64) {
        let when = Nanos::new(now);
        let (place, what, remedy) = match process {
            NOBODY => (
                format!("node `{}` at {when}", self.scenario.nodes[node as usize]),
                "decisions without time passing: the discipline comes to no end".to_owned(),
                "name another discipline, or other parameters of it",
            ),
            process => (
                format!("process `{}` at {when}", self.name(process)),
                format!("operations without time passing, such as {}", self.statement(process)),
                "let its loop use time: `compute 1ms` or `sleep 1ms`",
            ),
        };
        let reason = format!("more than {MOST_AT_ONCE} {what}");
        self.fail(RunError::Stuck { place, reason, remedy: remedy.to_owned() });
    }

    /// Nothing moves any more.
    #[cold]
    #[inline(never)]
    pub(super) fn deadlock(&mut self, now: u64) {
        let waiting = (0..self.processes.len() as u32).filter(|&process| {
            let one = &self.processes[process as usize];
            !one.system && one.state != State::Ended
        });
        let all: Vec<u32> = waiting.collect();
        let words =
            |&process: &u32| format!("{} in {}", self.waits_in_words(process), self.statement(process));
        let mut told: Vec<String> = all.iter().take(NAMED).map(words).collect();
        if all.len() > NAMED {
            told.push(format!("{} more wait too", all.len() - NAMED));
        }
        let remedy = all.first().map_or_else(String::new, |&process| self.what_helps(process));
        let reason = format!("nothing moves any more: {}", told.join(", "));
        self.fail(RunError::Stuck { place: format!("deadlock at {}", Nanos::new(now)), reason, remedy });
    }

    /// What would wake a process that waits.
    fn what_helps(&self, process: u32) -> String {
        let one = &self.processes[process as usize];
        let event = match (one.state, self.programs.steps[one.step as usize]) {
            (State::WaitsForData(queue), _) => {
                let queue = &self.scenario.queues[queue as usize].name;
                return format!("let somebody `enqueue {queue}`, or let those who wait `exit`");
            }
            (_, Step::WaitOne { event }) => Some(event as usize),
            (_, Step::WaitSet { from, .. }) => Some(self.programs.sets[from as usize] as usize),
            _ => self.scenario.events.iter().position(|event| event.owner == process as usize),
        };
        match event.map(|event| &self.scenario.events[event].name) {
            Some(event) => {
                format!(
                    "let somebody `post {event}`, or wait with a timer: `post {event} after 10ms` before the `wait`"
                )
            }
            None => format!("give `{}` an event, and let somebody post it", self.name(process)),
        }
    }

    /// The operation at which a process stands, in words.
    fn statement(&self, process: u32) -> String {
        let one = &self.processes[process as usize];
        // Who waits at a queue goes on behind the operation by which it came there.
        let step = one.step - u32::from(matches!(one.state, State::WaitsForData(_)));
        let event = |event: u32| &self.scenario.events[event as usize].name;
        let queue = |queue: u32| &self.scenario.queues[queue as usize].name;
        let words = match self.programs.steps[step as usize] {
            Step::Compute(_) | Step::Draw { .. } => "compute".to_owned(),
            Step::Post { event: one } => format!("post {}", event(one)),
            Step::PostAfter { event: one, .. } => format!("post {} after", event(one)),
            Step::WaitOne { event: one } => format!("wait {}", event(one)),
            Step::WaitSet { .. } => "wait".to_owned(),
            Step::WaitAny => "wait any".to_owned(),
            Step::Enqueue { queue: one } => format!("enqueue {}", queue(one)),
            Step::Dequeue { queue: one } => format!("dequeue {}", queue(one)),
            Step::Sleep { .. } | Step::SleepUntil { .. } => "sleep".to_owned(),
            Step::Begin { .. } | Step::Again { .. } | Step::Jump { .. } => "loop".to_owned(),
            Step::Replay { .. } => "replay".to_owned(),
            Step::Exit => "exit".to_owned(),
        };
        format!("`{words}`, its operation {}", self.programs.operations[step as usize])
    }

    /// A discipline has dropped a process, which would never run again.
    #[cold]
    #[inline(never)]
    pub(super) fn dropped(&mut self, now: u64) {
        let place = format!("discipline at {}", Nanos::new(now));
        self.fail(refused(place, "it has dropped a process that is ready, which must never be"));
    }

    pub(super) fn waits_in_words(&self, process: u32) -> String {
        let one = &self.processes[process as usize];
        let event = |event: &u32| format!("`{}`", self.scenario.events[*event as usize].name);
        let what = match (one.state, self.programs.steps[one.step as usize]) {
            (State::WaitsForData(queue), _) => {
                format!("data of queue `{}`", self.scenario.queues[queue as usize].name)
            }
            (_, Step::WaitOne { event: one }) => format!("event {}", event(&one)),
            (_, Step::WaitSet { from, until }) => {
                let set = &self.programs.sets[from as usize..until as usize];
                format!("one of the events {}", set.iter().map(event).collect::<Vec<_>>().join(", "))
            }
            _ => "any of its events".to_owned(),
        };
        format!("`{}` waits for {what}", self.name(process))
    }

    #[inline]
    pub(super) fn bound_queue(&mut self, queue: u32, from: u32, length: usize) {
        if length > MOST_WAITING {
            let place = format!("queue `{}`", self.scenario.queues[queue as usize].name);
            let by = self.name(from);
            let reason = format!(
                "holds {length} data, at most {MOST_WAITING} are simulated; the last is by `{by}`: take them out faster"
            );
            self.fail(refused(place, reason));
        }
    }

    #[inline]
    pub(super) fn bound_timer(&mut self, node: u32, process: u32, length: usize) {
        if length > MOST_WAITING {
            let place = format!("process `{}`", self.name(process));
            let node = &self.scenario.nodes[node as usize];
            let reason = format!(
                "the timer demon of `{node}` is asked for {length} things, at most {MOST_WAITING} are simulated: post after less"
            );
            self.fail(refused(place, reason));
        }
    }
}
