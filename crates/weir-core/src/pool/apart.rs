//! Servers that have others of the same request: where a request goes to several servers, no server is to have two of it.
//!
//! Whoever offers the items keeps the set, from the first item of a request to its last. A dispatcher sees a server of the set
//! as one whose queue is the longest there can be; where it chooses one of them all the same, since it does not look, the next
//! server that is not among them takes its place, in the order of their numbers and from the last on to the first.
//!
//! | | |
//! |-|-|
//! | Source | the next in a round is the rule of the preference lists of DeCandia et al., *Dynamo: Amazon's highly available key-value store*, SOSP '07, section 4.3; those that are left stand in a row as in the shuffle of Durstenfeld, *Algorithm 235: random permutation*, Communications of the ACM 7, 1964 |
//! | Work | O(1) to check or add a server, or to find one by its place; to find the next, as many as have others on the way; O(1) a server of the set to forget all |
//! | Units | none |
//! | Memory | one word a server |

use core::hint::select_unpredictable;

use super::{ServerId, Servers};
use crate::units::Nanos;

/// What stands at a place of the row of servers, and where in it the server of this number stands.
#[derive(Clone, Copy, Debug)]
struct Slot {
    server: u32,
    place: u32,
}

impl Slot {
    /// A server at the place of its number.
    fn home(number: usize) -> Self {
        Self { server: number as u32, place: number as u32 }
    }
}

/// The servers that have others of a request.
#[derive(Clone, Debug)]
pub struct Apart {
    /// All servers, of which so many come first that have none of the request.
    row: Vec<Slot>,
    left: u32,
    last: Option<ServerId>,
}

impl Apart {
    /// No server, of `servers`.
    #[must_use]
    pub fn new(servers: u32) -> Self {
        let row = (0..servers as usize).map(Slot::home).collect();
        Self { row, left: servers, last: None }
    }

    /// Forgets all: another request comes.
    #[inline]
    pub fn clear(&mut self) {
        let left = self.left as usize;
        for number in left..self.row.len() {
            // Where a number below is not at home, one of these has its place; without a branch, since that depends on chance.
            let place = self.row[number].place as usize;
            let home = select_unpredictable(place < left, place, number);
            self.row[home] = Slot::home(home);
            self.row[number] = Slot::home(number);
        }
        (self.left, self.last) = (self.row.len() as u32, None);
    }

    /// A server has one of the request.
    #[inline]
    pub fn add(&mut self, server: ServerId) {
        self.last = Some(server);
        let number = server.0 as usize;
        let Some(&Slot { place, .. }) = self.row.get(number).filter(|slot| slot.place < self.left) else {
            return;
        };
        self.left -= 1;
        // The last of those that are left takes its place.
        let end = self.left as usize;
        let other = self.row[end].server;
        self.row[place as usize].server = other;
        self.row[other as usize].place = place;
        self.row[end].server = server.0;
        self.row[number].place = self.left;
    }

    /// Whether a server has one of the request.
    #[inline]
    #[must_use]
    pub fn has(&self, server: ServerId) -> bool {
        self.row.get(server.0 as usize).is_some_and(|slot| slot.place >= self.left)
    }

    /// The server that was added last; `None` where items join no server of their own.
    #[must_use]
    pub fn last(&self) -> Option<ServerId> {
        self.last
    }

    /// How many servers have none of the request.
    #[inline]
    #[must_use]
    pub fn left(&self) -> u32 {
        self.left
    }

    /// This server, or the next after it that has none of the request; this one where all have.
    #[inline]
    #[must_use]
    pub fn next_free(&self, server: ServerId) -> ServerId {
        if !self.has(server) {
            return server;
        }
        let (before, after) = self.row.split_at(server.0 as usize);
        let next = after.iter().chain(before).position(|slot| slot.place < self.left);
        next.map_or(server, |steps| ServerId(((server.0 as usize + steps) % self.row.len()) as u32))
    }

    /// Of those that have none of the request the one at this place, of as many as are left. Their order follows from the servers
    /// that have been added, and the order in which they were.
    #[inline]
    #[must_use]
    pub fn free_at(&self, place: u32) -> Option<ServerId> {
        let slot = self.row.get(place as usize).filter(|_| place < self.left)?;
        Some(ServerId(slot.server))
    }
}

/// The servers as a dispatcher sees them: full where they have one of the request.
pub(super) struct Others<'a> {
    pub(super) servers: &'a dyn Servers,
    pub(super) apart: &'a Apart,
}

impl Servers for Others<'_> {
    fn count(&self) -> u32 {
        self.servers.count()
    }

    fn length(&self, server: ServerId) -> u32 {
        if self.apart.has(server) { u32::MAX } else { self.servers.length(server) }
    }

    fn work(&self, server: ServerId) -> Nanos {
        if self.apart.has(server) { Nanos::new(u64::MAX) } else { self.servers.work(server) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::testing::{Named, pool_named, request, site};
    use crate::pool::{DISPATCHER, ReceiverId};
    use crate::random::Random;
    use crate::units::Instant;

    /// Where items of one request go, one after the other.
    fn sent(named: &mut Named, count: u32) -> Vec<u32> {
        let mut apart = Apart::new(named.1.0.len() as u32);
        let mut next = || {
            let sent =
                named.0.dispatch_apart(Instant::ZERO, &request(1, 0, 100), ReceiverId(0), &named.1, &apart);
            let server = sent.expect("a server");
            apart.add(server);
            server.0
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn every_dispatcher_sends_items_of_a_request_to_servers_that_differ() {
        for info in DISPATCHER {
            for count in [1, 2, 7] {
                let mut named = Named::new(info.example, &site(7));
                for _ in 0..20 {
                    let mut servers = sent(&mut named, count);
                    servers.sort_unstable();
                    servers.dedup();
                    assert_eq!(servers.len() as u32, count, "{}", info.name);
                }
            }
        }
    }

    #[test]
    fn the_shortest_take_them_in_order_and_a_hash_the_next_in_a_round() {
        let mut shortest = Named::new("jsq", &site(4));
        shortest.1.0 = vec![(3, 0), (1, 0), (2, 0), (0, 0)];
        assert_eq!(sent(&mut shortest, 4), [3, 1, 2, 0]);
        let mut two = Named::new("power_of_two:4", &site(4));
        two.1.0.clone_from(&shortest.1.0);
        assert_eq!(sent(&mut two, 4), [3, 1, 2, 0]);
        let hashed = sent(&mut Named::new("flow_hash", &site(4)), 3);
        assert_eq!(hashed[1..], [(hashed[0] + 1) % 4, (hashed[0] + 2) % 4]);
    }

    #[test]
    fn those_that_are_left_have_a_place_each_whatever_came_before() {
        let (mut used, mut random) = (Apart::new(70), Random::new(1));
        for round in 0..200 {
            let (count, mut fresh) = (random.pick(71), Apart::new(70));
            used.clear();
            for _ in 0..count {
                let server = if round % 2 == 0 { used.free_at(random.pick(used.left())) } else { None };
                let server = server.unwrap_or(ServerId(random.pick(72)));
                used.add(server);
                fresh.add(server);
            }
            let all = |apart: &Apart| (0..72).map(|place| apart.free_at(place)).collect::<Vec<_>>();
            assert_eq!(all(&used), all(&fresh));
            let mut left: Vec<u32> = all(&used).into_iter().flatten().map(|server| server.0).collect();
            left.sort_unstable();
            let expected = (0..70).filter(|&server| !used.has(ServerId(server)));
            assert_eq!(left, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn at_random_every_pair_is_as_likely() {
        let mut named = Named::new("random:seed=5", &site(4));
        let mut pairs = [[0_u32; 4]; 4];
        for _ in 0..12_000 {
            let pair = sent(&mut named, 2);
            pairs[pair[0] as usize][pair[1] as usize] += 1;
        }
        for (first, row) in pairs.iter().enumerate() {
            for (second, &count) in row.iter().enumerate() {
                // Five standard deviations of a count of mean 1000.
                let expected = if first == second { 0 } else { 1_000 };
                assert!(count.abs_diff(expected) < 155, "{first} {second}: {count}");
            }
        }
    }

    #[test]
    fn a_central_queue_takes_them_as_any_others() {
        let mut pool = pool_named("cfcfs", &site(2));
        let (mut apart, mut drops) = (Apart::new(2), Vec::new());
        for id in 0..3 {
            let item = request(id, 0, 100);
            let _ = pool.pool.enqueue_apart(Instant::ZERO, item, ReceiverId(0), &mut apart, &mut drops);
        }
        assert_eq!((pool.pool.backlog().items, apart.last(), drops.len()), (3, None, 0));
    }

    #[test]
    fn the_next_in_a_round_takes_the_place_of_one_that_has_it() {
        let mut apart = Apart::new(130);
        let next = |apart: &Apart, server: u32| apart.next_free(ServerId(server)).0;
        assert_eq!((next(&apart, 5), apart.last(), apart.left()), (5, None, 130));
        for server in [5, 6, 129, 0] {
            apart.add(ServerId(server));
        }
        assert_eq!([5, 6, 129, 0, 7].map(|server| next(&apart, server)), [7, 7, 1, 1, 7]);
        assert_eq!((apart.last(), apart.left()), (Some(ServerId(0)), 126));
        assert_eq!(
            [0, 3, 5, 6, 125].map(|place| apart.free_at(place)),
            [126, 3, 127, 128, 125].map(|at| Some(ServerId(at)))
        );
        assert_eq!(apart.free_at(126), None);
        (0..130).for_each(|server| apart.add(ServerId(server)));
        assert_eq!((next(&apart, 9), apart.left()), (9, 0));
        apart.clear();
        assert!(!apart.has(ServerId(5)) && apart.left() == 130 && !apart.has(ServerId(130)));
    }
}
