//! A worker over the reactor of Tokio: the worker's loop is the future that a current-thread runtime blocks on.
//!
//! While tasks are ready, the runtime polls its sockets and timers every so often; where none is, the worker lies in
//! the reactor, and what comes there wakes it.
//!
//! Tokio gives the worker's future, and so all tasks of a turn together, a budget of operations. Once that is used up
//! nothing that is asked of Tokio is ready, and whoever asks is woken in the reactor, which therefore has its turn then.
//! Each poll begins with some budget left; one that uses it up waits for that turn, as a task of Tokio's would.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::Poll;
use std::time::Duration;

use tokio::task::coop::has_budget_remaining;

use crate::error::BuildError;
use crate::inbox::Bed;
use crate::local::Local;
use crate::terms::nanos;
use crate::worker::{Turn, Worker};

/// Runs a worker until it is stopped.
pub(crate) fn run(worker: &mut Worker, every: Duration, started: &Sender<Result<(), BuildError>>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = started.send(Err(BuildError::System { what: "the reactor of Tokio".to_owned(), error }));
            return;
        }
    };
    let _ = started.send(Ok(()));
    let every = nanos(every).get();
    runtime.block_on(async move {
        let local = std::rc::Rc::clone(&worker.local);
        loop {
            let until = local.clock.now().saturating_add(every);
            // Whoever runs then is asked to give way.
            local.reactor_due.set(until);
            match worker.turn(|now| now >= until || !has_budget_remaining()) {
                Turn::Over => return,
                Turn::Reactor => tokio::task::yield_now().await,
                Turn::Idle(due) => {
                    if let Some(watch) = &local.watch {
                        watch.comes_due(due);
                    }
                    rest(&local).await;
                }
            }
        }
    });
}

/// Lies in the reactor until something wakes the worker.
async fn rest(local: &Local) {
    let inbox = &Arc::clone(&local.shared).inbox;
    let mut lies = false;
    local.rests.set(true);
    poll_fn(|cx| {
        if lies {
            return Poll::Ready(());
        }
        lies = true;
        inbox.lie(Bed::Waker(cx.waker().clone()));
        if inbox.falls_asleep() { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    inbox.wakes_up();
    local.rests.set(false);
}
