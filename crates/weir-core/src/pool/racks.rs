//! Racks: a dispatcher sends each request to the one with the fewest of some racks, and inside each rack a pool
//! discipline of its own decides.
//!
//! The servers, in the order of their numbers, are parted into racks as even as can be. Of each request `choices`
//! different racks are drawn, and it joins the one with the fewest requests for each of its servers; those that are
//! served count. It stays in its rack.
//!
//! | | |
//! |-|-|
//! | Source | Zhu, Kaffes, Chen, Liu, Kozyrakis, Stoica and Jin, *RackSched: a microsecond-scale scheduler for rack-scale computers*, OSDI 2020, whose servers of several cores are the racks here |
//! | Needs to know | how many requests each rack has; what the discipline inside does |
//! | Work per request | O(choices^2) more than the discipline inside |
//! | Units | `racks`: groups of servers; `choices`: racks |
//! | Memory | two words per rack more than the disciplines inside |
//! | Departs from the source | lengths are known at once (there: from what servers report with their replies). What is measured for a control inside is measured of the whole pool |

use super::random::SEED;
use super::{Assigned, MAX_SERVERS, Measured, Placed, Pool, ReceiverId, ServerId, Site};
use crate::discipline::{Backlog, DropReason, Drops, Effort};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::random::Random;
use crate::registry;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "racks",
    kind: Kind::Pool,
    title: "racks of servers (RackSched)",
    rule: "a request joins the rack with the fewest requests among some that are drawn; inside a rack \
        another pool discipline decides",
    source: "Zhu et al., RackSched, OSDI 2020",
    work: "O(choices^2) and the discipline inside",
    parameters: &[
        Parameter::new("pool", Takes::Discipline(Role::Pool), "cfcfs")
            .listed("a pool discipline or a dispatcher")
            .meaning("the discipline inside a rack"),
        Parameter::new("racks", Takes::Whole(1..=MAX_SERVERS as u64), "2")
            .listed("a whole number {}; with more racks than servers each server is a rack")
            .meaning("into how many racks the servers are divided"),
        Parameter::new("choices", Takes::Whole(1..=MOST_CHOICES as u64), "2")
            .listed("a whole number {}; at most all racks")
            .meaning("how many racks are drawn for each request"),
        SEED,
    ],
    example: "racks(cfcfs,racks=2,choices=2)",
};

/// The most racks that a request chooses among.
const MOST_CHOICES: usize = 16;

/// One rack: servers from `first` on.
struct Rack<I: Item> {
    inside: Box<dyn Pool<I> + Send>,
    first: u32,
    servers: u32,
    /// Requests that wait or are served.
    length: u64,
}

/// Racks of servers.
pub struct Racks<I: Item> {
    racks: Vec<Rack<I>>,
    /// The rack of each server.
    rack_of: Vec<u32>,
    choices: usize,
    random: Random,
}

/// Counts what is dropped on its way to whoever hears of drops.
struct Counted<'a, I> {
    drops: &'a mut dyn Drops<I>,
    count: u64,
}

impl<I> Drops<I> for Counted<'_, I> {
    fn dropped(&mut self, item: I, reason: DropReason) {
        self.count += 1;
        self.drops.dropped(item, reason);
    }
}

impl<I: Item<Cost = Nanos>> Rack<I> {
    /// Calls the discipline inside, with the server's number inside, and counts what it drops as gone.
    fn call<T>(
        &mut self,
        drops: &mut dyn Drops<I>,
        call: impl FnOnce(&mut dyn Pool<I>, &mut dyn Drops<I>) -> T,
    ) -> T {
        let mut counted = Counted { drops, count: 0 };
        let answer = call(&mut *self.inside, &mut counted);
        self.length = self.length.saturating_sub(counted.count);
        answer
    }

    fn outside(&self, inside: ServerId) -> ServerId {
        ServerId(self.first + inside.0)
    }
}

impl<I: Item<Cost = Nanos> + Copy + Send + 'static> Racks<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let count = arguments.whole::<u32>("racks")?.min(site.servers);
        let seed = arguments.whole(SEED.name)?;
        let mut random = Random::new(seed);
        let spec = Role::Pool.with_seeds(&arguments.nested("pool")?, &mut || random.bits());
        let (mut racks, mut rack_of) = (Vec::new(), Vec::new());
        for rack in 0..count {
            let first = rack * site.servers / count;
            let servers = (rack + 1) * site.servers / count - first;
            let all: Vec<ServerId> = (first..first + servers).map(ServerId).collect();
            let site = Site { receivers: site.receivers, ..site.part(&all) };
            // Racks that draw must not all draw alike.
            let spec = Role::Pool.with_varied_seeds(&spec, rack.into());
            racks.push(Rack { inside: registry::pool(&spec, &site)?, first, servers, length: 0 });
            rack_of.extend((0..servers).map(|_| rack));
        }
        let choices: usize = arguments.whole("choices")?;
        Ok(Self { choices: choices.min(racks.len()), racks, rack_of, random })
    }
}

impl<I: Item<Cost = Nanos>> Racks<I> {
    /// The rack with the fewest requests a server, of some that are drawn; of equal ones who was drawn first.
    fn choose(&mut self) -> usize {
        let mut drawn = [0; MOST_CHOICES];
        let mut best = 0;
        for count in 0..self.choices {
            // Without those that were drawn: as many numbers are passed over as are drawn and not above.
            let mut rack = self.random.pick((self.racks.len() - count) as u32) as usize;
            let before = &mut drawn[..count];
            before.sort_unstable();
            for &other in before.iter() {
                rack += usize::from(rack >= other);
            }
            drawn[count] = rack;
            let load = |rack: usize| (self.racks[rack].length, u64::from(self.racks[rack].servers));
            let ((length, servers), (least, of)) = (load(rack), load(best));
            if count == 0 || length * of < least * servers {
                best = rack;
            }
        }
        best
    }

    /// The rack of a server, and the server's number in it.
    fn inside(&mut self, server: ServerId) -> Option<(&mut Rack<I>, ServerId)> {
        let rack = &mut self.racks[*self.rack_of.get(server.0 as usize)? as usize];
        let inside = ServerId(server.0 - rack.first);
        Some((rack, inside))
    }
}

impl<I: Item<Cost = Nanos>> Pool<I> for Racks<I> {
    fn enqueue(&mut self, now: Instant, item: I, receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        let chosen = self.choose();
        let rack = &mut self.racks[chosen];
        rack.length += 1;
        match rack.call(drops, |inside, drops| inside.enqueue(now, item, receiver, drops)) {
            Placed::Queued => Placed::Queued,
            Placed::Ask(server) => Placed::Ask(rack.outside(server)),
            Placed::Preempts(server) => Placed::Preempts(rack.outside(server)),
        }
    }

    fn dequeue(&mut self, now: Instant, server: ServerId, drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        let (rack, server) = self.inside(server)?;
        rack.call(drops, |inside, drops| inside.dequeue(now, server, drops))
    }

    fn requeue(&mut self, now: Instant, server: ServerId, item: I, used: Nanos, drops: &mut dyn Drops<I>) {
        match self.inside(server) {
            Some((rack, server)) => {
                rack.call(drops, |inside, drops| inside.requeue(now, server, item, used, drops))
            }
            None => drops.dropped(item, DropReason::NoServer),
        }
    }

    fn finish(&mut self, now: Instant, server: ServerId, item: &I, used: Nanos) {
        if let Some((rack, server)) = self.inside(server) {
            rack.length = rack.length.saturating_sub(1);
            rack.inside.finish(now, server, item, used);
        }
    }

    fn backlog(&self) -> Backlog<Nanos> {
        self.racks.iter().fold(Backlog::default(), |sum, rack| {
            let one = rack.inside.backlog();
            Backlog { items: sum.items + one.items, cost: sum.cost.plus(one.cost) }
        })
    }

    fn length(&self, server: ServerId) -> Option<u32> {
        let rack = &self.racks[*self.rack_of.get(server.0 as usize)? as usize];
        rack.inside.length(ServerId(server.0 - rack.first))
    }

    fn wake(&mut self, now: Instant) -> Option<ServerId> {
        self.racks.iter_mut().find_map(|rack| {
            let server = rack.inside.wake(now)?;
            Some(rack.outside(server))
        })
    }

    fn wakes_at(&self) -> Option<Instant> {
        self.racks.iter().filter_map(|rack| rack.inside.wakes_at()).min()
    }

    fn period(&self) -> Option<Nanos> {
        // All are built from one spec, and have the same.
        self.racks[0].inside.period()
    }

    fn control(&mut self, now: Instant, measured: &Measured<'_>) {
        self.racks.iter_mut().for_each(|rack| rack.inside.control(now, measured));
    }

    fn in_use(&self) -> Option<u32> {
        self.racks.iter().map(|rack| rack.inside.in_use()).sum()
    }

    fn moved(&self) -> u64 {
        self.racks.iter().map(|rack| rack.inside.moved()).sum()
    }

    fn effort(&self) -> Option<Effort> {
        let efforts = self.racks.iter().map(|rack| rack.inside.effort());
        efforts.reduce(|sum, one| Some(sum?.plus(one?))).flatten()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pool::machine::{Arrival, made, requests, run};
    use crate::pool::testing::{Request, refused, site_of};

    fn racks(spec: &str, servers: u32) -> Racks<Request> {
        let site = site_of(servers, &[(0.5, 10), (0.5, 1_000)]);
        made(&INFO, spec, |arguments| Racks::from_spec(arguments, &site))
    }

    fn request(at: u64, service: u64) -> Arrival {
        Arrival { at, class: 0, flow: 0, service }
    }

    #[test]
    fn servers_are_parted_evenly_and_in_order() {
        let racks = racks("racks(cfcfs,racks=3)", 7);
        assert_eq!(racks.rack_of, [0, 0, 1, 1, 2, 2, 2]);
        let firsts: Vec<(u32, u32)> = racks.racks.iter().map(|rack| (rack.first, rack.servers)).collect();
        assert_eq!(firsts, [(0, 2), (2, 2), (4, 3)]);
        assert_eq!(super::tests::racks("racks(cfcfs,racks=9)", 2).rack_of, [0, 1]);
    }

    #[test]
    fn a_request_joins_the_rack_with_the_fewest_a_server() {
        // With as many choices as racks nothing is left to chance but who is first of equals.
        let mut racks = racks("racks(cfcfs,racks=2,choices=2)", 3);
        let run = run(&mut racks, 3, &[request(0, 100); 6]);
        let on = |server: u32| run.pieces.iter().filter(|piece| piece.server == server).count();
        assert_eq!([on(0), on(1), on(2)], [2, 2, 2]);
        assert!(run.pieces.iter().all(|piece| piece.to == 100 || piece.to == 200));
    }

    #[test]
    fn a_draw_names_no_rack_twice() {
        let mut racks = racks("racks(cfcfs,racks=4,choices=4)", 4);
        // Whichever is drawn first, the only empty one is among them.
        for empty in 0..4 {
            (0..4).for_each(|rack| racks.racks[rack].length = u64::from(rack != empty));
            (0..50).for_each(|_| assert_eq!(racks.choose(), empty));
        }
        let mut blind = racks_with_one_choice();
        let mut seen = [0; 4];
        (0..400).for_each(|_| seen[blind.choose()] += 1);
        assert!(seen.iter().all(|count| (50..150).contains(count)), "{seen:?}");
    }

    fn racks_with_one_choice() -> Racks<Request> {
        racks("racks(cfcfs,racks=4,choices=1)", 4)
    }

    #[test]
    fn what_is_no_number_of_racks_is_refused() {
        let site = site_of(2, &[(1.0, 10)]);
        assert_eq!(
            refused("racks(cfcfs,racks=0)", &site),
            "`racks`: racks is `0`, must be a whole number from 1 to 1024"
        );
        assert!(refused("racks(cfcsf)", &site).contains("did you mean `cfcfs`?"));
    }

    proptest! {
        #[test]
        fn everybody_is_served_inside_one_rack(
            inside in prop::sample::select(vec![
                "cfcfs", "short_first", "darc", "jbsq", "work_stealing", "racks",
                "preemptive(quantum=7ns,cost=1ns)", "core_allocation(period=100ns,delay=20ns)",
            ]),
            servers in 4_u32..9,
            arrivals in requests(2),
        ) {
            let mut racks = racks(&format!("racks({inside},racks=2)"), servers);
            let run = run(&mut racks, servers, &arrivals);
            prop_assert!(run.dropped.is_empty());
            for id in 0..arrivals.len() as u32 {
                let mut where_served = run.spans_of(id).into_iter().map(|(server, ..)| racks.rack_of[server as usize]);
                let first = where_served.next();
                prop_assert!(first.is_some() && where_served.all(|rack| Some(rack) == first));
            }
            prop_assert!(racks.racks.iter().all(|rack| rack.length == 0));
        }

        #[test]
        fn one_rack_is_what_is_inside(servers in 1_u32..6, arrivals in requests(1)) {
            let run = run(&mut racks("racks(cfcfs,racks=1)", servers), servers, &arrivals);
            prop_assert!(!run.idled_over_backlog);
            prop_assert_eq!(run.order(), (0..arrivals.len() as u32).collect::<Vec<_>>());
        }
    }
}
