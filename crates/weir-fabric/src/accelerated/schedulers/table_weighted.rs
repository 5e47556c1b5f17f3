//! The weighted tables of InfiniBand, as `weir_core::packet::table_weighted` decides.

use super::wheel::{Found, Wheel};
use super::{Channels, Scheduler, Sight, count};
use crate::packet::table_credits;
use crate::time::{CreditUnit, Ticks};
use weir_core::discipline::Effort;
use weir_core::info::Arguments;
use weir_core::packet::limits::Limits;
use weir_core::packet::table_weighted::{Config, INFO};
use weir_core::spec::Spec;

/// The weighted tables.
#[derive(Clone, Debug)]
pub(in crate::accelerated) struct TableWeighted<const V: usize> {
    low: Wheel,
    high: Option<Wheel>,
    /// What the high table sends before the low one has its turn; `u64::MAX` if there is no limit.
    limit: u64,
    read_ahead: u64,
    unit: CreditUnit,
}

/// The position of a table, and what is left of its entry.
#[derive(Clone, Copy, Debug)]
struct Arbiter {
    at: u16,
    left: u32,
}

impl Arbiter {
    fn new(wheel: &Wheel) -> Self {
        Self { at: wheel.before_first(), left: 0 }
    }

    /// Goes on, or to the next active entry; its channel, and counts what it has examined.
    #[inline(always)]
    fn decide(&mut self, wheel: &Wheel, active: Channels, examined: &mut u64) -> Option<usize> {
        if self.left > 0 {
            let channel = wheel.channel(self.at);
            if active >> channel & 1 == 1 {
                *examined += 1;
                return Some(channel);
            }
        }
        self.left = 0;
        let Some(Found { at: next, examined: passed }) = wheel.next(self.at, active) else {
            *examined += wheel.len();
            return None;
        };
        *examined += passed;
        (self.at, self.left) = (next, wheel.weight(next));
        Some(wheel.channel(next))
    }
}

/// Of one link.
#[derive(Clone, Copy, Debug)]
pub(in crate::accelerated) struct State {
    low: Arbiter,
    high: Arbiter,
    /// What the high table may still send before the low one has its turn.
    left: u64,
}

/// Who sends next.
struct Decision {
    channel: usize,
    /// Whether the high table sends it.
    is_high: bool,
    /// Entries that have been examined.
    examined: u64,
}

impl<const V: usize> TableWeighted<V> {
    pub(super) fn new(spec: &Spec, channels: usize, unit: CreditUnit) -> Option<Self> {
        let config = Config::from_spec(&Arguments::new(spec, &INFO).ok()?).ok()?;
        (config.table.limits == Limits::NONE).then(|| Self {
            low: Wheel::new(&config.table.table, channels),
            high: config.high.as_ref().map(|high| Wheel::new(high, channels)),
            limit: config.high_credits(),
            read_ahead: config.table.read_ahead.into(),
            unit,
        })
    }

    #[inline(always)]
    fn decide(&self, state: &mut State, active: Channels) -> Option<Decision> {
        let mut examined = 0;
        let Some(high) = &self.high else {
            let channel = state.low.decide(&self.low, active, &mut examined)?;
            return Some(Decision { channel, is_high: false, examined });
        };
        let is_due = state.left == 0;
        if !is_due && let Some(channel) = state.high.decide(high, active, &mut examined) {
            return Some(Decision { channel, is_high: true, examined });
        }
        state.left = self.limit;
        if let Some(channel) = state.low.decide(&self.low, active, &mut examined) {
            return Some(Decision { channel, is_high: false, examined });
        }
        if !is_due {
            return None;
        }
        let channel = state.high.decide(high, active, &mut examined)?;
        Some(Decision { channel, is_high: true, examined })
    }
}

impl<const V: usize> Scheduler<V> for TableWeighted<V> {
    type State = State;
    const ORDERED: bool = false;

    fn state(&self) -> State {
        let high = self.high.as_ref().unwrap_or(&self.low);
        State { low: Arbiter::new(&self.low), high: Arbiter::new(high), left: self.limit }
    }

    #[inline(always)]
    fn idle(&self, state: &mut State) {
        (state.low.left, state.high.left) = (0, 0);
        state.left = self.limit;
    }

    #[inline(always)]
    fn enqueue(&self, _state: &mut State, _channel: usize, _credits: u16, _first: bool, _now: Ticks) -> u64 {
        0
    }

    #[inline(always)]
    fn pick(&self, state: &mut State, sight: Sight<'_, V>, effort: &mut Effort) -> Option<usize> {
        let Decision { channel, is_high, examined } = self.decide(state, sight.active)?;
        count(effort, examined, self.read_ahead);
        let size = table_credits(sight.heads[channel], self.unit);
        let arbiter = if is_high { &mut state.high } else { &mut state.low };
        arbiter.left = arbiter.left.saturating_sub(size);
        if is_high && self.limit < u64::MAX {
            state.left = state.left.saturating_sub(size.into());
        }
        Some(channel)
    }
}
