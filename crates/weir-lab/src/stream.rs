//! Counter-based random streams: Philox4x32-10.
//!
//! The n-th number of a stream is a function of (seed, replication, purpose, index, n) alone, so streams
//! need no seeding order, never overlap, and give equal results for any number of threads. Every draw,
//! of whatever kind, takes one 64-bit number; a block draw gives what as many single draws would give.
//!
//! | | |
//! |-|-|
//! | Source | Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11, section 3.2 |
//! | Key | the seed |
//! | Counter | words 0 and 1: 48 bits of position and 16 of purpose; word 2: replication; word 3: index |
//! | Period | 2^49 numbers of 64 bits in a stream |
//! | Exponential | `-ln u`, `u` an odd multiple of 2^-53 in (0, 1), rounded to whole nanoseconds |

use super::dispatch::{Level, Work};
use super::logarithm::ln;

const MULTIPLIER_0: u64 = 0xD251_1F53;
const MULTIPLIER_1: u64 = 0xCD9E_8D57;
const WEYL_0: u32 = 0x9E37_79B9;
const WEYL_1: u32 = 0xBB67_AE85;
const ROUNDS: usize = 10;
const LOW_WORD: u64 = 0xFFFF_FFFF;
/// Counters enciphered side by side.
const WIDTH: usize = 16;
/// Numbers of 64 bits in one batch of counters.
const BATCH: usize = 2 * WIDTH;
/// The longest mean of an exponential: 2^46 ns, 19 hours, so that the longest draw is below 2^52.
pub const LONGEST_MEAN: f64 = 70_368_744_177_664.0;

/// What a stream is for; streams of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Purpose {
    /// Times between arrivals.
    Arrivals = 1,
    /// Lengths of messages, sizes of packets.
    Lengths = 2,
    /// Service times.
    Services = 3,
    /// Which flow an item belongs to.
    Flows = 4,
    /// State changes of a bursty source.
    Phases = 5,
    /// Think times of closed-loop applications.
    Thinking = 6,
    /// Random choices of a discipline or dispatcher.
    Decisions = 7,
    /// Resampling in statistics.
    Resampling = 8,
    /// Workloads of tests.
    Test = 9,
    /// What is added to transmissions on a link.
    Transmissions = 10,
    /// Times in the host that sends.
    Sending = 11,
    /// Times in the node at the end of a link.
    Forwarding = 12,
    /// How many flows a source has, and where they go.
    Places = 13,
    /// The ways that flows take.
    Ways = 14,
    /// When the clocks of hosts tick.
    Clocks = 15,
    /// How many arrive at once.
    Batches = 20,
    /// When processes that arrive together begin.
    Beginnings = 21,
    /// Which rows of a trace are kept.
    Thinning = 22,
    /// The seeds of the parts of what has a stream of its own.
    Parts = 23,
}

/// Names a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamKey {
    /// The seed of the scenario.
    pub seed: u64,
    /// The replication within it.
    pub replication: u32,
    /// What the numbers are for.
    pub purpose: Purpose,
    /// Which of several streams of the purpose.
    pub index: u32,
}

impl StreamKey {
    /// The key of a part of what this one names: this one for part 0, else that of a seed which all its parts share and
    /// nothing else has.
    #[must_use]
    pub fn part(self, number: u32) -> Self {
        if number == 0 {
            return self;
        }
        let seed = Stream::new(Self { purpose: Purpose::Parts, ..self }).next_u64();
        Self { seed, index: number, ..self }
    }
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    /// Counter words above the position.
    purpose: u64,
    replication: u64,
    index: u64,
    /// The next counter position.
    position: u64,
    buffer: [u64; BATCH],
    /// Numbers of the buffer already drawn.
    drawn: usize,
    level: Level,
}

impl Stream {
    /// The stream of this key, from its beginning.
    #[must_use]
    pub fn new(key: StreamKey) -> Self {
        Self::with_level(key, Level::detect())
    }

    /// As `new`, with the loops of `level`; the numbers are the same.
    #[must_use]
    pub fn with_level(key: StreamKey, level: Level) -> Self {
        Self {
            key: [key.seed as u32, (key.seed >> 32) as u32],
            purpose: u64::from(key.purpose as u16) << 16,
            replication: u64::from(key.replication),
            index: u64::from(key.index),
            position: 0,
            buffer: [0; BATCH],
            drawn: BATCH,
            level,
        }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        if self.drawn == BATCH {
            self.refill();
        }
        self.drawn += 1;
        self.buffer[self.drawn - 1]
    }

    /// The next 32 bits: the upper half of the next 64.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A number in (0, 1): an odd multiple of 2^-53.
    #[inline]
    pub fn next_uniform(&mut self) -> f64 {
        uniform(self.next_u64())
    }

    /// A whole number below `bound` (0 where the bound is 0); no value is favoured by more than 2^-64.
    #[inline]
    pub fn next_below(&mut self, bound: u64) -> u64 {
        below(self.next_u64(), bound)
    }

    /// An exponential time of this mean (nanoseconds, at most [`LONGEST_MEAN`]), in whole nanoseconds.
    #[inline]
    pub fn next_exponential(&mut self, mean: f64) -> u64 {
        exponential(self.next_u64(), mean)
    }

    /// Fills `out` with what as many calls of `next_u64` would give.
    pub fn fill_u64(&mut self, out: &mut [u64]) {
        let level = self.level;
        level.run(Fill { stream: self, out });
    }

    /// Fills `out` with what as many calls of `next_exponential` would give, each plus `constant`.
    pub fn fill_exponential(&mut self, mean: f64, constant: u64, out: &mut [u64]) {
        let level = self.level;
        level.run(FillExponential { stream: self, mean, constant, out });
    }

    /// Fills `out` with what as many calls of `next_exponential` would give, each with the mean of its kind: entry `i` with
    /// `means[kinds[i]]`. There are as many kinds as there is room in `out`.
    pub fn fill_exponentials(&mut self, means: &[f64], kinds: &[u16], out: &mut [u64]) {
        let level = self.level;
        level.run(FillExponentials { stream: self, means, kinds, out });
    }

    #[inline(always)]
    fn fill(&mut self, out: &mut [u64]) {
        let buffered = out.len().min(BATCH - self.drawn);
        let (head, rest) = out.split_at_mut(buffered);
        head.copy_from_slice(&self.buffer[self.drawn..self.drawn + buffered]);
        self.drawn += buffered;
        let mut batches = rest.chunks_exact_mut(BATCH);
        for batch in &mut batches {
            let mut fresh = [0; BATCH];
            self.encipher(&mut fresh);
            batch.copy_from_slice(&fresh);
        }
        let rest = batches.into_remainder();
        if !rest.is_empty() {
            self.refill();
            rest.copy_from_slice(&self.buffer[..rest.len()]);
            self.drawn = rest.len();
        }
    }

    #[inline(always)]
    fn refill(&mut self) {
        let mut fresh = [0; BATCH];
        self.encipher(&mut fresh);
        self.buffer = fresh;
        self.drawn = 0;
    }

    /// Enciphers the next `WIDTH` counters.
    #[inline(always)]
    fn encipher(&mut self, out: &mut [u64; BATCH]) {
        let mut counter = [[0; WIDTH], [0; WIDTH], [self.replication; WIDTH], [self.index; WIDTH]];
        let [low, high, ..] = &mut counter;
        for (position, (low, high)) in (self.position..).zip(low.iter_mut().zip(high)) {
            *low = position & LOW_WORD;
            *high = (position >> 32) & 0xFFFF | self.purpose;
        }
        self.position += WIDTH as u64;
        philox(&mut counter, self.key);
        for lane in 0..WIDTH {
            out[2 * lane] = counter[0][lane] | counter[1][lane] << 32;
            out[2 * lane + 1] = counter[2][lane] | counter[3][lane] << 32;
        }
    }
}

/// Ten rounds over counters held side by side, each word in the low half of 64 bits.
#[inline(always)]
fn philox<const N: usize>(counter: &mut [[u64; N]; 4], key: [u32; 2]) {
    let mut key = key;
    for _ in 0..ROUNDS {
        let (k0, k1) = (u64::from(key[0]), u64::from(key[1]));
        let [c0, c1, c2, c3] = counter;
        for lane in 0..N {
            let p0 = (c0[lane] & LOW_WORD) * MULTIPLIER_0;
            let p1 = (c2[lane] & LOW_WORD) * MULTIPLIER_1;
            c0[lane] = (p1 >> 32) ^ c1[lane] ^ k0;
            c1[lane] = p1 & LOW_WORD;
            c2[lane] = (p0 >> 32) ^ c3[lane] ^ k1;
            c3[lane] = p0 & LOW_WORD;
        }
        key = [key[0].wrapping_add(WEYL_0), key[1].wrapping_add(WEYL_1)];
    }
}

/// The whole number below `bound` that 64 random bits name, as [`Stream::next_below`] draws it.
#[inline(always)]
#[must_use]
pub fn below(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

/// The odd multiple of 2^-53 that the upper 52 bits name; exact.
#[inline(always)]
fn uniform(bits: u64) -> f64 {
    f64::from_bits(bits >> 12 | 0x3FF0_0000_0000_0000) - (1.0 - f64::EPSILON / 2.0)
}

/// The exponential time of these bits, rounded to the nearest whole number.
#[inline(always)]
fn exponential(bits: u64, mean: f64) -> u64 {
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let time = -ln(uniform(bits)) * mean;
    (time + TWO_52).to_bits() & ((1 << 52) - 1)
}

struct Fill<'a> {
    stream: &'a mut Stream,
    out: &'a mut [u64],
}

impl Work for Fill<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.stream.fill(self.out);
    }
}

struct FillExponential<'a> {
    stream: &'a mut Stream,
    mean: f64,
    constant: u64,
    out: &'a mut [u64],
}

impl Work for FillExponential<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.stream.fill(self.out);
        for slot in self.out {
            *slot = exponential(*slot, self.mean) + self.constant;
        }
    }
}

struct FillExponentials<'a> {
    stream: &'a mut Stream,
    means: &'a [f64],
    kinds: &'a [u16],
    out: &'a mut [u64],
}

impl Work for FillExponentials<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.stream.fill(self.out);
        // Means are looked up apart, so that the loop of the logarithms is one of wide instructions.
        let mut mean = [0.0; BATCH];
        for (slots, kinds) in self.out.chunks_mut(BATCH).zip(self.kinds.chunks(BATCH)) {
            mean.iter_mut().zip(kinds).for_each(|(mean, &kind)| *mean = self.means[usize::from(kind)]);
            for (slot, mean) in slots.iter_mut().zip(mean) {
                *slot = exponential(*slot, mean);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(index: u32) -> StreamKey {
        StreamKey { seed: 0x0123_4567_89AB_CDEF, replication: 3, purpose: Purpose::Test, index }
    }

    fn one(counter: [u64; 4], key: [u32; 2]) -> [u64; 4] {
        let mut lanes = counter.map(|word| [word]);
        philox(&mut lanes, key);
        lanes.map(|word| word[0])
    }

    /// Vectors published with the authors' own implementation.
    #[test]
    fn known_answers() {
        assert_eq!(one([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(one([LOW_WORD; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            one([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn the_first_number_is_that_of_its_counter() {
        let words = one([0, (Purpose::Test as u64) << 16, 3, 7], [0x89AB_CDEF, 0x0123_4567]);
        assert_eq!(Stream::new(key(7)).next_u64(), words[0] | words[1] << 32);
    }

    #[test]
    fn blocks_of_any_length_continue_single_draws_on_every_level() {
        let mut single = Stream::new(key(0));
        let expected: Vec<u64> = (0..4000).map(|_| single.next_exponential(5e8) + 7).collect();
        for &level in Level::available() {
            let mut blocks = Stream::with_level(key(0), level);
            let mut got = Vec::new();
            for length in (0..).take_while(|n| n * n < 8100) {
                let mut block = vec![0; length];
                blocks.fill_exponential(5e8, 7, &mut block);
                got.extend(block);
                got.push(blocks.next_exponential(5e8) + 7);
            }
            assert_eq!(got[..4000], expected[..], "{level:?}");
        }
    }

    #[test]
    fn blocks_of_several_means_are_single_draws_on_every_level() {
        let (means, kinds) = ([5e8, 3.0, 1e4], [0, 2, 1, 1, 0, 2, 2].repeat(100));
        let mut single = Stream::new(key(0));
        let expected: Vec<u64> =
            kinds.iter().map(|&kind: &u16| single.next_exponential(means[usize::from(kind)])).collect();
        for &level in Level::available() {
            let (mut blocks, mut got) = (Stream::with_level(key(0), level), vec![0; 700]);
            for (kinds, out) in kinds.chunks(97).zip(got.chunks_mut(97)) {
                blocks.fill_exponentials(&means, kinds, out);
            }
            assert_eq!(got, expected, "{level:?}");
        }
    }

    #[test]
    fn uniform_numbers_stay_inside_and_exponentials_have_their_moments() {
        assert!(uniform(0) > 0.0 && uniform(u64::MAX) < 1.0);
        let mut stream = Stream::new(key(1));
        let draws: Vec<f64> = (0..200_000).map(|_| stream.next_exponential(1e9) as f64 / 1e9).collect();
        let mean = draws.iter().sum::<f64>() / 2e5;
        let square = draws.iter().map(|x| x * x).sum::<f64>() / 2e5;
        assert!((mean - 1.0).abs() < 4.0 / 2e5_f64.sqrt(), "mean {mean}");
        assert!((square - 2.0).abs() < 4.0 * 20_f64.sqrt() / 2e5_f64.sqrt(), "second moment {square}");
    }

    #[test]
    fn bounded_draws_are_even_and_below_the_bound() {
        let mut stream = Stream::new(key(2));
        let mut seen = [0_u32; 7];
        for _ in 0..70_000 {
            seen[stream.next_below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (9_600..10_400).contains(&n)), "{seen:?}");
        assert_eq!(stream.next_below(0), 0);
    }

    #[test]
    fn streams_of_different_keys_differ() {
        let base = key(0);
        let others = [
            StreamKey { seed: base.seed + 1, ..base },
            StreamKey { seed: base.seed ^ 1 << 40, ..base },
            StreamKey { replication: 4, ..base },
            StreamKey { purpose: Purpose::Arrivals, ..base },
            StreamKey { index: 1, ..base },
        ];
        let first = Stream::new(base).next_u64();
        assert!(others.iter().all(|&other| Stream::new(other).next_u64() != first));
    }
}
