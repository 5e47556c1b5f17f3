//! An AF_XDP socket on one queue of an interface: frames come in and leave through rings in shared memory.
//!
//! ```text
//! arena --fill--> kernel --receive--> us --transmit--> kernel --completion--> arena
//! ```
//!
//! Which frames the kernel has is noted (`Held`); what it gives back is believed only if it had it.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/networking/af_xdp.rst |
//! | Work | O(frames) a call; one system call to send a batch, none to receive |
//! | Memory | the rings, sized by [`Share`] |
//! | Units | frames; bytes |
//! | Departs from the source | the umem is registered for each socket instead of shared (XDP_SHARED_UMEM), for which every socket would have to be of the mode of the first |

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use libc::{SOL_XDP, c_int, c_void, xdp_desc};
use rustix::io::Errno;
use weir_plane::Received;
use weir_plane::arena::{Arena, Buffer, FRAME};
use weir_plane::snapshot::KernelCounts;

use super::fault::Fault;
use super::held::Held;
use super::link::{Facts, checked, owned};
use super::ring::{Layout, Reader, Writer};
use super::{Share, option};

const CAPABILITY: &str = "CAP_NET_RAW and, for the umem, CAP_IPC_LOCK";
/// The shortest frame that can be sent: an Ethernet header.
const SHORTEST: u32 = 14;
/// How often a queue that is taken is asked for again, and after which pause: a second in all.
const BIND_TRIES: u32 = 100;
const BIND_PAUSE: Duration = Duration::from_millis(10);
/// How many frames the kernel sends at most for one system call, where that can be set (since Linux 6.17).
const XDP_MAX_TX_SKB_BUDGET: c_int = 9;
/// The bytes of frames that may be on their way at once in copies, as long as a ring has of them.
const SEND_BUFFER: c_int = 4 << 20;
/// The number of calls that find nothing after which the kernel is asked whether the device still exists.
const IDLE_CALLS: u32 = 256;

/// How long a queue that somebody has is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// A second.
    Long,
    /// Not at all: packets wait meanwhile.
    None,
}

/// An AF_XDP socket.
pub(super) struct Queue {
    receive: Reader<xdp_desc>,
    transmit: Writer<xdp_desc>,
    fill: Writer<u64>,
    completion: Reader<u64>,
    /// How many frames the kernel has to receive into, and how many it is to have.
    filled: u32,
    share: Share,
    /// How many it has to send.
    sending: u32,
    /// Frames too short to be sent, until they go back to the arena.
    short: Vec<Buffer>,
    /// Frames that the device did not take, besides those that the kernel counts.
    failed: u64,
    idle: Cell<u32>,
    zero_copy: bool,
    number: u32,
    socket: OwnedFd,
}

impl Queue {
    /// Opens a socket on the queue of this number.
    ///
    /// # Errors
    /// The kernel has no AF_XDP, permission is missing, or somebody else has the queue.
    pub(super) fn open(
        facts: &Facts,
        number: u32,
        share: Share,
        patience: Patience,
        arena: &Arena,
    ) -> Result<Self, Fault> {
        let failed = |what| move |error| Fault::system(&facts.name, what, CAPABILITY, error);
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: a plain system call, whose result is checked.
        let socket = owned(unsafe { libc::socket(libc::AF_XDP, kind, 0) });
        let socket = socket.map_err(failed("opening an AF_XDP socket"))?;
        register(&socket, arena).map_err(failed("giving the kernel the memory of frames (XDP_UMEM_REG)"))?;
        let rings = Rings::map(&socket, share).map_err(failed("making the rings of an AF_XDP socket"))?;
        let zero_copy = bind(&socket, facts.index, number, patience)
            .map_err(|error| bind_failed(facts, number, error))?;
        Ok(Self {
            receive: rings.receive,
            transmit: rings.transmit,
            fill: rings.fill,
            completion: rings.completion,
            filled: 0,
            share,
            sending: 0,
            short: Vec::new(),
            failed: 0,
            idle: Cell::new(0),
            zero_copy,
            number,
            socket,
        })
    }

    /// Appends to `into` what has come in, at most `most` frames.
    pub(super) fn receive(
        &mut self,
        held: &mut Held,
        arena: &mut Arena,
        into: &mut Vec<Received>,
        most: usize,
    ) {
        let count = self.receive.ready().min(u32::try_from(most).unwrap_or(u32::MAX));
        let filled = &mut self.filled;
        self.receive.read(count, |descriptor| {
            let taken = held.take_back(arena, descriptor.addr, descriptor.len);
            *filled -= u32::from(taken.is_some());
            into.extend(taken.map(|buffer| Received { buffer, partial: None }));
        });
        self.top_up(held, arena);
    }

    /// See [`Device::room`](super::Device::room).
    pub(super) fn room(&mut self, held: &mut Held, arena: &mut Arena) -> u32 {
        self.reclaim(held, arena);
        self.transmit.room().min(self.share.ring - self.sending)
    }

    /// See [`Device::send`](super::Device::send).
    ///
    /// # Errors
    /// There is no room; the frame comes back.
    pub(super) fn send(&mut self, held: &mut Held, buffer: Buffer) -> Result<(), Buffer> {
        if self.sending == self.share.ring || self.transmit.room() == 0 {
            return Err(buffer);
        }
        if buffer.length() < SHORTEST {
            self.failed += 1;
            self.short.push(buffer);
            return Ok(());
        }
        self.sending += 1;
        let (addr, len) = held.hand(buffer);
        let written = self.transmit.push(xdp_desc { addr, len, options: 0 });
        debug_assert!(written, "there was room");
        Ok(())
    }

    /// See [`Device::flush`](super::Device::flush).
    ///
    /// # Errors
    /// The interface is down or gone.
    pub(super) fn flush(&mut self, held: &mut Held, arena: &mut Arena) -> io::Result<()> {
        self.transmit.publish();
        // Each call sends something, or lets one frame go, or is the last.
        let mut calls = self.transmit.unread() + 1;
        while calls > 0 && self.transmit.unread() > 0 && self.transmit.needs_wakeup() {
            calls -= 1;
            let before = self.transmit.unread();
            match self.tell() {
                // The device did not take a frame, and the kernel stopped behind it.
                Err(Errno::BUSY) => self.failed += 1,
                // It has done as much as it does at once, or has no memory now.
                Ok(()) | Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => {
                    if self.transmit.unread() == before {
                        break;
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.reclaim(held, arena);
        Ok(())
    }

    /// How many frames that were flushed the kernel has not processed yet: another flush reminds it.
    pub(super) fn unsent(&self) -> u32 {
        self.transmit.unread()
    }

    /// See [`Device::counts`](super::Device::counts).
    ///
    /// # Errors
    /// The socket cannot be asked.
    pub(super) fn counts(&self) -> io::Result<KernelCounts> {
        let mut counted = libc::xdp_statistics {
            rx_dropped: 0,
            rx_invalid_descs: 0,
            tx_invalid_descs: 0,
            rx_ring_full: 0,
            rx_fill_ring_empty_descs: 0,
            tx_ring_empty_descs: 0,
        };
        option::get(&self.socket, SOL_XDP, libc::XDP_STATISTICS, &mut counted)?;
        Ok(KernelCounts {
            receive_dropped: counted.rx_dropped + counted.rx_ring_full + counted.rx_invalid_descs,
            transmit_failed: counted.tx_invalid_descs + self.failed,
        })
    }

    /// Which queue of the interface it is.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Whether frames pass without being copied.
    pub(super) fn is_zero_copy(&self) -> bool {
        self.zero_copy
    }

    /// Closes the socket; what the kernel has of it is in [`Held`].
    pub(super) fn close(self, arena: &mut Arena) {
        self.short.into_iter().for_each(|buffer| arena.give(buffer));
    }

    /// Gives the kernel free frames to receive into, up to its share.
    pub(super) fn top_up(&mut self, held: &mut Held, arena: &mut Arena) {
        let before = self.filled;
        let wanted = self.share.receive.saturating_sub(self.filled);
        for _ in 0..wanted.min(if wanted > 0 { self.fill.room() } else { 0 }) {
            let Some(buffer) = arena.take(0) else { break };
            let written = self.fill.push(held.hand(buffer).0);
            debug_assert!(written, "there is room");
            self.filled += 1;
        }
        if self.filled > before {
            self.fill.publish();
        }
        // Only drivers of zero-copy mode ask.
        if self.fill.needs_wakeup() {
            let _ = self.ask();
        }
    }

    /// Gives frames that have been sent back to the arena.
    fn reclaim(&mut self, held: &mut Held, arena: &mut Arena) {
        let sending = &mut self.sending;
        self.completion.read(self.completion.ready(), |address| {
            if let Some(buffer) = held.take_back(arena, address, 0) {
                *sending -= 1;
                arena.give(buffer);
            }
        });
        self.short.drain(..).for_each(|buffer| arena.give(buffer));
    }

    /// Tells the kernel that there are frames to send.
    fn tell(&self) -> Result<(), Errno> {
        let socket = self.socket.as_raw_fd();
        // SAFETY: sends no bytes; the kernel processes the ring instead.
        let told =
            unsafe { libc::sendto(socket, core::ptr::null(), 0, libc::MSG_DONTWAIT, core::ptr::null(), 0) };
        if told < 0 { Err(last()) } else { Ok(()) }
    }

    /// Lets the kernel process the ring of frames to receive into, and poll the device.
    fn ask(&self) -> Result<(), Errno> {
        let (socket, none) = (self.socket.as_raw_fd(), core::ptr::null_mut::<c_void>());
        // SAFETY: receives no bytes; the kernel processes the ring instead.
        let asked = unsafe {
            libc::recvfrom(socket, none, 0, libc::MSG_DONTWAIT, core::ptr::null_mut(), core::ptr::null_mut())
        };
        if asked < 0 { Err(last()) } else { Ok(()) }
    }

    /// Something has come in, by this queue or another.
    pub(super) fn is_busy(&self) {
        self.idle.set(0);
    }

    /// Now and then, when nothing comes in, asks whether the device is still there: polling does not tell.
    ///
    /// # Errors
    /// It is down or gone.
    pub(super) fn look_around(&self) -> io::Result<()> {
        self.idle.set((self.idle.get() + 1) % IDLE_CALLS);
        if self.idle.get() != 1 {
            return Ok(());
        }
        match self.ask() {
            Err(error @ (Errno::NXIO | Errno::NETDOWN | Errno::NODEV)) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The rings of a socket.
struct Rings {
    receive: Reader<xdp_desc>,
    transmit: Writer<xdp_desc>,
    fill: Writer<u64>,
    completion: Reader<u64>,
}

impl Rings {
    fn map(socket: &OwnedFd, share: Share) -> io::Result<Self> {
        let received = share.receive.next_power_of_two();
        // The kernel says late what it has taken out, up to all of it: twice the share always has room for the rest.
        let filled = 2 * received;
        for (ring, size) in [
            (libc::XDP_RX_RING, received),
            (libc::XDP_TX_RING, share.ring),
            (libc::XDP_UMEM_FILL_RING, filled),
            (libc::XDP_UMEM_COMPLETION_RING, share.ring),
        ] {
            option::set(socket, SOL_XDP, ring, &size)?;
        }
        // Neither is needed, and the first is not known before Linux 6.17: with them fewer calls send as much.
        let _ = option::set(socket, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &share.ring.max(32));
        // Copies of a whole ring may be on their way at once.
        let _ = option::set(socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER);
        // SAFETY: plain data, for which zeros are valid.
        let mut offsets: libc::xdp_mmap_offsets = unsafe { core::mem::zeroed() };
        option::get(socket, SOL_XDP, libc::XDP_MMAP_OFFSETS, &mut offsets)?;
        let fd = socket.as_fd();
        Ok(Self {
            receive: Reader::map(fd, libc::XDP_PGOFF_RX_RING as u64, received, layout(offsets.rx))?,
            transmit: Writer::map(fd, libc::XDP_PGOFF_TX_RING as u64, share.ring, layout(offsets.tx))?,
            fill: Writer::map(fd, libc::XDP_UMEM_PGOFF_FILL_RING, filled, layout(offsets.fr))?,
            completion: Reader::map(
                fd,
                libc::XDP_UMEM_PGOFF_COMPLETION_RING,
                share.ring,
                layout(offsets.cr),
            )?,
        })
    }
}

fn layout(offsets: libc::xdp_ring_offset) -> Layout {
    Layout {
        producer: offsets.producer,
        consumer: offsets.consumer,
        flags: offsets.flags,
        entries: offsets.desc,
    }
}

/// Makes the arena the socket's umem.
fn register(socket: &OwnedFd, arena: &Arena) -> io::Result<()> {
    let (base, length) = arena.region();
    // SAFETY: plain data, for which zeros are valid.
    let mut umem: libc::xdp_umem_reg = unsafe { core::mem::zeroed() };
    umem.addr = base.as_ptr() as u64;
    umem.len = length as u64;
    umem.chunk_size = FRAME;
    option::set(socket, SOL_XDP, libc::XDP_UMEM_REG, &umem)
}

/// Binds the socket to a queue; whether in zero-copy mode.
fn bind(socket: &OwnedFd, index: u32, queue: u32, patience: Patience) -> io::Result<bool> {
    let with = |mode| {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_USE_NEED_WAKEUP | mode,
            sxdp_ifindex: index,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address is initialised, and `length` bytes long.
        checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
    };
    let either = || with(libc::XDP_ZEROCOPY).map(|_| true).or_else(|_| with(libc::XDP_COPY).map(|_| false));
    // The kernel takes its time to clear up behind a socket whose process was killed.
    for _ in 0..if patience == Patience::Long { BIND_TRIES } else { 0 } {
        match either() {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(BIND_PAUSE),
            done => return done,
        }
    }
    either()
}

fn bind_failed(facts: &Facts, queue: u32, error: io::Error) -> Fault {
    let busy = error.raw_os_error() == Some(libc::EBUSY);
    let what = format!("binding an AF_XDP socket to its queue {queue}");
    let fault = Fault::system(&facts.name, &what, CAPABILITY, error);
    if busy { fault.remedy("another AF_XDP socket has it: end that program") } else { fault }
}

fn last() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}
