//! The scheduler: who runs next, what that costs, and who pays.

use super::{Naive, Piece, State};
use crate::record::{Path, Sink};
use crate::tests::trace::Who;
use weir_core::discipline::{CountDrops, Open};
use weir_core::task::TaskDiscipline;
use weir_core::units::{Instant, Nanos};

impl Naive<'_> {
    pub(super) fn interrupt(&mut self, number: usize, who: Who, cost: u64, of_grant: bool, uncharged: u64) {
        let pieces = &mut self.nodes[number].pieces;
        if cost > 0 {
            pieces.push_back(Piece { left: cost, who, of_grant });
        }
        if let (Who::Process(left), false) = (who, of_grant) {
            self.processes[left].carried += cost;
        }
        if uncharged > 0 {
            pieces.push_back(Piece { left: uncharged, who: Who::Overhead, of_grant: false });
        }
    }

    /// Charges the open grant for what it has used.
    pub(super) fn paid(&mut self, number: usize) -> Nanos {
        Nanos::new(std::mem::take(&mut self.nodes[number].unpaid))
    }

    pub(super) fn charge(&mut self, number: usize) {
        if let Some(running) = self.nodes[number].running {
            let (at, used) = (self.at(), self.paid(number));
            self.nodes[number].discipline.charge(at, &Self::task(running), used);
        }
    }

    pub(super) fn give_back(&mut self, number: usize) {
        let at = self.at();
        if let Some(running) = self.nodes[number].running.take() {
            self.processes[running].state = State::Ready;
            let used = self.paid(number);
            self.nodes[number].discipline.requeue(at, Self::task(running), used, &mut CountDrops(0));
        }
    }

    pub(super) fn schedule(&mut self, number: usize, before: Option<usize>, timer: u64, uncharged: u64) {
        let (now, at, costs) = (self.now, self.at(), self.scenario.costs);
        let node = &mut self.nodes[number];
        let grant = node.discipline.dequeue(at, &Open, &mut CountDrops(0));
        let after = grant.map(|grant| grant.item.process.0 as usize);
        let (restart, swap) = (costs.restart.get(), costs.swap.get());
        let (path, cost) = match (before, after) {
            (Some(left), Some(started)) if left == started => (Path::Restart, restart),
            (Some(_), Some(_)) => (Path::Swap, swap),
            (Some(_), None) => (Path::ToIdle, (restart + swap) / 2),
            (None, Some(started)) if node.last == Some(started) => (Path::FromIdleSame, restart),
            (None, Some(_)) => (Path::FromIdle, (restart + swap) / 2),
            (None, None) => (Path::StayIdle, restart),
        };
        self.trace.path(number, at, path);
        let level = grant.and_then(|grant| node.discipline.level(grant.item.process));
        let from_low = node.level.is_some_and(|level| level < 0) && level.is_some_and(|level| level >= 0);
        if node.preempted && from_low && path == Path::Swap {
            self.trace.high_over_low(number, at);
        }
        let cost = cost + timer;
        let goes_on = before == after || before.is_none();
        let payer = before.or(after).map_or(Who::Overhead, Who::Process);
        self.interrupt(number, payer, cost, goes_on && after.is_some(), uncharged);
        let node = &mut self.nodes[number];
        node.level = level;
        node.running = after;
        if let (Some(grant), Some(started)) = (grant, after) {
            node.last = after;
            let process = &mut self.processes[started];
            process.state = State::Running;
            node.unpaid = std::mem::take(&mut process.carried);
            node.slice_left = i128::from(grant.quantum.get()) - i128::from(node.unpaid);
            let woke = std::mem::take(&mut process.fresh).then(|| Instant::new(process.woke));
            let from = now + cost + uncharged;
            if from < self.scenario.stop.duration.get() {
                self.trace.dispatched(number, started, Instant::new(from), woke);
            }
        }
    }
}
