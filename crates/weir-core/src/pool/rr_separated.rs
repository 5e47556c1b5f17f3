//! Round robin with the classes apart: short requests have servers of their own.
//!
//! The list of servers has two parts. Class 0, the short requests, takes the servers of the first in turn; all other
//! classes, the long ones, those of the second. So no short request waits behind a long one, and no idle server of one
//! part helps the other. How many servers are of the short ones follows from what they need: their share of the work of
//! all, rounded to servers, at least one for each part that has requests.
//!
//! | | |
//! |-|-|
//! | Source | Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, round robin with core separation |
//! | Needs to know | the class of a request; of the classes, beforehand, how much work they are |
//! | Work per request | O(1), and one step for each place passed over |
//! | Units | `short`: places of the list |
//! | Memory | one word per place, two per receiver |
//! | Departs from the source | the parts follow from the demand unless given, where the source has 3 of 7; as `rr` otherwise; a list of one place serves both |

use super::cycle::{AVAILABLE, Cycle, STRICT};
use super::{Dispatcher, MAX_SERVERS, Part, ReceiverId, Rule, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::{ClassId, Item};
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "rr_separated",
    kind: Kind::Dispatcher,
    title: "round robin, separate classes",
    rule: "class 0 takes the first servers of a list in turn, all other classes the rest",
    source: "Ouyang, CS477 Advanced Operating Systems Lab1 Report, EPFL, 2024, core separation",
    work: "O(1)",
    parameters: &[
        Parameter::new("short", Takes::Whole(1..=MAX_SERVERS as u64), "demand")
            .or(&["demand"])
            .listed("places of the list, at least 1, and at least 1 less than there are; or `demand`")
            .meaning("how many servers class 0 has; `demand`: in proportion to its part of the work"),
        AVAILABLE,
        STRICT,
    ],
    example: "rr_separated",
};

/// Which part of the list a class takes: 0 the short ones, 1 all others.
#[inline]
pub(super) fn part_of(class: ClassId) -> usize {
    usize::from(class.0 > 0)
}

/// Round robin over two parts of the servers.
#[derive(Clone, Debug)]
pub struct RrSeparated {
    cycle: Cycle,
    /// Of the short and of the long ones.
    parts: [Part; 2],
    /// The next place of each part, by receiver.
    turns: Vec<[u32; 2]>,
}

impl RrSeparated {
    /// As a spec names it.
    ///
    /// # Errors
    /// The list names no servers of the site, or a part of it would have none.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let cycle = Cycle::from_spec(arguments, site)?;
        let places = cycle.len();
        let short = match arguments.word("short")? {
            Some(_) => by_demand(site, places),
            None if places < 2 => {
                let text = arguments.text("short")?;
                let reason = format!("is `{text}`, which needs two servers or more; the list has {places}");
                return Err(arguments.error("short", reason));
            }
            None => arguments.whole_in("short", 1..=u64::from(places - 1))?,
        };
        let long = if places > short {
            Part { first: short, count: places - short, turn: 1 }
        } else {
            Part { first: 0, count: places, turn: 1 }
        };
        Ok(Self {
            cycle,
            parts: [Part { first: 0, count: short, turn: 0 }, long],
            turns: vec![[0; 2]; site.receivers as usize],
        })
    }
}

/// How many of `places` places class 0 needs.
fn by_demand(site: &Site, places: u32) -> u32 {
    let least_long = u32::from(site.classes.len() > 1 && places > 1);
    let needed = (f64::from(places) * site.work(0)).round() as u32;
    needed.clamp(1, places - least_long)
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for RrSeparated {
    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        item: &I,
        receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let turns = self.turns.get_mut(receiver.0 as usize).ok_or(DropReason::Unclassified)?;
        let part = self.parts[part_of(item.class())];
        self.cycle.next(part, &mut turns[part.turn as usize])
    }

    fn redirected(&self) -> u64 {
        self.cycle.redirected()
    }

    fn rule(&self) -> Option<Rule<'_>> {
        Some(self.cycle.rule(self.parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::testing::{Named, refused, site, site_of};
    use proptest::prelude::*;

    fn sent(named: &mut Named, classes: &[u16]) -> Vec<Option<u32>> {
        classes.iter().map(|&class| named.send(0, class)).collect()
    }

    #[test]
    fn each_class_takes_its_servers_in_turn() {
        let site = Site { receivers: 2, ..site_of(7, &[(0.9, 1_950), (0.1, 3_420)]) };
        let mut named = Named::new("rr_separated:3", &site);
        let expected = [0, 3, 1, 4, 2, 5, 0, 6, 3].map(Some);
        assert_eq!(sent(&mut named, &[0, 1, 0, 1, 0, 1, 0, 1, 1]), expected);
        assert_eq!([named.send(1, 0), named.send(1, 1)], [Some(0), Some(3)]);
        // Every class behind the first is a long one.
        assert_eq!(named.send(0, 9), Some(4));
    }

    #[test]
    fn the_parts_follow_from_the_demand() {
        let short = |servers, classes: &[(f64, u64)]| by_demand(&site_of(servers, classes), servers);
        // 0.9 x 1.95 of 0.9 x 1.95 + 0.1 x 3.42 is 0.837: 5.86 of 7.
        assert_eq!(short(7, &[(0.9, 1_950), (0.1, 3_420)]), 6);
        assert_eq!(short(14, &[(0.5, 1_000), (0.5, 100_000)]), 1);
        assert_eq!(short(8, &[(1.0, 1_000), (0.0, 1_000)]), 7);
        assert_eq!(short(8, &[(0.0, 0), (0.0, 0)]), 1);
        assert_eq!(short(5, &[(1.0, 10)]), 5);
        assert_eq!(short(1, &[(0.5, 10), (0.5, 10)]), 1);
    }

    #[test]
    fn the_rule_has_a_part_and_a_turn_for_each() {
        let parts =
            |servers, spec| match Named::new(spec, &site_of(servers, &[(0.5, 10), (0.5, 10)])).0.rule() {
                Some(Rule::Cycle { parts, .. }) => parts.map(|part| (part.first, part.count, part.turn)),
                other => panic!("{other:?}"),
            };
        assert_eq!(parts(7, "rr_separated:3"), [(0, 3, 0), (3, 4, 1)]);
        assert_eq!(parts(1, "rr_separated"), [(0, 1, 0), (0, 1, 1)]);
    }

    #[test]
    fn one_server_serves_both_and_a_given_split_needs_two() {
        let two = [(0.5, 10), (0.5, 10)];
        assert_eq!(sent(&mut Named::new("rr_separated", &site_of(1, &two)), &[0, 1]), [Some(0), Some(0)]);
        assert_eq!(
            refused("rr_separated:1", &site_of(1, &two)),
            "`rr_separated`: short is `1`, which needs two servers or more; the list has 1"
        );
        assert_eq!(
            refused("rr_separated:3", &site(3)),
            "`rr_separated`: short is `3`, must be a whole number from 1 to 2"
        );
    }

    proptest! {
        #[test]
        fn no_request_leaves_the_servers_of_its_class(
            servers in 2_u32..12, share in 0.0_f64..=1.0, given in proptest::option::of(1_u32..12),
            classes in proptest::collection::vec(0_u16..5, 0..100),
        ) {
            let site = site_of(servers, &[(share, 1_000), (1.0 - share, 4_000)]);
            let given = given.map(|short| short.min(servers - 1));
            let short = given.unwrap_or_else(|| by_demand(&site, servers));
            let spec = given.map_or("rr_separated".to_owned(), |short| format!("rr_separated:{short}"));
            let mut named = Named::new(&spec, &site);
            for class in classes {
                let server = named.send(0, class).expect("a server");
                prop_assert_eq!(server < short, class == 0);
            }
        }
    }
}
