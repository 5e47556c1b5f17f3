//! The sender: which packet leaves now, and when to be woken.
//!
//! | | |
//! |-|-|
//! | Source | RFC 5681, section 3 (slow start, congestion avoidance); RFC 6675, section 5 (recovery by selective acknowledgements); RFC 3168, section 6.1.2 (marks) |
//! | First window | 10 packets (RFC 6928) |
//! | Slow start | one packet more an acknowledgement that moves forward; the first one of CUBIC by [`super::slow_start`] |
//! | Recovery | while the pipe is below the window: first what is lost, then what is new; to the end of what was sent before it |
//! | After a timeout | what has not arrived is sent again, in order, from a window of one |
//! | Work per call | O(1), amortized; O(window) a timeout |
//! | Units | packets, numbered from 0 |
//! | Departs from the source | the timer begins anew with each packet sent again in a recovery, as RFC 6675, section 6 allows; a timeout in a recovery, of a packet lost twice, leaves the threshold as the recovery has set it; a mark reduces the window once for what was sent before it, as the receiver's echo stands for one packet |

use super::control::Control;
use super::receiver::Ack;
use super::scoreboard::Scoreboard;
use super::slow_start::SlowStart;
use super::timeout::Timeout;
use crate::model::{Congestion, Tcp};
use weir_core::units::{Instant, Nanos};

/// The first window, in packets.
const FIRST_WINDOW: u32 = 10;
/// The least that the timeout is longer than the round trip, as in Linux.
const MARGIN: Nanos = Nanos::new(200_000_000);

/// What a transfer is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How the window grows and shrinks.
    pub congestion: Congestion,
    /// How much is sent; `None` for as long as it is asked for packets.
    pub packets: Option<u64>,
    /// The largest window, in packets; at least 1.
    pub window: u32,
    /// The first window, in packets; at least 1.
    pub first_window: u32,
    /// The least that the timeout is longer than the round trip.
    pub margin: Nanos,
}

impl From<&Tcp> for Config {
    fn from(tcp: &Tcp) -> Self {
        Self {
            congestion: tcp.congestion,
            packets: tcp.packets,
            window: tcp.window,
            first_window: FIRST_WINDOW,
            margin: MARGIN,
        }
    }
}

/// What has happened to a sender so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Packets sent again.
    pub retransmissions: u64,
    /// Times that the timer ran out.
    pub timeouts: u64,
    /// Recoveries begun because packets were lost.
    pub recoveries: u64,
    /// Reductions of the window for marks.
    pub marks: u64,
}

/// The sending end of a transfer.
#[derive(Clone, Debug)]
pub struct Sender {
    control: Control,
    timeout: Timeout,
    board: Scoreboard,
    /// The first slow start, where its end is watched for.
    start: Option<SlowStart>,
    /// The number after the last packet; `u64::MAX` where there is none.
    end: u64,
    largest: u64,
    /// The window, in packets.
    window: f64,
    /// Slow start goes on up to this window.
    threshold: f64,
    /// Whether a packet leaves whatever the window: the first one lost of a recovery.
    urgent: bool,
    /// While recovering: what was sent before that began, by which its end is recognised.
    recovering: Option<u64>,
    /// Losses up to here are known from a timeout, and reduce nothing.
    guarded: Option<u64>,
    /// Marks up to here are of packets sent before the window was reduced for one.
    marked: Option<u64>,
    /// Packets from here on measure the next round trip for the timer: one a round trip.
    timed: u64,
    deadline: Option<Instant>,
    /// Whether the timer has run out since the last progress.
    stalled: bool,
    events: Events,
}

impl Sender {
    /// A sender at the beginning of its transfer.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let largest = config.window.max(1);
        Self {
            control: Control::new(config.congestion),
            timeout: Timeout::new(config.margin),
            board: Scoreboard::default(),
            start: (config.congestion == Congestion::Cubic).then(SlowStart::default),
            end: config.packets.unwrap_or(u64::MAX),
            largest: u64::from(largest),
            window: f64::from(config.first_window.clamp(1, largest)),
            threshold: f64::INFINITY,
            urgent: false,
            recovering: None,
            guarded: None,
            marked: None,
            timed: 0,
            deadline: None,
            stalled: false,
            events: Events::default(),
        }
    }

    /// The packet that leaves now; `None` where the next waits for an acknowledgement or the timer. To be
    /// called until it is `None`, at the beginning and after each of the calls below.
    pub fn next(&mut self, now: Instant) -> Option<u64> {
        if !std::mem::take(&mut self.urgent) && self.board.pipe() >= self.window as u64 {
            return None;
        }
        if let Some(number) = self.board.send_again() {
            self.events.retransmissions += 1;
            if self.recovering.is_some() || self.deadline.is_none() {
                self.start_timer(now);
            }
            return Some(number);
        }
        let (first, highest) = (self.board.first(), self.board.highest());
        if highest >= self.end || highest - first >= self.largest {
            return None;
        }
        if self.deadline.is_none() {
            self.start_timer(now);
        }
        Some(self.board.send(now))
    }

    /// An acknowledgement has come.
    pub fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let (first, highest) = (self.board.first(), self.board.highest());
        if ack.cumulative < first || ack.cumulative > highest {
            return;
        }
        if ack.echo {
            self.on_mark(ack.cumulative);
        }
        let newest = self.board.on_ack(ack);
        let round_trip = newest.map(|(_, sent)| now.since(sent));
        if let Some((number, sent)) = newest.filter(|(number, _)| *number >= self.timed) {
            debug_assert!(number < highest, "it was sent");
            self.timeout.sample(now.since(sent));
            self.timed = highest;
        }
        if ack.cumulative > first {
            self.on_progress(now, ack.cumulative - first, round_trip);
        }
        if self.board.misses_first() && self.recovering.is_none() && self.guarded.is_none() {
            self.on_loss();
        }
    }

    /// The time that [`Sender::timer`] gave has come.
    pub fn on_timer(&mut self, now: Instant) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        if !self.stalled && self.recovering.is_none() {
            self.reduce();
        }
        self.control.timed_out();
        self.timeout.back_off();
        self.events.timeouts += 1;
        self.stalled = true;
        self.window = 1.0;
        self.recovering = None;
        self.urgent = false;
        self.guarded = Some(self.board.highest());
        self.board.on_timeout();
        self.start_timer(now);
    }

    /// When [`Sender::on_timer`] is due; `None` where nothing is on its way.
    #[must_use]
    pub fn timer(&self) -> Option<Instant> {
        self.deadline
    }

    /// The first packet that is not acknowledged.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.board.first()
    }

    /// Whether everything has been acknowledged.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.board.first() >= self.end
    }

    /// The window, in packets.
    #[must_use]
    pub fn window(&self) -> f64 {
        self.window
    }

    /// What has happened so far.
    #[must_use]
    pub fn events(&self) -> Events {
        self.events
    }

    fn start_timer(&mut self, now: Instant) {
        self.deadline = Some(now + self.timeout.get());
    }

    /// Sets the threshold after a loss or a mark, by what was on its way.
    fn reduce(&mut self) {
        let unacknowledged = (self.board.highest() - self.board.first()) as f64;
        self.threshold = self.control.reduced(unacknowledged.min(self.window));
        self.start = None;
    }

    fn on_mark(&mut self, cumulative: u64) {
        let known = self.marked.is_some_and(|before| cumulative <= before);
        if known || self.recovering.is_some() || self.stalled {
            return;
        }
        self.reduce();
        self.window = self.threshold;
        self.marked = Some(self.board.highest());
        self.events.marks += 1;
    }

    fn on_loss(&mut self) {
        self.reduce();
        self.window = self.threshold;
        self.recovering = Some(self.board.highest());
        self.urgent = true;
        self.events.recoveries += 1;
    }

    fn on_progress(&mut self, now: Instant, acked: u64, round_trip: Option<Nanos>) {
        let first = self.board.first();
        self.stalled = false;
        self.guarded = self.guarded.filter(|before| first < *before);
        match self.recovering {
            Some(before) if first < before => {}
            Some(_) => self.recovering = None,
            None => self.grow(now, acked, round_trip),
        }
        if first < self.board.highest() {
            self.start_timer(now);
        } else {
            self.deadline = None;
        }
    }

    fn grow(&mut self, now: Instant, acked: u64, round_trip: Option<Nanos>) {
        if let Some(start) = &mut self.start {
            match start.grown(self.board.first(), self.board.highest(), round_trip) {
                Some(growth) => return self.grow_to(self.window + growth),
                None => (self.start, self.threshold) = (None, self.window),
            }
        }
        if self.window < self.threshold {
            return self.grow_to(self.window + 1.0);
        }
        let smoothed = self.timeout.round_trip().unwrap_or_default();
        let grown = self.control.grown(self.window, acked as f64, now, smoothed);
        self.grow_to(grown);
    }

    fn grow_to(&mut self, window: f64) {
        self.window = window.min(self.largest as f64);
    }
}
