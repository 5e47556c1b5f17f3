//! Which of many systems is the best, from replications on the same random numbers: what can be said, and what cannot.
//!
//! Systems are compared by the mean of one number a replication, less being better; the numbers of one replication belong
//! together, since all systems saw the same arrivals in it. So a difference is a mean of paired differences, whose spread is
//! often far less than that of either system.
//!
//! # The best, and those that cannot be distinguished from it
//!
//! A system is ruled out if some other is better by more than chance explains: if its mean exceeds the other's by more than
//! `t S / √n`, where `S` is the spread of the `n` paired differences and `t` Student's quantile of level `α / (k - 1)`,
//! one-sided, for `k` systems. The truly best one is ruled out with a probability of `α` at most, by Bonferroni's inequality
//! over the others, whatever the dependence between systems (Nelson, Swann, Goldsman and Song, Operations Research 49(6),
//! 2001, section 3: screening; Nelson and Matejcik, Management Science 41(12), 1995, on common random numbers). So what is
//! left holds the best with the stated confidence, and every one that is not left is worse than another. The differences
//! from the least mean are of a system that the same data chose; their intervals hold all at once over all `k (k - 1) / 2`
//! pairs, so that the choice does not matter.
//!
//! # The frontier of two figures
//!
//! A system is ruled out if some other is better in both beyond chance, each at level `α / (k (k - 1))`: who is truly on the
//! frontier is better in one of the two than whoever it is compared with, so that none of them is ruled out, with the stated
//! confidence (an intersection-union test: Berger, Technometrics 24(4), 1982).
//!
//! Assumes that means of replications are about normal. Work: O(systems x those left x replications) where most are ruled
//! out by the best few, at worst O(systems² x replications). Memory O(systems x replications). Units: those of the numbers.

use super::replications;
use super::student::two_sided;

/// The numbers of a system, replication by replication; nothing where there was nothing to observe.
pub type Numbers = [Option<f64>];

/// The difference of a system from the one with the least mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behind {
    /// By how much its mean is larger.
    pub value: f64,
    /// Half the width of its interval; nothing of fewer than two pairs.
    pub half_width: Option<f64>,
    /// The pairs.
    pub pairs: usize,
}

/// What is known of the best of some systems.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The place of the least mean.
    pub least: usize,
    /// Whether each system may be the best; not where it has no number.
    pub possible: Vec<bool>,
    /// The difference of each from the least mean, where there are pairs.
    pub behind: Vec<Option<Behind>>,
}

/// Student's quantile that is exceeded on one side with this probability.
fn one_sided(probability: f64, pairs: usize) -> f64 {
    two_sided(1.0 - 2.0 * probability, pairs as u64 - 1)
}

/// The paired differences of two systems, where both have a number.
fn pairs(own: &Numbers, other: &Numbers) -> Vec<f64> {
    own.iter().zip(other).filter_map(|(own, other)| Some((*own)? - (*other)?)).collect()
}

/// The mean of some numbers and its standard error.
fn mean(differences: &[f64]) -> Option<(f64, f64)> {
    let measure = replications::mean(differences);
    Some((measure.value()?, measure.as_estimate().map_or(f64::NAN, |estimate| estimate.standard_error())))
}

/// Whether a system is worse than another beyond chance, at this level.
fn is_worse(own: &Numbers, other: &Numbers, level: f64) -> bool {
    let differences = pairs(own, other);
    if differences.len() < 2 {
        return false;
    }
    mean(&differences)
        .is_some_and(|(value, error)| value > 0.0 && value > one_sided(level, differences.len()) * error)
}

/// The places of the systems with a mean, the least first.
fn by_mean(systems: &[Vec<Option<f64>>]) -> Vec<usize> {
    let mut means: Vec<(f64, usize)> = Vec::new();
    for (place, numbers) in systems.iter().enumerate() {
        let seen: Vec<f64> = numbers.iter().copied().flatten().filter(|number| number.is_finite()).collect();
        means.extend(mean(&seen).map(|(value, _)| (value, place)));
    }
    means.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    means.into_iter().map(|(_, place)| place).collect()
}

/// The best of some systems, where there is one with a number; less is better.
#[must_use]
pub fn best(systems: &[Vec<Option<f64>>], confidence: f64) -> Option<Best> {
    let order = by_mean(systems);
    let least = *order.first()?;
    let (count, error) = (order.len() as f64, 1.0 - confidence);
    let level = error / (count - 1.0).max(1.0);
    let is_ruled_out = |&place: &usize| {
        order.iter().any(|&other| other != place && is_worse(&systems[place], &systems[other], level))
    };
    let mut possible = vec![false; systems.len()];
    order.iter().filter(|&place| !is_ruled_out(place)).for_each(|&place| possible[place] = true);
    let all_pairs = error / (count * (count - 1.0)).max(1.0);
    let behind = systems.iter().map(|numbers| {
        let differences = pairs(numbers, &systems[least]);
        let (value, error) = mean(&differences)?;
        let several = differences.len() > 1;
        let half_width = several.then(|| one_sided(all_pairs, differences.len()) * error);
        Some(Behind { value, half_width, pairs: differences.len() })
    });
    Some(Best { least, possible, behind: behind.collect() })
}

/// Where a system stands to the frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No other has both means less.
    Frontier,
    /// Some other has, and not beyond chance.
    Possible,
    /// Some other is better in both beyond chance.
    Dominated,
    /// It has no numbers.
    Unknown,
}

/// Where each of some systems stands to the frontier of two figures, of both of which less is better.
#[must_use]
pub fn frontier(figures: [&[Vec<Option<f64>>]; 2], confidence: f64) -> Vec<Standing> {
    let average = |numbers: &Vec<Option<f64>>| {
        let seen: Vec<f64> = numbers.iter().copied().flatten().collect();
        mean(&seen).map(|(value, _)| value)
    };
    let [one, other] = figures.map(|figure| figure.iter().map(average).collect::<Vec<_>>());
    let means: Vec<Option<[f64; 2]>> =
        one.iter().zip(&other).map(|(one, other)| Some([(*one)?, (*other)?])).collect();
    let mut order: Vec<usize> = (0..means.len()).filter(|&place| means[place].is_some()).collect();
    order.sort_by(|&a, &b| means[a].partial_cmp(&means[b]).unwrap_or(core::cmp::Ordering::Equal));
    let count = order.len() as f64;
    let level = (1.0 - confidence) / (count * (count - 1.0)).max(1.0);
    let standing = |place: usize| {
        let Some(own) = means[place] else { return Standing::Unknown };
        let dominates = |other: [f64; 2]| {
            other[0] <= own[0] && other[1] <= own[1] && (other[0] < own[0] || other[1] < own[1])
        };
        let mut above = order.iter().filter(|&&at| means[at].is_some_and(dominates)).peekable();
        if above.peek().is_none() {
            return Standing::Frontier;
        }
        let beyond =
            |&&at: &&usize| figures.iter().all(|figure| is_worse(&figure[place], &figure[at], level));
        if above.any(|at| beyond(&at)) { Standing::Dominated } else { Standing::Possible }
    };
    (0..means.len()).map(standing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Purpose, Stream, StreamKey};

    fn numbers(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn paired_differences_by_hand() {
        // Differences of the second from the first: 1, 2, 3; mean 2, standard error 1 / √3.
        let systems = [numbers(&[10.0, 20.0, 30.0]), numbers(&[11.0, 22.0, 33.0])];
        let found = best(&systems, 0.95).expect("numbers");
        let behind = found.behind[1].expect("pairs");
        assert_eq!((found.least, behind.value, behind.pairs), (0, 2.0, 3));
        // One pair of systems: t of 2 degrees of freedom at 95 %, two-sided, is 4.303; at 90 % it is 2.920.
        assert!((behind.half_width.expect("pairs") - 4.302_65 / 3.0_f64.sqrt()).abs() < 1e-4);
        assert_eq!(found.possible, [true, false], "2 is more than 2.920 / √3");
        assert_eq!(best(&systems, 0.99).expect("numbers").possible, [true, true], "and less than 6.965 / √3");
    }

    #[test]
    fn what_cannot_be_compared_is_not_ruled_out() {
        let systems = [numbers(&[5.0]), numbers(&[9.0]), Vec::new(), vec![None]];
        let found = best(&systems, 0.95).expect("numbers");
        assert_eq!(found.possible, [true, true, false, false]);
        assert_eq!((found.behind[1].map(|behind| behind.half_width), found.behind[2]), (Some(None), None));
        assert_eq!(best(&[Vec::new()], 0.95), None);
        // Nothing is random: every difference is beyond chance, and equal ones are no difference.
        let exact = [numbers(&[2.0; 3]), numbers(&[1.0; 3]), numbers(&[1.0; 3])];
        assert_eq!(best(&exact, 0.95).expect("numbers").possible, [false, true, true]);
    }

    #[test]
    fn a_frontier_by_hand() {
        let one = [1.0, 2.0, 3.0, 3.0].map(|value| numbers(&[value; 3]));
        let other = [3.0, 2.0, 1.0, 3.0].map(|value| numbers(&[value; 3]));
        let found = frontier([&one, &other], 0.95);
        let expected = [Standing::Frontier, Standing::Frontier, Standing::Frontier, Standing::Dominated];
        assert_eq!(found, expected);
        // Nearer than chance tells.
        let wide = [numbers(&[0.0, 4.0, 2.0]), numbers(&[3.0, 1.0, 2.1])];
        let same = [numbers(&[1.0; 3]), numbers(&[1.0; 3])];
        assert_eq!(frontier([&wide, &same], 0.95), [Standing::Frontier, Standing::Possible]);
        assert_eq!(frontier([&[Vec::new()], &[Vec::new()]], 0.95), [Standing::Unknown]);
    }

    /// A sum of twelve uniform numbers: about normal, of variance 1.
    fn normal(stream: &mut Stream) -> f64 {
        (0..12).map(|_| stream.next_uniform()).sum::<f64>() - 6.0
    }

    /// Systems of these means; half of the spread is common to all.
    fn drawn(means: &[f64], replications: usize, stream: &mut Stream) -> Vec<Vec<Option<f64>>> {
        let common: Vec<f64> = (0..replications).map(|_| normal(stream)).collect();
        let mut system =
            |mean: &f64| common.iter().map(|common| Some(mean + common + normal(stream))).collect();
        means.iter().map(&mut system).collect()
    }

    fn stream() -> Stream {
        Stream::new(StreamKey { seed: 11, replication: 0, purpose: Purpose::Arrivals, index: 0 })
    }

    #[test]
    fn the_best_is_left_as_often_as_is_said() {
        let mut stream = stream();
        let means = [0.3, 0.0, 0.0, 0.2, 1.5, 2.0];
        let (mut left, mut covered, mut sharp) = (0, 0, 0);
        let rounds = 2000;
        for _ in 0..rounds {
            let systems = drawn(&means, 8, &mut stream);
            let found = best(&systems, 0.95).expect("numbers");
            left += usize::from(found.possible[1]);
            sharp += usize::from(!found.possible[5]);
            let holds = found.behind.iter().zip(means).all(|(behind, mean)| {
                let behind = behind.expect("pairs");
                let truth = mean - means[found.least];
                (behind.value - truth).abs() <= behind.half_width.expect("pairs") + 1e-12
            });
            covered += usize::from(holds);
        }
        // 95 % less three standard errors; in truth more, since the bound is conservative.
        assert!(left >= rounds * 935 / 1000, "{left}");
        assert!(covered >= rounds * 935 / 1000, "{covered}");
        assert!(sharp >= rounds * 700 / 1000, "what is far behind is ruled out: {sharp}");
    }

    #[test]
    fn who_is_on_the_frontier_is_left_as_often_as_is_said() {
        let mut stream = stream();
        let (one, other) = ([0.0, 0.1, 1.0, 3.0], [1.0, 0.1, 0.0, 3.0]);
        let (mut left, mut sharp) = (0, 0);
        let rounds = 1000;
        for _ in 0..rounds {
            let figures = [drawn(&one, 8, &mut stream), drawn(&other, 8, &mut stream)];
            let found = frontier([&figures[0], &figures[1]], 0.95);
            left += usize::from(found[..3].iter().all(|standing| *standing != Standing::Dominated));
            sharp += usize::from(found[3] == Standing::Dominated);
        }
        assert!(left >= rounds * 93 / 100, "{left}");
        assert!(sharp >= rounds * 70 / 100, "{sharp}");
    }
}
