//! Work of a processor, counted and not timed: a task that is interrupted has not done it meanwhile.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

/// Turns of the loop in a microsecond of an undisturbed processor.
static TURNS_A_MICRO: OnceLock<f64> = OnceLock::new();

const TRIAL: u64 = 200_000;
const TRIALS: usize = 200;

fn turns(count: u64) {
    let mut sum = 1_u64;
    for _ in 0..count {
        sum = black_box(sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// Measures the processor: the fastest of many trials.
pub fn calibrate() -> f64 {
    let trial = || {
        let begin = Instant::now();
        turns(TRIAL);
        begin.elapsed().as_secs_f64() * 1e6
    };
    let fastest = (0..TRIALS).map(|_| trial()).fold(f64::INFINITY, f64::min);
    *TURNS_A_MICRO.get_or_init(|| TRIAL as f64 / fastest)
}

/// Computes for so many microseconds of an undisturbed processor.
pub fn compute(micros: u64) {
    turns((micros as f64 * TURNS_A_MICRO.get().expect("calibrated at the start")) as u64);
}

/// A stream of numbers for workloads, the same in every run.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn from(&mut self, low: u64, high: u64) -> u64 {
        low + (self.next() >> 33) % (high - low + 1)
    }

    /// Exponentially distributed, with mean 1.
    pub fn exponential(&mut self) -> f64 {
        let uniform = ((self.next() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        -uniform.ln()
    }
}
