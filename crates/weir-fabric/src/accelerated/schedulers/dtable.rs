//! The deficit table, as `weir_core::packet::dtable` decides.

use super::wheel::{Found, Wheel};
use super::{Scheduler, Sight, count};
use crate::packet::{CREDIT_BYTES, table_credits};
use crate::time::{CreditUnit, Ticks};
use weir_core::discipline::Effort;
use weir_core::info::Arguments;
use weir_core::packet::dtable::{Config, INFO, Stall};
use weir_core::packet::limits::Limits;
use weir_core::spec::Spec;

/// The deficit table.
#[derive(Clone, Debug)]
pub(in crate::accelerated) struct Dtable<const V: usize> {
    wheel: Wheel,
    stall: Stall,
    /// The largest packet, in credits of the table.
    largest: u32,
    unit: CreditUnit,
    read_ahead: u64,
}

/// Of one link.
#[derive(Clone, Copy, Debug)]
pub(in crate::accelerated) struct State<const V: usize> {
    /// The entry that was chosen last.
    at: u16,
    /// What it may still send.
    left: u32,
    /// What each channel is owed.
    deficits: [u32; V],
}

impl<const V: usize> Dtable<V> {
    pub(super) fn new(spec: &Spec, channels: usize, unit: CreditUnit) -> Option<Self> {
        let config = Config::from_spec(&Arguments::new(spec, &INFO).ok()?).ok()?;
        (config.table.limits == Limits::NONE).then(|| Self {
            wheel: Wheel::new(&config.table.table, channels),
            stall: config.stall,
            largest: config.mtu.get().div_ceil(CREDIT_BYTES) as u32,
            unit,
            read_ahead: config.table.read_ahead.into(),
        })
    }

    /// The service ends at a decision at which its head does not go.
    #[inline(always)]
    fn end(&self, state: &mut State<V>, waiting: bool, active: bool) {
        let owed = match self.stall {
            _ if active => state.left,
            Stall::Keep if waiting => state.left.min(self.largest - 1),
            _ => 0,
        };
        state.deficits[self.wheel.channel(state.at)] = owed;
        state.left = 0;
    }
}

impl<const V: usize> Scheduler<V> for Dtable<V> {
    type State = State<V>;
    const ORDERED: bool = false;

    fn state(&self) -> State<V> {
        State { at: self.wheel.before_first(), left: 0, deficits: [0; V] }
    }

    #[inline(always)]
    fn idle(&self, state: &mut State<V>) {
        if state.left > 0 {
            self.end(state, false, false);
        }
    }

    #[inline(always)]
    fn enqueue(
        &self,
        _state: &mut State<V>,
        _channel: usize,
        _credits: u16,
        _first: bool,
        _now: Ticks,
    ) -> u64 {
        0
    }

    #[inline(always)]
    fn pick(&self, state: &mut State<V>, sight: Sight<'_, V>, effort: &mut Effort) -> Option<usize> {
        if state.left > 0 {
            let channel = self.wheel.channel(state.at);
            let (active, head) =
                (sight.active >> channel & 1 == 1, table_credits(sight.heads[channel], self.unit));
            if active && head <= state.left {
                state.left -= head;
                count(effort, 1, self.read_ahead);
                return Some(channel);
            }
            self.end(state, sight.waiting >> channel & 1 == 1, active);
        }
        let Found { at: next, examined } = self.wheel.next(state.at, sight.active)?;
        count(effort, examined, self.read_ahead);
        let channel = self.wheel.channel(next);
        let deficit = std::mem::take(&mut state.deficits[channel]);
        state.at = next;
        state.left = deficit + self.wheel.weight(next) - table_credits(sight.heads[channel], self.unit);
        Some(channel)
    }
}
