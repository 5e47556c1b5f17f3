//! Whether a class keeps a bound at one load: the share of its requests that were slower, or dropped.
//!
//! How that follows from the quantile is said in [`super`]. Work O(replications), and O(buckets) for the quantile.

use serde::Serialize;

use crate::collector::METRICS;
use crate::figures::{SLOWDOWN, tells};
use crate::summary::Cell;
use weir_lab::stats::replications;

/// Where none of many is beyond a bound, the share of all that are is below this over their number: of so many, with 95 %
/// probability, some would be.
const NONE_OF: f64 = 3.0;

/// Whether a bound is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// So few are beyond the bound, over the whole interval.
    Met,
    /// Too many are, over the whole interval.
    NotMet,
    /// Neither.
    Undecided,
}

/// What a run at one load has shown: of the class that is worst off.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// The load.
    pub load: f64,
    /// The class.
    pub class: String,
    /// The quantile of the slowdown of its requests, those that were dropped being slower than all; `None` where it is one
    /// of these.
    pub value: Option<f64>,
    /// The share of its requests that were slower than the bound, or dropped.
    pub beyond: Option<f64>,
    /// The lower end of the 95 % interval of that share.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The share of its requests that were dropped.
    pub dropped: f64,
    /// Whether the bound is met.
    pub verdict: Verdict,
}

/// A class, by its name and its place in a cell, at one load: whether no more than `1 - p` of its requests are beyond the
/// bound.
pub(super) fn judged(load: f64, (subject, class): (usize, &str), cell: &Cell, p: f64) -> Probe {
    let parts = || cell.runs.iter().map(|run| run.classes[subject]);
    let offered: u64 = parts().map(|part| part.offered()).sum();
    let dropped: u64 = parts().map(|part| part.dropped).sum();
    let slowdowns = cell.tails.get(subject).map(|tails| &tails[METRICS - 1]);
    let value = slowdowns.and_then(|slowdowns| slowdowns.quantile_with(p, dropped));
    let shares = parts().map(|part| (part.beyond + part.dropped, part.offered()));
    let beyond = share_of(&shares.collect::<Vec<_>>());
    let told = beyond.and_then(|share| share.ends).filter(|_| tells(p, offered));
    let verdict = match told {
        Some((_, high)) if high <= 1.0 - p => Verdict::Met,
        Some((low, _)) if low > 1.0 - p => Verdict::NotMet,
        _ => Verdict::Undecided,
    };
    Probe {
        load,
        class: class.to_owned(),
        value: value.map(|kept| SLOWDOWN.told(kept)),
        beyond: beyond.map(|share| share.value),
        low: told.map(|ends| ends.0),
        high: told.map(|ends| ends.1),
        dropped: if offered > 0 { dropped as f64 / offered as f64 } else { 0.0 },
        verdict,
    }
}

/// A share of requests, with its 95 % interval where there is one.
#[derive(Clone, Copy)]
struct Share {
    value: f64,
    ends: Option<(f64, f64)>,
}

/// The share of some of all, given both in each replication; none where there are none at all.
fn share_of(parts: &[(u64, u64)]) -> Option<Share> {
    let some: u64 = parts.iter().map(|(some, _)| some).sum();
    let all: u64 = parts.iter().map(|(_, all)| all).sum();
    if all == 0 {
        return None;
    }
    let value = some as f64 / all as f64;
    let held = parts.iter().filter(|(_, all)| *all > 0);
    let shares: Vec<f64> = held.map(|(some, all)| *some as f64 / *all as f64).collect();
    let measure = replications::sectioned(value, &shares, all);
    let none = if some == 0 { (NONE_OF / all as f64).min(1.0) } else { 0.0 };
    let ends = measure.as_estimate().map(|told| (told.low().max(0.0), told.high().min(1.0).max(none)));
    Some(Share { value, ends })
}

/// The probe of the class that is worse off.
pub(super) fn worse(one: Probe, other: Probe) -> Probe {
    let rank = |probe: &Probe| match probe.verdict {
        Verdict::Met => 0,
        Verdict::Undecided => 1,
        Verdict::NotMet => 2,
    };
    let value = |probe: &Probe| probe.high.or(probe.beyond).unwrap_or(0.0);
    let is_other = (rank(&other), value(&other)) > (rank(&one), value(&one));
    if is_other { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_lab::stats::testing::Noise;

    #[test]
    fn shares_by_hand() {
        assert!(share_of(&[]).is_none() && share_of(&[(0, 0), (0, 0)]).is_none());
        let one = share_of(&[(1, 4), (0, 0)]).expect("a share");
        assert_eq!((one.value, one.ends), (0.25, None));
        let none = share_of(&[(0, 100), (0, 200)]).expect("a share");
        assert_eq!((none.value, none.ends), (0.0, Some((0.0, 0.01))));
        let all = share_of(&[(5, 5), (7, 7)]).expect("a share");
        assert_eq!((all.value, all.ends), (1.0, Some((1.0, 1.0))));
    }

    /// Replications differ in how many they drop, by more than chance alone would have it.
    #[test]
    fn intervals_of_a_share_cover_it_at_about_their_level() {
        let mut random = Noise::new(23);
        let below = |random: &mut Noise, share: f64| random.uniform() < share;
        let mut covered = 0;
        for _ in 0..200 {
            let parts: Vec<(u64, u64)> = (0..10)
                .map(|_| {
                    let share = if below(&mut random, 0.5) { 0.012 } else { 0.028 };
                    ((0..1_500).filter(|_| below(&mut random, share)).count() as u64, 1_500)
                })
                .collect();
            let (low, high) = share_of(&parts).and_then(|share| share.ends).expect("an interval");
            covered += u32::from((low..=high).contains(&0.02));
        }
        assert!((182..=198).contains(&covered), "{covered} of 200");
    }
}
