//! What is known of each flow: the core that served it last, and how far the requests that have ended go.

/// No core.
const NONE: u32 = u32::MAX;

/// All flows.
#[derive(Debug)]
pub(super) struct Flows {
    core: Vec<u32>,
    /// The largest number of a request that has ended; empty where order is not measured.
    ended: Vec<u64>,
}

impl Flows {
    pub(super) fn new(flows: u64, order: bool) -> Self {
        let flows = flows as usize;
        Self { core: vec![NONE; flows], ended: vec![0; if order { flows } else { 0 }] }
    }

    /// A core serves a request of the flow; whether another did before.
    #[inline]
    pub(super) fn serve(&mut self, flow: u32, core: u32) -> bool {
        let before = std::mem::replace(&mut self.core[flow as usize], core);
        before != core && before != NONE
    }

    /// A request of the flow ends; whether one with a larger number has ended before.
    #[inline]
    pub(super) fn end(&mut self, flow: u32, number: u64) -> bool {
        let Some(ended) = self.ended.get_mut(flow as usize) else { return false };
        let late = number < *ended;
        *ended = number.max(*ended);
        late
    }
}
