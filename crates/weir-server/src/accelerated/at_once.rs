//! Disciplines under which it is known when a request comes where and when it begins.

use super::{Course, Door, Leaves, Request, Teller};
use crate::record::{Batch, Sink};
use weir_workload::requests::Requests;

/// Where and when a request begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begins {
    /// The core.
    pub(super) server: u32,
    /// When, in nanoseconds.
    pub(super) at: u64,
}

/// A discipline that sends a request to a core at once.
pub(super) trait Sends {
    /// A request comes before the discipline at `now`.
    ///
    /// # Errors
    /// It leaves unserved.
    fn request(&mut self, now: u64, request: &Request) -> Result<Begins, Leaves>;
    /// Requests that were sent elsewhere than they were first to be.
    fn moved(&self) -> u64 {
        0
    }
}

/// The course of requests under such a discipline.
pub(super) struct AtOnce<D> {
    discipline: D,
    /// Of the requests of a block: when they begin, and where.
    began: Vec<u64>,
    server: Vec<u32>,
}

impl<D: Sends> AtOnce<D> {
    pub(super) fn new(discipline: D) -> Self {
        Self { discipline, began: Vec::new(), server: Vec::new() }
    }

    /// Reports the first requests of a block, which are done.
    fn tell<S: Sink>(&self, block: &Requests, done: usize, teller: &mut Teller<'_, S>) {
        let all = Batch {
            arrived: &block.at,
            began: &self.began,
            service: &block.service,
            class: &block.class,
            flow: &block.flow,
            server: &self.server,
        };
        teller.done(all.part(0..done));
    }
}

impl<D: Sends> Course for AtOnce<D> {
    #[inline(always)]
    fn take<S: Sink>(&mut self, door: &mut Door, block: &mut Requests, teller: &mut Teller<'_, S>) -> u64 {
        self.began.resize(block.len(), 0);
        self.server.resize(block.len(), 0);
        let (began, server) = (self.began.as_mut_slice(), self.server.as_mut_slice());
        let mut dropped = 0;
        for place in 0..block.len() {
            let request = Request::of(block, place);
            let now = door.passes(request.arrived);
            match self.discipline.request(now, &request) {
                Ok(begins) => {
                    let to = place - dropped;
                    if dropped > 0 {
                        move_up(block, &request, to);
                    }
                    (began[to], server[to]) = (begins.at, begins.server);
                }
                Err(reason) => {
                    teller.left(&request, now, reason);
                    dropped += 1;
                }
            }
        }
        self.tell(block, block.len() - dropped, teller);
        dropped as u64
    }

    fn moved(&self) -> u64 {
        self.discipline.moved()
    }
}

/// Writes a request to an earlier place of its block, where those who are served stand, so that they are told together.
#[inline(always)]
fn move_up(block: &mut Requests, request: &Request, to: usize) {
    let &Request { arrived, class, flow, service, .. } = request;
    (block.at[to], block.class[to], block.flow[to], block.service[to]) = (arrived, class, flow, service);
}
