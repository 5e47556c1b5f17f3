//! Join the shortest queue.
//!
//! A request joins the server that has the fewest requests, the one that is served counted.
//!
//! | | |
//! |-|-|
//! | Source | Winston, *Optimality of the shortest line discipline*, Journal of Applied Probability, 1977 |
//! | Needs to know | how many requests each server has |
//! | Work per request | O(servers) |
//! | Units | requests |
//! | Memory | one word |
//! | Departs from the source | no; of several that are shortest the lowest number, unless `ties=random` |

use super::least::{TIE_SEED, TIES, Ties};
use super::{Dispatcher, ReceiverId, Rule, Sees, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "jsq",
    kind: Kind::Dispatcher,
    title: "join the shortest queue",
    rule: "each request joins the server that has the fewest requests",
    source: "Winston, Optimality of the shortest line discipline, Journal of Applied Probability, 1977",
    work: "O(servers)",
    parameters: &[TIES, TIE_SEED],
    example: "jsq",
};

/// Join the shortest queue.
#[derive(Clone, Debug)]
pub struct Jsq {
    ties: Ties,
}

impl Jsq {
    /// As a spec names it.
    ///
    /// # Errors
    /// A value is none of its parameter.
    pub fn from_spec(arguments: &Arguments<'_>, _site: &Site) -> Result<Self, SpecError> {
        Ok(Self { ties: Ties::from_spec(arguments)? })
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for Jsq {
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
        Ok(match self.ties {
            Ties::Lowest => servers.shortest(),
            Ties::Random(_) => self.ties.least(servers, |server| servers.length(server)),
        })
    }

    fn rule(&self) -> Option<Rule<'_>> {
        matches!(self.ties, Ties::Lowest).then_some(Rule::Shortest)
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::Rule;
    use crate::pool::testing::{Named, Stated, pool_named, request, site};

    fn lengths(lengths: &[u32]) -> Stated {
        Stated(lengths.iter().map(|&length| (length, 0)).collect())
    }

    #[test]
    fn the_shortest_and_of_these_the_lowest() {
        let mut jsq = Named::new("jsq", &site(4));
        for (stated, expected) in [([3, 1, 2, 1], 1), ([0, 0, 0, 0], 0), ([9, 9, 9, 8], 3)] {
            jsq.1 = lengths(&stated);
            assert_eq!(jsq.send(0, 0), Some(expected), "{stated:?}");
        }
    }

    #[test]
    fn only_the_lowest_of_several_is_a_rule_for_others() {
        assert_eq!(Named::new("jsq", &site(2)).0.rule(), Some(Rule::Shortest));
        assert_eq!(Named::new("jsq:random", &site(2)).0.rule(), None);
    }

    #[test]
    fn random_ties_take_each_as_often() {
        let mut jsq = Named::new("jsq:random,seed=1", &site(5));
        jsq.1 = lengths(&[2, 1, 3, 1, 1]);
        let mut joined = [0_u32; 5];
        (0..9_000).for_each(|_| joined[jsq.send(0, 0).expect("a server") as usize] += 1);
        assert_eq!((joined[0], joined[2]), (0, 0));
        assert!([1, 3, 4].iter().all(|&server| joined[server].abs_diff(3_000) < 250), "{joined:?}");
    }

    #[test]
    fn the_one_that_is_served_counts() {
        let mut pool = pool_named("jsq", &site(2));
        assert_eq!([0, 1, 2].map(|id| pool.offer(0, request(id, 0, 100))), [Some(0), Some(1), None]);
        pool.finish(10, 1);
        assert_eq!(pool.offer(10, request(3, 0, 100)), Some(1));
    }
}
