//! What the engines of the server tell of a run.
//!
//! Requests are told of in whatever order the engine comes to them: what is kept of them must not depend on it.

use std::ops::Range;

use weir_core::discipline::DropReason;
use weir_core::units::{Instant, Nanos};

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// When it arrived.
    pub arrived: Instant,
    /// When its service began first, overheads over.
    pub began: Instant,
    /// When it ended.
    pub ended: Instant,
    /// What it needed.
    pub service: Nanos,
    /// Its class.
    pub class: u16,
    /// Its flow.
    pub flow: u32,
    /// The core that served it last.
    pub server: u32,
    /// A later request of its flow ended before; always `false` where that is not measured.
    pub reordered: bool,
    /// It was served by another core than the request of its flow that began before; `false` where neither order is measured
    /// nor a cold cache costs anything.
    pub cold: bool,
}

/// Requests that are done, each in one piece on one core and without overhead; entry `i` of each array belongs to the same
/// request. Times are nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'b> {
    /// When they arrived.
    pub arrived: &'b [u64],
    /// When their service began.
    pub began: &'b [u64],
    /// What they needed.
    pub service: &'b [u64],
    /// Their classes.
    pub class: &'b [u16],
    /// Their flows.
    pub flow: &'b [u32],
    /// The cores that served them.
    pub server: &'b [u32],
}

impl Batch<'_> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.arrived.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arrived.is_empty()
    }

    /// Some of them.
    #[must_use]
    pub fn part(&self, places: Range<usize>) -> Self {
        Self {
            arrived: &self.arrived[places.clone()],
            began: &self.began[places.clone()],
            service: &self.service[places.clone()],
            class: &self.class[places.clone()],
            flow: &self.flow[places.clone()],
            server: &self.server[places],
        }
    }

    /// The requests, one by one.
    pub fn iter(&self) -> impl Iterator<Item = Done> + '_ {
        (0..self.len()).map(|place| Done {
            arrived: Instant::new(self.arrived[place]),
            began: Instant::new(self.began[place]),
            ended: Instant::new(self.began[place] + self.service[place]),
            service: Nanos::new(self.service[place]),
            class: self.class[place],
            flow: self.flow[place],
            server: self.server[place],
            reordered: false,
            cold: false,
        })
    }
}

/// Is told what happens.
pub trait Sink {
    /// A request is done.
    fn done(&mut self, done: &Done);
    /// Requests are done, and the cores were busy with them.
    fn all_done(&mut self, batch: Batch<'_>) {
        for done in batch.iter() {
            self.done(&done);
            self.busy(done.server, done.began, done.ended, Nanos::ZERO);
        }
    }
    /// A request has left unserved; `arrived` is when it came.
    fn dropped(&mut self, class: u16, arrived: Instant, now: Instant, reason: DropReason);
    /// A request has left at `now`, since its service did not begin in time; it would have needed `service`.
    fn abandoned(&mut self, class: u16, arrived: Instant, now: Instant, service: Nanos);
    /// A client tries again: an attempt arrives that is not the first of its request.
    fn retried(&mut self, class: u16, arrived: Instant, service: Nanos);
    /// A core was busy, of which `overhead` was no service of a request.
    fn busy(&mut self, server: u32, from: Instant, until: Instant, overhead: Nanos);
    /// From now on so many cores may be given new requests.
    fn in_use(&mut self, now: Instant, servers: u32);
}

/// Forgets everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forget;

impl Sink for Forget {
    fn done(&mut self, _done: &Done) {}
    fn dropped(&mut self, _class: u16, _arrived: Instant, _now: Instant, _reason: DropReason) {}
    fn abandoned(&mut self, _class: u16, _arrived: Instant, _now: Instant, _service: Nanos) {}
    fn retried(&mut self, _class: u16, _arrived: Instant, _service: Nanos) {}
    fn busy(&mut self, _server: u32, _from: Instant, _until: Instant, _overhead: Nanos) {}
    fn in_use(&mut self, _now: Instant, _servers: u32) {}
}
