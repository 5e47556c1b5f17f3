//! Requests that go to several cores: which sub-requests and copies of a request are there, and what is needed of them.
//!
//! A request is *over* when it is answered, by as many of its sub-requests as it needs, or lost, where fewer than these are left
//! that may still be answered. A sub-request is answered by the first of its copies that is served to its end.
//!
//! | | |
//! |-|-|
//! | Work | O(1) a sub-request; O(log requests) more a request that may be sent a second time; O(cores) more an answer where services are stopped |
//! | Memory | the requests of which anything is there, with their sub-requests; a histogram of responses a class where copies wait for a quantile |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::requests::{NOBODY, Slot, Slots};
use crate::model::{After, Cancel, FanOut as Model, Hedge, ServerScenario};
use crate::record::Came;
use crate::source::Parts;
use crate::source::parts::Needs;
use weir_core::pool::{Apart, ServerId};
use weir_core::units::{Instant, Nanos};
use weir_lab::stats::Histogram;

/// Before this many responses of a class a quantile of them says nothing.
const SEEN: u64 = 100;
/// So few timers are kept in any case.
const FEW: usize = 64;

/// A request of which something is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    /// As it arrived.
    pub(super) request: Slot,
    /// What it takes on idle cores.
    pub(super) alone: Nanos,
    /// The place of its first sub-request among all that came before the discipline.
    pub(super) number: u64,
    /// Its place among all that arrived.
    serial: u64,
    /// Sub-requests that are answered, and those that may be.
    answers: u32,
    open: u32,
    /// Sub-requests and copies that exist.
    there: u32,
    /// Whether it is answered or lost.
    is_over: bool,
}

impl Whole {
    /// Whether it is still the request of this serial, and not over.
    fn waits(&self, serial: u64) -> bool {
        self.serial == serial && !self.is_over
    }
}

/// A sub-request.
#[derive(Clone, Copy, Debug)]
struct Leg {
    /// The slot of its first copy.
    slot: u32,
    /// The core that the first copy joined, where it joined one.
    server: Option<ServerId>,
    /// Copies that exist.
    copies: u32,
    is_answered: bool,
    /// What a second copy needs.
    second: Needs,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug)]
struct Home {
    whole: u32,
    leg: u32,
    is_copy: bool,
}

/// What the end of a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Not needed.
    Spare,
    /// Needed, and more are.
    Needed,
    /// The last that was needed.
    Last,
}

/// When second copies go.
#[derive(Debug)]
struct Hedging {
    hedge: Hedge,
    /// When, of which request: its serial and its place.
    timers: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    /// By class, where a quantile says when.
    seen: Vec<Seen>,
}

/// The responses of a class.
#[derive(Debug, Default)]
struct Seen {
    responses: Histogram,
    /// The number of responses at which the quantile is looked up again.
    next: u64,
    after: Option<Nanos>,
}

/// The requests of a replication that go to several cores.
#[derive(Debug)]
pub(super) struct FanOut {
    pub(super) model: Model,
    pub(super) parts: Parts,
    pub(super) apart: Apart,
    wholes: Vec<Whole>,
    free: Vec<u32>,
    /// Those of a request one after the other.
    legs: Vec<Leg>,
    homes: Vec<Home>,
    hedging: Option<Hedging>,
    scratch: Vec<Nanos>,
}

impl FanOut {
    /// `None` where requests go to one core.
    pub(super) fn new(scenario: &ServerScenario, replication: u32) -> Option<Self> {
        let model = scenario.fan_out?;
        let classes = scenario.classes.len();
        let hedging = model.hedge.map(|hedge| Hedging {
            hedge,
            timers: BinaryHeap::new(),
            seen: std::iter::repeat_with(Seen::default).take(classes).collect(),
        });
        Some(Self {
            model,
            parts: Parts::new(scenario, model, replication),
            apart: Apart::new(scenario.site.servers),
            wholes: Vec::new(),
            free: Vec::new(),
            legs: Vec::new(),
            homes: Vec::new(),
            hedging,
            scratch: Vec::new(),
        })
    }

    /// Keeps a request whose sub-requests have been drawn, the one of this number; `None` where there are too many.
    pub(super) fn keep(&mut self, slots: &mut Slots, request: Slot, serial: u64) -> Option<u32> {
        let to = self.model.to;
        let whole = Whole {
            request,
            alone: self.parts.alone(&mut self.scratch),
            number: 0,
            serial,
            answers: 0,
            open: to,
            there: to,
            is_over: false,
        };
        let id = self.place(whole);
        for leg in 0..to {
            let needs = self.parts.parts()[leg as usize];
            let slot = slots.keep(request.part(needs.service, needs.known))?;
            let second = self.parts.copies().get(leg as usize).copied().unwrap_or(needs);
            let place = self.leg_of(id, leg);
            self.legs[place] = Leg { slot, server: None, copies: 1, is_answered: false, second };
            self.move_in(slot, Home { whole: id, leg, is_copy: false });
        }
        Some(id)
    }

    /// A place for a request.
    fn place(&mut self, whole: Whole) -> u32 {
        if let Some(free) = self.free.pop() {
            self.wholes[free as usize] = whole;
            return free;
        }
        self.wholes.push(whole);
        let needs = Needs { service: Nanos::ZERO, known: Nanos::ZERO };
        let none = Leg { slot: NOBODY, server: None, copies: 0, is_answered: false, second: needs };
        self.legs.resize(self.wholes.len() * self.model.to as usize, none);
        self.wholes.len() as u32 - 1
    }

    #[inline]
    fn leg_of(&self, whole: u32, leg: u32) -> usize {
        whole as usize * self.model.to as usize + leg as usize
    }

    fn move_in(&mut self, slot: u32, home: Home) {
        let place = slot as usize;
        if place >= self.homes.len() {
            self.homes.resize(place + 1, home);
        }
        self.homes[place] = home;
    }

    /// The request of a sub-request or copy.
    #[inline]
    pub(super) fn whole_of(&self, slot: u32) -> (u32, &Whole) {
        let id = self.homes[slot as usize].whole;
        (id, &self.wholes[id as usize])
    }

    /// What a slot holds, for a sink that follows each sub-request.
    pub(super) fn came(&self, slot: u32) -> Came {
        let Home { whole, leg, is_copy } = self.homes[slot as usize];
        Came { id: self.wholes[whole as usize].serial, attempt: 1, part: leg, is_copy }
    }

    /// Whether a slot holds a second copy.
    #[inline]
    pub(super) fn is_copy(&self, slot: u32) -> bool {
        self.homes[slot as usize].is_copy
    }

    /// The slot of a sub-request.
    #[inline]
    pub(super) fn slot(&self, whole: u32, leg: u32) -> u32 {
        self.legs[self.leg_of(whole, leg)].slot
    }

    /// A sub-request has come before the discipline, as the one of this number, and joined the core that was noted last.
    #[inline]
    pub(super) fn joined(&mut self, whole: u32, leg: u32, number: u64) {
        let place = self.leg_of(whole, leg);
        self.legs[place].server = self.apart.last();
        if leg == 0 {
            self.wholes[whole as usize].number = number;
        }
    }

    /// What is to be cancelled of a slot whose request is over, or answered by another copy; `None` while it is needed.
    #[inline]
    fn cancelled(&self, slot: u32) -> Option<Cancel> {
        let home = self.homes[slot as usize];
        let hedge = self.hedging.as_ref().map(|hedging| hedging.hedge.cancel);
        if self.legs[self.leg_of(home.whole, home.leg)].is_answered {
            return Some(hedge.unwrap_or(self.model.cancel));
        }
        self.wholes[home.whole as usize].is_over.then_some(self.model.cancel)
    }

    /// Whether a slot that waits is not to be served when its turn comes.
    #[inline]
    pub(super) fn is_dropped(&self, slot: u32) -> bool {
        self.cancelled(slot).is_some_and(|cancel| cancel != Cancel::None)
    }

    /// Whether a slot in service is to be stopped, of a request that an answer has just come for.
    #[inline]
    pub(super) fn is_stopped(&self, slot: u32, whole: u32) -> bool {
        self.homes[slot as usize].whole == whole && self.cancelled(slot) == Some(Cancel::All)
    }

    /// Whether anything in service is to be stopped, now that this answer has come.
    #[inline]
    pub(super) fn stops(&self, answer: Answer) -> bool {
        let is_all = |hedging: &Hedging| hedging.hedge.cancel == Cancel::All;
        let of_copies = answer != Answer::Spare && self.hedging.as_ref().is_some_and(is_all);
        of_copies || (answer == Answer::Last && self.model.cancel == Cancel::All)
    }

    /// A copy has been served to its end.
    #[inline]
    pub(super) fn answer(&mut self, slot: u32) -> Answer {
        let home = self.homes[slot as usize];
        let place = self.leg_of(home.whole, home.leg);
        let (leg, whole) = (&mut self.legs[place], &mut self.wholes[home.whole as usize]);
        leg.copies -= 1;
        if whole.is_over || leg.is_answered {
            return Answer::Spare;
        }
        leg.is_answered = true;
        whole.answers += 1;
        whole.open -= 1;
        whole.is_over = whole.answers == self.model.need;
        if whole.is_over { Answer::Last } else { Answer::Needed }
    }

    /// A copy is not served to its end; whether its request is lost by that.
    pub(super) fn lose(&mut self, slot: u32) -> bool {
        let home = self.homes[slot as usize];
        let place = self.leg_of(home.whole, home.leg);
        let (leg, whole) = (&mut self.legs[place], &mut self.wholes[home.whole as usize]);
        leg.copies -= 1;
        if leg.copies == 0 && !leg.is_answered {
            whole.open -= 1;
        }
        let is_lost = !whole.is_over && whole.answers + whole.open < self.model.need;
        whole.is_over |= is_lost;
        is_lost
    }

    /// A copy is there no more, and its request neither if it was the last.
    #[inline]
    pub(super) fn leave(&mut self, slot: u32) {
        let id = self.homes[slot as usize].whole;
        let whole = &mut self.wholes[id as usize];
        whole.there -= 1;
        if whole.there == 0 {
            self.free.push(id);
        }
    }

    /// A request of a class has been answered after this long.
    pub(super) fn saw(&mut self, class: u16, response: Nanos) {
        let Some(Hedging { hedge: Hedge { after: After::Quantile(p), .. }, seen, .. }) = &mut self.hedging
        else {
            return;
        };
        let seen = &mut seen[usize::from(class)];
        seen.responses.record(response.get());
        let count = seen.responses.count();
        if count >= seen.next.max(SEEN) {
            seen.after = seen.responses.quantile(*p).map(|nanoseconds| Nanos::new(nanoseconds as u64));
            seen.next = count + count / 8;
        }
    }

    /// The sub-requests of a request go: when they are to be sent a second time.
    pub(super) fn set_timer(&mut self, now: Instant, id: u32, slots: &mut Slots) {
        let Some(hedging) = &mut self.hedging else { return };
        let whole = &self.wholes[id as usize];
        let after = match hedging.hedge.after {
            After::Span(span) => Some(span),
            After::Quantile(_) => hedging.seen[usize::from(whole.request.class)].after,
        };
        let Some(after) = after else { return };
        // Timers of requests that are over go where there are more of them than of others.
        if hedging.timers.len() > 2 * (self.wholes.len() - self.free.len()) + FEW {
            let wholes = &self.wholes;
            hedging.timers.retain(|Reverse((_, serial, id))| wholes[*id as usize].waits(*serial));
        }
        hedging.timers.push(Reverse((now.after(after), whole.serial, id)));
        self.wholes[id as usize].alone = self.alone(id, after, slots);
    }

    /// What a request takes on idle cores where second copies go after `after`.
    fn alone(&mut self, id: u32, after: Nanos, slots: &mut Slots) -> Nanos {
        let first = self.leg_of(id, 0);
        let legs = &self.legs[first..first + self.model.to as usize];
        let sooner = |leg: &Leg| slots.of(leg.slot).service.min(after + leg.second.service);
        self.scratch.clear();
        self.scratch.extend(legs.iter().map(sooner));
        *self.scratch.select_nth_unstable(self.model.need as usize - 1).1
    }

    /// When sub-requests go a second time next, or [`Instant::NEVER`].
    #[inline]
    pub(super) fn next_timer(&mut self) -> Instant {
        let Some(hedging) = &mut self.hedging else { return Instant::NEVER };
        while let Some(&Reverse((at, serial, id))) = hedging.timers.peek() {
            if self.wholes[id as usize].waits(serial) {
                return at;
            }
            hedging.timers.pop();
        }
        Instant::NEVER
    }

    /// The request whose sub-requests go a second time at [`Self::next_timer`].
    pub(super) fn take_timer(&mut self) -> Option<u32> {
        self.hedging.as_mut()?.timers.pop().map(|Reverse((_, _, id))| id)
    }

    /// A second copy of a sub-request that exists and is not answered, kept in a slot; the core of the first is noted.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn second(
        &mut self,
        slots: &mut Slots,
        now: Instant,
        id: u32,
        leg: u32,
    ) -> Result<Option<u32>, ()> {
        let place = self.leg_of(id, leg);
        let (sub_request, whole) = (&mut self.legs[place], &mut self.wholes[id as usize]);
        if whole.is_over || sub_request.is_answered || sub_request.copies == 0 {
            return Ok(None);
        }
        sub_request.copies += 1;
        whole.there += 1;
        self.apart.clear();
        if let Some(server) = sub_request.server {
            self.apart.add(server);
        }
        let Needs { service, known } = sub_request.second;
        let mut copy = whole.request.part(service, known);
        copy.arrived = now;
        let slot = slots.keep(copy).ok_or(())?;
        self.move_in(slot, Home { whole: id, leg, is_copy: true });
        Ok(Some(slot))
    }
}
