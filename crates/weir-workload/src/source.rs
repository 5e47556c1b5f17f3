//! Where a port's messages and service times come from.
//!
//! Both engines of the port read the same sources, in blocks: equal keys give equal numbers, so that all
//! disciplines of a comparison see the same arrivals and the k-th packet accepted takes the k-th service
//! time whatever the discipline.

use core::fmt;
use weir_lab::stream::{LONGEST_MEAN, Purpose, Stream, StreamKey};

/// Arrivals, structure of arrays; entry `i` of each array belongs to the same message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrivalBlock {
    /// Submission, in clock counts; never decreases.
    pub at: Vec<u64>,
    /// Packets of the message, at least one.
    pub length: Vec<u32>,
    /// Its class. The accelerated engine wants the index into its table of lengths.
    pub class: Vec<u16>,
    /// The application that submits it.
    pub flow: Vec<u32>,
}

impl ArrivalBlock {
    /// Messages held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether no message is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Forgets the messages and keeps the memory.
    pub fn clear(&mut self) {
        self.at.clear();
        self.length.clear();
        self.class.clear();
        self.flow.clear();
    }

    /// Keeps the first `n` messages.
    pub fn truncate(&mut self, n: usize) {
        self.at.truncate(n);
        self.length.truncate(n);
        self.class.truncate(n);
        self.flow.truncate(n);
    }

    /// Appends one message.
    pub fn push(&mut self, at: u64, length: u32, class: u16, flow: u32) {
        self.at.push(at);
        self.length.push(length);
        self.class.push(class);
        self.flow.push(flow);
    }
}

/// Who submits what, when.
pub trait ArrivalSource {
    /// Clears the block and appends up to `n` arrivals; returns how many; 0 only at the end of a trace, or of a curve.
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize;
}

impl<S: ArrivalSource + ?Sized> ArrivalSource for Box<S> {
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
        (**self).fill(block, n)
    }
}

/// How long the packets take.
pub trait ServiceSource {
    /// The service times of the next packets accepted, in clock counts.
    fn fill(&mut self, out: &mut [u64]);
}

/// Why a source cannot be built.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SourceError {
    /// No length, or more than 65,536 of them.
    Lengths(usize),
    /// A length of zero packets, at this place of the table.
    ZeroLength(usize),
    /// A share that is negative, not finite, or leaves the sum at zero.
    Share(f64),
    /// A mean that is not positive, or longer than the clock can draw.
    Mean(f64),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lengths(n) => write!(f, "the table has {n} lengths, must have 1 to 65536"),
            Self::ZeroLength(place) => {
                write!(f, "length {} of the table is 0 packets, must be at least 1", place + 1)
            }
            Self::Share(share) => {
                write!(f, "share {share} must be finite and not negative, with a positive sum")
            }
            Self::Mean(mean) => write!(f, "mean {mean}ns must be above 0ns and at most {LONGEST_MEAN}ns"),
        }
    }
}

impl std::error::Error for SourceError {}

fn checked_mean(mean: f64) -> Result<f64, SourceError> {
    if mean > 0.0 && mean <= LONGEST_MEAN { Ok(mean) } else { Err(SourceError::Mean(mean)) }
}

/// A distribution of message lengths, drawn in constant time.
///
/// Vose's form of the alias method (IEEE Trans. Softw. Eng. 17(9), 1991, pp. 972–975); class = place in
/// the table.
#[derive(Clone, Debug)]
pub struct LengthTable {
    lengths: Vec<u32>,
    mean: f64,
    /// Per column: below this fraction of 2^64 the column itself, else its alias.
    threshold: Vec<u64>,
    alias: Vec<u16>,
}

impl LengthTable {
    /// A table of `(length, share)`; shares need not sum to one.
    ///
    /// # Errors
    ///
    /// [`SourceError`] for an empty or oversized table, a zero length, or a share that is no probability.
    pub fn new(shares: &[(u32, f64)]) -> Result<Self, SourceError> {
        let total = checked_total(shares)?;
        let n = shares.len();
        let mut weight: Vec<f64> = shares.iter().map(|&(_, share)| share / total * n as f64).collect();
        let mut alias: Vec<u16> = (0..n).map(|place| place as u16).collect();
        let (mut light, mut heavy): (Vec<usize>, Vec<usize>) = (0..n).partition(|&place| weight[place] < 1.0);
        let mut threshold = vec![u64::MAX; n];
        while let (Some(&low), Some(&high)) = (light.last(), heavy.last()) {
            light.pop();
            threshold[low] = (weight[low] * 18_446_744_073_709_551_616.0) as u64;
            alias[low] = high as u16;
            weight[high] -= 1.0 - weight[low];
            if weight[high] < 1.0 {
                heavy.pop();
                light.push(high);
            }
        }
        let mean = shares.iter().map(|&(length, share)| f64::from(length) * share / total).sum();
        Ok(Self { lengths: shares.iter().map(|&(length, _)| length).collect(), mean, threshold, alias })
    }

    /// The lengths by class, in packets.
    #[must_use]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// The mean length, in packets.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The class these 64 random bits name.
    #[inline(always)]
    pub fn class(&self, bits: u64) -> u16 {
        named(bits, &self.threshold, &self.alias)
    }

    /// Appends the classes that these random bits name, 64 for each.
    pub fn classes(&self, bits: &[u64], out: &mut Vec<u16>) {
        let Self { threshold, alias, .. } = self;
        let begin = out.len();
        out.resize(begin + bits.len(), 0);
        for (class, &bits) in out[begin..].iter_mut().zip(bits) {
            *class = named(bits, threshold, alias);
        }
    }
}

/// The class that 64 random bits name.
#[inline(always)]
fn named(bits: u64, threshold: &[u64], alias: &[u16]) -> u16 {
    let product = u128::from(bits) * threshold.len() as u128;
    let column = (product >> 64) as usize;
    let is_column = (product as u64) < threshold[column];
    core::hint::select_unpredictable(is_column, column as u16, alias[column])
}

fn checked_total(shares: &[(u32, f64)]) -> Result<f64, SourceError> {
    if shares.is_empty() || shares.len() > 1 << 16 {
        return Err(SourceError::Lengths(shares.len()));
    }
    if let Some(place) = shares.iter().position(|&(length, _)| length == 0) {
        return Err(SourceError::ZeroLength(place));
    }
    if let Some(&(_, share)) = shares.iter().find(|(_, share)| !share.is_finite() || *share < 0.0) {
        return Err(SourceError::Share(share));
    }
    let total: f64 = shares.iter().map(|&(_, share)| share).sum();
    if total > 0.0 && total.is_finite() { Ok(total) } else { Err(SourceError::Share(total)) }
}

/// Poisson arrivals of one application, lengths independent of each other and of the times.
///
/// The first message arrives at time 0. Times are rounded to whole clock counts between arrivals.
#[derive(Clone, Debug)]
pub struct PoissonArrivals {
    table: LengthTable,
    mean_gap: f64,
    gaps: Stream,
    draws: Stream,
    next_at: u64,
    scratch: Vec<u64>,
}

impl PoissonArrivals {
    /// Arrivals `mean_gap` clock counts apart on average, of the lengths of `table`.
    ///
    /// # Errors
    ///
    /// [`SourceError::Mean`] unless `mean_gap` is above 0 and at most [`LONGEST_MEAN`].
    pub fn new(table: LengthTable, mean_gap: f64, seed: u64, replication: u32) -> Result<Self, SourceError> {
        let stream = |purpose| Stream::new(StreamKey { seed, replication, purpose, index: 0 });
        Ok(Self {
            table,
            mean_gap: checked_mean(mean_gap)?,
            gaps: stream(Purpose::Arrivals),
            draws: stream(Purpose::Lengths),
            next_at: 0,
            scratch: Vec::new(),
        })
    }
}

impl ArrivalSource for PoissonArrivals {
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
        block.clear();
        block.flow.resize(n, 0);
        self.scratch.resize(n, 0);
        self.draws.fill_u64(&mut self.scratch);
        let table = &self.table;
        block.class.extend(self.scratch.iter().map(|&bits| table.class(bits)));
        block.length.extend(block.class.iter().map(|&class| table.lengths[usize::from(class)]));
        self.gaps.fill_exponential(self.mean_gap, 0, &mut self.scratch);
        let mut at = self.next_at;
        block.at.extend(self.scratch.iter().map(|&gap| {
            let this = at;
            at = at.saturating_add(gap);
            this
        }));
        self.next_at = at;
        n
    }
}

/// Random service times: a constant plus an exponential, either of which may be absent.
#[derive(Clone, Debug)]
pub struct RandomServices {
    constant: u64,
    mean: Option<f64>,
    draws: Stream,
}

impl RandomServices {
    /// Always `constant` clock counts.
    #[must_use]
    pub fn constant(constant: u64) -> Self {
        let key = StreamKey { seed: 0, replication: 0, purpose: Purpose::Services, index: 0 };
        Self { constant, mean: None, draws: Stream::new(key) }
    }

    /// `constant` plus an exponential of mean `mean`, both in clock counts.
    ///
    /// # Errors
    ///
    /// [`SourceError::Mean`] unless `mean` is above 0 and at most [`LONGEST_MEAN`].
    pub fn shifted_exponential(
        constant: u64,
        mean: f64,
        seed: u64,
        replication: u32,
    ) -> Result<Self, SourceError> {
        let key = StreamKey { seed, replication, purpose: Purpose::Services, index: 0 };
        Ok(Self { constant, mean: Some(checked_mean(mean)?), draws: Stream::new(key) })
    }
}

impl ServiceSource for RandomServices {
    fn fill(&mut self, out: &mut [u64]) {
        match self.mean {
            Some(mean) => self.draws.fill_exponential(mean, self.constant, out),
            None => out.fill(self.constant),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_in_their_shares() {
        let table = LengthTable::new(&[(1, 0.5), (7, 0.2), (20, 0.3), (9, 0.0)]).unwrap();
        assert!((table.mean() - 7.9).abs() < 1e-12);
        let mut source = PoissonArrivals::new(table, 100.0, 1, 0).unwrap();
        let mut block = ArrivalBlock::default();
        source.fill(&mut block, 100_000);
        let count = |length| block.length.iter().filter(|&&l| l == length).count() as i64;
        for (length, expected) in [(1, 50_000), (7, 20_000), (20, 30_000)] {
            assert!((count(length) - expected).abs() < 700, "{length}: {}", count(length));
        }
        assert_eq!((count(9), block.at[0]), (0, 0));
        assert!((*block.at.last().unwrap() as f64 / 1e7 - 1.0).abs() < 0.02);
    }

    #[test]
    fn block_size_does_not_change_the_numbers() {
        let source =
            || PoissonArrivals::new(LengthTable::new(&[(1, 1.0), (4, 2.0)]).unwrap(), 1e9, 5, 1).unwrap();
        let (mut whole, mut piece, mut got) = Default::default();
        source().fill(&mut whole, 300);
        let mut pieces = source();
        while ArrivalBlock::len(&got) < 300 {
            pieces.fill(&mut piece, 50);
            got.at.extend(&piece.at);
            got.length.extend(&piece.length);
            got.class.extend(&piece.class);
            got.flow.extend(&piece.flow);
        }
        assert_eq!(got, whole);
    }

    #[test]
    fn bad_tables_and_means_are_refused() {
        assert_eq!(LengthTable::new(&[]).unwrap_err(), SourceError::Lengths(0));
        assert_eq!(LengthTable::new(&[(1, 1.0), (0, 1.0)]).unwrap_err(), SourceError::ZeroLength(1));
        assert_eq!(LengthTable::new(&[(1, -1.0)]).unwrap_err(), SourceError::Share(-1.0));
        assert_eq!(LengthTable::new(&[(1, 0.0)]).unwrap_err(), SourceError::Share(0.0));
        assert!(RandomServices::shifted_exponential(0, f64::NAN, 0, 0).is_err());
        assert!(RandomServices::shifted_exponential(0, 1e14, 0, 0).is_err());
    }
}
