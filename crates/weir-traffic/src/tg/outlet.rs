//! Where packets go: a UDP socket, a TCP connection, or in tests a list.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | one system call for all packets that are due, at most 64 |
//! | Units | bytes of the user's data |

use std::io::{self, IoSlice, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};

use super::datagrams::{self, Outgoing};
use crate::generator::batch::{BATCH, Departures};
use crate::generator::wall::WallTime;

/// Where packets go.
pub trait Outlet {
    /// Sends packets, or the first of them; returns how many.
    ///
    /// # Errors
    /// None was sent.
    fn send(&mut self, packets: &[Outgoing]) -> io::Result<usize>;

    /// Whether nothing can be sent any more after this error.
    fn is_over(&self, error: &io::Error) -> bool;

    /// Whether fewer packets than given were taken because of an error, which the kernel then does not tell.
    fn stops_at_errors(&self) -> bool;

    /// Appends when the kernel took packets: how many were sent before each, and when. There need not be any.
    fn departed(&mut self, into: &mut Vec<(u32, WallTime)>) {
        let _ = into;
    }

    /// Sends what is left of a packet that has begun; true when there is nothing left.
    ///
    /// # Errors
    /// Nothing can be sent.
    fn finish(&mut self) -> io::Result<bool> {
        Ok(true)
    }
}

/// A UDP socket, which may tell when the kernel took packets.
pub struct Datagrams {
    socket: UdpSocket,
    departures: Option<Departures>,
}

impl Datagrams {
    /// Sends over a connected socket; `stamped` says that the kernel tells when it takes packets.
    #[must_use]
    pub fn new(socket: UdpSocket, stamped: bool) -> Self {
        Self { socket, departures: stamped.then(Departures::default) }
    }
}

impl Outlet for Datagrams {
    #[inline]
    fn send(&mut self, packets: &[Outgoing]) -> io::Result<usize> {
        datagrams::send(&self.socket, packets)
    }

    fn departed(&mut self, into: &mut Vec<(u32, WallTime)>) {
        if let Some(departures) = &mut self.departures {
            // None yet is no error.
            let _ = departures.read(&self.socket, |number, at| into.push((number, at)));
        }
    }

    fn is_over(&self, _error: &io::Error) -> bool {
        false
    }

    fn stops_at_errors(&self) -> bool {
        true
    }
}

/// A TCP connection, which may take a part of a packet.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// Bytes of the latest packet that are still to be written.
    rest: usize,
}

impl Connection {
    /// Sends over a stream.
    #[must_use]
    pub const fn new(stream: TcpStream) -> Self {
        Self { stream, rest: 0 }
    }

    /// How many packets a number of bytes has begun; the rest of the last is kept.
    fn taken(&mut self, packets: &[Outgoing], mut written: usize) -> usize {
        for (index, packet) in packets.iter().enumerate() {
            let length = packet.length as usize;
            if written < length {
                // What has not begun is not taken.
                self.rest = if written > 0 { length - written } else { 0 };
                return index + usize::from(written > 0);
            }
            written -= length;
        }
        packets.len()
    }
}

impl Outlet for Connection {
    fn send(&mut self, packets: &[Outgoing]) -> io::Result<usize> {
        if !self.finish()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let packets = &packets[..packets.len().min(BATCH)];
        let mut parts = [IoSlice::new(&[]); BATCH];
        for (part, packet) in parts.iter_mut().zip(packets) {
            *part = IoSlice::new(datagrams::data(packet.length));
        }
        let bytes: usize = packets.iter().map(|packet| packet.length as usize).sum();
        let written = if bytes == 0 { 0 } else { self.stream.write_vectored(&parts[..packets.len()])? };
        Ok(self.taken(packets, written))
    }

    fn is_over(&self, error: &io::Error) -> bool {
        !matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::TimedOut
        )
    }

    fn stops_at_errors(&self) -> bool {
        false
    }

    fn finish(&mut self) -> io::Result<bool> {
        while self.rest > 0 {
            let length = u32::try_from(self.rest).unwrap_or(u32::MAX);
            match self.stream.write(datagrams::data(length)) {
                Ok(0) => return Ok(false),
                Ok(written) => self.rest -= written,
                Err(error) if self.is_over(&error) => return Err(error),
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // What the kernel still has it sends; the other end then reads the end of the stream.
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}
