//! What the engine reports of processes while it runs, and to whom.

pub use weir_core::task::Path;
use weir_core::units::{Instant, Nanos};

/// Takes what the engine tells, in the order of time on each node. Processes and nodes are places in the scenario's
/// lists.
pub trait Sink {
    /// The scheduler has run at `at`.
    fn path(&mut self, node: usize, at: Instant, path: Path) {
        let _ = (node, at, path);
    }
    /// A process of a normal queue takes the processor from one of a low queue.
    fn high_over_low(&mut self, node: usize, at: Instant) {
        let _ = (node, at);
    }
    /// A process has become ready.
    fn woke(&mut self, process: usize, at: Instant) {
        let _ = (process, at);
    }
    /// A process is started, and goes on with its program at `at`, behind the interrupt, whoever pays for that; `woke` is
    /// when it became ready, if it has not run since.
    fn dispatched(&mut self, node: usize, process: usize, at: Instant, woke: Option<Instant>) {
        let _ = (node, process, at, woke);
    }
    /// A process was charged for the time from `from` to `until`, on a queue of this level where there are levels.
    /// Times of one node never overlap. It is reported at the latest where the process is left and where an epoch ends,
    /// and no such time crosses the end of an epoch.
    fn ran(&mut self, node: usize, process: usize, level: Option<i8>, from: Instant, until: Instant) {
        let _ = (node, process, level, from, until);
    }
    /// Nobody was charged from `from` to `until`: the processor was idle, or (`overhead`) busy for nobody.
    fn nobody(&mut self, node: usize, overhead: bool, from: Instant, until: Instant) {
        let _ = (node, overhead, from, until);
    }
    /// A process waits, or ends: its response, which began at `since`, is over.
    fn waits(&mut self, process: usize, at: Instant, since: Instant) {
        let _ = (process, at, since);
    }
    /// A response that began at `since` is over, and the process does not wait: the next run of its replay is due.
    fn responded(&mut self, process: usize, at: Instant, since: Instant) {
        let _ = (process, at, since);
    }
    /// The run ends at `at`, and a response that began at `since` is not over. Called for every process that is ready,
    /// and for a replay once more for each run that is due and not begun.
    fn unfinished(&mut self, process: usize, at: Instant, since: Instant) {
        let _ = (process, at, since);
    }
    /// Data was put in a queue, which holds `length` now; by a process.
    fn enqueued(&mut self, queue: usize, process: usize, at: Instant, length: usize) {
        let _ = (queue, process, at, length);
    }
    /// A process took data from a queue, which holds `length` now; it lay there for `age`.
    fn dequeued(&mut self, queue: usize, process: usize, at: Instant, length: usize, age: Nanos) {
        let _ = (queue, process, at, length, age);
    }
    /// An epoch ends at `at`; reported once for all nodes, after every `ran` and `nobody` up to then, and before
    /// anything of the next epoch. `always_ready` says of a process whether it was ready, or ran, throughout.
    fn epoch(&mut self, at: Instant, always_ready: &dyn Fn(usize) -> bool) {
        let _ = (at, always_ready);
    }
    /// When the critical scheduling period of a node begins, as it stands at the turn of an epoch and after every
    /// decision.
    fn critical(&mut self, node: usize, at: Instant, begins: Instant) {
        let _ = (node, at, begins);
    }
    /// A process has moved to a node.
    fn moved(&mut self, process: usize, node: usize, at: Instant) {
        let _ = (process, node, at);
    }
}

/// Forgets everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forget;

impl Sink for Forget {}
