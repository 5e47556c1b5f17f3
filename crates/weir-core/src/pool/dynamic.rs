//! Round robin over a number of servers that follows the delay (dynamic core allocation).
//!
//! The first servers of a list are in use. After every period the mean queueing delay of all requests whose service
//! began in it is compared with two thresholds: above the upper one a server more is used, below the lower one a server
//! less, one step a period. A period without requests changes nothing. A server that is no longer used serves what it
//! has; nothing is moved.
//!
//! With `remove` above `add` times min/(min + 1) the count oscillates between two numbers under a constant load: a
//! server less raises the delay above the upper threshold again.
//!
//! | | |
//! |-|-|
//! | Source | Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, dynamic core allocation |
//! | Needs to know | the queueing delays of a period |
//! | Work per request | O(1), and one step for each place passed over |
//! | Units | `add`, `remove`, `period`: time; `min`, `max`: places of the list |
//! | Memory | one word per place and per receiver |
//! | Departs from the source | the lower threshold, which it does not give; `max` beyond the list is its length, where the source would drop at the entry that is missing; as `rr` otherwise |

use super::cycle::{AVAILABLE, Cycle, STRICT};
use super::signal::{ADD, PERIOD, REMOVE, Signal};
use super::{Dispatcher, MAX_SERVERS, Measured, Part, ReceiverId, Rule, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "dynamic",
    kind: Kind::Dispatcher,
    title: "dynamic core allocation",
    rule: "round robin over as many servers as the queueing delay requires: one more above a threshold, one \
        less below another",
    source: "Ouyang, CS477 Advanced Operating Systems Lab1 Report, EPFL, 2024, dynamic core allocation",
    work: "O(1)",
    parameters: &[
        ADD,
        REMOVE,
        Parameter::new("min", Takes::Whole(1..=MAX_SERVERS as u64), "2")
            .listed("places of the list, at least 1, at most `max`")
            .meaning("how many servers are used at least, and at first"),
        Parameter::new("max", Takes::Whole(1..=MAX_SERVERS as u64), "all")
            .or(&["all"])
            .listed("places of the list, at least 1; or `all`")
            .meaning("how many servers are used at most; never more than the list has"),
        PERIOD,
        AVAILABLE,
        STRICT,
    ],
    example: "dynamic:add=50us",
};

/// Round robin over the servers in use.
#[derive(Clone, Debug)]
pub struct Dynamic {
    cycle: Cycle,
    signal: Signal,
    least: u32,
    most: u32,
    /// How many places are in use.
    count: u32,
    /// The next place, by receiver.
    turns: Vec<u32>,
}

impl Dynamic {
    /// As a spec names it.
    ///
    /// # Errors
    /// A bound or a threshold is none, `min` is above `max`, or `remove` above `add`.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let cycle = Cycle::from_spec(arguments, site)?;
        let least: u32 = arguments.whole("min")?;
        let most = match arguments.word("max")? {
            Some(_) => None,
            None => Some(arguments.whole("max")?),
        };
        if let Some(most) = most.filter(|most| least > *most) {
            return Err(arguments.error("min", format!("is {least}, must be at most max, which is {most}")));
        }
        let most = most.map_or(cycle.len(), |most| most.min(cycle.len()));
        let least = least.min(most);
        let signal = Signal::from_spec(arguments, least)?;
        Ok(Self { cycle, signal, least, most, count: least, turns: vec![0; site.receivers as usize] })
    }

    /// The places in use.
    #[inline]
    fn part(&self) -> Part {
        Part { first: 0, count: self.count, turn: 0 }
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for Dynamic {
    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        _item: &I,
        receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let part = self.part();
        let turn = self.turns.get_mut(receiver.0 as usize).ok_or(DropReason::Unclassified)?;
        self.cycle.next(part, turn)
    }

    fn period(&self) -> Option<Nanos> {
        Some(self.signal.period)
    }

    fn control(&mut self, _now: Instant, measured: &Measured<'_>) {
        match measured.all().mean() {
            Some(delay) if delay > self.signal.add && self.count < self.most => self.count += 1,
            Some(delay) if delay < self.signal.remove && self.count > self.least => self.count -= 1,
            _ => {}
        }
    }

    fn in_use(&self) -> Option<u32> {
        Some(self.count)
    }

    fn redirected(&self) -> u64 {
        self.cycle.redirected()
    }

    fn rule(&self) -> Option<Rule<'_>> {
        Some(self.cycle.rule([self.part(); 2]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::testing::{Named, refused, site};
    use proptest::prelude::*;

    fn servers(named: &mut Named, requests: usize) -> Vec<Option<u32>> {
        (0..requests).map(|_| named.send(0, 0)).collect()
    }

    #[test]
    fn the_count_follows_the_delay_a_step_a_period() {
        let mut named = Named::new("dynamic:add=50us", &site(4));
        assert_eq!((named.0.in_use(), named.0.period()), (Some(2), Some(Nanos::new(1_000_000_000))));
        let means = [51, 50, 1_000, 1_000, 20, 19, 19, 0, 0].map(|mean| named.control(&[Some(mean)]));
        assert_eq!(means, [3, 3, 4, 4, 4, 3, 2, 2, 2].map(Some));
        assert_eq!(named.control(&[Some(51)]), Some(3));
        assert_eq!(named.control(&[None]), Some(3));
        // The delay of all: (10 x 100 + 10 x 2) / 20 = 51.
        assert_eq!(named.control(&[Some(100), Some(2)]), Some(4));
    }

    #[test]
    fn a_turn_beyond_the_servers_in_use_is_brought_back() {
        let mut named = Named::new("dynamic:min=1", &site(3));
        named.control(&[Some(100)]);
        named.control(&[Some(100)]);
        assert_eq!(servers(&mut named, 2), [0, 1].map(Some));
        // The next would be 2 of three; of two it is 2 mod 2.
        named.control(&[Some(1)]);
        assert_eq!(servers(&mut named, 3), [0, 1, 0].map(Some));
    }

    #[test]
    fn the_most_is_the_length_of_the_list() {
        let mut named = Named::new("dynamic(max=8,available=1/2/3)", &site(7));
        (0..9).for_each(|_| drop(named.control(&[Some(100)]).map(|count| count.to_string())));
        assert_eq!(named.0.in_use(), Some(3));
        assert_eq!(servers(&mut named, 4), [1, 2, 3, 1].map(Some));
        assert_eq!(Named::new("dynamic", &site(1)).0.in_use(), Some(1));
    }

    #[test]
    fn the_rule_follows_the_count() {
        let mut named = Named::new("dynamic", &site(4));
        let counts = [Some(51), Some(51), Some(1)].map(|mean| {
            named.control(&[mean]);
            match named.0.rule() {
                Some(Rule::Cycle { parts: [short, long], .. }) if short == long => short.count,
                other => panic!("{other:?}"),
            }
        });
        assert_eq!(counts, [3, 4, 3]);
    }

    #[test]
    fn thresholds_and_bounds_that_are_none_are_refused() {
        for (spec, expected) in [
            ("dynamic:min=3,max=2", "`dynamic`: min is 3, must be at most max, which is 2"),
            ("dynamic:min=0", "`dynamic`: min is `0`, must be a whole number from 1 to 1024"),
            (
                "dynamic:add=50us,remove=60us",
                "`dynamic`: remove is 60us, must be at most add, which is 50us; above 33333ns, which is add \
                 x 2/(2 + 1), the count would oscillate",
            ),
            ("dynamic:add=50", "`dynamic`: add is `50`, must be a span of time such as 50us, at least 1ns"),
            (
                "dynamic:period=1ns",
                "`dynamic`: period is `1ns`, must be a span of time such as 1s, at least 1us",
            ),
        ] {
            assert_eq!(refused(spec, &site(7)), expected);
        }
    }

    proptest! {
        #[test]
        fn the_count_stays_in_its_bounds_and_moves_by_one(
            servers in 1_u32..12, least in 1_u32..5, beyond in 0_u32..12,
            means in proptest::collection::vec(proptest::option::of(0_u64..120), 0..60),
        ) {
            let mut named = Named::new(&format!("dynamic:min={least},max={}", least + beyond), &site(servers));
            let most = (least + beyond).min(servers);
            let mut count = named.0.in_use().expect("it says");
            prop_assert_eq!(count, least.min(most));
            for mean in means {
                let next = named.control(&[mean]).expect("it says");
                prop_assert!((least.min(most)..=most).contains(&next));
                prop_assert!(next.abs_diff(count) <= u32::from(mean.is_some()));
                prop_assert!(named.send(0, 0).expect("a server") < next);
                count = next;
            }
        }

        #[test]
        fn under_a_constant_load_it_ends_at_one_count_or_two_neighbours(load in 0_u64..2_000, remove in 0_u64..=50) {
            let mut named = Named::new(&format!("dynamic:min=1,remove={remove}us"), &site(16));
            let counts: Vec<u32> = (0..60).map(|_| {
                let count = u64::from(named.0.in_use().expect("it says"));
                named.control(&[Some(load / count)]).expect("it says")
            }).collect();
            let (low, high) = (counts[40..].iter().min(), counts[40..].iter().max());
            prop_assert!(high.expect("some") - low.expect("some") <= 1);
        }
    }
}
