//! Strict priority: bands, each with a discipline of its own; a band is served while those before it have
//! nothing to give.
//!
//! A packet's class is its band, 0 first; classes beyond the last band share it. All bands are made from one
//! spec, or the last, where what is left to itself may pile up, from another: `priority(fifo,last=fq_codel)`.
//! What is the last band may again be a priority of more bands, since a packet keeps its class.
//!
//! | | |
//! |-|-|
//! | Source | Kleinrock, *Queueing Systems* II, 1976, section 3.6 (head of the line); bands as in tc-prio(8) |
//! | Work per packet | O(bands), and that of the children |
//! | Units | none |
//! | Memory | that of the children, which are made with the first packet of their band |
//! | Departs from the source | a band that withholds what it has (a shaper, a closed gate) lets the next be served |
//!
//! A newcomer of an earlier band does not interrupt the open grant: a packet is served whole.

use core::fmt;

use super::leaving::Leaving;
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Effort, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::registry;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Bytes, Instant};

/// The most bands there can be.
pub const MAX_BANDS: usize = 16;

/// What the listings say.
pub const INFO: Info = Info {
    name: "priority",
    kind: Kind::Wrapper,
    title: "strict priority",
    rule: "serves packets of the lowest class first, and those of one class by its own discipline",
    source: "Kleinrock, Queueing Systems II, 1976, section 3.6",
    work: "O(bands)",
    parameters: &[
        Parameter::required("discipline", Takes::Discipline(Role::Discipline))
            .listed("a discipline of packets")
            .meaning("what each band does with its packets"),
        Parameter::new("bands", Takes::Whole(1..=MAX_BANDS as u64), "3")
            .meaning("how many bands there are, one for each class; higher classes share the last band"),
        Parameter::new("last", Takes::Discipline(Role::Discipline), "the same as the others")
            .listed("a discipline of packets")
            .meaning("what the last band does with its packets"),
    ],
    example: "priority(fifo,bands=3)",
};

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no band, or there are more than [`MAX_BANDS`].
    Bands(usize),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bands(bands) => write!(f, "bands is {bands}, must be from 1 to {MAX_BANDS}"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// Strict priority; `F` makes the discipline of a band.
#[derive(Clone, Debug)]
pub struct Priority<I: Item, D, F> {
    make: F,
    /// The bands; nothing while they have had no packet.
    bands: Vec<Option<D>>,
    backlog: Backlog<I::Cost>,
    /// The first event of the children, if all of them withhold what they have.
    wake: Option<Instant>,
}

impl<I: Item, D: Discipline<I>, F: Fn(usize) -> D> Priority<I, D, F> {
    /// Makes `bands` bands, each made by `make` from its number.
    ///
    /// # Errors
    /// There is no band, or there are too many.
    pub fn new(bands: usize, make: F) -> Result<Self, ConfigError> {
        if !(1..=MAX_BANDS).contains(&bands) {
            return Err(ConfigError::Bands(bands));
        }
        let bands = (0..bands).map(|_| None).collect();
        Ok(Self { make, bands, backlog: Backlog::default(), wake: None })
    }

    /// The band of an item.
    #[inline]
    fn band(&self, item: &I) -> usize {
        usize::from(item.class().0).min(self.bands.len() - 1)
    }

    /// What the first band that gives anything gives.
    #[inline]
    fn take(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let mut bands = self.bands.iter_mut().flatten();
        bands.find_map(|band| band.dequeue(now, gate, &mut Leaving { backlog: &mut self.backlog, drops }))
    }
}

/// What makes the discipline of a band that a spec names.
pub type Make<I> = Box<dyn Fn(usize) -> Box<dyn Discipline<I> + Send> + Send>;

impl<I: Item<Cost = Bytes> + Send + 'static> Priority<I, Box<dyn Discipline<I> + Send>, Make<I>> {
    /// As a spec names it.
    ///
    /// # Errors
    /// A discipline within is missing, unknown or refused, or there are too many bands.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let make = registry::packet_factory(&arguments.nested("discipline")?)?;
        let last = arguments.optional("last").map(registry::packet_factory).transpose()?;
        let bands = arguments.whole("bands")?;
        let make_band = move |band| match &last {
            Some(last) if band + 1 == bands => last(),
            _ => make(),
        };
        let make_band: Make<I> = Box::new(make_band);
        Self::new(bands, make_band).map_err(|error| arguments.error("bands", error.to_string()))
    }
}

impl<I: Item, D: Discipline<I>, F: Fn(usize) -> D> Discipline<I> for Priority<I, D, F> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let band = self.band(&item);
        self.backlog.add(item.cost());
        let child = self.bands[band].get_or_insert_with(|| (self.make)(band));
        let _ = child.enqueue(now, item, &mut Leaving { backlog: &mut self.backlog, drops });
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let grant = self.take(now, gate, drops);
        self.wake = None;
        match &grant {
            Some(grant) => self.backlog.remove(grant.item.cost()),
            None => {
                let events = self.bands.iter().flatten().filter_map(|band| band.next_event());
                self.wake = events.filter(|&at| at > now).min();
            }
        }
        grant
    }

    fn charge(&mut self, now: Instant, item: &I, used: I::Cost) {
        let band = self.band(item);
        if let Some(child) = &mut self.bands[band] {
            child.charge(now, item, used);
        }
    }

    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        let band = self.band(&item);
        let Some(child) = &mut self.bands[band] else {
            return drops.dropped(item, DropReason::NotResumable);
        };
        self.backlog.add(item.cost());
        child.requeue(now, item, used, &mut Leaving { backlog: &mut self.backlog, drops });
    }

    fn finish(&mut self, now: Instant, item: &I, used: I::Cost) {
        let band = self.band(item);
        if let Some(child) = &mut self.bands[band] {
            child.finish(now, item, used);
        }
    }

    fn next_event(&self) -> Option<Instant> {
        self.wake
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }

    #[inline]
    fn effort(&self) -> Option<Effort> {
        self.bands.iter().flatten().filter_map(|band| band.effort()).reduce(Effort::plus)
    }
}

#[cfg(test)]
mod tests;
