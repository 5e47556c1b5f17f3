//! One record of a log: 32 bytes, little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 0-7 | time in nanoseconds from the start, signed |
//! | 8-15 | transmit: when the packet was due, likewise; error: how many, where it stands for more than one; end: how many records came before; else 0 |
//! | 16-19 | number of the packet; over TCP, of the connection, from 0 |
//! | 20-23 | length of the user's data in bytes |
//! | 24-27, 28-29 | address, port |
//! | 30 | kind |
//! | 31 | error number of Linux, or 0 |

use std::net::{Ipv4Addr, SocketAddrV4};

/// The size of a record, in bytes.
pub const SIZE: usize = 32;
/// Times are at most so far from the start, in nanoseconds: 31 years.
pub const FARTHEST: i64 = 1_000_000_000_000_000_000;

/// What a record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The association was set up; the address is the own one.
    Setup = 1,
    /// A connection was accepted.
    Accept = 2,
    /// A packet was sent.
    Transmit = 3,
    /// A packet came in; over TCP, bytes.
    Receive = 4,
    /// Something failed.
    Error = 5,
    /// The association, or a connection, was torn down.
    Teardown = 6,
    /// The kernel has taken a packet that was sent, at this time.
    Left = 7,
    /// The log is whole.
    End = 255,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Setup,
        Self::Accept,
        Self::Transmit,
        Self::Receive,
        Self::Error,
        Self::Teardown,
        Self::Left,
        Self::End,
    ];

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it tells.
    pub kind: Kind,
    /// When, in nanoseconds from the start of the script; negative before.
    pub time: i64,
    /// When it was due, or how many it stands for, as the kind says.
    pub other: i64,
    /// The number of the packet or connection.
    pub number: u32,
    /// The length of the user's data, in bytes.
    pub length: u32,
    /// The other end; of [`Kind::Setup`], the own one.
    pub address: SocketAddrV4,
    /// The error number of Linux, or 0.
    pub errno: u8,
}

impl Record {
    /// A record that tells nothing but when.
    #[must_use]
    pub const fn new(kind: Kind, time: i64) -> Self {
        let address = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
        Self { kind, time, other: 0, number: 0, length: 0, address, errno: 0 }
    }

    /// As it is written.
    #[must_use]
    pub fn bytes(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[0..8].copy_from_slice(&self.time.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.other.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.number.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.length.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.address.ip().octets());
        bytes[28..30].copy_from_slice(&self.address.port().to_le_bytes());
        bytes[30] = self.kind as u8;
        bytes[31] = self.errno;
        bytes
    }

    /// Reads what was written.
    ///
    /// # Errors
    /// What is wrong with it, with the bound.
    pub fn read(bytes: &[u8; SIZE]) -> Result<Self, String> {
        let word = |at: usize| bytes[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
        let long = |at: usize| bytes[at..at + 8].try_into().map_or(0, i64::from_le_bytes);
        let kind = Kind::of(bytes[30]).ok_or_else(|| format!("{} is not a kind of record", bytes[30]))?;
        let (time, other) = (long(0), long(8));
        for value in [time, other] {
            if !(-FARTHEST..=FARTHEST).contains(&value) {
                return Err(format!(
                    "a record's time is {value} ns, must be within {FARTHEST} ns of the start"
                ));
            }
        }
        let port = u16::from_le_bytes([bytes[28], bytes[29]]);
        let address = SocketAddrV4::new(Ipv4Addr::new(bytes[24], bytes[25], bytes[26], bytes[27]), port);
        Ok(Self { kind, time, other, number: word(16), length: word(20), address, errno: bytes[31] })
    }
}
