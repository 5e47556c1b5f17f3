//! The table and the link for which is planned.
//!
//! | symbol of the source | here |
//! |---|---|
//! | N | [`Shape::entries`] |
//! | MTU | [`Shape::packet`], in credits |
//! | w | [`Shape::w`]: the largest entry weight M is `w * MTU` |
//! | k | [`Shape::k`]: the pool, all the weight there is, is `k * N * MTU` |

use serde::{Serialize, Serializer};
use weir_core::units::{Bytes, Credits, Nanos, Rate};

use crate::quantity::Share;

/// The table of one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Entries that the port has.
    pub capacity: u32,
    /// The largest packet on the wire.
    pub mtu: Bytes,
    /// The unit of weights and of flow control.
    pub credit: Bytes,
    /// The pool over the smallest that all entries together can have.
    pub k: u32,
    /// The largest entry weight over the smallest.
    pub w: u32,
}

impl Shape {
    /// Entries that are planned: the largest power of two that the port has, for distances are powers of two.
    #[must_use]
    pub const fn entries(&self) -> u32 {
        1 << self.capacity.ilog2()
    }

    /// The largest packet, which is also the least weight of an entry.
    #[must_use]
    pub const fn packet(&self) -> Credits {
        Credits::new(self.mtu.get().div_ceil(self.credit.get()))
    }

    /// The largest weight of an entry.
    #[must_use]
    pub const fn largest_weight(&self) -> Credits {
        Credits::new(self.w as u64 * self.packet().get())
    }

    /// All the weight there is to hand out.
    #[must_use]
    pub const fn pool(&self) -> Credits {
        Credits::new(self.k as u64 * self.entries() as u64 * self.packet().get())
    }

    /// The least share of a class with `entries` entries: `n / (N k)`.
    #[must_use]
    pub fn minimum(&self, entries: u32) -> Share {
        Share::of(u128::from(entries), u128::from(self.entries()) * u128::from(self.k))
    }

    /// The largest share of a class with `entries` entries: `n w / (N k)`; it may exceed the whole.
    #[must_use]
    pub fn maximum(&self, entries: u32) -> Share {
        let parts = u128::from(entries) * u128::from(self.w) * u128::from(Share::PARTS);
        let whole = u128::from(self.entries()) * u128::from(self.k);
        Share::new(u64::try_from(parts / whole).unwrap_or(u64::MAX))
    }
}

/// The coding of a line: how many bits of data are in how many bits of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub enum Coding {
    /// Every bit is data.
    #[default]
    #[serde(rename = "none")]
    None,
    /// InfiniBand up to QDR, PCIe 1 and 2.
    #[serde(rename = "8b/10b")]
    EightOfTen,
    /// InfiniBand from FDR on, 10 Gbit Ethernet.
    #[serde(rename = "64b/66b")]
    SixtyFourOf66,
    /// PCIe from 3 on.
    #[serde(rename = "128b/130b")]
    HundredTwentyEightOf130,
}

impl Coding {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::None, Self::EightOfTen, Self::SixtyFourOf66, Self::HundredTwentyEightOf130];

    /// Bits of data, and the bits of the line that carry them.
    #[must_use]
    pub const fn ratio(self) -> (u64, u64) {
        match self {
            Self::None => (1, 1),
            Self::EightOfTen => (8, 10),
            Self::SixtyFourOf66 => (64, 66),
            Self::HundredTwentyEightOf130 => (128, 130),
        }
    }

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::EightOfTen => "8b/10b",
            Self::SixtyFourOf66 => "64b/66b",
            Self::HundredTwentyEightOf130 => "128b/130b",
        }
    }
}

impl Serialize for Coding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The link behind the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Of the line, before coding.
    pub rate: Rate,
    /// How data are coded on it.
    pub coding: Coding,
}

impl Link {
    /// The rate of data, rounded down to a whole bit per second.
    #[must_use]
    pub fn data_rate(&self) -> Rate {
        let (data, line) = self.coding.ratio();
        let bits = u128::from(self.rate.get()) * u128::from(data) / u128::from(line);
        Rate::new(u64::try_from(bits).unwrap_or(u64::MAX))
    }

    /// The time that `size` takes, rounded up to a whole nanosecond; the longest span where that cannot be represented.
    #[must_use]
    pub fn time_of(&self, size: Bytes) -> Nanos {
        let (data, line) = self.coding.ratio();
        let bits = u128::from(size.get()) * 8 * u128::from(line) * 1_000_000_000;
        let rate = u128::from(self.rate.get()) * u128::from(data);
        Nanos::new(
            bits.checked_next_multiple_of(rate)
                .map_or(u64::MAX, |up| u64::try_from(up / rate).unwrap_or(u64::MAX)),
        )
    }

    /// The part of the link that `rate` takes, rounded up; more than the whole where the link has less.
    #[must_use]
    pub fn share_of(&self, rate: Rate) -> Share {
        let (data, line) = self.coding.ratio();
        let part = u128::from(rate.get()) * u128::from(line) * u128::from(Share::PARTS);
        let whole = u128::from(self.rate.get()) * u128::from(data);
        Share::new(
            part.checked_add(whole.saturating_sub(1))
                .and_then(|up| up.checked_div(whole))
                .map_or(u64::MAX, |parts| u64::try_from(parts).unwrap_or(u64::MAX)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That of Table 1.
    const SHAPE: Shape = Shape { capacity: 64, mtu: Bytes::new(2048), credit: Bytes::new(64), k: 2, w: 4 };

    #[test]
    fn the_table_of_the_source() {
        assert_eq!((SHAPE.entries(), SHAPE.packet().get()), (64, 32));
        assert_eq!((SHAPE.pool().get(), SHAPE.largest_weight().get()), (4096, 128));
        assert_eq!(
            (SHAPE.minimum(64).to_string(), SHAPE.maximum(64).to_string()),
            ("50%".into(), "200%".into())
        );
        assert_eq!(Shape { capacity: 15, ..SHAPE }.entries(), 8);
    }

    #[test]
    fn coding_takes_its_part() {
        let link = Link { rate: Rate::new(2_500_000_000), coding: Coding::EightOfTen };
        assert_eq!(link.data_rate(), Rate::new(2_000_000_000));
        assert_eq!(link.time_of(Bytes::new(64)), Nanos::new(256));
        assert_eq!(link.share_of(Rate::new(500_000_000)).to_string(), "25%");
        let slow = Link { rate: Rate::new(0), coding: Coding::None };
        assert_eq!(slow.time_of(Bytes::new(1)), Nanos::new(u64::MAX));
        assert_eq!(slow.share_of(Rate::new(1)).parts(), u64::MAX);
    }
}
