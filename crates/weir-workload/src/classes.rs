//! The classes into which a report divides messages.

use super::Sizes;
use super::sizes::SizeClasses;
use weir_lab::dispatch::{Level, Work};

/// The classes into which a report divides messages.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageClasses {
    /// One class a length; the lengths in increasing order.
    Lengths(Vec<u32>),
    /// By ranges of lengths of about equal frequency.
    Deciles(SizeClasses),
    /// As the trace says.
    Named {
        /// The name of each class.
        names: Vec<String>,
        /// The alpha that messages of each class carry, where the trace gives one.
        alphas: Option<Vec<f64>>,
    },
}

impl MessageClasses {
    /// One class a length; `None` where there are more than `limit` lengths.
    #[must_use]
    pub fn by_length(sizes: &Sizes, limit: u64) -> Option<Self> {
        let atoms = sizes.atoms(limit)?;
        atoms.iter().map(|(size, _)| u32::try_from(*size).ok()).collect::<Option<_>>().map(Self::Lengths)
    }

    /// The deciles of the distribution of lengths.
    #[must_use]
    pub fn by_decile(sizes: &Sizes) -> Self {
        Self::Deciles(sizes.deciles())
    }

    /// The number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Lengths(lengths) => lengths.len(),
            Self::Deciles(deciles) => deciles.bounds().len(),
            Self::Named { names, .. } => names.len(),
        }
    }

    /// Whether there is no class.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The class of a message of this length; `None` where the trace says it, not the length.
    ///
    /// A length between two classes belongs to the one above it, one above all to the last.
    #[must_use]
    #[inline]
    pub fn class_of(&self, length: u32) -> Option<u16> {
        let class = match self {
            Self::Lengths(lengths) => lengths.partition_point(|&class| class < length).min(lengths.len() - 1),
            Self::Deciles(deciles) => deciles.class_of(u64::from(length)),
            Self::Named { .. } => return None,
        };
        Some(class as u16)
    }

    /// The class of each of `lengths`, as [`Self::class_of`] gives it, and 0 where the trace says it; replaces `classes`.
    pub fn classify(&self, lengths: &[u32], classes: &mut Vec<u16>) {
        classes.clear();
        if let Self::Deciles(deciles) = self {
            classes.resize(lengths.len(), 0);
            return Level::detect().run(Classify { bounds: deciles.bounds(), lengths, classes });
        }
        classes.extend(lengths.iter().map(|&length| self.class_of(length).unwrap_or(0)));
    }

    /// What each class is called; `unit` is the symbol of the lengths.
    #[must_use]
    pub fn names(&self, unit: &str) -> Vec<String> {
        match self {
            Self::Lengths(lengths) => lengths.iter().map(|length| format!("{length}{unit}")).collect(),
            Self::Deciles(deciles) => ranges(deciles.bounds(), unit),
            Self::Named { names, .. } => names.clone(),
        }
    }
}

/// Counts the bounds below each length, bound by bound, which goes through many lengths at once.
struct Classify<'a> {
    bounds: &'a [u64],
    lengths: &'a [u32],
    classes: &'a mut [u16],
}

impl Work for Classify<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Some((_, bounds)) = self.bounds.split_last() else { return };
        // No length is above a bound that its type does not hold.
        for bound in bounds.iter().filter_map(|&bound| u32::try_from(bound).ok()) {
            for (class, &length) in self.classes.iter_mut().zip(self.lengths) {
                *class += u16::from(bound < length);
            }
        }
    }
}

fn ranges(bounds: &[u64], unit: &str) -> Vec<String> {
    let range = |place: usize| {
        let first = if place == 0 { 1 } else { bounds[place - 1] + 1 };
        match bounds[place] {
            u64::MAX => format!("{first}{unit} and more"),
            last if last == first => format!("{first}{unit}"),
            last => format!("{first}-{last}{unit}"),
        }
    };
    (0..bounds.len()).map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_a_class_for_each_of_its_lengths() {
        let classes = MessageClasses::by_length(&Sizes::alpha_report(), 100).expect("six lengths");
        assert_eq!(classes.names("pkt"), ["1pkt", "2pkt", "3pkt", "4pkt", "5pkt", "20pkt"]);
        assert_eq!([1, 5, 20].map(|length| classes.class_of(length)), [Some(0), Some(4), Some(5)]);
        assert_eq!(MessageClasses::by_length(&Sizes::alpha_report(), 5), None);
    }

    #[test]
    fn many_are_classified_as_each() {
        let sizes = [Sizes::uniform(1, 100), Sizes::exponential(1e4), Sizes::uniform(7, 7)];
        let sizes = sizes.map(|sizes| sizes.expect("valid"));
        let lengths: Vec<u32> = (0..200).chain([5_000, 90_000, u32::MAX]).collect();
        for sizes in sizes {
            let classes = MessageClasses::by_decile(&sizes);
            let mut all = vec![7];
            classes.classify(&lengths, &mut all);
            let each: Vec<u16> = lengths.iter().filter_map(|&length| classes.class_of(length)).collect();
            assert_eq!(all, each);
        }
    }

    #[test]
    fn deciles_are_called_by_their_range() {
        let classes = MessageClasses::by_decile(&Sizes::uniform(1, 100).expect("valid"));
        assert_eq!((classes.len(), classes.class_of(11)), (10, Some(1)));
        assert_eq!(classes.names("B")[..2], ["1-10B", "11-20B"]);
        let unbounded = MessageClasses::by_decile(&Sizes::exponential(100.0).expect("valid"));
        assert!(unbounded.names("B")[9].ends_with("B and more"));
    }
}
