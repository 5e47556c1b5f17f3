//! Sends what a schedule says, when it says so.
//!
//! The schedule is open-loop: when a packet is due does not depend on when the former left. A source that is late sends
//! everything that is due in one system call, and so on until it has caught up. How late each packet was is counted,
//! and stands in the log.
//!
//! | | |
//! |-|-|
//! | Source | TG 2.0, release notes (2002); Schroeder, Wierman and Harchol-Balter, *Open versus closed: a cautionary tale*, NSDI 2006 |
//! | Work | O(1) a packet; one system call for at most 64 packets |
//! | Units | nanoseconds; bytes of the user's data |
//! | Memory | no allocation after the start but where a burst begins |
//! | Time of a packet | read before its system call; those of one call are spread evenly over its duration, as they leave one after another. Where the outlet tells when the kernel took a packet, that follows in the log |
//! | Departs from the source | an error is counted and the packet skipped; one that belongs to an earlier packet, such as a port nobody waits on, is counted and the packet sent |

use std::collections::BTreeMap;
use std::io;

use weir_core::units::{Bytes, Instant, Nanos};

use super::datagrams::Outgoing;
use super::lateness::Lateness;
use super::log::{Kind, Record, Writer};
use super::outlet::Outlet;
use crate::generator::batch::{BATCH, TRIES, is_of_earlier, waits};
use crate::generator::clock::{Clock, from_start};
use crate::generator::wall::WallTime;

/// A wait is long enough to hand the log to the disk.
const LONG_WAIT: Nanos = Nanos::new(200_000);
/// The log is handed to the disk at least this often, where waits are long enough.
const FLUSH_EVERY: Nanos = Nanos::new(1_000_000_000);
/// A wait is long enough to ask when packets were taken.
const SHORT_WAIT: Nanos = Nanos::new(30_000);
/// The number of packets that may have been sent before that is asked without a wait.
const UNASKED: u64 = 256;

/// What was sent.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Packets that the kernel took.
    pub packets: u64,
    /// Bytes of the user's data in them.
    pub bytes: u64,
    /// Packets that it did not take.
    pub failed: u64,
    /// Errors, by their number; 0 stands for those between two packets of one call, whose reason the kernel does not
    /// keep.
    pub errors: BTreeMap<i32, u64>,
    /// How late packets left.
    pub lateness: Lateness,
    /// The error that ended it, where one did.
    pub over: Option<String>,
}

/// A source.
pub struct Source<'r, C, O, S> {
    /// Its clock.
    pub clock: &'r C,
    /// Where packets go.
    pub outlet: &'r mut O,
    /// When packets leave, since the start.
    pub schedule: &'r mut S,
    /// The start, on the clock of the schedule.
    pub begin: Instant,
    /// The start, on the clock of the log.
    pub start: WallTime,
    /// What every record begins as.
    pub record: Record,
    /// The log.
    pub log: &'r mut Option<Writer>,
}

/// A packet that is due.
#[derive(Clone, Copy)]
struct Due {
    at: Nanos,
    packet: Outgoing,
}

/// What a run has in hand.
struct Hand {
    next: Option<Due>,
    number: u32,
    due: Vec<Due>,
    packets: Vec<Outgoing>,
    flushed: Instant,
    /// When packets were taken, as reported.
    departed: Vec<(u32, WallTime)>,
    /// How many packets had been sent when that was asked last.
    asked: u64,
    /// Whether the packets that were taken are identified by their numbers: no longer after an error, as it is not
    /// known whether the packet of the error was counted.
    counted: bool,
}

impl<C: Clock, O: Outlet, S: Iterator<Item = (Nanos, Bytes)>> Source<'_, C, O, S> {
    /// Sends until the schedule ends, or somebody asks to end.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn run(mut self) -> io::Result<Sent> {
        let (due, packets) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        let departed = Vec::with_capacity(BATCH);
        let mut hand = Hand {
            next: None,
            number: 0,
            due,
            packets,
            flushed: self.begin,
            departed,
            asked: 0,
            counted: true,
        };
        let mut sent = Sent::default();
        hand.next = self.draw(&mut hand.number);
        while let Some(first) = hand.next.filter(|_| !self.clock.stopped() && sent.over.is_none()) {
            let now = self.clock.now();
            let due = self.begin + first.at;
            let idle = due.since(now) > SHORT_WAIT;
            if (idle && hand.asked < sent.packets) || sent.packets - hand.asked > UNASKED {
                self.departures(&mut hand, &sent)?;
            } else if now < due {
                self.rest(now, due, &mut hand.flushed)?;
            } else {
                self.gather(now, &mut hand);
                self.transmit(&mut hand, &mut sent)?;
            }
        }
        self.end(&mut sent);
        self.departures(&mut hand, &sent)?;
        Ok(sent)
    }

    fn draw(&mut self, number: &mut u32) -> Option<Due> {
        let (at, data) = self.schedule.next()?;
        let length = u32::try_from(data.get()).unwrap_or(u32::MAX);
        let packet = Outgoing { number: *number, length };
        // After the last number the first comes again, as in the source.
        *number = number.wrapping_add(1);
        Some(Due { at, packet })
    }

    /// Takes from the schedule what is due, at most a batch.
    fn gather(&mut self, now: Instant, hand: &mut Hand) {
        hand.due.clear();
        hand.packets.clear();
        while let Some(due) = hand.next.filter(|due| self.begin + due.at <= now) {
            if hand.due.len() == BATCH {
                break;
            }
            hand.due.push(due);
            hand.packets.push(due.packet);
            hand.next = self.draw(&mut hand.number);
        }
    }

    /// Logs when packets were taken, as far as that is reported by now.
    fn departures(&mut self, hand: &mut Hand, sent: &Sent) -> io::Result<()> {
        hand.asked = sent.packets;
        loop {
            hand.departed.clear();
            self.outlet.departed(&mut hand.departed);
            for (number, at) in hand.departed.iter().copied().filter(|_| hand.counted) {
                let time = from_start(at, self.start);
                self.write(Record { kind: Kind::Left, time, number, ..self.record })?;
            }
            if hand.departed.len() < BATCH {
                return Ok(());
            }
        }
    }

    fn rest(&mut self, now: Instant, until: Instant, flushed: &mut Instant) -> io::Result<()> {
        if until - now > LONG_WAIT && now.since(*flushed) >= FLUSH_EVERY {
            *flushed = now;
            if let Some(log) = self.log {
                log.flush()?;
            }
        }
        self.clock.wait(until);
        Ok(())
    }

    /// Sends a batch; what an error belongs to is skipped.
    fn transmit(&mut self, hand: &mut Hand, sent: &mut Sent) -> io::Result<()> {
        let (mut from, mut tries) = (0, 0);
        while from < hand.packets.len() && sent.over.is_none() {
            let before = (self.clock.now(), self.clock.wall());
            match self.outlet.send(&hand.packets[from..]) {
                Ok(count) if count > 0 => {
                    let count = count.min(hand.packets.len() - from);
                    self.account(before, &hand.due[from..from + count], sent)?;
                    from += count;
                    if from < hand.packets.len() && self.outlet.stops_at_errors() {
                        *sent.errors.entry(0).or_default() += 1;
                        hand.counted = false;
                    }
                    tries = 0;
                }
                Err(error) if !waits(&error) => {
                    tries += 1;
                    self.failure(&error, &hand.due[from], sent)?;
                    if !is_of_earlier(&error) || tries == TRIES {
                        sent.failed += 1;
                        hand.counted = false;
                        from += 1;
                        tries = 0;
                    }
                }
                // There is no room, or a signal came.
                _ if self.clock.stopped() => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    fn account(&mut self, before: (Instant, WallTime), due: &[Due], sent: &mut Sent) -> io::Result<()> {
        let (now, wall) = before;
        let duration = if due.len() > 1 { self.clock.now().since(now).get() } else { 0 };
        for (index, each) in due.iter().enumerate() {
            let later = duration / due.len() as u64 * index as u64;
            let left = now + Nanos::new(later);
            sent.lateness.record(left.since(self.begin + each.at));
            sent.packets += 1;
            sent.bytes += u64::from(each.packet.length);
            let time = from_start(wall, self.start) + later.cast_signed();
            self.write(Record {
                other: each.at.get().cast_signed(),
                ..self.of(Kind::Transmit, time, each.packet)
            })?;
        }
        Ok(())
    }

    fn failure(&mut self, error: &io::Error, due: &Due, sent: &mut Sent) -> io::Result<()> {
        let errno = error.raw_os_error().unwrap_or(0);
        *sent.errors.entry(errno).or_default() += 1;
        if self.outlet.is_over(error) {
            sent.over = Some(error.to_string());
        }
        let time = from_start(self.clock.wall(), self.start);
        let errno = u8::try_from(errno).unwrap_or(u8::MAX);
        self.write(Record { errno, other: 1, ..self.of(Kind::Error, time, due.packet) })
    }

    fn of(&self, kind: Kind, time: i64, packet: Outgoing) -> Record {
        Record { kind, time, number: packet.number, length: packet.length, ..self.record }
    }

    fn write(&mut self, record: Record) -> io::Result<()> {
        self.log.as_mut().map_or(Ok(()), |log| log.add(&record))
    }

    /// Sends what is left of a packet, unless somebody asks to end.
    fn end(&mut self, sent: &mut Sent) {
        while sent.over.is_none() && !self.clock.stopped() {
            match self.outlet.finish() {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => sent.over = Some(error.to_string()),
            }
        }
    }
}

#[cfg(test)]
mod tests;
