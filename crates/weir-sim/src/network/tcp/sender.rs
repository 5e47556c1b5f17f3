//! The sender: which packet leaves now, and when to be woken.
//!
//! | | |
//! |-|-|
//! | Source | RFC 5681, section 3 (slow start, congestion avoidance, fast retransmit); RFC 6582, section 3.2 (recovery); RFC 3042 (two packets more on the first two duplicates); RFC 3168, section 6.1.2 (marks) |
//! | First window | 10 packets (RFC 6928) |
//! | Slow start | one packet more an acknowledgement that moves forward |
//! | After a timeout | everything not acknowledged is sent again, in order, from a window of one |
//! | Work per call | O(1) |
//! | Units | packets, numbered from 0 |
//! | Departs from the source | the timer begins anew with each partial acknowledgement (RFC 6582's slow but steady variant) and with a fast retransmission; a mark reduces the window once for what was sent before it, as the receiver's echo stands for one packet |

use weir_core::units::{Instant, Nanos};

use super::control::Control;
use super::timeout::Timeout;
use crate::network::model::{Congestion, Tcp};

/// So many acknowledgements of the same packet mean that the next one is lost.
const DUPLICATES: u64 = 3;
/// The first window, in packets.
const FIRST_WINDOW: u32 = 10;
/// The smallest timeout of hosts.
const SMALLEST_TIMEOUT: Nanos = Nanos::new(200_000_000);

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
    /// The smallest timeout.
    pub smallest_timeout: Nanos,
}

impl From<&Tcp> for Config {
    fn from(tcp: &Tcp) -> Self {
        Self {
            congestion: tcp.congestion,
            packets: tcp.packets,
            window: tcp.window,
            first_window: FIRST_WINDOW,
            smallest_timeout: SMALLEST_TIMEOUT,
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
    /// Recoveries begun after duplicate acknowledgements.
    pub recoveries: u64,
    /// Reductions of the window for marks.
    pub marks: u64,
}

/// The sending end of a transfer.
#[derive(Clone, Debug)]
pub struct Sender {
    control: Control,
    timeout: Timeout,
    /// The number after the last packet; `u64::MAX` where there is none.
    end: u64,
    largest: u64,
    /// The window, in packets; while recovering, with what duplicates let out.
    window: f64,
    /// Slow start goes on up to this window.
    threshold: f64,
    /// The first packet not acknowledged.
    first: u64,
    /// The next packet in turn; after a timeout this goes back.
    next: u64,
    /// The number after the last packet ever sent.
    highest: u64,
    /// A packet to be sent again, whatever the window.
    resend: Option<u64>,
    /// Acknowledgements of the same packet in a row.
    duplicates: u64,
    /// While recovering: what was sent before that began, from which its end is told.
    recovering: Option<u64>,
    /// Duplicates up to here may come from what a timeout sent again, and tell nothing.
    guarded: Option<u64>,
    /// Marks up to here are of packets sent before the window was reduced for one.
    marked: Option<u64>,
    /// The packet whose round trip is being measured, and when it left.
    timed: Option<(u64, Instant)>,
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
            timeout: Timeout::new(config.smallest_timeout),
            end: config.packets.unwrap_or(u64::MAX),
            largest: u64::from(largest),
            window: f64::from(config.first_window.clamp(1, largest)),
            threshold: f64::INFINITY,
            first: 0,
            next: 0,
            highest: 0,
            resend: None,
            duplicates: 0,
            recovering: None,
            guarded: None,
            marked: None,
            timed: None,
            deadline: None,
            stalled: false,
            events: Events::default(),
        }
    }

    /// The packet that leaves now; `None` where the next waits for an acknowledgement or the timer. To be
    /// called until it is `None`, at the beginning and after each of the calls below.
    pub fn next(&mut self, now: Instant) -> Option<u64> {
        let number = match self.resend.take() {
            Some(number) => number,
            None if self.next < self.end && self.next - self.first < self.allowed() => {
                self.next += 1;
                self.next - 1
            }
            None => return None,
        };
        self.measure(number, now);
        if number == self.highest {
            self.highest += 1;
        } else {
            self.events.retransmissions += 1;
        }
        if self.deadline.is_none() {
            self.start_timer(now);
        }
        Some(number)
    }

    /// An acknowledgement has come: all packets below `cumulative` have arrived, and `echo` tells that the
    /// packet it answers was marked.
    pub fn on_ack(&mut self, now: Instant, cumulative: u64, echo: bool) {
        if cumulative < self.first || cumulative > self.highest {
            return;
        }
        if echo {
            self.on_mark(cumulative);
        }
        if cumulative > self.first {
            self.on_progress(now, cumulative);
        } else if self.highest > self.first {
            self.on_duplicate(now);
        }
    }

    /// The time that [`Sender::timer`] gave has come.
    pub fn on_timer(&mut self, now: Instant) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        if !self.stalled {
            self.threshold = self.control.reduced(self.flight());
        }
        self.control.timed_out();
        self.timeout.back_off();
        self.events.timeouts += 1;
        self.stalled = true;
        self.window = 1.0;
        self.recovering = None;
        self.resend = None;
        self.timed = None;
        self.duplicates = 0;
        self.guarded = Some(self.highest);
        self.next = self.first;
        self.start_timer(now);
    }

    /// When [`Sender::on_timer`] is due; `None` where nothing is on its way.
    #[must_use]
    pub fn timer(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether everything has been acknowledged.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.first >= self.end
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

    /// How many packets may be on their way.
    fn allowed(&self) -> u64 {
        let limited = if self.recovering.is_none() { self.duplicates.min(DUPLICATES - 1) } else { 0 };
        (whole(self.window) + limited).min(self.largest)
    }

    /// What counts as on its way when the window is reduced; limited transmit does not add to it.
    fn flight(&self) -> f64 {
        ((self.highest - self.first) as f64).min(self.window)
    }

    fn start_timer(&mut self, now: Instant) {
        self.deadline = Some(now + self.timeout.get());
    }

    /// Measures the round trip of one packet at a time, of those sent once and not while recovering.
    fn measure(&mut self, number: u64, now: Instant) {
        if number < self.highest {
            self.timed = None;
        } else if self.timed.is_none() && self.recovering.is_none() {
            self.timed = Some((number, now));
        }
    }

    fn on_mark(&mut self, cumulative: u64) {
        let known = self.marked.is_some_and(|before| cumulative <= before);
        if known || self.recovering.is_some() || self.stalled {
            return;
        }
        self.threshold = self.control.reduced(self.flight());
        self.window = self.threshold;
        self.marked = Some(self.highest);
        self.events.marks += 1;
    }

    fn on_progress(&mut self, now: Instant, cumulative: u64) {
        let acked = cumulative - self.first;
        if let Some((_, sent)) = self.timed.take_if(|(number, _)| *number < cumulative) {
            self.timeout.sample(now.since(sent));
        }
        self.first = cumulative;
        self.next = self.next.max(cumulative);
        self.duplicates = 0;
        self.stalled = false;
        self.guarded = self.guarded.filter(|before| cumulative <= *before);
        match self.recovering {
            Some(before) if cumulative < before => self.on_partial(acked),
            Some(_) => self.recover(),
            None => self.grow(now, acked),
        }
        if self.first < self.highest {
            self.start_timer(now);
        } else {
            self.deadline = None;
        }
    }

    /// Another packet of those sent before the recovery is lost: the one that is now missing first.
    fn on_partial(&mut self, acked: u64) {
        self.resend = Some(self.first);
        self.window = (self.window - acked as f64 + 1.0).max(1.0);
    }

    /// Everything sent before the recovery has arrived: back to congestion avoidance, without a burst.
    fn recover(&mut self) {
        self.recovering = None;
        self.window = self.threshold.min(self.flight().max(1.0) + 1.0);
    }

    fn grow(&mut self, now: Instant, acked: u64) {
        let grown = if self.window < self.threshold {
            self.window + 1.0
        } else {
            let round_trip = self.timeout.round_trip().unwrap_or_default();
            self.control.grown(self.window, acked as f64, now, round_trip)
        };
        self.window = grown.min(self.largest as f64);
    }

    fn on_duplicate(&mut self, now: Instant) {
        self.duplicates += 1;
        if self.recovering.is_some() {
            // One packet more has left the network. What is allowed stays bounded by the largest window.
            self.window += 1.0;
        } else if self.duplicates == DUPLICATES && self.guarded.is_none() {
            self.threshold = self.control.reduced(self.flight());
            self.window = self.threshold + 3.0;
            self.recovering = Some(self.highest);
            self.resend = Some(self.first);
            self.events.recoveries += 1;
            self.start_timer(now);
        }
    }
}

/// A window in whole packets.
fn whole(window: f64) -> u64 {
    window as u64
}
