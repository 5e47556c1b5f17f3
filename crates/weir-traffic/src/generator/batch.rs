//! Many UDP packets with one system call, in both directions, and when the kernel saw them.
//!
//! A packet that is sent is a head of its own and zeros that all packets share, so that it costs the sender its head and
//! two pointers.
//!
//! | | |
//! |-|-|
//! | Source | sendmmsg(2), recvmmsg(2); Linux, Documentation/networking/timestamping.rst |
//! | Work | one system call for at most 64 packets; no allocation |
//! | Units | bytes of the user's data |
//! | Memory | for receiving 64 times the room of a packet, and 10 KiB |

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;

use super::wall::WallTime;

/// The most packets of one system call.
pub const BATCH: usize = 64;
/// As many are few.
const FEW: usize = 8;
/// The longest data of a UDP packet, in bytes.
pub const LONGEST: usize = 65_507;
/// How many times a packet is tried that gets the error of an earlier one.
pub const TRIES: u32 = 3;
/// Room for the control messages of a packet that comes in, in words.
const CONTROL: usize = 16;

static ZEROS: [u8; LONGEST] = [0; LONGEST];

/// A number of zeros, at most [`LONGEST`].
#[must_use]
pub fn zeros(length: u32) -> &'static [u8] {
    &ZEROS[..(length as usize).min(LONGEST)]
}

/// A packet that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<const HEAD: usize> {
    /// What it begins with.
    pub head: [u8; HEAD],
    /// How many zeros follow.
    pub zeros: u32,
    /// Whether the kernel is asked for this one when it takes it, in addition to what is asked of the socket.
    pub stamped: bool,
}

impl<const HEAD: usize> Outgoing<HEAD> {
    /// Nothing but a head of zeros.
    pub const EMPTY: Self = Self { head: [0; HEAD], zeros: 0, stamped: false };
}

/// The control message that asks when one packet is taken.
#[repr(C)]
struct Asking {
    header: libc::cmsghdr,
    flags: u32,
}

impl Asking {
    fn new() -> Self {
        // SAFETY: an all-zero control message is valid.
        let mut asking: Self = unsafe { zeroed() };
        asking.header.cmsg_len = (size_of::<libc::cmsghdr>() + size_of::<u32>()) as _;
        (asking.header.cmsg_level, asking.header.cmsg_type) = (libc::SOL_SOCKET, libc::SO_TIMESTAMPING);
        asking.flags = libc::SOF_TIMESTAMPING_TX_SCHED;
        asking
    }
}

/// Sends packets over a connected socket, the first 64 at most; returns how many were taken.
///
/// # Errors
/// None was taken.
pub fn send<const HEAD: usize>(socket: &UdpSocket, packets: &[Outgoing<HEAD>]) -> io::Result<usize> {
    // Few packets are not charged for the headers of many.
    if packets.len() <= FEW {
        send_up_to::<HEAD, FEW>(socket, packets)
    } else {
        send_up_to::<HEAD, BATCH>(socket, packets)
    }
}

fn send_up_to<const HEAD: usize, const MOST: usize>(
    socket: &UdpSocket,
    packets: &[Outgoing<HEAD>],
) -> io::Result<usize> {
    let packets = &packets[..packets.len().min(MOST)];
    let part =
        |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut parts = [[part(&[]); 2]; MOST];
    // SAFETY: all-zero headers are valid: no address, no parts, no control message.
    let mut headers: [libc::mmsghdr; MOST] = unsafe { zeroed() };
    let mut asking = Asking::new();
    for ((header, parts), packet) in headers.iter_mut().zip(&mut parts).zip(packets) {
        *parts = [part(&packet.head), part(zeros(packet.zeros))];
        let header = &mut header.msg_hdr;
        (header.msg_iov, header.msg_iovlen) = (parts.as_mut_ptr(), 2);
        if packet.stamped {
            header.msg_control = (&raw mut asking).cast();
            header.msg_controllen = size_of::<Asking>();
        }
    }
    // SAFETY: the first headers, as many as packets, point to parts, and those to heads and zeros, which all outlive the
    // call, as does the control message; the kernel reads them, and writes to nothing but the headers.
    let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), packets.len() as u32, 0) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Whether the call is to be made again.
#[must_use]
pub fn waits(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Whether an error is that of a packet sent earlier: the kernel hands it to the next call.
#[must_use]
pub fn is_of_earlier(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH | libc::ENOPROTOOPT | libc::EPROTO)
    )
}

/// A packet that has come in.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'i> {
    /// Its data, as far as there was room.
    pub data: &'i [u8],
    /// Who sent it; `None` where that is no address of version 4.
    pub from: Option<SocketAddrV4>,
    /// When the kernel saw it; `None` where it does not say.
    pub at: Option<WallTime>,
}

/// Room for packets that come in.
pub struct Inbox {
    data: Vec<u8>,
    /// Of one packet, in bytes.
    room: usize,
    controls: Vec<[u64; CONTROL]>,
    names: Vec<libc::sockaddr_in>,
}

impl Inbox {
    /// Room for packets of `room` bytes, of which one less may be expected: what is longer is then noticed.
    #[must_use]
    pub fn new(room: usize) -> Self {
        // SAFETY: an all-zero address is valid.
        let name: libc::sockaddr_in = unsafe { zeroed() };
        Self {
            data: vec![0; room * BATCH],
            room,
            controls: vec![[0; CONTROL]; BATCH],
            names: vec![name; BATCH],
        }
    }

    /// Hands over what has come in, at most 64 packets; `flags` are those of recvmmsg(2).
    ///
    /// # Errors
    /// There is none.
    pub fn receive(
        &mut self,
        socket: &UdpSocket,
        flags: libc::c_int,
        mut each: impl FnMut(Arrived<'_>),
    ) -> io::Result<usize> {
        let no_part = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut parts = [no_part; BATCH];
        // SAFETY: all-zero headers are valid: no address, no parts, no control message.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
        let rooms = self.data.chunks_exact_mut(self.room);
        for (index, ((header, part), room)) in headers.iter_mut().zip(&mut parts).zip(rooms).enumerate() {
            *part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
            let header = &mut header.msg_hdr;
            (header.msg_iov, header.msg_iovlen) = (&raw mut *part, 1);
            header.msg_name = (&raw mut self.names[index]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_in>() as u32;
            header.msg_control = self.controls[index].as_mut_ptr().cast();
            header.msg_controllen = size_of::<[u64; CONTROL]>();
        }
        // SAFETY: every header points to a part, a name and a control buffer of its own, of the lengths it says, which
        // are borrowed mutably for the call.
        let taken = unsafe { take(socket, &mut headers, flags)? };
        headers.iter().take(taken).enumerate().for_each(|(index, header)| each(self.arrived(index, header)));
        Ok(taken)
    }

    fn arrived(&self, index: usize, header: &libc::mmsghdr) -> Arrived<'_> {
        let length = (header.msg_len as usize).min(self.room);
        let name = &self.names[index];
        let address = Ipv4Addr::from(u32::from_be(name.sin_addr.s_addr));
        let is_v4 = i32::from(name.sin_family) == libc::AF_INET;
        Arrived {
            data: &self.data[index * self.room..][..length],
            from: is_v4.then(|| SocketAddrV4::new(address, u16::from_be(name.sin_port))),
            at: stamp(&header.msg_hdr),
        }
    }
}

/// Receives into prepared headers, without a limit of time.
///
/// # Safety
/// What the headers point to is valid and not borrowed.
unsafe fn take(
    socket: &UdpSocket,
    headers: &mut [libc::mmsghdr; BATCH],
    flags: libc::c_int,
) -> io::Result<usize> {
    let (fd, most) = (socket.as_raw_fd(), BATCH as u32);
    // SAFETY: as the caller promises; there are as many headers as said.
    let taken = unsafe { libc::recvmmsg(fd, headers.as_mut_ptr(), most, flags, std::ptr::null_mut()) };
    usize::try_from(taken).map_err(|_| io::Error::last_os_error())
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
    /// Hands over at most 64 departures: how many packets it was asked for were sent before, and when it was taken.
    ///
    /// # Errors
    /// There is none yet.
    pub fn read(&mut self, socket: &UdpSocket, mut each: impl FnMut(u32, WallTime)) -> io::Result<usize> {
        // SAFETY: all-zero headers are valid: no address, no parts, no control message.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
        for (header, control) in headers.iter_mut().zip(&mut self.controls) {
            header.msg_hdr.msg_control = control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of::<[u64; CONTROL]>();
        }
        // SAFETY: every header points to a control buffer of its own, of the length it says, which is borrowed mutably
        // for the call.
        let taken = unsafe { take(socket, &mut headers, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT)? };
        for header in headers.iter().take(taken).map(|header| &header.msg_hdr) {
            if let (Some(place), Some(at)) = (place(header), stamp(header)) {
                each(place, at);
            }
        }
        Ok(taken)
    }
}

/// Which packet a departure is of, counted from 0.
fn place(header: &libc::msghdr) -> Option<u32> {
    const ERROR: usize = size_of::<libc::sock_extended_err>();
    let error = control(header, libc::SOL_IP, libc::IP_RECVERR, ERROR)
        .or_else(|| control(header, libc::SOL_IPV6, libc::IPV6_RECVERR, ERROR))?;
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

/// The data of the control message of this kind, if there is one with at least `least` bytes, in a header that the
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
