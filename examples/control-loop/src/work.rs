//! Work that takes a known time on a processor that is free: arithmetic, calibrated once.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How many rounds a processor that is free makes in a microsecond.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    rounds_a_microsecond: u64,
}

fn rounds(count: u64) {
    let mut state = 1_u64;
    for _ in 0..count {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

impl Work {
    /// Measures the processor. The shortest of several counts: the others were interrupted.
    pub fn calibrated() -> Self {
        const TRIED: u64 = 200_000;
        let took = |_| {
            let began = Instant::now();
            rounds(TRIED);
            began.elapsed().as_nanos().max(1) as u64
        };
        let shortest = (0..50).map(took).min().unwrap_or(1);
        Self { rounds_a_microsecond: (TRIED * 1_000 / shortest).max(1) }
    }

    /// Computes what takes so long, without giving way.
    pub fn compute(self, span: Duration) {
        rounds(self.rounds_a_microsecond * span.as_micros() as u64);
    }
}
