//! Disciplines in the compact form that the accelerated engine drives: the packets stand with the engine, a scheduler
//! keeps what its rule needs and names a channel.
//!
//! Each decides as the discipline of its name does behind the same gate, which the tests hold, decision by decision.
//! What a discipline does at a decision in vain matters: an engine that is not asked at every instant calls
//! [`Scheduler::idle`] for those at which nothing waited.

mod drr;
mod dtable;
mod fifo;
mod scfq;
mod share;
mod table_basic;
mod table_weighted;
#[cfg(test)]
mod tests;
mod wfq;
mod wheel;

pub(super) use drr::Drr;
pub(super) use dtable::Dtable;
pub(super) use fifo::Fifo;
pub(super) use scfq::Scfq;
pub(super) use table_basic::TableBasic;
pub(super) use table_weighted::TableWeighted;
pub(super) use wfq::Wfq;

use weir_core::discipline::Effort;
use weir_core::spec::Spec;

use crate::time::{CreditUnit, Ticks};

/// One bit for each channel.
pub(super) type Channels = u16;

/// What a scheduler sees at a decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight<'a, const V: usize> {
    /// The channels that have packets.
    pub(super) waiting: Channels,
    /// Those of them whose heads the credits permit.
    pub(super) active: Channels,
    /// What the heads take, in credits.
    pub(super) heads: &'a [u16; V],
}

/// A rule for up to `V` channels; what all links share.
pub(super) trait Scheduler<const V: usize> {
    /// What a link keeps.
    type State: Clone;
    /// Whether it must learn of the packets of different channels in the order of their times.
    const ORDERED: bool;
    /// Whether packets carry stamps.
    const STAMPED: bool = false;

    /// The state in which nothing waits.
    fn state(&self) -> Self::State;

    /// The link was free at an instant at which nothing waited.
    fn idle(&self, state: &mut Self::State);

    /// A packet comes; `first` if it is the only one of its channel. What is returned is its stamp.
    fn enqueue(&self, state: &mut Self::State, channel: usize, credits: u16, first: bool, now: Ticks) -> u64;

    /// The channel whose head is sent.
    fn pick(&self, state: &mut Self::State, sight: Sight<'_, V>, effort: &mut Effort) -> Option<usize>;

    /// The head of this channel is sent; behind it comes one of these credits and this stamp, or none.
    #[inline(always)]
    fn taken(&self, _state: &mut Self::State, _channel: usize, _next: Option<(u16, u64)>) {}
}

/// Counts a decision that examined `examined` entries, `at_once` in each read.
#[inline(always)]
fn count(effort: &mut Effort, examined: u64, at_once: u64) {
    if at_once > 1 {
        return effort.count(examined, at_once);
    }
    effort.decisions += 1;
    effort.examined += examined;
    effort.steps += examined;
    effort.most_examined = effort.most_examined.max(examined);
    effort.most_steps = effort.most_steps.max(examined);
}

/// Does something with the scheduler that a spec names.
pub(super) trait Visitor<const V: usize> {
    /// What comes of it.
    type Output;
    /// Takes the scheduler.
    fn visit<S: Scheduler<V>>(self, scheduler: S) -> Self::Output;
}

/// What the schedulers must be able to bear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Channels.
    pub(super) channels: usize,
    /// What a link carries at most, in the bytes of disciplines.
    pub(super) carried: u64,
    /// What packets cost.
    pub(super) unit: CreditUnit,
}

/// Whether a spec, of a discipline that has been built from it before, has a scheduler for `V` channels.
pub(super) fn knows<const V: usize>(spec: &Spec, bounds: Bounds) -> bool {
    struct Yes;
    impl<const V: usize> Visitor<V> for Yes {
        type Output = ();
        fn visit<S: Scheduler<V>>(self, _scheduler: S) {}
    }
    visit::<V, _>(spec, bounds, Yes).is_some()
}

/// Hands the scheduler of a spec to a visitor; `None` where there is none.
pub(super) fn visit<const V: usize, T: Visitor<V>>(
    spec: &Spec,
    Bounds { channels, carried, unit }: Bounds,
    visitor: T,
) -> Option<T::Output> {
    // Virtual time is never set back here.
    let is_short = carried <= share::MOST_CARRIED;
    match spec.name.as_str() {
        "dtable" => Some(visitor.visit(Dtable::<V>::new(spec, channels, unit)?)),
        "table_basic" => Some(visitor.visit(TableBasic::<V>::new(spec, channels)?)),
        "table_weighted" => Some(visitor.visit(TableWeighted::<V>::new(spec, channels, unit)?)),
        "drr" => Some(visitor.visit(Drr::<V>::new(spec, channels, unit)?)),
        "scfq" if is_short => Some(visitor.visit(Scfq::<V>::new(spec, channels, unit)?)),
        "wfq" if is_short => Some(visitor.visit(Wfq::<V>::new(spec, channels, unit)?)),
        "fifo" => Some(visitor.visit(Fifo::new(spec)?)),
        _ => None,
    }
}
