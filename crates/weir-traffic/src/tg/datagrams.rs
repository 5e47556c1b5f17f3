//! Packets of scripts: each begins with its number, 4 bytes in network order, and zeros follow.
//!
//! | | |
//! |-|-|
//! | Source | TG 2.0; [`crate::generator::batch`] |
//! | Work | one system call for at most 64 packets; no allocation |
//! | Units | bytes of the user's data, without the number |
//! | Memory | 550 KiB for receiving |

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use crate::generator::batch::{self, Arrived, BATCH, Inbox};
use crate::generator::wall::WallTime;

/// The number in front of the data.
const NUMBER: usize = 4;
/// The longest data of a script; a byte more has room, so that what is longer is noticed.
const LONGEST: usize = 8192;

/// A packet that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its number.
    pub number: u32,
    /// The length of its data, at most 8,192 bytes.
    pub length: u32,
}

/// The data of a packet, which is zeros.
#[must_use]
pub fn data(length: u32) -> &'static [u8] {
    batch::zeros(length.min(LONGEST as u32))
}

/// Sends packets over a connected socket, the first 64 at most; returns how many were taken.
///
/// # Errors
/// None was taken.
pub fn send(socket: &UdpSocket, packets: &[Outgoing]) -> io::Result<usize> {
    let count = packets.len().min(BATCH);
    let mut written = [batch::Outgoing::<NUMBER>::EMPTY; BATCH];
    for (written, packet) in written.iter_mut().zip(packets) {
        written.head = packet.number.to_be_bytes();
        written.zeros = packet.length.min(LONGEST as u32);
    }
    batch::send(socket, &written[..count])
}

/// A packet that has come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// Its number; `None` where it is too short to have one, or longer than a packet of a script.
    pub number: Option<u32>,
    /// The length of its data.
    pub length: u32,
    /// Who sent it.
    pub from: SocketAddrV4,
    /// When the kernel saw it; `None` where it does not say.
    pub at: Option<WallTime>,
}

impl From<Arrived<'_>> for Incoming {
    fn from(arrived: Arrived<'_>) -> Self {
        let length = arrived.data.len();
        let number = arrived.data.first_chunk().filter(|_| (NUMBER..=NUMBER + LONGEST).contains(&length));
        Self {
            number: number.map(|bytes| u32::from_be_bytes(*bytes)),
            length: length.saturating_sub(NUMBER) as u32,
            from: arrived.from.unwrap_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0)),
            at: arrived.at,
        }
    }
}

/// Buffers for packets that come in.
pub struct Receiver(Inbox);

impl Default for Receiver {
    fn default() -> Self {
        Self(Inbox::new(NUMBER + LONGEST + 4))
    }
}

impl Receiver {
    /// Takes what has come in, at most 64 packets; `flags` are those of recvmmsg(2).
    ///
    /// # Errors
    /// There is none.
    pub fn receive(
        &mut self,
        socket: &UdpSocket,
        flags: libc::c_int,
        into: &mut Vec<Incoming>,
    ) -> io::Result<usize> {
        self.0.receive(socket, flags, |arrived| into.push(arrived.into()))
    }
}
