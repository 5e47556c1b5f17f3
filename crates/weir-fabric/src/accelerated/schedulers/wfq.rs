//! Weighted fair queueing, as `weir_core::packet::wfq` decides.

use super::share::{Share, least, weight};
use super::{Channels, Scheduler, Sight};
use crate::time::{CreditUnit, TICKS_PER_NANO, Ticks};
use weir_core::discipline::Effort;
use weir_core::info::Arguments;
use weir_core::packet::limits::Limits;
use weir_core::packet::wfq::{Config, INFO};
use weir_core::spec::Spec;

/// Units of virtual time, for one share, that a rate of 1 bit/s makes in a nanosecond: 2^20 / (8 x 10^9), reduced.
const UNITS: (u64, u64) = (1 << 8, 1_953_125);
/// The highest rate: what is served in the longest idle time fits 128 bits by far.
const FASTEST: u64 = 1 << 50;

/// Weighted fair queueing.
#[derive(Clone, Debug)]
pub(in crate::accelerated) struct Wfq<const V: usize> {
    shares: [Share; V],
    weights: [u64; V],
    /// What the fluid system serves in a nanosecond.
    speed: u128,
    /// What a unit of virtual time takes for one share.
    unit: u64,
}

/// Of one link: the fluid system, and the tags of packets.
#[derive(Clone, Copy, Debug)]
pub(in crate::accelerated) struct State<const V: usize> {
    /// Virtual time, as it was at `at`, in nanoseconds.
    now: u64,
    at: u64,
    /// What has been served by then and is not in `now`.
    rest: u128,
    /// The weights of the channels in the fluid system, and which these are.
    weights: u64,
    fluid: Channels,
    /// When the fluid system finishes the last packet of each channel, and the head.
    last: [u64; V],
    heads: [u64; V],
}

impl<const V: usize> Wfq<V> {
    pub(super) fn new(spec: &Spec, channels: usize, unit: CreditUnit) -> Option<Self> {
        let Config { rate, flows } = Config::from_spec(&Arguments::new(spec, &INFO).ok()?).ok()?;
        let common = greatest_common_divisor(rate.get(), UNITS.1);
        let fits = flows.limits == Limits::NONE && flows.flows >= channels && rate.get() <= FASTEST;
        fits.then(|| Self {
            shares: Share::all(&flows, unit),
            weights: core::array::from_fn(|channel| weight(&flows, channel)),
            speed: u128::from(rate.get() / common) * u128::from(UNITS.0),
            unit: UNITS.1 / common,
        })
    }

    /// The fluid system serves up to `now`; channels leave it.
    #[inline(always)]
    fn advance(&self, state: &mut State<V>, now: u64) {
        let passed = now.saturating_sub(state.at);
        state.at = state.at.max(now);
        state.rest += self.speed * u128::from(passed);
        while state.fluid != 0 {
            let first = least(&state.last, state.fluid);
            let each = self.unit * state.weights;
            let ahead = state.last[first].saturating_sub(state.now);
            let needed = u128::from(ahead) * u128::from(each);
            if needed > state.rest {
                let served = match u64::try_from(state.rest) {
                    Ok(rest) => rest / each,
                    Err(_) => (state.rest / u128::from(each)) as u64,
                };
                state.rest -= u128::from(served) * u128::from(each);
                state.now += served;
                return;
            }
            state.rest -= needed;
            state.now = state.now.max(state.last[first]);
            state.weights -= self.weights[first];
            state.fluid &= !(1 << first);
        }
        state.rest = 0;
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl<const V: usize> Scheduler<V> for Wfq<V> {
    type State = State<V>;
    const ORDERED: bool = true;
    const STAMPED: bool = true;

    fn state(&self) -> State<V> {
        State { now: 0, at: 0, rest: 0, weights: 0, fluid: 0, last: [0; V], heads: [0; V] }
    }

    #[inline(always)]
    fn idle(&self, _state: &mut State<V>) {}

    #[inline(always)]
    fn enqueue(&self, state: &mut State<V>, channel: usize, credits: u16, first: bool, now: Ticks) -> u64 {
        self.advance(state, now / TICKS_PER_NANO);
        let finish = state.last[channel].max(state.now) + self.shares[channel].service(credits);
        state.last[channel] = finish;
        if state.fluid >> channel & 1 == 0 {
            state.fluid |= 1 << channel;
            state.weights += self.weights[channel];
        }
        if first {
            state.heads[channel] = finish;
        }
        finish
    }

    #[inline(always)]
    fn pick(&self, state: &mut State<V>, sight: Sight<'_, V>, _effort: &mut Effort) -> Option<usize> {
        (sight.active != 0).then(|| least(&state.heads, sight.active))
    }

    #[inline(always)]
    fn taken(&self, state: &mut State<V>, channel: usize, next: Option<(u16, u64)>) {
        if let Some((_, finish)) = next {
            state.heads[channel] = finish;
        }
    }
}
