//! The switch between the nodes: what is under way to a node, in the order in which it comes there.

use std::collections::VecDeque;

use crate::engine::timer::Due;

/// What goes over the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A post of this event.
    Post(u32),
    /// Data for a queue, from a process.
    Put { queue: u32, from: u32 },
    /// A process that waited at a queue of another node has been given data.
    Given(u32),
}

/// A message, and the node that it goes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parcel {
    pub(super) there: u32,
    pub(super) message: Message,
}

/// What is under way to one node.
#[derive(Debug)]
pub(super) struct Inbox {
    under_way: VecDeque<(Due, Message)>,
    /// When the next one comes.
    due: u64,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { under_way: VecDeque::new(), due: u64::MAX }
    }

    /// When the next one comes; the end of the clock where none is under way.
    #[inline]
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    fn look(&mut self) {
        self.due = self.under_way.front().map_or(u64::MAX, |(due, _)| due.at);
    }

    /// All take equally long, so a new one comes last, but where a process has moved.
    pub(super) fn send(&mut self, due: Due, message: Message) {
        let place = self.under_way.partition_point(|(other, _)| *other < due);
        self.under_way.insert(place, (due, message));
        self.look();
    }

    #[inline]
    pub(super) fn take(&mut self, now: u64) -> Option<Message> {
        if self.due > now {
            return None;
        }
        let taken = self.under_way.pop_front().map(|(_, message)| message);
        self.look();
        taken
    }

    /// Hands what `whose` says over to another.
    pub(super) fn hand_over(&mut self, other: &mut Self, whose: impl Fn(Message) -> bool) {
        for _ in 0..self.under_way.len() {
            let Some((due, message)) = self.under_way.pop_front() else { return };
            match whose(message) {
                true => other.send(due, message),
                false => self.under_way.push_back((due, message)),
            }
        }
        self.look();
    }
}
