//! Draws sizes: one random word, one multiplication and one comparison each.
//!
//! | | |
//! |-|-|
//! | Source | Walker 1977, with Vose's linear construction (IEEE TSE 17(9), 1991) |
//! | Work | O(1) per draw of a table; the memoryless law takes one step per binary digit of its largest size |
//! | Exactness | probabilities to 2^-52; the smallest probability of a draw is 2^-64 |
//!
//! Only integer arithmetic and exactly rounded floating-point operations take part, so a draw is the same
//! on every machine.

use super::{Law, Run, Sizes};
use weir_lab::dispatch::{Level, Work};

/// Tables of at most this many sizes are kept size by size, which spares the draw within a run.
const EXPANDED: u64 = 4096;
/// Memoryless sizes drawn side by side.
const SIDE_BY_SIDE: usize = 16;
/// 2^64: the number of random words.
const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// Draws sizes from random words; made by [`Sizes::sampler`].
#[derive(Clone, Debug)]
pub struct SizeSampler(Method);

#[derive(Clone, Debug)]
enum Method {
    Alias(Vec<Cell>),
    /// The same where every run is one size below 2^32: a third of the memory, which thousands of sources share.
    Atoms(Vec<Atom>),
    /// `q^1, q^2, q^4, …` of the memoryless law `P(X > n) = q^n`.
    Powers(Vec<f64>),
}

/// One cell of the alias table: the words below `threshold` give `own`, the others `other`.
#[derive(Clone, Copy, Debug)]
struct Cell {
    threshold: u64,
    own: Span,
    other: Span,
}

/// A cell of single sizes.
#[derive(Clone, Copy, Debug)]
struct Atom {
    threshold: u64,
    own: u32,
    other: u32,
}

impl Atom {
    fn new(cell: &Cell) -> Option<Self> {
        let only = |span: Span| u32::try_from(span.first).ok().filter(|_| span.count == 1);
        Some(Self { threshold: cell.threshold, own: only(cell.own)?, other: only(cell.other)? })
    }
}

/// Sizes from `first` on; `scale` turns an offset among the words into an offset below `count`.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u64,
    count: u64,
    scale: f64,
}

impl Span {
    fn new(run: Run, words: f64) -> Self {
        let count = run.last - run.first + 1;
        Self { first: run.first, count, scale: if words > 0.0 { count as f64 / words } else { 0.0 } }
    }

    #[inline]
    fn at(&self, word: u64) -> u64 {
        if self.count == 1 {
            return self.first;
        }
        self.first + ((word as f64 * self.scale) as u64).min(self.count - 1)
    }
}

impl SizeSampler {
    pub(super) fn new(sizes: &Sizes) -> Self {
        match sizes.law() {
            Law::Geometric { mean } => Self(Method::Powers(powers(*mean))),
            Law::Table(runs) => {
                let expanded: Option<Vec<Run>> = sizes
                    .atoms(EXPANDED)
                    .map(|atoms| atoms.into_iter().map(|(size, share)| Run::atom(size, share)).collect());
                let cells = alias_table(expanded.as_deref().unwrap_or(runs));
                let atoms = cells.iter().map(Atom::new).collect::<Option<_>>();
                Self(atoms.map_or(Method::Alias(cells), Method::Atoms))
            }
        }
    }

    /// The sizes that belong to random words: of each as [`Self::sample`] gives it.
    ///
    /// # Panics
    /// If there are not as many sizes as words.
    pub fn sample_all(&self, words: &[u64], sizes: &mut [u64]) {
        assert_eq!(words.len(), sizes.len(), "a size for each word");
        match &self.0 {
            Method::Powers(powers) => Level::detect().run(Exponents { powers, words, sizes }),
            _ => sizes.iter_mut().zip(words).for_each(|(size, &word)| *size = self.sample(word)),
        }
    }

    /// The size that belongs to a random word.
    #[must_use]
    #[inline]
    pub fn sample(&self, word: u64) -> u64 {
        match &self.0 {
            Method::Alias(cells) => {
                let wide = u128::from(word) * cells.len() as u128;
                let cell = &cells[(wide >> 64) as usize];
                let rest = wide as u64;
                if rest < cell.threshold { cell.own.at(rest) } else { cell.other.at(rest - cell.threshold) }
            }
            Method::Atoms(atoms) => {
                let wide = u128::from(word) * atoms.len() as u128;
                let Atom { threshold, own, other } = atoms[(wide >> 64) as usize];
                u64::from(if (wide as u64) < threshold { own } else { other })
            }
            Method::Powers(powers) => 1 + largest_exponent(powers, (word as f64 + 1.0) / WORDS),
        }
    }
}

/// A memoryless size for each word, several at a time: the digits of one depend on each other.
struct Exponents<'a> {
    powers: &'a [f64],
    words: &'a [u64],
    sizes: &'a mut [u64],
}

impl Work for Exponents<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (words, sizes) in self.words.chunks(SIDE_BY_SIDE).zip(self.sizes.chunks_mut(SIDE_BY_SIDE)) {
            let mut lanes = [0; SIDE_BY_SIDE];
            lanes[..words.len()].copy_from_slice(words);
            sizes.copy_from_slice(&exponents(self.powers, lanes)[..sizes.len()]);
        }
    }
}

/// As [`SizeSampler::sample`] of each word.
#[inline(always)]
fn exponents(powers: &[f64], words: [u64; SIDE_BY_SIDE]) -> [u64; SIDE_BY_SIDE] {
    let mut bounds = [0.0; SIDE_BY_SIDE];
    bounds.iter_mut().zip(words).for_each(|(bound, word)| *bound = (word as f64 + 1.0) / WORDS);
    let (mut reached, mut n) = ([1.0; SIDE_BY_SIDE], [1; SIDE_BY_SIDE]);
    for (digit, power) in powers.iter().enumerate().rev() {
        for lane in 0..SIDE_BY_SIDE {
            let further = reached[lane] * power;
            let is_reached = further >= bounds[lane];
            reached[lane] = if is_reached { further } else { reached[lane] };
            n[lane] += u64::from(is_reached) << digit;
        }
    }
    n
}

/// `q^1, q^2, q^4, …` down to the smallest that a random word can tell from nothing.
fn powers(mean: f64) -> Vec<f64> {
    // While q is near 1 its distance from 1 is squared on, which keeps all digits of that distance.
    let next = |&(power, gap): &(f64, f64)| {
        let wider = gap * (2.0 - gap);
        Some(if gap < 0.25 { (1.0 - wider, wider) } else { (power * power, 1.0) })
    };
    let squares = core::iter::successors(Some((1.0 - 1.0 / mean, 1.0 / mean)), next);
    squares.map(|(power, _)| power).take_while(|&power| power > 1e-20).collect()
}

/// The largest `n` with `q^n >= bound`, found digit by digit.
fn largest_exponent(powers: &[f64], bound: f64) -> u64 {
    let (mut reached, mut n) = (1.0, 0);
    for (digit, power) in powers.iter().enumerate().rev() {
        if reached * power >= bound {
            reached *= power;
            n += 1 << digit;
        }
    }
    n
}

/// Vose's construction: cells with too little take from one with too much, until all are level.
fn alias_table(runs: &[Run]) -> Vec<Cell> {
    let mut level: Vec<f64> = runs.iter().map(|run| run.share * runs.len() as f64).collect();
    let mut alias: Vec<usize> = (0..runs.len()).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..runs.len()).partition(|&i| level[i] < 1.0);
    let mut keep = vec![1.0; runs.len()];
    while let (Some(low), Some(&high)) = (small.pop(), large.last()) {
        (keep[low], alias[low]) = (level[low], high);
        level[high] -= 1.0 - level[low];
        if level[high] < 1.0 {
            large.pop();
            small.push(high);
        }
    }
    (0..runs.len()).map(|i| cell(runs[i], runs[alias[i]], keep[i])).collect()
}

fn cell(own: Run, other: Run, keep: f64) -> Cell {
    // The conversion saturates: a full cell keeps all words but one, and its other run is its own.
    let threshold = (keep * WORDS) as u64;
    Cell {
        threshold,
        own: Span::new(own, threshold as f64),
        other: Span::new(other, WORDS - threshold as f64),
    }
}
