//! One queue for all cores, in order of arrival: a request begins on the first core that is free of those before it.
//!
//! Of several idle cores it is the one with the lowest number, and so it is of several that become free at one instant.

use super::ring::Ring;
use super::scan::{earliest, first_by};
use super::{Course, Request, Teller, tell};
use crate::record::Sink;
use weir_core::discipline::DropReason;

/// Cores that share a queue.
pub(super) struct Central {
    /// When each is free.
    free: Vec<u64>,
    /// Since when each is busy without a gap.
    since: Vec<u64>,
    /// When those that wait begin.
    begins: Ring,
    /// How many may wait.
    room: u32,
}

impl Central {
    pub(super) fn new(servers: u32, queue: Option<u32>) -> Self {
        let servers = servers as usize;
        let room = queue.map_or(u32::MAX, |queue| queue.saturating_mul(servers as u32));
        Self { free: vec![0; servers], since: vec![0; servers], begins: Ring::new(), room }
    }
}

impl Course for Central {
    #[inline(always)]
    fn request<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        teller: &mut Teller<'_, S>,
    ) -> Result<(), DropReason> {
        let place = first_by(&self.free, now).unwrap_or_else(|| earliest(&self.free));
        let free = self.free[place];
        let began = free.max(now);
        if began > now {
            if self.begins.later_than(now) >= self.room {
                return Err(DropReason::QueueFull);
            }
            self.begins.push(began);
        }
        if began > free {
            tell(place as u32, self.since[place], free, teller.sink);
            self.since[place] = began;
        }
        self.free[place] = began + request.service;
        teller.done(request, place as u32, began);
        Ok(())
    }

    fn close<S: Sink>(&mut self, teller: &mut Teller<'_, S>) {
        for (place, (&since, &free)) in self.since.iter().zip(&self.free).enumerate() {
            tell(place as u32, since, free, teller.sink);
        }
    }

    fn moved(&self) -> u64 {
        0
    }
}
