//! One queue for all cores, in order of arrival: a request begins on the first core that is free of those before it.
//!
//! A request that leaves before its turn comes stands in the queue until then, as under the engine with events.
//!
//! Of several idle cores it is the one with the lowest number, and so it is of several that become free at one instant.

use super::at_once::{Begins, Sends};
use super::ring::Rings;
use super::scan::{Numbers, earliest, first_by};
use super::{Leaves, Request};
use weir_core::discipline::DropReason;

/// Cores that share a queue.
pub(super) struct Central<N> {
    /// When each is free.
    free: N,
    /// When those that wait begin: one ring.
    begins: Rings<Vec<std::cell::Cell<u64>>>,
    /// How many may wait.
    room: u64,
}

impl<N: Numbers> Central<N> {
    pub(super) fn new(servers: u32, queue: Option<u32>) -> Self {
        let room = queue.map_or(u64::MAX, |queue| u64::from(queue) * u64::from(servers));
        Self { free: N::new(servers, 0, u64::MAX), begins: Rings::new(1), room }
    }
}

impl<N: Numbers> Sends for Central<N> {
    #[inline(always)]
    fn request(&mut self, now: u64, request: &Request) -> Result<Begins, Leaves> {
        let cores = self.free.as_ref();
        let place = first_by(cores, now).unwrap_or_else(|| earliest(cores));
        let free = &cores[place];
        let at = free.get().max(now);
        if at > now {
            if self.begins.is_full(0, self.room, now) {
                return Err(DropReason::QueueFull.into());
            }
            self.begins.push(0, at, now);
        }
        if at > request.leaves {
            return Err(Leaves::Abandons);
        }
        free.set(at + request.service);
        Ok(Begins { server: place as u32, at })
    }
}
