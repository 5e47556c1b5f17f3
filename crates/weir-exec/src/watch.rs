//! The timer thread of an executor: asks running tasks to give way when their slice is over or something is due, unless
//! that is so soon that they see to it themselves (`signal`); wakes workers that lie in a reactor, and finds polls that
//! run over their slice.
//!
//! Those are reported, while they run, by a thread of its own: to take a stack and to look up its names may take a
//! third of a second, in which the timer thread would ask nobody. It is an ordinary thread also where workers are under
//! SCHED_FIFO, since it should not keep them from their processors.
//!
//! It sleeps until the first moment at which a worker has something due. A worker whose next task is due before that
//! wakes it; what it reads of the two stores is ordered such that one of both sees the other, but for a moment of
//! nanoseconds, for which it never sleeps longer than [`NAP`] while anybody runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use crate::clock::{BEAT, Monotonic};
use crate::report::{Report, Reports};
use crate::shared::Shared;
use crate::signal::{NEVER, Seen, Signal};
use crate::stack;
use crate::terms::nanos;

/// How long it sleeps at most while a task runs.
const NAP: Duration = Duration::from_millis(10);
/// The kernel puts a sleeping thread's end off by up to this, to save wake-ups: 50 us without our wish.
#[cfg(target_os = "linux")]
const SLACK_NANOS: libc::c_ulong = 1_000;

/// What workers hold of the timer thread.
#[derive(Clone, Debug)]
pub(crate) struct Watch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Until when it sleeps; [`NEVER`] while it is awake, so that it is woken in any case.
    sleeps_until: AtomicU64,
    thread: OnceLock<Thread>,
    stops: AtomicBool,
}

/// A worker, as the timer thread sees it.
pub(crate) struct Watched {
    pub(crate) shared: Arc<Shared>,
    pub(crate) thread: OnceLock<stack::Target>,
}

/// What was reported of a worker.
#[derive(Clone, Copy, Default)]
struct Reported {
    polls: u64,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Inner {
            sleeps_until: AtomicU64::new(NEVER),
            thread: OnceLock::new(),
            stops: AtomicBool::new(false),
        }))
    }

    /// A worker has something due then.
    #[inline]
    pub(crate) fn comes_due(&self, due: u64) {
        if due < self.0.sleeps_until.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Sees to it that the task that runs now is asked to give way at `due`: it reads the clock itself if that is soon,
    /// and the timer thread asks it otherwise.
    #[inline]
    pub(crate) fn asks_at(&self, signal: &Signal, now: u64, due: u64) {
        self.comes_due(if signal.is_near(now, due) { signal.slice_end() } else { due });
    }

    #[cold]
    fn wake(&self) {
        if let Some(thread) = self.0.thread.get() {
            thread.unpark();
        }
    }

    /// Starts the thread. A poll is reported once it has run for `grace` over its slice.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(
        &self,
        workers: Vec<Arc<Watched>>,
        clock: Arc<Monotonic>,
        grace: Duration,
        reports: Reports,
        prepare: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        let inner = Arc::clone(&self.0);
        let (found, finds) = sync_channel(workers.len());
        let (watched, heard) = (workers.clone(), reports.clone());
        thread::Builder::new()
            .name("weir-blame".to_owned())
            .spawn(move || blame(&watched, &finds, &heard))?;
        thread::Builder::new().name("weir-timer".to_owned()).spawn(move || {
            prepare();
            sleep_exactly();
            let _ = inner.thread.set(thread::current());
            let mut reported = vec![Reported::default(); workers.len()];
            let mut suspended = Duration::ZERO;
            while !inner.stops.load(Ordering::Relaxed) {
                inner.sleeps_until.swap(NEVER, Ordering::SeqCst);
                let now = clock.beat();
                if clock.suspended() > suspended {
                    reports.tell(Report::Suspended { span: clock.suspended() - suspended });
                    suspended = clock.suspended();
                }
                let until = look(&workers, &mut reported, now, nanos(grace).get(), &found);
                inner.sleeps_until.store(until, Ordering::SeqCst);
                let now = clock.now();
                thread::park_timeout(Duration::from_nanos(until.saturating_sub(now)));
            }
        })
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.0.stops.store(true, Ordering::Relaxed);
        self.wake();
    }
}

/// Checks all workers; returns until when to sleep.
fn look(
    workers: &[Arc<Watched>],
    reported: &mut [Reported],
    now: u64,
    grace: u64,
    found: &SyncSender<Find>,
) -> u64 {
    let mut until = now + nanos(BEAT).get();
    for (number, (worker, reported)) in workers.iter().zip(reported).enumerate() {
        let seen = worker.shared.signal.seen();
        if seen.due <= now {
            worker.shared.signal.ask();
            if seen.began == NEVER {
                worker.shared.inbox.wake();
            }
        } else {
            until = until.min(seen.due);
        }
        if seen.began == NEVER {
            continue;
        }
        until = until.min(now + nanos(NAP).get());
        let over = seen.slice_end.saturating_add(grace);
        if seen.slice_end == NEVER || reported.polls == seen.polls {
            continue;
        }
        if over > now {
            until = until.min(over);
        } else {
            reported.polls = seen.polls;
            // Where the one before is still examined, this one is left out.
            let _ = found.try_send(Find { worker: number, seen, now });
        }
    }
    until
}

/// A poll that has run over its slice.
#[derive(Clone, Copy)]
struct Find {
    worker: usize,
    seen: Seen,
    now: u64,
}

/// Reports polls that have run over their slice, if they still run, until the timer thread ends.
fn blame(workers: &[Arc<Watched>], finds: &Receiver<Find>, reports: &Reports) {
    for Find { worker, seen, now } in finds {
        let watched = &workers[worker];
        let calls = watched.thread.get().map(stack::Target::capture).unwrap_or_default();
        if watched.shared.signal.seen().polls != seen.polls {
            // It gave way while its stack was taken: that is another's, or the worker's.
            continue;
        }
        let runs = Duration::from_nanos(now.saturating_sub(seen.began));
        let task = watched.shared.name(seen.task);
        reports.tell(Report::OverSlice { worker, task, runs, stack: calls.names() });
    }
}

/// Wakes up when asked to, and not up to 50 us later.
pub(crate) fn sleep_exactly() {
    #[cfg(target_os = "linux")]
    // SAFETY: takes numbers only, and concerns this thread alone.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, SLACK_NANOS);
    }
}
