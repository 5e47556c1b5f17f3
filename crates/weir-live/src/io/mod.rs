//! Where frames come in and leave: AF_XDP sockets, or AF_PACKET sockets where those do not work.
//!
//! Both read into and write from one [`Arena`], so that a frame stays where it came in. A [`Device`] is one interface
//! with one queue; it does not decide anything. Beside the data comes [`Neighbourhood`], an AF_PACKET socket that
//! sees ARP and neighbour discovery of the interface, which the XDP program leaves to the kernel as well.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/networking/af_xdp.rst and packet_mmap.rst; packet(7) |
//! | Work | O(frames) of each call, one system call for many frames; no allocation |
//! | Units | frames; bytes |

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::arena::{Arena, Buffer};

pub mod link;
pub mod neighbourhood;
pub mod packet;
pub mod program;
pub mod xdp;

/// A frame that has come in.
#[derive(Debug)]
pub struct Received {
    /// Where it lies, from its Ethernet header on.
    pub buffer: Buffer,
    /// Whether the kernel said that its transport checksum is still to be completed; `None` where it does not say.
    pub partial: Option<bool>,
}

/// What the kernel has counted of a socket, since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KernelCounts {
    /// Frames that came in and found no room in the socket: the daemon was too slow, or had no free frames.
    pub receive_dropped: u64,
    /// Frames that the device did not take, though it was given them.
    pub transmit_failed: u64,
}

/// One interface, through a socket.
pub enum Device {
    /// An AF_XDP socket.
    Xdp(xdp::XdpSocket),
    /// An AF_PACKET socket.
    Packet(packet::PacketSocket),
}

impl Device {
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

    /// By which means, as it is reported: `AF_XDP, copy`, `AF_XDP, zero copy`, `AF_PACKET`.
    #[must_use]
    pub fn means(&self) -> &'static str {
        match self {
            Self::Xdp(socket) => socket.means(),
            Self::Packet(_) => "AF_PACKET",
        }
    }
}

impl AsFd for Device {
    /// To be polled for reading.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Xdp(socket) => socket.as_fd(),
            Self::Packet(socket) => socket.as_fd(),
        }
    }
}
