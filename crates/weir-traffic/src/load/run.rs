//! A run: requests leave when they are due, answers are taken in between, and late ones waited for at the end.
//!
//! One thread does both, so that a client takes one processor and no more. It takes what has come in where there is time
//! before the next request, and at least once in 256 requests; when an answer came is the kernel's word, so that it does
//! not matter when it is taken.
//!
//! The kernel is asked when it took a request for as many requests as cost little: 20,000 a second.
//!
//! | | |
//! |-|-|
//! | Source | [`super`] |
//! | Work | O(1) a request, and its share of system calls |
//! | Units | nanoseconds since the start |
//! | Time of a departure | read before its system call; those of one call are spread evenly over its duration, as they leave one after another |
//! | Departs from the source | an error that belongs to an earlier request is counted and the request sent; one of its own, and it counts as not sent |

use std::collections::BTreeMap;
use std::io;

use weir_core::units::{Instant, Nanos};

use super::flights::{Flights, Outcome};
use super::payload::{HEAD, Payload};
use super::plan::Plan;
use super::schedule::{Departure, Schedule};
use super::sockets::{Event, Line};
use super::tally::Tally;
use super::walls::{Steps, Walls};
use crate::generator::batch::{BATCH, Outgoing, TRIES, is_of_earlier, waits};
use crate::generator::clock::Clock;

/// The span from when everything is ready to the start.
const SOON: Nanos = Nanos::new(10_000_000);
/// A wait is long enough to take what has come in.
const SHORT_WAIT: Nanos = Nanos::new(30_000);
/// The number of requests that may leave before that is done without a wait.
const UNTAKEN: u32 = 256;
/// The most requests that are sent before the schedule is checked: several for each flow, where there is a backlog.
const HAND: usize = 4 * BATCH;
/// The number of requests a second for which the kernel is asked when it took them.
const ASKED: f64 = 20_000.0;
/// The longest wait for answers after somebody has asked to end.
const FAREWELL: Nanos = Nanos::new(1_000_000_000);
/// How often answers are looked for at the end.
const LOOK: Nanos = Nanos::new(1_000_000);
/// How far a time stamp may lie outside of what is possible and yet be taken: the two clocks are not read at once.
const SLACK: Nanos = Nanos::new(10_000);

/// What is counted of a run besides its windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    /// Answers to requests that were no longer waited for.
    pub(super) late: u64,
    /// Packets that answer nothing.
    pub(super) foreign: u64,
    /// Answers whose time is the process's.
    pub(super) unstamped: u64,
    /// Errors, by their number.
    pub(super) errors: BTreeMap<i32, u64>,
}

/// What a run has counted.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) tally: Tally,
    pub(super) beside: Beside,
    pub(super) given_up: u64,
    pub(super) dropped: u64,
    pub(super) wall_steps: Steps,
    /// Whether somebody has asked to end, and how long it then was since the start.
    pub(super) stopped: Option<Nanos>,
}

/// What a run has in hand.
pub(super) struct Run<'r, L, C> {
    plan: &'r Plan,
    line: &'r mut L,
    clock: &'r C,
    begin: Instant,
    flights: Flights,
    walls: Walls,
    tally: Tally,
    beside: Beside,
    events: Vec<Event>,
    hand: Vec<Departure>,
    requests: Vec<Outgoing<HEAD>>,
    /// How many requests have left since it was looked for answers; not zero either where there may be more of them.
    untaken: u32,
}

impl<'r, L: Line, C: Clock> Run<'r, L, C> {
    pub(super) fn new(plan: &'r Plan, line: &'r mut L, clock: &'r C) -> Self {
        Self {
            plan,
            line,
            clock,
            begin: clock.now() + SOON,
            flights: Flights::new(plan.flows, plan.patience),
            walls: Walls::new(clock),
            tally: Tally::new(plan.classes.len()),
            beside: Beside::default(),
            events: Vec::with_capacity(4 * BATCH),
            hand: Vec::with_capacity(HAND),
            requests: Vec::with_capacity(HAND),
            untaken: 0,
        }
    }

    /// Sends until the plan ends, or somebody asks to end; then waits for answers.
    pub(super) fn run(mut self) -> Counted {
        let mut schedule = Schedule::new(self.plan).peekable();
        while let Some(first) = schedule.peek().filter(|_| !self.clock.stopped()) {
            let (now, due) = (self.clock.now(), self.begin + first.due);
            let is_idle = due.since(now) > SHORT_WAIT && self.untaken > 0;
            if is_idle || self.untaken >= UNTAKEN {
                self.take();
            } else if now < due {
                self.clock.wait(due);
                // What comes in while nothing is due is taken too, so that it always finds room.
                self.untaken += u32::from(due - now > SHORT_WAIT);
            } else {
                let since = self.since(now);
                while self.hand.len() < HAND {
                    let Some(next) = schedule.next_if(|next| next.due <= since) else { break };
                    self.hand.push(next);
                }
                self.transmit(since);
            }
        }
        let stopped = self.clock.stopped().then(|| self.since(self.clock.now()));
        self.wait_for_answers();
        Counted {
            tally: self.tally,
            beside: self.beside,
            given_up: self.flights.given_up(),
            dropped: self.line.dropped(),
            wall_steps: self.walls.steps(),
            stopped,
        }
    }

    fn since(&self, now: Instant) -> Nanos {
        now.since(self.begin)
    }

    /// Sends what is in hand, flow by flow.
    fn transmit(&mut self, now: Nanos) {
        let mut hand = std::mem::take(&mut self.hand);
        hand.sort_unstable_by_key(|each| (each.flow, each.serial));
        let mut requests = std::mem::take(&mut self.requests);
        for of_flow in hand.chunk_by(|one, next| one.flow == next.flow) {
            of_flow.iter().for_each(|each| self.flights.depart(each, now));
            requests.clear();
            requests.extend(of_flow.iter().map(|each| self.request(each)));
            self.send(of_flow, &requests);
        }
        self.untaken += hand.len() as u32;
        hand.clear();
        (self.hand, self.requests) = (hand, requests);
    }

    /// Sends requests of one flow; what an error belongs to is skipped.
    fn send(&mut self, of_flow: &[Departure], requests: &[Outgoing<HEAD>]) {
        let (mut from, mut tries) = (0, 0);
        while from < of_flow.len() {
            let before = self.clock.now();
            match self.line.send(of_flow[from].flow, &requests[from..]) {
                Ok(count) if count > 0 => {
                    let until = (from + count).min(of_flow.len());
                    self.account(before, &of_flow[from..until], &requests[from..until]);
                    (from, tries) = (until, 0);
                }
                Err(error) if !waits(&error) => {
                    tries += 1;
                    self.failure(error.raw_os_error().unwrap_or(0));
                    if requests[from].stamped {
                        self.flights.lose_count(of_flow[from].flow);
                    }
                    if !is_of_earlier(&error) || tries == TRIES {
                        self.unsent(&of_flow[from]);
                        (from, tries) = (from + 1, 0);
                    }
                }
                _ if self.clock.stopped() => {
                    return of_flow[from..].iter().for_each(|each| self.unsent(each));
                }
                // There is no room, or a signal came.
                _ => {}
            }
        }
    }

    fn request(&self, departure: &Departure) -> Outgoing<HEAD> {
        let &Departure { due, serial, window, number, flow, class } = departure;
        let data = self.plan.classes[usize::from(class)].data;
        let due = (self.begin + due).get();
        let every = (self.plan.rate_of(window) / ASKED).ceil().max(1.0) as u64;
        Outgoing {
            head: Payload { data, number, due, flow, class: class.into() }.bytes(),
            zeros: self.plan.size - HEAD as u32,
            stamped: serial.is_multiple_of(every) && self.flights.may_ask(flow),
        }
    }

    fn account(&mut self, before: Instant, sent: &[Departure], requests: &[Outgoing<HEAD>]) {
        let duration = if sent.len() > 1 { self.clock.now().since(before).get() } else { 0 };
        for (index, (each, request)) in sent.iter().zip(requests).enumerate() {
            let left = before + Nanos::new(duration / sent.len() as u64 * index as u64);
            self.tally.sent(each.window, each.class, left.since(self.begin + each.due));
            if request.stamped {
                self.flights.ask(each.flow, each.number);
            }
        }
    }

    fn unsent(&mut self, departure: &Departure) {
        self.tally.unsent(departure.window, departure.class);
        self.flights.fail(departure.flow, departure.number);
    }

    fn failure(&mut self, errno: i32) {
        *self.beside.errors.entry(errno).or_default() += 1;
    }

    /// Takes what has come in, but only so much that the schedule does not wait long.
    fn take(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        let more = self.line.collect(&mut events);
        self.walls.look(self.clock);
        let now = self.since(self.clock.now());
        events.drain(..).for_each(|event| self.event(event, now));
        self.events = events;
        self.untaken = u32::from(more);
    }

    fn event(&mut self, event: Event, now: Nanos) {
        match event {
            Event::Left { flow, key, at } => {
                let at = self.walls.instant(at);
                self.flights.left(flow, key, self.since(at));
            }
            Event::Reply { flow, payload: Some(payload), at } => {
                let stamp = at.map(|at| self.since(self.walls.instant(at)));
                self.reply(flow, payload, stamp, now);
            }
            Event::Reply { payload: None, .. } => self.beside.foreign += 1,
            Event::Failed(errno) => self.failure(errno),
        }
    }

    fn reply(&mut self, flow: u16, payload: Payload, stamp: Option<Nanos>, now: Nanos) {
        // What was sent is since the start, as all times are here.
        let payload = Payload { due: payload.due.wrapping_sub(self.begin.get()), ..payload };
        match self.flights.answer(flow, &payload, now) {
            Outcome::Answer(flight, is_reordered) => {
                let earliest = flight.left.unwrap_or(flight.due);
                let is_possible = |at: &Nanos| *at + SLACK >= earliest && *at <= now + SLACK;
                let stamp = stamp.filter(is_possible);
                self.beside.unstamped += u64::from(stamp.is_none());
                self.tally.received(&flight, stamp.unwrap_or(now), is_reordered);
            }
            Outcome::Duplicate(flight) => self.tally.again(&flight),
            Outcome::Late => self.beside.late += 1,
            Outcome::Foreign => self.beside.foreign += 1,
        }
    }

    fn wait_for_answers(&mut self) {
        let patience =
            if self.clock.stopped() { self.plan.patience.min(FAREWELL) } else { self.plan.patience };
        let until = self.clock.now() + patience;
        loop {
            self.take();
            let now = self.clock.now();
            if self.flights.waiting() == 0 || now >= until {
                return;
            }
            if self.untaken == 0 {
                self.clock.wait(now + LOOK.min(until - now));
            }
        }
    }
}

/// What an error is called.
pub(super) fn error_name(errno: i32) -> String {
    match errno {
        0 => "of an unknown kind".to_owned(),
        _ => io::Error::from_raw_os_error(errno).to_string(),
    }
}
