//! The receiver: answers every packet with the number of the first one that is missing.
//!
//! | | |
//! |-|-|
//! | Source | RFC 5681, section 4.2: every packet is acknowledged at once, as permitted; RFC 2018, section 4 (blocks); RFC 3168, section 6.1.3 |
//! | Blocks | up to three ranges of packets held, the one of the latest packet first, then those reported before |
//! | Work per packet | O(1) in order; O(log n) out of order with n ranges held, O(n) where one begins or ends in the middle |
//! | Memory | 16 bytes a range that waits for a missing packet, at most half a window of them |
//! | Departs from the source | a mark is echoed by the one acknowledgement of its packet, and not until the sender says that it has reacted: an acknowledgement that is lost takes its echo with it |

use weir_core::units::Bytes;

/// The number of blocks that fit into an acknowledgement with a time stamp.
const BLOCKS: usize = 3;
/// Bytes of the headers of IP and TCP without options.
const HEADERS: u64 = 40;
/// Bytes of the option of selective acknowledgements, with its padding, and of each of its blocks.
const OPTION: u64 = 4;
const BLOCK: u64 = 8;

/// What a receiver answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ack {
    /// All packets below this number have arrived.
    pub cumulative: u64,
    /// Packets above it that have arrived, from the first number up to the second; those not in use are empty.
    pub(super) blocks: [(u64, u64); BLOCKS],
    /// Whether the packet it answers was marked.
    pub echo: bool,
    /// Whether the packet had not arrived before.
    pub fresh: bool,
}

impl Ack {
    /// Packets above [`Ack::cumulative`] that have arrived, from the first number up to the second.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        self.blocks.into_iter().filter(|(start, end)| start < end)
    }

    /// Its size: the headers of IP and TCP, and an option where there are blocks.
    #[must_use]
    pub fn size(&self) -> Bytes {
        let count = self.blocks().count() as u64;
        Bytes::new(HEADERS + if count > 0 { OPTION + count * BLOCK } else { 0 })
    }
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
    /// A packet of each block of the latest answers, the latest first.
    told: [u64; BLOCKS],
}

impl Receiver {
    /// A receiver that holds packets up to `window` beyond the first that is missing.
    #[must_use]
    pub fn new(window: u32) -> Self {
        Self { next: 0, window: u64::from(window), held: Vec::new(), told: [0; BLOCKS] }
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
        Ack { cumulative: self.next, blocks: self.tell(number), echo: marked, fresh }
    }

    /// The blocks of the answer to this packet.
    fn tell(&mut self, number: u64) -> [(u64, u64); BLOCKS] {
        let mut blocks = [(0, 0); BLOCKS];
        if self.held.is_empty() {
            return blocks;
        }
        let (mut told, mut count) = ([0; BLOCKS], 0);
        for each in [number].into_iter().chain(self.told) {
            let Some(range) = self.range(each).filter(|range| !blocks[..count].contains(range)) else {
                continue;
            };
            (blocks[count], told[count]) = (range, each);
            count += 1;
            if count == BLOCKS {
                break;
            }
        }
        self.told = told;
        blocks
    }

    /// The range that holds this packet.
    fn range(&self, number: u64) -> Option<(u64, u64)> {
        let place = self.held.partition_point(|(_, end)| *end <= number);
        self.held.get(place).copied().filter(|(start, _)| *start <= number)
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
        let expected = Ack { cumulative: 0, blocks: [(0, 0); BLOCKS], echo: true, fresh: false };
        assert_eq!(receiver.on_packet(4, true), expected);
        assert!(receiver.on_packet(3, false).fresh);
        assert!(!receiver.on_packet(u64::MAX, false).fresh);
    }

    #[test]
    fn blocks_are_told_latest_first_and_each_several_times() {
        let mut receiver = Receiver::new(100);
        let mut answer = |number| receiver.on_packet(number, false).blocks().collect::<Vec<_>>();
        assert_eq!(answer(0), []);
        assert_eq!(answer(2), [(2, 3)]);
        assert_eq!(answer(3), [(2, 4)]);
        assert_eq!(answer(6), [(6, 7), (2, 4)]);
        assert_eq!(answer(10), [(10, 11), (6, 7), (2, 4)]);
        assert_eq!(answer(20), [(20, 21), (10, 11), (6, 7)]);
        assert_eq!(answer(3), [(2, 4), (20, 21), (10, 11)]);
        // 2 and 3 are no longer above what is acknowledged.
        assert_eq!(answer(1), [(20, 21), (10, 11)]);
        assert_eq!(receiver.on_packet(5, false).size(), Bytes::new(40 + 4 + 24));
        assert_eq!(Receiver::new(1).on_packet(0, false).size(), Bytes::new(40));
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
                prop_assert_eq!((ack.cumulative, ack.echo, ack.fresh), (missing, number % 2 == 0, fresh));
                prop_assert!(ack.blocks().all(|block| receiver.held.contains(&block)));
                let told = ack.blocks().next().is_some_and(|(start, end)| (start..end).contains(&number));
                prop_assert_eq!(told, set.contains(&number) && number > missing);
                prop_assert!(receiver.held.len() <= 20);
                prop_assert!(receiver.held.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}
