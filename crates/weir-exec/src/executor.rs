//! An executor: its workers, and what is done with them from outside.

use std::future::Future;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use crate::clock::Monotonic;
use crate::counters::WorkerCounts;
use crate::dispatcher::dispatchers;
use crate::error::BuildError;
use crate::join::{JoinError, JoinHandle};
use crate::recording;
use crate::report::{Report, Reports};
use crate::shared::{Parcel, Shared};
use crate::spawning::{not_spawned, spawn_on};
use crate::start::{Setting, run};
use crate::terms::Terms;
use crate::watch::{Watch, Watched};

/// What drives I/O on the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reactor {
    /// Nothing: tasks wait for events, queues and time.
    #[default]
    None,
    /// A current-thread runtime of Tokio on each worker.
    #[cfg(feature = "tokio")]
    Tokio,
}

/// What an executor is built from.
#[derive(Clone, Debug)]
pub struct Builder {
    discipline: String,
    workers: usize,
    pinned: bool,
    spin: Duration,
    real_time: Option<u8>,
    grace: Duration,
    reactor: Reactor,
    reactor_every: Duration,
    record: Option<PathBuf>,
    reports: Reports,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// One worker under `epoch(100ms)`, bound to a processor, without I/O; reports go to standard error.
    #[must_use]
    pub fn new() -> Self {
        Self {
            discipline: "epoch(100ms)".to_owned(),
            workers: 1,
            pinned: true,
            spin: Duration::ZERO,
            real_time: None,
            grace: Duration::from_millis(1),
            reactor: Reactor::None,
            reactor_every: Duration::from_micros(250),
            record: None,
            reports: Reports::to(|report| eprintln!("weir-exec: {report}")),
        }
    }

    /// The discipline of each worker, as `weir list --kind task` has them: `epoch(100ms,admit=refuse)`, `cbs(20ms)`,
    /// `eevdf`, `stride`, `priority_rr`, `share`.
    #[must_use]
    pub fn discipline(mut self, spec: &str) -> Self {
        spec.clone_into(&mut self.discipline);
        self
    }

    /// How many workers, each with its own tasks.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Whether each worker is bound to a processor of its own.
    #[must_use]
    pub fn pinned(mut self, pinned: bool) -> Self {
        self.pinned = pinned;
        self
    }

    /// For how long a worker without ready tasks looks for work before it sleeps.
    #[must_use]
    pub fn spin(mut self, spin: Duration) -> Self {
        self.spin = spin;
        self
    }

    /// Workers run under SCHED_FIFO with this priority, from 1 to 98, and the timer thread one above.
    #[must_use]
    pub fn real_time(mut self, priority: u8) -> Self {
        self.real_time = Some(priority);
        self
    }

    /// A poll is reported once it has run for this long over its slice.
    #[must_use]
    pub fn report_after(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Who hears reports, instead of standard error. It is called on the thread that has something to report, a worker's
    /// among them: it should be short.
    #[must_use]
    pub fn reports(mut self, hear: impl Fn(Report) + Send + Sync + 'static) -> Self {
        self.reports = Reports::to(hear);
        self
    }

    /// Each worker drives a current-thread runtime of Tokio: its sockets, files and timers work in tasks.
    #[cfg(feature = "tokio")]
    #[must_use]
    pub fn tokio(mut self) -> Self {
        self.reactor = Reactor::Tokio;
        self
    }

    /// While tasks are ready, I/O is polled this often.
    #[must_use]
    pub fn io_every(mut self, span: Duration) -> Self {
        self.reactor_every = span;
        self
    }

    /// What happens is written to this file, which is replaced: `weir import exec FILE` makes a scenario of it. Nothing of
    /// the program waits for the file: what cannot be written in time is left out, and counted there.
    #[must_use]
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(path.into());
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// The discipline is none, there are too few processors, or the system refuses a thread, its processor, its
    /// priority, or the file of a recording.
    pub fn build(self) -> Result<Executor, BuildError> {
        let dispatchers = dispatchers(&self.discipline, self.workers)?;
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        if self.workers == 0 || self.pinned && self.workers > processors {
            return Err(BuildError::Workers { asked: self.workers, processors });
        }
        let (ends, recorder) = self.start_recording()?;
        let mut ends = ends.into_iter();
        let (clock, watch) = (Arc::new(Monotonic::new()), Watch::new());
        let mut executor = Executor {
            handle: Handle { workers: Vec::new().into(), clock: Arc::clone(&clock) },
            watch: watch.clone(),
            threads: Vec::new(),
            timer: None,
            recorder,
        };
        let mut watched = Vec::new();
        for (number, dispatcher) in dispatchers.into_iter().enumerate() {
            let shared = Arc::new(Shared::new(number));
            let one = Arc::new(Watched { shared: Arc::clone(&shared), thread: OnceLock::new() });
            watched.push(Arc::clone(&one));
            let (tell, told) = mpsc::channel();
            let setting = Setting {
                one,
                dispatcher,
                clock: Arc::clone(&clock),
                watch: watch.clone(),
                reports: self.reports.clone(),
                processor: self.pinned.then_some(number),
                real_time: self.real_time,
                spin: self.spin,
                reactor: self.reactor,
                reactor_every: self.reactor_every,
                record: ends.next().map(|ends| (ends, self.workers)),
                started: tell,
            };
            let name = format!("weir-exec-{number}");
            let thread = thread::Builder::new().name(name.clone()).spawn(move || run(setting));
            let thread = thread.map_err(|error| BuildError::System { what: name, error })?;
            executor.threads.push((shared, thread));
            told.recv().unwrap_or_else(|_| Err(gone(number)))?;
        }
        let workers: Vec<_> = executor.threads.iter().map(|(shared, _)| Arc::clone(shared)).collect();
        executor.handle.workers = workers.into();
        let above = self.real_time.map(|priority| priority + 1);
        let prepare = move || {
            if let Some(priority) = above {
                // The workers have it already: it is permitted.
                let _ = crate::start::real_time(priority);
            }
        };
        let timer = watch.start(watched, clock, self.grace, self.reports, prepare);
        let what = "the timer thread".to_owned();
        executor.timer = Some(timer.map_err(|error| BuildError::System { what, error })?);
        Ok(executor)
    }

    /// Starts the thread that writes the recording, if there is to be one; the ends are of the workers in their order.
    fn start_recording(&self) -> Result<(Vec<recording::Ends>, Option<thread::JoinHandle<()>>), BuildError> {
        let Some(path) = &self.record else { return Ok((Vec::new(), None)) };
        let begun = recording::start(path, &self.discipline, self.workers, self.reports.clone());
        let what = || format!("the recording `{}`", path.display());
        let (ends, thread) = begun.map_err(|error| BuildError::System { what: what(), error })?;
        Ok((ends, Some(thread)))
    }
}

fn gone(number: usize) -> BuildError {
    let error = io::Error::other("its thread ended before it started");
    BuildError::System { what: format!("worker {number}"), error }
}

/// An executor that runs. Dropped, it aborts what it runs.
#[derive(Debug)]
pub struct Executor {
    handle: Handle,
    watch: Watch,
    threads: Vec<(Arc<Shared>, thread::JoinHandle<Vec<String>>)>,
    timer: Option<thread::JoinHandle<()>>,
    recorder: Option<thread::JoinHandle<()>>,
}

/// What spawns tasks, from anywhere.
#[derive(Clone, Debug)]
pub struct Handle {
    workers: Arc<[Arc<Shared>]>,
    clock: Arc<Monotonic>,
}

impl Executor {
    /// See [`Builder::new`].
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// What spawns tasks, from anywhere.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// See [`Handle::spawn`].
    pub fn spawn<F>(&self, terms: Terms, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(terms, future)
    }

    /// Takes no tasks any more, waits until all have ended, for `grace` at most, and ends the workers; what has not
    /// ended by then is aborted where it waits or gives way. Returns the names of those.
    pub fn shutdown(mut self, grace: Duration) -> Vec<String> {
        for worker in &*self.handle.workers {
            worker.stop(false);
        }
        let until = std::time::Instant::now() + grace;
        let left = |worker: &Arc<Shared>| worker.tasks.load(Ordering::SeqCst) > 0;
        while self.handle.workers.iter().any(left) && std::time::Instant::now() < until {
            thread::sleep(Duration::from_millis(1).min(grace));
        }
        self.end()
    }

    fn end(&mut self) -> Vec<String> {
        for (shared, _) in &self.threads {
            shared.stop(true);
        }
        let threads = self.threads.drain(..);
        let left = threads.flat_map(|(_, thread)| thread.join().unwrap_or_default()).collect();
        self.watch.stop();
        for thread in [self.timer.take(), self.recorder.take()].into_iter().flatten() {
            let _ = thread.join();
        }
        left
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.end();
    }
}

impl Handle {
    /// Spawns a task on the worker of its terms; or on this thread's, or the one with the fewest tasks.
    ///
    /// The handle reports whether it is admitted: [`JoinError::Refused`].
    pub fn spawn<F>(&self, terms: Terms, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_with(terms, move || future)
    }

    /// Spawns a task whose future is made on its worker, and need not be sent.
    pub fn spawn_with<M, F>(&self, terms: Terms, make: M) -> JoinHandle<F::Output>
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        let own = || crate::local::with(|local| Arc::clone(&local.shared));
        if let Some(asked) = terms.worker.filter(|&worker| worker >= self.workers.len()) {
            return not_spawned(&self.workers[0], JoinError::NoWorker { asked, workers: self.workers.len() });
        }
        let named = terms.worker.map(|worker| Arc::clone(&self.workers[worker]));
        let worker = named.or_else(|| own().filter(|own| self.has(own))).unwrap_or_else(|| self.emptiest());
        spawn_on(&worker, terms, make)
    }

    fn has(&self, worker: &Arc<Shared>) -> bool {
        self.workers.iter().any(|one| Arc::ptr_eq(one, worker))
    }

    fn emptiest(&self) -> Arc<Shared> {
        let tasks = |worker: &&Arc<Shared>| worker.tasks.load(Ordering::Relaxed);
        Arc::clone(self.workers.iter().min_by_key(tasks).expect("there is a worker"))
    }

    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// What each worker has counted so far. Each is asked when its task gives way; one that does not within `patience`
    /// is left out.
    #[must_use]
    pub fn counts(&self, patience: Duration) -> Vec<WorkerCounts> {
        let asked = self.workers.iter().map(|worker| {
            let (tell, told) = mpsc::channel();
            worker.leave(Parcel::Look(Box::new(move |local| {
                let _ = tell.send(local.counts());
            })));
            told
        });
        let asked: Vec<_> = asked.collect();
        asked.into_iter().filter_map(|told| told.recv_timeout(patience).ok()).collect()
    }

    /// Whether no worker runs tasks any more, or will.
    pub(crate) fn is_over(&self) -> bool {
        self.workers.iter().all(|worker| worker.is_over())
    }

    /// For how long the program was suspended so far.
    #[must_use]
    pub fn suspended(&self) -> Duration {
        self.clock.suspended()
    }
}
