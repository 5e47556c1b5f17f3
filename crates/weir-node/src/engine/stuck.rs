//! Programs that come to no end, wait for what never comes, or pile up without bound: reported with who, where and what.

use crate::engine::clock::MOST_AT_ONCE;
use crate::engine::code::{Programs, Step};
use crate::engine::process::{Process, State};
use crate::engine::world::NOBODY;
use crate::model::NodeScenario;
use weir_core::units::Nanos;
use weir_lab::error::RunError;

/// The most processes that are named.
pub(super) const NAMED: usize = 10;

/// What a message about programs reads.
#[derive(Clone, Copy)]
pub(super) struct Words<'w> {
    pub(super) scenario: &'w NodeScenario,
    pub(super) programs: &'w Programs,
    pub(super) processes: &'w [Process],
}

impl<'w> Words<'w> {
    pub(super) fn name(self, process: u32) -> &'w str {
        &self.scenario.processes[process as usize].name
    }

    fn event(self, event: u32) -> &'w str {
        &self.scenario.events[event as usize].name
    }

    fn queue(self, queue: u32) -> &'w str {
        &self.scenario.queues[queue as usize].name
    }

    /// More has happened at one instant than any program that comes to an end does.
    #[cold]
    pub(super) fn endless(self, node: u32, process: u32, now: u64) -> RunError {
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
        RunError::Stuck { place, reason, remedy: remedy.to_owned() }
    }

    /// Nothing moves any more.
    #[cold]
    #[inline(never)]
    pub(super) fn deadlock(self, now: u64) -> RunError {
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
        RunError::Stuck { place: format!("deadlock at {}", Nanos::new(now)), reason, remedy }
    }

    /// What would wake a process that waits.
    fn what_helps(self, process: u32) -> String {
        let one = &self.processes[process as usize];
        let event = match (one.state, self.programs.steps[one.step as usize]) {
            (State::WaitsForData(queue), _) => {
                let queue = self.queue(queue);
                return format!("let somebody `enqueue {queue}`, or let those who wait `exit`");
            }
            (_, Step::WaitOne { event }) => Some(event),
            (_, Step::WaitSet { from, .. }) => Some(self.programs.sets[from as usize]),
            _ => (0..)
                .zip(&self.scenario.events)
                .find(|(_, event)| event.owner == process as usize)
                .map(|(event, _)| event),
        };
        match event.map(|event| self.event(event)) {
            Some(event) => {
                format!(
                    "let somebody `post {event}`, or wait with a timer: `post {event} after 10ms` before the `wait`"
                )
            }
            None => format!("give `{}` an event, and let somebody post it", self.name(process)),
        }
    }

    /// The operation at which a process stands, in words.
    fn statement(self, process: u32) -> String {
        let one = &self.processes[process as usize];
        // Who waits at a queue goes on behind the operation by which it came there.
        let step = one.step - u32::from(matches!(one.state, State::WaitsForData(_)));
        let words = match self.programs.steps[step as usize] {
            Step::Compute(_) | Step::Draw { .. } => "compute".to_owned(),
            Step::Post { event: one } => format!("post {}", self.event(one)),
            Step::PostAfter { event: one, .. } => format!("post {} after", self.event(one)),
            Step::WaitOne { event: one } => format!("wait {}", self.event(one)),
            Step::WaitSet { .. } => "wait".to_owned(),
            Step::WaitAny => "wait any".to_owned(),
            Step::Enqueue { queue: one } => format!("enqueue {}", self.queue(one)),
            Step::Dequeue { queue: one } => format!("dequeue {}", self.queue(one)),
            Step::Sleep { .. } | Step::SleepUntil { .. } => "sleep".to_owned(),
            Step::Begin { .. } | Step::Again { .. } | Step::Jump { .. } => "loop".to_owned(),
            Step::Replay { .. } => "replay".to_owned(),
            Step::Exit => "exit".to_owned(),
        };
        format!("`{words}`, its operation {}", self.programs.operations[step as usize])
    }

    pub(super) fn waits_in_words(self, process: u32) -> String {
        let one = &self.processes[process as usize];
        let event = |event: &u32| format!("`{}`", self.event(*event));
        let what = match (one.state, self.programs.steps[one.step as usize]) {
            (State::WaitsForData(queue), _) => format!("data of queue `{}`", self.queue(queue)),
            (_, Step::WaitOne { event: one }) => format!("event {}", event(&one)),
            (_, Step::WaitSet { from, until }) => {
                let set = &self.programs.sets[from as usize..until as usize];
                format!("one of the events {}", set.iter().map(event).collect::<Vec<_>>().join(", "))
            }
            _ => "any of its events".to_owned(),
        };
        format!("`{}` waits for {what}", self.name(process))
    }
}
