//! What an engine reports of packets while it runs, and to whom.

use crate::time::Ticks;

/// A packet was generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// When.
    pub at: Ticks,
    /// The end-point that it comes from.
    pub source: u32,
    /// Its virtual channel.
    pub channel: u8,
    /// Its size on the wire, in bytes.
    pub size: u32,
}

/// A packet entered the buffer of its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// When.
    pub at: Ticks,
    /// When it was generated.
    pub generated: Ticks,
    /// The end-point that it comes from.
    pub source: u32,
    /// Its virtual channel.
    pub channel: u8,
    /// Its size on the wire, in bytes.
    pub size: u32,
}

/// A packet's tail came to its end-point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it was generated; the whole of its message was, at this instant.
    pub generated: Ticks,
    /// When it entered the buffer of its interface.
    pub injected: Ticks,
    /// When its tail came.
    pub delivered: Ticks,
    /// The end-point that it comes from.
    pub source: u32,
    /// The end-point that it goes to.
    pub destination: u32,
    /// Its flow, of those of its source and channel.
    pub flow: u32,
    /// Its number among the packets of its source and channel, which wraps.
    pub sequence: u32,
    /// Its size on the wire, in bytes.
    pub size: u32,
    /// Its virtual channel.
    pub channel: u8,
    /// Whether it is the last of its message. Under adaptive routing others of the message may come after it.
    pub last: bool,
}

/// Receives what an engine reports of packets: all that happens before the end of the replication.
///
/// Deliveries at one end-point come in the order of time; besides that there is no order among calls, and
/// engines differ in it. So what is kept must not depend on it.
pub trait Sink {
    /// A packet was generated; of one that never enters its interface this is the only report.
    fn generated(&mut self, generation: &Generation);
    /// A packet entered the buffer of its interface.
    fn injected(&mut self, injection: &Injection);
    /// A packet's tail came to its end-point.
    fn delivered(&mut self, delivery: &Delivery);
}

/// Forgets everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forget;

impl Sink for Forget {
    fn generated(&mut self, _generation: &Generation) {}
    fn injected(&mut self, _injection: &Injection) {}
    fn delivered(&mut self, _delivery: &Delivery) {}
}

/// Keeps everything: for tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// What was generated.
    pub generations: Vec<Generation>,
    /// What entered.
    pub injections: Vec<Injection>,
    /// What came.
    pub deliveries: Vec<Delivery>,
}

impl Record {
    /// The same in an order that does not depend on the engine's.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.generations.sort_unstable_by_key(|one| (one.source, one.channel, one.at, one.size));
        self.injections
            .sort_unstable_by_key(|one| (one.source, one.channel, one.at, one.generated, one.size));
        self.deliveries.sort_unstable_by_key(|one| (one.source, one.channel, one.sequence));
        self
    }
}

impl Sink for Record {
    fn generated(&mut self, generation: &Generation) {
        self.generations.push(*generation);
    }
    fn injected(&mut self, injection: &Injection) {
        self.injections.push(*injection);
    }
    fn delivered(&mut self, delivery: &Delivery) {
        self.deliveries.push(*delivery);
    }
}
