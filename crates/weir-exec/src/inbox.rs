//! What other threads have for a worker, and how they wake it where it sleeps.
//!
//! Whoever leaves something says so before it looks whether the worker sleeps; the worker says that it is about to
//! sleep before it looks whether anything was left. So one of them sees the other.
//!
//! A worker never waits for the lock: where another thread holds it, what it leaves is taken in the next turn.

use std::task::Waker;
use std::thread::Thread;

use crate::sync::{AtomicBool, AtomicU8, Mutex, Ordering, lock};

const AWAKE: u8 = 0;
const ASLEEP: u8 = 1;

/// How a worker that sleeps is woken.
#[derive(Clone, Debug)]
pub(crate) enum Bed {
    /// It is a thread that is parked.
    Thread(Thread),
    /// It lies in a reactor.
    Waker(Waker),
    #[cfg(weir_loom)]
    Notify(std::sync::Arc<loom::sync::Notify>),
}

impl Bed {
    fn wake(&self) {
        match self {
            Self::Thread(thread) => thread.unpark(),
            Self::Waker(waker) => waker.wake_by_ref(),
            #[cfg(weir_loom)]
            Self::Notify(notify) => notify.notify(),
        }
    }
}

/// What is left for a worker, in order.
#[derive(Debug)]
pub(crate) struct Inbox<T> {
    left: Mutex<Vec<T>>,
    any: AtomicBool,
    sleeps: AtomicU8,
    bed: Mutex<Option<Bed>>,
}

impl<T> Inbox<T> {
    pub(crate) fn new() -> Self {
        Self {
            left: Mutex::new(Vec::new()),
            any: AtomicBool::new(false),
            sleeps: AtomicU8::new(AWAKE),
            bed: Mutex::new(None),
        }
    }

    /// Leaves something, and wakes the worker.
    pub(crate) fn leave(&self, one: T) {
        lock(&self.left).push(one);
        self.any.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Wakes the worker, if it sleeps.
    pub(crate) fn wake(&self) {
        let sleeps = || self.sleeps.load(Ordering::SeqCst) == ASLEEP;
        if sleeps()
            && self.sleeps.swap(AWAKE, Ordering::SeqCst) == ASLEEP
            && let Some(bed) = &*lock(&self.bed)
        {
            bed.wake();
        }
    }

    /// Whether anything was left.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Relaxed)
    }

    /// Takes all that was left, in order, into `taken`, which is empty.
    pub(crate) fn take(&self, taken: &mut Vec<T>) {
        self.any.store(false, Ordering::SeqCst);
        match self.left.try_lock() {
            Ok(mut left) => std::mem::swap(&mut *left, taken),
            Err(_) => self.any.store(true, Ordering::SeqCst),
        }
    }

    /// How the worker is to be woken from now on.
    pub(crate) fn lie(&self, bed: Bed) {
        *lock(&self.bed) = Some(bed);
    }

    /// The worker is about to sleep; `false`: it is not to, since something was left.
    pub(crate) fn falls_asleep(&self) -> bool {
        self.sleeps.store(ASLEEP, Ordering::SeqCst);
        if self.any.load(Ordering::SeqCst) {
            self.wakes_up();
            return false;
        }
        true
    }

    /// The worker is awake.
    pub(crate) fn wakes_up(&self) {
        self.sleeps.store(AWAKE, Ordering::SeqCst);
    }
}

#[cfg(all(test, not(weir_loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_taken_in_order_and_keeps_the_worker_awake() {
        let (inbox, mut taken) = (Inbox::new(), Vec::new());
        assert!(inbox.is_empty() && inbox.falls_asleep());
        inbox.leave(1);
        inbox.leave(2);
        assert!(!inbox.is_empty() && !inbox.falls_asleep());
        inbox.take(&mut taken);
        assert_eq!((taken, inbox.falls_asleep()), (vec![1, 2], true));
    }

    #[test]
    fn a_worker_does_not_wait_for_the_lock() {
        let (inbox, mut taken) = (Inbox::new(), Vec::new());
        inbox.leave(1);
        let held = inbox.left.lock().unwrap();
        inbox.take(&mut taken);
        assert!(taken.is_empty() && !inbox.is_empty(), "it is taken in the next turn");
        drop(held);
        inbox.take(&mut taken);
        assert_eq!(taken, [1]);
    }
}

#[cfg(all(test, weir_loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    /// A worker that sleeps until it is woken gets all that was left.
    #[test]
    fn nobody_sleeps_over_what_was_left() {
        loom::model(|| {
            let inbox = Arc::new(Inbox::new());
            let notify = std::sync::Arc::new(loom::sync::Notify::new());
            inbox.lie(Bed::Notify(notify.clone()));
            let posters: Vec<_> = (0..2)
                .map(|number| {
                    let inbox = inbox.clone();
                    loom::thread::spawn(move || inbox.leave(number))
                })
                .collect();
            let (mut got, mut taken) = (0, Vec::new());
            while got < 2 {
                inbox.take(&mut taken);
                got += taken.drain(..).count();
                if got < 2 && inbox.falls_asleep() {
                    notify.wait();
                    inbox.wakes_up();
                }
                loom::thread::yield_now();
            }
            for poster in posters {
                poster.join().unwrap();
            }
        });
    }
}
