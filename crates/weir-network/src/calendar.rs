//! What happens next in the plain engine, in the order of time and at one instant of those who act.
//!
//! A link has at most one time for itself and one for its packets, and both change with almost every packet: they are held
//! in a tournament, where a time is replaced and not searched. What is due at the instant at which it is noted, such as a
//! packet that an acknowledgement lets go, is on a short list in order. The rest is in a heap: packets of sources, those on
//! their way through hosts, and timers.
//!
//! | | |
//! |-|-|
//! | Work | O(log links) a time of a link; O(n) with n due at one instant, mostly one; O(log flows) for the rest |
//! | Memory | 24 bytes a link, up to four entries of 16 bytes a flow |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tournament::Tournament;
use weir_core::units::Instant;

/// Up to this many entries are held in order; more, as where all flows begin at once, go to the heap.
const FEW: usize = 32;

/// Who acts next. The order of the variants, then of the numbers, is the order at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// A link changes by itself.
    Link(u32),
    /// The first packet on its way from a link arrives.
    FromLink(u32),
    /// A flow sends its next packet.
    Flow(u32),
    /// An acknowledgement of a flow leaves its host.
    Acknowledgement(u32),
    /// The timer of a transfer runs out.
    Timer(u32),
}

/// When a flow acts and how: the instant, the kind, the number, as one number whose order is theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    #[inline]
    fn new(at: Instant, actor: Actor) -> Self {
        let (kind, number) = match actor {
            Actor::Link(number) => (0, number),
            Actor::FromLink(number) => (1, number),
            Actor::Flow(number) => (2, number),
            Actor::Acknowledgement(number) => (3, number),
            Actor::Timer(number) => (4, number),
        };
        Self(u128::from(at.get()) << 64 | kind << 32 | u128::from(number))
    }

    #[inline]
    fn at(self) -> Instant {
        Instant::new((self.0 >> 64) as u64)
    }

    #[inline]
    fn actor(self) -> Actor {
        let number = self.0 as u32;
        match (self.0 >> 32) as u32 {
            0 => Actor::Link(number),
            1 => Actor::FromLink(number),
            2 => Actor::Flow(number),
            3 => Actor::Acknowledgement(number),
            _ => Actor::Timer(number),
        }
    }
}

/// The calendar.
pub struct Calendar {
    links: u32,
    /// When each link changes by itself, then when the first packet on its way from each arrives.
    heads: Vec<Instant>,
    tournament: Tournament,
    /// What flows do at this instant, the first last.
    due: Vec<Entry>,
    /// What they do later.
    later: BinaryHeap<Reverse<Entry>>,
    now: Instant,
}

impl Calendar {
    /// An empty calendar of `links` links.
    #[must_use]
    pub fn new(links: usize) -> Self {
        let heads = vec![Instant::NEVER; (2 * links).max(1)];
        let mut tournament = Tournament::new(heads.len());
        tournament.play(&heads);
        Self {
            links: links as u32,
            heads,
            tournament,
            due: Vec::new(),
            later: BinaryHeap::new(),
            now: Instant::ZERO,
        }
    }

    /// When a link changes by itself.
    #[inline]
    pub fn wake_link(&mut self, link: usize, at: Instant) {
        self.replace(link, at);
    }

    /// When the first packet on its way from a link arrives.
    #[inline]
    pub fn arrive_from(&mut self, link: usize, at: Instant) {
        self.replace(self.links as usize + link, at);
    }

    #[inline]
    fn replace(&mut self, input: usize, at: Instant) {
        if self.heads[input] != at {
            self.heads[input] = at;
            self.tournament.replace(input, &self.heads);
        }
    }

    /// A flow acts once, unless never.
    #[inline]
    pub fn note(&mut self, at: Instant, actor: Actor) {
        let entry = Entry::new(at, actor);
        if at <= self.now && self.due.len() < FEW {
            let place = self.due.partition_point(|&due| due > entry);
            self.due.insert(place, entry);
        } else if at != Instant::NEVER {
            self.later.push(Reverse(entry));
        }
    }

    /// When something happens next, or [`Instant::NEVER`].
    #[must_use]
    pub fn next_at(&self) -> Instant {
        let flows = self.flow().map_or(Instant::NEVER, Entry::at);
        flows.min(self.heads[self.tournament.winner()])
    }

    /// What a flow does next.
    #[inline]
    fn flow(&self) -> Option<Entry> {
        let later = self.later.peek().map(|later| later.0);
        match (self.due.last().copied(), later) {
            (Some(due), Some(later)) => Some(due.min(later)),
            (due, later) => due.or(later),
        }
    }

    /// What happens next. Of a link, it happens again until its time is replaced.
    #[inline]
    pub fn first(&mut self) -> Option<(Instant, Actor)> {
        let link = self.tournament.winner();
        let (at, flow) = (self.heads[link], self.flow());
        if flow.is_some_and(|flow| flow.at() < at) {
            return self.take_flow();
        }
        if at == Instant::NEVER {
            return None;
        }
        self.now = at;
        let (link, links) = (link as u32, self.links);
        Some((at, if link < links { Actor::Link(link) } else { Actor::FromLink(link - links) }))
    }

    #[inline]
    fn take_flow(&mut self) -> Option<(Instant, Actor)> {
        let due = self.due.last().copied();
        let is_due = due.is_some_and(|due| self.later.peek().is_none_or(|later| due < later.0));
        let entry = if is_due { self.due.pop() } else { self.later.pop().map(|later| later.0) }?;
        self.now = entry.at();
        Some((entry.at(), entry.actor()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINKS: u32 = 3;

    /// Everything in one list, of which the least is searched.
    #[derive(Default)]
    struct Oracle(Vec<(Instant, Actor)>);

    impl Oracle {
        fn replace(&mut self, at: Instant, actor: Actor) {
            self.0.retain(|entry| entry.1 != actor);
            self.note(at, actor);
        }

        fn note(&mut self, at: Instant, actor: Actor) {
            self.0.extend((at != Instant::NEVER).then_some((at, actor)));
        }

        fn next(&self) -> Option<(Instant, Actor)> {
            self.0.iter().copied().min()
        }

        fn remove(&mut self, first: (Instant, Actor)) {
            let place = self.0.iter().position(|entry| *entry == first);
            if let Some(place) = place {
                self.0.swap_remove(place);
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_searched_list(steps in prop::collection::vec((0..7_u8, 0..9_u32, 0..4_u64), 0..300)) {
            let (mut calendar, mut oracle) = (Calendar::new(LINKS as usize), Oracle::default());
            let mut now = Instant::ZERO;
            for (deed, number, after) in steps {
                let at = if after == 3 { Instant::NEVER } else { Instant::new(now.get() + after) };
                let link = number % LINKS;
                match deed {
                    0 => {
                        calendar.wake_link(link as usize, at);
                        oracle.replace(at, Actor::Link(link));
                    }
                    1 => {
                        calendar.arrive_from(link as usize, at);
                        oracle.replace(at, Actor::FromLink(link));
                    }
                    2..5 => {
                        let actor = [Actor::Flow, Actor::Acknowledgement, Actor::Timer][usize::from(deed) - 2](number);
                        calendar.note(at, actor);
                        oracle.note(at, actor);
                    }
                    _ => {
                        prop_assert_eq!(calendar.next_at(), oracle.next().map_or(Instant::NEVER, |next| next.0));
                        let next = calendar.first();
                        prop_assert_eq!(next, oracle.next());
                        let Some((at, actor)) = next else { continue };
                        now = at;
                        oracle.remove((at, actor));
                        match actor {
                            Actor::Link(link) => calendar.wake_link(link as usize, Instant::NEVER),
                            Actor::FromLink(link) => calendar.arrive_from(link as usize, Instant::NEVER),
                            _ => {}
                        }
                    }
                }
            }
        }
    }
}
