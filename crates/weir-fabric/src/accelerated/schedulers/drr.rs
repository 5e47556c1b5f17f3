//! Deficit round robin, as `weir_core::packet::drr` decides.

use super::{Channels, Scheduler, Sight, count};
use crate::time::{CreditUnit, Ticks};
use weir_core::discipline::Effort;
use weir_core::info::Arguments;
use weir_core::packet::drr::{Config, INFO, Stall};
use weir_core::packet::limits::Limits;
use weir_core::spec::Spec;
use weir_core::units::Bytes;

/// The largest quantum: sums of a few of them fit.
const MOST: u64 = 1 << 40;

/// Deficit round robin.
#[derive(Clone, Debug)]
pub(in crate::accelerated) struct Drr<const V: usize> {
    /// Of each channel, in bytes.
    quanta: [u64; V],
    stall: Stall,
    unit: CreditUnit,
}

/// A queue of up to 16 channels, four bits each, the first lowest.
#[derive(Clone, Copy, Debug, Default)]
struct Ring {
    channels: u64,
    count: u32,
}

impl Ring {
    #[inline(always)]
    fn join(&mut self, channel: usize) {
        self.channels |= (channel as u64) << (4 * self.count);
        self.count += 1;
    }

    #[inline(always)]
    fn first(self) -> Option<usize> {
        (self.count > 0).then_some((self.channels & 15) as usize)
    }

    #[inline(always)]
    fn leave(&mut self) {
        self.channels >>= 4;
        self.count -= 1;
    }

    #[inline(always)]
    fn advance(&mut self) {
        let first = (self.channels & 15) as usize;
        self.leave();
        self.join(first);
    }

    fn all(self) -> impl Iterator<Item = usize> {
        (0..self.count).map(move |turn| (self.channels >> (4 * turn) & 15) as usize)
    }
}

/// Of one link.
#[derive(Clone, Copy, Debug)]
pub(in crate::accelerated) struct State<const V: usize> {
    /// The channels that have packets; the one that is visited is the first.
    ring: Ring,
    /// Those that have left the ring stalled.
    stalled: Ring,
    /// Those in either.
    present: Channels,
    /// Whether the channel that is visited has received its quantum.
    visiting: bool,
    deficits: [u64; V],
}

impl<const V: usize> Drr<V> {
    pub(super) fn new(spec: &Spec, channels: usize, unit: CreditUnit) -> Option<Self> {
        let config = Config::<Bytes>::from_spec(&Arguments::new(spec, &INFO).ok()?).ok()?;
        let weight = |channel: usize| config.flows.weights.get(channel).map_or(1, |weight| weight.get());
        let quanta = core::array::from_fn(|channel| config.quantum.get().saturating_mul(weight(channel)));
        let fits = config.flows.limits == Limits::NONE
            && config.flows.flows >= channels
            && quanta.iter().all(|&quantum| (1..=MOST).contains(&quantum));
        fits.then_some(Self { quanta, stall: config.stall, unit })
    }

    /// The stalled channels that are permitted now join the ring again.
    #[cold]
    #[inline(never)]
    fn rejoin(state: &mut State<V>, active: Channels) {
        let before = std::mem::take(&mut state.stalled);
        for channel in before.all() {
            if active >> channel & 1 == 1 {
                state.ring.join(channel);
            } else {
                state.stalled.join(channel);
            }
        }
    }

    /// Every channel of the ring was visited in vain, and some is short: gives at once all the rounds that would be
    /// in vain too.
    #[cold]
    #[inline(never)]
    fn skip_rounds(&self, state: &mut State<V>, sight: Sight<'_, V>) {
        let active = |&channel: &usize| sight.active >> channel & 1 == 1;
        let lacking = |channel: usize| {
            let cost = u64::from(self.unit.bytes(sight.heads[channel]));
            cost.saturating_sub(state.deficits[channel]).div_ceil(self.quanta[channel])
        };
        let rounds =
            state.ring.all().filter(active).map(lacking).min().map_or(0, |least| least.saturating_sub(1));
        for channel in state.ring.all().filter(active) {
            state.deficits[channel] += self.quanta[channel] * rounds;
        }
    }
}

impl<const V: usize> Scheduler<V> for Drr<V> {
    type State = State<V>;
    const ORDERED: bool = true;

    fn state(&self) -> State<V> {
        let (ring, stalled) = (Ring::default(), Ring::default());
        State { ring, stalled, present: 0, visiting: false, deficits: [0; V] }
    }

    #[inline(always)]
    fn idle(&self, state: &mut State<V>) {
        // All that is in the ring is empty, and leaves it.
        for channel in state.ring.all() {
            state.deficits[channel] = 0;
        }
        (state.ring, state.present, state.visiting) = (Ring::default(), 0, false);
    }

    #[inline(always)]
    fn enqueue(&self, state: &mut State<V>, channel: usize, _credits: u16, _first: bool, _now: Ticks) -> u64 {
        if state.present >> channel & 1 == 0 {
            state.present |= 1 << channel;
            state.ring.join(channel);
        }
        0
    }

    #[inline(always)]
    fn pick(&self, state: &mut State<V>, sight: Sight<'_, V>, effort: &mut Effort) -> Option<usize> {
        let (mut held, mut in_vain, mut visited) = (0, 0, 0);
        if state.stalled.count > 0 {
            Self::rejoin(state, sight.active);
        }
        while let Some(channel) = state.ring.first() {
            visited += 1;
            if sight.active >> channel & 1 == 0 {
                state.deficits[channel] = 0;
                state.visiting = false;
                if sight.waiting >> channel & 1 == 0 {
                    state.present &= !(1 << channel);
                    state.ring.leave();
                    continue;
                }
                if self.stall == Stall::Leave {
                    state.ring.leave();
                    state.stalled.join(channel);
                    continue;
                }
                state.ring.advance();
                held += 1;
            } else {
                if !state.visiting {
                    state.deficits[channel] += self.quanta[channel];
                    state.visiting = true;
                }
                let cost = u64::from(self.unit.bytes(sight.heads[channel]));
                if cost <= state.deficits[channel] {
                    state.deficits[channel] -= cost;
                    count(effort, visited, 1);
                    return Some(channel);
                }
                state.ring.advance();
                state.visiting = false;
                held = 0;
            }
            if held >= state.ring.count {
                return None;
            }
            in_vain += 1;
            if in_vain >= state.ring.count {
                self.skip_rounds(state, sight);
                in_vain = 0;
            }
        }
        None
    }
}
