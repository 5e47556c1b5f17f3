//! An AF_PACKET socket: frames are copied in and out by system calls, many at a time.
//!
//! The fallback where AF_XDP does not work. Frames are read straight into the arena and written straight out of it.
//! The kernel sees every frame as well, and lets it go where it has no use for it. What `filter`
//! shows the socket is what the XDP program would hand over, and in addition frames with VLAN tags and of other
//! protocols, which the router counts; a tag that the kernel took off is put back.
//!
//! | | |
//! |-|-|
//! | Source | packet(7), recvmmsg(2), sendmmsg(2); Linux, Documentation/networking/packet_mmap.rst |
//! | Work | O(frames) a call; one system call for at most [`BATCH`] frames |
//! | Memory | [`BATCH`] frames to receive into, and the queue to send, sized by [`Share`]; the kernel keeps up to 4 MiB |
//! | Units | frames; bytes |

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::{SOL_PACKET, SOL_SOCKET, c_int, iovec, mmsghdr, tpacket_auxdata};
use rustix::io::Errno;
use weir_plane::Received;
use weir_plane::arena::{Arena, Buffer, LONGEST};
use weir_plane::snapshot::KernelCounts;

use super::fault::Fault;
use super::filter::{self, Shown};
use super::link::{Facts, checked, owned};
use super::{Share, option};

const CAPABILITY: &str = "CAP_NET_RAW";
/// The most frames of one system call.
pub const BATCH: usize = 64;
/// What is kept free before a frame, as the kernel does for AF_XDP.
const HEADROOM: u16 = 256;
/// What the kernel may keep for the socket, each way, in bytes.
const KERNEL_BUFFER: c_int = 4 << 20;
/// How often a frame is offered to a device that has no room, before it is let go.
const TRIES: u32 = 16;

/// The room for what the kernel says of a frame.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; CONTROL]);

// SAFETY: computes a length from a length.
const CONTROL: usize = unsafe { libc::CMSG_SPACE(size_of::<tpacket_auxdata>() as u32) } as usize;

/// What a system call reads of a batch.
struct Slots {
    headers: [mmsghdr; BATCH],
    vectors: [iovec; BATCH],
    controls: [Control; BATCH],
}

// SAFETY: its pointers are written anew before each call, and are not followed by anybody else.
unsafe impl Send for Slots {}

/// An AF_PACKET socket of an interface.
pub struct PacketSocket {
    socket: OwnedFd,
    slots: Box<Slots>,
    /// Frames to receive into.
    spare: Vec<Buffer>,
    /// How many of them there are to be.
    batch: usize,
    /// Frames to be sent.
    queue: VecDeque<Buffer>,
    most_queued: u32,
    /// How often the first of them was offered in vain.
    tries: u32,
    /// What is counted here: frames too long, and those for which there was no free frame.
    dropped: u64,
    failed: u64,
    /// What the kernel counted, which forgets when it is asked.
    kernel_dropped: Cell<u64>,
}

impl PacketSocket {
    /// Opens a socket of an interface for the router.
    ///
    /// # Errors
    /// Permission is missing, or the interface is gone.
    pub fn open(facts: &Facts, share: Share) -> Result<Self, Fault> {
        let socket = socket(facts, Shown::Router(&facts.addresses))?;
        bind(&socket, facts)?;
        Ok(Self {
            socket,
            slots: Box::new(Slots::new()),
            spare: Vec::with_capacity(BATCH),
            batch: (share.receive as usize).clamp(1, BATCH),
            queue: VecDeque::with_capacity(share.ring as usize),
            most_queued: share.ring,
            tries: 0,
            dropped: 0,
            failed: 0,
            kernel_dropped: Cell::new(0),
        })
    }

    /// See [`Device::receive`](super::Device::receive).
    ///
    /// # Errors
    /// The interface is down or gone.
    pub fn receive(&mut self, arena: &mut Arena, into: &mut Vec<Received>, most: usize) -> io::Result<usize> {
        while self.spare.len() < self.batch {
            let Some(mut buffer) = arena.take(HEADROOM) else { break };
            let fits = buffer.resize(LONGEST);
            debug_assert!(fits);
            self.spare.push(buffer);
        }
        if self.spare.is_empty() {
            return self.discard(most).map(|()| 0);
        }
        let count = self.spare.len().min(most);
        for (place, buffer) in self.spare[..count].iter_mut().enumerate() {
            self.slots.point(place, arena.bytes_mut(buffer));
        }
        let before = into.len();
        let got = self.slots.receive(&self.socket, count)?;
        for (place, buffer) in self.spare.drain(..got).enumerate() {
            match self.slots.received(place, buffer, arena) {
                Ok(received) => into.push(received),
                Err(buffer) => {
                    self.dropped += 1;
                    arena.give(buffer);
                }
            }
        }
        Ok(into.len() - before)
    }

    /// No frame is free: what has come in is let go, as it is where an AF_XDP socket has no frames.
    fn discard(&mut self, most: usize) -> io::Result<()> {
        let count = most.min(BATCH);
        for place in 0..count {
            self.slots.point(place, &mut []);
        }
        self.dropped += self.slots.receive(&self.socket, count)? as u64;
        Ok(())
    }

    /// See [`Device::room`](super::Device::room).
    pub fn room(&mut self, _arena: &mut Arena) -> u32 {
        self.most_queued - self.queue.len() as u32
    }

    /// See [`Device::send`](super::Device::send).
    ///
    /// # Errors
    /// There is no room; the frame comes back.
    pub fn send(&mut self, buffer: Buffer) -> Result<(), Buffer> {
        if self.queue.len() as u32 == self.most_queued {
            return Err(buffer);
        }
        self.queue.push_back(buffer);
        Ok(())
    }

    /// See [`Device::flush`](super::Device::flush).
    ///
    /// # Errors
    /// The interface is down or gone.
    pub fn flush(&mut self, arena: &mut Arena) -> io::Result<()> {
        while !self.queue.is_empty() {
            let count = self.queue.len().min(BATCH);
            for (place, buffer) in self.queue.iter_mut().take(count).enumerate() {
                self.slots.point(place, arena.bytes_mut(buffer));
            }
            match self.slots.send(&self.socket, count) {
                Ok(sent) => {
                    self.queue.drain(..sent).for_each(|buffer| arena.give(buffer));
                    self.tries = 0;
                }
                Err(Errno::INTR) => {}
                // The device has no room: its turn comes with the next call.
                Err(Errno::AGAIN | Errno::NOBUFS) if self.tries < TRIES => {
                    self.tries += 1;
                    return Ok(());
                }
                Err(error @ (Errno::NETDOWN | Errno::NXIO | Errno::NODEV)) => return Err(error.into()),
                // The first of them cannot be sent, as one that is too long: it must not hold up the others.
                Err(_) => self.let_go(arena),
            }
        }
        Ok(())
    }

    fn let_go(&mut self, arena: &mut Arena) {
        self.tries = 0;
        self.failed += 1;
        if let Some(buffer) = self.queue.pop_front() {
            arena.give(buffer);
        }
    }

    /// How many frames that were flushed the device has not taken yet: another flush offers them again.
    #[must_use]
    pub fn unsent(&self) -> u32 {
        self.queue.len() as u32
    }

    /// See [`Device::counts`](super::Device::counts).
    ///
    /// # Errors
    /// The socket cannot be asked.
    pub fn counts(&self) -> io::Result<KernelCounts> {
        let mut counted = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        option::get(&self.socket, SOL_PACKET, libc::PACKET_STATISTICS, &mut counted)?;
        self.kernel_dropped.set(self.kernel_dropped.get() + u64::from(counted.tp_drops));
        Ok(KernelCounts {
            receive_dropped: self.kernel_dropped.get() + self.dropped,
            transmit_failed: self.failed,
        })
    }

    /// The kernel has these addresses now: frames for them are left to it.
    ///
    /// # Errors
    /// There are more of them than a filter holds.
    pub fn leave_to_kernel(&mut self, addresses: &[std::net::IpAddr]) -> io::Result<()> {
        filter::attach(self.socket.as_fd(), Shown::Router(addresses))
    }

    /// Ends it: gives all frames back.
    pub fn close(self, arena: &mut Arena) {
        self.spare.into_iter().chain(self.queue).for_each(|buffer| arena.give(buffer));
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Slots {
    fn new() -> Self {
        Self {
            // SAFETY: plain data, for which zeros are valid.
            headers: unsafe { core::mem::zeroed() },
            // SAFETY: as above.
            vectors: unsafe { core::mem::zeroed() },
            controls: [Control([0; CONTROL]); BATCH],
        }
    }

    /// The next call finds these bytes at a place; what else it says of them goes to the control of that place.
    fn point(&mut self, place: usize, bytes: &mut [u8]) {
        self.vectors[place] = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    }

    /// Receives into the first `count` places; how many frames came.
    fn receive(&mut self, socket: &OwnedFd, count: usize) -> io::Result<usize> {
        for place in 0..count {
            let header = &mut self.headers[place].msg_hdr;
            header.msg_iov = &raw mut self.vectors[place];
            header.msg_iovlen = 1;
            header.msg_control = (&raw mut self.controls[place]).cast();
            header.msg_controllen = CONTROL as _;
            header.msg_flags = 0;
        }
        let (headers, none) = (self.headers.as_mut_ptr(), core::ptr::null_mut());
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: the headers, vectors and controls are of this object, and the bytes of frames that the caller has and
        // does not touch meanwhile; each says how long it is.
        let got = unsafe { libc::recvmmsg(socket.as_raw_fd(), headers, count as u32, flags as _, none) };
        match checked(got) {
            Ok(got) => Ok(got as usize),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// What came to a place; the frame itself where it is too long.
    fn received(&self, place: usize, mut buffer: Buffer, arena: &mut Arena) -> Result<Received, Buffer> {
        let header = &self.headers[place];
        if header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0 || !buffer.resize(header.msg_len) {
            return Err(buffer);
        }
        let said = self.said(place);
        let status = said.map_or(0, |said| said.tp_status);
        if let Some(said) = said.filter(|said| said.tp_status & libc::TP_STATUS_VLAN_VALID != 0) {
            put_tag_back(&mut buffer, arena, said);
        }
        Ok(Received { buffer, partial: Some(status & libc::TP_STATUS_CSUMNOTREADY != 0) })
    }

    /// What the kernel says of the frame at a place.
    fn said(&self, place: usize) -> Option<tpacket_auxdata> {
        let header = &raw const self.headers[place].msg_hdr;
        // SAFETY: the kernel has filled in the control of this header, and said how long it is.
        unsafe {
            let control = libc::CMSG_FIRSTHDR(header).as_ref()?;
            let fits =
                control.cmsg_len as usize >= libc::CMSG_LEN(size_of::<tpacket_auxdata>() as u32) as usize;
            let known = control.cmsg_level == SOL_PACKET && control.cmsg_type == libc::PACKET_AUXDATA;
            (fits && known).then(|| libc::CMSG_DATA(control).cast::<tpacket_auxdata>().read_unaligned())
        }
    }

    /// Sends what the first `count` places point to; how many frames were taken.
    fn send(&mut self, socket: &OwnedFd, count: usize) -> Result<usize, Errno> {
        for place in 0..count {
            let header = &mut self.headers[place].msg_hdr;
            header.msg_iov = &raw mut self.vectors[place];
            header.msg_iovlen = 1;
            header.msg_control = core::ptr::null_mut();
            header.msg_controllen = 0;
        }
        let headers = self.headers.as_mut_ptr();
        // SAFETY: as in `receive`; the kernel only reads the bytes.
        let sent =
            unsafe { libc::sendmmsg(socket.as_raw_fd(), headers, count as u32, libc::MSG_DONTWAIT as _) };
        match checked(sent) {
            Ok(sent) => Ok(sent as usize),
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }
}

/// The kernel took a VLAN tag off: puts it back behind the addresses.
fn put_tag_back(buffer: &mut Buffer, arena: &mut Arena, said: tpacket_auxdata) {
    let known = said.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let ethertype = if known { said.tp_vlan_tpid } else { 0x8100 };
    if buffer.length() < 12 || !buffer.shift(-4) {
        return;
    }
    let bytes = arena.bytes_mut(buffer);
    bytes.copy_within(4..16, 0);
    bytes[12..14].copy_from_slice(&ethertype.to_be_bytes());
    bytes[14..16].copy_from_slice(&said.tp_vlan_tci.to_be_bytes());
}

/// A socket that is shown what it is for, once it is bound to an interface.
pub(super) fn socket(facts: &Facts, shown: Shown<'_>) -> Result<OwnedFd, Fault> {
    let failed = |what| move |error| Fault::system(&facts.name, what, CAPABILITY, error);
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // Without a protocol: nothing comes in before it is bound.
    // SAFETY: a plain system call, whose result is checked.
    let socket = owned(unsafe { libc::socket(libc::AF_PACKET, kind, 0) });
    let socket = socket.map_err(failed("opening an AF_PACKET socket"))?;
    prepare(&socket, shown).map_err(failed("preparing an AF_PACKET socket"))?;
    Ok(socket)
}

/// Has a socket receive what comes in by an interface. Rings are made before: the kernel lets a socket rest while it makes
/// them, and since Linux 6.16 forgets to wake it if the interface goes up meanwhile.
pub(super) fn bind(socket: &OwnedFd, facts: &Facts) -> Result<(), Fault> {
    bind_to(socket, facts.index)
        .map_err(|error| Fault::system(&facts.name, "binding an AF_PACKET socket", CAPABILITY, error))
}

fn prepare(socket: &OwnedFd, shown: Shown<'_>) -> io::Result<()> {
    filter::attach(socket.as_fd(), shown)?;
    option::set(socket, SOL_PACKET, libc::PACKET_AUXDATA, &1)?;
    // Since Linux 4.20.
    option::set(socket, SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)?;
    // What may be refused only costs speed.
    let _ = option::set(socket, SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1);
    for (forced, asked) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
    {
        let _ = option::set(socket, SOL_SOCKET, forced, &KERNEL_BUFFER)
            .or_else(|_| option::set(socket, SOL_SOCKET, asked, &KERNEL_BUFFER));
    }
    Ok(())
}

fn bind_to(socket: &OwnedFd, index: u32) -> io::Result<()> {
    // SAFETY: plain data, for which zeros are valid.
    let mut address: libc::sockaddr_ll = unsafe { core::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as i32;
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is initialised, and `length` bytes long.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }).map(|_| ())
}
