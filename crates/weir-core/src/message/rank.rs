//! The least value of an expression first.
//!
//! Every waiting message has a key, which is an expression over what the queue knows of it; the message of the least key
//! is served next, equal keys in the order of arrival. Many published rules are one such expression: `rank:arrival` is
//! first come, first served; `rank:size` the shortest job first; `rank:10*size + clock` is `alpha:10`;
//! `rank:-waited/size` the highest response ratio next.
//!
//! | name | is |
//! |-|-|
//! | `size`, `remaining`, `served` | the cost at the arrival, what is left of it, and what has been served |
//! | `arrival`, `waited` | the instant of the arrival, and the time since, in seconds (in a port whose packets are served for one unit of time on average, in that unit) |
//! | `clock` | what the queue had served, of all messages, when this one arrived |
//! | `class`, `flow` | their numbers |
//! | `weight` | that of its class, from `weights` |
//!
//! *Where keys stand still*: without `waited`, and where all keys grow with it at one rate, two waiting messages never
//! change their order, and a heap holds them. Otherwise keys *move*, and every decision evaluates them anew: of the
//! `window` messages that have waited longest, so that its cost is bounded.
//!
//! | | |
//! |-|-|
//! | Source | Sivaraman et al., *Programmable Packet Scheduling at Line Rate*, SIGCOMM 2016 (push-in first-out queues: a rank computed by a small program) |
//! | Work per item | O(log n) where keys stand still, O(`window`) where they move; and one evaluation, at most 128 steps |
//! | Units | sizes: the item's cost; times: seconds |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | the rank is an expression, and may move with time; a key that is no number, as of 0/0, comes last; keys are floating-point numbers, each made from whole numbers by operations that are rounded alike everywhere |

use std::collections::VecDeque;

use super::ranked::{Rank as Place, Ranked};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::{Argument, Spec, SpecError};
use crate::units::{Cost, Instant};

mod expression;

use expression::Values;
pub use expression::{Expression, Fault, MOST_STEPS};

/// The most messages among which a moving key is sought.
const WINDOWS: core::ops::RangeInclusive<u64> = 1..=1 << 20;

/// What the listings say.
pub const INFO: Info = Info {
    name: "rank",
    kind: Kind::Message,
    title: "least value of an expression first",
    rule: "serves the message for which an expression over size, remaining, served, arrival, waited, clock, class, \
        flow and weight is least",
    source: "Sivaraman et al., Programmable Packet Scheduling at Line Rate, SIGCOMM 2016",
    work: "O(log n); O(window) if keys move with the time waited",
    parameters: &[
        Parameter::required("key", Takes::Text)
            .worded("an expression such as arrival + 3*size, with + - * / min max and parentheses")
            .meaning("what is least for the message that is served next"),
        Parameter::new("preempt", Takes::Words(&["no", "yes"]), "no")
            .meaning("whether a newcomer with a lesser key takes the place of the message in service"),
        Parameter::new("weights", Takes::Text, "1")
            .worded("weights of the classes 0, 1, 2 and so on, separated by `/`, each a positive number")
            .meaning("what `weight` is for each class; classes beyond the last have a weight of 1"),
        Parameter::new("window", Takes::Whole(WINDOWS), "1024")
            .meaning("among how many of the longest waiting messages a key that moves is sought"),
    ],
    example: "rank:arrival+3*size",
};

/// What a rank is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What is least for the message that is served next.
    pub key: Expression,
    /// Whether a newcomer with a lesser key takes the place of the message in service.
    pub preempt: bool,
    /// The weights of classes 0, 1, 2 and so on.
    pub weights: Vec<f64>,
    /// Among how many messages a key that moves is sought; at least 1.
    pub window: usize,
}

/// A key with what it is made of; it is compared by the key alone.
#[derive(Clone, Copy, Debug)]
struct Known {
    key: u64,
    values: Values,
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Known {}

impl PartialOrd for Known {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Known {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// A message whose key moves.
#[derive(Clone, Debug)]
struct Entry<I> {
    number: u64,
    values: Values,
    item: I,
}

/// What waits.
#[derive(Clone, Debug)]
enum Waiting<I> {
    Still(Ranked<Known, I>),
    /// In the order of arrival, with the number of the next.
    Moving(VecDeque<Entry<I>>, u64),
}

/// The item of the open grant.
#[derive(Clone, Copy, Debug)]
struct Open {
    number: u64,
    values: Values,
}

/// The least value of an expression first.
#[derive(Clone, Debug)]
pub struct Rank<I: Item> {
    config: Config,
    waiting: Waiting<I>,
    open: Option<Open>,
    clock: u64,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Rank<I> {
    /// An empty queue.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let waiting = match config.key.stays() {
            true => Waiting::Still(Ranked::default()),
            false => Waiting::Moving(VecDeque::new(), 0),
        };
        Self { config, waiting, open: None, clock: 0, backlog: Backlog::default() }
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// The key is no expression, a weight is no positive number, or the window is out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let written = written(&arguments.nested("key")?);
        let key = Expression::read(&written).map_err(|fault| {
            arguments.error("key", format!("is `{}`, {fault}", crate::excerpt::beginning(&written, 400)))
        })?;
        let positive =
            |text: &str| text.parse().ok().filter(|weight: &f64| *weight > 0.0 && weight.is_finite());
        let weights = arguments.read("weights", |text| text.split('/').map(positive).collect())?;
        let (preempt, window) = (arguments.choice("preempt", [false, true])?, arguments.whole("window")?);
        Ok(Self::new(Config { key, preempt, weights, window }))
    }

    fn values(&self, now: Instant, item: &I) -> Values {
        let (class, size) = (item.class().0, item.cost().count() as f64);
        Values {
            size,
            remaining: size,
            arrival: seconds(now),
            waited: 0.0,
            clock: self.clock as f64,
            class: f64::from(class),
            flow: f64::from(item.flow().0),
            weight: self.config.weights.get(usize::from(class)).copied().unwrap_or(1.0),
        }
    }

    /// The key at an instant.
    fn key(&self, now: Instant, values: &Values) -> u64 {
        ordered(self.config.key.value(&Values { waited: seconds(now) - values.arrival, ..*values }))
    }

    fn insert(&mut self, now: Instant, item: I, values: Values, number: Option<u64>) {
        let key = self.key(now, &values);
        self.backlog.add(item.cost());
        match &mut self.waiting {
            Waiting::Still(ranked) => {
                let known = Known { key, values };
                let place =
                    number.map_or_else(|| ranked.last(known), |inserted| Place { key: known, inserted });
                ranked.insert(place, item);
            }
            Waiting::Moving(queue, next) => {
                let number = number.unwrap_or_else(|| {
                    *next += 1;
                    *next
                });
                let place = queue.partition_point(|entry| entry.number < number);
                queue.insert(place, Entry { number, values, item });
            }
        }
    }

    /// Where in the queue the least moving key is, among those that have waited longest.
    fn least(&self, queue: &VecDeque<Entry<I>>, now: Instant) -> Option<usize> {
        let looked_at = queue.iter().take(self.config.window).enumerate();
        looked_at.min_by_key(|(_, entry)| self.key(now, &entry.values)).map(|(place, _)| place)
    }

    fn take(&mut self, now: Instant, gate: &dyn Gate<I>) -> Option<(Open, I)> {
        if let Waiting::Still(ranked) = &mut self.waiting {
            let (place, item) = ranked.take(gate)?;
            return Some((Open { number: place.inserted, values: place.key.values }, item));
        }
        let Waiting::Moving(queue, _) = &self.waiting else { return None };
        let place = self.least(queue, now).filter(|&place| gate.permits(&queue[place].item))?;
        let Waiting::Moving(queue, _) = &mut self.waiting else { return None };
        let entry = queue.remove(place)?;
        Some((Open { number: entry.number, values: entry.values }, entry.item))
    }

    /// Notes that this much of the item of the open grant, and of all, was served.
    fn advance(&mut self, used: I::Cost) {
        self.clock = self.clock.saturating_add(used.count());
        if let Some(open) = &mut self.open {
            open.values.remaining -= used.count() as f64;
        }
    }
}

/// The key as it was written: `min(size,3)` is read as a spec inside another.
fn written(spec: &Spec) -> String {
    if spec.arguments.is_empty() {
        return spec.name.clone();
    }
    let argument = |argument: &Argument| match &argument.key {
        Some(key) => format!("{key}={}", written(&argument.value)),
        None => written(&argument.value),
    };
    let within: Vec<String> = spec.arguments.iter().map(argument).collect();
    format!("{}({})", spec.name, within.join(","))
}

fn seconds(now: Instant) -> f64 {
    now.get() as f64 / 1e9
}

/// A whole number in the order of the real ones; what is no number comes last.
fn ordered(key: f64) -> u64 {
    if key.is_nan() {
        return u64::MAX;
    }
    // Adding zero takes the sign from a negative zero.
    let bits = (key + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

impl<I: Item> Discipline<I> for Rank<I> {
    fn enqueue(&mut self, now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        let values = self.values(now, &item);
        let outranks =
            |open: &Open| self.config.preempt && self.key(now, &values) < self.key(now, &open.values);
        let preempts = self.open.as_ref().is_some_and(outranks);
        self.insert(now, item, values, None);
        if preempts { Enqueued::Preempts } else { Enqueued::Queued }
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let (open, item) = self.take(now, gate)?;
        let quantum = item.cost();
        self.open = Some(open);
        self.backlog.remove(quantum);
        Some(Grant { item, quantum })
    }

    fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.advance(used);
    }

    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, _drops: &mut dyn Drops<I>) {
        self.advance(used);
        let (values, number) = match self.open.take() {
            Some(open) => (open.values, Some(open.number)),
            // Without a grant to end, it is a newcomer.
            None => (self.values(now, &item), None),
        };
        self.insert(now, item, values, number);
    }

    fn finish(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.advance(used);
        self.open = None;
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        match &mut self.waiting {
            Waiting::Still(ranked) => ranked.retain(keep),
            Waiting::Moving(queue, _) => queue.retain(|entry| keep(&entry.item)),
        }
        true
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests;
