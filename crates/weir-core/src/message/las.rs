//! Least attained service, also called foreground-background.
//!
//! The message that has been served least is in service, and messages that have been served alike
//! share the server. A newcomer has attained nothing and preempts. No length need be known.
//!
//! A grant lasts until its message has caught up with the next one, but at least for one quantum, and to
//! the end of a message that waits alone; so the work is per preemption and not per quantum, except
//! where messages share.
//!
//! | | |
//! |-|-|
//! | Source | Nuyens and Wierman, *The Foreground-Background queue: a survey*, Perf. Eval. 65, 2008 |
//! | Work per grant | O(log n) in waiting messages |
//! | Fairness | among those that share, attained service differs by at most one quantum |
//! | Units | `quantum`, attained service: the item's cost |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | those that share take turns of one quantum, not infinitely small ones |

use core::fmt;

use super::ranked::{Rank, Ranked};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant};

/// What the listings say.
pub const INFO: Info = Info {
    name: "las",
    kind: Kind::Message,
    title: "least attained service",
    rule: "serves the message that has been served least; messages served equally take turns of one quantum",
    source: "Nuyens and Wierman, The Foreground-Background queue: a survey, 2008",
    work: "O(log n) per grant",
    parameters: &[Parameter::new("quantum", Takes::Turn, "1")
        .meaning("how much a message is served in its turn, when several have been served equally")],
    example: "las:quantum=1",
};

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError<C: Cost> {
    /// The quantum serves nothing.
    Quantum(C),
}

impl<C: Cost> fmt::Display for ConfigError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Quantum(quantum) = self;
        write!(f, "quantum is {quantum}, must be at least {}", C::ONE)
    }
}

impl<C: Cost> core::error::Error for ConfigError<C> {}

/// The open grant: the rank its item had, whose key is the service attained, and what it used since.
#[derive(Clone, Copy, Debug)]
struct Open {
    rank: Rank<u64>,
    used: u64,
}

impl Open {
    fn attained(self) -> u64 {
        self.rank.key.saturating_add(self.used)
    }
}

/// Least attained service.
#[derive(Clone, Debug)]
pub struct Las<I: Item> {
    waiting: Ranked<u64, I>,
    quantum: I::Cost,
    open: Option<Open>,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Las<I> {
    /// Messages served alike take turns of `quantum`.
    ///
    /// # Errors
    /// The quantum is zero.
    pub fn new(quantum: I::Cost) -> Result<Self, ConfigError<I::Cost>> {
        if quantum == I::Cost::ZERO {
            return Err(ConfigError::Quantum(quantum));
        }
        Ok(Self { waiting: Ranked::default(), quantum, open: None, backlog: Backlog::default() })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// The quantum is no whole number of at least 1.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let quantum = I::Cost::of(arguments.whole("quantum")?);
        Self::new(quantum).map_err(|error| arguments.error("quantum", error.to_string()))
    }

    /// For how much at most a message that has attained `attained` is served before the next.
    fn share(&self, attained: u64, cost: I::Cost) -> I::Cost {
        let ahead = self.waiting.least().map(|next| I::Cost::of(next.saturating_sub(attained)));
        let share = ahead.map(|ahead| ahead.max(self.quantum));
        match share {
            // A cost of zero is not known, and bounds nothing.
            _ if cost == I::Cost::ZERO => share.unwrap_or(self.quantum),
            Some(share) => share.min(cost),
            None => cost,
        }
    }
}

impl<I: Item> Discipline<I> for Las<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        let rank = self.waiting.last(0);
        self.backlog.add(item.cost());
        self.waiting.insert(rank, item);
        match self.open {
            Some(open) if open.attained() > 0 => Enqueued::Preempts,
            _ => Enqueued::Queued,
        }
    }

    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let (rank, item) = self.waiting.take(gate)?;
        self.backlog.remove(item.cost());
        self.open = Some(Open { rank, used: 0 });
        let quantum = self.share(rank.key, item.cost());
        Some(Grant { item, quantum })
    }

    fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        if let Some(open) = &mut self.open {
            open.used = open.used.saturating_add(used.count());
        }
    }

    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, _drops: &mut dyn Drops<I>) {
        self.charge(now, &item, used);
        let rank = match self.open.take() {
            // It was not served at all, and keeps its turn.
            Some(Open { rank, used: 0 }) => rank,
            Some(open) => self.waiting.last(open.attained()),
            None => self.waiting.last(0),
        };
        self.backlog.add(item.cost());
        self.waiting.insert(rank, item);
    }

    fn finish(&mut self, _now: Instant, _item: &I, _used: I::Cost) {
        self.open = None;
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.waiting.retain(&mut keep);
        true
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{self, Promises, Sample};
    use crate::discipline::{CountDrops, Open as OpenGate};
    use crate::item::{Message, Packet};
    use crate::message::testing::{message, order_of};
    use crate::units::Packets;

    fn las<I: Item>(quantum: u64) -> Las<I> {
        Las::new(I::Cost::of(quantum)).expect("valid")
    }

    conformance::suite!(conforms, || las(1), [work_conserving, resumable]);
    conformance::suite!(conforms_in_large_quanta, || las(7), [work_conserving, resumable]);

    #[test]
    fn the_quantum_must_serve_something() {
        let error = Las::<Message>::new(Packets::ZERO).expect_err("zero");
        assert_eq!(error, ConfigError::Quantum(Packets::ZERO));
        assert_eq!(error.to_string(), "quantum is 0pkt, must be at least 1pkt");
    }

    #[test]
    fn those_that_arrive_together_take_turns() {
        // Lengths 3, 1, 2: a b c a c a, as under round robin.
        assert_eq!(order_of(&mut las(1), &[3, 1, 2]), [1, 2, 0]);
    }

    #[test]
    fn a_newcomer_preempts_and_catches_up() {
        let mut las = las(1);
        let drops = &mut CountDrops::default();
        assert_eq!(las.enqueue(Instant::ZERO, message(0, 9), drops), Enqueued::Queued);
        let grant = las.dequeue(Instant::ZERO, &OpenGate, drops).expect("one waits");
        assert_eq!(grant.quantum.get(), 9, "alone, it is served to its end");
        las.charge(Instant::ZERO, &grant.item, Packets::new(4));
        assert_eq!(las.enqueue(Instant::ZERO, message(1, 6), drops), Enqueued::Preempts);
        las.requeue(Instant::ZERO, message(0, 5), Packets::ZERO, drops);
        // Message 1 catches up with the four packets of message 0; then 0 1 0 take turns of one.
        let mut grants = Vec::new();
        let mut left = [5, 6];
        while let Some(Grant { item, quantum }) = las.dequeue(Instant::ZERO, &OpenGate, drops) {
            grants.push((item.id, quantum.get()));
            left[item.id as usize] -= quantum.get();
            match left[item.id as usize] {
                0 => las.finish(Instant::ZERO, &item, quantum),
                rest => las.requeue(Instant::ZERO, message(item.id, rest), quantum, drops),
            }
        }
        assert_eq!(grants, [(1, 4), (0, 1), (1, 1), (0, 1), (1, 1), (0, 3)]);
    }

    #[test]
    fn nobody_preempts_what_has_not_been_served() {
        let mut las = las(1);
        let drops = &mut CountDrops::default();
        assert_eq!(las.enqueue(Instant::ZERO, message(0, 9), drops), Enqueued::Queued);
        assert!(las.dequeue(Instant::ZERO, &OpenGate, drops).is_some());
        assert_eq!(las.enqueue(Instant::ZERO, message(1, 9), drops), Enqueued::Queued);
        las.requeue(Instant::ZERO, message(0, 9), Packets::ZERO, drops);
        let grant = las.dequeue(Instant::ZERO, &OpenGate, drops).expect("two wait");
        assert_eq!((grant.item.id, grant.quantum.get()), (0, 1));
    }

    /// A list of (attained, item), each level in the order in which its items reached it.
    struct Oracle<I> {
        list: Vec<(u64, I)>,
        quantum: u64,
        open: Option<(u64, u64)>,
    }

    impl<I: Sample> Discipline<I> for Oracle<I> {
        fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
            self.list.push((0, item));
            let preempts = self.open.is_some_and(|(start, used)| start + used > 0);
            if preempts { Enqueued::Preempts } else { Enqueued::Queued }
        }
        fn dequeue(&mut self, _: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
            let first = (0..self.list.len()).min_by_key(|&i| self.list[i].0)?;
            if !gate.permits(&self.list[first].1) {
                return None;
            }
            let (attained, item) = self.list.remove(first);
            self.open = Some((attained, 0));
            let next = self.list.iter().map(|entry| entry.0).min();
            let quantum = next.map_or(u64::MAX, |next| self.quantum.max(next - attained));
            Some(Grant { item, quantum: I::Cost::of(quantum.min(item.cost().count())) })
        }
        fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
            if let Some((_, total)) = &mut self.open {
                *total += used.count();
            }
        }
        fn requeue(&mut self, now: Instant, item: I, used: I::Cost, _drops: &mut dyn Drops<I>) {
            self.charge(now, &item, used);
            match self.open.take() {
                Some((start, 0)) => self.list.insert(0, (start, item)),
                Some((start, used)) => self.list.push((start + used, item)),
                None => {}
            }
        }
        fn finish(&mut self, _now: Instant, _item: &I, _used: I::Cost) {
            self.open = None;
        }
        fn backlog(&self) -> Backlog<I::Cost> {
            conformance::backlog_of(self.list.iter().map(|entry| &entry.1))
        }
    }

    #[test]
    fn agrees_with_a_searched_list() {
        let promises = Promises { work_conserving: true, flow_order: false, resumable: true };
        for quantum in [1, 3, 20] {
            let oracle = || Oracle { list: Vec::new(), quantum, open: None };
            conformance::agree::<Message, _, _>(|| las(quantum), oracle, promises);
        }
        let oracle = || Oracle { list: Vec::new(), quantum: 100, open: None };
        conformance::agree::<Packet, _, _>(|| las(100), oracle, promises);
    }
}
