//! One loop, compiled for several instruction sets, chosen when the program runs.
//!
//! The loops of the engine are plain Rust over integers, and over floating point without contraction or
//! reordering; a wider instruction set changes how many elements go through at once and nothing else. So
//! the copy that runs never changes a result; tests hold the copies together.

/// An instruction set for which the loops are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What the target guarantees.
    Portable,
    /// x86-64 with AVX2 and the bit instructions of the same generation.
    Avx2,
    /// x86-64 with AVX-512 (F, BW, DQ, VL, CD).
    Avx512,
}

/// A piece of work that gains from a wider instruction set.
///
/// `run`, and what it calls, must be `#[inline(always)]`: only inlined code is compiled for the level.
pub trait Work {
    /// What the work returns.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

impl Level {
    /// The widest level of this machine.
    #[must_use]
    pub fn detect() -> Self {
        *Self::available().last().unwrap_or(&Self::Portable)
    }

    /// Every level this machine can run, narrowest first.
    #[must_use]
    pub fn available() -> &'static [Self] {
        #[cfg(target_arch = "x86_64")]
        {
            if is_avx512() {
                return &[Self::Portable, Self::Avx2, Self::Avx512];
            }
            if is_avx2() {
                return &[Self::Portable, Self::Avx2];
            }
        }
        &[Self::Portable]
    }

    /// Runs the copy of `work` compiled for this level, or the portable one where the machine lacks it.
    #[inline]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        #[cfg(target_arch = "x86_64")]
        match self {
            // SAFETY: the guard has just found every feature the callee enables on this processor.
            Self::Avx512 if is_avx512() => return unsafe { avx512(work) },
            // SAFETY: as above.
            Self::Avx2 if is_avx2() => return unsafe { avx2(work) },
            _ => {}
        }
        work.run()
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn is_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn is_avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    is_avx2()
        && has!("avx512f")
        && has!("avx512bw")
        && has!("avx512dq")
        && has!("avx512vl")
        && has!("avx512cd")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx512<W: Work>(work: W) -> W::Output {
    work.run()
}
