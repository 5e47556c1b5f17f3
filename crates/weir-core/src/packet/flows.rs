//! The table of flows that share a link: a queue each, their weights, and how much may wait.
//!
//! Deficit round robin and the disciplines of timestamps are the same table under different rules of who is
//! next; what a rule keeps for each flow is the type `S` of the table.
//!
//! | | |
//! |-|-|
//! | Work per packet | O(1); the table grows to the highest flow seen |
//! | Memory | one entry per flow up to the highest seen, one slot per waiting packet; where the longest gives way, 4 bytes a slot and 20 to 36 a flow more; all stay |

use core::fmt;
use core::hint::black_box;

use super::lengths::LengthsApart;
use super::limits::{Full, LimitError, Limits};
use super::slots::{Before, Chain, First, Place, Slots};
use crate::discipline::{Backlog, DropReason, Drops};
use crate::info::{Arguments, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Weight};

/// The largest table of flows.
pub const MAX_FLOWS: usize = 1 << 20;
const DEFAULT_FLOWS: usize = 1 << 16;
/// A table of this many slots or more is far.
const FAR: usize = 1 << 15;

/// The parameter that chooses the queue.
pub const BY: Parameter = Parameter::new("by", Takes::Words(&["flow", "class"]), "flow")
    .meaning("which number of a packet selects its queue");

/// The parameter of shares.
pub const WEIGHTS: Parameter = Parameter::new("weights", Takes::Text, "1")
    .listed("whole numbers from 1 to 65535, as in `4/2/1`")
    .refused("whole numbers from 1 to 65535, as in 4/2/1")
    .meaning("the shares of flows 0, 1, ...; the others have 1");

/// The parameter of the table's size.
pub const FLOWS: Parameter = Parameter::new("flows", Takes::Whole(1..=MAX_FLOWS as u64), "65536")
    .meaning("the size of the table of flows; packets of flows beyond it are dropped");

/// Which number of an item names its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Its flow.
    #[default]
    Flow,
    /// Its class.
    Class,
}

impl By {
    /// As a spec names it.
    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        arguments.choice(BY.name, [Self::Flow, Self::Class])
    }
}

/// Who shares, in which proportion, and how much may wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which number of an item names its queue.
    pub by: By,
    /// The shares of flows 0, 1, ...; the others have 1.
    pub weights: Vec<Weight>,
    /// The size of the table of flows.
    pub flows: usize,
    /// How many packets may wait.
    pub limits: Limits,
    /// Who gives way at the limit.
    pub full: Full,
}

impl Default for Config {
    /// Equal shares by flow, in a table of 65536, without limits.
    fn default() -> Self {
        let (flows, limits, full) = (DEFAULT_FLOWS, Limits::NONE, Full::Newcomer);
        Self { by: By::Flow, weights: Vec::new(), flows, limits, full }
    }
}

/// Why a table was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A flow's weight is zero, so that it would never be served, or above 65535.
    Weight {
        /// The flow.
        flow: usize,
        /// Its weight.
        weight: Weight,
    },
    /// The table has no entry, or more than [`MAX_FLOWS`].
    Flows(usize),
    /// Nothing may wait.
    Limit(LimitError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weight { flow, weight } => {
                write!(f, "the weight of flow {flow} is {}, must be from 1 to {MAX_WEIGHT}", weight.get())
            }
            Self::Flows(flows) => write!(f, "flows is {flows}, must be from 1 to {MAX_FLOWS}"),
            Self::Limit(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConfigError {}

/// The largest weight; with it and [`MAX_FLOWS`], sums of weights stay below 2^36.
const MAX_WEIGHT: u64 = 65_535;

impl Config {
    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let by = By::from_spec(arguments)?;
        let weights = arguments.read(WEIGHTS.name, parse_weights)?;
        let flows = arguments.whole(FLOWS.name)?;
        let (limits, full) = (Limits::from_spec(arguments)?, Full::from_spec(arguments)?);
        Ok(Self { by, weights, flows, limits, full })
    }

    /// Refuses what [`ConfigError`] names.
    ///
    /// # Errors
    /// A weight, the table or a limit is out of its bounds.
    pub fn check(&self) -> Result<(), ConfigError> {
        let outside = |weight: &Weight| !(1..=MAX_WEIGHT).contains(&weight.get());
        if let Some(flow) = self.weights.iter().position(outside) {
            return Err(ConfigError::Weight { flow, weight: self.weights[flow] });
        }
        if !(1..=MAX_FLOWS).contains(&self.flows) {
            return Err(ConfigError::Flows(self.flows));
        }
        self.limits.check().map_err(ConfigError::Limit)
    }

    /// The weight of a flow.
    fn weight(&self, flow: usize) -> Weight {
        self.weights.get(flow).copied().unwrap_or(Weight::new(1))
    }
}

/// Reads `4/2/1`.
fn parse_weights(text: &str) -> Option<Vec<Weight>> {
    let weight = |text: &str| text.parse::<u16>().ok().filter(|&weight| weight > 0);
    text.split('/').map(|text| weight(text).map(|weight| Weight::new(weight.into()))).collect()
}

/// One flow: its packets, and what the rule keeps for it.
#[derive(Clone, Debug)]
struct Entry<S> {
    packets: Chain,
    state: S,
}

/// What a queue of items alone loses at its end, for [`Flows::admit`].
pub(super) fn evicted<I: Item, S>(item: I, _: &mut S, _: &I) -> I {
    item
}

/// Reads an item from end to end, for [`Flows::fetch`].
#[inline]
pub(super) fn read<I: Item>(item: &I) -> u64 {
    item.cost().count() ^ u64::from(item.flow().0) ^ u64::from(item.class().0)
}

/// The table: for each flow a queue of `T`, which is an item and what came with it, and a state.
#[derive(Clone, Debug)]
pub(super) struct Flows<I: Item, T, S> {
    config: Config,
    entries: Vec<Entry<S>>,
    slots: Slots<T>,
    /// Where the longest queue gives way. Behind a pointer, so that a table without it has one question a packet.
    longest: Option<Box<Longest>>,
    backlog: Backlog<I::Cost>,
}

/// What is known of queues where the longest gives way.
#[derive(Clone, Debug, Default)]
struct Longest {
    lengths: LengthsApart,
    before: Before,
}

impl Longest {
    /// A packet was put at the end of a queue, which has `length` now.
    #[cold]
    #[inline(never)]
    fn longer(&mut self, flow: u32, length: u32, place: Place) {
        self.before.note(place);
        self.lengths.set(flow, length.into());
    }
}

/// A flow: found once, for all that is done with it.
pub(super) struct Flow<'a, I: Item, T, S> {
    /// Its number.
    pub(super) number: u32,
    /// What the rule keeps for it.
    pub(super) state: &'a mut S,
    packets: &'a mut Chain,
    slots: &'a mut Slots<T>,
    longest: &'a mut Option<Box<Longest>>,
    backlog: &'a mut Backlog<I::Cost>,
}

impl<'a, I: Item, T, S> Flow<'a, I, T, S> {
    /// Whether it has no packet.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.len() == 0
    }

    /// Puts what has been admitted at the end of its queue.
    #[inline(always)]
    pub(super) fn append(&mut self, packet: T) {
        let place = self.slots.append(self.packets, packet);
        if let Some(longest) = self.longest {
            longest.longer(self.number, self.packets.len(), place);
        }
    }

    /// With its first packet, if it has one.
    #[inline(always)]
    pub(super) fn visited(self) -> Option<Visited<'a, I, T, S>> {
        let Self { number, state, packets, slots, longest, backlog } = self;
        Some(Visited { first: slots.first(packets)?, state, longest, backlog, number })
    }
}

/// A flow, and the first packet of its queue where it lies.
pub(super) struct Visited<'a, I: Item, T, S> {
    first: First<'a, T>,
    /// What the rule keeps for the flow.
    pub(super) state: &'a mut S,
    longest: &'a mut Option<Box<Longest>>,
    backlog: &'a mut Backlog<I::Cost>,
    number: u32,
}

impl<I: Item, T, S> Visited<'_, I, T, S> {
    /// The first packet.
    #[inline(always)]
    pub(super) fn packet(&self) -> Option<&T> {
        self.first.item()
    }

    /// Takes it, of which the caller has read what it costs.
    #[inline(always)]
    pub(super) fn take(self, cost: I::Cost) -> Option<T> {
        self.backlog.remove(cost);
        if let Some(longest) = self.longest {
            longest.lengths.set(self.number, (self.first.len() - 1).into());
        }
        self.first.take()
    }
}

impl<I: Item, T, S> Flows<I, T, S> {
    /// An empty table, as `config` says, which has been checked.
    pub(super) fn new(config: Config) -> Self {
        let longest = (config.full == Full::Longest).then(Box::default);
        Self { config, entries: Vec::new(), slots: Slots::default(), longest, backlog: Backlog::default() }
    }

    /// The flow of an item that there is room for, or for which the longest queue makes room; why not otherwise. A flow's state is
    /// made by `make`. `evict` gets what a queue loses at its end, and the state and last packet that it is left with.
    /// The item stays with the caller: handed over and back it would be copied from memory that has just been written
    /// in other pieces, for which the processor waits longer than for all the rest.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        item: &I,
        drops: &mut dyn Drops<I>,
        make: impl Fn(Weight) -> S,
        evict: impl Fn(T, &mut S, &T) -> I,
    ) -> Result<Flow<'_, I, T, S>, DropReason> {
        let number = match self.config.by {
            By::Flow => item.flow().0,
            By::Class => item.class().0.into(),
        };
        let has_room = match self.entries.get(number as usize) {
            Some(entry) => self.config.limits.admit(entry.packets.len().into(), self.backlog.items),
            None => false,
        };
        if !has_room {
            self.make_way(number as usize, drops, make, evict)?;
            self.backlog.add(item.cost());
            return Ok(self.flow(number));
        }
        // Of a flow that has just been found the compiler need not ask again whether it is there.
        self.backlog.add(item.cost());
        Ok(self.flow(number))
    }

    /// Makes the entry of a flow that was not seen before, or room where there is none.
    #[cold]
    #[inline(never)]
    fn make_way(
        &mut self,
        flow: usize,
        drops: &mut dyn Drops<I>,
        make: impl Fn(Weight) -> S,
        evict: impl Fn(T, &mut S, &T) -> I,
    ) -> Result<(), DropReason> {
        if flow >= self.entries.len() && !self.grow(flow, make) {
            return Err(DropReason::Unclassified);
        }
        let waiting = self.entries[flow].packets.len().into();
        let has_room = self.config.limits.admit(waiting, self.backlog.items);
        let given_way = || self.make_room(waiting, drops, evict).ok_or(DropReason::QueueFull);
        if has_room { Ok(()) } else { given_way() }
    }

    /// Drops the last packet of the longest queue for one of a queue in which `waiting` packets wait, if that is the
    /// shorter one with it, and not full itself. A queue so long has another packet, and stays among those that have some.
    fn make_room(
        &mut self,
        waiting: u64,
        drops: &mut dyn Drops<I>,
        evict: impl Fn(T, &mut S, &T) -> I,
    ) -> Option<()> {
        let known = self.longest.as_mut().filter(|_| waiting < self.config.limits.depth.get())?;
        let longest = known.lengths.gives_way_to(waiting)?;
        let Entry { packets, state } = &mut self.entries[longest as usize];
        let dropped = self.slots.take_last(packets, &known.before)?;
        let last = self.slots.last(packets)?;
        known.lengths.set(longest, packets.len().into());
        let item = evict(dropped, state, last);
        self.backlog.remove(item.cost());
        drops.dropped(item, DropReason::QueueFull);
        Some(())
    }

    /// Makes the entries up to `flow`, if the table is large enough.
    fn grow(&mut self, flow: usize, make: impl Fn(Weight) -> S) -> bool {
        if flow >= self.config.flows {
            return false;
        }
        for flow in self.entries.len()..=flow {
            let state = make(self.config.weight(flow));
            self.entries.push(Entry { packets: Chain::default(), state });
        }
        true
    }

    /// A flow that has been seen before.
    #[inline(always)]
    pub(super) fn flow(&mut self, number: u32) -> Flow<'_, I, T, S> {
        let Entry { packets, state } = &mut self.entries[number as usize];
        let (slots, longest, backlog) = (&mut self.slots, &mut self.longest, &mut self.backlog);
        Flow { number, state, packets, slots, longest, backlog }
    }

    /// The first packet of a flow.
    #[inline(always)]
    pub(super) fn head(&self, flow: u32) -> Option<&T> {
        self.slots.head(&self.entries[flow as usize].packets)
    }

    /// A flow's first packet, and its state.
    #[inline(always)]
    pub(super) fn head_and_state(&mut self, flow: u32) -> (Option<&T>, &mut S) {
        let Entry { packets, state } = &mut self.entries[flow as usize];
        (self.slots.head(packets), state)
    }

    /// Takes the first packet of a flow, which costs what `cost` reads of it.
    #[inline(always)]
    pub(super) fn take(&mut self, flow: u32, cost: impl Fn(&T) -> I::Cost) -> Option<T> {
        let visited = self.flow(flow).visited()?;
        let cost = cost(visited.packet()?);
        visited.take(cost)
    }

    /// Reads what the next calls on these flows will need, all at once: memory that is far away answers many
    /// questions in the time of one. Does nothing while all of it is near.
    #[inline]
    pub(super) fn fetch(
        &self,
        flows: impl Iterator<Item = u32> + Clone,
        packet: impl Fn(&T) -> u64,
        state: impl Fn(&S) -> u64,
    ) {
        self.fetch_states(flows.clone(), state);
        if self.are_far() {
            self.read_all(flows, |entry| self.slots.fetch(&entry.packets, &packet));
        }
    }

    /// The same, where nothing but the states will be needed.
    #[inline]
    pub(super) fn fetch_states(&self, flows: impl Iterator<Item = u32>, state: impl Fn(&S) -> u64) {
        if self.are_far() {
            self.read_all(flows, |entry| u64::from(entry.packets.len()) ^ state(&entry.state));
        }
    }

    /// Whether the table is too large for the caches near the processor.
    #[inline(always)]
    pub(super) fn are_far(&self) -> bool {
        self.slots.size() >= FAR
    }

    #[cold]
    #[inline(never)]
    fn read_all(&self, flows: impl Iterator<Item = u32>, read: impl Fn(&Entry<S>) -> u64) {
        black_box(flows.fold(0, |all, flow| all ^ read(&self.entries[flow as usize])));
    }

    /// A flow's state.
    #[inline(always)]
    pub(super) fn state(&self, flow: u32) -> &S {
        &self.entries[flow as usize].state
    }

    /// A flow's state, to change.
    #[inline(always)]
    pub(super) fn state_mut(&mut self, flow: u32) -> &mut S {
        &mut self.entries[flow as usize].state
    }

    /// All states.
    pub(super) fn states_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.entries.iter_mut().map(|entry| &mut entry.state)
    }

    /// All that waits.
    pub(super) fn packets_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.items_mut()
    }

    /// What waits.
    #[inline(always)]
    pub(super) fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}
