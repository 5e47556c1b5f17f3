//! Whether a task is to be polled again: what its wakers and its worker agree about, in one byte.
//!
//! ```text
//! waits --notify--> notified --begin--> runs --end--> waits | notified (woken while it ran)
//! ```

use crate::sync::{AtomicU8, Ordering};

const WAITS: u8 = 0;
/// It is, or is about to be, ready.
const NOTIFIED: u8 = 1;
const RUNS: u8 = 2;
/// It was woken while it ran.
const AGAIN: u8 = RUNS | NOTIFIED;
const DONE: u8 = 4;

/// See above.
#[derive(Debug)]
pub(crate) struct Notice(AtomicU8);

impl Notice {
    /// Of a task that waits.
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(WAITS))
    }

    /// Asks for a poll. `true`: it waited, and the caller makes it ready; otherwise somebody else has, or the worker will.
    #[inline]
    pub(crate) fn notify(&self) -> bool {
        // What the waker's thread did before is seen by the poll that follows, also where it was notified already.
        self.0.fetch_or(NOTIFIED, Ordering::AcqRel) == WAITS
    }

    /// A poll begins.
    #[inline]
    pub(crate) fn begin(&self) {
        self.0.swap(RUNS, Ordering::Acquire);
    }

    /// The poll is over, and the task waits unless it was woken since: `true` if so.
    #[inline]
    pub(crate) fn end(&self) -> bool {
        self.0.fetch_and(!RUNS, Ordering::AcqRel) == AGAIN
    }

    /// It is never polled again.
    pub(crate) fn finish(&self) {
        self.0.store(DONE | NOTIFIED, Ordering::Release);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire) & DONE != 0
    }
}

#[cfg(all(test, not(weir_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_made_ready_once_and_polled_again_where_it_was_woken_meanwhile() {
        let notice = Notice::new();
        assert!(notice.notify() && !notice.notify());
        notice.begin();
        assert!(!notice.end());
        assert!(notice.notify());
        notice.begin();
        assert!(!notice.notify(), "the worker handles it");
        assert!(notice.end());
        notice.finish();
        assert!(notice.is_done() && !notice.notify());
    }
}

#[cfg(all(test, weir_loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;

    /// Whatever a waker wrote before it woke is seen by a poll after it: none is lost.
    #[test]
    fn no_wake_up_is_lost() {
        loom::model(|| {
            let (notice, written) = (Arc::new(Notice::new()), Arc::new(AtomicUsize::new(0)));
            let ready = Arc::new(AtomicUsize::new(0));
            let wakers: Vec<_> = (0..2)
                .map(|_| {
                    let (notice, written, ready) = (notice.clone(), written.clone(), ready.clone());
                    loom::thread::spawn(move || {
                        written.fetch_add(1, Ordering::Relaxed);
                        if notice.notify() {
                            ready.fetch_add(1, Ordering::Release);
                        }
                    })
                })
                .collect();
            let (mut polls, mut seen) = (0, 0);
            while seen < 2 {
                if ready.load(Ordering::Acquire) > polls {
                    loop {
                        notice.begin();
                        seen = written.load(Ordering::Relaxed);
                        if !notice.end() {
                            break;
                        }
                    }
                    polls += 1;
                } else {
                    loom::thread::yield_now();
                }
            }
            for waker in wakers {
                waker.join().unwrap();
            }
        });
    }
}
