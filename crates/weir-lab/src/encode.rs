//! What a job leaves, as bytes: the same state, the same bytes, on every machine; and back.
//!
//! A sweep keeps what was simulated beyond the life of a process, and computes results from it by the code that computes
//! them of a run. So the state itself is kept, exactly: whole numbers in as many groups of seven bits as they need, least
//! significant first (LEB128, as in DWARF 5, section 7.6), signed ones folded to unsigned (zigzag), fractions by their bits.
//! A structure is its fields in their order, nothing else: what the bytes are of, and of which version, is said by whoever
//! keeps them. Reading refuses what ends early or says a length beyond what is there; it never panics.
//!
//! Work and memory: O(bytes). [`encode!`](crate::encode!) writes both directions of a structure from one list of its fields,
//! and does not compile where one is missing.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use weir_core::discipline::Effort;
use weir_core::task::{Overcommitted, Used};
use weir_core::units::{Instant, Nanos};

/// What can be written as bytes and read again.
pub trait Encode: Sized {
    /// Appends it.
    fn encode(&self, into: &mut Vec<u8>);

    /// Takes it from the front; nothing where the bytes are not one.
    fn decode(from: &mut &[u8]) -> Option<Self>;
}

/// As bytes of its own.
pub fn bytes<T: Encode>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    bytes
}

/// From bytes that hold it and nothing else.
pub fn whole<T: Encode>(mut bytes: &[u8]) -> Option<T> {
    let value = T::decode(&mut bytes)?;
    bytes.is_empty().then_some(value)
}

/// Writes a structure as its fields, in the order in which they are listed.
#[macro_export]
macro_rules! encode {
    ($($name:ty { $($field:ident),+ $(,)? })+) => {
        $(
            impl $crate::encode::Encode for $name {
                fn encode(&self, into: &mut Vec<u8>) {
                    let Self { $($field),+ } = self;
                    $($crate::encode::Encode::encode($field, into);)+
                }

                fn decode(from: &mut &[u8]) -> Option<Self> {
                    Some(Self { $($field: $crate::encode::Encode::decode(from)?),+ })
                }
            }
        )+
    };
}

encode! {
    Effort { decisions, examined, most_examined, steps, most_steps }
    Used { need, uncommitted, windfall }
    Overcommitted { committed, epoch }
}

impl Encode for u128 {
    fn encode(&self, into: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            into.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        into.push(rest as u8);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let (mut value, mut shift) = (0_u128, 0);
        loop {
            let (&byte, rest) = from.split_first()?;
            *from = rest;
            let bits = u128::from(byte & 0x7f);
            if shift >= Self::BITS || bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift += 7;
        }
    }
}

/// A smaller whole number is written as the largest is.
macro_rules! whole_numbers {
    ($($number:ty)+) => {
        $(
            impl Encode for $number {
                fn encode(&self, into: &mut Vec<u8>) {
                    // Most are small.
                    match u8::try_from(*self) {
                        Ok(small) if small < 0x80 => into.push(small),
                        _ => (*self as u128).encode(into),
                    }
                }

                fn decode(from: &mut &[u8]) -> Option<Self> {
                    u128::decode(from)?.try_into().ok()
                }
            }
        )+
    };
}

whole_numbers!(u16 u32 u64 usize);

impl Encode for i128 {
    fn encode(&self, into: &mut Vec<u8>) {
        ((self << 1) ^ (self >> 127)).cast_unsigned().encode(into);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let folded = u128::decode(from)?;
        Some((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }
}

macro_rules! signed_numbers {
    ($($number:ty)+) => {
        $(
            impl Encode for $number {
                fn encode(&self, into: &mut Vec<u8>) {
                    i128::from(*self).encode(into);
                }

                fn decode(from: &mut &[u8]) -> Option<Self> {
                    i128::decode(from)?.try_into().ok()
                }
            }
        )+
    };
}

signed_numbers!(i8 i64);

impl Encode for f64 {
    fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.to_bits().to_le_bytes());
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let (bits, rest) = from.split_first_chunk()?;
        *from = rest;
        Some(Self::from_bits(u64::from_le_bytes(*bits)))
    }
}

impl Encode for bool {
    fn encode(&self, into: &mut Vec<u8>) {
        into.push(u8::from(*self));
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        match u32::decode(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Encode for Nanos {
    fn encode(&self, into: &mut Vec<u8>) {
        self.get().encode(into);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        u64::decode(from).map(Self::new)
    }
}

impl Encode for Instant {
    fn encode(&self, into: &mut Vec<u8>) {
        self.get().encode(into);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        u64::decode(from).map(Self::new)
    }
}

impl Encode for String {
    fn encode(&self, into: &mut Vec<u8>) {
        self.len().encode(into);
        into.extend(self.as_bytes());
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let length = usize::decode(from)?;
        let (text, rest) = from.split_at_checked(length)?;
        *from = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }
}

/// The most words, and the longest, that are held for ever.
const WORDS: (usize, usize) = (1 << 10, 64);

/// Words of the program: what engines, metrics and units are called.
impl Encode for &'static str {
    fn encode(&self, into: &mut Vec<u8>) {
        (*self).to_owned().encode(into);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        static HELD: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let word = String::decode(from)?;
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held.get(word.as_str()) {
            return Some(known);
        }
        if held.len() >= WORDS.0 || word.len() > WORDS.1 {
            return None;
        }
        let word: &'static str = Box::leak(word.into_boxed_str());
        held.insert(word);
        Some(word)
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, into: &mut Vec<u8>) {
        self.is_some().encode(into);
        self.iter().for_each(|value| value.encode(into));
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::decode(from)? { Some(T::decode(from)?) } else { None })
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, into: &mut Vec<u8>) {
        self.len().encode(into);
        self.iter().for_each(|value| value.encode(into));
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let length = usize::decode(from)?;
        // Nothing takes less than a byte: no length makes room for more than there can be.
        if length > from.len() {
            return None;
        }
        (0..length).map(|_| T::decode(from)).collect()
    }
}

impl<T: Encode, const LENGTH: usize> Encode for [T; LENGTH] {
    fn encode(&self, into: &mut Vec<u8>) {
        self.iter().for_each(|value| value.encode(into));
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let values: Option<Vec<T>> = (0..LENGTH).map(|_| T::decode(from)).collect();
        values?.try_into().ok()
    }
}

impl<A: Encode, B: Encode> Encode for (A, B) {
    fn encode(&self, into: &mut Vec<u8>) {
        self.0.encode(into);
        self.1.encode(into);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        Some((A::decode(from)?, B::decode(from)?))
    }
}

impl<T: Encode> Encode for Box<T> {
    fn encode(&self, into: &mut Vec<u8>) {
        (**self).encode(into);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        T::decode(from).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn again<T: Encode + PartialEq + core::fmt::Debug>(value: T) {
        assert_eq!(whole::<T>(&bytes(&value)).as_ref(), Some(&value));
    }

    #[test]
    fn numbers_by_hand() {
        assert_eq!(bytes(&300_u64), [0xac, 0x02]);
        assert_eq!((bytes(&-1_i64), bytes(&1_i64), bytes(&0x7f_u32)), (vec![1], vec![2], vec![0x7f]));
        [0, 1, 127, 128, u64::MAX].into_iter().for_each(again);
        [0, u128::MAX, 1 << 127].into_iter().for_each(again);
        [i128::MIN, -1, 0, i128::MAX].into_iter().for_each(again);
        [0.0, -0.0, f64::INFINITY, 1e-300].into_iter().for_each(again);
        again((Some("packets"), vec![[true, false], [false, true]]));
        again((String::from("é"), None::<Nanos>));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        assert_eq!(whole::<u64>(&[0x80]), None, "ends early");
        assert_eq!(whole::<u64>(&[1, 1]), None, "goes on");
        assert_eq!(whole::<u16>(&bytes(&70_000_u64)), None, "too large");
        assert_eq!(whole::<u128>(&[0xff; 19]), None, "more than 128 bits");
        assert_eq!(whole::<Vec<u64>>(&bytes(&u64::MAX)), None, "longer than what is there");
        assert_eq!(whole::<bool>(&[2]), None);
        assert_eq!(whole::<String>(&[1, 0xff]), None);
        assert_eq!(whole::<&str>(&bytes(&"x".repeat(65))), None, "no word is as long");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = whole::<Vec<(Option<f64>, [i64; 2])>>(&bytes);
            let _ = whole::<(String, Vec<u128>)>(&bytes);
        }

        #[test]
        fn numbers_come_back(a in any::<u64>(), b in any::<i128>(), c in any::<u128>(), shift in 0..64_u32) {
            again((a >> shift, (b, c)));
        }
    }
}
