//! Consistent hashing with bounded loads: a request joins the server behind the hash of its flow on a ring, unless that has
//! more than its share; then the next one that has not.
//!
//! Each server stands at `points` places of a ring, by hashes of its number. A request goes clockwise from the hash of its
//! flow to the first server that has room: with this request no server has more than `factor` times the mean, rounded up.
//! As long as nobody is full a flow stays with one server, and where a server comes or goes only its neighbours' flows
//! move. The nearer `factor` is to 1, the evener are the queues, and the more flows are served elsewhere.
//!
//! | | |
//! |-|-|
//! | Source | Mirrokni, Thorup and Zadimoghaddam, *Consistent hashing with bounded loads*, SODA 2018; Karger et al., *Consistent hashing and random trees*, STOC 1997, for places on a ring |
//! | Needs to know | the flow of a request; how many requests each server has |
//! | Work per request | O(servers + log(servers points)), and a step for each place of a full server that is passed |
//! | Units | `factor`: of the mean number of requests; `points`: places of the ring |
//! | Memory | two words per place of the ring |
//! | Departs from the source | several places for each server; a request that was sent stays where it is when room is made elsewhere |

use super::random::SEED;
use super::{Dispatcher, ReceiverId, Sees, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::packet::hash::Keyed;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "bounded_hash",
    kind: Kind::Dispatcher,
    title: "consistent hashing with bounded loads",
    rule: "a request joins the server behind the hash of its flow on a ring, or the next that has not more than a \
        factor of the mean",
    source: "Mirrokni, Thorup and Zadimoghaddam, Consistent hashing with bounded loads, SODA 2018",
    work: "O(servers)",
    parameters: &[
        Parameter::new("factor", Takes::Real(1.0..=1_000.0), "1.25")
            .meaning("how many times the mean number of requests a server may have, rounded up"),
        Parameter::new("points", Takes::Whole(1..=256), "64")
            .listed("places, {}")
            .meaning("at how many places of the ring each server stands"),
        SEED.meaning("the seed of the hash; a simulation draws one for each replication if none is given"),
    ],
    example: "bounded_hash:factor=1.25",
};

/// Consistent hashing with bounded loads.
#[derive(Clone, Debug)]
pub struct BoundedHash {
    keyed: Keyed,
    factor: f64,
    /// Places and whose they are, in order.
    ring: Vec<(u64, ServerId)>,
}

impl BoundedHash {
    /// As a spec names it.
    ///
    /// # Errors
    /// A number is out of its bounds, or the seed is none.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let (factor, points) = (arguments.real("factor")?, arguments.whole::<u32>("points")?);
        let keyed = Keyed::new(arguments.whole(SEED.name)?);
        let place = |server: ServerId, point: u32| {
            let mut bytes = [0; 8];
            bytes[..4].copy_from_slice(&server.0.to_le_bytes());
            bytes[4..].copy_from_slice(&point.to_le_bytes());
            (keyed.hash(&bytes), server)
        };
        let places = |server| (0..points).map(move |point| place(server, point));
        let mut ring: Vec<_> = site.server_ids().flat_map(places).collect();
        ring.sort_unstable();
        Ok(Self { keyed, factor, ring })
    }

    /// How many requests a server may have once this one is there.
    fn bound(&self, servers: &dyn Servers) -> u32 {
        let there: u64 = (0..servers.count()).map(|server| u64::from(servers.length(ServerId(server)))).sum();
        (self.factor * (there + 1) as f64 / f64::from(servers.count())).ceil() as u32
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for BoundedHash {
    fn sees(&self) -> Sees {
        Sees::Lengths
    }

    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        item: &I,
        _receiver: ReceiverId,
        servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let bound = self.bound(servers);
        let hash = self.keyed.hash(&item.flow().0.to_le_bytes());
        let from = self.ring.partition_point(|(place, _)| *place < hash);
        let (before, after) = self.ring.split_at(from);
        let mut clockwise = after.iter().chain(before).map(|(_, server)| *server);
        // The mean is below the bound, so somebody has room.
        clockwise.find(|server| servers.length(*server) < bound).ok_or(DropReason::NoServer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::testing::{Named, Request, Stated, refused, request, site};

    fn hashed(spec: &str, servers: u32) -> BoundedHash {
        let spec = spec.parse().expect(spec);
        let arguments = Arguments::new(&spec, &INFO).expect("arguments");
        BoundedHash::from_spec(&arguments, &site(servers)).expect("a site")
    }

    fn send(hash: &mut BoundedHash, flow: u32, lengths: &Stated) -> u32 {
        let request: Request = request(flow, 0, 1);
        hash.dispatch(Instant::ZERO, &request, ReceiverId(0), lengths).expect("a server").0
    }

    fn lengths(lengths: &[u32]) -> Stated {
        Stated(lengths.iter().map(|&length| (length, 0)).collect())
    }

    /// One place for each server, which the test puts there.
    #[test]
    fn by_hand() {
        let on_ring = |spec: &str| {
            let mut hash = hashed(spec, 3);
            let flow = hash.keyed.hash(&7_u32.to_le_bytes());
            hash.ring = vec![(flow - 1, ServerId(2)), (flow, ServerId(0)), (flow + 9, ServerId(1))];
            hash
        };
        // Of 3 requests with this one 1.5 is the bound, which is 2; of 6 it is 3.
        let mut loose = on_ring("bounded_hash(factor=1.5,points=1)");
        for (stated, expected) in
            [([1, 1, 0], 0), ([2, 0, 0], 1), ([2, 3, 0], 0), ([3, 2, 0], 1), ([3, 3, 3], 0)]
        {
            assert_eq!(send(&mut loose, 7, &lengths(&stated)), expected, "{stated:?}");
        }
        let mut strict = on_ring("bounded_hash(factor=1,points=1)");
        for (stated, expected) in [([1, 1, 0], 2), ([1, 1, 1], 0), ([2, 1, 1], 1), ([2, 2, 1], 2)] {
            assert_eq!(send(&mut strict, 7, &lengths(&stated)), expected, "{stated:?}");
        }
    }

    #[test]
    fn a_flow_stays_while_nobody_is_full_and_few_move_with_a_server() {
        let (mut nine, mut eight) = (hashed("bounded_hash", 9), hashed("bounded_hash", 8));
        let mut moved = 0;
        for flow in 0..9_000 {
            let to = send(&mut nine, flow, &lengths(&[0; 9]));
            assert_eq!(to, send(&mut nine, flow, &lengths(&[0; 9])));
            if to != send(&mut eight, flow, &lengths(&[0; 8])) {
                assert_eq!(to, 8, "only flows of the server that is missing go elsewhere");
                moved += 1;
            }
        }
        // A ninth of all, as evenly as 64 places do it.
        assert!((600..1_500).contains(&moved), "{moved}");
    }

    #[test]
    fn no_server_has_more_than_its_share() {
        for (spec, factor) in
            [("bounded_hash:factor=1", 1.0), ("bounded_hash", 1.25), ("bounded_hash:2", 2.0)]
        {
            let mut named = Named::new(spec, &site(7));
            for sent in 1..=2_000_u32 {
                // A few flows are most of all.
                let flow = if sent % 4 == 0 { sent } else { sent % 3 };
                let to = named.send_of_flow(0, request(flow, 0, 1)).expect("a server");
                named.1.0[to as usize].0 += 1;
                let bound = (factor * f64::from(sent) / 7.0).ceil() as u32;
                assert!(named.1.0[to as usize].0 <= bound, "{spec}: {:?}", named.1);
            }
        }
    }

    #[test]
    fn bounds_are_said() {
        assert_eq!(
            refused("bounded_hash:factor=0.9", &site(2)),
            "`bounded_hash`: factor is `0.9`, must be a number from 1 to 1000"
        );
        assert!(refused("bounded_hash:points=0", &site(2)).contains("must be a whole number from 1 to 256"));
    }
}
