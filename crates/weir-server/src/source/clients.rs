//! Closed-loop clients: each thinks, submits one request, and waits for its end.
//!
//! The first request comes after a first think time. One that is dropped is over where it is dropped, and its client does
//! not come back in the same instant. Each client draws its think times, classes, services and estimates from a stream of
//! its own, so that they depend on nobody else. Work: O(log clients) a request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::services::Sampler;
use super::{Mix, Services};
use crate::model::{Closed, ServerScenario};
use weir_core::units::{Instant, Nanos};
use weir_lab::error::RunError;
use weir_lab::stream::{Purpose, Stream, StreamKey};

/// The clients of one replication.
#[derive(Debug)]
pub(crate) struct Clients {
    /// Who submits when, but for those who wait.
    due: BinaryHeap<Reverse<(Instant, u32)>>,
    streams: Vec<Stream>,
    think: Sampler,
    mix: Mix,
    services: Services,
    /// Nobody submits from here on.
    until: Instant,
}

/// A request of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Submitted {
    pub(crate) class: u16,
    pub(crate) client: u32,
    pub(crate) service: Nanos,
}

impl Clients {
    /// # Errors
    /// No class has a share.
    pub(crate) fn new(
        scenario: &ServerScenario,
        closed: &Closed,
        replication: u32,
    ) -> Result<Self, RunError> {
        let key = |index| StreamKey { seed: scenario.seed, replication, purpose: Purpose::Thinking, index };
        let mut clients = Self {
            due: BinaryHeap::with_capacity(closed.clients as usize),
            streams: (0..closed.clients).map(|client| Stream::new(key(client))).collect(),
            think: Sampler::new(&closed.think),
            mix: Mix::new(&scenario.classes)?,
            services: Services::new(&scenario.classes),
            until: Instant::ZERO + scenario.stop.duration,
        };
        (0..closed.clients).for_each(|client| clients.think(client, Instant::ZERO));
        Ok(clients)
    }

    /// When the next request is submitted.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.due.peek().map(|&Reverse((at, _))| at)
    }

    /// The next request; the stream of its client gives what is drawn of it besides.
    #[inline]
    pub(crate) fn submit(&mut self) -> Option<(Submitted, &mut Stream)> {
        let Reverse((_, client)) = self.due.pop()?;
        let stream = &mut self.streams[client as usize];
        let class = self.mix.class(stream.next_u64());
        let service = Nanos::new(self.services.draw(class, stream));
        Some((Submitted { class, client, service }, stream))
    }

    /// What a client draws from.
    #[inline]
    pub(crate) fn stream(&mut self, client: u32) -> &mut Stream {
        &mut self.streams[client as usize]
    }

    /// A client's request has ended at `now`; or, `dropped`, has left unserved.
    #[inline]
    pub(crate) fn over(&mut self, client: u32, now: Instant, dropped: bool) {
        self.think(client, now + Nanos::new(u64::from(dropped)));
    }

    /// A client submits its next request after a think time from `from` on.
    fn think(&mut self, client: u32, from: Instant) {
        let at = from.after(Nanos::new(self.think.draw(&mut self.streams[client as usize])));
        if at < self.until {
            self.due.push(Reverse((at, client)));
        }
    }
}
