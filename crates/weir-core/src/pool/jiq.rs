//! Join an idle queue: a server that has become idle reports to a receiver, which sends its next request there.
//!
//! Each receiver has a list of servers that have reported to it, and takes the one that reported first. Where the list is
//! empty, it sends to any server at random. A server that becomes idle reports to the receiver with the shortest list of
//! `choices` that are drawn; at the beginning the idle servers are dealt to the receivers in turn. Nothing is looked for
//! when a request arrives, which is what it is for: several receivers, none of which sees the queues.
//!
//! | | |
//! |-|-|
//! | Source | Lu, Xie, Kliot, Geller, Larus and Greenberg, *Join-Idle-Queue: a novel load balancing algorithm for dynamically scalable web services*, Performance Evaluation 68, 2011, section 2 (JIQ-Random; with two choices JIQ-SQ(2)) |
//! | Needs to know | when a server becomes idle |
//! | Work per request | O(1), and O(choices) a report |
//! | Units | `choices`: receivers |
//! | Memory | four words per server, three per receiver |
//! | Departs from the source | a server that gets a request at random leaves the list in which it stands, as the source assumes for its analysis; a report takes no time |

use super::drawn::Drawn;
use super::random::SEED;
use super::{Dispatcher, Heard, MAX_RECEIVERS, ReceiverId, ServerId, Servers, Site, Step};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::random::Random;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "jiq",
    kind: Kind::Dispatcher,
    title: "join an idle queue",
    rule: "a server that becomes idle reports to a receiver, which sends its next request there; where none has \
        reported, a request joins a server at random",
    source: "Lu et al., Join-Idle-Queue, Performance Evaluation 68, 2011",
    work: "O(choices)",
    parameters: &[
        Parameter::new("choices", Takes::Whole(1..=MAX_RECEIVERS as u64), "1")
            .listed("receivers, {}; all where there are fewer")
            .meaning(
                "how many receivers an idle server draws; it reports to the one with the fewest reports",
            ),
        SEED,
    ],
    example: "jiq",
};

/// No server, or no list.
const NONE: u32 = u32::MAX;

/// Where a server stands: in whose list, and between which others.
#[derive(Clone, Copy, Debug)]
struct Place {
    list: u32,
    before: u32,
    after: u32,
}

/// The servers that have reported to a receiver, in the order in which they have.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
    len: u32,
}

/// Join an idle queue.
#[derive(Clone, Debug)]
pub struct Jiq {
    /// Of servers, where none has reported.
    random: Random,
    /// Of receivers to report to, by their numbers.
    drawn: Drawn,
    choices: u32,
    lists: Vec<List>,
    places: Vec<Place>,
}

impl Jiq {
    /// As a spec names it.
    ///
    /// # Errors
    /// A number is out of its bounds, or the seed is none.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let choices: u32 = arguments.whole("choices")?;
        let mut random = Random::new(arguments.whole(SEED.name)?);
        let mut jiq = Self {
            drawn: Drawn::new(random.bits(), (0..site.receivers).map(ServerId)),
            random,
            choices: choices.min(site.receivers),
            lists: vec![List { first: NONE, last: NONE, len: 0 }; site.receivers as usize],
            places: vec![Place { list: NONE, before: NONE, after: NONE }; site.servers as usize],
        };
        (0..site.servers).for_each(|server| jiq.join(server, server % site.receivers));
        Ok(jiq)
    }

    /// A server joins the end of a list.
    fn join(&mut self, server: u32, number: u32) {
        let list = &mut self.lists[number as usize];
        self.places[server as usize] = Place { list: number, before: list.last, after: NONE };
        match self.places.get_mut(list.last as usize) {
            Some(last) => last.after = server,
            None => list.first = server,
        }
        list.last = server;
        list.len += 1;
    }

    /// A server leaves the list in which it stands, if it does.
    fn leave(&mut self, server: u32) {
        let place = self.places[server as usize];
        let Some(list) = self.lists.get_mut(place.list as usize) else { return };
        list.len -= 1;
        match self.places.get_mut(place.before as usize) {
            Some(before) => before.after = place.after,
            None => list.first = place.after,
        }
        match self.places.get_mut(place.after as usize) {
            Some(after) => after.before = place.before,
            None => list.last = place.before,
        }
        self.places[server as usize].list = NONE;
    }

    /// A server has become idle.
    fn report(&mut self, server: u32) {
        if self.places[server as usize].list != NONE {
            return;
        }
        let mut best = self.drawn.draw(0).0;
        for place in 1..self.choices {
            let other = self.drawn.draw(place).0;
            if self.lists[other as usize].len < self.lists[best as usize].len {
                best = other;
            }
        }
        self.join(server, best);
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for Jiq {
    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        _item: &I,
        receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let list = self.lists.get(receiver.0 as usize).ok_or(DropReason::Unclassified)?;
        let server = match list.first {
            NONE => self.random.pick(self.places.len() as u32),
            first => first,
        };
        self.leave(server);
        Ok(ServerId(server))
    }

    #[inline]
    fn hears(&self) -> bool {
        true
    }

    fn heard(&mut self, _now: Instant, heard: &Heard) {
        let is_idle = heard.length == 0 && heard.step != Step::Joined;
        if is_idle && (heard.server.0 as usize) < self.places.len() {
            self.report(heard.server.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::testing::{Named, pool_named, refused, request, site};

    #[test]
    fn who_has_reported_first_is_taken_first() {
        let mut pool = pool_named("jiq:seed=4", &site(3));
        // All are idle at first, in the order of their numbers.
        assert_eq!([0, 1, 2].map(|id| pool.offer(0, request(id, 0, 100))), [0, 1, 2].map(Some));
        pool.finish(100, 2);
        pool.finish(100, 0);
        assert_eq!([3, 4].map(|id| pool.offer(100, request(id, 0, 100))), [2, 0].map(Some));
        // None is idle: this one waits somewhere.
        assert_eq!(pool.offer(100, request(5, 0, 100)), None);
    }

    #[test]
    fn without_reports_each_server_is_as_likely() {
        let mut jiq = Named::new("jiq", &site(5));
        (0..5).for_each(|server| assert_eq!(jiq.send(0, 0), Some(server)));
        let mut joined = [0_u32; 5];
        (0..10_000).for_each(|_| joined[jiq.send(0, 0).expect("a server") as usize] += 1);
        assert!(joined.iter().all(|count| count.abs_diff(2_000) < 200), "{joined:?}");
    }

    #[test]
    fn a_receiver_knows_those_that_have_reported_to_it() {
        let mut jiq = Named::new("jiq", &Site { receivers: 2, ..site(4) });
        assert_eq!([1, 0, 1, 0].map(|receiver| jiq.send(receiver, 0)), [1, 0, 3, 2].map(Some));
        assert_eq!(jiq.send(2, 0), None);
    }

    /// Servers that report go to the receiver with the shorter list of all.
    #[test]
    fn reports_are_spread_with_choices() {
        let spec = "jiq:choices=2".parse().expect("a spec");
        let arguments = Arguments::new(&spec, &INFO).expect("arguments");
        let mut jiq = Jiq::from_spec(&arguments, &Site { receivers: 2, ..site(6) }).expect("a site");
        let lengths = |jiq: &Jiq| [jiq.lists[0].len, jiq.lists[1].len];
        assert_eq!(lengths(&jiq), [3, 3]);
        // Out of the middle of one list, and from its ends.
        [2, 0, 4].into_iter().for_each(|server| jiq.leave(server));
        assert_eq!((lengths(&jiq), jiq.lists[0].first), ([0, 3], NONE));
        [2, 0, 4].into_iter().for_each(|server| jiq.report(server));
        assert_eq!((lengths(&jiq), jiq.lists[0].first), ([3, 3], 2));
        jiq.report(4);
        assert_eq!(lengths(&jiq), [3, 3]);
    }

    #[test]
    fn bounds_are_said() {
        assert_eq!(
            refused("jiq:choices=0", &site(2)),
            "`jiq`: choices is `0`, must be a whole number from 1 to 1024"
        );
    }
}
