//! The shorter of two: a request joins the shortest of some servers that are drawn at random.
//!
//! The `d` servers that are drawn differ. Of several that are as short the one that was drawn first is taken, so that
//! each is as likely. With one it is `random`, with all of them `jsq` with random ties.
//!
//! | | |
//! |-|-|
//! | Source | Mitzenmacher, *The power of two choices in randomized load balancing*, IEEE Transactions on Parallel and Distributed Systems, 2001; Vvedenskaya, Dobrushin and Karpelevich, 1996 |
//! | Needs to know | how many requests the servers have that are drawn |
//! | Work per request | O(d) |
//! | Units | `d`: servers |
//! | Memory | one word per server |
//! | Departs from the source | drawn without replacement |

use super::random::SEED;
use super::{Dispatcher, MAX_SERVERS, ReceiverId, Sees, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::random::Random;
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
    ],
    example: "power_of_two:2",
};

/// The shortest of some.
#[derive(Clone, Debug)]
pub struct PowerOfTwo {
    random: Random,
    drawn: u32,
    /// All servers, in some order; the ones that are drawn go to the front.
    order: Vec<ServerId>,
}

impl PowerOfTwo {
    /// As a spec names it.
    ///
    /// # Errors
    /// The number is out of its bounds, or the seed is none.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let drawn: u32 = arguments.whole("d")?;
        let seed = arguments.whole(SEED.name)?;
        Ok(Self {
            random: Random::new(seed),
            drawn: drawn.min(site.servers),
            order: site.server_ids().collect(),
        })
    }

    /// Draws one of those that are not among the first `place`, and puts it there.
    #[inline]
    fn draw(&mut self, place: u32) -> ServerId {
        let from = place + self.random.pick(self.order.len() as u32 - place);
        self.order.swap(place as usize, from as usize);
        self.order[place as usize]
    }
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
        _receiver: ReceiverId,
        servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let first = self.draw(0);
        let mut shortest = (servers.length(first), first);
        for place in 1..self.drawn {
            let server = self.draw(place);
            let length = servers.length(server);
            if length < shortest.0 {
                shortest = (length, server);
            }
        }
        Ok(shortest.1)
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::testing::{Named, Stated, refused, site};

    /// How often each server is joined, of so many requests, with these lengths.
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
}
