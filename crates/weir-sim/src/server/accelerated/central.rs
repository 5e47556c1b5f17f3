//! One queue for all cores, in order of arrival: a request begins on the first core that is free of those before it.
//!
//! Of several idle cores it is the one with the lowest number, and so it is of several that become free at one instant.

use weir_core::discipline::DropReason;

use super::ring::Ring;
use super::{Course, Request};
use crate::server::record::Sink;

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

/// The place of the first core that is idle at `now`, else of the one that is free first.
#[inline]
fn first_free(free: &[u64], now: u64) -> usize {
    if let Some(idle) = free.iter().position(|&at| at <= now) {
        return idle;
    }
    let mut first = 0;
    for place in 1..free.len() {
        if free[place] < free[first] {
            first = place;
        }
    }
    first
}

impl Course for Central {
    #[inline]
    fn request<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        sink: &mut S,
    ) -> Result<(u32, u64), DropReason> {
        let place = first_free(&self.free, now);
        let free = self.free[place];
        let began = free.max(now);
        if began > now {
            if self.begins.later_than(now) >= self.room {
                return Err(DropReason::QueueFull);
            }
            self.begins.push(began);
        }
        if began > free {
            if free > self.since[place] {
                sink.busy(place as u32, self.since[place], free, 0);
            }
            self.since[place] = began;
        }
        self.free[place] = began + request.service;
        Ok((place as u32, began))
    }

    fn close<S: Sink>(&mut self, sink: &mut S) {
        for (place, (&since, &free)) in self.since.iter().zip(&self.free).enumerate() {
            if free > since {
                sink.busy(place as u32, since, free, 0);
            }
        }
    }

    fn moved(&self) -> u64 {
        0
    }
}
