//! Self-clocked fair queueing, as `weir_core::packet::scfq` decides.

use super::share::{Share, least};
use super::{Channels, Scheduler, Sight};
use crate::time::{CreditUnit, Ticks};
use weir_core::discipline::Effort;
use weir_core::info::Arguments;
use weir_core::packet::flows::Config;
use weir_core::packet::limits::Limits;
use weir_core::packet::scfq::INFO;
use weir_core::spec::Spec;

/// Self-clocked fair queueing.
#[derive(Clone, Debug)]
pub(in crate::accelerated) struct Scfq<const V: usize> {
    shares: [Share; V],
}

/// Of one link.
#[derive(Clone, Copy, Debug)]
pub(in crate::accelerated) struct State<const V: usize> {
    /// Virtual time.
    now: u64,
    /// The tags of the heads; of the last packet where none waits.
    finish: [u64; V],
}

impl<const V: usize> Scfq<V> {
    pub(super) fn new(spec: &Spec, channels: usize, unit: CreditUnit) -> Option<Self> {
        let config = Config::from_spec(&Arguments::new(spec, &INFO).ok()?).ok()?;
        let fits = config.limits == Limits::NONE && config.flows >= channels;
        fits.then(|| Self { shares: Share::all(&config, unit) })
    }
}

impl<const V: usize> Scheduler<V> for Scfq<V> {
    type State = State<V>;
    const ORDERED: bool = false;

    fn state(&self) -> State<V> {
        State { now: 0, finish: [0; V] }
    }

    #[inline(always)]
    fn idle(&self, _state: &mut State<V>) {}

    #[inline(always)]
    fn enqueue(&self, state: &mut State<V>, channel: usize, credits: u16, first: bool, _now: Ticks) -> u64 {
        if first {
            let finish = &mut state.finish[channel];
            *finish = (*finish).max(state.now) + self.shares[channel].service(credits);
        }
        0
    }

    #[inline(always)]
    fn pick(&self, state: &mut State<V>, sight: Sight<'_, V>, _effort: &mut Effort) -> Option<usize> {
        let (mut left, mut held): (Channels, Channels) = (sight.waiting, 0);
        let mut picked = None;
        while left != 0 {
            let channel = least(&state.finish, left);
            if sight.active >> channel & 1 == 1 {
                state.now = state.now.max(state.finish[channel]);
                picked = Some(channel);
                break;
            }
            left &= !(1 << channel);
            held |= 1 << channel;
        }
        // Who was held back is ordered no earlier than if its packets came now.
        while held != 0 {
            let channel = held.trailing_zeros() as usize;
            held &= held - 1;
            let anew = state.now + self.shares[channel].service(sight.heads[channel]);
            state.finish[channel] = state.finish[channel].max(anew);
        }
        picked
    }

    #[inline(always)]
    fn taken(&self, state: &mut State<V>, channel: usize, next: Option<(u16, u64)>) {
        if let Some((credits, _)) = next {
            state.finish[channel] += self.shares[channel].service(credits);
        }
    }
}
