//! When packets leave: the open-loop schedule of a script.
//!
//! A packet is due one draw after the former packet *was due*, whether or not that one left in time; a draw
//! of 0 means at once. A packet leaves only if it is due before the burst ends.
//!
//! | | |
//! |-|-|
//! | Source | TG 2.0, generator and release notes (2002) |
//! | Draws | of one packet: the gap, then the length, from one sequence; of the packet that is not sent too |
//! | Arithmetic | draws add up in seconds, as floating numbers, from the burst's beginning; rounded to nanoseconds once |
//! | Work per packet | O(1) for draws without bounds; no allocation but where a burst begins |
//! | Departs from the source | lengths are rounded down to bytes, and above 8,192 cut to that |

use std::sync::Arc;

use weir_core::units::{Bytes, Cost, Nanos};

use crate::distribution::Sampler;
use crate::random::Random;
use crate::schedule::bounded_length;
use crate::traffic::{Burst, Start, Traffic};

/// The departures of a script, in order: the time since its start, and the bytes of the user's data.
///
/// It does not end where a burst has no end.
#[derive(Clone, Debug)]
pub struct Departures<R> {
    traffic: Arc<Traffic>,
    random: R,
    /// How many bursts have begun.
    begun: usize,
    present: Option<Present>,
    /// When the latest burst ended.
    ended: Nanos,
}

/// The burst that is being sent.
#[derive(Clone, Debug)]
struct Present {
    from: Nanos,
    stop: Option<Nanos>,
    /// When the latest packet was due, in seconds from the beginning.
    due: f64,
    sent: u64,
    data: u64,
    packets: u64,
    most_data: u64,
    arrival: Sampler,
    length: Sampler,
}

impl<R: Random> Departures<R> {
    /// The departures of `traffic`, drawn from `random`.
    #[must_use]
    pub fn new(traffic: Arc<Traffic>, random: R) -> Self {
        Self { traffic, random, begun: 0, present: None, ended: Nanos::new(0) }
    }

    /// When the latest burst that is over ended, since the script's start; its beginning where none is.
    #[must_use]
    pub const fn ended(&self) -> Nanos {
        self.ended
    }

    fn begin(&mut self) -> Option<Present> {
        let burst = self.traffic.bursts.get(self.begun)?;
        self.begun += 1;
        if let Some(seed) = burst.seed {
            self.random.seed(seed);
        }
        if burst.reset {
            self.random.reset();
        }
        Some(Present::new(burst, self.ended))
    }
}

impl Present {
    fn new(burst: &Burst, ended: Nanos) -> Self {
        let from = match burst.from {
            Start::At(at) => at.max(ended),
            Start::After(after) => ended.plus(after),
        };
        Self {
            from,
            stop: burst.time.map(|time| from.plus(time)).or(burst.until),
            due: 0.0,
            sent: 0,
            data: 0,
            packets: burst.packets.unwrap_or(u64::MAX),
            most_data: burst.data.map_or(u64::MAX, Bytes::get),
            arrival: Sampler::new(&burst.arrival),
            length: Sampler::new(&burst.length),
        }
    }

    /// The next packet, or when the burst has ended.
    #[inline]
    fn next(&mut self, random: &mut impl Random) -> Result<(Nanos, Bytes), Nanos> {
        self.due += self.arrival.draw(random);
        let length = bounded_length(self.length.draw(random));
        let due = self.from.plus(crate::nanos_of(self.due));
        if let Some(stop) = self.stop.filter(|stop| due >= *stop) {
            return Err(stop.max(self.from));
        }
        if self.sent == self.packets || length.get() > self.most_data - self.data {
            return Err(due);
        }
        self.sent += 1;
        self.data = self.data.saturating_add(length.get());
        Ok((due, length))
    }
}

impl<R: Random> Iterator for Departures<R> {
    type Item = (Nanos, Bytes);

    #[inline]
    fn next(&mut self) -> Option<(Nanos, Bytes)> {
        loop {
            if self.present.is_none() {
                self.present = Some(self.begin()?);
            }
            match self.present.as_mut()?.next(&mut self.random) {
                Ok(departure) => return Some(departure),
                Err(ended) => {
                    self.ended = ended;
                    self.present = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::BsdRandom;
    use crate::testing::{Given, read};

    const MILLISECOND: u64 = 1_000_000;

    /// The departures of the actions, in milliseconds and bytes; the first twenty.
    fn schedule(actions: &str) -> Vec<(u64, u64)> {
        drawn(actions, BsdRandom::new())
    }

    fn drawn(actions: &str, random: impl Random) -> Vec<(u64, u64)> {
        let script = read(&format!("on 1 udp 1.2.3.4.5 {actions}")).unwrap();
        let departures = Departures::new(Arc::new(Traffic::of(&script).unwrap()), random);
        departures.take(20).map(|(at, length)| (at.get() / MILLISECOND, length.get())).collect()
    }

    fn times(actions: &str) -> Vec<u64> {
        schedule(actions).into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn the_first_packet_is_due_one_gap_after_the_beginning() {
        assert_eq!(schedule("at 2 arrival 0.5 length 100 time 2"), [(2500, 100), (3000, 100), (3500, 100)]);
    }

    #[test]
    fn a_packet_due_at_the_end_is_not_sent() {
        assert_eq!(times("arrival 0.5 length 1 time 1"), [500]);
        assert_eq!(times("arrival 0.5 length 1 time 1.001"), [500, 1000]);
    }

    #[test]
    fn traffic_without_a_time_ends_at_the_next_action() {
        assert_eq!(times("arrival 1 length 1 at 2.5 arrival 1 length 1 at 4 wait"), [1000, 2000, 3500]);
        assert_eq!(times("arrival 1 length 1 at 2.5 wait"), [1000, 2000]);
    }

    #[test]
    fn traffic_without_an_end_goes_on() {
        assert_eq!(times("arrival 1 length 1").len(), 20);
    }

    #[test]
    fn time_counts_more_than_the_next_action() {
        assert_eq!(times("arrival 1 length 1 time 1.5 at 3 arrival 1 length 1 time 1.5"), [1000, 4000]);
    }

    #[test]
    fn an_action_without_at_begins_when_the_former_ends() {
        assert_eq!(times("at 1 arrival 1 length 1 time 1.5 arrival 0.25 length 1 time 0.4"), [2000, 2750]);
        assert_eq!(times("wait 2 arrival 1 length 1 time 1.5"), [3000]);
    }

    #[test]
    fn packet_and_data_end_at_the_packet_that_would_exceed_them() {
        // The third packet of the first burst is due at 3 s and not sent; there the second burst begins.
        assert_eq!(
            times("arrival 1 length 1 packet 2 wait 0.5 arrival 1 length 1 packet 1"),
            [1000, 2000, 4500]
        );
        let traffic =
            Traffic::of(&read("on 1 udp 1.2.3.4.5 at 1 arrival 1 length 1 packet 2").unwrap()).unwrap();
        let mut departures = Departures::new(Arc::new(traffic), BsdRandom::new());
        assert_eq!((departures.by_ref().count(), departures.ended().get()), (2, 4000 * MILLISECOND));
        assert_eq!(schedule("arrival 1 length 300 data 1000"), [(1000, 300), (2000, 300), (3000, 300)]);
        assert_eq!(times("arrival 1 length 300 data 900").len(), 3);
        assert_eq!(times("arrival 1 length 1 packet 9 time 2.5"), [1000, 2000]);
    }

    #[test]
    fn a_burst_that_outlasts_the_next_at_delays_it() {
        assert_eq!(
            times("arrival 1 length 1 packet 3 time 9 at 2 arrival 1 length 1 packet 1"),
            [1000, 2000, 3000, 5000]
        );
    }

    #[test]
    fn a_gap_of_zero_is_at_once() {
        assert_eq!(times("at 1 arrival 0 length 10 packet 3"), [1000, 1000, 1000]);
    }

    #[test]
    fn the_gap_is_drawn_before_the_length() {
        // 2^30 is a half: 1 + (3 - 1) / 2 s, then 100 + (300 - 100) / 4 bytes.
        let given = Given::new(&[1 << 30, 1 << 29]);
        assert_eq!(drawn("arrival uniform 1 3 length uniform 300 100 packet 1", given), [(2000, 150)]);
    }

    #[test]
    fn states_are_left_with_one_in_their_number_of_draws() {
        // Constants draw nothing: the numbers decide on leaving alone. The mean stay in the first state is 2
        // draws (left below 2^30), in the second 4 (left below 2^29).
        let given = Given::new(&[1 << 30, (1 << 30) - 1, 1 << 29, (1 << 29) - 1, 0, 0]);
        let gaps = drawn("arrival markov2 2 1 4 10 length 1 packet 6", given);
        let times: Vec<u64> = gaps.into_iter().map(|(at, _)| at / 1000).collect();
        assert_eq!(times, [1, 2, 12, 22, 23, 33]);
    }

    #[test]
    fn bounds_are_drawn_again_until_met() {
        // -ln(2^30 / 2^31) is 0.69, out of bounds; the largest number gives 0, below; then ln 4 is 1.386.
        let given = Given::new(&[(1 << 30) - 1, (1 << 31) - 1, (1 << 29) - 1]);
        assert_eq!(drawn("arrival exponential 1 1 2 length 1 packet 1", given), [(1386, 1)]);
    }

    #[test]
    fn bounds_do_not_hang_on_a_generator_that_stands_still() {
        assert_eq!(drawn("arrival exponential 1 1 2 length 1 packet 1", Given::new(&[1 << 30])), [(1000, 1)]);
    }

    #[test]
    fn lengths_are_cut_to_whole_bytes_and_the_largest_packet() {
        let given = Given::new(&[0]);
        assert_eq!(drawn("arrival 1 length exponential 1000 packet 1", given), [(1000, 8192)]);
        assert_eq!(schedule("arrival 1 length 99.9 packet 1"), [(1000, 99)]);
    }

    #[test]
    fn seed_and_reset_reach_the_generator() {
        let mut given = Given::new(&[0]);
        drawn(
            "arrival 1 l 1 packet 1 seed 7 arrival 1 l 1 packet 1 reset arr 1 l 1 packet 1 seed 8",
            &mut given,
        );
        assert_eq!(given.told, ["seed 7", "reset", "seed 8"]);
    }

    #[test]
    fn streams_of_one_script_share_the_sequence() {
        let both = times("arrival exponential 1 length 1 packet 2 arrival exponential 1 length 1 packet 2");
        let one = times("arrival exponential 1 length 1 packet 6");
        // The packet that ends the first burst is drawn, and so the second begins with the fourth draw.
        assert_eq!(both, [one[0], one[1], one[3], one[4]]);
    }
}
