//! A queue at each core, in order of arrival: a request begins where the one before it on its core has ended.

use super::ring::Ring;
use super::scan::first_by;
use super::{Course, Request, Teller, tell};
use crate::record::Sink;
use weir_core::discipline::DropReason;
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::pool::{Dispatcher, ReceiverId, ServerId, Servers};
use weir_core::units::{Instant, Nanos};

/// A core with its queue.
#[derive(Debug)]
struct Core {
    /// When the requests that are there end.
    ends: Ring,
    /// Since when it is busy without a gap, until it is free.
    since: u64,
}

/// The cores, as they are at a moment.
struct View<'c> {
    cores: &'c [Core],
    /// When each is free.
    free: &'c [u64],
    now: u64,
}

impl Servers for View<'_> {
    #[inline]
    fn count(&self) -> u32 {
        self.cores.len() as u32
    }
    #[inline]
    fn length(&self, server: ServerId) -> u32 {
        self.cores[server.0 as usize].ends.later_than(self.now)
    }
    #[inline]
    fn work(&self, server: ServerId) -> Nanos {
        Nanos::new(self.free[server.0 as usize].saturating_sub(self.now))
    }
    /// An idle core has none; lengths matter only where there is no idle core.
    #[inline(always)]
    fn shortest(&self) -> ServerId {
        let idle = first_by(self.free, self.now);
        let shortest = || {
            // Length and place in one word, so that they are compared without a branch.
            let length = |core: &Core| u64::from(core.ends.later_than(self.now)) << 32;
            let both = (0..).zip(self.cores).map(|(place, core): (u64, _)| length(core) | place);
            both.fold(u64::MAX, u64::min) as u32 as usize
        };
        ServerId(idle.unwrap_or_else(shortest) as u32)
    }
}

/// A dispatcher over first-in first-out queues.
pub(super) struct PerCore<D> {
    dispatcher: D,
    cores: Vec<Core>,
    /// When each is free.
    free: Vec<u64>,
    /// How many requests may be at a core.
    room: u32,
}

impl<D> PerCore<D> {
    pub(super) fn new(dispatcher: D, servers: u32, queue: Option<u32>) -> Self {
        let core = |_| Core { ends: Ring::new(), since: 0 };
        let room = queue.map_or(u32::MAX, |queue| queue.saturating_add(1));
        let free = vec![0; servers as usize];
        Self { dispatcher, cores: (0..servers).map(core).collect(), free, room }
    }
}

impl<D: Dispatcher<Message<Nanos>>> Course for PerCore<D> {
    #[inline(always)]
    fn request<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        teller: &mut Teller<'_, S>,
    ) -> Result<(), DropReason> {
        let item = Message {
            id: 0,
            flow: FlowId(request.flow),
            class: ClassId(request.class),
            remaining: Nanos::new(request.service),
        };
        let view = View { cores: &self.cores, free: &self.free, now };
        let sent = self.dispatcher.dispatch(Instant::new(now), &item, ReceiverId(0), &view);
        let ServerId(server) = sent?;
        let (core, free) = (&mut self.cores[server as usize], &mut self.free[server as usize]);
        if core.ends.later_than(now) >= self.room {
            return Err(DropReason::QueueFull);
        }
        let began = now.max(*free);
        if began > *free {
            tell(server, core.since, *free, teller.sink);
            core.since = began;
        }
        *free = began + request.service;
        core.ends.push(*free);
        teller.done(request, server, began);
        Ok(())
    }

    fn close<S: Sink>(&mut self, teller: &mut Teller<'_, S>) {
        for (server, (core, &free)) in self.cores.iter().zip(&self.free).enumerate() {
            tell(server as u32, core.since, free, teller.sink);
        }
    }

    fn moved(&self) -> u64 {
        self.dispatcher.redirected()
    }
}
