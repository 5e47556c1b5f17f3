//! A discipline of messages or packets behind a lock: the core of `weir.Queue`.
//!
//! It orders handles. The payloads, the waiting threads and the event loops stay in Python, so that no
//! reference to a Python object is ever dropped under the lock. Sizes are whole numbers in a unit of the
//! caller's; the discipline's clock counts what it has served in that unit. To disciplines of packets they are bytes.
//!
//! The contract allows one open grant. `dequeue` opens and closes one in a single step, as if the whole
//! size were served at once; `take` leaves it open until `requeue` or `finish`.
//!
//! What waits in front ([`Queue::push_front`]) the discipline knows nothing of. What is removed it forgets at once, if it
//! can; otherwise it keeps the handle until the turn of that comes, which is then passed over and charged to nobody.
//!
//! | | |
//! |-|-|
//! | Work | that of the discipline; `peek` and `order`: O(n) for a copy of it, and that of serving the copy; `remove`: O(n) |
//! | Units | sizes: the caller's; times: nanoseconds of the caller's clock |
//!
//! A discipline written in Python runs its methods under the lock. So the lock is waited for without that of the interpreter,
//! and such a method may not use its own queue.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use weir_core::discipline::{Discipline, Enqueued};
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Cost, Instant};

use crate::errors;
use crate::own::{self, Fault};

mod state;

use state::{Dropped, Job, OpenGrant, State, discipline, job};

/// A grant that was opened: the handle, its quantum and what remains of it.
type Opened = (u64, u64, u64);

/// A discipline over handles; see the module.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Queue {
    spec: String,
    state: Mutex<State>,
    /// Of a discipline of Python: its fault, which ends the queue, and who is in its methods.
    own: Option<Arc<Fault>>,
    inside: Mutex<Option<ThreadId>>,
}

/// The state, locked.
struct Locked<'a> {
    state: MutexGuard<'a, State>,
    inside: &'a Mutex<Option<ThreadId>>,
}

impl Deref for Locked<'_> {
    type Target = State;
    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        *held(self.inside) = None;
    }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    /// Nothing under the lock panics half-way through a change, so a poisoned lock is still consistent.
    fn lock(&self, py: Python<'_>) -> PyResult<Locked<'_>> {
        let me = thread::current().id();
        if *held(&self.inside) == Some(me) {
            let message = "the queue is used by a method of its own discipline, or by what interrupted one";
            return Err(errors::discipline(message.to_owned(), "use it when the method has returned"));
        }
        let state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        *held(&self.inside) = Some(me);
        Ok(Locked { state, inside: &self.inside })
    }

    /// What a call has found, unless the discipline has failed, in this call or before.
    fn checked<T>(&self, py: Python<'_>, found: PyResult<T>) -> PyResult<T> {
        self.own.as_ref().map_or(Ok(()), |fault| fault.error(py))?;
        found
    }
}

#[pymethods]
impl Queue {
    #[new]
    fn new(py: Python<'_>, spec: &str) -> PyResult<Self> {
        let parsed: Spec = spec.parse().map_err(|error| errors::spec(&error))?;
        let (discipline, own) = own::apart(spec, || discipline(&parsed));
        let state = State::new(discipline.map_err(|error| errors::spec(&error))?);
        let queue = Self { spec: spec.to_owned(), state: Mutex::new(state), own, inside: Mutex::new(None) };
        queue.checked(py, Ok(()))?;
        Ok(queue)
    }

    /// Takes a handle. Returns what was dropped, with the reasons.
    #[pyo3(signature = (handle, size, flow, class_, now))]
    fn enqueue(
        &self,
        py: Python<'_>,
        handle: u64,
        size: u64,
        flow: u32,
        class_: u16,
        now: u64,
    ) -> PyResult<(bool, Dropped)> {
        let job = job(handle, size, flow, class_)?;
        let mut guard = self.lock(py)?;
        let state = &mut *guard;
        let now = state.at(now);
        state.hold(&job);
        let outcome = state.discipline.enqueue(now, job, &mut state.drops);
        self.checked(py, Ok((outcome == Enqueued::Preempts, state.dropped())))
    }

    /// Puts a handle before all others; the discipline does not learn of it.
    fn push_front(&self, py: Python<'_>, handle: u64, size: u64) -> PyResult<()> {
        let job = job(handle, size, 0, 0)?;
        let mut state = self.lock(py)?;
        state.front.push(job);
        self.checked(py, Ok(()))
    }

    /// Takes a handle out, wherever it waits; whether it did.
    fn remove(&self, py: Python<'_>, handle: u64) -> PyResult<bool> {
        let removed = self.lock(py)?.remove(handle);
        self.checked(py, Ok(removed))
    }

    /// The handles in the order in which they would be served if nothing else arrived, at most `most` of them.
    #[pyo3(signature = (now, most=None))]
    fn order(&self, py: Python<'_>, now: u64, most: Option<usize>) -> PyResult<Vec<u64>> {
        let mut state = self.lock(py)?;
        let now = state.at(now);
        let order = state.order(now, most.unwrap_or(usize::MAX));
        let refused = || {
            let message = format!("`{}` does not say whom it would serve next", self.spec);
            errors::unsupported(
                message,
                "its state cannot be copied; ask a discipline whose state can, or only take items",
            )
        };
        self.checked(py, order.ok_or_else(refused))
    }

    /// Removes all that waits.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let mut guard = self.lock(py)?;
        let state = &mut *guard;
        state.front.clear();
        match &state.held {
            Some(held) => state.removed.clone_from(held),
            None => _ = state.discipline.retain(&mut |_| false),
        }
        self.checked(py, Ok(()))
    }

    /// How long after `now` the discipline may serve what it does not serve now, in nanoseconds; `None` where it waits for a
    /// newcomer.
    fn event(&self, py: Python<'_>, now: u64) -> PyResult<Option<u64>> {
        let mut state = self.lock(py)?;
        let now = state.at(now);
        let next = state.discipline.next_event().filter(|next| *next < Instant::NEVER);
        self.checked(py, Ok(next.map(|next| next.since(now).get())))
    }

    /// The next handle, served whole at this instant; `None` if nothing can be served now. Or what was dropped meanwhile:
    /// then what would have been next stays in front.
    fn dequeue(&self, py: Python<'_>, now: u64) -> PyResult<(Option<u64>, Option<Dropped>)> {
        let mut state = self.lock(py)?;
        let now = state.at(now);
        let granted = state.grant(now)?.map(|(open, _)| open);
        if let Some(open) = granted.filter(|open| open.known) {
            state.discipline.finish(now, &open.job, open.job.remaining);
        }
        let dropped = state.dropped_instead(granted);
        let handle = granted.filter(|_| dropped.is_none()).map(|open| open.job.handle);
        self.checked(py, Ok((handle, dropped)))
    }

    /// Opens a grant: the handle, its quantum and what remains of it. Or what was dropped meanwhile, as in `dequeue`.
    fn take(&self, py: Python<'_>, now: u64) -> PyResult<(Option<Opened>, Option<Dropped>)> {
        let mut state = self.lock(py)?;
        let now = state.at(now);
        let granted = state.grant(now)?;
        let dropped = state.dropped_instead(granted.map(|(open, _)| open));
        if let Some((open, _)) = granted.filter(|(open, _)| open.known && dropped.is_some()) {
            state.discipline.finish(now, &open.job, open.job.remaining);
        }
        let granted = granted.filter(|_| dropped.is_none());
        state.open = granted.map(|(open, _)| open);
        let told = |(open, quantum): (OpenGrant, Bytes)| {
            (open.job.handle, quantum.count(), open.job.remaining.count())
        };
        self.checked(py, Ok((granted.map(told), dropped)))
    }

    /// Charges `used` more to the open grant, which goes on.
    fn charge(&self, py: Python<'_>, handle: u64, used: u64, now: u64) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let now = state.at(now);
        let (mut open, _) = state.after(handle, used)?;
        let used = Bytes::new(used);
        if open.known {
            state.discipline.charge(now, &open.job, used);
        }
        open.charged = open.charged.plus(used);
        state.open = Some(open);
        self.checked(py, Ok(()))
    }

    /// Closes the open grant over an item of which something remains. Returns what was dropped.
    fn requeue(&self, py: Python<'_>, handle: u64, used: u64, now: u64) -> PyResult<Dropped> {
        let mut guard = self.lock(py)?;
        let state = &mut *guard;
        let now = state.at(now);
        let (open, left) = state.after(handle, used)?;
        if left == Bytes::ZERO {
            let message = format!("used is {used}, nothing of the item remains");
            return Err(errors::config(message, "finish the grant instead".to_owned()));
        }
        state.open = None;
        let job = Job { remaining: left, ..open.job };
        if open.known {
            state.hold(&job);
            state.discipline.requeue(now, job, Bytes::new(used), &mut state.drops);
        } else {
            state.front.push(job);
        }
        self.checked(py, Ok(state.dropped()))
    }

    /// Closes the open grant; its item leaves, whole unless `used` says otherwise.
    #[pyo3(signature = (handle, used, now))]
    fn finish(&self, py: Python<'_>, handle: u64, used: Option<u64>, now: u64) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let now = state.at(now);
        let whole = state.opened(handle)?;
        let used = used.unwrap_or(whole.job.remaining.minus(whole.charged).count());
        let (open, _) = state.after(handle, used)?;
        state.open = None;
        if open.known {
            state.discipline.finish(now, &open.job, Bytes::new(used));
        }
        self.checked(py, Ok(()))
    }

    /// Items waiting and their sizes together; the item of an open grant is not counted.
    fn backlog(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let backlog = self.lock(py)?.backlog();
        Ok((backlog.items, backlog.cost.count()))
    }
}
