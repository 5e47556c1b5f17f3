//! What the engines of the server tell of a run.
//!
//! Requests are told of in whatever order the engine comes to them: what is kept of them must not depend on it.

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

/// Is told what happens.
pub trait Sink {
    /// A request is done.
    fn done(&mut self, done: &Done);
    /// A request has left unserved; `arrived` is when it came.
    fn dropped(&mut self, class: u16, arrived: Instant, now: Instant, reason: DropReason);
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
    fn busy(&mut self, _server: u32, _from: Instant, _until: Instant, _overhead: Nanos) {}
    fn in_use(&mut self, _now: Instant, _servers: u32) {}
}
