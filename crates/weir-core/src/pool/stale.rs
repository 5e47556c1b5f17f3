//! A dispatcher that sees the queues as they were: as they stood on a board that is written every so often, or some time ago.
//!
//! With `every` all receivers read one board, on which the lengths of the queues are written at the beginning and after each
//! period. With `delay` each change of a length becomes known that long after it. What was sent meanwhile is not added.
//!
//! Old lengths mislead: whoever was shortest when the board was written is sent everything until it is written again. So the
//! more a dispatcher compares, the worse it does with an old view, and beyond some age it does worse than `random`, where
//! two choices still help.
//!
//! | | |
//! |-|-|
//! | Source | Mitzenmacher, *How useful is old information?*, IEEE Transactions on Parallel and Distributed Systems 11, 2000: periodic update, and continuous update with a constant delay |
//! | Needs to know | when requests come to servers and leave them |
//! | Work per request | that of the dispatcher inside; O(servers) a period |
//! | Units | `every`, `delay`: time |
//! | Memory | two words per server; with `delay` two words per change that is not known yet |
//! | Departs from the source | nothing |

use std::collections::VecDeque;

use super::lengths::{self, Lengths, controlled_inside};
use super::terms::A_SECOND;
use super::{Dispatcher, Heard, ReceiverId, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::registry::dispatcher;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "stale",
    kind: Kind::Dispatcher,
    title: "an old view of the queues",
    rule: "a dispatcher sees the queues as they were when they were last written down, or some time ago",
    source: "Mitzenmacher, How useful is old information?, IEEE TPDS 11, 2000",
    work: "as the dispatcher inside",
    parameters: &[
        Parameter::new("dispatcher", Takes::Discipline(Role::Dispatcher), "jsq")
            .listed("a dispatcher that looks at lengths")
            .meaning("decides by what it sees"),
        Parameter::new("every", Takes::Span(Nanos::ONE..=A_SECOND), "none")
            .or(&["none"])
            .meaning("how often the lengths are written down; `none`: `delay` is given"),
        Parameter::new("delay", Takes::Span(Nanos::ONE..=A_SECOND), "none")
            .or(&["none"])
            .meaning("after how long a change is known; `none`: `every` is given"),
    ],
    example: "stale(jsq,every=50us)",
};

/// When lengths become known.
#[derive(Clone, Debug)]
enum Age {
    /// After each period; when the next one is over.
    Every(Nanos, Instant),
    /// At this span after each change; the changes that are not known yet.
    Delay(Nanos, VecDeque<(Instant, ServerId, u32)>),
}

/// A dispatcher with an old view.
pub struct Stale<I> {
    inside: Box<dyn Dispatcher<I> + Send>,
    age: Age,
    /// Lengths as they are, and as they are known.
    lengths: Vec<u32>,
    known: Vec<u32>,
}

impl<I: Item<Cost = Nanos> + Send + 'static> Stale<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let inside = dispatcher(&arguments.nested("dispatcher")?, site)?;
        lengths::looks::<I>(&*inside, arguments, "dispatcher")?;
        let age = match (arguments.word("every")?, arguments.word("delay")?) {
            (None, Some(_)) => {
                let every = arguments.span("every")?;
                Age::Every(every, Instant::new(every.get()))
            }
            (Some(_), None) => Age::Delay(arguments.span("delay")?, VecDeque::new()),
            (None, None) => {
                return Err(
                    arguments.error("delay", "cannot be combined with every, keep one of the two".to_owned())
                );
            }
            (Some(_), Some(_)) => {
                let reason =
                    "is missing, and so is delay; write how old the view is, as in `stale(jsq,every=50us)`";
                return Err(arguments.error("every", reason.to_owned()));
            }
        };
        let none = vec![0; site.servers as usize];
        Ok(Self { inside, age, lengths: none.clone(), known: none })
    }
}

impl<I> Stale<I> {
    /// Whatever has become known by now.
    fn look(&mut self, now: Instant) {
        match &mut self.age {
            Age::Every(_, next) if now < *next => {}
            Age::Every(every, next) => {
                self.known.copy_from_slice(&self.lengths);
                let periods = (now.get() / every.get()).saturating_add(1);
                *next = Instant::new(periods.saturating_mul(every.get()));
            }
            Age::Delay(delay, changes) => {
                while let Some(&(_, server, length)) =
                    changes.front().filter(|(at, ..)| now.since(*at) >= *delay)
                {
                    self.known[server.0 as usize] = length;
                    changes.pop_front();
                }
            }
        }
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for Stale<I> {
    fn dispatch(
        &mut self,
        now: Instant,
        item: &I,
        receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        self.look(now);
        self.inside.dispatch(now, item, receiver, &Lengths(&self.known))
    }

    controlled_inside!();

    fn redirected(&self) -> u64 {
        self.inside.redirected()
    }

    fn hears(&self) -> bool {
        true
    }

    fn heard(&mut self, now: Instant, heard: &Heard) {
        // What was written down at this instant is what was there before.
        self.look(now);
        if let Some(length) = self.lengths.get_mut(heard.server.0 as usize) {
            *length = heard.length;
            if let Age::Delay(_, changes) = &mut self.age {
                changes.push_back((now, heard.server, heard.length));
            }
        }
        if self.inside.hears() {
            self.inside.heard(now, heard);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::testing::{pool_named, refused, request, site};

    /// Three servers, requests of 100 each.
    #[test]
    fn between_two_looks_all_go_where_it_was_shortest() {
        let mut pool = pool_named("stale(jsq,every=50ns)", &site(3));
        let mut id = 0;
        let mut offer = |at| {
            id += 1;
            pool.offer(at, request(id, 0, 100));
            [0, 1, 2].map(|server| pool.pool.length(crate::pool::ServerId(server)).expect("a length"))
        };
        assert_eq!([0, 10, 49].map(&mut offer), [[1, 0, 0], [2, 0, 0], [3, 0, 0]]);
        // At 50 the first has 3; the second is the shortest until 100.
        assert_eq!([50, 99].map(&mut offer), [[3, 1, 0], [3, 2, 0]]);
        assert_eq!([120, 130].map(&mut offer), [[3, 2, 1], [3, 2, 2]]);
        // Long after, everything is known.
        assert_eq!(offer(1_000), [3, 3, 2]);
        assert_eq!(offer(1_040), [3, 4, 2]);
        assert_eq!(offer(1_050), [3, 4, 3]);
    }

    #[test]
    fn a_change_is_known_after_the_delay() {
        let mut pool = pool_named("stale(jsq,delay=20ns)", &site(2));
        let lengths = |pool: &crate::pool::testing::Driven| {
            [0, 1].map(|server| pool.pool.length(crate::pool::ServerId(server)).expect("a length"))
        };
        for (id, at, expected) in
            [(0, 0, [1, 0]), (1, 19, [2, 0]), (2, 20, [2, 1]), (3, 39, [2, 2]), (4, 41, [2, 3])]
        {
            pool.offer(at, request(id, 0, 100));
            assert_eq!(lengths(&pool), expected, "{id}");
        }
        // The second becomes idle at 140, which is known from 160 on.
        [120, 130, 140].into_iter().for_each(|at| pool.finish(at, 1));
        pool.offer(150, request(5, 0, 100));
        assert_eq!(lengths(&pool), [2, 1]);
        pool.offer(159, request(6, 0, 100));
        assert_eq!(lengths(&pool), [2, 2]);
    }

    #[test]
    fn what_is_no_age_or_looks_at_nothing_is_refused() {
        for (spec, expected) in [
            (
                "stale:jsq",
                "`stale`: every is missing, and so is delay; write how old the view is, as in `stale(jsq,every=50us)`",
            ),
            (
                "stale(jsq,every=1us,delay=1us)",
                "`stale`: delay cannot be combined with every, keep one of the two",
            ),
            (
                "stale(rr,every=1us)",
                "`stale`: dispatcher is `rr`, which does not look at the lengths of queues; take one that does, such as \
                 `jsq`",
            ),
        ] {
            assert_eq!(refused(spec, &site(2)), expected);
        }
        assert!(refused("stale(jsq,every=0s)", &site(2)).contains("must be a span from 1ns to 1s"));
    }
}
