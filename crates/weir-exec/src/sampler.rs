//! Asks the workers of an executor for their counts every so often, on a thread of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::counters::WorkerCounts;
use crate::executor::Handle;

/// Counts are not asked for more often than this: each time, every worker's task is asked to give way.
const SHORTEST: Duration = Duration::from_millis(1);

/// Counts that are handed over every so often, until this is dropped. See [`Handle::sample`].
#[derive(Debug)]
#[must_use = "counts are handed over until this is dropped"]
pub struct Sampler {
    /// Dropped, it ends the wait for the next time.
    ends: Option<Sender<()>>,
    hearing: Arc<Hearing>,
    thread: ThreadId,
}

/// What the thread and whoever stops it share.
#[derive(Debug, Default)]
struct Hearing {
    /// Held while counts are heard.
    now: Mutex<()>,
    is_over: AtomicBool,
}

/// What of this time is behind the last multiple of `every`.
fn past(elapsed: Duration, every: Duration) -> Duration {
    let rest = elapsed.as_nanos() % every.as_nanos();
    Duration::new((rest / 1_000_000_000) as u64, (rest % 1_000_000_000) as u32)
}

impl Handle {
    /// Asks the workers for what they have counted every so often, a millisecond at the least, and hands it over: for
    /// metrics, or a log.
    ///
    /// `hear` is called on a thread of its own, and may take its time: times that pass meanwhile are left out. A worker
    /// whose task does not give way for as long as `every` is left out that time. Once the sampler is dropped, `hear` is not
    /// called any more; nor once the executor is over.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let executor = weir_exec::Executor::builder().pinned(false).build().unwrap();
    /// let sampler = executor.handle().sample(Duration::from_secs(10), |counts| {
    ///     for worker in counts {
    ///         eprintln!("worker {}: idle for {:?} of {:?}", worker.worker, worker.idle, worker.elapsed);
    ///     }
    /// });
    /// // ...
    /// drop(sampler);
    /// ```
    ///
    /// # Panics
    /// The system refuses a thread.
    pub fn sample(&self, every: Duration, mut hear: impl FnMut(&[WorkerCounts]) + Send + 'static) -> Sampler {
        let every = every.max(SHORTEST);
        let (ends, ended) = channel::<()>();
        let hearing = Arc::new(Hearing::default());
        let (handle, heard) = (self.clone(), Arc::clone(&hearing));
        let run = move || {
            let began = Instant::now();
            // Nothing is caught up: the next time is the next multiple.
            let wait = || every - past(began.elapsed(), every);
            while ended.recv_timeout(wait()) == Err(RecvTimeoutError::Timeout) && !handle.is_over() {
                let counts = handle.counts(every);
                // Whoever drops the sampler waits for this, and nobody is called afterwards.
                let _now = heard.now.lock().unwrap_or_else(PoisonError::into_inner);
                if heard.is_over.load(Ordering::SeqCst) {
                    return;
                }
                if !counts.is_empty() {
                    hear(&counts);
                }
            }
        };
        let thread = thread::Builder::new().name("weir-exec-counts".to_owned()).spawn(run);
        let thread = thread.expect("a thread for the counts").thread().id();
        Sampler { ends: Some(ends), hearing, thread }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.hearing.is_over.store(true, Ordering::SeqCst);
        self.ends = None;
        // Dropped by the one who hears, it is not waited for.
        if thread::current().id() != self.thread {
            drop(self.hearing.now.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}
