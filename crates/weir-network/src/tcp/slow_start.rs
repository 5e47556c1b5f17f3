//! HyStart++: the end of the first slow start, recognised by longer round trips before packets are lost.
//!
//! | | |
//! |-|-|
//! | Source | RFC 9406, section 4.2, with the values of section 4.3 |
//! | A longer round trip | by an eighth, from 4 to 16 ms, than in the round before; the shortest of at least 8 samples |
//! | Then | a quarter of the growth for five rounds, and congestion avoidance; back to slow start where round trips become shorter again |
//! | Work per acknowledgement | O(1) |
//! | Units | packets, nanoseconds |

use weir_core::units::{Cost, Nanos};

/// Samples of a round that make it count.
const SAMPLES: u32 = 8;
/// How much longer a round trip has to be: this part of it, within these bounds.
const PART: u64 = 8;
const LEAST: u64 = 4_000_000;
const MOST: u64 = 16_000_000;
/// What is left of the growth while it is seen whether round trips stay longer, and for how many rounds.
const CAREFUL: f64 = 0.25;
const ROUNDS: u32 = 5;

/// The first slow start.
#[derive(Clone, Debug, Default)]
pub struct SlowStart {
    /// A round ends when all packets below this are acknowledged.
    end: u64,
    before: Option<Nanos>,
    shortest: Option<Nanos>,
    samples: u32,
    careful: Option<Careful>,
}

/// Round trips have become longer.
#[derive(Clone, Debug)]
struct Careful {
    /// The shortest when that began.
    baseline: Nanos,
    rounds: u32,
}

impl SlowStart {
    /// How much the window grows with an acknowledgement up to `first`, with all packets below `highest` sent;
    /// `None` where slow start is over.
    pub(super) fn grown(&mut self, first: u64, highest: u64, round_trip: Option<Nanos>) -> Option<f64> {
        if let Some(sample) = round_trip {
            self.shortest = Some(self.shortest.map_or(sample, |shortest| shortest.min(sample)));
            self.samples += 1;
        }
        self.compare();
        if first >= self.end && !self.next_round(highest) {
            return None;
        }
        Some(if self.careful.is_some() { CAREFUL } else { 1.0 })
    }

    /// Compares this round with the one before.
    fn compare(&mut self) {
        let Some(shortest) = self.shortest.filter(|_| self.samples >= SAMPLES) else { return };
        if let Some(careful) = &self.careful {
            if shortest < careful.baseline {
                self.careful = None;
            }
        } else if self.before.is_some_and(|before| shortest >= longer(before)) {
            self.careful = Some(Careful { baseline: shortest, rounds: 0 });
        }
    }

    /// A round begins, unless it was the last one.
    fn next_round(&mut self, highest: u64) -> bool {
        self.end = highest;
        self.before = self.shortest.take();
        self.samples = 0;
        let Some(careful) = &mut self.careful else { return true };
        careful.rounds += 1;
        careful.rounds < ROUNDS
    }
}

/// A round trip longer than this by enough.
fn longer(round_trip: Nanos) -> Nanos {
    round_trip.plus(Nanos::new((round_trip.get() / PART).clamp(LEAST, MOST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The growth with each of the acknowledgements of a round of ten packets, at this round trip in milliseconds.
    fn round(start: &mut SlowStart, round: u64, milliseconds: u64) -> Vec<Option<f64>> {
        let acks = 10 * round + 1..=10 * round + 10;
        let sample = Some(Nanos::new(milliseconds * 1_000_000));
        acks.map(|first| start.grown(first, 10 * round + 20, sample)).collect()
    }

    #[test]
    fn goes_on_while_round_trips_stay() {
        let mut start = SlowStart { end: 10, ..SlowStart::default() };
        for number in 0..20 {
            assert_eq!(round(&mut start, number, 100 + number % 10), [Some(1.0); 10]);
        }
    }

    #[test]
    fn ends_five_rounds_after_round_trips_became_longer() {
        let mut start = SlowStart { end: 10, ..SlowStart::default() };
        round(&mut start, 0, 100);
        // 100 + 100 / 8 = 112.5 ms; at the eighth sample.
        let growth = round(&mut start, 1, 113);
        assert_eq!((&growth[..7], &growth[7..]), (&[Some(1.0); 7][..], &[Some(0.25); 3][..]));
        for number in 2..5 {
            assert_eq!(round(&mut start, number, 120), [Some(0.25); 10]);
        }
        assert_eq!(round(&mut start, 5, 120)[9], None);
    }

    #[test]
    fn goes_on_where_it_was_a_burst() {
        let mut start = SlowStart { end: 10, ..SlowStart::default() };
        round(&mut start, 0, 20);
        assert_eq!(round(&mut start, 1, 24)[9], Some(0.25));
        assert_eq!(round(&mut start, 2, 20)[9], Some(1.0));
    }
}
