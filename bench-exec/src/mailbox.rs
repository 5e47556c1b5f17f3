//! How work comes from another thread: a queue that any executor can await, the same for all.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::task::{Poll, Waker};

/// See above.
pub struct Mailbox<T> {
    state: Mutex<State<T>>,
    came: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    waiting: Option<Waker>,
    closed: bool,
}

impl<T> Mailbox<T> {
    pub fn new() -> Self {
        let state = State { items: VecDeque::new(), waiting: None, closed: false };
        Self { state: Mutex::new(state), came: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().expect("nobody panics over it")
    }

    pub fn send(&self, item: T) {
        self.change(|state| state.items.push_back(item));
    }

    /// Nothing more comes.
    pub fn close(&self) {
        self.change(|state| state.closed = true);
        self.came.notify_all();
    }

    fn change(&self, change: impl FnOnce(&mut State<T>)) {
        let mut state = self.lock();
        change(&mut state);
        let waker = state.waiting.take();
        drop(state);
        match waker {
            Some(waker) => waker.wake(),
            None => self.came.notify_one(),
        }
    }

    /// For one task.
    pub async fn receive(&self) -> Option<T> {
        poll_fn(|cx| {
            let mut state = self.lock();
            match state.items.pop_front() {
                Some(item) => Poll::Ready(Some(item)),
                None if state.closed => Poll::Ready(None),
                None => {
                    state.waiting = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// For any number of threads.
    pub fn receive_blocking(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            match state.items.pop_front() {
                Some(item) => return Some(item),
                None if state.closed => return None,
                None => state = self.came.wait(state).expect("nobody panics over it"),
            }
        }
    }
}
