//! The primitives that cross threads, as the standard library or, under test, loom has them.

#[cfg(weir_loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};
#[cfg(weir_loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard};

#[cfg(not(weir_loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};
#[cfg(not(weir_loom))]
pub(crate) use std::sync::{Mutex, MutexGuard};

/// Locks, also where a thread has panicked within: what is kept here is whole between any two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
