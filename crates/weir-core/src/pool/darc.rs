//! DARC: servers are kept for short requests, and stay idle where only longer ones wait.
//!
//! Classes are ordered by their mean service, and those whose means are near one another are a group. Each group, from
//! the shortest on, is given servers of its own, in order of their numbers, as many as its part of all work makes of
//! them. A request may be served by the servers of its group and by those of all longer ones, the lowest number first; a
//! free server takes from the shortest class that it may serve. So the longest requests find at most their own
//! servers, and a short one rarely waits for a long one. A request of a class that is not known is served by the last
//! server, where no known one that this server may serve waits.
//!
//! | | |
//! |-|-|
//! | Source | Demoulin, Fried, Pedisich, Kogias, Loo, Phan and Zhang, *When idling is ideal: optimizing tail-latency for heavy-tailed datacenter workloads with Perséphone*, SOSP 2021. Grouping, rounding and the queue a class are as in the code that its authors published |
//! | Needs to know | the class of each request; of each class, its share of the requests and its mean service |
//! | Work per request | O(classes / 64), and O(servers / 64) to find an idle server |
//! | Units | service: nanoseconds; `reserve`: servers |
//! | Memory | one slot per waiting request, a few bytes per server; grows to the largest backlog of each class and stays |
//! | Departs from the source | the profile is that of the pool, from beginning to end: the source measures shares and services in windows and reserves anew where they have changed by a tenth and requests are late, while a control here learns of delays, not of services. A group takes no server that a longer group needs to have one; where there are more groups than servers, the last server is that of all groups that remain (the source: a spillway core that is named). `reserve` and `use` are added |
//!
//! A part of the servers is rounded to the nearest number, a half down, and is at least one. Servers that are left over
//! belong to nobody; every group may use them.

use super::queues::{Queues, shared_bound};
use super::server_set::ServerSet;
use super::short_first::{by_service, places};
use super::{Assigned, MAX_SERVERS, Placed, Pool, ReceiverId, ServerId, Site, WHOLE};
use crate::discipline::{Backlog, Drops};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::{ClassId, Item};
use crate::spec::{Spec, SpecError};
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "darc",
    kind: Kind::Pool,
    title: "reserved servers for short requests (DARC)",
    rule: "each group of classes has servers reserved in proportion to its work; shorter requests may use \
        the servers of longer ones, never the reverse",
    source: "Demoulin et al., When idling is ideal: Perséphone, SOSP 2021",
    work: "O(classes / 64 + servers / 64)",
    parameters: &[
        Parameter::new("delta", Takes::Real(1.0..=1e6), "1.2")
            .meaning("classes form one group if their means are below this times the shortest mean in it"),
        Parameter::new("reserve", Takes::Whole(0..=MAX_SERVERS as u64), "demand")
            .or(&["demand"])
            .listed("`demand`, or a whole number of servers")
            .meaning("how many servers are reserved for the shortest group"),
        Parameter::new("use", Takes::Words(&["longer", "own"]), "longer")
            .meaning("whether a group may use the servers of longer ones; `own` separates all groups"),
    ],
    example: "darc",
};

/// Servers from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

/// Which servers may serve which class. Classes are at places in the order of their means, and behind them is a place for
/// all that are not known.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// The place of each class.
    places: Vec<u32>,
    /// Which servers may serve each place; neither starts nor ends decrease.
    allowed: Vec<Span>,
    /// The first place that each server may serve.
    first: Vec<u32>,
}

/// Reserved servers for short requests.
pub struct Darc<I: Item> {
    /// By place.
    queues: Queues<I>,
    reserved: Reservation,
    idle: ServerSet,
}

/// The work of each group, and the group of each place.
fn groups(site: &Site, order: &[usize], delta: f64) -> (Vec<f64>, Vec<usize>) {
    let (mut work, mut group_of) = (Vec::new(), Vec::new());
    let mut shortest = Nanos::new(0);
    for &class in order {
        let mean = site.classes[class].service;
        let is_near = mean == shortest || (mean.get() as f64) < delta * shortest.get() as f64;
        if work.is_empty() || !is_near {
            shortest = mean;
            work.push(0.0);
        }
        let group = work.len() - 1;
        work[group] += site.work(class);
        group_of.push(group);
    }
    (work, group_of)
}

/// The nearest whole number, of two the lower one, and at least one.
fn rounded(servers: f64) -> u32 {
    ((servers - 0.5).ceil() as u32).max(1)
}

/// The servers that are reserved for each group.
fn reserved(work: &[f64], servers: u32, shortest: Option<u32>) -> Vec<Span> {
    let mut next = 0;
    let mut spans = Vec::with_capacity(work.len());
    for (group, part) in work.iter().enumerate() {
        let left = servers - next;
        let spared = left.saturating_sub((work.len() - 1 - group) as u32).max(left.min(1));
        let wanted = shortest.filter(|_| group == 0).unwrap_or(rounded(part * f64::from(servers)));
        let start = next.min(servers - 1);
        next += wanted.min(spared);
        spans.push(Span { start, end: next.max(start) });
    }
    spans
}

impl Reservation {
    /// As a spec of `darc` names it.
    ///
    /// # Errors
    /// A value is none of its parameter, or the site is none.
    pub fn from_spec(spec: &Spec, site: &Site) -> Result<Self, SpecError> {
        site.check()?;
        Self::new(&Arguments::new(spec, &INFO)?, site)
    }

    fn new(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let order = by_service(&site.classes);
        let (work, group_of) = groups(site, &order, arguments.real("delta")?);
        let is_shared = arguments.choice("use", [true, false])?;
        let least = u64::from(!is_shared);
        let most = u64::from(site.servers).saturating_sub(work.len() as u64 - 1).max(1);
        let shortest = match arguments.word("reserve")? {
            Some(_) => None,
            None => Some(arguments.whole_in("reserve", least..=most)?),
        };
        let mut spans = reserved(&work, site.servers, shortest);
        let last = spans.len() - 1;
        for (group, span) in spans.iter_mut().enumerate() {
            if is_shared || group == last {
                span.end = site.servers;
            }
        }
        let mut allowed: Vec<Span> = group_of.iter().map(|&group| spans[group]).collect();
        allowed.push(Span { start: site.servers - 1, end: site.servers });
        let first = |server| allowed.iter().position(|span| server < span.end).unwrap_or(0) as u32;
        Ok(Self { places: places(&order), first: (0..site.servers).map(first).collect(), allowed })
    }

    /// The place of a class.
    #[inline]
    #[must_use]
    pub fn place(&self, class: ClassId) -> u32 {
        let unknown = self.places.len() as u32;
        self.places.get(usize::from(class.0)).copied().unwrap_or(unknown)
    }

    /// The first server of each place, which do not decrease, where all behind it may serve it too; `None` where a class
    /// may not use the servers of all longer ones.
    #[must_use]
    pub fn starts(&self) -> Option<impl Iterator<Item = u32> + '_> {
        let servers = self.first.len() as u32;
        let is_shared = self.allowed.iter().all(|span| span.end == servers);
        is_shared.then(|| self.allowed.iter().map(|span| span.start))
    }
}

impl<I: Item<Cost = Nanos>> Darc<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let reserved = Reservation::new(arguments, site)?;
        let queues = Queues::new(reserved.allowed.len() as u32, shared_bound(site));
        Ok(Self { queues, reserved, idle: ServerSet::all(site.servers) })
    }

    /// An idle server that may serve this place.
    fn idle_for(&self, place: u32) -> Option<ServerId> {
        let Span { start, end } = self.reserved.allowed[place as usize];
        self.idle.lowest_from(start).filter(|server| server.0 < end)
    }

    /// The first place that the server may serve and that has something.
    fn place_for(&self, server: ServerId) -> Option<u32> {
        let first = *self.reserved.first.get(server.0 as usize)?;
        let place = self.queues.filled().lowest_from(first)?.0;
        // Starts do not decrease: where this one may not be served, no later one may.
        (self.reserved.allowed[place as usize].start <= server.0).then_some(place)
    }
}

impl<I: Item<Cost = Nanos>> Pool<I> for Darc<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        let place = self.reserved.place(item.class());
        let server = self.idle_for(place);
        if !self.queues.offer(place, item, server.is_some(), drops) {
            return Placed::Queued;
        }
        server.map_or(Placed::Queued, |server| {
            self.idle.remove(server);
            Placed::Ask(server)
        })
    }

    fn dequeue(&mut self, _now: Instant, server: ServerId, _drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        let Some(item) = self.place_for(server).and_then(|place| self.queues.pop(place)) else {
            self.idle.add(server);
            return None;
        };
        self.idle.remove(server);
        Some(Assigned { item, quantum: WHOLE, overhead: Nanos::new(0) })
    }

    fn requeue(
        &mut self,
        _now: Instant,
        _server: ServerId,
        item: I,
        _used: Nanos,
        _drops: &mut dyn Drops<I>,
    ) {
        self.queues.push(self.reserved.place(item.class()), item);
    }

    fn backlog(&self) -> Backlog<Nanos> {
        self.queues.backlog()
    }
}

#[cfg(test)]
mod tests;
