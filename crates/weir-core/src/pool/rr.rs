//! Round robin: each request joins the next server of a list.
//!
//! Each receiver goes through the list by itself, so that receivers share nothing. A place of the list may lead to no
//! server, as an entry of a map may be missing.
//!
//! | | |
//! |-|-|
//! | Source | `bpf_redirect_map` over a `BPF_MAP_TYPE_CPUMAP`; Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, round robin |
//! | Needs to know | nothing |
//! | Work per request | O(1), and one step for each place passed over |
//! | Units | `cores`: places of the list |
//! | Memory | one word per place and per receiver |
//! | Departs from the source | a turn is used, then moved on; a place that leads to no server is passed over, where the source drops (`strict=abort`); the next turn is behind the place that was found |

use super::cycle::{AVAILABLE, Cycle, STRICT};
use super::{Dispatcher, MAX_SERVERS, Part, ReceiverId, Rule, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "rr",
    kind: Kind::Dispatcher,
    title: "round robin over servers",
    rule: "each request joins the next server of a list; each receiver goes through the list independently",
    source: "Ouyang, CS477 Advanced Operating Systems Lab1 Report, EPFL, 2024; BPF_MAP_TYPE_CPUMAP",
    work: "O(1)",
    parameters: &[
        Parameter::new("cores", Takes::Whole(1..=MAX_SERVERS as u64), "all")
            .or(&["all"])
            .listed("places of the list, at least 1; or `all`")
            .meaning("how many servers of the list are in use, from the first"),
        AVAILABLE,
        STRICT,
    ],
    example: "rr",
};

/// Round robin over the servers.
#[derive(Clone, Debug)]
pub struct Rr {
    cycle: Cycle,
    cores: u32,
    /// The next place, by receiver.
    turns: Vec<u32>,
}

impl Rr {
    /// As a spec names it.
    ///
    /// # Errors
    /// The list names no servers of the site, or has fewer places than are to be used.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let cycle = Cycle::from_spec(arguments, site)?;
        let cores = match arguments.word("cores")? {
            Some(_) => cycle.len(),
            None => arguments.whole_in("cores", 1..=cycle.len().into())?,
        };
        Ok(Self { cycle, cores, turns: vec![0; site.receivers as usize] })
    }

    /// The places in use.
    #[inline]
    fn part(&self) -> Part {
        Part { first: 0, count: self.cores, turn: 0 }
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for Rr {
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
    fn each_receiver_takes_the_servers_in_turn() {
        let mut rr = Named::new("rr", &Site { receivers: 2, ..site(3) });
        let sent: Vec<_> = [0, 0, 1, 0, 1, 0].map(|receiver| rr.send(receiver, 0)).into();
        assert_eq!(sent, [0, 1, 0, 2, 1, 0].map(Some));
        // A receiver that is none of the site has no turn.
        assert_eq!(rr.send(2, 0), None);
    }

    #[test]
    fn only_so_many_of_the_list_are_used() {
        assert_eq!(servers(&mut Named::new("rr:2", &site(3)), 4), [0, 1, 0, 1].map(Some));
        let mut listed = Named::new("rr(2,available=2/0/1)", &site(3));
        assert_eq!(servers(&mut listed, 4), [2, 0, 2, 0].map(Some));
    }

    #[test]
    fn a_missing_place_is_passed_over_or_aborts() {
        let mut rr = Named::new("rr:available=0/none/none/2", &site(3));
        assert_eq!(servers(&mut rr, 5), [0, 2, 0, 2, 0].map(Some));
        assert_eq!(rr.0.redirected(), 2);
        let mut strict = Named::new("rr(available=0/none/2,strict=abort)", &site(3));
        assert_eq!(servers(&mut strict, 4), [Some(0), None, Some(2), Some(0)]);
        assert_eq!(strict.0.redirected(), 0);
        assert_eq!(servers(&mut Named::new("rr:available=none", &site(3)), 2), [None, None]);
    }

    #[test]
    fn the_rule_is_one_part_for_all_classes() {
        let rr = Named::new("rr(2,available=1/none/0,strict=abort)", &site(3));
        let part = Part { first: 0, count: 2, turn: 0 };
        let places = &[Some(ServerId(1)), None, Some(ServerId(0))];
        assert_eq!(rr.0.rule(), Some(Rule::Cycle { places, strict: true, parts: [part; 2] }));
    }

    #[test]
    fn lists_that_are_none_are_refused() {
        for (spec, expected) in [
            ("rr:0", "`rr`: cores is `0`, must be a whole number from 1 to 3"),
            ("rr:4", "`rr`: cores is `4`, must be a whole number from 1 to 3"),
            ("rr:available=0/3", "`rr`: available names `3`, must name servers from 0 to 2 or `none`"),
            ("rr:available=1/1", "`rr`: available names server `1` twice, name it once"),
            ("rr:strict=yes", "`rr`: strict is `yes`, must be one of `no`, `abort`"),
        ] {
            assert_eq!(refused(spec, &site(3)), expected);
        }
    }

    proptest! {
        #[test]
        fn servers_differ_by_one_request_of_each_receiver(
            servers in 1_u32..9, receivers in proptest::collection::vec(0_u32..3, 0..200),
        ) {
            let mut rr = Named::new("rr", &Site { receivers: 3, ..site(servers) });
            let mut joined = vec![[0_u32; 3]; servers as usize];
            for receiver in receivers {
                let server = rr.send(receiver, 0).expect("a server");
                joined[server as usize][receiver as usize] += 1;
            }
            for receiver in 0..3 {
                let of_it = || joined.iter().map(|by| by[receiver]);
                prop_assert!(of_it().max().expect("some") - of_it().min().expect("some") <= 1);
            }
        }

        #[test]
        fn whatever_turn_was_left_is_brought_into_range(turn in any::<u32>(), first in 0_u32..4, count in 1_u32..5) {
            let spec = "rr".parse().expect("a spec");
            let mut cycle = Cycle::from_spec(&Arguments::new(&spec, &INFO).expect("none"), &site(8)).expect("a site");
            let mut left = turn;
            let server = cycle.next(Part { first, count, turn: 0 }, &mut left);
            prop_assert_eq!(server, Ok(ServerId(first + turn % count)));
            prop_assert_eq!(left, (turn % count + 1) % count);
        }
    }
}
