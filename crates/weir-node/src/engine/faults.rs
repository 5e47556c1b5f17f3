//! What goes wrong in a replication: the first failure ends it, promises beyond what a node has are warned of.

use crate::engine::refused;
use crate::model::NodeScenario;
use weir_core::discipline::CountDrops;
use weir_core::task::Overcommitted;
use weir_core::units::Nanos;
use weir_lab::error::RunError;

/// The most data in a queue, and the most that a timer demon is asked for.
const MOST_WAITING: usize = 1 << 24;

/// What has gone wrong so far, and the names used to report it.
pub(super) struct Faults<'a> {
    scenario: &'a NodeScenario,
    /// What disciplines have dropped: nothing ever, if they are right.
    pub(super) drops: CountDrops,
    /// Nodes that promise, or have promised, more than they have, by number, and the most of it.
    pub(super) overcommitted: Vec<(usize, Overcommitted)>,
    failure: Option<RunError>,
}

impl<'a> Faults<'a> {
    pub(super) fn new(scenario: &'a NodeScenario) -> Self {
        Self { scenario, drops: CountDrops::default(), overcommitted: Vec::new(), failure: None }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, error: RunError) {
        self.failure.get_or_insert(error);
    }

    #[inline]
    pub(super) fn is_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// The first failure, if there is one.
    ///
    /// # Errors
    /// That.
    #[inline]
    pub(super) fn failed(&mut self) -> Result<(), RunError> {
        if self.is_failed() { self.failure.take().map_or(Ok(()), Err) } else { Ok(()) }
    }

    /// Fails where a discipline has dropped a process, which would never run again.
    #[inline]
    pub(super) fn check_drops(&mut self, now: u64) {
        if self.drops.0 > 0 {
            let place = format!("discipline at {}", Nanos::new(now));
            self.fail(refused(place, "it has dropped a process that is ready, which must never be"));
        }
    }

    /// A node promises more than it has.
    pub(super) fn overcommits(&mut self, node: usize, over: Overcommitted) {
        let place = self.overcommitted.partition_point(|(other, _)| *other < node);
        match self.overcommitted.get_mut(place).filter(|(other, _)| *other == node) {
            Some((_, most)) if most.committed >= over.committed => {}
            Some((_, most)) => *most = over,
            None => self.overcommitted.insert(place, (node, over)),
        }
    }

    /// Fails where a queue, in which `from` has put something, holds more than is simulated.
    #[inline]
    pub(super) fn bound_queue(&mut self, queue: u32, from: u32, length: usize) {
        if length > MOST_WAITING {
            let by = self.name(from);
            let reason = format!(
                "holds {length} data, at most {MOST_WAITING} are simulated; the last is by `{by}`: take them out faster"
            );
            self.fail(refused(self.queue(queue), reason));
        }
    }

    /// Fails where a timer demon, of which `process` has just asked something, holds more than is simulated.
    #[inline]
    pub(super) fn bound_timer(&mut self, node: u32, process: u32, length: usize) {
        if length > MOST_WAITING {
            let node = &self.scenario.nodes[node as usize];
            let reason = format!(
                "the timer demon of `{node}` is asked for {length} things, at most {MOST_WAITING} are simulated: post after less"
            );
            self.fail(refused(self.process(process), reason));
        }
    }

    pub(super) fn name(&self, process: u32) -> &'a str {
        &self.scenario.processes[process as usize].name
    }

    pub(super) fn process(&self, process: u32) -> String {
        format!("process `{}`", self.name(process))
    }

    pub(super) fn node(&self, node: u32) -> String {
        format!("node `{}`", self.scenario.nodes[node as usize])
    }

    pub(super) fn queue(&self, queue: u32) -> String {
        format!("queue `{}`", self.scenario.queues[queue as usize].name)
    }
}
