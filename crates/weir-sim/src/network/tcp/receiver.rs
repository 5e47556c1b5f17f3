//! The receiver: answers every packet with the number of the first one that is missing.
//!
//! | | |
//! |-|-|
//! | Source | RFC 5681, section 4.2: every packet is acknowledged at once, as permitted; RFC 3168, section 6.1.3 |
//! | Work per packet | O(1) in order; O(log n) out of order with n ranges held, O(n) where one begins or ends in the middle |
//! | Memory | 16 bytes a range that waits for a missing packet, at most half a window of them |
//! | Departs from the source | a mark is echoed by the one acknowledgement of its packet, and not until the sender says that it has reacted: an acknowledgement that is lost takes its echo with it |

/// What a receiver answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// All packets below this number have arrived.
    pub cumulative: u64,
    /// Whether the packet it answers was marked.
    pub echo: bool,
    /// Whether the packet had not arrived before.
    pub fresh: bool,
}

/// The receiving end of a transfer.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// All packets below this have arrived.
    next: u64,
    /// Beyond `next` plus this, packets are refused.
    window: u64,
    /// What has arrived above `next`, from the first number up to the second, in order, with gaps between.
    held: Vec<(u64, u64)>,
}

impl Receiver {
    /// A receiver that holds packets up to `window` beyond the first that is missing.
    #[must_use]
    pub fn new(window: u32) -> Self {
        Self { next: 0, window: u64::from(window), held: Vec::new() }
    }

    /// All packets below this number have arrived.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// A packet has arrived.
    pub fn on_packet(&mut self, number: u64, marked: bool) -> Ack {
        let fresh = if number == self.next {
            self.advance();
            true
        } else {
            number > self.next && number - self.next < self.window && self.hold(number)
        };
        Ack { cumulative: self.next, echo: marked, fresh }
    }

    /// The missing packet has come, and with it the range that begins behind it.
    fn advance(&mut self) {
        self.next += 1;
        if let Some((_, end)) = self.held.first().copied().filter(|(start, _)| *start == self.next) {
            self.next = end;
            self.held.remove(0);
        }
    }

    /// Holds a packet, unless it is held already.
    fn hold(&mut self, number: u64) -> bool {
        // The first range that ends at or above the number; mostly the last, whose end it extends.
        let place = self.held.partition_point(|(_, end)| *end < number);
        let Some((start, end)) = self.held.get(place).copied() else {
            self.held.push((number, number + 1));
            return true;
        };
        if number >= start && number < end {
            return false;
        }
        if number == end {
            self.held[place].1 = number + 1;
            if self.held.get(place + 1).is_some_and(|following| following.0 == number + 1) {
                self.held[place].1 = self.held[place + 1].1;
                self.held.remove(place + 1);
            }
        } else if number + 1 == start {
            self.held[place].0 = number;
        } else {
            self.held.insert(place, (number, number + 1));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_missing_packet_is_named() {
        let mut receiver = Receiver::new(100);
        let numbers: Vec<u64> =
            [0, 1, 3, 5, 4, 2, 2, 6].map(|number| receiver.on_packet(number, false).cumulative).to_vec();
        assert_eq!(numbers, [1, 2, 2, 2, 2, 6, 6, 7]);
        assert!(receiver.held.is_empty());
    }

    #[test]
    fn packets_beyond_the_window_are_refused() {
        let mut receiver = Receiver::new(4);
        assert_eq!(receiver.on_packet(4, true), Ack { cumulative: 0, echo: true, fresh: false });
        assert!(receiver.on_packet(3, false).fresh);
        assert!(!receiver.on_packet(u64::MAX, false).fresh);
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(numbers in prop::collection::vec(0..60_u64, 0..400)) {
            let (mut receiver, mut set) = (Receiver::new(40), BTreeSet::new());
            for number in numbers {
                let missing = (0..).find(|each| !set.contains(each)).unwrap_or_default();
                let fresh = number < missing + 40 && set.insert(number);
                let missing = (0..).find(|each| !set.contains(each)).unwrap_or_default();
                let ack = receiver.on_packet(number, number % 2 == 0);
                prop_assert_eq!(ack, Ack { cumulative: missing, echo: number % 2 == 0, fresh });
                prop_assert!(receiver.held.len() <= 20);
                prop_assert!(receiver.held.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}
