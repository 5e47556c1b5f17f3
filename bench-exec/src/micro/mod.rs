//! What single steps of weir-exec cost, beside what they are to be compared with.

mod posts;
mod turns;
mod yields;

use std::time::Duration;

use weir_exec::{Executor, Terms, spawn_local};

use crate::counting::held;
use crate::figures::Table;

/// Waiting tasks whose memory is counted.
const TASKS: usize = 10_000;

/// An executor of one worker on a processor of its own.
fn executor(spin: Duration) -> Executor {
    Executor::builder().spin(spin).reports(|_| {}).build().expect("there is a processor")
}

/// Measures every step once.
pub fn round(table: &mut Table) {
    yields::round(table);
    posts::round(table);
    table.add("turn of an epoch, 100,000 tasks", vec![("ns", turns::turn())]);
    table.add("memory of a task besides its future", vec![("bytes", memory())]);
}

/// What a task that waits takes beside its future: bytes held by 10,000 of them, handles included.
fn memory() -> f64 {
    let executor = executor(Duration::ZERO);
    let measured = executor.handle().spawn_with(Terms::named("main"), || async {
        let terms = Terms::named("one of many");
        let mut handles = Vec::with_capacity(TASKS);
        let before = held();
        for _ in 0..TASKS {
            handles.push(spawn_local(terms.clone(), std::future::pending::<()>()));
        }
        (held() - before) as f64 / TASKS as f64
    });
    measured.wait().expect("it comes to its end") - size_of::<std::future::Pending<()>>() as f64
}
