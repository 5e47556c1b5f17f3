//! What is behind the lock of a queue: the discipline, what waits in front of it, what it holds though it was removed.

use std::collections::HashMap;

use pyo3::prelude::*;
use weir_core::discipline::{Backlog, Discipline, DropReason, Open};
use weir_core::info::{Info, Kind};
use weir_core::item::{ClassId, FlowId, Item};
use weir_core::registry::{message_discipline, named, packet_discipline};
use weir_core::spec::{Spec, SpecError};
use weir_core::units::{Bytes, Cost, Instant};

use crate::errors;

/// The largest size of one item: 2^40 units.
const MAX_SIZE: u64 = 1 << 40;

/// What the discipline orders: a handle with what is still to be served of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) handle: u64,
    pub(super) flow: FlowId,
    pub(super) class: ClassId,
    pub(super) remaining: Bytes,
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
pub(super) struct OpenGrant {
    /// As it was granted.
    pub(super) job: Job,
    pub(super) charged: Bytes,
    /// Whether the discipline knows of it; what waited in front it does not.
    pub(super) known: bool,
}

/// What a discipline dropped: handles, with the reasons in words.
pub(super) type Dropped = Vec<(u64, &'static str)>;

/// A discipline, boxed.
pub(super) type Ordered = Box<dyn Discipline<Job> + Send>;

pub(super) struct State {
    pub(super) discipline: Ordered,
    /// What goes before all that the discipline has; the last is the next.
    pub(super) front: Vec<Job>,
    /// Where the discipline cannot forget an item at once: what remains of each that it holds.
    pub(super) held: Option<HashMap<u64, Bytes>>,
    /// Those of `held` that were removed.
    pub(super) removed: HashMap<u64, Bytes>,
    pub(super) open: Option<OpenGrant>,
    pub(super) clock: Instant,
    pub(super) drops: Vec<(Job, DropReason)>,
}

impl State {
    /// Nothing waits yet.
    pub(super) fn new(mut discipline: Ordered) -> Self {
        let held = if discipline.retain(&mut |_| true) { None } else { Some(HashMap::new()) };
        Self {
            discipline,
            front: Vec::new(),
            held,
            removed: HashMap::new(),
            open: None,
            clock: Instant::ZERO,
            drops: Vec::new(),
        }
    }

    /// The later of `now` and the latest moment seen: the contract's clock never goes back.
    pub(super) fn at(&mut self, now: u64) -> Instant {
        self.clock = self.clock.max(Instant::new(now));
        self.clock
    }

    /// The handles dropped by the last call.
    pub(super) fn dropped(&mut self) -> Dropped {
        let mut drops = core::mem::take(&mut self.drops);
        let told = drops.drain(..).filter(|(job, _)| !self.forget(job.handle));
        let told = told.map(|(job, reason)| (job.handle, reason_text(reason))).collect();
        self.drops = drops;
        told
    }

    /// The handles dropped by the last call; if there are any, what it granted, and the discipline thinks served, waits in
    /// front.
    pub(super) fn dropped_instead(&mut self, granted: Option<OpenGrant>) -> Option<Dropped> {
        if self.drops.is_empty() {
            return None;
        }
        let dropped = Some(self.dropped()).filter(|dropped| !dropped.is_empty())?;
        self.front.extend(granted.map(|open| open.job));
        Some(dropped)
    }

    /// Notes that the discipline has an item no longer; whether that was removed before.
    pub(super) fn forget(&mut self, handle: u64) -> bool {
        if let Some(held) = &mut self.held {
            held.remove(&handle);
        }
        !self.removed.is_empty() && self.removed.remove(&handle).is_some()
    }

    /// Notes that the discipline has an item.
    pub(super) fn hold(&mut self, job: &Job) {
        if let Some(held) = &mut self.held {
            held.insert(job.handle, job.remaining);
        }
    }

    /// Who is served next, for how much at most; it is as granted.
    pub(super) fn grant(&mut self, now: Instant) -> PyResult<Option<(OpenGrant, Bytes)>> {
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
    pub(super) fn remove(&mut self, handle: u64) -> bool {
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

    /// The first handles, at most `most` of them, in the order in which they would be served from now on; `None`
    /// where the discipline cannot be copied. The open grant counts as finished.
    pub(super) fn order(&self, mut now: Instant, most: usize) -> Option<Vec<u64>> {
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
    pub(super) fn backlog(&self) -> Backlog<Bytes> {
        let mut backlog = self.discipline.backlog();
        self.front.iter().for_each(|job| backlog.add(job.remaining));
        self.removed.values().for_each(|left| backlog.remove(*left));
        backlog
    }

    /// The open grant, if it belongs to `handle`.
    pub(super) fn opened(&self, handle: u64) -> PyResult<OpenGrant> {
        let closed = || errors::grant("the grant is closed already", "use the one that `take` returned last");
        self.open.filter(|open| open.job.handle == handle).ok_or_else(closed)
    }

    /// The open grant with what remains of its item once `used` more is served.
    pub(super) fn after(&self, handle: u64, used: u64) -> PyResult<(OpenGrant, Bytes)> {
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
pub(super) fn discipline(spec: &Spec) -> Result<Ordered, SpecError> {
    let of_packets = |info: &&Info| matches!(info.kind, Kind::Packet | Kind::Wrapper);
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
pub(super) fn job(handle: u64, size: u64, flow: u32, class: u16) -> PyResult<Job> {
    if size == 0 || size > MAX_SIZE {
        let message = format!("size is {size}, must be from 1 to {MAX_SIZE}");
        return Err(errors::config(message, "count it in a unit in which it is a whole number".to_owned()));
    }
    Ok(Job { handle, flow: FlowId(flow), class: ClassId(class), remaining: Bytes::new(size) })
}
