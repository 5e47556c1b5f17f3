//! A fingerprint of a scenario: 64 bits that change when the scenario or one of its data files does.
//!
//! FNV-1a (Fowler, Noll, Vo; RFC 9923): one multiplication a byte. It tells versions of an input apart; it
//! is no protection against somebody who wants two inputs to look alike.

use core::fmt;

/// A fingerprint in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a part; its length is added too, so that parts cannot run into each other.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
        self.bytes(&(bytes.len() as u64).to_le_bytes());
    }

    /// Adds a piece of a part.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_value_of_foobar() {
        let mut fingerprint = Fingerprint::new();
        fingerprint.bytes(b"foobar");
        assert_eq!(fingerprint.to_string(), "85944171f73967e8");
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let of = |parts: &[&[u8]]| {
            let mut fingerprint = Fingerprint::new();
            parts.iter().for_each(|part| fingerprint.add(part));
            fingerprint
        };
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
    }
}
