//! What a packet takes of the line: its size with the overhead of the link, and how the line cuts it up.
//!
//! | | |
//! |-|-|
//! | Source | tc-cake(8), *overhead compensation*; ITU-T I.363.5 (ATM adaptation layer 5), IEEE 802.3, clause 61 (PTM) |
//! | Work | O(1) |
//! | Units | bytes |
//! | Departs from the source | an overhead is not negative: the size of a packet is that of IP, in simulations and on real packets |

use crate::units::Bytes;

/// How the line cuts up what it carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Not at all.
    #[default]
    None,
    /// In cells of 53 bytes, each with 48 of the packet; the last is filled up.
    Atm,
    /// A byte more for each 64, or part of 64.
    Ptm,
}

/// What packets take of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// What the link adds to each packet.
    pub overhead: Bytes,
    /// The least that it carries.
    pub mpu: Bytes,
    /// How it cuts that up.
    pub framing: Framing,
}

impl Wire {
    /// What a packet of this size takes.
    #[must_use]
    #[inline]
    pub fn size(&self, packet: Bytes) -> Bytes {
        let size = packet.get().saturating_add(self.overhead.get()).max(self.mpu.get());
        Bytes::new(match self.framing {
            Framing::None => size,
            Framing::Atm => size.div_ceil(48).saturating_mul(53),
            Framing::Ptm => size.saturating_add(size.div_ceil(64)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_carries_more_than_the_packet() {
        let of = |overhead, mpu, framing, size| {
            let wire = Wire { overhead: Bytes::new(overhead), mpu: Bytes::new(mpu), framing };
            wire.size(Bytes::new(size)).get()
        };
        assert_eq!(of(0, 0, Framing::None, 1500), 1500);
        assert_eq!(of(38, 84, Framing::None, 1500), 1538);
        assert_eq!(of(38, 84, Framing::None, 40), 84);
        // An acknowledgement of 40 bytes with LLC, SNAP and the trailer: 56 bytes, two cells.
        assert_eq!(of(16, 0, Framing::Atm, 40), 106);
        assert_eq!(of(8, 0, Framing::Atm, 40), 53);
        assert_eq!(of(0, 0, Framing::Atm, 1500), 32 * 53);
        assert_eq!(of(0, 0, Framing::Ptm, 64), 65);
        assert_eq!(of(22, 0, Framing::Ptm, 1500), 1522 + 24);
        for framing in [Framing::None, Framing::Atm, Framing::Ptm] {
            assert_eq!(of(256, 256, framing, u64::MAX), u64::MAX);
        }
    }
}
