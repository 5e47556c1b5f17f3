//! Receives what a source sends, and logs it.
//!
//! | | |
//! |-|-|
//! | Source | TG 2.0, release notes (2002) |
//! | Work | one system call for at most 64 packets of UDP; one a reading of TCP |
//! | Units | nanoseconds; bytes of the user's data |
//! | Memory | UDP 550 KiB; TCP 64 KiB, and at most 64 connections |
//! | Time of a packet | UDP: when the kernel received it; TCP: when the process read it |
//! | Departs from the source | packets that the socket had no room for are counted, so that they are not taken for losses of the network |

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use weir_core::units::Instant;

use super::datagrams::{Incoming, Receiver};
use super::log::{Kind, Record, Writer};
use crate::generator::batch::BATCH;
use crate::generator::clock::{Clock, LONGEST_SLEEP, from_start};
use crate::generator::socket::dropped;
use crate::generator::wall::WallTime;

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 64;
/// The most calls that take what has come in before the end: as many as a full socket needs, and a flood no more.
const LAST_CALLS: u32 = 512;
/// How much is read from a connection at once, in bytes.
const READING: usize = 64 << 10;

/// What was received.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// Packets of UDP; readings of TCP.
    pub packets: u64,
    /// Bytes of the user's data in them.
    pub bytes: u64,
    /// Packets that are not of a generator: too short for a number, or too long.
    pub foreign: u64,
    /// Packets that the socket had no room for.
    pub dropped: u64,
    /// Connections of TCP.
    pub connections: u32,
    /// Errors, by their number.
    pub errors: BTreeMap<i32, u64>,
}

/// A sink.
pub struct Sink<'r, C> {
    /// Its clock.
    pub clock: &'r C,
    /// When it ends on the clock of the schedule; `None` when somebody asks to.
    pub until: Option<Instant>,
    /// The start, on the clock of the log.
    pub start: WallTime,
    /// The log.
    pub log: &'r mut Option<Writer>,
}

impl<C: Clock> Sink<'_, C> {
    /// Receives packets of UDP. At the end it takes what has come in before it.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn udp(mut self, socket: &UdpSocket) -> io::Result<Received> {
        let mut received = Received::default();
        let (mut receiver, mut incoming) = (Receiver::default(), Vec::with_capacity(BATCH));
        let mut last_calls = 0;
        while last_calls < LAST_CALLS {
            let over = last_calls > 0;
            // At the end nothing is waited for.
            let flags = if over { libc::MSG_DONTWAIT } else { libc::MSG_WAITFORONE };
            incoming.clear();
            match receiver.receive(socket, flags, &mut incoming) {
                Ok(_) => incoming.iter().try_for_each(|each| self.packet(each, &mut received))?,
                Err(error) => {
                    if over {
                        break;
                    }
                    self.flush()?;
                    self.failure(&error, &mut received)?;
                }
            }
            last_calls += u32::from(over || self.is_over());
        }
        self.drops(socket, &mut received)?;
        Ok(received)
    }

    fn packet(&mut self, packet: &Incoming, received: &mut Received) -> io::Result<()> {
        let Some(number) = packet.number else {
            received.foreign += 1;
            return Ok(());
        };
        received.packets += 1;
        received.bytes += u64::from(packet.length);
        let at = packet.at.unwrap_or_else(|| self.clock.wall());
        let time = from_start(at, self.start);
        let record = Record {
            number,
            length: packet.length,
            address: packet.from,
            ..Record::new(Kind::Receive, time)
        };
        self.write(&record)
    }

    /// Counts what the socket had no room for.
    fn drops(&mut self, socket: &UdpSocket, received: &mut Received) -> io::Result<()> {
        let dropped = i64::from(dropped(socket));
        received.dropped = dropped.unsigned_abs();
        if dropped == 0 {
            return Ok(());
        }
        let record = self.now(Kind::Error);
        self.write(&Record { other: dropped, errno: libc::ENOBUFS as u8, ..record })
    }

    /// Receives bytes of TCP, over any number of connections, one after another or at once.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn tcp(mut self, listener: &TcpListener) -> io::Result<Received> {
        let mut received = Received::default();
        let mut open: Vec<Accepted> = Vec::new();
        let mut buffer = vec![0; READING];
        let mut last_calls = 0;
        while last_calls < LAST_CALLS {
            let over = last_calls > 0 || self.is_over();
            last_calls += u32::from(over);
            let ready = match wait(listener, &open, !over) {
                Ok(ready) => ready,
                Err(error) => {
                    self.failure(&error, &mut received)?;
                    continue;
                }
            };
            if !ready.iter().any(|ready| *ready) {
                if over {
                    break;
                }
                self.flush()?;
            }
            for (connection, _) in open.iter_mut().zip(&ready).filter(|(_, ready)| **ready) {
                self.read(connection, &mut buffer, &mut received)?;
            }
            open.retain(|connection| !connection.ended);
            if ready.last() == Some(&true) {
                self.accept(listener, &mut open, &mut received)?;
            }
        }
        for connection in &open {
            self.torn_down(connection)?;
        }
        Ok(received)
    }

    fn accept(
        &mut self,
        listener: &TcpListener,
        open: &mut Vec<Accepted>,
        received: &mut Received,
    ) -> io::Result<()> {
        let (stream, from) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) => return self.failure(&error, received),
        };
        if open.len() == MAX_CONNECTIONS {
            return self.failure(&io::Error::from_raw_os_error(libc::EMFILE), received);
        }
        stream.set_nonblocking(true)?;
        let SocketAddr::V4(from) = from else { return Ok(()) };
        let connection = Accepted { stream, from, number: received.connections, ended: false };
        received.connections = received.connections.saturating_add(1);
        let record = self.now(Kind::Accept);
        self.write(&Record { number: connection.number, address: from, ..record })?;
        open.push(connection);
        Ok(())
    }

    fn read(&mut self, of: &mut Accepted, buffer: &mut [u8], received: &mut Received) -> io::Result<()> {
        match of.stream.read(buffer) {
            Ok(0) => {
                of.ended = true;
                self.torn_down(of)
            }
            Ok(length) => {
                received.packets += 1;
                received.bytes += length as u64;
                let length = u32::try_from(length).unwrap_or(u32::MAX);
                let record = self.now(Kind::Receive);
                self.write(&Record { number: of.number, length, address: of.from, ..record })
            }
            Err(error) if again(&error) => Ok(()),
            Err(error) => {
                of.ended = true;
                self.failure(&error, received)?;
                self.torn_down(of)
            }
        }
    }

    fn torn_down(&mut self, connection: &Accepted) -> io::Result<()> {
        let record = self.now(Kind::Teardown);
        self.write(&Record { number: connection.number, address: connection.from, ..record })
    }

    fn failure(&mut self, error: &io::Error, received: &mut Received) -> io::Result<()> {
        if again(error) {
            return Ok(());
        }
        let errno = error.raw_os_error().unwrap_or(0);
        *received.errors.entry(errno).or_default() += 1;
        let record = self.now(Kind::Error);
        self.write(&Record { other: 1, errno: u8::try_from(errno).unwrap_or(u8::MAX), ..record })?;
        // An error that stays, as of an interface that is gone, must not fill the disk.
        self.clock.wait(self.clock.now() + LONGEST_SLEEP);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.clock.stopped() || self.until.is_some_and(|until| self.clock.now() >= until)
    }

    fn now(&self, kind: Kind) -> Record {
        Record::new(kind, from_start(self.clock.wall(), self.start))
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        self.log.as_mut().map_or(Ok(()), |log| log.add(record))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.log.as_mut().map_or(Ok(()), Writer::flush)
    }
}

/// A connection.
struct Accepted {
    stream: TcpStream,
    from: SocketAddrV4,
    number: u32,
    ended: bool,
}

/// Which connections have something to be read, and last whether one waits to be accepted; if asked to, it waits until
/// there is one.
fn wait(listener: &TcpListener, open: &[Accepted], waits: bool) -> io::Result<Vec<bool>> {
    let mut polled: Vec<_> =
        open.iter().map(|connection| PollFd::new(&connection.stream, PollFlags::IN)).collect();
    polled.push(PollFd::new(listener, PollFlags::IN));
    let patience = Timespec { tv_sec: 0, tv_nsec: if waits { LONGEST_SLEEP.get().cast_signed() } else { 0 } };
    poll(&mut polled, Some(&patience))?;
    Ok(polled.iter().map(|each| !each.revents().is_empty()).collect())
}

/// Whether there is only nothing to do yet.
fn again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::TimedOut)
}
