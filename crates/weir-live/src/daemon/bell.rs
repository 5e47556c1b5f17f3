//! What wakes a thread that sleeps until a descriptor is readable, at no cost while it does not sleep.
//!
//! | | |
//! |-|-|
//! | Source | eventfd(2); the store, fence and load of Dekker's algorithm |
//! | Work | a fence and a load; a system call where somebody sleeps |

use core::sync::atomic::{AtomicBool, Ordering, fence};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};

/// A bell that wakes one sleeping thread.
#[derive(Debug)]
pub struct Bell {
    asleep: AtomicBool,
    wake: OwnedFd,
}

impl Bell {
    /// A bell for which nobody sleeps.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { asleep: AtomicBool::new(false), wake })
    }

    /// Wakes the one who sleeps, or will in a moment: what was done before is seen by whoever looks after
    /// [`Self::lie_down`].
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) && self.asleep.swap(false, Ordering::SeqCst) {
            // It fails only where the counter is full, and then it is readable.
            let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        }
    }

    /// From now on the descriptor becomes readable when it rings. Look once more whether there is something to do, then
    /// sleep.
    pub fn lie_down(&self) {
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Awake again.
    pub fn get_up(&self) {
        if !self.asleep.swap(false, Ordering::SeqCst) {
            // It has rung.
            let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        }
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn nothing_that_was_done_is_slept_over() {
        const ROUNDS: u64 = 20_000;
        let (bell, done) = (Arc::new(Bell::new().expect("a descriptor")), Arc::new(AtomicU64::new(0)));
        let other = (Arc::clone(&bell), Arc::clone(&done));
        let worker = std::thread::spawn(move || {
            for _ in 0..ROUNDS {
                other.1.fetch_add(1, Ordering::Relaxed);
                other.0.ring();
            }
        });
        let long = Timespec { tv_sec: 20, tv_nsec: 0 };
        while done.load(Ordering::Relaxed) < ROUNDS {
            let seen = done.load(Ordering::Relaxed);
            bell.lie_down();
            if done.load(Ordering::Relaxed) == seen && seen < ROUNDS {
                let rung = poll(&mut [PollFd::new(&*bell, PollFlags::IN)], Some(&long)).expect("polled");
                assert_eq!(rung, 1, "it slept over {seen}");
            }
            bell.get_up();
        }
        worker.join().expect("ended");
    }
}
