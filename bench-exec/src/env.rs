//! What a workload needs of whoever runs it.

use std::future::Future;
use std::time::Instant;

use crate::mailbox::Mailbox;

/// What a task is for; the runners that can give each its own standing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Needs so much of every period.
    Control,
    /// Answers events.
    Handler,
    /// Short tasks that should start at once.
    Foreground,
    /// Takes what it gets.
    Rest,
}

/// What a task does with the executor that runs it.
pub trait Env: Clone + 'static {
    /// Gives way where the executor wants it, as its documentation has it for tasks that compute for long; under executors
    /// that cannot tell, gives way always.
    fn pause(&self) -> impl Future<Output = ()>;

    /// Waits until then.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()>;

    /// Starts a task beside this one. Threads do it here and now.
    fn spawn(&self, class: Class, task: impl Future<Output = ()> + 'static) -> impl Future<Output = ()>;

    /// Takes the next of what comes from outside; nothing at its end.
    fn receive<T>(&self, mailbox: &Mailbox<T>) -> impl Future<Output = Option<T>> {
        mailbox.receive()
    }
}

/// Tasks that run together, and what they measure.
pub trait Scene: Send + Sync + 'static {
    /// What a task of the scene is.
    type Job: Copy + Send + 'static;

    /// The tasks at the start. `threads`: each is run by a thread of its own, which does what it spawns itself.
    fn jobs(&self, threads: bool) -> Vec<(Class, Self::Job)>;

    /// Does one of the tasks.
    fn perform<E: Env>(
        self: std::sync::Arc<Self>,
        env: E,
        job: Self::Job,
    ) -> impl Future<Output = ()> + 'static;
}
