//! The slop audit: the bound that alpha scheduling guarantees, checked packet by packet.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, alpha report, section 9 |
//! | Work | O(n) a packet, n messages in flight: for verification only |
//! | Units | ticks; alpha in units of 2^-16 |
//!
//! No message of length l' submitted more than `alpha (l - l')` ticks after one of length l slows the
//! latter: while the earlier one still waits, the later one sends nothing.

use crate::observer::Observer;
use weir_lab::record::Departure;

/// Bits after the binary point of alpha.
const FRACTION: u32 = 16;

#[derive(Clone, Copy, Debug)]
struct Present {
    index: u64,
    tick: u64,
    length: u64,
}

/// Checks the bound of one alpha.
#[derive(Clone, Debug)]
pub struct SlopAudit {
    alpha: i128,
    present: Vec<Present>,
    counts: Audited,
}

/// Pairs of messages compared, and how many of them violated the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// Pairs compared.
    pub compared: u64,
    /// Those that violated it.
    pub violated: u64,
}

impl SlopAudit {
    /// For an alpha in units of 2^-16.
    #[must_use]
    pub fn new(alpha: u64) -> Self {
        Self { alpha: i128::from(alpha), present: Vec::new(), counts: Audited::default() }
    }

    /// What was found.
    #[must_use]
    pub fn counts(&self) -> Audited {
        self.counts
    }

    /// Whether serving `later` may slow `earlier`.
    fn may_slow(&self, earlier: &Present, later: &Present) -> bool {
        let slop = self.alpha * (i128::from(earlier.length) - i128::from(later.length));
        i128::from(later.tick - earlier.tick) << FRACTION <= slop
    }
}

impl Observer for SlopAudit {
    const EVERY_PACKET: bool = true;

    fn departed(&mut self, departure: &Departure) {
        self.present.retain(|message| message.index != departure.index);
    }

    fn arrived(&mut self, tick: u64, index: u64, length: u64) {
        self.present.push(Present { index, tick, length });
    }

    fn accepted(&mut self, _tick: u64, index: u64) {
        let Some(served) = self.present.iter().find(|message| message.index == index).copied() else {
            return;
        };
        for earlier in self.present.iter().filter(|message| message.index < index) {
            self.counts.compared += 1;
            self.counts.violated += u64::from(!self.may_slow(earlier, &served));
        }
    }
}

weir_lab::encode! {
    Audited { compared, violated }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two messages, lengths 5 and 2, the second submitted `later` ticks after the first and served first.
    fn violations(alpha: u64, later: u64) -> u64 {
        let mut audit = SlopAudit::new(alpha << FRACTION);
        audit.arrived(0, 0, 5);
        audit.arrived(later, 1, 2);
        audit.accepted(later, 1);
        audit.counts().violated
    }

    #[test]
    fn the_bound_is_alpha_times_the_difference_in_length() {
        assert_eq!(violations(10, 30), 0);
        assert_eq!(violations(10, 31), 1);
        assert_eq!(violations(0, 0), 0);
        assert_eq!(violations(0, 1), 1);
    }

    #[test]
    fn a_message_that_left_is_not_slowed() {
        let mut audit = SlopAudit::new(0);
        audit.arrived(0, 0, 1);
        audit.departed(&Departure { index: 0, ..Departure::default() });
        audit.arrived(9, 1, 9);
        audit.accepted(9, 1);
        assert_eq!(audit.counts(), Audited::default());
    }
}
