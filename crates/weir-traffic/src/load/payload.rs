//! What a request carries, and what its answer brings back.
//!
//! | bytes | |
//! |-|-|
//! | 0 to 3 | what the server reads: the data of the class |
//! | 4 to 7 | the number of the request in its flow |
//! | 8 to 15 | when it was due, in nanoseconds by the sender's clock |
//! | 16, 17 | the flow |
//! | 18, 19 | the class |
//!
//! Numbers have their most significant byte first. Zeros follow up to the size that was asked for.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Units | bytes, nanoseconds |

/// The bytes that every request has.
pub const HEAD: usize = 20;

/// What a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// What the server reads.
    pub data: u32,
    /// The number in the flow, from 0; after the last one 0 again.
    pub number: u32,
    /// When it was due, in nanoseconds.
    pub due: u64,
    /// The flow.
    pub flow: u16,
    /// The class.
    pub class: u16,
}

impl Payload {
    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&self.data.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.number.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.due.to_be_bytes());
        bytes[16..18].copy_from_slice(&self.flow.to_be_bytes());
        bytes[18..].copy_from_slice(&self.class.to_be_bytes());
        bytes
    }

    /// Reads an answer; `None` where it is too short.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (data, rest) = bytes.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (due, rest) = rest.split_first_chunk()?;
        let (flow, rest) = rest.split_first_chunk()?;
        let class = rest.first_chunk()?;
        Some(Self {
            data: u32::from_be_bytes(*data),
            number: u32::from_be_bytes(*number),
            due: u64::from_be_bytes(*due),
            flow: u16::from_be_bytes(*flow),
            class: u16::from_be_bytes(*class),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_read_as_it_was_written() {
        let payload =
            Payload { data: 0x0102_030a, number: 7, due: 0x1122_3344_5566_7788, flow: 258, class: 1 };
        let bytes = payload.bytes();
        assert_eq!(bytes[..8], [1, 2, 3, 10, 0, 0, 0, 7]);
        assert_eq!(bytes[16..], [1, 2, 0, 1]);
        assert_eq!(Payload::read(&bytes), Some(payload));
        assert_eq!(Payload::read(&[&bytes[..], &[9; 44]].concat()), Some(payload));
        assert!((0..HEAD).all(|length| Payload::read(&bytes[..length]).is_none()));
    }
}
