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

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use weir_core::discipline::{Backlog, Discipline, DropReason, Enqueued, Open};
use weir_core::info::Kind;
use weir_core::item::{ClassId, FlowId, Item};
use weir_core::registry::{message_discipline, named, packet_discipline};
use weir_core::spec::{Spec, SpecError};
use weir_core::units::{Bytes, Cost, Instant};

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
    remaining: Bytes,
}

impl Item for Job {
    type Cost = Bytes;
    #[inline]
    fn flow(&self) -> FlowId {
        self.flow
    }
    #[inline]
    fn class(&self) -> ClassId {
        self.class
    }
    #[inline]
    fn cost(&self) -> Bytes {
        self.remaining
    }
}

/// A grant between `take` and `requeue` or `finish`.
#[derive(Clone, Copy, Debug)]
struct OpenGrant {
    /// As it was granted.
    job: Job,
    charged: Bytes,
    /// Whether the discipline knows of it; what waited in front it does not.
    known: bool,
}

/// What a discipline dropped: handles, with the reasons in words.
type Dropped = Vec<(u64, &'static str)>;

/// A discipline, boxed.
type Ordered = Box<dyn Discipline<Job> + Send>;

struct State {
    discipline: Ordered,
    /// What goes before all that the discipline has; the last is the next.
    front: Vec<Job>,
    /// Where the discipline cannot forget an item at once: what remains of each that it holds.
    held: Option<HashMap<u64, Bytes>>,
    /// Those of `held` that were removed.
    removed: HashMap<u64, Bytes>,
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

    /// The handles dropped by the last call.
    fn dropped(&mut self) -> Dropped {
        let mut drops = core::mem::take(&mut self.drops);
        let told = drops.drain(..).filter(|(job, _)| !self.forget(job.handle));
        let told = told.map(|(job, reason)| (job.handle, reason_text(reason))).collect();
        self.drops = drops;
        told
    }

    /// The handles dropped by the last call; if there are any, what it granted, and the discipline thinks served, waits in
    /// front.
    fn dropped_instead(&mut self, granted: Option<OpenGrant>) -> Option<Dropped> {
        if self.drops.is_empty() {
            return None;
        }
        let dropped = Some(self.dropped()).filter(|dropped| !dropped.is_empty())?;
        self.front.extend(granted.map(|open| open.job));
        Some(dropped)
    }

    /// Notes that the discipline has an item no longer; whether that was removed before.
    fn forget(&mut self, handle: u64) -> bool {
        if let Some(held) = &mut self.held {
            held.remove(&handle);
        }
        !self.removed.is_empty() && self.removed.remove(&handle).is_some()
    }

    /// Notes that the discipline has an item.
    fn hold(&mut self, job: &Job) {
        if let Some(held) = &mut self.held {
            held.insert(job.handle, job.remaining);
        }
    }

    /// Who is served next, for how much at most; it is as granted.
    fn grant(&mut self, now: Instant) -> PyResult<Option<(OpenGrant, Bytes)>> {
        if self.open.is_some() {
            return Err(errors::grant("a grant is open", "requeue or finish it first"));
        }
        if let Some(job) = self.front.pop() {
            return Ok(Some((OpenGrant { job, charged: Bytes::ZERO, known: false }, job.remaining)));
        }
        while let Some(grant) = self.discipline.dequeue(now, &Open, &mut self.drops) {
            let job = grant.item;
            if !self.forget(job.handle) {
                return Ok(Some((OpenGrant { job, charged: Bytes::ZERO, known: true }, grant.quantum)));
            }
            self.discipline.finish(now, &job, Bytes::ZERO);
        }
        Ok(None)
    }

    /// Takes an item out; whether it waited here.
    fn remove(&mut self, handle: u64) -> bool {
        if let Some(place) = self.front.iter().position(|job| job.handle == handle) {
            self.front.remove(place);
            return true;
        }
        match &self.held {
            Some(held) => held.get(&handle).is_some_and(|left| self.removed.insert(handle, *left).is_none()),
            None => {
                let mut found = false;
                self.discipline.retain(&mut |job| {
                    found |= job.handle == handle;
                    job.handle != handle
                });
                found
            }
        }
    }

    /// The first handles, at most so many, in the order in which they would be served from now on; `None` where the
    /// discipline cannot be copied. The open grant counts as finished.
    fn order(&self, mut now: Instant, most: usize) -> Option<Vec<u64>> {
        let mut order: Vec<u64> = self.front.iter().rev().map(|job| job.handle).take(most).collect();
        if order.len() == most {
            return Some(order);
        }
        let (mut copy, mut drops) = (self.discipline.copied()?, Vec::new());
        if let Some(open) = self.open.filter(|open| open.known) {
            copy.finish(now, &open.job, open.job.remaining.minus(open.charged));
        }
        while order.len() < most {
            let Some(grant) = copy.dequeue(now, &Open, &mut drops) else {
                match copy.next_event() {
                    Some(next) if next > now && next < Instant::NEVER && !copy.backlog().is_empty() => {
                        now = next
                    }
                    _ => break,
                }
                continue;
            };
            let (job, removed) = (grant.item, self.removed.contains_key(&grant.item.handle));
            copy.finish(now, &job, if removed { Bytes::ZERO } else { job.remaining });
            if !removed {
                order.push(job.handle);
            }
        }
        Some(order)
    }

    /// What waits; what was removed does not.
    fn backlog(&self) -> Backlog<Bytes> {
        let mut backlog = self.discipline.backlog();
        self.front.iter().for_each(|job| backlog.add(job.remaining));
        self.removed.values().for_each(|left| backlog.remove(*left));
        backlog
    }

    /// The open grant, if it belongs to `handle`.
    fn opened(&self, handle: u64) -> PyResult<OpenGrant> {
        let closed = || errors::grant("the grant is closed already", "use the one that `take` returned last");
        self.open.filter(|open| open.job.handle == handle).ok_or_else(closed)
    }

    /// The open grant with what remains of its item once `used` more is served.
    fn after(&self, handle: u64, used: u64) -> PyResult<(OpenGrant, Bytes)> {
        let open = self.opened(handle)?;
        let left = open.job.remaining.minus(open.charged);
        if used > left.count() {
            let message = format!("used is {used}, only {} of the item remain", left.count());
            return Err(errors::config(message, "give what was served since the last call".to_owned()));
        }
        Ok((open, left.minus(Bytes::new(used))))
    }
}

fn reason_text(reason: DropReason) -> &'static str {
    match reason {
        DropReason::QueueFull => "the queue is full",
        DropReason::NotResumable => "the discipline serves items whole and takes no part back",
        DropReason::TooLarge => "the item is larger than the discipline can grant",
        DropReason::Congestion => "its queue has stood for too long",
        DropReason::Unclassified => "its flow or class has no place in the configuration",
        _ => "the discipline dropped it",
    }
}

/// The discipline that a spec names: of messages, and of packets where there is none of messages by that name.
fn discipline(spec: &Spec) -> Result<Ordered, SpecError> {
    let of_packets = |info: &&weir_core::info::Info| matches!(info.kind, Kind::Packet | Kind::Wrapper);
    match message_discipline(spec) {
        Err(SpecError::UnknownName { name, .. })
            if name == spec.name && named(&spec.name).any(|info| of_packets(&info)) =>
        {
            packet_discipline(spec)
        }
        other => other,
    }
}

/// A job of a size within its bounds.
fn job(handle: u64, size: u64, flow: u32, class: u16) -> PyResult<Job> {
    if size == 0 || size > MAX_SIZE {
        let message = format!("size is {size}, must be from 1 to {MAX_SIZE}");
        return Err(errors::config(message, "count it in a unit in which it is a whole number".to_owned()));
    }
    Ok(Job { handle, flow: FlowId(flow), class: ClassId(class), remaining: Bytes::new(size) })
}

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
        let mut discipline = discipline.map_err(|error| errors::spec(&error))?;
        let held = if discipline.retain(&mut |_| true) { None } else { Some(HashMap::new()) };
        let state = State {
            discipline,
            front: Vec::new(),
            held,
            removed: HashMap::new(),
            open: None,
            clock: Instant::ZERO,
            drops: Vec::new(),
        };
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

    /// The handles in the order in which they would be served if nothing else arrived, at most so many.
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
    fn take(&self, py: Python<'_>, now: u64) -> PyResult<(Option<(u64, u64, u64)>, Option<Dropped>)> {
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
