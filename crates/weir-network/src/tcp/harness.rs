//! A network for the tests: one line of a fixed rate with a queue before it, and a way back without loss by default.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Ack, Config, Receiver, Sender};
use crate::model::Congestion;
use weir_core::units::{Instant, Nanos};

pub(super) const MILLISECOND: u64 = 1_000_000;

/// A transfer without end, with the values of hosts.
pub(super) fn config(congestion: Congestion) -> Config {
    Config {
        congestion,
        packets: None,
        window: 10_000,
        first_window: 10,
        margin: Nanos::new(200 * MILLISECOND),
    }
}

/// What a packet meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Passes,
    Marked,
    Lost,
}

/// The network and its traffic.
pub(super) struct Network<'a> {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// The time to send a packet, and the packets that may wait.
    pub(super) service: Nanos,
    pub(super) buffer: usize,
    /// The time from line to receiver and back to the sender, together.
    pub(super) propagation: Nanos,
    /// What becomes of the n-th packet that is sent, of this number.
    pub(super) fate: Box<dyn FnMut(u64, u64) -> Fate + 'a>,
    /// Whether the n-th acknowledgement is lost.
    pub(super) ack_lost: Box<dyn FnMut(u64) -> bool + 'a>,
    /// When each packet was sent, with its number.
    pub(super) sent: Vec<(u64, u64)>,
    /// The window after each acknowledgement.
    pub(super) windows: Vec<(u64, f64)>,
    pub(super) dropped: u64,
    pub(super) now: Instant,
    queue: VecDeque<(u64, bool)>,
    serving: bool,
    acks: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    scheduled: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Served,
    Arrives(u64, bool),
    Acknowledged(Ack),
}

impl<'a> Network<'a> {
    /// A network of one packet a millisecond, with 100 ms there and back in addition.
    pub(super) fn new(config: &Config, buffer: usize) -> Self {
        Self {
            sender: Sender::new(config),
            receiver: Receiver::new(config.window),
            service: Nanos::new(MILLISECOND),
            buffer,
            propagation: Nanos::new(100 * MILLISECOND),
            fate: Box::new(|_, _| Fate::Passes),
            ack_lost: Box::new(|_| false),
            sent: Vec::new(),
            windows: Vec::new(),
            dropped: 0,
            now: Instant::ZERO,
            queue: VecDeque::new(),
            serving: false,
            acks: 0,
            events: BinaryHeap::new(),
            scheduled: 0,
        }
    }

    pub(super) fn with_fate(mut self, fate: impl FnMut(u64, u64) -> Fate + 'a) -> Self {
        self.fate = Box::new(fate);
        self
    }

    /// Runs until the transfer has finished or this time has come.
    pub(super) fn run(&mut self, until: Nanos) {
        let until = Instant::ZERO + until;
        self.send();
        while !self.sender.finished() {
            let event = self.events.peek().map(|Reverse((at, ..))| *at);
            let timer = self.sender.timer().map(Instant::get);
            let Some(at) = event.into_iter().chain(timer).min() else {
                panic!("nothing is on its way, and no timer runs");
            };
            if at >= until.get() {
                break;
            }
            self.now = Instant::new(at);
            if event.is_some_and(|event| event == at) {
                let event = self.events.pop().expect("peeked").0.2;
                self.happen(event);
            } else {
                self.sender.on_timer(self.now);
            }
            self.send();
        }
    }

    fn schedule(&mut self, after: Nanos, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse(((self.now + after).get(), self.scheduled, event)));
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Served => {
                let (number, marked) = self.queue.pop_front().expect("one was served");
                self.schedule(self.propagation, Event::Arrives(number, marked));
                self.serving = false;
                self.serve();
            }
            Event::Arrives(number, marked) => {
                let ack = self.receiver.on_packet(number, marked);
                self.acks += 1;
                if !(self.ack_lost)(self.acks - 1) {
                    self.schedule(Nanos::new(0), Event::Acknowledged(ack));
                }
            }
            Event::Acknowledged(ack) => {
                self.sender.on_ack(self.now, &ack);
                self.windows.push((self.now.get(), self.sender.window()));
            }
        }
    }

    fn serve(&mut self) {
        if !self.serving && !self.queue.is_empty() {
            self.serving = true;
            self.schedule(self.service, Event::Served);
        }
    }

    fn send(&mut self) {
        while let Some(number) = self.sender.next(self.now) {
            let fate = (self.fate)(self.sent.len() as u64, number);
            self.sent.push((self.now.get(), number));
            // The one that is being sent does not wait.
            if fate == Fate::Lost || self.queue.len() > self.buffer {
                self.dropped += 1;
                continue;
            }
            self.queue.push_back((number, fate == Fate::Marked));
            self.serve();
        }
    }

    /// Packets acknowledged a second.
    pub(super) fn throughput(&self) -> f64 {
        self.receiver.next() as f64 / (self.now.get() as f64 / 1e9)
    }
}
