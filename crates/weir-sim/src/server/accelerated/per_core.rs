//! A queue at each core, in order of arrival: a request begins where the one before it on its core has ended.

use weir_core::discipline::DropReason;
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::pool::{Dispatcher, ReceiverId, ServerId, Servers};
use weir_core::units::{Instant, Nanos};

use super::ring::Ring;
use super::{Course, Request};
use crate::server::record::Sink;

/// A core with its queue.
#[derive(Debug)]
struct Core {
    /// When the requests that are there end.
    ends: Ring,
    /// When it is free.
    free: u64,
    /// Since when it is busy without a gap, up to `free`.
    since: u64,
}

/// The cores, as they are at a moment.
struct View<'c> {
    cores: &'c [Core],
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
        Nanos::new(self.cores[server.0 as usize].free.saturating_sub(self.now))
    }
}

/// A dispatcher over first-in first-out queues.
pub(super) struct PerCore<D> {
    dispatcher: D,
    cores: Vec<Core>,
    /// How many requests may be at a core.
    room: u32,
}

impl<D> PerCore<D> {
    pub(super) fn new(dispatcher: D, servers: u32, queue: Option<u32>) -> Self {
        let core = |_| Core { ends: Ring::new(), free: 0, since: 0 };
        let room = queue.map_or(u32::MAX, |queue| queue.saturating_add(1));
        Self { dispatcher, cores: (0..servers).map(core).collect(), room }
    }
}

impl<D: Dispatcher<Message<Nanos>>> Course for PerCore<D> {
    #[inline]
    fn request<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        sink: &mut S,
    ) -> Result<(u32, u64), DropReason> {
        let item = Message {
            id: 0,
            flow: FlowId(request.flow),
            class: ClassId(request.class),
            remaining: Nanos::new(request.service),
        };
        let view = View { cores: &self.cores, now };
        let sent = self.dispatcher.dispatch(Instant::new(now), &item, ReceiverId(0), &view);
        let ServerId(server) = sent?;
        let core = &mut self.cores[server as usize];
        if core.ends.later_than(now) >= self.room {
            return Err(DropReason::QueueFull);
        }
        let began = core.free.max(now);
        if began > core.free {
            tell(server, core, sink);
            core.since = began;
        }
        core.free = began + request.service;
        core.ends.push(core.free);
        Ok((server, began))
    }

    fn close<S: Sink>(&mut self, sink: &mut S) {
        for (server, core) in self.cores.iter().enumerate() {
            tell(server as u32, core, sink);
        }
    }

    fn moved(&self) -> u64 {
        self.dispatcher.redirected()
    }
}

/// Tells how long a core was busy without a gap.
#[inline]
fn tell<S: Sink>(server: u32, core: &Core, sink: &mut S) {
    if core.free > core.since {
        sink.busy(server, core.since, core.free, 0);
    }
}
