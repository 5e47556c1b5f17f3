//! The shorter of two: a request joins the shortest of some servers that are drawn at random.
//!
//! The `d` servers that are drawn differ. Of several that are as short the one that was drawn first is taken, so that
//! each is as likely. With one it is `random`, with all of them `jsq` with random ties.
//!
//! With a memory the shortest of those that were compared for the last request are compared again for the next one,
//! before the servers that are drawn. Each receiver remembers its own. With one drawn and one
//! remembered the mean length is greater than with two drawn, and that with one drawn alone is far greater.
//!
//! | | |
//! |-|-|
//! | Source | Mitzenmacher, *The power of two choices in randomized load balancing*, IEEE Transactions on Parallel and Distributed Systems, 2001; Vvedenskaya, Dobrushin and Karpelevich, 1996; `memory`: Mitzenmacher, Prabhakar and Shah, *Load balancing with memory*, FOCS 2002 |
//! | Needs to know | how many requests the servers have that are drawn or remembered |
//! | Work per request | O(d + memory^2) |
//! | Units | `d`, `memory`: servers |
//! | Memory | one word per server; `memory` words per receiver |
//! | Departs from the source | drawn without replacement |

use super::apart::Others;
use super::drawn::Drawn;
use super::random::SEED;
use super::{Apart, Dispatcher, MAX_SERVERS, ReceiverId, Sees, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "power_of_two",
    kind: Kind::Dispatcher,
    title: "power of two choices",
    rule: "each request joins the shortest of d servers that are drawn at random",
    source: "Mitzenmacher, The power of two choices in randomized load balancing, IEEE TPDS, 2001",
    work: "O(d)",
    parameters: &[
        Parameter::new("d", Takes::Whole(1..=MAX_SERVERS as u64), "2")
            .listed("servers, {}; all where there are fewer")
            .meaning("how many servers are drawn"),
        SEED,
        Parameter::new("memory", Takes::Whole(0..=MOST_REMEMBERED as u64), "0")
            .listed("servers, {}")
            .meaning("how many of the servers looked at are looked at again for the receiver's next request"),
    ],
    example: "power_of_two:2",
};

/// The most servers that a receiver remembers.
const MOST_REMEMBERED: usize = 16;

/// The shortest of some.
#[derive(Clone, Debug)]
pub struct PowerOfTwo {
    drawn: Drawn,
    choices: u32,
    /// Those that each receiver remembers, the shortest first; none where there is no memory.
    remembered: Vec<Vec<ServerId>>,
    memory: usize,
    /// Lengths of those that are compared, the request counted; used where there is a memory.
    seen: Vec<(u32, ServerId)>,
}

impl PowerOfTwo {
    /// As a spec names it.
    ///
    /// # Errors
    /// A number is out of its bounds, or the seed is none.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let choices: u32 = arguments.whole("d")?;
        let (seed, memory) = (arguments.whole(SEED.name)?, arguments.whole("memory")?);
        let receivers = if memory == 0 { 0 } else { site.receivers as usize };
        Ok(Self {
            drawn: Drawn::new(seed, site.server_ids()),
            choices: choices.min(site.servers),
            remembered: (0..receivers).map(|_| Vec::with_capacity(memory)).collect(),
            memory,
            seen: Vec::with_capacity(if memory == 0 { 0 } else { memory + 1 }),
        })
    }

    /// The shortest of those that are drawn.
    #[inline]
    fn choose(&mut self, servers: &dyn Servers) -> ServerId {
        let first = self.drawn.draw(0);
        let mut shortest = (servers.length(first), first);
        for place in 1..self.choices {
            let server = self.drawn.draw(place);
            let length = servers.length(server);
            if length < shortest.0 {
                shortest = (length, server);
            }
        }
        shortest.1
    }

    /// The shortest of those that the receiver remembers and those that are drawn; the shortest of them, as they are with
    /// the request, are remembered.
    fn choose_with_memory(
        &mut self,
        receiver: ReceiverId,
        servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let remembered = self.remembered.get_mut(receiver.0 as usize).ok_or(DropReason::Unclassified)?;
        self.seen.clear();
        for &server in remembered.iter() {
            keep(&mut self.seen, (servers.length(server), server), self.memory + 1);
        }
        for place in 0..self.choices {
            let server = self.drawn.draw(place);
            if !remembered.contains(&server) {
                keep(&mut self.seen, (servers.length(server), server), self.memory + 1);
            }
        }
        // One of `d` at least is there. One more is kept than will be remembered, since the first may fall back.
        let (length, chosen) = self.seen.remove(0);
        keep(&mut self.seen, (length.saturating_add(1), chosen), self.memory);
        remembered.clear();
        remembered.extend(self.seen.iter().map(|(_, server)| *server));
        Ok(chosen)
    }
}

/// Puts one behind those that are as short, and keeps the shortest `most`.
fn keep(seen: &mut Vec<(u32, ServerId)>, one: (u32, ServerId), most: usize) {
    let place = seen.partition_point(|(length, _)| *length <= one.0);
    if seen.len() == most {
        if place == most {
            return;
        }
        seen.pop();
    }
    seen.insert(place, one);
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for PowerOfTwo {
    fn sees(&self) -> Sees {
        Sees::Lengths
    }

    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        _item: &I,
        receiver: ReceiverId,
        servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        match self.memory {
            0 => Ok(self.choose(servers)),
            _ => self.choose_with_memory(receiver, servers),
        }
    }

    /// Draws until as many are drawn as without it, or all that are left; with a memory, the next after the one that is
    /// chosen where the others seem full.
    #[inline]
    fn dispatch_apart(
        &mut self,
        _now: Instant,
        _item: &I,
        receiver: ReceiverId,
        servers: &dyn Servers,
        apart: &Apart,
    ) -> Result<ServerId, DropReason> {
        if self.memory > 0 {
            let chosen = self.choose_with_memory(receiver, &Others { servers, apart })?;
            return Ok(apart.next_free(chosen));
        }
        let mut shortest = None;
        let mut wanted = self.choices.min(apart.left());
        for place in 0..servers.count() {
            if wanted == 0 {
                break;
            }
            let server = self.drawn.draw(place);
            if apart.has(server) {
                continue;
            }
            wanted -= 1;
            let length = servers.length(server);
            if shortest.is_none_or(|(least, _)| length < least) {
                shortest = Some((length, server));
            }
        }
        Ok(shortest.map_or(ServerId(0), |(_, server)| server))
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::Site;
    use crate::pool::testing::{Named, Stated, refused, site};

    /// How often each server is joined by `requests` requests of these lengths.
    fn joined(spec: &str, lengths: &[u32], requests: u32) -> Vec<u32> {
        let mut named = Named::new(spec, &site(lengths.len() as u32));
        named.1 = Stated(lengths.iter().map(|&length| (length, 0)).collect());
        let mut joined = vec![0; lengths.len()];
        (0..requests).for_each(|_| joined[named.send(0, 0).expect("a server") as usize] += 1);
        joined
    }

    #[test]
    fn two_that_differ_are_drawn_and_the_shorter_is_joined() {
        // Of lengths 0 to 3 two are drawn: 3 of 6 pairs have the first, 2 the second, 1 the third, none the last.
        let joined = joined("power_of_two", &[0, 1, 2, 3], 6_000);
        for (server, expected) in [(0, 3_000), (1, 2_000), (2, 1_000), (3, 0)] {
            assert!(u32::abs_diff(joined[server], expected) <= expected / 10, "{joined:?}");
        }
    }

    #[test]
    fn as_short_ones_are_as_likely() {
        for spec in ["power_of_two", "power_of_two:3", "power_of_two:1", "power_of_two:99"] {
            let joined = joined(spec, &[1; 5], 10_000);
            assert!(joined.iter().all(|count| count.abs_diff(2_000) < 250), "{spec}: {joined:?}");
        }
    }

    #[test]
    fn all_of_them_are_the_shortest_queue() {
        assert_eq!(joined("power_of_two:4", &[2, 1, 3, 4], 100), [0, 100, 0, 0]);
        assert_eq!(joined("power_of_two", &[7], 5), [5]);
        assert_eq!(
            refused("power_of_two:0", &site(3)),
            "`power_of_two`: d is `0`, must be a whole number from 1 to 1024"
        );
    }

    #[test]
    fn who_was_found_is_found_again() {
        let mut named = Named::new("power_of_two(1,memory=1)", &Site { receivers: 2, ..site(40) });
        named.1 = Stated((0..40).map(|server| (if server == 2 { 0 } else { 9 }, 0)).collect());
        for receiver in [0, 1] {
            let all: Vec<Option<u32>> = (0..900).map(|_| named.send(receiver, 0)).collect();
            let found = all.iter().position(|to| *to == Some(2)).expect("it is drawn at last");
            // Each receiver has to find it by itself.
            assert!(found > 0 && all[found..].iter().all(|to| *to == Some(2)), "{all:?}");
        }
        assert_eq!(named.send(2, 0), None);
    }

    #[test]
    fn the_request_counts_in_what_is_remembered() {
        // Both are compared; the other one is remembered, unless it is longer still.
        let next = |lengths: [u32; 2]| {
            let mut named = Named::new("power_of_two(2,memory=1)", &site(2));
            named.1 = Stated(lengths.map(|length| (length, 0)).into());
            let first = named.send(0, 0);
            // Alike now: whoever is remembered is taken.
            named.1 = Stated(vec![(5, 0); 2]);
            (first, named.send(0, 0))
        };
        assert_eq!(next([3, 4]), (Some(0), Some(1)));
        assert_eq!(next([3, 5]), (Some(0), Some(0)));
        let (first, second) = next([3, 3]);
        assert_ne!(first, second);
    }

    #[test]
    fn with_all_of_them_a_memory_changes_nothing() {
        assert_eq!(joined("power_of_two(4,memory=3)", &[2, 1, 3, 4], 100), [0, 100, 0, 0]);
        assert_eq!(joined("power_of_two(1,memory=16)", &[7], 5), [5]);
        assert_eq!(
            refused("power_of_two:memory=17", &site(3)),
            "`power_of_two`: memory is `17`, must be a whole number from 0 to 16"
        );
    }
}
