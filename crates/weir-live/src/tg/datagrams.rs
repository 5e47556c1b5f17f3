//! Many UDP packets with one system call, in both directions, and when the kernel saw those that come in.
//!
//! Every packet begins with its number, 4 bytes in network order. What follows is zeros that all packets share, so
//! that a packet costs the sender its number and two pointers.
//!
//! | | |
//! |-|-|
//! | Source | sendmmsg(2), recvmmsg(2); Linux, Documentation/networking/timestamping.rst |
//! | Work | one system call for at most 64 packets; no allocation |
//! | Units | bytes of the user's data, without the number |
//! | Memory | 550 KiB for receiving |

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;

use super::wall::WallTime;

/// The most packets of one system call.
pub const BATCH: usize = 64;
/// The number in front of the data.
const NUMBER: usize = 4;
/// The longest data of a script, and a byte more, so that what is longer is noticed.
const LONGEST: usize = 8192;
const BUFFER: usize = NUMBER + LONGEST + 4;
/// Room for the control message of a time stamp, in words.
const CONTROL: usize = 16;

static ZEROS: [u8; LONGEST] = [0; LONGEST];

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
    &ZEROS[..(length as usize).min(LONGEST)]
}

/// Sends packets over a connected socket, the first 64 at most; returns how many were taken.
///
/// # Errors
/// None was taken.
pub fn send(socket: &UdpSocket, packets: &[Outgoing]) -> io::Result<usize> {
    let count = packets.len().min(BATCH);
    let mut numbers = [[0_u8; NUMBER]; BATCH];
    for (number, packet) in numbers.iter_mut().zip(packets) {
        *number = packet.number.to_be_bytes();
    }
    let part = |base: *const u8, length| libc::iovec { iov_base: base.cast_mut().cast(), iov_len: length };
    let mut parts = [[part(ZEROS.as_ptr(), 0); 2]; BATCH];
    for ((parts, number), packet) in parts.iter_mut().zip(&numbers).zip(packets) {
        let data = data(packet.length);
        *parts = [part(number.as_ptr(), NUMBER), part(data.as_ptr(), data.len())];
    }
    // SAFETY: all-zero headers are valid: no address, no parts, no control message.
    let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
    for (header, parts) in headers.iter_mut().zip(&mut parts).take(count) {
        header.msg_hdr.msg_iov = parts.as_mut_ptr();
        header.msg_hdr.msg_iovlen = 2;
    }
    // SAFETY: the first `count` headers point to parts, and those to numbers and zeros, which all outlive the call;
    // the kernel reads them, and writes to nothing but the headers.
    let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count as u32, 0) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
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

/// Buffers for packets that come in.
pub struct Receiver {
    buffers: Vec<[u8; BUFFER]>,
    controls: Vec<[u64; CONTROL]>,
    names: Vec<libc::sockaddr_in>,
}

impl Default for Receiver {
    fn default() -> Self {
        // SAFETY: an all-zero address is valid.
        let name: libc::sockaddr_in = unsafe { zeroed() };
        Self {
            buffers: vec![[0; BUFFER]; BATCH],
            controls: vec![[0; CONTROL]; BATCH],
            names: vec![name; BATCH],
        }
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
        let no_part = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut parts = [no_part; BATCH];
        // SAFETY: all-zero headers are valid: no address, no parts, no control message.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
        for (index, (header, part)) in headers.iter_mut().zip(&mut parts).enumerate() {
            part.iov_base = self.buffers[index].as_mut_ptr().cast();
            part.iov_len = BUFFER;
            let header = &mut header.msg_hdr;
            (header.msg_iov, header.msg_iovlen) = (&raw mut *part, 1);
            header.msg_name = (&raw mut self.names[index]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_in>() as u32;
            header.msg_control = self.controls[index].as_mut_ptr().cast();
            header.msg_controllen = size_of::<[u64; CONTROL]>();
        }
        let (headers_at, most) = (headers.as_mut_ptr(), BATCH as u32);
        // SAFETY: every header points to a part, a name and a control buffer of its own, of the lengths it says, which
        // are borrowed mutably for the call; no time limit is given.
        let taken =
            unsafe { libc::recvmmsg(socket.as_raw_fd(), headers_at, most, flags, std::ptr::null_mut()) };
        let taken = usize::try_from(taken).map_err(|_| io::Error::last_os_error())?;
        into.extend(
            headers.iter().take(taken).enumerate().map(|(index, header)| self.incoming(index, header)),
        );
        Ok(taken)
    }

    fn incoming(&self, index: usize, header: &libc::mmsghdr) -> Incoming {
        let length = (header.msg_len as usize).min(BUFFER);
        let number =
            self.buffers[index].first_chunk().filter(|_| (NUMBER..=NUMBER + LONGEST).contains(&length));
        let name = &self.names[index];
        let address = Ipv4Addr::from(u32::from_be(name.sin_addr.s_addr));
        Incoming {
            number: number.map(|bytes| u32::from_be_bytes(*bytes)),
            length: length.saturating_sub(NUMBER) as u32,
            from: SocketAddrV4::new(address, u16::from_be(name.sin_port)),
            at: stamp(&header.msg_hdr),
        }
    }
}

/// Reads when the kernel took what was sent.
pub struct Departures {
    controls: Vec<[u64; CONTROL]>,
}

impl Default for Departures {
    fn default() -> Self {
        Self { controls: vec![[0; CONTROL]; BATCH] }
    }
}

impl Departures {
    /// Appends at most 64 departures: how many packets were sent before, and when it was taken.
    ///
    /// # Errors
    /// There is none yet.
    pub fn read(&mut self, socket: &UdpSocket, into: &mut Vec<(u32, WallTime)>) -> io::Result<usize> {
        // SAFETY: all-zero headers are valid: no address, no parts, no control message.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
        for (header, control) in headers.iter_mut().zip(&mut self.controls) {
            header.msg_hdr.msg_control = control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of::<[u64; CONTROL]>();
        }
        let (headers_at, most) = (headers.as_mut_ptr(), BATCH as u32);
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        // SAFETY: every header points to a control buffer of its own, of the length it says, which is borrowed mutably
        // for the call; no time limit is given.
        let taken =
            unsafe { libc::recvmmsg(socket.as_raw_fd(), headers_at, most, flags, std::ptr::null_mut()) };
        let taken = usize::try_from(taken).map_err(|_| io::Error::last_os_error())?;
        let told = headers.iter().take(taken).filter_map(|header| {
            let header = &header.msg_hdr;
            Some((place(header)?, stamp(header)?))
        });
        into.extend(told);
        Ok(taken)
    }
}

/// Which packet a departure is of, counted from 0.
fn place(header: &libc::msghdr) -> Option<u32> {
    let error = control(header, libc::SOL_IP, libc::IP_RECVERR, size_of::<libc::sock_extended_err>())?;
    // SAFETY: the message holds an extended error, as its length says; it need not be aligned.
    let error = unsafe { error.cast::<libc::sock_extended_err>().read_unaligned() };
    (error.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING).then_some(error.ee_data)
}

/// The time stamp among the control messages of a header that the kernel has filled.
fn stamp(header: &libc::msghdr) -> Option<WallTime> {
    let time = control(header, libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, size_of::<libc::timespec>())?;
    // SAFETY: the message holds at least one time, as its length says; it need not be aligned.
    let time = unsafe { time.cast::<libc::timespec>().read_unaligned() };
    let seconds = u64::try_from(time.tv_sec).ok()?.checked_mul(1_000_000_000)?;
    // The first of the three times is that of the software; zero says that there is none.
    WallTime::new(seconds.checked_add(u64::try_from(time.tv_nsec).ok()?)?).filter(|time| time.nanos() > 0)
}

/// The data of the control message of this kind, if there is one with at least so many bytes, in a header that the
/// kernel has just filled.
fn control(header: &libc::msghdr, level: libc::c_int, kind: libc::c_int, least: usize) -> Option<*const u8> {
    // SAFETY: the header and its control buffer are those of the call that has just returned.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header).as_ref() };
    while let Some(each) = message {
        let long = each.cmsg_len >= size_of::<libc::cmsghdr>() + least;
        if each.cmsg_level == level && each.cmsg_type == kind && long {
            // SAFETY: `each` is a control message of this header.
            return Some(unsafe { libc::CMSG_DATA(each) });
        }
        // SAFETY: as above; `each` came from this header.
        message = unsafe { libc::CMSG_NXTHDR(header, each).as_ref() };
    }
    None
}
