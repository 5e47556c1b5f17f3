//! The tins: which code points fall into which, and what each may have before it gives way.
//!
//! | tins | from the first, in order of rank | threshold |
//! |-|-|-|
//! | `besteffort` | all | the rate |
//! | `precedence` | by the three high bits, as RFC 791 has them | the rate, then 7/8 of the tin before |
//! | `diffserv3` | the rest; LE, CS1; 4, VA, EF, CS6, CS7 | 1, 1/16, 1/4 of the rate |
//! | `diffserv4` | the rest; LE, CS1; 4, CS2, AF2x, CS3, AF3x, AF4x; CS4, CS5, VA, EF, CS6, CS7 | 1, 1/16, 1/2, 1/4 |
//! | `diffserv8` | LE; 2, CS1, AF1x; the rest; CS3, AF3x, AF4x; 4, AF2x; CS2; CS4, CS5, VA, EF; CS6, CS7 | as `precedence` |
//!
//! | | |
//! |-|-|
//! | Source | tc-cake(8); Linux, `net/sched/sch_cake.c`; code points: RFC 2474, RFC 2597, RFC 3246, RFC 5865, RFC 8622 |
//! | Work | O(1): a table of 64 |

use crate::units::Rate;

/// The most tins there are.
pub(super) const MAX_TINS: usize = 8;

/// How code points are put into tins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diffserv {
    /// All into one.
    BestEffort,
    /// By the three high bits into eight.
    Precedence,
    /// Into three: the rest, background, what is sensitive to delay.
    #[default]
    Three,
    /// Into four: the rest, background, media and transactions, what is sensitive to delay.
    Four,
    /// Into eight.
    Eight,
}

/// What a tin may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Above this it gives way to others.
    pub(super) threshold: Option<Rate>,
    /// What it is served in its turn where there is no rate, relative to the others.
    pub(super) quantum: u32,
}

impl Diffserv {
    /// All, in the order of the words in [`super::INFO`].
    pub(super) const ALL: [Self; 5] =
        [Self::BestEffort, Self::Precedence, Self::Three, Self::Four, Self::Eight];

    /// The tin of each code point.
    pub(super) fn tins(self) -> [u8; 64] {
        core::array::from_fn(|point| self.tin(point as u8))
    }

    fn tin(self, point: u8) -> u8 {
        // Class selectors are multiples of 8; AFxy are 8x + 2y.
        match (self, point) {
            (Self::BestEffort, _) => 0,
            (Self::Precedence, _) => point >> 3,
            (Self::Three, 1 | 8) => 1,
            (Self::Three, 4 | 44 | 46 | 48 | 56) => 2,
            (Self::Three, _) => 0,
            (Self::Four, 1 | 8) => 1,
            (Self::Four, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            (Self::Four, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            (Self::Four, _) => 0,
            (Self::Eight, 1) => 0,
            (Self::Eight, 2 | 8 | 10 | 12 | 14) => 1,
            (Self::Eight, 24 | 26 | 28 | 30 | 34 | 36 | 38) => 3,
            (Self::Eight, 4 | 18 | 20 | 22) => 4,
            (Self::Eight, 16) => 5,
            (Self::Eight, 32 | 40 | 44 | 46) => 6,
            (Self::Eight, 48 | 56) => 7,
            (Self::Eight, _) => 2,
        }
    }

    /// What each tin may have of `rate`.
    pub(super) fn shares(self, rate: Option<Rate>) -> Vec<Share> {
        /// A quantum of the first of several tins.
        const FEW: u32 = 1024;
        const MANY: u32 = 256;
        let part = |of: u64| Share {
            threshold: rate.map(|rate| Rate::new((rate.get() / of).max(1))),
            quantum: FEW / of as u32,
        };
        match self {
            Self::BestEffort => vec![Share { threshold: rate, quantum: u16::MAX.into() }],
            Self::Three => [1, 16, 4].map(part).to_vec(),
            Self::Four => [1, 16, 2, 4].map(part).to_vec(),
            Self::Precedence | Self::Eight => {
                let seven_eighths = |share: &Share| {
                    let of = |rate: Rate| ((u128::from(rate.get()) * 7 / 8) as u64).max(1);
                    let threshold = share.threshold.map(|rate| Rate::new(of(rate)));
                    Some(Share { threshold, quantum: share.quantum * 7 / 8 })
                };
                let first = Share { threshold: rate, quantum: MANY };
                core::iter::successors(Some(first), seven_eighths).take(MAX_TINS).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code points that have a name, in the order of the tins of `diffserv8`.
    const NAMED: [(&str, u8); 24] = [
        ("LE", 1),
        ("CS1", 8),
        ("AF11", 10),
        ("AF12", 12),
        ("AF13", 14),
        ("CS0", 0),
        ("CS3", 24),
        ("AF31", 26),
        ("AF32", 28),
        ("AF33", 30),
        ("AF41", 34),
        ("AF42", 36),
        ("AF43", 38),
        ("AF21", 18),
        ("AF22", 20),
        ("AF23", 22),
        ("CS2", 16),
        ("CS4", 32),
        ("CS5", 40),
        ("VA", 44),
        ("EF", 46),
        ("CS6", 48),
        ("CS7", 56),
        ("none", 63),
    ];

    fn of(diffserv: Diffserv) -> String {
        NAMED.map(|(_, point)| char::from(b'0' + diffserv.tins()[usize::from(point)])).iter().collect()
    }

    #[test]
    fn each_name_has_its_tin() {
        assert_eq!(of(Diffserv::BestEffort), "000000000000000000000000");
        assert_eq!(of(Diffserv::Precedence), "011110333344422224555677");
        assert_eq!(of(Diffserv::Three), "110000000000000000022220");
        assert_eq!(of(Diffserv::Four), "110000222222222223333330");
        assert_eq!(of(Diffserv::Eight), "011112333333344456666772");
        let others = (0..64).filter(|point| NAMED.iter().all(|(_, named)| named != point));
        for point in others.filter(|point| ![2, 4].contains(point)) {
            let tins = [Diffserv::Three, Diffserv::Four, Diffserv::Eight].map(|it| it.tin(point));
            assert_eq!(tins, [0, 0, 2], "{point}");
        }
    }

    #[test]
    fn thresholds_are_parts_of_the_rate() {
        let rates = |diffserv: Diffserv| {
            let shares = diffserv.shares(Some(Rate::new(16_000_000)));
            shares.iter().map(|share| share.threshold.map_or(0, Rate::get)).collect::<Vec<_>>()
        };
        assert_eq!(rates(Diffserv::BestEffort), [16_000_000]);
        assert_eq!(rates(Diffserv::Three), [16_000_000, 1_000_000, 4_000_000]);
        assert_eq!(rates(Diffserv::Four), [16_000_000, 1_000_000, 8_000_000, 4_000_000]);
        assert_eq!(rates(Diffserv::Eight)[..4], [16_000_000, 14_000_000, 12_250_000, 10_718_750]);
        let quanta =
            |diffserv: Diffserv| diffserv.shares(None).iter().map(|share| share.quantum).collect::<Vec<_>>();
        assert_eq!(quanta(Diffserv::Four), [1024, 64, 512, 256]);
        assert_eq!(quanta(Diffserv::Precedence), [256, 224, 196, 171, 149, 130, 113, 98]);
        assert!(
            Diffserv::Three.shares(Some(Rate::new(1))).iter().all(|it| it.threshold == Some(Rate::new(1)))
        );
    }
}
