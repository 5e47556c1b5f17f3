//! CAKE: a shaper, tins by code point, fairness between hosts and their flows, and COBALT on each queue.
//!
//! A packet falls into a tin by its code point, and there into the queue that a keyed hash names, in sets of eight. Of
//! the tins the last that has not used up what its threshold allows goes first; if all have, the one that is soonest
//! within it. Without a rate they take turns by deficit round robin. In a tin sparse queues go before the others; turns
//! of the others are divided among the busy queues of a host. When more waits than fits, the queue that takes the most room
//! loses packets from its head.
//!
//! | | |
//! |-|-|
//! | Source | Hoeiland-Joergensen, Taht and Morton, *Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways*, 2018 (arXiv 1804.07617); tc-cake(8); constants as in Linux, `net/sched/sch_cake.c` |
//! | Work per packet | O(1) if a turn is at least the largest packet, else O(queues of a tin); O(log queues) to know which takes the most room |
//! | Units | `rate`: bits per second; `overhead`, `mpu`, `memlimit`, `mtu`: bytes; `rtt`: a span |
//! | Memory | 120 bytes per queue of each tin, made at once; one slot per waiting packet; both stay |
//! | Departs from the source | `mtu` and `queues` are parameters; what counts against `memlimit` is the size of packets, 64 bytes at least |
//! | | no ACK filter: it needs the sequence numbers and options of waiting packets, which a discipline does not see |
//! | | no `nat`, `wash`, `ingress`, `autorate-ingress` and `fwmark`, and no splitting of what a device has put together: none of it is for a discipline to decide |
//! | | an empty queue forgets by the clock; turns are divided exactly; who shares a place in the hash does not take it over |

use super::hash;
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::random::Random;
use crate::spec::SpecError;
use crate::units::{Bytes, Instant, Nanos, Rate};

mod cobalt;
mod config;
mod diffserv;
mod fattest;
mod framing;
mod hosts;
mod pace;
mod sets;
mod store;
mod tin;

pub use config::{Config, ConfigError, Fairness, MAX_BYTES, MAX_OVERHEAD, MAX_QUEUES};
pub use diffserv::Diffserv;
pub use framing::{Framing, Wire};
use pace::Pace;
use store::Store;
use tin::Tin;

/// What the listings say.
pub const INFO: Info = Info {
    name: "cake",
    kind: Kind::Packet,
    title: "common applications kept enhanced",
    rule: "shapes to a rate, serves tins by code point, in each the hosts and their flows in turn, sparse flows first, \
        and limits the wait in each queue",
    source: "Hoeiland-Joergensen, Taht and Morton, Piece of CAKE, 2018; tc-cake(8)",
    work: "O(1) if a turn >= largest packet",
    parameters: &[
        Parameter::new("rate", Takes::Rate(Rate::new(1)), "unlimited")
            .or(&["unlimited"])
            .meaning("how fast packets leave; an outer line or shaper paces them if unlimited"),
        Parameter::new(
            "diffserv",
            Takes::Words(&["besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8"]),
            "diffserv3",
        )
        .meaning("into which tins code points fall"),
        Parameter::new(
            "fairness",
            Takes::Words(&[
                "flowblind",
                "srchost",
                "dsthost",
                "hosts",
                "flows",
                "dual_srchost",
                "dual_dsthost",
                "triple_isolate",
            ]),
            "triple_isolate",
        )
        .meaning("between whom the rate of a tin is shared"),
        Parameter::new("rtt", Takes::Span(Nanos::ONE..=Nanos::MAX), "100ms")
            .meaning("the usual round-trip time: how long a wait of more than a twentieth of it is tolerated"),
        Parameter::new("overhead", Takes::Size(Bytes::ZERO..=Bytes::new(MAX_OVERHEAD)), "0B")
            .meaning("what the link adds to a packet"),
        Parameter::new("mpu", Takes::Size(Bytes::ZERO..=Bytes::new(MAX_OVERHEAD)), "0B")
            .meaning("the least that the link carries for a packet, its overhead included"),
        Parameter::new("framing", Takes::Words(&["none", "atm", "ptm"]), "none")
            .meaning("how the link cuts up packets: not, in cells of 53 bytes, or with a byte more per 64"),
        Parameter::new("memlimit", Takes::Size(Bytes::ONE..=Bytes::new(MAX_BYTES)), "auto")
            .or(&["auto"])
            .refused("a size such as 4MiB, {}, or `auto`")
            .meaning(
                "how much may wait; `auto` is the data of four round trips, 4 MiB at least and 10240 packets at most",
            ),
        Parameter::new("mtu", Takes::Size(config::MTUS), "1514B")
            .meaning("the largest packet: four times what it takes at the rate is always an acceptable wait"),
        Parameter::new("queues", Takes::Whole(8..=MAX_QUEUES as u64), "1024")
            .listed("a multiple of 8 {}")
            .refused("a multiple of 8 {}")
            .meaning("the number of queues of each tin"),
        hash::SEED,
    ],
    example: "cake:rate=20Mbit,overhead=38B",
};

/// CAKE.
#[derive(Clone, Debug)]
pub struct Cake<I: Item> {
    config: Config,
    /// How much room there is.
    room: u64,
    /// The tin of each code point.
    points: [u8; 64],
    tins: Vec<Tin>,
    /// The tin whose turn it is, where there is no rate.
    turn: usize,
    pace: Option<Pace>,
    store: Store<I>,
    random: Random,
    /// When the shaper lets the next packet leave, if it is all that holds it.
    wake: Option<Instant>,
}

impl<I: Item<Cost = Bytes>> Cake<I> {
    /// Empty tins.
    ///
    /// # Errors
    /// A value is outside the bounds that [`ConfigError`] names.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let shares = config.diffserv.shares(config.rate);
        let tins: Vec<_> =
            (0..).zip(&shares).map(|(at, share)| Tin::new(&config, share, at * config.queues)).collect();
        Ok(Self {
            config,
            room: config.room(),
            points: config.diffserv.tins(),
            store: Store::new(tins.len() * config.queues),
            tins,
            turn: 0,
            pace: config.rate.map(Pace::new),
            random: Random::new(config.seed),
            wake: None,
        })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let config = Config::from_spec(arguments)?;
        Self::new(config).map_err(|error| arguments.error(error.parameter(), error.to_string()))
    }

    /// An idle time of a tin, or of all, ends.
    #[inline]
    fn resume(&mut self, now: Instant, tin: usize) {
        if let Some(pace) = &mut self.pace
            && self.store.backlog().is_empty()
        {
            pace.resume(now);
        }
        self.tins[tin].resume(now);
    }

    /// The queue that takes the most room loses its head.
    #[cold]
    fn make_room(&mut self, now: Instant, drops: &mut dyn Drops<I>) {
        while self.store.used() > self.room {
            let queue = self.store.fattest();
            let Some((item, _)) = self.store.take(queue) else { return };
            self.tins[queue / self.config.queues].overflowed(now, queue);
            drops.dropped(item, DropReason::QueueFull);
        }
    }

    /// The tin that goes next, of those that are not held back, one bit each; `None` if all are, or have nothing.
    #[inline]
    fn choose(&mut self, now: Instant, held: u8) -> Option<usize> {
        if self.pace.is_none() {
            return self.choose_in_turn(held);
        }
        let mut chosen: Option<(usize, &Pace)> = None;
        for (at, tin) in self.tins.iter().enumerate() {
            let Some(pace) = tin.pace.as_ref().filter(|_| tin.is_active() && held >> at & 1 == 0) else {
                continue;
            };
            let is_sooner = |(_, other): (usize, &Pace)| pace.order() <= other.order();
            if pace.is_due(now) || chosen.is_none_or(is_sooner) {
                chosen = Some((at, pace));
            }
        }
        chosen.map(|(at, _)| at)
    }

    /// The same, where there is no rate.
    #[inline]
    fn choose_in_turn(&mut self, held: u8) -> Option<usize> {
        let mut in_vain = 0;
        loop {
            let tin = &mut self.tins[self.turn];
            let takes_part = tin.is_active() && held >> self.turn & 1 == 0;
            if takes_part && tin.deficit >= 0 {
                return Some(self.turn);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.turn = (self.turn + 1) % self.tins.len();
            in_vain += 1;
            if in_vain == self.tins.len() {
                self.skip_rounds(held)?;
                in_vain = 0;
            }
        }
    }

    /// All tins were passed over: gives at once all the rounds that would be in vain; `None` if none takes part.
    #[cold]
    fn skip_rounds(&mut self, held: u8) -> Option<()> {
        let taking_part = (0..).zip(&self.tins).filter(|(at, tin)| tin.is_active() && held >> at & 1 == 0);
        let rounds = taking_part.map(|(_, tin)| (-tin.deficit).max(0) / tin.quantum).min()?;
        for tin in &mut self.tins {
            let lacking = if tin.deficit <= 0 { -tin.deficit / tin.quantum + 1 } else { 0 };
            tin.deficit += rounds.min(lacking) * tin.quantum;
        }
        Some(())
    }

    /// A packet of a queue of a tin leaves.
    #[inline]
    fn charge(&mut self, now: Instant, at: usize, queue: usize, item: &I) {
        let size = self.config.wire.size(item.cost());
        let tin = &mut self.tins[at];
        tin.charge(queue, size);
        match (&mut self.pace, &mut tin.pace) {
            (Some(pace), Some(of_tin)) => {
                pace.pass(size);
                of_tin.pass_once(now, size);
            }
            _ => tin.deficit -= size.get() as i64,
        }
    }
}

impl<I: Item<Cost = Bytes>> Discipline<I> for Cake<I> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if store::room(&item) > self.room {
            drops.dropped(item, DropReason::TooLarge);
            return Enqueued::Queued;
        }
        let at = usize::from(self.points[usize::from(item.dscp().get())]);
        self.resume(now, at);
        let queue = self.tins[at].join(now, &self.config, &item);
        self.store.append(queue, item, now);
        if self.store.used() > self.room {
            self.make_room(now, drops);
        }
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.wake = None;
        if let Some(pace) = &self.pace
            && !pace.is_due(now)
            && !self.store.backlog().is_empty()
        {
            self.wake = Some(pace.due());
            return None;
        }
        let mut held = 0;
        loop {
            let at = self.choose(now, held)?;
            let tin = &mut self.tins[at];
            if let Some((item, queue)) = tin.next(&mut self.store, &mut self.random, now, gate, drops) {
                self.charge(now, at, queue, &item);
                let quantum = item.cost();
                return Some(Grant { item, quantum });
            }
            held |= 1 << at;
        }
    }

    fn next_event(&self) -> Option<Instant> {
        self.wake
    }

    copied!();

    fn backlog(&self) -> Backlog<Bytes> {
        self.store.backlog()
    }
}

#[cfg(test)]
mod tests;
