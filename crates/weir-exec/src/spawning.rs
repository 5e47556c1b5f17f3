//! How tasks come to a worker: from anywhere with a future that may be sent, or from a worker with any.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::header::Header;
use crate::join::{JoinError, JoinHandle, Outcome};
use crate::local::{self, Local};
use crate::shared::{Parcel, Shared};
use crate::slots::Work;
use crate::terms::Terms;
use crate::time::here;

/// A task that may be spawned on one of these workers, and what waits for it.
fn new_task<T>(shared: &Arc<Shared>) -> JoinHandle<T> {
    JoinHandle { outcome: Arc::new(Outcome::new()), header: Arc::new(Header::new(Arc::clone(shared))) }
}

/// The handle of a task that never was, which says why.
pub(crate) fn not_spawned<T>(shared: &Arc<Shared>, why: JoinError) -> JoinHandle<T> {
    let handle = new_task(shared);
    handle.header.notice.finish();
    handle.outcome.settle(Err(why));
    handle
}

/// The future of a task, which leaves its result.
fn work<F>(future: F, outcome: Arc<Outcome<F::Output>>) -> Work
where
    F: Future + 'static,
    F::Output: 'static,
{
    Box::pin(async move { outcome.settle(Ok(future.await)) })
}

/// Spawns a task on a worker, which makes its future.
pub(crate) fn spawn_on<M, F>(shared: &Arc<Shared>, terms: Terms, make: M) -> JoinHandle<F::Output>
where
    M: FnOnce() -> F + Send + 'static,
    F: Future + 'static,
    F::Output: Send + 'static,
{
    let handle = new_task(shared);
    shared.tasks.fetch_add(1, Ordering::SeqCst);
    if shared.is_stopping() {
        shared.tasks.fetch_sub(1, Ordering::SeqCst);
        return not_spawned(shared, JoinError::Aborted);
    }
    let (outcome, header) = (Arc::clone(&handle.outcome), Arc::clone(&handle.header));
    let admit = move |local: &Local| {
        let task = work(make(), Arc::clone(&outcome));
        local.admit(&terms, &header, task, outcome);
        (terms, header)
    };
    shared.leave(Parcel::Spawn(Box::new(admit)));
    handle
}

/// Spawns a task on the worker that this is called on; its future need not be sent. The task is admitted, or refused,
/// when this returns.
///
/// # Panics
/// The thread is no worker.
pub fn spawn_local<F>(terms: Terms, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: Send + 'static,
{
    here("spawn_local()", |local| {
        let handle = new_task(&local.shared);
        local.shared.tasks.fetch_add(1, Ordering::SeqCst);
        let task = work(future, Arc::clone(&handle.outcome));
        local.admit(&terms, &handle.header, task, Arc::clone(&handle.outcome) as _);
        local.start(&terms, &handle.header);
        handle
    })
}

/// Runs a function that blocks on a thread of its own pool; awaits its result.
///
/// The pool is one of the whole program, of as many threads as block at a time, 500 at most.
pub async fn blocking<T: Send + 'static>(function: impl FnOnce() -> T + Send + 'static) -> T {
    blocking::unblock(function).await
}

/// Whether this thread is a worker of weir-exec.
#[must_use]
pub fn is_worker() -> bool {
    local::with(|_| ()).is_some()
}
