//! Where frames come in and leave: AF_XDP sockets, or AF_PACKET sockets where those do not work.
//!
//! Both read into and write from one [`Arena`], so that a frame stays where it came in. A [`Device`] is one interface
//! with all its queues; it does not decide anything. The data is accompanied by the [`neighbourhood`], an AF_PACKET socket
//! that sees ARP and neighbour discovery of the interface, which the XDP program leaves to the kernel as well.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/networking/af_xdp.rst and packet_mmap.rst; packet(7) |
//! | Work | O(frames) of each call, one system call for many frames; no allocation |
//! | Units | frames; bytes |

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use fault::{Fault, Kind};
use link::Facts;
use weir_plane::Received;
use weir_plane::arena::{Arena, Buffer};
use weir_plane::config::{Io, OnFailure, Router, Vlan};
use weir_plane::snapshot::KernelCounts;

pub mod attach;
pub mod dispatcher;
pub mod fault;
mod filter;
mod held;
pub mod holder;
pub mod link;
pub mod neighbourhood;
mod option;
pub mod packet;
pub mod pins;
pub mod program;
pub mod queue;
mod ring;
pub mod xdp;

/// How many frames one interface may take out of the arena while nobody else has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Frames for the kernel to receive into.
    pub receive: u32,
    /// Frames that may be on their way out, a power of two.
    pub ring: u32,
}

impl Share {
    /// The most of either.
    pub const MOST: u32 = 2048;
    /// The fewest of either.
    pub const FEWEST: u32 = 16;

    /// The share of one of `interfaces` interfaces: together they hold at most half of the frames, so that the rest can
    /// wait in queues, unless that would be fewer than [`Self::FEWEST`] each.
    #[must_use]
    pub fn of(frames: u32, interfaces: usize) -> Self {
        let each = frames as usize / (4 * interfaces.max(1));
        let each = (each as u32).clamp(Self::FEWEST, Self::MOST);
        let power = 1 << each.ilog2();
        Self { receive: power, ring: power }
    }
}

/// How a device is opened.
#[derive(Clone, Debug)]
pub struct Means {
    /// The router's name, under which a program is pinned.
    pub router: String,
    /// By which means frames come in and leave.
    pub io: Io,
    /// What becomes of the traffic when the daemon is gone.
    pub on_failure: OnFailure,
    /// How its programs are with those of others.
    pub sharing: attach::Sharing,
    /// How many frames the interface may take.
    pub share: Share,
    /// How many workers share its queues.
    pub workers: usize,
    /// Its VLANs that the router serves.
    pub vlans: Vec<Option<Vlan>>,
}

impl Means {
    /// What the configuration of a router says of a device, for an arena of `frames` frames.
    #[must_use]
    pub fn of(router: &Router, device: &str, frames: u32) -> Self {
        let share = Share::of(frames, router.devices().len());
        Self {
            router: router.name.clone(),
            io: router.io,
            on_failure: router.on_failure,
            sharing: attach::Sharing { xdp: router.xdp, priority: router.xdp_priority },
            share,
            workers: router.workers as usize,
            vlans: router.vlans_of(device),
        }
    }
}

/// The memory of `frames` frames.
///
/// # Errors
/// The system has not that much.
pub fn arena(frames: u32) -> io::Result<Arena> {
    Arena::new(frames).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))
}

/// What [`Device::open`] came to.
pub struct Opened {
    /// The interface, open.
    pub device: Device,
    /// Why it is not AF_XDP, where that was to be tried.
    pub fallback: Option<Fault>,
}

/// One interface, through a socket.
pub enum Device {
    /// An AF_XDP socket.
    Xdp(Box<xdp::XdpSocket>),
    /// An AF_PACKET socket.
    Packet(packet::PacketSocket),
}

impl Device {
    /// Opens an interface of a router. Claim it first ([`link::Claim`]).
    ///
    /// # Errors
    /// Permission is missing, the kernel cannot do it, or somebody else has the interface.
    pub fn open(facts: &Facts, means: &Means, arena: &mut Arena) -> Result<Opened, Fault> {
        let Means { io, share, workers, .. } = *means;
        let packet = || {
            alone(facts)?;
            packet::PacketSocket::open(facts, share).map(Self::Packet)
        };
        if io == Io::AfPacket {
            return packet().map(|device| Opened { device, fallback: None });
        }
        let opened = program::Program::attach(means, facts)
            .and_then(|program| xdp::XdpSocket::open(facts, program, share, workers, arena));
        match opened {
            Ok(socket) => Ok(Opened { device: Self::Xdp(Box::new(socket)), fallback: None }),
            Err(fault) if matches!(fault.kind, Kind::Busy | Kind::Gone) => Err(fault),
            Err(fault) if io == Io::AfXdp && fault.kind == Kind::Unsupported => {
                Err(fault.or("io = \"af_packet\" takes AF_PACKET sockets instead"))
            }
            Err(fault) if io == Io::AfXdp => Err(fault),
            Err(fault) => packet().map(|device| Opened { device, fallback: Some(fault) }),
        }
    }

    /// Lets frames come in by a queue of it that another serves.
    ///
    /// # Errors
    /// The kernel refuses the socket.
    pub fn begin(&mut self, satellite: &xdp::Satellite) -> io::Result<()> {
        match self {
            Self::Xdp(socket) => socket.begin(satellite),
            Self::Packet(_) => Ok(()),
        }
    }

    /// The program that hands it frames, where it is AF_XDP.
    pub fn program(&mut self) -> Option<&mut program::Program> {
        match self {
            Self::Xdp(socket) => Some(socket.program()),
            Self::Packet(_) => None,
        }
    }

    /// Whether its program is behind a dispatcher.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        match self {
            Self::Xdp(socket) => socket.is_behind(),
            Self::Packet(_) => false,
        }
    }

    /// Its queues that others are to serve, each with how many places behind the worker of the interface.
    pub fn satellites(&mut self) -> Vec<(usize, xdp::Satellite)> {
        match self {
            Self::Xdp(socket) => socket.satellites(),
            Self::Packet(_) => Vec::new(),
        }
    }

    /// Ends it in order: nothing of it stays in the kernel, and its frames are free.
    ///
    /// # Errors
    /// The program cannot be taken off the interface.
    pub fn close(self, arena: &mut Arena) -> Result<(), Fault> {
        match self {
            Self::Xdp(socket) => socket.close(arena),
            Self::Packet(socket) => {
                socket.close(arena);
                Ok(())
            }
        }
    }

    /// Ends it to be opened anew, because its interface is gone: its frames are free, and a pinned program stays.
    pub fn abandon(self, arena: &mut Arena) {
        match self {
            Self::Xdp(socket) => socket.abandon(arena),
            Self::Packet(socket) => socket.close(arena),
        }
    }

    /// The kernel has these addresses on the interface now: frames for them are left to it.
    ///
    /// # Errors
    /// There are too many of them, or permission is missing.
    pub fn leave_to_kernel(&mut self, addresses: &[std::net::IpAddr]) -> io::Result<()> {
        match self {
            Self::Xdp(socket) => socket.program().leave_to_kernel(addresses),
            Self::Packet(socket) => socket.leave_to_kernel(addresses),
        }
    }

    /// Appends to `into` what has come in, at most `most` frames; returns how many.
    ///
    /// # Errors
    /// The interface is down or gone.
    pub fn receive(&mut self, arena: &mut Arena, into: &mut Vec<Received>, most: usize) -> io::Result<usize> {
        match self {
            Self::Xdp(socket) => socket.receive(arena, into, most),
            Self::Packet(socket) => socket.receive(arena, into, most),
        }
    }

    /// How many frames [`Self::send`] takes now, at least; what has been sent goes back to the arena.
    pub fn room(&mut self, arena: &mut Arena) -> u32 {
        match self {
            Self::Xdp(socket) => socket.room(arena),
            Self::Packet(socket) => socket.room(arena),
        }
    }

    /// Queues a frame to be sent by the next [`Self::flush`].
    ///
    /// # Errors
    /// There is no room; the frame comes back.
    pub fn send(&mut self, buffer: Buffer) -> Result<(), Buffer> {
        match self {
            Self::Xdp(socket) => socket.send(buffer),
            Self::Packet(socket) => socket.send(buffer),
        }
    }

    /// Tells the kernel of all that was queued.
    ///
    /// # Errors
    /// The interface is down or gone.
    pub fn flush(&mut self, arena: &mut Arena) -> io::Result<()> {
        match self {
            Self::Xdp(socket) => socket.flush(arena),
            Self::Packet(socket) => socket.flush(arena),
        }
    }

    /// How many frames that were flushed the kernel has not taken yet: another flush offers them again.
    #[must_use]
    pub fn unsent(&self) -> u32 {
        match self {
            Self::Xdp(socket) => socket.unsent(),
            Self::Packet(socket) => socket.unsent(),
        }
    }

    /// What the kernel has counted.
    ///
    /// # Errors
    /// The socket cannot be asked.
    pub fn counts(&self) -> io::Result<KernelCounts> {
        match self {
            Self::Xdp(socket) => socket.counts(),
            Self::Packet(socket) => socket.counts(),
        }
    }

    /// Frames that never came here, because they were left to the kernel.
    ///
    /// # Errors
    /// Permission is missing.
    pub fn left_to_kernel(&self) -> io::Result<program::FrameCounts> {
        match self {
            Self::Xdp(socket) => socket.left_to_kernel(),
            Self::Packet(_) => Ok(program::FrameCounts::default()),
        }
    }

    /// The descriptors to be polled for reading: one a queue.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let (queues, socket) = match self {
            Self::Xdp(socket) => (Some(socket.descriptors()), None),
            Self::Packet(socket) => (None, Some(socket.as_fd())),
        };
        queues.into_iter().flatten().chain(socket)
    }

    /// By which means, as it is reported: `AF_XDP, copy`, `AF_XDP, zero copy`, `AF_PACKET`.
    #[must_use]
    pub fn means(&self) -> &'static str {
        match self {
            Self::Xdp(socket) => socket.means(),
            Self::Packet(_) => "AF_PACKET",
        }
    }
}

/// Where AF_PACKET sockets are used, the kernel sees every frame too: it must not forward them as well.
fn alone(facts: &Facts) -> Result<(), Fault> {
    if facts.addresses.is_empty() || !link::kernel_forwards(&facts.name) {
        return Ok(());
    }
    let what = "the kernel has addresses there and forwards: together with AF_PACKET it would forward every \
        packet twice";
    let name = &facts.name;
    let remedy = format!(
        "run `sysctl -w net/ipv4/conf/{name}/forwarding=0 net/ipv6/conf/{name}/forwarding=0`, or use AF_XDP"
    );
    Err(Fault::new(Kind::Unsupported, name, what, remedy))
}
