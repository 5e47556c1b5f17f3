//! First in, first out, as `weir_core::message::fifo` decides: whatever holds the first back holds back all.

use super::share::least;
use super::{Scheduler, Sight};
use crate::time::Ticks;
use weir_core::discipline::Effort;
use weir_core::spec::Spec;

/// First in, first out.
#[derive(Clone, Debug)]
pub(in crate::accelerated) struct Fifo;

/// Of one link.
#[derive(Clone, Copy, Debug)]
pub(in crate::accelerated) struct State<const V: usize> {
    /// Packets that have come.
    come: u64,
    /// The numbers of the heads among them.
    heads: [u64; V],
}

impl Fifo {
    pub(super) fn new(spec: &Spec) -> Option<Self> {
        spec.arguments.is_empty().then_some(Self)
    }
}

impl<const V: usize> Scheduler<V> for Fifo {
    type State = State<V>;
    const ORDERED: bool = true;
    const STAMPED: bool = true;

    fn state(&self) -> State<V> {
        State { come: 0, heads: [0; V] }
    }

    #[inline(always)]
    fn idle(&self, _state: &mut State<V>) {}

    #[inline(always)]
    fn enqueue(&self, state: &mut State<V>, channel: usize, _credits: u16, first: bool, _now: Ticks) -> u64 {
        state.come += 1;
        if first {
            state.heads[channel] = state.come;
        }
        state.come
    }

    #[inline(always)]
    fn pick(&self, state: &mut State<V>, sight: Sight<'_, V>, _effort: &mut Effort) -> Option<usize> {
        if sight.waiting == 0 {
            return None;
        }
        let first = least(&state.heads, sight.waiting);
        (sight.active >> first & 1 == 1).then_some(first)
    }

    #[inline(always)]
    fn taken(&self, state: &mut State<V>, channel: usize, next: Option<(u16, u64)>) {
        if let Some((_, number)) = next {
            state.heads[channel] = number;
        }
    }
}
