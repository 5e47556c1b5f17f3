//! What the sender knows of each packet on its way: the scoreboard of recovery by selective acknowledgements.
//!
//! | | |
//! |-|-|
//! | Source | RFC 6675, sections 3 and 4: `Update`, `IsLost`, `SetPipe`, and the first two rules of `NextSeg` |
//! | Lost | a packet above which three others have arrived |
//! | Pipe | the copies that are neither known to have arrived nor taken for lost |
//! | Work | O(1) for each packet sent and each block acknowledged, amortized; O(window) a timeout |
//! | Memory | 16 bytes a packet from the first that is not acknowledged |
//! | Units | packets, numbered from 0 |
//! | Departs from the source | a packet sent again counts once in the pipe; a timeout keeps what has arrived, as the receiver never gives it up again |
//! | Left out | sending again what is not known to be lost (rules 3 and 4 of `NextSeg`): the end of a transfer is left to the timer |

use std::collections::VecDeque;

use super::receiver::Ack;
use weir_core::units::Instant;

/// A packet is lost where this many above it have arrived.
const DUPLICATES: u64 = 3;

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Sent once, at this time.
    Sent(Instant),
    /// Taken for lost, and not sent again since.
    Lost,
    /// Sent again.
    Again,
    /// Arrived, as have all others up to this number.
    Arrived(u64),
}

/// The packets from the first that is not acknowledged to the last that was sent.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    first: u64,
    packets: VecDeque<Known>,
    pipe: u64,
    lost: u64,
    /// No packet below this is taken for lost and waits to be sent again.
    cursor: u64,
    /// Packets below this that have not arrived are lost.
    edge: u64,
    /// Packets from `edge` on that have arrived.
    above: u64,
}

impl Scoreboard {
    /// The first packet not acknowledged.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number after the last packet sent.
    #[must_use]
    pub fn highest(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// How many packets are on their way.
    #[must_use]
    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Whether the first packet is lost.
    #[must_use]
    pub fn misses_first(&self) -> bool {
        self.first < self.edge
    }

    /// The next new packet leaves.
    pub fn send(&mut self, now: Instant) -> u64 {
        self.packets.push_back(Known::Sent(now));
        self.pipe += 1;
        self.highest() - 1
    }

    /// The first packet that waits to be sent again leaves.
    pub fn send_again(&mut self) -> Option<u64> {
        if self.lost == 0 {
            return None;
        }
        while *self.at(self.cursor)? != Known::Lost {
            self.cursor += 1;
        }
        *self.at(self.cursor)? = Known::Again;
        self.lost -= 1;
        self.pipe += 1;
        Some(self.cursor)
    }

    /// An acknowledgement of packets that were sent has come. Returns the last packet it is the first to report,
    /// of those sent once and not taken for lost, and when that was sent.
    pub fn on_ack(&mut self, ack: &Ack) -> Option<(u64, Instant)> {
        let mut newest = None;
        while self.first < ack.cumulative {
            newest = self.pop().or(newest);
        }
        for (start, end) in ack.blocks() {
            newest = newest.max(self.arrived(start.max(self.first), end.min(self.highest())));
        }
        self.move_edge();
        newest
    }

    /// The timer has run out: whatever has not arrived is lost.
    pub fn on_timeout(&mut self) {
        for known in &mut self.packets {
            if !matches!(known, Known::Arrived(_)) {
                self.lost += u64::from(*known != Known::Lost);
                *known = Known::Lost;
            }
        }
        self.pipe = 0;
        self.cursor = self.first;
    }

    fn at(&mut self, number: u64) -> Option<&mut Known> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.packets.get_mut(place)
    }

    /// The first packet is acknowledged.
    fn pop(&mut self) -> Option<(u64, Instant)> {
        let known = self.packets.pop_front()?;
        let number = self.first;
        self.first += 1;
        self.cursor = self.cursor.max(self.first);
        if number >= self.edge {
            self.above -= u64::from(matches!(known, Known::Arrived(_)));
            self.edge = self.first;
        }
        self.leave(number, known)
    }

    /// A packet of which this was known turns out to have arrived.
    fn leave(&mut self, number: u64, known: Known) -> Option<(u64, Instant)> {
        match known {
            Known::Sent(_) | Known::Again => self.pipe -= 1,
            Known::Lost => self.lost -= 1,
            Known::Arrived(_) => {}
        }
        if let Known::Sent(at) = known { Some((number, at)) } else { None }
    }

    /// Packets from `start` to `end` have arrived. What is known to have arrived is passed over in one step, so
    /// that a block that is reported again and again costs no more than what is new in it.
    fn arrived(&mut self, start: u64, end: u64) -> Option<(u64, Instant)> {
        let (mut newest, mut number) = (None, start);
        while number < end {
            let Some(known) = self.at(number) else { break };
            let before = *known;
            if let Known::Arrived(until) = before {
                *known = Known::Arrived(until.max(end));
                number = until;
            } else {
                *known = Known::Arrived(end);
                newest = self.leave(number, before).or(newest);
                self.above += u64::from(number >= self.edge);
                number += 1;
            }
        }
        newest
    }

    /// Moves the edge up while enough have arrived above it.
    fn move_edge(&mut self) {
        while self.above >= DUPLICATES {
            let (above, edge) = (self.above, self.edge);
            let Some(known) = self.at(edge) else { return };
            match *known {
                Known::Arrived(_) if above == DUPLICATES => return,
                Known::Arrived(_) => self.above -= 1,
                Known::Sent(_) => {
                    *known = Known::Lost;
                    self.pipe -= 1;
                    self.lost += 1;
                }
                Known::Lost | Known::Again => {}
            }
            self.edge += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A scoreboard with `packets` packets sent, the n-th at n nanoseconds.
    fn sent(packets: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..packets).for_each(|at| assert_eq!(board.send(Instant::new(at)), at));
        board
    }

    fn ack(cumulative: u64, blocks: &[(u64, u64)]) -> Ack {
        let mut all = [(0, 0); 3];
        all[..blocks.len()].copy_from_slice(blocks);
        Ack { cumulative, blocks: all, echo: false, fresh: true }
    }

    fn again(board: &mut Scoreboard) -> Vec<u64> {
        std::iter::from_fn(|| board.send_again()).collect()
    }

    #[test]
    fn a_hole_is_lost_when_three_above_it_have_arrived() {
        let mut board = sent(10);
        assert_eq!(board.on_ack(&ack(2, &[])), Some((1, Instant::new(1))));
        board.on_ack(&ack(2, &[(3, 4)]));
        board.on_ack(&ack(2, &[(3, 5)]));
        assert_eq!((board.pipe(), board.misses_first()), (6, false));
        assert_eq!(board.on_ack(&ack(2, &[(3, 6)])), Some((5, Instant::new(5))));
        assert!(board.misses_first());
        // 6 to 9 are on their way.
        assert_eq!(board.pipe(), 4);
        assert_eq!(again(&mut board), [2]);
        assert_eq!(board.pipe(), 5);
        // The round trip of a packet sent twice is not known.
        assert_eq!(board.on_ack(&ack(6, &[])), None);
        assert_eq!((board.first(), board.pipe(), board.misses_first()), (6, 4, false));
    }

    #[test]
    fn several_holes_of_a_window_are_lost_in_turn() {
        let mut board = sent(20);
        // 0, 2, 3 and 7 are lost.
        for end in [2, 5, 6, 7, 9, 10, 11] {
            let blocks = [(8, 9.max(end)), (4, 7.min(end)), (1, 2)];
            let told = if end > 7 {
                &blocks[..]
            } else if end > 2 {
                &blocks[1..]
            } else {
                &blocks[2..]
            };
            board.on_ack(&ack(0, told));
        }
        assert_eq!(again(&mut board), [0, 2, 3, 7]);
        // 11 to 19, and four sent again.
        assert_eq!(board.pipe(), 13);
        board.on_ack(&ack(2, &[(8, 11), (4, 7)]));
        board.on_ack(&ack(7, &[(8, 11)]));
        assert_eq!((board.first(), board.pipe(), board.misses_first()), (7, 10, true));
        board.on_ack(&ack(20, &[]));
        assert_eq!((board.pipe(), board.highest(), board.misses_first()), (0, 20, false));
    }

    #[test]
    fn what_is_sent_again_and_lost_again_waits_for_the_timer() {
        let mut board = sent(8);
        board.on_ack(&ack(0, &[(1, 4)]));
        assert_eq!(again(&mut board), [0]);
        board.on_ack(&ack(0, &[(1, 8)]));
        assert_eq!((again(&mut board), board.pipe()), (vec![], 1));
        board.on_timeout();
        assert_eq!((board.pipe(), again(&mut board)), (0, vec![0]));
    }

    #[test]
    fn a_timeout_keeps_what_has_arrived() {
        let mut board = sent(8);
        board.on_ack(&ack(1, &[(2, 3), (5, 6)]));
        board.on_timeout();
        assert_eq!(again(&mut board), [1, 3, 4, 6, 7]);
        assert_eq!(board.on_ack(&ack(1, &[(2, 8)])), None);
        assert_eq!(board.pipe(), 1);
    }

    /// The same, by counting.
    #[derive(Default)]
    struct Oracle {
        first: usize,
        packets: Vec<Known>,
    }

    impl Oracle {
        fn holds(&self, is: impl Fn(&Known) -> bool) -> u64 {
            self.packets[self.first..].iter().filter(|known| is(known)).count() as u64
        }

        fn arrived_above(&self, number: usize) -> usize {
            self.packets.iter().skip(number + 1).filter(|known| matches!(known, Known::Arrived(_))).count()
        }

        fn on_ack(&mut self, ack: &Ack) {
            self.first = ack.cumulative as usize;
            for number in ack.blocks().flat_map(|(start, end)| start..end) {
                self.packets[number as usize] = Known::Arrived(0);
            }
            for number in self.first..self.packets.len() {
                if matches!(self.packets[number], Known::Sent(_)) && self.arrived_above(number) >= 3 {
                    self.packets[number] = Known::Lost;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_counting(steps in prop::collection::vec((0..12_u8, 0..12_u64, 0..6_u64), 0..200)) {
            let (mut board, mut oracle) = (Scoreboard::default(), Oracle::default());
            for (deed, at, length) in steps {
                let (first, highest) = (board.first(), board.highest());
                match deed {
                    0..5 => for _ in 0..length {
                        oracle.packets.push(Known::Sent(Instant::ZERO));
                        board.send(Instant::ZERO);
                    },
                    5..7 => {
                        let place = oracle.packets.iter().skip(first as usize).position(|known| *known == Known::Lost);
                        let place = place.map(|place| place + first as usize);
                        prop_assert_eq!(board.send_again(), place.map(|place| place as u64));
                        place.into_iter().for_each(|place| oracle.packets[place] = Known::Again);
                    }
                    7 if at == 0 => {
                        board.on_timeout();
                        let rest = oracle.packets.iter_mut().skip(first as usize);
                        rest.filter(|known| !matches!(known, Known::Arrived(_))).for_each(|known| *known = Known::Lost);
                    }
                    _ => {
                        let cumulative = (first + (at / 3)).min(highest);
                        let start = (cumulative + 1 + at).min(highest);
                        let told = ack(cumulative, &[(start, (start + length).min(highest))]);
                        board.on_ack(&told);
                        oracle.on_ack(&told);
                    }
                }
                let pipe = oracle.holds(|known| matches!(known, Known::Sent(_) | Known::Again));
                prop_assert_eq!((board.pipe(), board.lost), (pipe, oracle.holds(|known| *known == Known::Lost)));
                prop_assert_eq!(board.misses_first(), oracle.arrived_above(oracle.first) >= 3);
            }
        }
    }
}
