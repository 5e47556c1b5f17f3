//! Deterministic subsets: each receiver sends to some of the servers only, and a dispatcher of its own decides among them.
//!
//! Receivers are taken in rounds of as many as there are subsets: servers over `size`, rounded down. In each round the
//! servers are shuffled in another way, the same for all of the round, and divided among its receivers. So every server has
//! as many receivers as every other, but for those that are left over in a round, which are others in each.
//!
//! | | |
//! |-|-|
//! | Source | Beyer, Jones, Petoff and Murphy (editors), *Site reliability engineering*, 2016, chapter 20, deterministic subsetting |
//! | Needs to know | what the dispatcher inside does |
//! | Work per request | that of the dispatcher inside |
//! | Units | `size`: servers |
//! | Memory | a dispatcher and `size` words per receiver |
//! | Departs from the source | the shuffle, whose generator is that of this project |

use super::random::SEED;
use super::{Dispatcher, Heard, MAX_SERVERS, Measured, ReceiverId, Sees, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::random::Random;
use crate::registry;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "subset",
    kind: Kind::Dispatcher,
    title: "deterministic subsets",
    rule: "each receiver sends to a subset of the servers, in which a dispatcher of its own decides",
    source: "Beyer et al., Site reliability engineering, 2016, chapter 20",
    work: "as the dispatcher inside",
    parameters: &[
        Parameter::new("dispatcher", Takes::Discipline(Role::Dispatcher), "jsq")
            .listed("a dispatcher")
            .meaning("decides among the servers of a subset"),
        Parameter::new("size", Takes::Whole(1..=MAX_SERVERS as u64), "20")
            .listed("servers, {}; all where there are fewer")
            .meaning("how many servers a receiver sends to"),
        SEED.meaning(
            "the seed of the shuffles; a simulation draws one for each replication if none is given",
        ),
    ],
    example: "subset(jsq,size=2)",
};

/// The subset of one receiver.
struct Part<I> {
    inside: Box<dyn Dispatcher<I> + Send>,
    servers: Vec<ServerId>,
}

/// Deterministic subsets.
pub struct Subset<I> {
    parts: Vec<Part<I>>,
    /// Of each server, in whose subset it is and at which place there.
    places: Vec<Vec<(u32, ServerId)>>,
}

/// What a dispatcher inside sees.
struct View<'a> {
    all: &'a dyn Servers,
    part: &'a [ServerId],
}

impl Servers for View<'_> {
    fn count(&self) -> u32 {
        self.part.len() as u32
    }
    fn length(&self, server: ServerId) -> u32 {
        self.part.get(server.0 as usize).map_or(u32::MAX, |server| self.all.length(*server))
    }
    fn work(&self, server: ServerId) -> Nanos {
        self.part.get(server.0 as usize).map_or(super::WHOLE, |server| self.all.work(*server))
    }
}

/// The subset of each receiver.
fn parts(site: &Site, size: u32, seed: u64) -> impl Iterator<Item = Vec<ServerId>> {
    let (servers, size) = (site.servers, size.min(site.servers));
    let subsets = servers / size;
    (0..site.receivers).map(move |receiver| {
        let mut random = Random::new(seed.wrapping_add(u64::from(receiver / subsets)));
        let mut shuffled: Vec<ServerId> = (0..servers).map(ServerId).collect();
        for place in (1..servers).rev() {
            shuffled.swap(place as usize, random.pick(place + 1) as usize);
        }
        let first = (receiver % subsets * size) as usize;
        shuffled[first..first + size as usize].to_vec()
    })
}

impl<I: Item<Cost = Nanos> + Send + 'static> Subset<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let size: u32 = arguments.whole("size")?;
        let mut random = Random::new(arguments.whole(SEED.name)?);
        let shuffles = random.bits();
        let spec = Role::Dispatcher.with_seeds(&arguments.nested("dispatcher")?, &mut || random.bits());
        let mut subset = Self { parts: Vec::new(), places: vec![Vec::new(); site.servers as usize] };
        for (receiver, servers) in (0..).zip(parts(site, size, shuffles)) {
            // Receivers that draw must not all draw alike.
            let spec = Role::Dispatcher.with_varied_seeds(&spec, u64::from(receiver));
            let inside = registry::dispatcher(&spec, &site.part(&servers))?;
            for (place, server) in (0..).map(ServerId).zip(&servers) {
                subset.places[server.0 as usize].push((receiver, place));
            }
            subset.parts.push(Part { inside, servers });
        }
        Ok(subset)
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for Subset<I> {
    fn sees(&self) -> Sees {
        self.parts[0].inside.sees()
    }

    #[inline]
    fn dispatch(
        &mut self,
        now: Instant,
        item: &I,
        receiver: ReceiverId,
        servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let part = self.parts.get_mut(receiver.0 as usize).ok_or(DropReason::Unclassified)?;
        let view = View { all: servers, part: &part.servers };
        let inside = part.inside.dispatch(now, item, ReceiverId(0), &view)?;
        part.servers.get(inside.0 as usize).copied().ok_or(DropReason::NoServer)
    }

    fn period(&self) -> Option<Nanos> {
        // All are built from one spec, and have the same.
        self.parts[0].inside.period()
    }

    fn control(&mut self, now: Instant, measured: &Measured<'_>) {
        self.parts.iter_mut().for_each(|part| part.inside.control(now, measured));
    }

    fn redirected(&self) -> u64 {
        self.parts.iter().map(|part| part.inside.redirected()).sum()
    }

    fn hears(&self) -> bool {
        self.parts[0].inside.hears()
    }

    fn heard(&mut self, now: Instant, heard: &Heard) {
        let Some(places) = self.places.get(heard.server.0 as usize) else { return };
        for &(of, server) in places {
            // To the dispatcher of one receiver all others are another one.
            let receiver = ReceiverId(u32::from(of != heard.receiver.0));
            self.parts[of as usize].inside.heard(now, &Heard { server, receiver, ..*heard });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::testing::{Named, Stated, refused, site};

    fn all(servers: u32, receivers: u32, size: u32) -> Vec<Vec<u32>> {
        let site = Site { receivers, ..site(servers) };
        let of = |part: Vec<ServerId>| part.into_iter().map(|server| server.0).collect();
        parts(&site, size, 3).map(of).collect()
    }

    /// The book's example: 12 servers, subsets of 3, so rounds of 4 receivers.
    #[test]
    fn a_round_of_receivers_takes_every_server_once() {
        let parts = all(12, 8, 3);
        for round in parts.chunks(4) {
            let mut taken: Vec<u32> = round.concat();
            taken.sort_unstable();
            assert_eq!(taken, (0..12).collect::<Vec<_>>());
        }
        assert_ne!(parts[..4].concat(), parts[4..].concat(), "each round is shuffled in another way");
        // Two of twelve are left over by subsets of 5.
        assert!(all(12, 9, 5).iter().all(|part| part.len() == 5));
        assert_eq!(all(3, 1, 9)[0].len(), 3);
    }

    #[test]
    fn requests_stay_in_their_subset() {
        let mut named = Named::new("subset(jsq,size=2,seed=5)", &Site { receivers: 3, ..site(7) });
        for receiver in 0..3 {
            // Whatever is shortest, only two are ever joined, and of these the shorter.
            let mut joined: Vec<u32> = (0..7)
                .map(|empty| {
                    named.1 = Stated((0..7).map(|server| (u32::from(server != empty), 0)).collect());
                    named.send(receiver, 0).expect("a server")
                })
                .collect();
            joined.sort_unstable();
            joined.dedup();
            assert_eq!(joined.len(), 2, "{joined:?}");
        }
        assert_eq!(named.send(3, 0), None);
    }

    #[test]
    fn what_is_refused_inside_is_refused() {
        assert_eq!(
            refused("subset(power_of_two:0)", &site(2)),
            "`power_of_two`: d is `0`, must be a whole number from 1 to 1024"
        );
        assert!(refused("subset(cfcfs)", &site(2)).contains("cannot be used here"));
    }
}
