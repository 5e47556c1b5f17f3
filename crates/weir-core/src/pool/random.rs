//! A server at random, each as likely.
//!
//! | | |
//! |-|-|
//! | Source | the usual base line; for each server the M/G/1 queue, where arrivals are Poisson |
//! | Needs to know | nothing |
//! | Work per request | O(1) |
//! | Units | none |
//! | Memory | one word |
//! | Departs from the source | no |

use super::{Apart, Dispatcher, ReceiverId, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::random::Random;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// The parameter from which random choices follow.
pub(super) const SEED: Parameter = Parameter::new("seed", Takes::Seed, "0")
    .meaning("the seed of the choices; a simulation draws one for each replication if none is given");

/// What the listings say.
pub const INFO: Info = Info {
    name: "random",
    kind: Kind::Dispatcher,
    title: "random server",
    rule: "each request joins a server at random",
    source: "Bernoulli splitting; Harchol-Balter, Performance Modeling and Design of Computer Systems, 2013, chapter 24",
    work: "O(1)",
    parameters: &[SEED],
    example: "random",
};

/// A server at random.
#[derive(Clone, Debug)]
pub struct AtRandom {
    random: Random,
    servers: u32,
}

impl AtRandom {
    /// As a spec names it.
    ///
    /// # Errors
    /// The seed is no whole number.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let seed = arguments.whole(SEED.name)?;
        Ok(Self { random: Random::new(seed), servers: site.servers })
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for AtRandom {
    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        _item: &I,
        _receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        Ok(ServerId(self.random.pick(self.servers)))
    }

    /// Each that is left, as likely.
    #[inline]
    fn dispatch_apart(
        &mut self,
        _now: Instant,
        _item: &I,
        _receiver: ReceiverId,
        _servers: &dyn Servers,
        apart: &Apart,
    ) -> Result<ServerId, DropReason> {
        let place = self.random.pick(apart.left());
        Ok(apart.free_at(place).unwrap_or(ServerId(place)))
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::testing::{Named, refused, site};

    fn sent(spec: &str, requests: usize) -> Vec<u32> {
        let mut named = Named::new(spec, &site(7));
        (0..requests).map(|_| named.send(0, 0).expect("a server")).collect()
    }

    #[test]
    fn each_server_is_as_likely() {
        let sent = sent("random:seed=3", 70_000);
        for server in 0..7 {
            let joined = sent.iter().filter(|to| **to == server).count();
            // Five standard deviations of a count of mean 10000.
            assert!(joined.abs_diff(10_000) < 5 * 93, "{server}: {joined}");
        }
    }

    #[test]
    fn choices_follow_from_the_seed() {
        assert_eq!(sent("random", 50), sent("random:0", 50));
        assert_ne!(sent("random:1", 50), sent("random:2", 50));
        assert_eq!(
            refused("random:-1", &site(7)),
            "`random`: seed is `-1`, must be a whole number from 0 to 18446744073709551615"
        );
    }
}
