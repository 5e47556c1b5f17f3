//! What other threads have for a worker, and how they wake it where it sleeps.
//!
//! Whoever leaves something says so before it looks whether the worker sleeps; the worker says that it is about to
//! sleep before it looks whether anything was left. So one of them sees the other.
//!
//! A worker never waits for the lock: where another thread holds it, what it leaves is taken in the next turn.

use std::task::Waker;
use std::thread::Thread;

use crate::sync::{AtomicBool, AtomicU8, Mutex, Ordering, fence, lock};

const AWAKE: u8 = 0;
const ASLEEP: u8 = 1;

/// How a worker that sleeps is woken.
#[derive(Clone, Debug)]
pub(crate) enum Bed {
    /// It is a thread that is parked.
    Thread(Thread),
    /// It lies in a reactor.
    Waker(Waker),
}

impl Bed {
    fn wake(&self) {
        match self {
            Self::Thread(thread) => thread.unpark(),
            Self::Waker(waker) => waker.wake_by_ref(),
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
        self.any.store(true, Ordering::Release);
        self.wake();
    }

    /// Wakes the worker, if it sleeps.
    pub(crate) fn wake(&self) {
        // What was left is seen by a worker that is not seen to sleep.
        fence(Ordering::SeqCst);
        let sleeps = || self.sleeps.load(Ordering::Relaxed) == ASLEEP;
        if sleeps()
            && self.sleeps.swap(AWAKE, Ordering::AcqRel) == ASLEEP
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
        self.any.store(false, Ordering::Relaxed);
        match self.left.try_lock() {
            Ok(mut left) => std::mem::swap(&mut *left, taken),
            Err(_) => self.any.store(true, Ordering::Relaxed),
        }
    }

    /// How the worker is to be woken from now on.
    pub(crate) fn lie(&self, bed: Bed) {
        *lock(&self.bed) = Some(bed);
    }

    /// The worker is about to sleep; `false`: it is not to, since something was left.
    pub(crate) fn falls_asleep(&self) -> bool {
        self.sleeps.store(ASLEEP, Ordering::Release);
        fence(Ordering::SeqCst);
        if self.any.load(Ordering::Relaxed) {
            self.wakes_up();
            return false;
        }
        true
    }

    /// The worker is awake.
    pub(crate) fn wakes_up(&self) {
        self.sleeps.store(AWAKE, Ordering::Release);
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
    fn nobody_sleeps_over_what_was_left() {
        const EACH: u32 = 20_000;
        let inbox = std::sync::Arc::new(Inbox::new());
        inbox.lie(Bed::Thread(std::thread::current()));
        let poster = |_| {
            let inbox = std::sync::Arc::clone(&inbox);
            std::thread::spawn(move || (0..EACH).for_each(|number| inbox.leave(number)))
        };
        let posters: Vec<_> = (0..2).map(poster).collect();
        let (mut got, mut taken) = (0, Vec::new());
        while got < 2 * EACH {
            inbox.take(&mut taken);
            got += taken.drain(..).count() as u32;
            if got < 2 * EACH && inbox.falls_asleep() {
                let began = std::time::Instant::now();
                std::thread::park_timeout(std::time::Duration::from_secs(30));
                assert!(began.elapsed().as_secs() < 30, "it was not woken: {got} of {}", 2 * EACH);
                inbox.wakes_up();
            }
        }
        posters.into_iter().for_each(|poster| poster.join().unwrap());
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
