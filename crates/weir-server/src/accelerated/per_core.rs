//! A queue at each core, in order of arrival: a request begins where the one before it on its core has ended.

use super::at_once::{Begins, Sends};
use super::ring::Rings;
use super::scan::{Numbers, first_by};
use super::{Leaves, Request};
use weir_core::discipline::DropReason;
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::pool::{Apart, Dispatcher, ReceiverId, Sees, ServerId, Servers};
use weir_core::units::{Instant, Nanos};

/// The cores, as they are at a moment.
struct View<'c, N> {
    count: u32,
    /// When the requests at each core end.
    ends: &'c Rings<N>,
    /// When each is free.
    free: &'c N,
    now: u64,
}

impl<N: Numbers> Servers for View<'_, N> {
    #[inline]
    fn count(&self) -> u32 {
        self.count
    }
    #[inline]
    fn length(&self, server: ServerId) -> u32 {
        self.ends.later_than(server.0 as usize, self.now) as u32
    }
    #[inline]
    fn work(&self, server: ServerId) -> Nanos {
        Nanos::new(self.free.as_ref()[server.0 as usize].get().saturating_sub(self.now))
    }
    /// An idle core has none; lengths matter only where there is no idle core.
    #[inline(always)]
    fn shortest(&self) -> ServerId {
        let idle = first_by(self.free.as_ref(), self.now);
        ServerId(idle.unwrap_or_else(|| self.ends.shortest(self.now)) as u32)
    }
}

/// A dispatcher over first-in first-out queues.
pub(super) struct PerCore<D, N> {
    dispatcher: D,
    servers: u32,
    /// When the requests at each core end, where anything depends on how many there are.
    ends: Rings<N>,
    counts: bool,
    /// When each is free.
    free: N,
    /// How many requests may be at a core.
    room: u64,
}

impl<D: Dispatcher<Message<Nanos>>, N: Numbers> PerCore<D, N> {
    pub(super) fn new(dispatcher: D, servers: u32, queue: Option<u32>) -> Self {
        let room = queue.map_or(u64::MAX, |queue| u64::from(queue) + 1);
        let counts = queue.is_some() || dispatcher.sees() != Sees::Nothing;
        let (ends, free) = (Rings::new(servers), N::new(servers, 0, u64::MAX));
        Self { dispatcher, servers, ends, counts, free, room }
    }

    /// Until this time there is one more at a core.
    #[inline(always)]
    fn holds(&mut self, core: usize, until: u64, now: u64) {
        if self.counts {
            self.ends.push(core, until, now);
        }
    }

    /// One of several sub-requests comes: the core that it joins, which none of the others has, and when its turn comes there.
    ///
    /// # Errors
    /// It is dropped.
    #[inline(always)]
    pub(super) fn joins(
        &mut self,
        now: u64,
        request: &Request,
        apart: &mut Apart,
    ) -> Result<(usize, u64), DropReason> {
        let view = View { count: self.servers, ends: &self.ends, free: &self.free, now };
        let (instant, item) = (Instant::new(now), item(request));
        let sent = self.dispatcher.dispatch_apart(instant, &item, ReceiverId(0), &view, apart)?;
        apart.add(sent);
        let place = sent.0 as usize;
        if self.counts && self.ends.is_full(place, self.room, now) {
            return Err(DropReason::QueueFull);
        }
        Ok((place, now.max(self.free.as_ref()[place].get())))
    }

    /// A core serves what has joined it, until this time.
    #[inline(always)]
    pub(super) fn serves(&mut self, core: usize, end: u64, now: u64) {
        self.free.as_ref()[core].set(end);
        self.holds(core, end, now);
    }

    /// What has joined a core stands in its queue until its turn comes, and is not served.
    pub(super) fn stands(&mut self, core: usize, turn: u64, now: u64) {
        if turn > now {
            self.holds(core, turn, now);
        }
    }

    pub(super) fn redirected(&self) -> u64 {
        self.dispatcher.redirected()
    }
}

/// What dispatchers see of a request.
#[inline(always)]
fn item(request: &Request) -> Message<Nanos> {
    Message {
        id: 0,
        flow: FlowId(request.flow),
        class: ClassId(request.class),
        remaining: Nanos::new(request.service),
    }
}

impl<D: Dispatcher<Message<Nanos>>, N: Numbers> Sends for PerCore<D, N> {
    #[inline(always)]
    fn request(&mut self, now: u64, request: &Request) -> Result<Begins, Leaves> {
        let item = item(request);
        let view = View { count: self.servers, ends: &self.ends, free: &self.free, now };
        let sent = self.dispatcher.dispatch(Instant::new(now), &item, ReceiverId(0), &view);
        let ServerId(server) = sent?;
        let place = server as usize;
        if self.ends.is_full(place, self.room, now) {
            return Err(DropReason::QueueFull.into());
        }
        let free = &self.free.as_ref()[place];
        let at = now.max(free.get());
        if at > request.leaves {
            // It stands in the queue until its turn comes.
            self.holds(place, at, now);
            return Err(Leaves::Abandons);
        }
        let ends = at + request.service;
        free.set(ends);
        self.holds(place, ends, now);
        Ok(Begins { server, at })
    }

    fn moved(&self) -> u64 {
        self.redirected()
    }
}
