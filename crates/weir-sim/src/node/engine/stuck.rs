//! Programs that come to no end, wait for what never comes, or pile up without bound: told with who, where and what.

use weir_core::units::Nanos;

use crate::node::engine::code::Step;
use crate::node::engine::refused;
use crate::node::engine::world::{MOST_AT_ONCE, MOST_WAITING, NOBODY, State, World};
use crate::node::record::Sink;

/// So many processes are named at most.
const NAMED: usize = 10;

impl<S: Sink, const V: bool> World<'_, S, V> {
    /// More has happened at one instant than any program that comes to an end does.
    #[cold]
    #[inline(never)]
    pub(super) fn endless(&mut self, node: u32, process: u32, now: u64) {
        let when = Nanos::new(now);
        let error = match process {
            NOBODY => refused(
                format!("node `{}` at {when}", self.scenario.nodes[node as usize]),
                format!(
                    "more than {MOST_AT_ONCE} decisions without time passing: the discipline comes to no end"
                ),
            ),
            process => refused(
                format!("process `{}` at {when}", self.name(process)),
                format!(
                    "more than {MOST_AT_ONCE} operations without time passing: let its loop `compute`, `sleep` or wait"
                ),
            ),
        };
        self.fail(error);
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
        let mut told: Vec<String> =
            all.iter().take(NAMED).map(|&process| self.waits_in_words(process)).collect();
        if all.len() > NAMED {
            told.push(format!("{} more wait too", all.len() - NAMED));
        }
        let reason = format!(
            "nothing moves any more: {}; let somebody post, or put in a queue, what they wait for, or let them `exit`",
            told.join(", ")
        );
        self.fail(refused(format!("deadlock at {}", Nanos::new(now)), reason));
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
