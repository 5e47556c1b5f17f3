//! The alarms of a worker: who is to be woken, or what posted, and when; of equal times in the order in which they were
//! asked for.
//!
//! An alarm that is called off leaves its place in the heap until it would have been due, or until more than half of
//! the heap are such places. Setting and calling off: O(log n) amortised; nothing is allocated once there were as many
//! alarms as there will be.

use std::task::Waker;

use crate::signal::NEVER;
use weir_core::heap::{Heap, Order};

/// Heaps with fewer places than this are not cleared of alarms that were called off.
const WORTH_CLEARING: usize = 64;

/// When an alarm is due, and how many were set before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: u64,
    number: u64,
}

impl Order for Due {
    const LAST: Self = Self { at: u64::MAX, number: u64::MAX };
}

/// What is done when an alarm is due.
pub(crate) enum Alarm {
    Wake(Waker),
    Post(Box<dyn FnOnce() + Send>),
}

impl Alarm {
    pub(crate) fn go_off(self) {
        match self {
            Self::Wake(waker) => waker.wake(),
            Self::Post(post) => post(),
        }
    }
}

/// An alarm that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlarmId {
    place: u32,
    number: u64,
}

struct Place {
    number: u64,
    alarm: Option<Alarm>,
}

/// All alarms of a worker.
#[derive(Default)]
pub(crate) struct Timers {
    heap: Heap<Due, u32>,
    places: Vec<Place>,
    free: Vec<u32>,
    set: u64,
    called_off: usize,
    /// When the first is due.
    due: Option<u64>,
    kept: Vec<(Due, u32)>,
}

impl Timers {
    /// Those of a worker; alarms of different workers have different numbers.
    pub(crate) fn of(worker: usize) -> Self {
        Self { set: (worker as u64) << 48, ..Self::default() }
    }

    /// When the first alarm is due; [`NEVER`] without one.
    #[inline]
    pub(crate) fn due(&self) -> u64 {
        self.due.unwrap_or(NEVER)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.heap.len() - self.called_off
    }

    /// Sets an alarm; behind all that were set for the same time.
    pub(crate) fn set(&mut self, at: u64, alarm: Alarm) -> AlarmId {
        // The end of the clock is no rank of the heap.
        let at = at.min(u64::MAX - 1);
        self.set += 1;
        let number = self.set;
        let one = Place { number, alarm: Some(alarm) };
        let place = match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = one;
                place
            }
            None => {
                self.places.push(one);
                u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.heap.push(Due { at, number }, place);
        self.due = Some(self.due().min(at));
        AlarmId { place, number }
    }

    /// Makes an alarm that is still set wake another; `false` if it has gone off.
    pub(crate) fn reset(&mut self, id: AlarmId, waker: &Waker) -> bool {
        match self.places.get_mut(id.place as usize) {
            Some(Place { number, alarm: Some(Alarm::Wake(set)) }) if *number == id.number => {
                set.clone_from(waker);
                true
            }
            _ => false,
        }
    }

    /// Calls an alarm off, if it has not gone off.
    pub(crate) fn call_off(&mut self, id: AlarmId) -> Option<Alarm> {
        let place = self.places.get_mut(id.place as usize).filter(|place| place.number == id.number)?;
        let alarm = place.alarm.take()?;
        self.called_off += 1;
        if self.heap.len() > WORTH_CLEARING && self.called_off > self.heap.len() / 2 {
            self.clear();
        }
        Some(alarm)
    }

    /// Takes out what was called off.
    fn clear(&mut self) {
        let mut kept = std::mem::take(&mut self.kept);
        let (places, free) = (&self.places, &mut self.free);
        self.heap.drain(|due, place| match places[place as usize].alarm {
            Some(_) => kept.push((due, place)),
            None => free.push(place),
        });
        for (due, place) in kept.drain(..) {
            self.heap.push(due, place);
        }
        (self.kept, self.called_off) = (kept, 0);
        self.look();
    }

    fn look(&mut self) {
        self.due = self.heap.peek().map(|(due, _)| due.at);
    }

    /// The first alarm that is due by `now`.
    #[inline]
    pub(crate) fn take(&mut self, now: u64) -> Option<Alarm> {
        if self.due() > now {
            return None;
        }
        self.take_due(now)
    }

    fn take_due(&mut self, now: u64) -> Option<Alarm> {
        while let Some((due, place)) = self.heap.peek() {
            if due.at > now {
                break;
            }
            self.heap.pop();
            self.free.push(place);
            match self.places[place as usize].alarm.take() {
                Some(alarm) => {
                    self.look();
                    return Some(alarm);
                }
                None => self.called_off -= 1,
            }
        }
        self.look();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn alarms_go_off_in_order_and_not_where_they_were_called_off() {
        let (heard, mut timers) = (Arc::new(Mutex::new(Vec::new())), Timers::default());
        let mut ids = Vec::new();
        for (number, at) in [(0, 30), (1, 10), (2, 10), (3, 20)] {
            let heard = Arc::clone(&heard);
            ids.push(timers.set(at, Alarm::Post(Box::new(move || heard.lock().unwrap().push(number)))));
        }
        assert!(timers.call_off(ids[3]).is_some() && timers.call_off(ids[3]).is_none());
        assert_eq!((timers.len(), timers.due()), (3, 10));
        assert!(timers.take(9).is_none());
        while let Some(alarm) = timers.take(40) {
            alarm.go_off();
        }
        assert_eq!(*heard.lock().unwrap(), [1, 2, 0]);
        assert_eq!((timers.len(), timers.due()), (0, NEVER));
        assert!(timers.call_off(ids[0]).is_none(), "its place may be another's by now");
    }

    #[test]
    fn what_was_called_off_takes_no_room_for_long() {
        let mut timers = Timers::default();
        for at in 0..100_000 {
            let id = timers.set(1_000_000 + at, Alarm::Wake(Waker::noop().clone()));
            timers.call_off(id);
        }
        assert_eq!(timers.len(), 0);
        assert!(timers.heap.len() <= WORTH_CLEARING + 1, "{}", timers.heap.len());
    }
}
