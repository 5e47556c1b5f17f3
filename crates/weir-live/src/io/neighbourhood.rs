//! What is said in the neighbourhood of an interface: ARP and IPv6 neighbour discovery.
//!
//! The XDP program leaves these frames to the kernel, and the filter of a router's AF_PACKET socket hides them; this
//! socket sees them either way, and the kernel does as well. It also has the device take in all multicast, as
//! solicitations go to groups that the kernel does not know it is in.
//!
//! | | |
//! |-|-|
//! | Source | RFC 826 (ARP), RFC 4861 (neighbour discovery); packet(7) |
//! | Work | O(frames) a call |
//! | Units | frames; bytes |

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use super::fault::Fault;
use super::filter::Shown;
use super::link::{Facts, checked};
use super::packet::PacketSocket;
use super::{KernelCounts, Received, Share};
use crate::arena::Arena;

/// Few frames: neighbours say little.
const SHARE: Share = Share { receive: 8, ring: 8 };

/// An AF_PACKET socket that hears the neighbours of an interface.
pub struct Neighbourhood {
    socket: PacketSocket,
}

impl Neighbourhood {
    /// Opens it.
    ///
    /// # Errors
    /// Permission is missing, or the interface is gone.
    pub fn open(facts: &Facts) -> Result<Self, Fault> {
        let socket = PacketSocket::shown(facts, SHARE, Shown::Neighbours)?;
        join_all(socket.as_fd(), facts.index)
            .map_err(|error| Fault::system(&facts.name, "taking in multicast", "CAP_NET_RAW", error))?;
        Ok(Self { socket })
    }

    /// Appends to `into` what was said, at most `most` frames; returns how many.
    ///
    /// # Errors
    /// The interface is down or gone.
    pub fn receive(&mut self, arena: &mut Arena, into: &mut Vec<Received>, most: usize) -> io::Result<usize> {
        self.socket.receive(arena, into, most)
    }

    /// Says something: a whole frame, from its Ethernet header on.
    ///
    /// # Errors
    /// The interface is down or gone, or has no room now.
    pub fn say(&mut self, frame: &[u8]) -> io::Result<()> {
        let socket = self.socket.as_fd().as_raw_fd();
        // SAFETY: the bytes are read during the call alone.
        let sent = unsafe { libc::send(socket, frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// What the kernel has counted.
    ///
    /// # Errors
    /// The socket cannot be asked.
    pub fn counts(&self) -> io::Result<KernelCounts> {
        self.socket.counts()
    }

    /// Ends it: gives all frames back.
    pub fn close(self, arena: &mut Arena) {
        self.socket.close(arena);
    }
}

impl AsFd for Neighbourhood {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The device takes in all multicast, as long as the socket is open.
fn join_all(socket: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    let wanted = libc::packet_mreq {
        mr_ifindex: index as i32,
        mr_type: libc::PACKET_MR_ALLMULTI as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    let length = size_of_val(&wanted) as libc::socklen_t;
    let value = (&raw const wanted).cast();
    // SAFETY: the value is plain data, `length` bytes long.
    checked(unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, value, length)
    })
    .map(|_| ())
}
