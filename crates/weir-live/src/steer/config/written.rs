//! What is written of processors: which, and how their threads are scheduled.
//!
//! | | |
//! |-|-|
//! | Work | O(processors); a list of more than [`PROCESSORS_END`] numbers is none |

use core::fmt;

use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::PROCESSORS_END;

/// Processors by number, each once, in the order in which they are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Processors(pub Vec<u32>);

impl Processors {
    /// Reads `1-7` or `1,3,5-7`, as the kernel writes them.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high) = (number(low)?, number(high)?);
            if low > high {
                return Err(format!("has the range `{part}`, which ends before it begins"));
            }
            for number in low..=high {
                if numbers.contains(&number) {
                    return Err(format!("has {number} twice"));
                }
                numbers.push(number);
            }
        }
        Ok(Self(numbers))
    }
}

fn number(text: &str) -> Result<u32, String> {
    let digits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|each| each.is_ascii_digit());
    let number = if digits { text.parse().ok() } else { None };
    number.filter(|number| *number < PROCESSORS_END).ok_or_else(|| {
        format!("has `{}`, must have numbers from 0 to {}", weir_document::shorten(text), PROCESSORS_END - 1)
    })
}

impl fmt::Display for Processors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        while let Some(&first) = rest.first() {
            let run = rest.iter().zip(first..).take_while(|(number, expected)| *number == expected).count();
            let comma = if rest.len() < self.0.len() { "," } else { "" };
            match run {
                1 => write!(f, "{comma}{first}")?,
                _ => write!(f, "{comma}{first}-{}", rest[run - 1])?,
            }
            rest = &rest[run..];
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Processors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl<'de> Visitor<'de> for Written {
            type Value = Processors;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "processors from 0 to {}, each once, such as \"1-7\" or [1, 2, 3]",
                    PROCESSORS_END - 1
                )
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Processors, E> {
                Processors::parse(text).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Processors, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = list.next_element::<u32>()? {
                    if number >= PROCESSORS_END || numbers.contains(&number) {
                        return Err(A::Error::invalid_value(Unexpected::Seq, &self));
                    }
                    numbers.push(number);
                }
                Ok(Processors(numbers))
            }
        }
        deserializer.deserialize_any(Written)
    }
}

impl Serialize for Processors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A real-time priority, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority(pub Option<u8>);

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl Visitor<'_> for Written {
            type Value = Priority;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a priority from 1 to 99, or \"none\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Priority, E> {
                (text == "none")
                    .then_some(Priority(None))
                    .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Priority, E> {
                let known = u8::try_from(number).ok().filter(|number| (1..=99).contains(number));
                known
                    .map(|number| Priority(Some(number)))
                    .ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
            }
        }
        deserializer.deserialize_any(Written)
    }
}

impl Serialize for Priority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(number) => serializer.serialize_u8(number),
            None => serializer.serialize_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read_and_written() {
        for (text, written) in
            [("1-7", "1-7"), ("0", "0"), ("3,1,2", "3,1-2"), ("5,1-2,0,6-7", "5,1-2,0,6-7")]
        {
            let processors = Processors::parse(text).expect(text);
            assert_eq!(processors.to_string(), written);
            assert_eq!(Processors::parse(written), Ok(processors));
        }
        for bad in ["", "a", "1-", "-1", "+1", "1,,2", "2-1", "1,1", "1-3,2", "1024", "99999999999", "1 - 2"]
        {
            assert!(Processors::parse(bad).is_err(), "{bad}");
        }
    }
}
