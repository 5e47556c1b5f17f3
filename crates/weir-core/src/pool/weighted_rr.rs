//! Weighted round robin, spread evenly: of a server of weight 5 and two of weight 1 the turns are a a b a c a a.
//!
//! Each server has a credit. For each request every credit grows by the server's weight, and the request joins the server
//! with the greatest credit, of several the lowest number, which pays the sum of all weights. Whatever was sent in one round
//! of as many requests as the weights sum up to is in proportion to them.
//!
//! | | |
//! |-|-|
//! | Source | the smooth weighted round robin of nginx, `ngx_http_upstream_round_robin.c`, since version 1.3.1, 2012 |
//! | Needs to know | nothing |
//! | Work per request | O(servers) |
//! | Units | `weights`: whole numbers |
//! | Memory | one word per server, and one per server and receiver |
//! | Departs from the source | a failed server keeps its weight; each receiver takes its own turns |

use super::{Dispatcher, ReceiverId, ServerId, Servers, Site, weights};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "weighted_rr",
    kind: Kind::Dispatcher,
    title: "weighted round robin",
    rule: "requests join the servers in turn, each as often as its weight says, spread evenly",
    source: "nginx, ngx_http_upstream_round_robin.c, since version 1.3.1, 2012",
    work: "O(servers)",
    parameters: &[weights::WEIGHTS],
    example: "weighted_rr",
};

/// Weighted round robin.
#[derive(Clone, Debug)]
pub struct WeightedRr {
    weights: Vec<i64>,
    sum: i64,
    /// The credits of the servers, receiver after receiver.
    credits: Vec<i64>,
}

impl WeightedRr {
    /// As a spec names it.
    ///
    /// # Errors
    /// A weight is out of its bounds, or there are more than servers.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let weights: Vec<i64> =
            weights::from_spec(arguments, site)?.into_iter().map(u64::cast_signed).collect();
        let credits = vec![0; weights.len() * site.receivers as usize];
        Ok(Self { sum: weights.iter().sum(), weights, credits })
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for WeightedRr {
    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        _item: &I,
        receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let mut all = self.credits.chunks_exact_mut(self.weights.len());
        let credits = all.nth(receiver.0 as usize).ok_or(DropReason::Unclassified)?;
        let mut best = 0;
        for server in 0..credits.len() {
            credits[server] += self.weights[server];
            if credits[server] > credits[best] {
                best = server;
            }
        }
        credits[best] -= self.sum;
        Ok(ServerId(best as u32))
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::Site;
    use crate::pool::testing::{Named, refused, site};
    use proptest::prelude::*;

    fn sent(spec: &str, servers: u32, requests: usize) -> Vec<u32> {
        let mut named = Named::new(spec, &site(servers));
        (0..requests).map(|_| named.send(0, 0).expect("a server")).collect()
    }

    #[test]
    fn by_hand() {
        // The example that nginx gives: a a b a c a a.
        assert_eq!(sent("weighted_rr:5/1/1", 3, 8), [0, 0, 1, 0, 2, 0, 0, 0]);
        assert_eq!(sent("weighted_rr", 3, 5), [0, 1, 2, 0, 1]);
        assert_eq!(sent("weighted_rr:2/1", 4, 6), [0, 2, 1, 3, 0, 2]);
    }

    #[test]
    fn each_receiver_takes_its_own_turns() {
        let mut named = Named::new("weighted_rr:2/1", &Site { receivers: 2, ..site(2) });
        let sent: Vec<_> = [0, 1, 0, 1, 0, 1].map(|receiver| named.send(receiver, 0)).into();
        assert_eq!(sent, [0, 0, 1, 1, 0, 0].map(Some));
        assert_eq!(named.send(2, 0), None);
    }

    #[test]
    fn what_is_no_list_of_weights_is_refused() {
        assert_eq!(
            refused("weighted_rr:1/2", &site(1)),
            "`weighted_rr`: weights names 2 servers, there are 1; leave some out"
        );
        let error = refused("weighted_rr:weights=one", &site(1));
        assert!(error.starts_with("`weighted_rr`: weights is `one`, must be whole numbers"), "{error}");
    }

    proptest! {
        #[test]
        fn a_round_is_in_proportion_and_no_turn_is_missed(weights in proptest::collection::vec(1_u64..20, 1..8)) {
            let sum = weights.iter().sum::<u64>() as usize;
            let written = weights.iter().map(u64::to_string).collect::<Vec<_>>().join("/");
            let sent = sent(&format!("weighted_rr:weights={written}"), weights.len() as u32, 2 * sum);
            for (server, &weight) in (0..).zip(&weights) {
                let places: Vec<usize> = (0..2 * sum).filter(|&place| sent[place] == server).collect();
                prop_assert_eq!(places.len() as u64, 2 * weight);
                // Never further apart than twice what would be even.
                let even = sum as f64 / weight as f64;
                prop_assert!(places.windows(2).all(|pair| ((pair[1] - pair[0]) as f64) < 2.0 * even));
            }
        }
    }
}
