//! The strategies that the accelerated engine knows.

use core::fmt;

/// Binary places of an alpha.
pub const FRACTION_BITS: u32 = 16;
/// Alphas are below this bound (2^32); from far smaller values on the schedule is shortest-first.
const ALPHA_END: f64 = 4_294_967_296.0;

/// The coefficient of alpha scheduling, a multiple of 2^-16 below 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alpha(u64);

impl Alpha {
    /// The alpha of this many 65,536ths; `None` from 2^48 on.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        if bits >> (32 + FRACTION_BITS) == 0 { Some(Self(bits)) } else { None }
    }

    /// The nearest multiple of 2^-16; `None` unless `value` is from 0 to below 2^32.
    #[must_use]
    pub fn nearest(value: f64) -> Option<Self> {
        let inside = (0.0..ALPHA_END).contains(&value);
        if inside { Self::from_bits((value * f64::from(1 << FRACTION_BITS)).round() as u64) } else { None }
    }

    /// The number of 65,536ths.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Alpha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0 as f64 / f64::from(1 << FRACTION_BITS)).fmt(f)
    }
}

/// A strategy of the message port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// In order of arrival.
    Fifo,
    /// One packet in turn; a new message at the end (RR).
    RoundRobin,
    /// One packet in turn; new messages ahead of all that have sent something (RR').
    RoundRobinHead,
    /// Fewest remaining packets first, ties by arrival.
    ShortestFirst,
    /// By `alpha * remaining + tick of insertion`, ties by arrival: the head's priority is decremented by
    /// alpha for each packet sent.
    Alpha(Alpha),
    /// The same with an alpha for each class.
    AlphaPerClass(Vec<Alpha>),
}

impl Strategy {
    /// The alpha of a class in a strategy ordered by key; shortest-first counts as 1.
    pub(super) fn alpha_bits(&self, class: usize) -> u64 {
        match self {
            Self::Alpha(alpha) => alpha.bits(),
            Self::AlphaPerClass(alphas) => alphas.get(class).map_or(0, |alpha| alpha.bits()),
            _ => 1 << FRACTION_BITS,
        }
    }
}
