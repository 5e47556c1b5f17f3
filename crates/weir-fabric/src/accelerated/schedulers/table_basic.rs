//! The basic table, as `weir_core::packet::table_basic` decides.

use super::wheel::{Found, Wheel};
use super::{Scheduler, Sight, count};
use crate::time::Ticks;
use weir_core::discipline::Effort;
use weir_core::info::Arguments;
use weir_core::packet::limits::Limits;
use weir_core::packet::table_basic::{INFO, config_from_spec};
use weir_core::spec::Spec;

/// The basic table; of a link there is the entry that was chosen last.
#[derive(Clone, Debug)]
pub(in crate::accelerated) struct TableBasic<const V: usize> {
    wheel: Wheel,
    read_ahead: u64,
}

impl<const V: usize> TableBasic<V> {
    pub(super) fn new(spec: &Spec, channels: usize) -> Option<Self> {
        let config = config_from_spec(&Arguments::new(spec, &INFO).ok()?).ok()?;
        (config.limits == Limits::NONE).then(|| Self {
            wheel: Wheel::new(&config.table, channels),
            read_ahead: config.read_ahead.into(),
        })
    }
}

impl<const V: usize> Scheduler<V> for TableBasic<V> {
    type State = u16;
    const ORDERED: bool = false;

    fn state(&self) -> u16 {
        self.wheel.before_first()
    }

    #[inline(always)]
    fn idle(&self, _at: &mut u16) {}

    #[inline(always)]
    fn enqueue(&self, _at: &mut u16, _channel: usize, _credits: u16, _first: bool, _now: Ticks) -> u64 {
        0
    }

    #[inline(always)]
    fn pick(&self, at: &mut u16, sight: Sight<'_, V>, effort: &mut Effort) -> Option<usize> {
        let Found { at: next, examined } = self.wheel.next(*at, sight.active)?;
        count(effort, examined, self.read_ahead);
        *at = next;
        Some(self.wheel.channel(next))
    }
}
