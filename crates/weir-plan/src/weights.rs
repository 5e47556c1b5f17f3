//! From shares to weights: whole credits for each class, and for each of its entries.
//!
//! The total weight of a class with n entries is its share of the pool, rounded up, at least n packets; its entries
//! differ by one credit at most. Rounding up can ask for more credits than the pool has, though the shares fit. Then
//! those classes that gained most by it are rounded down, each by one credit, so that admission depends on shares alone
//! and never on who came first.
//!
//! | | |
//! |-|-|
//! | Source | Martinez, Alfaro, Sanchez 2007, section 2.2 |
//! | Work | O(classes log classes) for the totals |
//! | Units | credits; shares in thousand-millionths |
//! | Departs from the source | rounding |

use weir_core::units::Credits;

use crate::quantity::Share;
use crate::shape::Shape;

/// The total weight of each class, of its share and the number of its entries.
pub(crate) fn totals(shape: Shape, classes: impl Iterator<Item = (Share, u32)>) -> Vec<Credits> {
    let pool = u128::from(shape.pool().get());
    let parts = u128::from(Share::PARTS);
    let packet = u128::from(shape.packet().get());
    let mut weights = Vec::new();
    // Of each: how much rounding up has gained, and where it stands.
    let mut gains = Vec::new();
    for (place, (share, entries)) in classes.enumerate() {
        let exact = u128::from(share.parts()) * pool;
        let least = u128::from(entries) * packet;
        let rounded = exact.div_ceil(parts);
        if rounded > least && rounded * parts > exact {
            gains.push((rounded * parts - exact, place));
        }
        weights.push(rounded.clamp(least, least * u128::from(shape.w)));
    }
    let excess = weights.iter().sum::<u128>().saturating_sub(pool);
    gains.sort_by_key(|&(gain, place)| (core::cmp::Reverse(gain), core::cmp::Reverse(place)));
    for &(_, place) in gains.iter().take(usize::try_from(excess).unwrap_or(usize::MAX)) {
        weights[place] -= 1;
    }
    weights.into_iter().map(|weight| Credits::new(u64::try_from(weight).unwrap_or(u64::MAX))).collect()
}

/// Spreads a total over `entries` entries, the odd credits at equal distances.
pub(crate) fn spread(total: Credits, entries: u32) -> impl Iterator<Item = Credits> {
    let entries = u64::from(entries);
    let (each, odd) = (total.get() / entries, total.get() % entries);
    (1..=entries).map(move |turn| {
        let extra = turn * odd / entries - (turn - 1) * odd / entries;
        Credits::new(each + extra)
    })
}

#[cfg(test)]
mod tests {
    use weir_core::units::Bytes;

    use super::*;
    use crate::quantity;

    const SHAPE: Shape = Shape { capacity: 4, mtu: Bytes::new(64), credit: Bytes::new(64), k: 2, w: 8 };

    fn weights(shares: &[&str]) -> Vec<u64> {
        let shares = shares.iter().map(|text| (quantity::share(text).expect("a share"), 1));
        totals(SHAPE, shares).into_iter().map(Credits::get).collect()
    }

    #[test]
    fn rounding_never_asks_for_more_than_the_pool() {
        // Of 8 credits these are 1, 2.5 and 4.5: rounded up they would be 9 together.
        assert_eq!(weights(&["12.5%", "31.25%", "56.25%"]), [1, 3, 4]);
    }

    #[test]
    fn nobody_gets_less_than_asked_while_the_pool_has_more() {
        // 1.04 and 2.4 credits.
        assert_eq!(weights(&["13%", "30%"]), [2, 3]);
    }

    #[test]
    fn odd_credits_are_spread() {
        let weights: Vec<u64> = spread(Credits::new(34), 4).map(Credits::get).collect();
        assert_eq!(weights, [8, 9, 8, 9]);
    }
}
