//! First in, first out: the timeline's own order.
//!
//! A message completes at the tick that the lengths before it add up to; nothing is done per packet.

use super::tally::Probe;
use crate::timeline::Segment;

/// FIFO over the shared timeline.
#[derive(Clone, Debug)]
pub(super) struct Fifo {
    pub(super) strategy: usize,
    pub(super) count: Vec<u64>,
    pub(super) sum: Vec<u128>,
}

impl Fifo {
    pub(super) fn new(strategy: usize, classes: usize) -> Self {
        Self { strategy, count: vec![0; classes], sum: vec![0; classes] }
    }

    #[inline(always)]
    pub(super) fn play<P: Probe>(&mut self, segment: &Segment<'_>, probe: &mut P) {
        let finished = &segment.finished;
        for ((&class, &at), &last) in finished.class.iter().zip(finished.at).zip(finished.last_tick) {
            let class = usize::from(class);
            let latency = segment.accepted[(last - segment.first_tick) as usize] - at;
            self.count[class] += 1;
            self.sum[class] += u128::from(latency);
            probe.completed(self.strategy, class, latency);
        }
        if P::DECISIONS {
            self.report(segment, probe);
        }
    }

    /// Reports the packets of the segment, message by message.
    fn report<P: Probe>(&self, segment: &Segment<'_>, probe: &mut P) {
        let mut tick = segment.first_tick;
        let done = segment.finished.class.iter().copied().zip(segment.finished.last_tick.iter().copied());
        for (class, last) in done.chain(segment.finished.next) {
            let packets = (last + 1).min(segment.end_tick) - tick;
            probe.served(self.strategy, tick, usize::from(class), last + 1 - tick, packets);
            tick += packets;
        }
    }
}
