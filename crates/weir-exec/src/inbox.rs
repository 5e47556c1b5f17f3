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
        // As an exchange, since loom does not order a store behind what another thread has exchanged before.
        self.sleeps.swap(ASLEEP, Ordering::AcqRel);
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

#[cfg(all(test, weir_loom))]
mod loom_tests {
    use loom::sync::{Arc, Condvar};
    use loom::thread;
    use std::task::Wake;

    use super::*;

    /// What a thread of the model sleeps on. That of loom itself forgets that it was woken where the thread then waits for
    /// a lock.
    struct Sleeper {
        woken: Mutex<bool>,
        wakes: Condvar,
    }

    impl Sleeper {
        fn sleep(&self) {
            let mut woken = lock(&self.woken);
            while !*woken {
                woken = self.wakes.wait(woken).unwrap();
            }
            *woken = false;
        }
    }

    impl Wake for Sleeper {
        fn wake(self: std::sync::Arc<Self>) {
            *lock(&self.woken) = true;
            self.wakes.notify_one();
        }
    }

    /// A worker that takes what is left until it has all of it, and sleeps meanwhile: nobody is left who would wake it
    /// where it is not woken, and the model ends in that deadlock.
    fn take_all(inbox: &Inbox<u32>, sleeper: &Sleeper, count: usize) -> Vec<u32> {
        let (mut all, mut taken) = (Vec::new(), Vec::new());
        while all.len() < count {
            inbox.take(&mut taken);
            all.append(&mut taken);
            if all.len() == count {
                break;
            }
            if inbox.falls_asleep() {
                sleeper.sleep();
                inbox.wakes_up();
            } else {
                // The one who holds the lock is to go on.
                thread::yield_now();
            }
        }
        all
    }

    fn model(posters: u32, each: u32) {
        let mut limited = loom::model::Builder::new();
        limited.preemption_bound = Some(3);
        limited.check(move || {
            let inbox = Arc::new(Inbox::new());
            let sleeper = Sleeper { woken: Mutex::new(false), wakes: Condvar::new() };
            let sleeper = std::sync::Arc::new(sleeper);
            inbox.lie(Bed::Waker(std::sync::Arc::clone(&sleeper).into()));
            let threads: Vec<_> = (0..posters)
                .map(|poster| {
                    let inbox = Arc::clone(&inbox);
                    thread::spawn(move || (0..each).for_each(|at| inbox.leave(poster * each + at)))
                })
                .collect();
            let mut all = take_all(&inbox, &sleeper, (posters * each) as usize);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            all.sort_unstable();
            assert!(all.into_iter().eq(0..posters * each));
        });
    }

    #[test]
    fn what_one_thread_leaves_is_taken() {
        model(1, 2);
    }

    #[test]
    fn what_two_threads_leave_is_taken() {
        model(2, 1);
    }
}
