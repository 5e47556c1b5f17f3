//! How long the server is busy with one packet.

use weir_core::units::{Bytes, Rate};

use crate::port::flight::InFlight;
use crate::port::source::ServiceSource;

/// Service times are drawn in blocks of this many packets.
const BLOCK: usize = 1024;

/// Gives the time the server is busy with each packet, in the order in which packets are accepted.
pub trait Service: Send {
    /// The time for the packet of `message` after which `left` packets of it remain.
    fn next(&mut self, message: &InFlight, left: u64) -> u64;
    /// When the service of a message ended whose last packet was accepted at `last` and occupied the server
    /// until `boundary`, and the time its service takes alone. Where service times are drawn, both are
    /// expectations: a drawn time is the server's, not the message's.
    fn of_message(&self, message: &InFlight, last: u64, boundary: u64) -> (u64, u64);
}

/// Service times drawn for the k-th packet accepted, whichever message it belongs to: the same for every
/// discipline, so that all that are work-conserving share the instants of acceptance.
pub struct Drawn<S> {
    source: S,
    mean: u64,
    block: Box<[u64; BLOCK]>,
    position: usize,
}

impl<S: ServiceSource> Drawn<S> {
    /// Draws from `source`, whose mean is `mean` nanoseconds.
    pub fn new(source: S, mean: u64) -> Self {
        Self { source, mean, block: Box::new([0; BLOCK]), position: BLOCK }
    }

    #[cold]
    fn refill(&mut self) {
        self.source.fill(&mut self.block[..]);
        self.position = 0;
    }
}

impl<S: ServiceSource + Send> Service for Drawn<S> {
    #[inline]
    fn next(&mut self, _message: &InFlight, _left: u64) -> u64 {
        if self.position == BLOCK {
            self.refill();
        }
        self.position += 1;
        self.block[self.position - 1]
    }

    #[inline]
    fn of_message(&self, message: &InFlight, last: u64, _boundary: u64) -> (u64, u64) {
        (last + self.mean, u64::from(message.length) * self.mean)
    }
}

/// Packets of `packet` bytes at a rate; the last packet of a message carries what is left of its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    packet: Bytes,
    rate: Rate,
    full: u64,
}

impl Transmission {
    /// Packets of at most `packet` at `rate`; `None` where the time of one cannot be represented.
    #[must_use]
    pub fn new(packet: Bytes, rate: Rate) -> Option<Self> {
        rate.time_of(packet).map(|time| Self { packet, rate, full: time.get() })
    }
}

impl Transmission {
    /// The time of the last packet of `message`, whose length is in bytes.
    #[inline]
    fn last_packet(&self, message: &InFlight) -> u64 {
        let size = u64::from(message.length);
        let rest = size - (size - 1) / self.packet.get() * self.packet.get();
        self.rate.time_of(Bytes::new(rest)).map_or(self.full, |time| time.get())
    }
}

impl Service for Transmission {
    #[inline]
    fn next(&mut self, message: &InFlight, left: u64) -> u64 {
        if left > 0 {
            return self.full;
        }
        self.last_packet(message)
    }

    #[inline]
    fn of_message(&self, message: &InFlight, _last: u64, boundary: u64) -> (u64, u64) {
        let before = u64::from(message.length).div_ceil(self.packet.get()) - 1;
        (boundary, before * self.full + self.last_packet(message))
    }
}
