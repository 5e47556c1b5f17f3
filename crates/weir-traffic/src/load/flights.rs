//! Requests whose answers may still come, and which request an answer belongs to.
//!
//! The numbers of a flow follow each other, so that its requests are a queue, and an answer finds its request by its
//! number. A request is forgotten when its answer has been waited for long enough, answered or not: a second answer
//! within that time is a duplicate.
//!
//! | | |
//! |-|-|
//! | Source | RFC 4737, section 3.3: an answer is out of order where one to a later request of the flow came before |
//! | Work | O(1) a request, amortised |
//! | Units | nanoseconds since the start |
//! | Memory | 40 bytes a request, of at most 2^20 requests; when there are more, the oldest of the flow is forgotten early |

use std::collections::VecDeque;

use weir_core::units::Nanos;

use super::payload::Payload;
use super::schedule::Departure;

/// The most requests that are remembered.
const MOST: usize = 1 << 20;

/// A request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// When it was due.
    pub due: Nanos,
    /// When the kernel took it; `None` where that is not known.
    pub left: Option<Nanos>,
    /// The window.
    pub window: u32,
    /// The class.
    pub class: u8,
    /// When it was sent, from when on its answer is waited for.
    sent: Nanos,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Answered,
    Failed,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The first to its request; whether one to a later request of the flow came before it.
    Answer(Flight, bool),
    /// Another one to a request that was answered.
    Duplicate(Flight),
    /// To a request that is forgotten.
    Late,
    /// To nothing that was sent.
    Foreign,
}

/// The requests of one flow.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// The number of the first that is remembered.
    first: u32,
    flights: VecDeque<Flight>,
    /// How far answers have come: the number after the highest that was answered.
    expected: Option<u32>,
    /// The numbers of the requests for which the kernel was asked when it took them and has not reported it yet, in order.
    asked: VecDeque<u32>,
    /// How the kernel counts the first of them.
    key: u32,
    /// Whether it is no longer known how the kernel counts.
    is_lost_count: bool,
}

impl Flow {
    /// The place of a request, which may not be remembered.
    const fn place(&self, number: u32) -> usize {
        number.wrapping_sub(self.first) as usize
    }

    fn forget_first(&mut self) -> Option<Flight> {
        let first = self.flights.pop_front()?;
        if self.asked.front() == Some(&self.first) {
            self.asked.pop_front();
            self.key = self.key.wrapping_add(1);
        }
        self.first = self.first.wrapping_add(1);
        Some(first)
    }
}

/// All requests whose answers may still come.
#[derive(Clone, Debug)]
pub struct Flights {
    flows: Vec<Flow>,
    patience: Nanos,
    remembered: usize,
    waiting: usize,
    most: usize,
    /// How many were forgotten before their time.
    given_up: u64,
}

impl Flights {
    /// No request yet, of `flows` flows.
    #[must_use]
    pub fn new(flows: u16, patience: Nanos) -> Self {
        let flows = vec![Flow::default(); usize::from(flows)];
        Self { flows, patience, remembered: 0, waiting: 0, most: MOST, given_up: 0 }
    }

    /// How many answers are waited for.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many requests were forgotten before their time, as there were too many.
    #[must_use]
    pub const fn given_up(&self) -> u64 {
        self.given_up
    }

    /// A request is sent now; the next of its flow.
    pub fn depart(&mut self, departure: &Departure, now: Nanos) {
        self.expire(departure.flow, now);
        if self.remembered >= self.most {
            self.given_up += u64::from(self.forget(departure.flow));
        }
        let Departure { due, window, class, .. } = *departure;
        let flight = Flight { due, left: None, window, class, sent: now, state: State::Waiting };
        self.flows[usize::from(departure.flow)].flights.push_back(flight);
        self.remembered += 1;
        self.waiting += 1;
    }

    /// It was sent, and the kernel was asked when it takes it.
    pub fn ask(&mut self, flow: u16, number: u32) {
        self.flows[usize::from(flow)].asked.push_back(number);
    }

    /// An error came where the kernel was asked about a request: it is not known whether the kernel counted it.
    pub fn lose_count(&mut self, flow: u16) {
        self.flows[usize::from(flow)].is_lost_count = true;
    }

    /// It could not be sent.
    pub fn fail(&mut self, flow: u16, number: u32) {
        let flow = &mut self.flows[usize::from(flow)];
        let place = flow.place(number);
        if let Some(flight) = flow.flights.get_mut(place).filter(|flight| flight.state == State::Waiting) {
            flight.state = State::Failed;
            self.waiting -= 1;
        }
    }

    /// Whether the kernel may be asked about requests of a flow.
    #[must_use]
    pub fn may_ask(&self, flow: u16) -> bool {
        !self.flows[usize::from(flow)].is_lost_count
    }

    /// The kernel says when it took the request that it counts as `key`.
    pub fn left(&mut self, flow: u16, key: u32, at: Nanos) {
        let flow = &mut self.flows[usize::from(flow)];
        // What the kernel has not reported is passed over; what is forgotten is far ahead, as numbers wrap.
        let ahead = key.wrapping_sub(flow.key) as usize;
        if flow.is_lost_count || ahead >= flow.asked.len() {
            return;
        }
        flow.key = key.wrapping_add(1);
        let Some(number) = flow.asked.drain(..=ahead).next_back() else { return };
        let place = flow.place(number);
        if let Some(flight) = flow.flights.get_mut(place) {
            flight.left = Some(at);
        }
    }

    /// What an answer is that came over a flow.
    pub fn answer(&mut self, flow: u16, reply: &Payload, now: Nanos) -> Outcome {
        self.expire(flow, now);
        if reply.flow != flow {
            return Outcome::Foreign;
        }
        let flow = &mut self.flows[usize::from(flow)];
        let place = flow.place(reply.number);
        let Some(flight) = flow.flights.get_mut(place) else {
            // Of the numbers that are not remembered, the half before the first has been sent.
            let is_earlier = flow.first.wrapping_sub(reply.number) <= flow.first.min(u32::MAX / 2);
            return if is_earlier { Outcome::Late } else { Outcome::Foreign };
        };
        if flight.due.get() != reply.due || u16::from(flight.class) != reply.class {
            return Outcome::Foreign;
        }
        if flight.state == State::Answered {
            return Outcome::Duplicate(*flight);
        }
        self.waiting -= usize::from(flight.state == State::Waiting);
        flight.state = State::Answered;
        let flight = *flight;
        let is_behind = |expected: u32| expected.wrapping_sub(reply.number) as i32 > 0;
        let is_reordered = flow.expected.is_some_and(is_behind);
        if !is_reordered {
            flow.expected = Some(reply.number.wrapping_add(1));
        }
        Outcome::Answer(flight, is_reordered)
    }

    /// Forgets what has been waited for long enough.
    fn expire(&mut self, flow: u16, now: Nanos) {
        let patience = self.patience;
        let is_over = |flight: &Flight| flight.sent + patience < now;
        while self.flows[usize::from(flow)].flights.front().is_some_and(is_over) {
            self.forget(flow);
        }
    }

    /// Forgets the oldest of a flow; whether its answer was waited for.
    fn forget(&mut self, flow: u16) -> bool {
        let Some(flight) = self.flows[usize::from(flow)].forget_first() else { return false };
        let was_waiting = flight.state == State::Waiting;
        self.remembered -= 1;
        self.waiting -= usize::from(was_waiting);
        was_waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::new(1_000_000_000);

    fn departure(number: u32) -> Departure {
        let due = Nanos::new(u64::from(number) * 1000);
        Departure { due, serial: u64::from(number), window: 0, number, flow: 0, class: 1 }
    }

    fn reply(number: u32) -> Payload {
        Payload { data: 10, number, due: u64::from(number) * 1000, flow: 0, class: 1 }
    }

    fn flights(count: u32) -> Flights {
        let mut flights = Flights::new(1, SECOND);
        (0..count).for_each(|number| flights.depart(&departure(number), Nanos::new(0)));
        flights
    }

    fn order(flights: &mut Flights, numbers: &[u32]) -> Vec<Option<bool>> {
        let each = |number: &u32| match flights.answer(0, &reply(*number), Nanos::new(0)) {
            Outcome::Answer(_, is_reordered) => Some(is_reordered),
            _ => None,
        };
        numbers.iter().map(each).collect()
    }

    #[test]
    fn answers_out_of_order_are_those_behind_a_later_one() {
        let all = order(&mut flights(6), &[0, 3, 1, 2, 4, 5]);
        assert_eq!(all, [false, false, true, true, false, false].map(Some));
    }

    #[test]
    fn a_second_answer_is_a_duplicate_and_no_answer() {
        let mut flights = flights(2);
        assert_eq!(order(&mut flights, &[0, 0, 1, 0]), [Some(false), None, Some(false), None]);
        assert!(matches!(flights.answer(0, &reply(0), Nanos::new(0)), Outcome::Duplicate(_)));
        assert_eq!(flights.waiting(), 0);
    }

    #[test]
    fn what_was_not_sent_is_foreign() {
        let mut flights = flights(2);
        let one = reply(1);
        for other in [
            Payload { number: 2, ..one },
            Payload { number: u32::MAX, ..one },
            Payload { due: 7, ..one },
            Payload { flow: 1, ..one },
            Payload { class: 0, ..one },
        ] {
            assert_eq!(flights.answer(0, &other, Nanos::new(0)), Outcome::Foreign, "{other:?}");
        }
        assert_eq!(flights.waiting(), 2);
    }

    #[test]
    fn answers_are_late_when_their_requests_are_forgotten() {
        let mut flights = flights(1);
        // What leaves late is waited for as long as all others.
        flights.depart(&departure(1), Nanos::new(9));
        flights.depart(&departure(2), Nanos::new(9));
        assert_eq!(flights.answer(0, &reply(0), SECOND + Nanos::new(1)), Outcome::Late);
        assert_eq!(flights.waiting(), 2);
        assert!(matches!(flights.answer(0, &reply(1), SECOND + Nanos::new(9)), Outcome::Answer(..)));
        // The memory of a run does not grow with its length.
        for number in 3..100_000 {
            let now = Nanos::new(u64::from(number) * 1_000_000);
            flights.depart(&departure(number), now);
        }
        assert!(flights.remembered <= 1001 && flights.flows[0].flights.capacity() < 4096);
    }

    #[test]
    fn numbers_begin_again_after_the_last() {
        let mut flights = Flights::new(1, SECOND);
        flights.flows[0].first = u32::MAX;
        for number in [u32::MAX, 0, 1] {
            flights.depart(&Departure { due: Nanos::new(5), ..departure(number) }, Nanos::new(0));
        }
        let order = [0, u32::MAX, 1]
            .map(|number| flights.answer(0, &Payload { due: 5, ..reply(number) }, Nanos::new(0)));
        let reordered = order.map(|outcome| matches!(outcome, Outcome::Answer(_, true)));
        assert_eq!(reordered, [false, true, false]);
    }

    #[test]
    fn the_oldest_are_given_up_where_there_are_too_many() {
        let mut flights = Flights { most: 10, ..Flights::new(1, SECOND) };
        (0..15).for_each(|number| flights.depart(&departure(number), Nanos::new(0)));
        assert_eq!((flights.remembered, flights.waiting(), flights.given_up()), (10, 10, 5));
    }

    #[test]
    fn time_stamps_of_the_kernel_find_their_requests() {
        let mut flights = flights(6);
        [0, 2, 4].into_iter().for_each(|number| flights.ask(0, number));
        // Of the second the kernel says nothing.
        flights.left(0, 0, Nanos::new(10));
        flights.left(0, 2, Nanos::new(30));
        flights.left(0, 1, Nanos::new(20));
        flights.left(0, 9, Nanos::new(90));
        let left = (0..6).map(|number| match flights.answer(0, &reply(number), Nanos::new(0)) {
            Outcome::Answer(flight, _) => flight.left.map(Nanos::get),
            other => panic!("{other:?}"),
        });
        assert_eq!(left.collect::<Vec<_>>(), [Some(10), None, None, None, Some(30), None]);
    }

    #[test]
    fn an_error_ends_the_count_of_the_kernel() {
        let mut flights = flights(2);
        flights.ask(0, 0);
        flights.fail(0, 1);
        assert!(flights.may_ask(0) && flights.waiting() == 1);
        flights.lose_count(0);
        flights.left(0, 0, Nanos::new(1));
        assert!(!flights.may_ask(0));
        assert!(matches!(
            flights.answer(0, &reply(0), Nanos::new(0)),
            Outcome::Answer(Flight { left: None, .. }, _)
        ));
    }

    #[test]
    fn what_the_kernel_never_tells_of_is_forgotten_with_its_request() {
        let mut flights = Flights::new(1, SECOND);
        for number in 0..10_000 {
            let now = Nanos::new(u64::from(number) * 1_000_000);
            flights.depart(&Departure { due: now, ..departure(number) }, now);
            flights.ask(0, number);
        }
        assert!(flights.flows[0].asked.len() <= 1001);
        flights.left(0, 3, Nanos::new(7));
        flights.left(0, 9_999, Nanos::new(7));
        assert_eq!(flights.flows[0].flights.back().and_then(|flight| flight.left), Some(Nanos::new(7)));
        assert!(flights.flows[0].asked.is_empty());
    }
}
