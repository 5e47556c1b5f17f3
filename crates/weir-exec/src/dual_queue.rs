//! Dual queues: first in, first out, of data or of tasks that wait for it, never of both.
//!
//! Data goes to the task that has waited longest; a task takes the datum that has lain there longest. A task that is
//! given a datum and ends, or loses interest, before it has taken it leaves it to the next.
//!
//! | | |
//! |-|-|
//! | Source | Rettberg, BBN Report 5285, 1983, section 2.4 |
//! | Work | O(1), but O(waiting tasks) for one that loses interest |

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// See above. Clones are the same queue.
#[derive(Debug)]
pub struct DualQueue<T>(Arc<Mutex<State<T>>>);

#[derive(Debug)]
struct State<T> {
    data: VecDeque<T>,
    waiting: VecDeque<Seat>,
    seats: u64,
    /// What was given to tasks that have not looked since.
    given: Vec<(u64, T)>,
}

#[derive(Debug)]
struct Seat {
    number: u64,
    waker: Waker,
}

impl<T> Clone for DualQueue<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for DualQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> DualQueue<T> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        let (data, waiting) = (VecDeque::new(), VecDeque::new());
        Self(Arc::new(Mutex::new(State { data, waiting, seats: 0, given: Vec::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives data to the task that has waited longest, or leaves it.
    pub fn enqueue(&self, datum: T) {
        let mut state = self.lock();
        match state.waiting.pop_front() {
            Some(Seat { number, waker }) => {
                state.given.push((number, datum));
                drop(state);
                waker.wake();
            }
            None => state.data.push_back(datum),
        }
    }

    /// Takes the first datum, or waits for one.
    pub fn dequeue(&self) -> Dequeue<'_, T> {
        Dequeue { queue: self, seat: None }
    }

    /// Takes the first datum, if there is one.
    #[must_use]
    pub fn try_dequeue(&self) -> Option<T> {
        self.lock().data.pop_front()
    }

    /// How many data lie there.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().data.len()
    }

    /// Whether no data lies there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// See [`DualQueue::dequeue`].
#[must_use = "futures do nothing unless they are awaited"]
#[derive(Debug)]
pub struct Dequeue<'a, T> {
    queue: &'a DualQueue<T>,
    seat: Option<u64>,
}

impl<T> State<T> {
    fn take_given(&mut self, seat: u64) -> Option<T> {
        let place = self.given.iter().position(|(number, _)| *number == seat)?;
        Some(self.given.swap_remove(place).1)
    }
}

impl<T> Future for Dequeue<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let queue = self.queue;
        let mut state = queue.lock();
        let taken = match self.seat {
            Some(seat) => state.take_given(seat),
            None => state.data.pop_front(),
        };
        if let Some(datum) = taken {
            self.seat = None;
            return Poll::Ready(datum);
        }
        match self.seat.and_then(|seat| state.waiting.iter_mut().find(|one| one.number == seat)) {
            Some(one) => one.waker.clone_from(cx.waker()),
            None => {
                state.seats += 1;
                let number = state.seats;
                state.waiting.push_back(Seat { number, waker: cx.waker().clone() });
                self.seat = Some(number);
            }
        }
        Poll::Pending
    }
}

impl<T> Drop for Dequeue<'_, T> {
    fn drop(&mut self) {
        let Some(seat) = self.seat else { return };
        let mut state = self.queue.lock();
        state.waiting.retain(|one| one.number != seat);
        let Some(datum) = state.take_given(seat) else { return };
        // To the next who waits; else it is the oldest.
        match state.waiting.pop_front() {
            Some(Seat { number, waker }) => {
                state.given.push((number, datum));
                drop(state);
                waker.wake();
            }
            None => state.data.push_front(datum),
        }
    }
}
