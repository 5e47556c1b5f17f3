//! What is known of each flow: the core that served it last, and how far the requests that have ended go.

/// No core.
const NONE: u32 = u32::MAX;

/// All flows.
#[derive(Debug)]
pub(super) struct Flows {
    /// Empty where nobody wants to know.
    core: Vec<u32>,
    /// The largest number of a request that has ended; empty where order is not measured.
    ended: Vec<u64>,
}

impl Flows {
    /// `order` where order is measured, `cores` where it is of interest who served a flow.
    pub(super) fn new(flows: u64, order: bool, cores: bool) -> Self {
        let flows = flows as usize;
        Self {
            core: vec![NONE; if cores { flows } else { 0 }],
            ended: vec![0; if order { flows } else { 0 }],
        }
    }

    /// A core serves a request of the flow; whether another did before.
    #[inline]
    pub(super) fn serve(&mut self, flow: u32, core: u32) -> bool {
        let Some(last) = self.core.get_mut(flow as usize) else { return false };
        let before = std::mem::replace(last, core);
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
