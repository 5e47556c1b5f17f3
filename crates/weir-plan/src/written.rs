//! What is written of the shares: quanta of deficit round robin, and for an adapter whole percents.
//!
//! A table holds its weights exactly, but that of PCI Express has none: entries count. Linux takes quanta in bytes and counts with each packet the header of Ethernet, so
//! that its smallest quantum is a packet with it. An adapter (`dcb`) takes whole percents that sum up to 100: what it
//! shares out is those, and bounds are made of them, not of the plan before rounding.
//!
//! Percents are the plan's rounded by the largest remainder if these keep every share and latency that is asked for.
//! Else they are searched: let m be the least percent of all and u = MTU / m credits for each percent, rounded up. Then
//! a class of p percent waits for (100 - p) u and what is carried, whoever has the rest, so that for each m every class
//! has a least percent of its own, and there is an answer if and only if these come to 100 at most for one m. Of several
//! answers the one nearest to the plan is taken. Where there is none, shares are given up before latencies.
//!
//! | | |
//! |-|-|
//! | Source | this project; tc-drr(8), tc-ets(8), dcb-ets(8), `net/sched/sch_drr.c` (`qdisc_pkt_len`) |
//! | Work | of percents O(100 classes) for each of at most 100 values of m |
//! | Units | credits; whole percents; bytes of a header |

use weir_core::units::{Bytes, Credits, Nanos};

use crate::bound::Bounding;
use crate::quantity::Share;
use crate::target::Form;

/// All of the link, in percent.
const WHOLE: u64 = 100;
/// Thousand-millionths of a percent.
const PARTS: u64 = Share::PARTS / WHOLE;
/// Bytes of the header that Linux counts with each packet of an Ethernet interface.
pub(crate) const ETHERNET: u64 = 14;

/// What is asked of the shares of a class, and its weight in the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) weight: Credits,
    pub(crate) share: Share,
    pub(crate) latency: Option<Nanos>,
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// The quantum of each class under deficit round robin.
    pub(crate) quanta: Vec<Credits>,
    /// The percents of each class, where the target takes those.
    pub(crate) percents: Option<Vec<u64>>,
}

/// Bytes that a target counts with each packet in addition to the packet of the plan.
pub(crate) const fn header(form: Option<Form>) -> Bytes {
    Bytes::new(if matches!(form, Some(Form::TcEts | Form::TcDrr)) { ETHERNET } else { 0 })
}

impl Written {
    /// What the class at a place gets of a saturated link with what is written: percents, quanta, entries of one
    /// transaction, or what its weights are of the pool.
    pub(crate) fn share(&self, form: Option<Form>, place: usize, entries: Share, planned: Share) -> Share {
        let frame: u64 = self.quanta.iter().map(|quantum| quantum.get()).sum();
        match form {
            Some(Form::TcEts | Form::TcDrr | Form::Dcb) => {
                Share::of(u128::from(self.quanta[place].get()), u128::from(frame))
            }
            Some(Form::Pcie) => entries,
            Some(Form::Opensm | Form::Scenario) | None => planned,
        }
    }
}

/// What is written for a form; `bounding` is that of the form.
pub(crate) fn written(form: Option<Form>, bounding: &Bounding, needs: &[Need]) -> Written {
    let packet = bounding.round_packet();
    // More classes than percents cannot be written; the form refuses them.
    if form == Some(Form::Dcb) && needs.len() as u64 <= WHOLE && !needs.is_empty() {
        let percents = percents(bounding, needs);
        let quanta = quanta_of(&percents, packet);
        return Written { quanta, percents: Some(percents) };
    }
    let least = needs.iter().map(|need| need.weight.get()).min().unwrap_or(1).max(1);
    let quantum = |need: &Need| Credits::new((need.weight.get() * packet).div_ceil(least));
    Written { quanta: needs.iter().map(quantum).collect(), percents: None }
}

/// The quanta of percents: exactly in their proportion, the smallest of them a packet at least.
fn quanta_of(percents: &[u64], packet: u64) -> Vec<Credits> {
    let unit = packet.div_ceil(percents.iter().copied().min().unwrap_or(1).max(1));
    percents.iter().map(|percent| Credits::new(percent * unit)).collect()
}

/// Whole percents that sum up to 100, each 1 at least.
fn percents(bounding: &Bounding, needs: &[Need]) -> Vec<u64> {
    let rounded = rounded(needs, &vec![1; needs.len()]);
    let shares: Vec<u64> = needs.iter().map(|need| need.share.parts().div_ceil(PARTS).max(1)).collect();
    let keeps_shares = rounded.iter().zip(&shares).all(|(percent, least)| percent >= least);
    if keeps_shares && keeps_latencies(bounding, needs, &rounded) {
        return rounded;
    }
    let none = vec![1; needs.len()];
    searched(bounding, needs, &shares).or_else(|| searched(bounding, needs, &none)).unwrap_or_else(|| {
        if shares.iter().sum::<u64>() <= WHOLE { self::rounded(needs, &shares) } else { rounded }
    })
}

fn keeps_latencies(bounding: &Bounding, needs: &[Need], percents: &[u64]) -> bool {
    let quanta = quanta_of(percents, bounding.round_packet());
    let is_kept = |(class, need): (usize, &Need)| {
        need.latency.is_none_or(|latency| bounding.round_robin(&quanta, class).latency <= latency)
    };
    needs.iter().enumerate().all(is_kept)
}

/// Percents that are `least` at least and keep every latency, those nearest to the plan.
fn searched(bounding: &Bounding, needs: &[Need], least: &[u64]) -> Option<Vec<u64>> {
    let exact = exact(needs);
    let most = WHOLE / needs.len() as u64;
    let found = (1..=most).filter_map(|floor| {
        let least: Option<Vec<u64>> = needs
            .iter()
            .zip(least)
            .map(|(need, least)| {
                Some(for_latency(bounding, need, needs.len(), floor)?.max(*least).max(floor))
            })
            .collect();
        let least = least.filter(|least| least.iter().sum::<u64>() <= WHOLE)?;
        Some(rounded(needs, &least)).filter(|percents| keeps_latencies(bounding, needs, percents))
    });
    let distance = |percents: &Vec<u64>| -> u64 {
        percents.iter().zip(&exact).map(|(percent, exact)| (percent * PARTS).abs_diff(*exact)).sum()
    };
    found.min_by_key(distance)
}

/// The least percent of a class whose latency is kept, where none has less than `floor` percent; `None` if no percent
/// keeps it.
fn for_latency(bounding: &Bounding, need: &Need, classes: usize, floor: u64) -> Option<u64> {
    let Some(latency) = need.latency else { return Some(1) };
    let unit = bounding.round_packet().div_ceil(floor);
    let is_kept = |percent: &u64| bounding.round((WHOLE - percent) * unit, classes).latency <= latency;
    (1..=WHOLE).find(is_kept)
}

/// What the weights are of the whole, in thousand-millionths.
fn exact(needs: &[Need]) -> Vec<u64> {
    let total: u128 = needs.iter().map(|need| u128::from(need.weight.get())).sum();
    needs.iter().map(|need| Share::of(u128::from(need.weight.get()), total).parts()).collect()
}

/// Percents of 100 in all, `least` at least, and as near to the weights as they come: the largest remainder first.
fn rounded(needs: &[Need], least: &[u64]) -> Vec<u64> {
    let exact = exact(needs);
    let mut percents: Vec<u64> =
        exact.iter().zip(least).map(|(exact, least)| (exact / PARTS).max(*least)).collect();
    // What is lacking, or above it, of a percent.
    let lack = |percents: &[u64], class: usize| {
        i128::from(exact[class]) - i128::from(percents[class]) * i128::from(PARTS)
    };
    loop {
        let sum: u64 = percents.iter().sum();
        let classes = 0..percents.len();
        let next = match sum {
            WHOLE => return percents,
            ..WHOLE => classes.min_by_key(|class| -lack(&percents, *class)),
            _ => classes
                .filter(|class| percents[*class] > least[*class])
                .min_by_key(|class| lack(&percents, *class)),
        };
        match next {
            Some(class) if sum < WHOLE => percents[class] += 1,
            Some(class) => percents[class] -= 1,
            // Not even the least of all fit.
            None => return percents,
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_core::units::Rate;

    use super::*;
    use crate::shape::{Coding, Link, Shape};

    const SHAPE: Shape = Shape { capacity: 64, mtu: Bytes::new(2048), credit: Bytes::new(64), k: 2, w: 4 };
    const LINK: Link = Link { rate: Rate::new(10_000_000_000), coding: Coding::None };

    fn need(percent: u64, latency: Option<u64>) -> Need {
        Need {
            weight: Credits::new(percent * 10),
            share: Share::new(percent * PARTS / 10),
            latency: latency.map(Nanos::new),
        }
    }

    /// All ways to give `left` percent to `classes`, one at least each.
    fn all(left: u64, classes: usize) -> Vec<Vec<u64>> {
        if classes == 1 {
            return vec![vec![left]];
        }
        let rest = classes as u64 - 1;
        let with = |first: u64| {
            all(left - first, classes - 1).into_iter().map(move |mut tail| {
                tail.insert(0, first);
                tail
            })
        };
        (1..=left - rest).flat_map(with).collect()
    }

    /// Finding B7: percents that keep what is asked for are found if and only if there are any.
    #[test]
    fn b7_percents_are_found_where_they_exist() {
        let bounding = Bounding::new(SHAPE, LINK);
        let every = all(WHOLE, 3);
        let (mut met, mut unmet) = (0, 0);
        let mut state = 7_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for _ in 0..150 {
            // Tenths of a percent.
            let first = 1 + below(400);
            let second = 1 + below(400);
            let mut needs =
                [need(first, None), need(second, None), need(1 + below(1_000 - first - second), None)];
            for need in &mut needs {
                need.latency = (below(2) == 0).then(|| Nanos::new(7_000 + below(40_000)));
            }
            let keeps = |percents: &[u64]| {
                let keeps_shares =
                    needs.iter().zip(percents).all(|(need, percent)| percent * PARTS >= need.share.parts());
                keeps_shares && keeps_latencies(&bounding, &needs, percents)
            };
            let found = percents(&bounding, &needs);
            assert_eq!(found.iter().sum::<u64>(), WHOLE, "{needs:?}");
            let exists = every.iter().any(|percents| keeps(percents));
            assert_eq!(keeps(&found), exists, "{needs:?} {found:?}");
            *(if exists { &mut met } else { &mut unmet }) += 1;
        }
        assert!(met > 10 && unmet > 10, "{met} {unmet}");
    }

    #[test]
    fn percents_are_the_nearest_that_sum_up() {
        let of = |tenths: &[u64], least: &[u64]| {
            let needs: Vec<Need> = tenths.iter().map(|each| need(*each, None)).collect();
            rounded(&needs, least)
        };
        assert_eq!(of(&[125, 125, 750], &[1; 3]), [13, 12, 75]);
        assert_eq!(of(&[1, 999], &[1; 2]), [1, 99]);
        assert_eq!(of(&[1, 2, 997], &[1; 3]), [1, 1, 98]);
        assert_eq!(of(&[300, 300], &[1; 2]), [50, 50]);
        assert_eq!(of(&[100, 900], &[30, 1]), [30, 70]);
        assert_eq!(of(&[500, 500], &[60, 60]), [60, 60]);
    }
}
