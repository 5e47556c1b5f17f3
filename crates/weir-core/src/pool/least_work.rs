//! Join the server of the least work.
//!
//! The work of a server is what its requests are known to need still. Where it is known exactly, and queues are first in,
//! first out, every request begins when it would begin with one central queue.
//!
//! | | |
//! |-|-|
//! | Source | Harchol-Balter, *Performance Modeling and Design of Computer Systems*, 2013, section 24.2 (LWL) |
//! | Needs to know | what the requests at each server need |
//! | Work per request | O(servers) |
//! | Units | work: nanoseconds |
//! | Memory | one word |
//! | Departs from the source | no; of several that are least the lowest number, unless `ties=random` |

use super::least::{TIE_SEED, TIES, Ties};
use super::{Dispatcher, ReceiverId, Sees, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "least_work",
    kind: Kind::Dispatcher,
    title: "least work left",
    rule: "each request joins the server whose requests need the least time together",
    source: "Harchol-Balter, Performance Modeling and Design of Computer Systems, 2013, section 24.2",
    work: "O(servers)",
    parameters: &[TIES, TIE_SEED],
    example: "least_work",
};

/// Join the server of the least work.
#[derive(Clone, Debug)]
pub struct LeastWork {
    ties: Ties,
}

impl LeastWork {
    /// As a spec names it.
    ///
    /// # Errors
    /// A value is none of its parameter.
    pub fn from_spec(arguments: &Arguments<'_>, _site: &Site) -> Result<Self, SpecError> {
        Ok(Self { ties: Ties::from_spec(arguments)? })
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for LeastWork {
    fn sees(&self) -> Sees {
        Sees::Work
    }

    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        _item: &I,
        _receiver: ReceiverId,
        servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        Ok(self.ties.least(servers, |server| servers.work(server)))
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::testing::{Named, Stated, pool_named, request, site};

    #[test]
    fn the_least_and_of_these_the_lowest() {
        let mut least = Named::new("least_work", &site(3));
        for (works, expected) in [([30, 10, 20], 1), ([5, 5, 5], 0), ([5, 4, 4], 1)] {
            least.1 = Stated(works.map(|work| (0, work)).into());
            assert_eq!(least.send(0, 0), Some(expected), "{works:?}");
        }
    }

    #[test]
    fn what_has_been_served_is_no_work() {
        let mut pool = pool_named("least_work", &site(2));
        pool.offer(0, request(0, 0, 1_000));
        pool.offer(0, request(1, 0, 300));
        // 1000 against 300: it waits at the second. Then 999 against 599.
        pool.offer(1, request(2, 0, 300));
        pool.offer(1, request(3, 0, 500));
        assert_eq!([0, 1].map(|server| pool.pool.length(crate::pool::ServerId(server))), [Some(1), Some(3)]);
        // At 150: 850 against 950.
        pool.offer(150, request(4, 0, 100));
        assert_eq!([0, 1].map(|server| pool.pool.length(crate::pool::ServerId(server))), [Some(2), Some(3)]);
    }
}
