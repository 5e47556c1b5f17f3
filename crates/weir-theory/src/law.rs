//! A law of sizes as formulas need it: atoms and densities, with their moments.
//!
//! [`Sizes`] are whole numbers. One by one they would be too many (a run may hold 10^9 of them), so sizes
//! up to 4096, and runs of up to 4096 sizes, become atoms, and the rest of a long run a density from half a
//! unit below its first size to half a unit above its last, which keeps mean and share. The density has a
//! *grain* of one unit: what is below and up to a size ends half a grain to either side of it, so that ties
//! are served as ties. Integrals over it are sums by the midpoint rule; what that costs is of the order of
//! `(δ / (1 - load))^2 / 24` of a result, `δ` the load of a single size of the run, which is below 5e-4.
//!
//! A law may also be continuous from the start ([`SizeLaw::exponential`], [`SizeLaw::uniform`]).

use weir_workload::sizes::{Law, Run, Sizes, survival};

/// Sizes up to here, and runs of at most this many sizes, are taken one by one.
const ONE_BY_ONE: u64 = 4096;
/// Above this many atoms only runs of a single size are atoms.
const MAX_ATOMS: u64 = 1 << 20;

/// The shape of one piece of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// One size, `from`.
    Atom,
    /// A constant density.
    Uniform,
    /// A density that falls as `exp(-rate x)`.
    Exponential { rate: f64 },
}

/// The sizes from `from` to `to`, with probability `share` together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) share: f64,
    pub(super) shape: Shape,
    /// The distance of the whole sizes that a density stands for; 0 where sizes are continuous.
    pub(super) grain: f64,
}

impl Piece {
    fn atom(at: f64, share: f64) -> Self {
        Self { from: at, to: at, share, shape: Shape::Atom, grain: 0.0 }
    }

    pub(super) fn is_atom(&self) -> bool {
        self.shape == Shape::Atom
    }

    /// The probability density at `x`, a size of the piece.
    pub(super) fn density(&self, x: f64) -> f64 {
        match self.shape {
            Shape::Atom => 0.0,
            Shape::Uniform => self.share / (self.to - self.from),
            Shape::Exponential { rate } => {
                self.share * rate * libm::exp(-rate * (x - self.from))
                    / -libm::expm1(-rate * (self.to - self.from))
            }
        }
    }

    /// The part of the piece from `low` to `high`; `None` where nothing of it lies there.
    pub(super) fn between(&self, low: f64, high: f64) -> Option<Self> {
        let (from, to) = (self.from.max(low), self.to.min(high));
        if self.is_atom() {
            return (from <= to).then_some(*self);
        }
        if from >= to {
            return None;
        }
        let share = match self.shape {
            Shape::Exponential { rate } => {
                let mass = |width: f64| -libm::expm1(-rate * width);
                self.share * libm::exp(-rate * (from - self.from)) * mass(to - from)
                    / mass(self.to - self.from)
            }
            _ => self.share * (to - from) / (self.to - self.from),
        };
        Some(Self { from, to, share, ..*self })
    }

    /// The two halves of a density.
    pub(super) fn halves(&self) -> [Option<Self>; 2] {
        let middle = 0.5 * (self.from + self.to);
        [self.between(self.from, middle), self.between(middle, self.to)]
    }

    /// `E[X^k; X in the piece]` for `k` from 0 to 3.
    pub(super) fn moments(&self) -> Moments {
        let (y, a) = (self.offset_moments(), self.from);
        Moments([
            self.share,
            self.share * (a + y[0]),
            self.share * (a * (a + 2.0 * y[0]) + y[1]),
            self.share * (a * (a * (a + 3.0 * y[0]) + 3.0 * y[1]) + y[2]),
        ])
    }

    /// The first three moments of the distance from the beginning of the piece.
    fn offset_moments(&self) -> [f64; 3] {
        let w = self.to - self.from;
        match self.shape {
            Shape::Atom => [0.0; 3],
            Shape::Uniform => [w / 2.0, w * w / 3.0, w * w * w / 4.0],
            Shape::Exponential { rate } if w.is_infinite() => {
                [1.0 / rate, 2.0 / (rate * rate), 6.0 / (rate * rate * rate)]
            }
            Shape::Exponential { rate } => {
                let (a, r) = (rate * w, 1.0 / rate);
                let (mass, left) = (-libm::expm1(-a), libm::exp(-a));
                let m1 = mass - a * left;
                let m2 = 2.0 * m1 - a * a * left;
                let m3 = 3.0 * m2 - a * a * a * left;
                [m1 * r / mass, m2 * r * r / mass, m3 * r * r * r / mass]
            }
        }
    }
}

/// `E[X^k; X in some set]` for `k` from 0 to 3.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments(pub(super) [f64; 4]);

impl Moments {
    /// Of a constant density from `from` to `to`; negative where `to` is below `from`.
    pub(super) fn of_density(density: f64, from: f64, to: f64) -> Self {
        let share = density * (to - from);
        Piece { from, to, share, shape: Shape::Uniform, grain: 0.0 }.moments()
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self(core::array::from_fn(|k| self.0[k] + other.0[k]))
    }
}

/// A law of positive sizes, tabulated or continuous, in pieces of increasing size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeLaw {
    pub(super) pieces: Vec<Piece>,
}

impl SizeLaw {
    /// The continuous exponential law.
    ///
    /// # Panics
    /// If the mean is not positive and finite.
    #[must_use]
    pub fn exponential(mean: f64) -> Self {
        assert!(mean > 0.0 && mean.is_finite(), "mean is {mean}, must be positive");
        let shape = Shape::Exponential { rate: 1.0 / mean };
        Self { pieces: vec![Piece { from: 0.0, to: f64::INFINITY, share: 1.0, shape, grain: 0.0 }] }
    }

    /// The continuous uniform law.
    ///
    /// # Panics
    /// If `0 <= from < to` does not hold or `to` is infinite.
    #[must_use]
    pub fn uniform(from: f64, to: f64) -> Self {
        assert!(
            from >= 0.0 && from < to && to.is_finite(),
            "bounds are {from} and {to}, must increase from 0"
        );
        Self { pieces: vec![Piece { from, to, share: 1.0, shape: Shape::Uniform, grain: 0.0 }] }
    }

    pub(super) fn moments(&self) -> Moments {
        self.pieces.iter().fold(Moments::default(), |sum, piece| sum.plus(piece.moments()))
    }

    /// The largest size; `None` where the law has no bound.
    pub(super) fn largest(&self) -> Option<f64> {
        self.pieces.last().map(|piece| piece.to).filter(|to| to.is_finite())
    }
}

impl From<&Sizes> for SizeLaw {
    fn from(sizes: &Sizes) -> Self {
        let pieces = match sizes.law() {
            Law::Table(runs) => {
                let atoms = |sum: u64, run| sum.saturating_add(one_by_one(run, true));
                let expand = runs.iter().fold(0, atoms) <= MAX_ATOMS;
                runs.iter().flat_map(|run| pieces_of(run, one_by_one(run, expand))).collect()
            }
            Law::Geometric { mean } => memoryless(*mean),
        };
        Self { pieces }
    }
}

/// How many sizes at the beginning of a run become atoms.
fn one_by_one(run: &Run, expand: bool) -> u64 {
    let count = run.last - run.first + 1;
    match (expand, count) {
        (_, 1) => 1,
        (false, _) => 0,
        (true, _) if count <= ONE_BY_ONE => count,
        (true, _) => (ONE_BY_ONE + 1).saturating_sub(run.first),
    }
}

fn pieces_of(run: &Run, atoms: u64) -> Vec<Piece> {
    let count = run.last - run.first + 1;
    let each = run.share / count as f64;
    let mut pieces: Vec<Piece> =
        (run.first..run.first + atoms).map(|size| Piece::atom(size as f64, each)).collect();
    if atoms < count {
        let share = each * (count - atoms) as f64;
        let (from, to) = ((run.first + atoms) as f64 - 0.5, run.last as f64 + 0.5);
        pieces.push(Piece { from, to, share, shape: Shape::Uniform, grain: 1.0 });
    }
    pieces
}

/// The geometric law: its first sizes as atoms, then the exponential law with the same survival.
fn memoryless(mean: f64) -> Vec<Piece> {
    let above = |n: u64| survival(mean, n as f64);
    let atoms = (1..=ONE_BY_ONE).map(|n| Piece::atom(n as f64, above(n - 1) / mean));
    let mut pieces: Vec<Piece> = atoms.take_while(|piece| piece.share > 0.0).collect();
    let share = above(ONE_BY_ONE);
    if share > 0.0 {
        let shape = Shape::Exponential { rate: -libm::log1p(-1.0 / mean) };
        pieces.push(Piece { from: ONE_BY_ONE as f64 + 0.5, to: f64::INFINITY, share, shape, grain: 1.0 });
    }
    pieces
}
