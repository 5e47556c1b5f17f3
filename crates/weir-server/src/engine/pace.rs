//! How fast each core is, and when: its speed, and the faults that make it slower for a while or stop it.
//!
//! Faults are known beforehand, so that the end of a grant is known when it begins, and a fault is no event. Overheads take as
//! long at any speed. A grant does whole nanoseconds of service, at least one unless its core stands still or becomes slower
//! meanwhile: a shorter quantum is lengthened. Nothing here is asked where all cores are alike.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | of a grant O(log faults of the core, and faults that it meets) |
//! | Units | service: nanoseconds at a speed of 1; times: nanoseconds |
//! | Memory | two words per core and change of speed |

use super::LATEST;
use crate::model::ServerScenario;
use weir_core::pool::ServerId;
use weir_core::units::{Instant, Nanos, Speed};

/// Nanoseconds of service at a speed of 1, in millionths, so that no part is lost between two speeds.
const FULL: u128 = Speed::ONE.millionths() as u128;

/// A speed and from when on it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    from: Instant,
    speed: Speed,
}

/// The speeds of all cores.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Of each core, in order of time, the first from the beginning; the last is not [`Speed::ZERO`].
    cores: Vec<Vec<Piece>>,
}

impl Pace {
    /// The speeds of a scenario; `None` where all are 1 for ever.
    pub(super) fn new(scenario: &ServerScenario) -> Option<Self> {
        if scenario.is_even() {
            return None;
        }
        let own = |server: ServerId| vec![Piece { from: Instant::ZERO, speed: scenario.site.speed(server) }];
        let mut cores: Vec<_> = (0..scenario.site.servers).map(ServerId).map(own).collect();
        let mut faults = scenario.faults.clone();
        faults.sort_by_key(|fault| fault.at);
        for fault in faults {
            let pieces = &mut cores[fault.core as usize];
            let own = pieces[0].speed;
            let slower = u64::from(own.millionths()) * u64::from(fault.speed.millionths()) / FULL as u64;
            pieces.push(Piece { from: Instant::ZERO + fault.at, speed: Speed::new(slower as u32) });
            pieces.push(Piece { from: Instant::ZERO.after(fault.at).after(fault.lasts), speed: own });
        }
        Some(Self { cores })
    }

    /// The pieces from the one in force on.
    fn from(&self, core: u32, at: Instant) -> &[Piece] {
        let pieces = &self.cores[core as usize];
        let later = pieces.partition_point(|piece| piece.from <= at);
        &pieces[later - 1..]
    }

    /// The least time of a grant that begins then: that of a nanosecond of service, since each grant does whole ones; a
    /// nanosecond where the core stands still.
    pub(super) fn least(&self, core: u32, begins: Instant) -> Nanos {
        match self.from(core, begins)[0].speed {
            Speed::ZERO => Nanos::ONE,
            speed => speed.time_of(Nanos::ONE),
        }
    }

    /// When this much service is done that begins then, without interruption.
    pub(super) fn end(&self, core: u32, begins: Instant, service: Nanos) -> Instant {
        let mut left = u128::from(service.get()) * FULL;
        let mut at = begins;
        let pieces = self.from(core, begins);
        for (place, piece) in pieces.iter().enumerate() {
            let speed = u128::from(piece.speed.millionths());
            let until = pieces.get(place + 1).map_or(LATEST, |next| next.from);
            let possible = speed * u128::from(until.since(at).get());
            if left <= possible {
                let time = if speed == 0 { 0 } else { left.div_ceil(speed) };
                return at.after(Nanos::new(time as u64));
            }
            (left, at) = (left - possible, until.max(at));
        }
        LATEST
    }

    /// How much service is done between two instants.
    pub(super) fn service(&self, core: u32, from: Instant, until: Instant) -> Nanos {
        let pieces = self.from(core, from);
        let part = |(place, piece): (usize, &Piece)| {
            let ends = pieces.get(place + 1).map_or(until, |next| next.from.min(until));
            u128::from(piece.speed.millionths()) * u128::from(ends.since(piece.from.max(from)).get())
        };
        Nanos::new((pieces.iter().enumerate().map(part).sum::<u128>() / FULL) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{class, scenario};
    use crate::model::Fault;
    use weir_workload::duration::Law;

    fn at(time: u64) -> Instant {
        Instant::new(time)
    }

    fn span(time: u64) -> Nanos {
        Nanos::new(time)
    }

    /// Two cores, of speeds 1 and 1/2; from 100 to 150 the first is stopped, from 200 to 300 at a tenth; the second is at
    /// a half of its half from 40 to 60.
    fn pace() -> Pace {
        let classes = vec![class("a", 1.0, Law::Constant(span(10)))];
        let mut server = scenario(&["cfcfs"], 2, classes, 0.5).expect("a spec");
        assert!(Pace::new(&server).is_none());
        server.site.speeds = vec![Speed::ONE, Speed::new(500_000)];
        let fault = |core, from, lasts, millionths| Fault {
            core,
            at: span(from),
            lasts: span(lasts),
            speed: Speed::new(millionths),
        };
        server.faults = vec![fault(0, 200, 100, 100_000), fault(1, 40, 20, 500_000), fault(0, 100, 50, 0)];
        Pace::new(&server).expect("they differ")
    }

    #[test]
    fn by_hand() {
        let pace = pace();
        for (core, begins, service, end) in [
            (0, 0, 100, 100),
            (0, 90, 20, 160),
            (0, 120, 1, 151),
            (0, 190, 15, 250),
            (0, 190, 25, 305),
            (0, 50, 0, 50),
            (0, 120, 0, 120),
            (1, 0, 20, 40),
            (1, 0, 21, 44),
            (1, 30, 11, 62),
            (1, 100, 3, 106),
        ] {
            assert_eq!(pace.end(core, at(begins), span(service)), at(end), "{core}, {begins}, {service}");
        }
        for (core, from, until, service) in [
            (0, 90, 160, 20),
            (0, 110, 140, 0),
            (0, 190, 250, 15),
            (1, 30, 62, 11),
            (1, 0, 3, 1),
            (1, 7, 7, 0),
        ] {
            assert_eq!(pace.service(core, at(from), at(until)), span(service), "{core}, {from}, {until}");
        }
    }

    #[test]
    fn a_grant_does_a_nanosecond_at_least() {
        let pace = pace();
        for (core, begins, least) in [(0, 0, 1), (0, 100, 1), (0, 200, 10), (1, 0, 2), (1, 40, 4)] {
            assert_eq!(pace.least(core, at(begins)), span(least), "{core}, {begins}");
        }
    }

    #[test]
    fn what_is_done_by_the_end_is_all() {
        let pace = pace();
        for (core, begins, service) in (0..2).flat_map(|core| (0..320).map(move |at| (core, at, 1 + at % 97)))
        {
            let end = pace.end(core, at(begins), span(service));
            assert!(pace.service(core, at(begins), end) >= span(service));
            assert!(pace.service(core, at(begins), at(end.get() - 1)) < span(service));
        }
    }

    #[test]
    fn what_never_ends_ends_with_the_clock() {
        assert_eq!(pace().end(1, at(0), span(u64::MAX)), LATEST);
    }
}
