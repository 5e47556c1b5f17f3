//! An AF_XDP socket: frames come in and leave through rings in shared memory.
//!
//! ```text
//! arena --fill--> kernel --receive--> us --transmit--> kernel --completion--> arena
//! ```
//!
//! The arena is the umem of each socket: all know a frame by the same place in it, so that one that came in by one
//! interface leaves by another without being moved. Each socket registers it for itself, and so depends on no other:
//! one may be in zero-copy mode beside one that copies, and one that is opened anew does not need its siblings.
//! The socket notes which frames the kernel has; what the kernel gives back is believed only if it had it, and
//! [`XdpSocket::close`] takes back the rest.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/networking/af_xdp.rst |
//! | Work | O(frames) a call; one system call to send a batch, none to receive |
//! | Memory | the rings, sized by [`Share`]; one byte for each frame of the arena |
//! | Units | frames; bytes |
//! | Departs from the source | the umem is registered for each socket instead of shared (XDP_SHARED_UMEM), for which every socket would have to be of the mode of the first |

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use libc::{SOL_XDP, c_int, c_void, xdp_desc};
use rustix::io::Errno;

use super::attach::Mode;
use super::fault::{Fault, Kind};
use super::link::{Facts, checked, owned};
use super::program::Program;
use super::ring::{Layout, Reader, Writer};
use super::{KernelCounts, Received, Share};
use crate::arena::{Arena, Buffer, FRAME};

const CAPABILITY: &str = "CAP_NET_RAW and, for the umem, CAP_IPC_LOCK";
/// The shortest frame that can be sent: an Ethernet header.
const SHORTEST: u32 = 14;
/// How often a queue that is taken is asked for again, and after which pause: a second in all.
const BIND_TRIES: u32 = 100;
const BIND_PAUSE: Duration = Duration::from_millis(10);
/// How many frames the kernel sends at most for one system call, where it can be told (since Linux 6.17).
const XDP_MAX_TX_SKB_BUDGET: c_int = 9;
/// After so many calls that found nothing the kernel is asked whether the device is still there.
const IDLE_CALLS: u32 = 256;

/// An AF_XDP socket on the one queue of an interface.
pub struct XdpSocket {
    receive: Reader<xdp_desc>,
    transmit: Writer<xdp_desc>,
    fill: Writer<u64>,
    completion: Reader<u64>,
    /// Which frames the kernel has.
    held: Vec<bool>,
    /// How many of them it has to receive into, and how many it is to have.
    filled: u32,
    share: Share,
    /// How many of them it has to send.
    sending: u32,
    /// Frames too short to be sent, until they go back to the arena.
    short: Vec<Buffer>,
    /// Frames that the device did not take, beside those that the kernel counts.
    failed: u64,
    idle: Cell<u32>,
    zero_copy: bool,
    // The program goes first, so that no frame is sent to a socket that is no more.
    program: Program,
    socket: OwnedFd,
}

impl XdpSocket {
    /// Opens a socket on the queue of an interface, and lets `program` hand it frames.
    ///
    /// # Errors
    /// The kernel has no AF_XDP, permission is missing, or the interface has more queues than one.
    pub fn open(facts: &Facts, program: Program, share: Share, arena: &mut Arena) -> Result<Self, Fault> {
        let failed = |what| move |error| Fault::system(&facts.name, what, CAPABILITY, error);
        one_queue(facts)?;
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: a plain system call, whose result is checked.
        let socket = owned(unsafe { libc::socket(libc::AF_XDP, kind, 0) });
        let socket = socket.map_err(failed("opening an AF_XDP socket"))?;
        register(&socket, arena).map_err(failed("giving the kernel the memory of frames (XDP_UMEM_REG)"))?;
        let rings = Rings::map(&socket, share).map_err(failed("making the rings of an AF_XDP socket"))?;
        let zero_copy = bind(&socket, facts.index).map_err(|error| bind_failed(facts, error))?;
        let mut opened = Self {
            receive: rings.receive,
            transmit: rings.transmit,
            fill: rings.fill,
            completion: rings.completion,
            held: vec![false; arena.frames() as usize],
            filled: 0,
            share,
            sending: 0,
            short: Vec::new(),
            failed: 0,
            idle: Cell::new(0),
            zero_copy,
            program,
            socket,
        };
        opened.top_up(arena);
        let socket = opened.socket.as_fd();
        opened.program.register(0, socket).map_err(failed("joining the socket to its program"))?;
        Ok(opened)
    }

    /// See [`Device::receive`](super::Device::receive).
    ///
    /// # Errors
    /// The interface is down or gone.
    pub fn receive(&mut self, arena: &mut Arena, into: &mut Vec<Received>, most: usize) -> io::Result<usize> {
        let count = self.receive.ready().min(u32::try_from(most).unwrap_or(u32::MAX));
        let before = into.len();
        let (held, filled) = (&mut self.held, &mut self.filled);
        self.receive.read(count, |descriptor| {
            let taken = take_back(held, arena, descriptor.addr, descriptor.len);
            *filled -= u32::from(taken.is_some());
            into.extend(taken.map(|buffer| Received { buffer, partial: None }));
        });
        self.top_up(arena);
        if count == 0 {
            self.look_around()?;
        } else {
            self.idle.set(0);
        }
        Ok(into.len() - before)
    }

    /// See [`Device::room`](super::Device::room).
    pub fn room(&mut self, arena: &mut Arena) -> u32 {
        self.reclaim(arena);
        self.transmit.room().min(self.share.ring - self.sending)
    }

    /// See [`Device::send`](super::Device::send).
    ///
    /// # Errors
    /// There is no room; the frame comes back.
    pub fn send(&mut self, buffer: Buffer) -> Result<(), Buffer> {
        if self.sending == self.share.ring || self.transmit.room() == 0 {
            return Err(buffer);
        }
        if buffer.length() < SHORTEST {
            self.failed += 1;
            self.short.push(buffer);
            return Ok(());
        }
        self.held[buffer.frame() as usize] = true;
        self.sending += 1;
        let (addr, len) = buffer.into_raw();
        let written = self.transmit.push(xdp_desc { addr, len, options: 0 });
        debug_assert!(written, "there was room");
        Ok(())
    }

    /// See [`Device::flush`](super::Device::flush).
    ///
    /// # Errors
    /// The interface is down or gone.
    pub fn flush(&mut self, arena: &mut Arena) -> io::Result<()> {
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
        self.reclaim(arena);
        Ok(())
    }

    /// How many frames that were flushed the kernel has not looked at yet: another flush reminds it.
    #[must_use]
    pub fn unsent(&self) -> u32 {
        self.transmit.unread()
    }

    /// See [`Device::counts`](super::Device::counts).
    ///
    /// # Errors
    /// The socket cannot be asked.
    pub fn counts(&self) -> io::Result<KernelCounts> {
        let mut counted = libc::xdp_statistics {
            rx_dropped: 0,
            rx_invalid_descs: 0,
            tx_invalid_descs: 0,
            rx_ring_full: 0,
            rx_fill_ring_empty_descs: 0,
            tx_ring_empty_descs: 0,
        };
        read_option(&self.socket, libc::XDP_STATISTICS, &mut counted)?;
        Ok(KernelCounts {
            receive_dropped: counted.rx_dropped + counted.rx_ring_full + counted.rx_invalid_descs,
            transmit_failed: counted.tx_invalid_descs + self.failed,
        })
    }

    /// See [`Device::means`](super::Device::means).
    #[must_use]
    pub fn means(&self) -> &'static str {
        match (self.zero_copy, self.program.mode()) {
            (true, _) => "AF_XDP, zero copy",
            (false, Mode::Driver) => "AF_XDP, copy",
            (false, Mode::Generic) => "AF_XDP, copy, generic",
        }
    }

    /// The program that hands it frames.
    pub fn program(&mut self) -> &mut Program {
        &mut self.program
    }

    /// Ends it in order: detaches the program, pinned or not, and gives all frames back.
    ///
    /// # Errors
    /// The program cannot be detached.
    pub fn close(self, arena: &mut Arena) -> Result<(), Fault> {
        let Self { program, socket, held, short, .. } = self;
        let detached = program.detach();
        drop(socket);
        give_all(held, short, arena);
        detached
    }

    /// Ends it because its interface is gone: gives all frames back, and leaves a pinned program where it is.
    pub fn abandon(self, arena: &mut Arena) {
        let Self { program, socket, held, short, .. } = self;
        drop((program, socket));
        give_all(held, short, arena);
    }

    /// Gives the kernel free frames to receive into, up to its share.
    fn top_up(&mut self, arena: &mut Arena) {
        let before = self.filled;
        let wanted = self.share.receive.saturating_sub(self.filled);
        for _ in 0..wanted.min(if wanted > 0 { self.fill.room() } else { 0 }) {
            let Some(buffer) = arena.take(0) else { break };
            self.held[buffer.frame() as usize] = true;
            let written = self.fill.push(buffer.into_raw().0);
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
    fn reclaim(&mut self, arena: &mut Arena) {
        let (held, sending) = (&mut self.held, &mut self.sending);
        self.completion.read(self.completion.ready(), |address| {
            if let Some(buffer) = take_back(held, arena, address, 0) {
                *sending -= 1;
                arena.give(buffer);
            }
        });
        self.short.drain(..).for_each(|buffer| arena.give(buffer));
    }

    /// Tells the kernel that there are frames to send.
    fn tell(&self) -> Result<(), Errno> {
        let socket = self.socket.as_raw_fd();
        // SAFETY: sends no bytes; the kernel looks at the ring instead.
        let told =
            unsafe { libc::sendto(socket, core::ptr::null(), 0, libc::MSG_DONTWAIT, core::ptr::null(), 0) };
        if told < 0 { Err(last()) } else { Ok(()) }
    }

    /// Lets the kernel look at the ring of frames to receive into, and at the device.
    fn ask(&self) -> Result<(), Errno> {
        let (socket, none) = (self.socket.as_raw_fd(), core::ptr::null_mut::<c_void>());
        // SAFETY: receives no bytes; the kernel looks at the ring instead.
        let asked = unsafe {
            libc::recvfrom(socket, none, 0, libc::MSG_DONTWAIT, core::ptr::null_mut(), core::ptr::null_mut())
        };
        if asked < 0 { Err(last()) } else { Ok(()) }
    }

    /// Now and then, when nothing comes in, asks whether the device is still there: polling does not tell.
    fn look_around(&self) -> io::Result<()> {
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

impl AsFd for XdpSocket {
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
        for (option, size) in [
            (libc::XDP_RX_RING, received),
            (libc::XDP_TX_RING, share.ring),
            (libc::XDP_UMEM_FILL_RING, filled),
            (libc::XDP_UMEM_COMPLETION_RING, share.ring),
        ] {
            write_option(socket, option, &size)?;
        }
        // Neither is needed, and the first is not known before Linux 6.17: with them fewer calls send as much.
        let _ = write_option(socket, XDP_MAX_TX_SKB_BUDGET, &share.ring.max(32));
        let _ = socket_buffer(socket);
        // SAFETY: plain data, for which zeros are valid.
        let mut offsets: libc::xdp_mmap_offsets = unsafe { core::mem::zeroed() };
        read_option(socket, libc::XDP_MMAP_OFFSETS, &mut offsets)?;
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

/// A frame that the kernel gives back; `None` where it had it not, which the kernel never does.
fn take_back(held: &mut [bool], arena: &Arena, address: u64, length: u32) -> Option<Buffer> {
    let buffer = arena.from_raw(address, length)?;
    core::mem::take(&mut held[buffer.frame() as usize]).then_some(buffer)
}

fn give_all(held: Vec<bool>, short: Vec<Buffer>, arena: &mut Arena) {
    short.into_iter().for_each(|buffer| arena.give(buffer));
    for (frame, _) in held.iter().enumerate().filter(|(_, held)| **held) {
        if let Some(buffer) = arena.from_raw(frame as u64 * u64::from(FRAME), 0) {
            arena.give(buffer);
        }
    }
}

/// More queues would need a socket each.
fn one_queue(facts: &Facts) -> Result<(), Fault> {
    if facts.queues.receive == 1 {
        return Ok(());
    }
    let what = format!("{} queues receive, and AF_XDP serves 1", facts.queues.receive);
    Err(Fault::new(
        Kind::Unsupported,
        &facts.name,
        what,
        format!("run `{}`, or use io = \"af_packet\"", facts.one_queue()),
    ))
}

/// Makes the arena the socket's umem.
fn register(socket: &OwnedFd, arena: &Arena) -> io::Result<()> {
    let (base, length) = arena.region();
    // SAFETY: plain data, for which zeros are valid.
    let mut umem: libc::xdp_umem_reg = unsafe { core::mem::zeroed() };
    umem.addr = base.as_ptr() as u64;
    umem.len = length as u64;
    umem.chunk_size = FRAME;
    write_option(socket, libc::XDP_UMEM_REG, &umem)
}

/// Binds the socket to queue 0; whether in zero-copy mode.
fn bind(socket: &OwnedFd, index: u32) -> io::Result<bool> {
    let with = |mode| {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_USE_NEED_WAKEUP | mode,
            sxdp_ifindex: index,
            sxdp_queue_id: 0,
            sxdp_shared_umem_fd: 0,
        };
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address is initialised, and `length` bytes long.
        checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
    };
    let either = || with(libc::XDP_ZEROCOPY).map(|_| true).or_else(|_| with(libc::XDP_COPY).map(|_| false));
    // The kernel takes its time to clear up behind a socket whose process was killed.
    for _ in 0..BIND_TRIES {
        match either() {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(BIND_PAUSE),
            done => return done,
        }
    }
    either()
}

fn bind_failed(facts: &Facts, error: io::Error) -> Fault {
    let busy = error.raw_os_error() == Some(libc::EBUSY);
    let fault = Fault::system(&facts.name, "binding an AF_XDP socket to its queue 0", CAPABILITY, error);
    if busy { fault.remedy("another AF_XDP socket has it: end that program") } else { fault }
}

fn write_option<T>(socket: &OwnedFd, option: c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = core::ptr::from_ref(value).cast();
    // SAFETY: the value is plain data, `length` bytes long.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), SOL_XDP, option, value, length) }).map(|_| ())
}

fn read_option<T>(socket: &OwnedFd, option: c_int, value: &mut T) -> io::Result<()> {
    let mut length = size_of::<T>() as libc::socklen_t;
    let value = core::ptr::from_mut(value).cast();
    // SAFETY: the value is plain data, of which the kernel writes at most `length` bytes.
    checked(unsafe { libc::getsockopt(socket.as_raw_fd(), SOL_XDP, option, value, &raw mut length) })
        .map(|_| ())
}

/// Lets copies of a whole ring be on their way at once.
fn socket_buffer(socket: &OwnedFd) -> io::Result<()> {
    let bytes: c_int = 4 << 20;
    let (length, value) = (size_of_val(&bytes) as libc::socklen_t, (&raw const bytes).cast());
    // SAFETY: the value is an `int`, `length` bytes long.
    checked(unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, value, length)
    })
    .map(|_| ())
}

fn last() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}
