//! Shortest class first: a queue for each class, and a free server takes from the one whose requests are shortest.
//!
//! Nothing is reserved and nothing is interrupted: a short request still waits while long ones hold every server, which
//! is what `darc` prevents.
//!
//! | | |
//! |-|-|
//! | Source | Cobham, *Priority assignment in waiting line problems*, Operations Research 1954 (several servers, classes in order, not interrupted); with classes ordered by their mean, the rule of Cox and Smith, *Queues*, 1961, for equal costs of waiting |
//! | Needs to know | the class of each request, the mean service of each class |
//! | Work per request | O(classes / 64), and O(servers / 64) to find an idle server |
//! | Units | service: nanoseconds |
//! | Memory | one slot per waiting request, one bit per server; grows to the largest backlog of each class and stays |
//! | Departs from the source | classes of equal means are in the order of their numbers. Each class has a queue of its own, of as many places as a central one |

use super::queues::{Queues, shared_bound};
use super::server_set::ServerSet;
use super::{Assigned, Placed, Pool, Profile, ReceiverId, ServerId, Site, WHOLE};
use crate::discipline::{Backlog, DropReason, Drops};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "short_first",
    kind: Kind::Pool,
    title: "shortest class first",
    rule: "one queue for each class; a free server takes from the class with the shortest mean service; no \
        server is reserved",
    source: "Cobham, Priority assignment in waiting line problems, Operations Research 1954",
    work: "O(classes / 64 + servers / 64)",
    parameters: &[],
    example: "short_first",
};

/// Shortest class first.
pub struct ShortFirst<I: Item> {
    /// By place in the order of means.
    queues: Queues<I>,
    /// The place of each class.
    places: Vec<u32>,
    idle: ServerSet,
}

/// The classes in the order of their means, equal ones in that of their numbers.
pub(super) fn by_service(classes: &[Profile]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|&class| classes[class].service);
    order
}

/// The place of each class in such an order.
pub(super) fn places(order: &[usize]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, &class) in (0..).zip(order) {
        places[class] = place;
    }
    places
}

impl<I: Item<Cost = Nanos>> ShortFirst<I> {
    pub(crate) fn from_spec(_arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        Ok(Self {
            queues: Queues::new(site.classes.len() as u32, shared_bound(site)),
            places: places(&by_service(&site.classes)),
            idle: ServerSet::all(site.servers),
        })
    }
}

impl<I: Item<Cost = Nanos>> Pool<I> for ShortFirst<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        let Some(&place) = self.places.get(usize::from(item.class().0)) else {
            drops.dropped(item, DropReason::Unclassified);
            return Placed::Queued;
        };
        let server = self.idle.lowest();
        if !self.queues.offer(place, item, server.is_some(), drops) {
            return Placed::Queued;
        }
        server.map_or(Placed::Queued, |server| {
            self.idle.remove(server);
            Placed::Ask(server)
        })
    }

    fn dequeue(&mut self, _now: Instant, server: ServerId, _drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        let first = self.queues.filled().lowest();
        let Some(item) = first.and_then(|queue| self.queues.pop(queue.0)) else {
            self.idle.add(server);
            return None;
        };
        self.idle.remove(server);
        Some(Assigned { item, quantum: WHOLE, overhead: Nanos::new(0) })
    }

    fn requeue(&mut self, _now: Instant, _server: ServerId, item: I, _used: Nanos, drops: &mut dyn Drops<I>) {
        match self.places.get(usize::from(item.class().0)) {
            Some(&place) => self.queues.push(place, item),
            None => drops.dropped(item, DropReason::Unclassified),
        }
    }

    fn backlog(&self) -> Backlog<Nanos> {
        self.queues.backlog()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pool::machine::{Arrival, made, requests, run};
    use crate::pool::testing::{Request, site_of};

    fn short_first(servers: u32, queue: Option<u32>) -> ShortFirst<Request> {
        let site = Site { queue, ..site_of(servers, &[(0.5, 100), (0.4, 1), (0.1, 100)]) };
        made(&INFO, "short_first", |arguments| ShortFirst::from_spec(arguments, &site))
    }

    fn request(at: u64, class: u16, service: u64) -> Arrival {
        Arrival { at, class, flow: 0, service }
    }

    #[test]
    fn the_shortest_class_is_next_and_nobody_is_interrupted() {
        let arrivals = [
            request(0, 0, 10),
            request(1, 2, 10),
            request(2, 0, 10),
            request(3, 1, 2),
            request(4, 1, 2),
            request(11, 1, 2),
        ];
        let run = run(&mut short_first(1, None), 1, &arrivals);
        // The class of 1 ns goes first; of the two of 100 ns the lower number.
        assert_eq!(run.order(), [0, 3, 4, 5, 2, 1]);
        assert_eq!(run.spans_of(3), [(0, 10, 12)]);
    }

    #[test]
    fn each_class_has_places_of_its_own() {
        let arrivals: Vec<_> = [0, 1, 1, 1, 0, 0, 0, 5].map(|class| request(0, class, 10)).into();
        let run = run(&mut short_first(1, Some(2)), 1, &arrivals);
        assert_eq!(run.dropped, [3, 6, 7]);
        assert_eq!(run.order(), [0, 1, 2, 4, 5]);
    }

    proptest! {
        #[test]
        fn no_server_idles_while_somebody_waits(servers in 1_u32..6, arrivals in requests(3)) {
            let run = run(&mut short_first(servers, None), servers, &arrivals);
            prop_assert!(!run.idled_over_backlog);
            prop_assert_eq!(run.order().len(), arrivals.len());
        }
    }
}
