//! Classes apart, each on a number of servers that follows its delay.
//!
//! The servers of a list are of three kinds. Those of class 0, the short requests, begin at the low end of the list,
//! those of all other classes, the long ones, at the high end; between them are free ones. After every period there are
//! three steps, by the mean queueing delay of each of the two over the period:
//!
//! 1. Who is below the lower threshold and has more than one server gives one back. Who had no requests gives back the
//!    last one too.
//! 2. Who is above the upper threshold takes a free server, of both the one of the longer delay; with `adds=each` both do, that
//!    one first. Who had requests and has no server takes one as well, before the others.
//! 3. If none is free, and one's delay is above the upper threshold and more than `ratio` times the other's, it takes a
//!    server from the other, but for the last.
//!
//! One server more in a period leaves the next one to who is worse off then, rather than to who came second now: with one
//! each, two servers of which the short requests need both are parted evenly.
//!
//! Requests of who has no server go to the other's. A server that is taken away serves what it has; nothing is moved. A
//! period without any request changes nothing.
//!
//! | | |
//! |-|-|
//! | Source | Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, the conclusion, which names separation and dynamic allocation together and gives no algorithm |
//! | Needs to know | the class of a request, the queueing delays of a period |
//! | Work per request | O(1), and one step for each place passed over |
//! | Units | `add`, `remove`, `period`: time |
//! | Memory | one word per place, two per receiver |
//! | Departs from the source | the algorithm is ours |

use super::cycle::{AVAILABLE, Cycle, STRICT};
use super::rr_separated::part_of;
use super::signal::{ADD, PERIOD, REMOVE, Signal};
use super::{Dispatcher, Measured, Part, ReceiverId, Rule, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "dynamic_separated",
    kind: Kind::Dispatcher,
    title: "dynamic core allocation, separate classes",
    rule: "class 0 and all other classes have separate servers, each as many as its queueing delay requires",
    source: "Ouyang, CS477 Advanced Operating Systems Lab1 Report, EPFL, 2024, conclusion",
    work: "O(1)",
    parameters: &[
        ADD,
        REMOVE,
        PERIOD,
        Parameter::new("ratio", Takes::Real(1.0..=1e6), "4").meaning(
            "how many times as long as the other's its delay must be for a class to take a server from the \
             other when none is free",
        ),
        Parameter::new("adds", Takes::Words(&["one", "each"]), "one").meaning(
            "whether a period adds one server, for the class with the longer delay, or one for each class \
             whose delay is above `add`",
        ),
        AVAILABLE,
        STRICT,
    ],
    example: "dynamic_separated:add=50us",
};

/// Round robin over two parts of the servers that grow and shrink.
#[derive(Clone, Debug)]
pub struct DynamicSeparated {
    cycle: Cycle,
    signal: Signal,
    ratio: f64,
    /// Whether each of the two may take a server in one period.
    adds_each: bool,
    /// How many servers the short and the long ones have.
    counts: [u32; 2],
    /// The next place of each part, by receiver.
    turns: Vec<[u32; 2]>,
}

impl DynamicSeparated {
    /// As a spec names it.
    ///
    /// # Errors
    /// A threshold is none, or `remove` is above `add`.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let cycle = Cycle::from_spec(arguments, site)?;
        let signal = Signal::from_spec(arguments, 1)?;
        let ratio = arguments.real("ratio")?;
        let adds_each = arguments.choice("adds", [false, true])?;
        let counts = [1, u32::from(cycle.len() > 1)];
        let turns = vec![[0; 2]; site.receivers as usize];
        Ok(Self { cycle, signal, ratio, adds_each, counts, turns })
    }

    fn free(&self) -> u32 {
        self.cycle.len() - self.counts[0] - self.counts[1]
    }

    /// The places that one of the two takes: the short ones from the low end, the long ones up to the high end; who has
    /// none takes the other's, in the other's turn.
    #[inline]
    fn part(&self, own: usize) -> Part {
        let of = if self.counts[own] > 0 { own } else { 1 - own };
        let count = self.counts[of];
        Part { first: if of == 0 { 0 } else { self.cycle.len() - count }, count, turn: of as u32 }
    }

    /// The first step.
    fn give_back(&mut self, means: [Option<Nanos>; 2]) {
        for (count, mean) in self.counts.iter_mut().zip(means) {
            let below = mean.is_none_or(|mean| mean < self.signal.remove);
            if below && *count > u32::from(mean.is_some()) {
                *count -= 1;
            }
        }
    }

    /// The second and the third step, of one of the two; whether it takes a server.
    fn take(&mut self, of: usize, means: [Option<Nanos>; 2]) -> bool {
        let other = 1 - of;
        let Some(mean) = means[of] else { return false };
        let lacks = self.counts[of] == 0;
        if mean <= self.signal.add && !lacks {
            return false;
        }
        let others = means[other].unwrap_or_default();
        let far_above = mean > self.signal.add && mean.get() as f64 > self.ratio * others.get() as f64;
        if self.free() > 0 {
            self.counts[of] += 1;
        } else if (far_above || lacks) && self.counts[other] > 1 {
            self.counts[other] -= 1;
            self.counts[of] += 1;
        } else {
            return false;
        }
        true
    }
}

/// The mean delays of the short ones and of all others.
fn means(measured: &Measured<'_>) -> [Option<Nanos>; 2] {
    let (short, long) = measured.classes.split_at(measured.classes.len().min(1));
    [short, long].map(|classes| Measured { classes, ..*measured }.all()).map(|delays| delays.mean())
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for DynamicSeparated {
    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        item: &I,
        receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let part = self.part(part_of(item.class()));
        let turns = self.turns.get_mut(receiver.0 as usize).ok_or(DropReason::Unclassified)?;
        self.cycle.next(part, &mut turns[part.turn as usize])
    }

    fn period(&self) -> Option<Nanos> {
        Some(self.signal.period)
    }

    fn control(&mut self, _now: Instant, measured: &Measured<'_>) {
        let means = means(measured);
        if means == [None; 2] {
            return;
        }
        self.give_back(means);
        let lacks = |of: usize| self.counts[of] == 0 && means[of].is_some();
        let first = usize::from((lacks(1), means[1]) > (lacks(0), means[0]));
        let took = self.take(first, means);
        if self.adds_each || !took {
            self.take(1 - first, means);
        }
    }

    fn in_use(&self) -> Option<u32> {
        Some(self.counts[0] + self.counts[1])
    }

    fn redirected(&self) -> u64 {
        self.cycle.redirected()
    }

    fn rule(&self) -> Option<Rule<'_>> {
        Some(self.cycle.rule([0, 1].map(|own| self.part(own))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::testing::{Request, Stated, measured_us, request, site_of};
    use proptest::prelude::*;

    const TWO: [(f64, u64); 2] = [(0.9, 1_950), (0.1, 3_420)];

    fn over(servers: u32) -> DynamicSeparated {
        named("dynamic_separated", servers)
    }

    fn named(spec: &str, servers: u32) -> DynamicSeparated {
        let spec = spec.parse().expect("a spec");
        let arguments = Arguments::new(&spec, &INFO).expect("none");
        DynamicSeparated::from_spec(&arguments, &site_of(servers, &TWO)).expect("a site")
    }

    /// A period in which the short and the long ones waited for these times, in microseconds; returns the counts then.
    fn step(dispatcher: &mut DynamicSeparated, short: Option<u64>, long: Option<u64>) -> [u32; 2] {
        measured_us(&[short, long], |measured| {
            Dispatcher::<Request>::control(dispatcher, Instant::ZERO, measured);
        });
        dispatcher.counts
    }

    fn sent(dispatcher: &mut DynamicSeparated, class: u16) -> u32 {
        let servers = Stated::default();
        dispatcher
            .dispatch(Instant::ZERO, &request(0, class, 1), ReceiverId(0), &servers)
            .expect("a server")
            .0
    }

    #[test]
    fn the_two_grow_from_both_ends() {
        let mut pool = over(5);
        assert_eq!((pool.counts, sent(&mut pool, 0), sent(&mut pool, 1)), ([1, 1], 0, 4));
        assert_eq!(step(&mut pool, Some(51), Some(50)), [2, 1]);
        assert_eq!(step(&mut pool, Some(60), Some(70)), [2, 2]);
        assert_eq!(step(&mut pool, Some(70), Some(60)), [3, 2]);
        let turns: Vec<u32> = [0, 0, 0, 0, 1, 1, 1].map(|class| sent(&mut pool, class)).into();
        // The short ones' turn was at 1 of one, which is 0.
        assert_eq!(turns, [0, 1, 2, 0, 3, 4, 3]);
    }

    #[test]
    fn a_period_adds_one_server_or_one_for_each() {
        // The short ones need both free servers: with one a period they are still the worse off when the second is given.
        let mut pool = over(7);
        pool.counts = [4, 1];
        assert_eq!(step(&mut pool, Some(823), Some(618)), [5, 1]);
        assert_eq!(step(&mut pool, Some(637), Some(618)), [6, 1]);
        let mut pool = named("dynamic_separated:adds=each", 7);
        pool.counts = [4, 1];
        assert_eq!(step(&mut pool, Some(823), Some(618)), [5, 2]);
        // What the first cannot be given is left to the second: here nothing, since nobody is far above the other.
        assert_eq!(step(&mut pool, Some(637), Some(256)), [5, 2]);
    }

    #[test]
    fn the_last_free_server_is_for_the_longer_delay() {
        let mut pool = over(3);
        assert_eq!(step(&mut pool, Some(60), Some(61)), [1, 2]);
        let mut pool = over(3);
        assert_eq!(step(&mut pool, Some(60), Some(60)), [2, 1]);
    }

    #[test]
    fn below_the_lower_threshold_one_is_given_back_but_not_the_last() {
        let mut pool = DynamicSeparated { counts: [3, 2], ..over(5) };
        assert_eq!(step(&mut pool, Some(19), Some(20)), [2, 2]);
        assert_eq!(step(&mut pool, Some(0), Some(0)), [1, 1]);
        assert_eq!(step(&mut pool, Some(0), Some(0)), [1, 1]);
        // What the short ones give back the long ones take in the same period.
        let mut pool = DynamicSeparated { counts: [3, 2], ..over(5) };
        assert_eq!(step(&mut pool, Some(1), Some(51)), [2, 3]);
    }

    #[test]
    fn where_none_is_free_far_more_delay_takes_one_over_but_not_the_last() {
        let mut pool = DynamicSeparated { counts: [2, 3], ..over(5) };
        assert_eq!(step(&mut pool, Some(400), Some(100)), [2, 3]);
        assert_eq!(step(&mut pool, Some(401), Some(100)), [3, 2]);
        assert_eq!(step(&mut pool, Some(401), Some(100)), [4, 1]);
        assert_eq!(step(&mut pool, Some(401), Some(100)), [4, 1]);
        assert_eq!(step(&mut pool, Some(40), Some(9)), [4, 1]);
    }

    #[test]
    fn who_has_no_requests_gives_back_the_last_and_has_one_again_in_the_next_period() {
        let mut pool = over(3);
        assert_eq!(step(&mut pool, Some(60), None), [2, 0]);
        assert_eq!(step(&mut pool, Some(60), None), [3, 0]);
        assert_eq!((sent(&mut pool, 1), sent(&mut pool, 0), sent(&mut pool, 1)), (0, 1, 2));
        // None is free: the short ones, who have more than one, give it.
        assert_eq!(step(&mut pool, Some(60), Some(30)), [2, 1]);
        assert_eq!(sent(&mut pool, 1), 2);
        assert_eq!(step(&mut pool, None, None), [2, 1]);
    }

    #[test]
    fn the_rule_of_who_has_none_is_the_others_part_and_turn() {
        let mut pool = over(3);
        let parts = |pool: &DynamicSeparated| match Dispatcher::<Request>::rule(pool) {
            Some(Rule::Cycle { parts, .. }) => parts.map(|part| (part.first, part.count, part.turn)),
            other => panic!("{other:?}"),
        };
        assert_eq!(parts(&pool), [(0, 1, 0), (2, 1, 1)]);
        step(&mut pool, Some(60), None);
        assert_eq!(parts(&pool), [(0, 2, 0); 2]);
        step(&mut pool, None, Some(60));
        assert_eq!(parts(&pool), [(0, 1, 0), (2, 1, 1)]);
    }

    #[test]
    fn one_server_serves_both() {
        let mut pool = over(1);
        for means in [(Some(99), Some(1)), (None, Some(60)), (Some(60), Some(60)), (Some(0), None)] {
            let counts = step(&mut pool, means.0, means.1);
            assert_eq!(counts[0] + counts[1], 1);
            assert_eq!((sent(&mut pool, 0), sent(&mut pool, 1)), (0, 0));
        }
    }

    proptest! {
        #[test]
        fn the_parts_stay_disjoint_and_never_empty_together(
            servers in 1_u32..9,
            periods in proptest::collection::vec(proptest::array::uniform2(proptest::option::of(0_u64..300)), 0..80),
        ) {
            let mut pool = over(servers);
            for [short, long] in periods {
                let before = pool.counts;
                let counts = step(&mut pool, short, long);
                prop_assert!(counts[0] + counts[1] >= 1 && counts[0] + counts[1] <= servers);
                prop_assert!((0..2).all(|of| counts[of].abs_diff(before[of]) <= 1));
                let (short, long) = (sent(&mut pool, 0), sent(&mut pool, 1));
                if counts[0] > 0 && counts[1] > 0 {
                    prop_assert!(short < counts[0] && long >= servers - counts[1]);
                }
            }
        }
    }
}
