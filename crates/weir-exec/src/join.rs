//! The end of a task, and whoever waits for it: another task, or a thread.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::header::Header;
use weir_core::task::DeclarationError;

/// Why a task has no result.
#[non_exhaustive]
pub enum JoinError {
    /// The discipline does not admit it.
    Refused(DeclarationError),
    /// Its terms name a worker that there is not.
    NoWorker {
        /// The worker that was asked for, from 0.
        asked: usize,
        /// How many there are.
        workers: usize,
    },
    /// It panicked, with this.
    Panicked(Box<dyn Any + Send>),
    /// It was aborted, or the executor was shut down.
    Aborted,
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "the task is not admitted: {why}"),
            Self::NoWorker { asked, workers } => {
                write!(f, "the task is not spawned: worker is {asked}, must be below {workers}")
            }
            Self::Panicked(with) => write!(f, "the task panicked: {}", said(&**with)),
            Self::Aborted => f.write_str("the task was aborted"),
        }
    }
}

impl std::error::Error for JoinError {}

/// What a panic said.
pub(crate) fn said(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

enum Stage<T> {
    Open,
    Over(Result<T, JoinError>),
    Taken,
}

struct Shared<T> {
    result: Stage<T>,
    waker: Option<Waker>,
}

/// Where a task leaves its result.
pub(crate) struct Outcome<T> {
    shared: Mutex<Shared<T>>,
    over: Condvar,
}

impl<T> Outcome<T> {
    pub(crate) fn new() -> Self {
        Self { shared: Mutex::new(Shared { result: Stage::Open, waker: None }), over: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Shared<T>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves the result, of which there is one: what comes later is dropped.
    pub(crate) fn settle(&self, result: Result<T, JoinError>) {
        let waker = {
            let mut shared = self.lock();
            if !matches!(shared.result, Stage::Open) {
                return;
            }
            shared.result = Stage::Over(result);
            shared.waker.take()
        };
        self.over.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// What a worker does with the outcome of a task, whatever that is.
pub(crate) trait Settle: Send + Sync {
    fn fail(&self, error: JoinError);
}

impl<T: Send> Settle for Outcome<T> {
    fn fail(&self, error: JoinError) {
        self.settle(Err(error));
    }
}

/// Waits for a task, as a future or as a thread; what it returns is lost with the handle, and the task runs on.
pub struct JoinHandle<T> {
    pub(crate) outcome: Arc<Outcome<T>>,
    pub(crate) header: Arc<Header>,
}

impl<T> JoinHandle<T> {
    /// Ends the task where it waits or next gives way; it is dropped there, and returns what it needs. No effect on a
    /// task that has ended.
    pub fn abort(&self) {
        self.header.abort();
    }

    /// Whether the task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !matches!(self.outcome.lock().result, Stage::Open)
    }

    /// Blocks the thread until the task has ended. Not for tasks: they await the handle.
    ///
    /// # Errors
    /// The task was not admitted, panicked, or was aborted.
    pub fn wait(self) -> Result<T, JoinError> {
        let mut shared = self.outcome.lock();
        loop {
            match std::mem::replace(&mut shared.result, Stage::Taken) {
                Stage::Over(result) => return result,
                open => shared.result = open,
            }
            shared = self.outcome.over.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    /// # Panics
    /// It is polled after it was ready.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut shared = self.outcome.lock();
        match std::mem::replace(&mut shared.result, Stage::Taken) {
            Stage::Over(result) => Poll::Ready(result),
            Stage::Taken => panic!("a join handle is polled after it was ready"),
            Stage::Open => {
                shared.result = Stage::Open;
                match &mut shared.waker {
                    Some(waker) => waker.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("finished", &self.is_finished()).finish()
    }
}

/// How a task ended.
pub(crate) enum Why {
    Done,
    Panicked(Box<dyn Any + Send>),
    Aborted,
}
