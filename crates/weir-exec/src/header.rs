//! What is known of a task outside of its worker: enough to wake it, and to abort it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::Wake;

use crate::local;
use crate::notice::Notice;
use crate::shared::{Parcel, Shared};

/// The number of a task that was not admitted yet.
pub(crate) const UNNUMBERED: u32 = u32::MAX;

/// See above. Its wakers hold it.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) notice: Notice,
    aborted: AtomicBool,
    /// What tells it from all tasks of the program.
    pub(crate) id: u64,
    /// Its place on its worker, which the worker gives it.
    number: AtomicU32,
    pub(crate) worker: Arc<Shared>,
}

impl Header {
    pub(crate) fn new(worker: Arc<Shared>) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Self {
            id: MADE.fetch_add(1, Ordering::Relaxed),
            notice: Notice::new(),
            aborted: AtomicBool::new(false),
            number: AtomicU32::new(UNNUMBERED),
            worker,
        }
    }

    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    pub(crate) fn is_admitted_as(&self, number: u32) {
        self.number.store(number, Ordering::Relaxed);
    }

    /// Asks for the end of the task, which its worker brings about when it next comes to it.
    pub(crate) fn abort(self: &Arc<Self>) {
        self.aborted.store(true, Ordering::Release);
        self.wake_by_ref();
    }

    #[inline]
    pub(crate) fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::Acquire)
    }
}

impl Wake for Header {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        if self.notice.notify() && !local::wake(self) {
            self.worker.leave(Parcel::Woken(Arc::clone(self)));
        }
    }
}
