//! Least requests by weight: servers in the order of deadlines, each of which comes the sooner the greater the weight of the
//! server and the fewer requests it has.
//!
//! Each server has a deadline. A request joins the server with the earliest, and the next deadline of this server follows
//! after `(requests + 1)^bias / weight`, with the requests that it has then, the one that is sent not yet counted. With a
//! bias of 0 it is a weighted round robin that ignores queues; the greater it is, the less a server with many
//! requests gets. Deadlines are a virtual time, which stands at the last that was taken.
//!
//! | | |
//! |-|-|
//! | Source | the least-request policy of Envoy with unequal weights, *Supported load balancers*, weighted least request, and its parameter `active_request_bias` |
//! | Needs to know | how many requests a server has when it is chosen |
//! | Work per request | O(servers) |
//! | Units | `weights`: whole numbers; `bias`: a power |
//! | Memory | four words per server |
//! | Departs from the source | the same rule where weights are equal, where Envoy takes the shorter of two that are drawn (`power_of_two`); whole powers; deadlines are whole numbers, so that every machine decides alike; all receivers share one order |

use super::{Dispatcher, ReceiverId, Sees, ServerId, Servers, Site, weights};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "least_requests",
    kind: Kind::Dispatcher,
    title: "least requests, weighted",
    rule: "servers take turns in proportion to their weight over a power of the requests that they have",
    source: "Envoy, Supported load balancers, weighted least request",
    work: "O(servers)",
    parameters: &[
        weights::WEIGHTS,
        Parameter::new("bias", Takes::Whole(0..=4), "1").meaning(
            "the power of the requests at a server by which its weight is divided; 0: they do not count",
        ),
    ],
    example: "least_requests",
};

/// Deadlines of a weight of 1 with no requests are so far apart, so that weights divide them finely.
const STEP: u128 = 1 << 40;

/// When it is a server's turn, and which of equal deadlines was set first.
type Deadline = (u128, u64);

/// Least requests by weight.
#[derive(Clone, Debug)]
pub struct LeastRequests {
    weights: Vec<u64>,
    bias: u32,
    deadlines: Vec<Deadline>,
    set: u64,
}

impl LeastRequests {
    /// As a spec names it.
    ///
    /// # Errors
    /// A weight or the bias is out of its bounds, or there are more weights than servers.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let weights = weights::from_spec(arguments, site)?;
        let bias = arguments.whole("bias")?;
        let first = |(number, weight): (u64, &u64)| (STEP / u128::from(*weight), number);
        let deadlines: Vec<Deadline> = (0..).zip(&weights).map(first).collect();
        Ok(Self { set: deadlines.len() as u64, weights, bias, deadlines })
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for LeastRequests {
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
        let all = (0_u32..).zip(&self.deadlines);
        let (chosen, &(now, _)) = all.min_by_key(|(_, deadline)| **deadline).ok_or(DropReason::NoServer)?;
        let requests = u128::from(servers.length(ServerId(chosen))) + 1;
        let step = STEP.saturating_mul(requests.saturating_pow(self.bias));
        let next = now.saturating_add(step / u128::from(self.weights[chosen as usize]));
        self.deadlines[chosen as usize] = (next, self.set);
        self.set += 1;
        Ok(ServerId(chosen))
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::testing::{Named, Stated, refused, site};

    /// Where `requests` requests of these lengths go.
    fn sent(spec: &str, lengths: &[u32], requests: usize) -> Vec<u32> {
        let mut named = Named::new(spec, &site(lengths.len() as u32));
        named.1 = Stated(lengths.iter().map(|&length| (length, 0)).collect());
        (0..requests).map(|_| named.send(0, 0).expect("a server")).collect()
    }

    fn shares(spec: &str, lengths: &[u32], requests: usize) -> Vec<usize> {
        let sent = sent(spec, lengths, requests);
        (0..lengths.len() as u32).map(|server| sent.iter().filter(|to| **to == server).count()).collect()
    }

    #[test]
    fn by_hand() {
        // Deadlines of 2/1: 1/2 and 1. The first is due at 1/2 and, with one request, again at 3/2; the second at 1.
        assert_eq!(sent("least_requests:2/1", &[1, 0], 5), [0, 1, 0, 1, 0]);
        // Idle and of equal weight they take turns.
        assert_eq!(sent("least_requests", &[0, 0, 0], 6), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn shares_are_of_the_weight_over_the_requests() {
        assert_eq!(shares("least_requests:4/2/1", &[0, 0, 0], 7_000), [4_000, 2_000, 1_000]);
        // 1 / (length + 1): 1, 1/2 and 1/4.
        assert_eq!(shares("least_requests", &[0, 1, 3], 7_000), [4_000, 2_000, 1_000]);
        assert_eq!(shares("least_requests:bias=0", &[0, 1, 3], 6_000), [2_000; 3]);
        let squares = shares("least_requests:bias=2", &[0, 1, 3], 21_000);
        assert!(
            [16_000_usize, 4_000, 1_000].iter().zip(&squares).all(|(one, other)| one.abs_diff(*other) <= 1)
        );
    }

    #[test]
    fn weights_go_round_and_are_bounded() {
        assert_eq!(shares("least_requests:2/1", &[0; 4], 6_000), [2_000, 1_000, 2_000, 1_000]);
        assert_eq!(
            refused("least_requests:1/2/3", &site(2)),
            "`least_requests`: weights names 3 servers, there are 2; leave some out"
        );
        for wrong in ["0", "1//2", "1/65536", "1.5", "-1"] {
            let error = refused(&format!("least_requests:weights={wrong}"), &site(9));
            assert!(error.contains("must be whole numbers from 1 to 65535"), "{error}");
        }
        assert_eq!(
            refused("least_requests:bias=5", &site(2)),
            "`least_requests`: bias is `5`, must be a whole number from 0 to 4"
        );
    }
}
