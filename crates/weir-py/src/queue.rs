//! A message discipline behind a lock: the core of `weir.Queue`.
//!
//! It orders handles. The payloads, the waiting threads and the event loops stay in Python, so that no
//! reference to a Python object is ever dropped under the lock. Sizes are whole numbers in a unit of the
//! caller's; the discipline's clock counts what it has served in that unit.
//!
//! The contract allows one open grant. `dequeue` opens and closes one in a single step, as if the whole
//! size were served at once; `take` leaves it open until `requeue` or `finish`.
//!
//! A discipline written in Python runs its methods under the lock. So the lock is waited for without that of the interpreter,
//! and such a method may not use its own queue.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use weir_core::discipline::{Discipline, DropReason, Open};
use weir_core::item::{ClassId, FlowId, Item};
use weir_core::registry::message_discipline;
use weir_core::spec::Spec;
use weir_core::units::{Cost, Instant, Packets};

use crate::errors;
use crate::own::{self, Fault};

/// The largest size of one item: 2^40 units.
const MAX_SIZE: u64 = 1 << 40;

/// What the discipline orders: a handle with what is still to be served of it.
#[derive(Clone, Copy, Debug)]
struct Job {
    handle: u64,
    flow: FlowId,
    class: ClassId,
    remaining: Packets,
}

impl Item for Job {
    type Cost = Packets;
    #[inline]
    fn flow(&self) -> FlowId {
        self.flow
    }
    #[inline]
    fn class(&self) -> ClassId {
        self.class
    }
    #[inline]
    fn cost(&self) -> Packets {
        self.remaining
    }
}

/// A grant between `take` and `requeue` or `finish`.
#[derive(Clone, Copy, Debug)]
struct OpenGrant {
    /// As it was granted.
    job: Job,
    charged: Packets,
}

struct State {
    discipline: Box<dyn Discipline<Job> + Send>,
    open: Option<OpenGrant>,
    clock: Instant,
    drops: Vec<(Job, DropReason)>,
}

impl State {
    /// The later of `now` and the latest moment seen: the contract's clock never goes back.
    fn at(&mut self, now: u64) -> Instant {
        self.clock = self.clock.max(Instant::new(now));
        self.clock
    }

    /// The handles dropped by the last call, with the reason in words.
    fn dropped(&mut self) -> Vec<(u64, &'static str)> {
        self.drops.drain(..).map(|(job, reason)| (job.handle, reason_text(reason))).collect()
    }

    fn grant(&mut self, now: Instant) -> PyResult<Option<(Job, Packets)>> {
        if self.open.is_some() {
            return Err(errors::grant("a grant is open", "requeue or finish it first"));
        }
        let grant = self.discipline.dequeue(now, &Open, &mut self.drops);
        Ok(grant.map(|grant| (grant.item, grant.quantum)))
    }

    /// The open grant, if it belongs to `handle`.
    fn opened(&self, handle: u64) -> PyResult<OpenGrant> {
        let closed = || errors::grant("the grant is closed already", "use the one that `take` returned last");
        self.open.filter(|open| open.job.handle == handle).ok_or_else(closed)
    }

    /// The open grant with what remains of its item once `used` more is served.
    fn after(&self, handle: u64, used: u64) -> PyResult<(OpenGrant, Packets)> {
        let open = self.opened(handle)?;
        let left = open.job.remaining.minus(open.charged);
        if used > left.count() {
            let message = format!("used is {used}, only {} of the item remain", left.count());
            return Err(errors::config(message, "give what was served since the last call".to_owned()));
        }
        Ok((open, left.minus(Packets::new(used))))
    }
}

fn reason_text(reason: DropReason) -> &'static str {
    match reason {
        DropReason::QueueFull => "the queue is full",
        DropReason::NotResumable => "the discipline serves items whole and takes no part back",
        DropReason::TooLarge => "the item is larger than the discipline can grant",
        DropReason::Unclassified => "its flow or class has no place in the configuration",
        _ => "the discipline dropped it",
    }
}

/// A message discipline over handles; see the module.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Queue {
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
        let (discipline, own) = own::apart(spec, || message_discipline(&parsed));
        let discipline = discipline.map_err(|error| errors::spec(&error))?;
        let state = State { discipline, open: None, clock: Instant::ZERO, drops: Vec::new() };
        let queue = Self { state: Mutex::new(state), own, inside: Mutex::new(None) };
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
    ) -> PyResult<(bool, Vec<(u64, &'static str)>)> {
        if size == 0 || size > MAX_SIZE {
            let message = format!("size is {size}, must be from 1 to {MAX_SIZE}");
            return Err(errors::config(
                message,
                "count it in a unit in which it is a whole number".to_owned(),
            ));
        }
        let job = Job { handle, flow: FlowId(flow), class: ClassId(class_), remaining: Packets::new(size) };
        let mut guard = self.lock(py)?;
        let state = &mut *guard;
        let now = state.at(now);
        let outcome = state.discipline.enqueue(now, job, &mut state.drops);
        let preempts = outcome == weir_core::discipline::Enqueued::Preempts;
        self.checked(py, Ok((preempts, state.dropped())))
    }

    /// The next handle, served whole at this instant; `None` if nothing can be served now.
    fn dequeue(&self, py: Python<'_>, now: u64) -> PyResult<Option<u64>> {
        let mut state = self.lock(py)?;
        let now = state.at(now);
        let Some((job, _)) = state.grant(now)? else { return self.checked(py, Ok(None)) };
        state.discipline.finish(now, &job, job.remaining);
        self.checked(py, Ok(Some(job.handle)))
    }

    /// Opens a grant: the handle, its quantum and what remains of it.
    fn take(&self, py: Python<'_>, now: u64) -> PyResult<Option<(u64, u64, u64)>> {
        let mut state = self.lock(py)?;
        let now = state.at(now);
        let Some((job, quantum)) = state.grant(now)? else { return self.checked(py, Ok(None)) };
        state.open = Some(OpenGrant { job, charged: Packets::ZERO });
        self.checked(py, Ok(Some((job.handle, quantum.count(), job.remaining.count()))))
    }

    /// Charges `used` more to the open grant, which goes on.
    fn charge(&self, py: Python<'_>, handle: u64, used: u64, now: u64) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let now = state.at(now);
        let (mut open, _) = state.after(handle, used)?;
        let used = Packets::new(used);
        state.discipline.charge(now, &open.job, used);
        open.charged = open.charged.plus(used);
        state.open = Some(open);
        self.checked(py, Ok(()))
    }

    /// Closes the open grant over an item of which something remains. Returns what was dropped.
    fn requeue(
        &self,
        py: Python<'_>,
        handle: u64,
        used: u64,
        now: u64,
    ) -> PyResult<Vec<(u64, &'static str)>> {
        let mut guard = self.lock(py)?;
        let state = &mut *guard;
        let now = state.at(now);
        let (open, left) = state.after(handle, used)?;
        if left == Packets::ZERO {
            let message = format!("used is {used}, nothing of the item remains");
            return Err(errors::config(message, "finish the grant instead".to_owned()));
        }
        state.open = None;
        let job = Job { remaining: left, ..open.job };
        state.discipline.requeue(now, job, Packets::new(used), &mut state.drops);
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
        state.discipline.finish(now, &open.job, Packets::new(used));
        self.checked(py, Ok(()))
    }

    /// Items waiting and their sizes together; the item of an open grant is not counted.
    fn backlog(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let backlog = self.lock(py)?.discipline.backlog();
        Ok((backlog.items, backlog.cost.count()))
    }
}
