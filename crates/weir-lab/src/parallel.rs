//! Replications on threads: the same numbers for any number of threads.
//!
//! A replication depends on its own number only, never on who runs it or when. Workers take the next number
//! from a counter; results are handed back in the order of the numbers. Where there are no threads, as in a page of a browser,
//! whoever calls does all the work.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Whether the system has threads.
const THREADED: bool = cfg!(not(target_family = "wasm"));
/// The longest time between two reports of progress.
const TOLD_EVERY: Duration = Duration::from_millis(50);

/// Runs `work` on every element of `jobs`, at most `threads` at a time, and returns the results in the
/// order of the jobs.
///
/// # Panics
/// If `work` panics; the panic is passed on after the other workers have ended.
pub fn in_parallel<J: Send, R: Send>(
    jobs: Vec<J>,
    threads: NonZeroUsize,
    work: impl Fn(J) -> R + Sync,
) -> Vec<R> {
    if !THREADED {
        return jobs.into_iter().map(work).collect();
    }
    let count = jobs.len();
    let jobs: Vec<Mutex<Option<J>>> = jobs.into_iter().map(|job| Mutex::new(Some(job))).collect();
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at).and_then(take) else { return };
            let result = work(job);
            if let Ok(mut place) = results[at].lock() {
                *place = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.get().min(count) {
            scope.spawn(worker);
        }
        worker();
    });
    results.iter().filter_map(take).collect()
}

/// As [`in_parallel`], while `tell` is called on this thread some twenty times a second; without threads, after each job.
///
/// # Panics
/// As [`in_parallel`].
pub fn in_parallel_told<J: Send, R: Send>(
    jobs: Vec<J>,
    threads: NonZeroUsize,
    work: impl Fn(J) -> R + Sync,
    tell: &mut dyn FnMut(),
) -> Vec<R> {
    if !THREADED {
        let job = |job| {
            let done = work(job);
            tell();
            done
        };
        return jobs.into_iter().map(job).collect();
    }
    let (sender, receiver) = mpsc::channel::<()>();
    let work = &work;
    std::thread::scope(|scope| {
        let runner = scope.spawn(move || {
            // Dropped where the jobs end, by a panic too: that ends the telling.
            let _ended = sender;
            in_parallel(jobs, threads, work)
        });
        while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(TOLD_EVERY) {
            tell();
        }
        match runner.join() {
            Ok(left) => left,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn take<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().ok()?.take()
}

/// As many threads as the machine offers to this process.
#[must_use]
pub fn available_threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in [1, 2, 8] {
            let threads = NonZeroUsize::new(threads).expect("positive");
            let squares = in_parallel((0..50_u64).collect(), threads, |n| n * n);
            assert_eq!(squares, (0..50).map(|n| n * n).collect::<Vec<_>>());
        }
        assert!(in_parallel(Vec::<u8>::new(), NonZeroUsize::MIN, |n| n).is_empty());
    }

    #[test]
    fn telling_changes_nothing() {
        let threads = NonZeroUsize::new(2).expect("positive");
        let squares = in_parallel_told((0..50_u64).collect(), threads, |n| n * n, &mut || ());
        assert_eq!(squares, (0..50).map(|n| n * n).collect::<Vec<_>>());
    }
}
