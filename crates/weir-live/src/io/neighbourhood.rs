//! What is said in the neighbourhood of an interface: ARP and IPv6 neighbour discovery.
//!
//! The XDP program leaves these frames to the kernel, and the filter of a router's AF_PACKET socket hides them; this
//! socket sees them either way, and the kernel does as well. It also has the device take in all multicast, as
//! solicitations go to groups that the kernel does not know it is in. The kernel writes what it hears to a ring of
//! shared memory, so that to ask whether there was anything costs no system call, however often the daemon asks.
//!
//! | | |
//! |-|-|
//! | Source | RFC 826 (ARP), RFC 4861 (neighbour discovery); packet(7); Linux, Documentation/networking/packet_mmap.rst (version 2 of its rings) |
//! | Work | O(frames) a call, a copy each; no system call |
//! | Memory | a ring of 64 places of 2048 bytes, where the kernel lets go what finds no room |
//! | Units | frames; bytes |

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::{SOL_PACKET, tpacket_req, tpacket2_hdr};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use weir_plane::Received;
use weir_plane::arena::Arena;

use super::fault::Fault;
use super::filter::Shown;
use super::link::Facts;
use super::{option, packet};

/// What is kept free before a frame, as for those that a device receives.
const HEADROOM: u16 = 256;
/// The places of the ring, and their size in bytes: neighbours say little, and at no length.
const PLACES: usize = 64;
const PLACE: usize = 2048;
/// What the kernel allocates at once: two places.
const BLOCK: usize = 2 * PLACE;

/// An AF_PACKET socket that hears the neighbours of an interface.
pub struct Neighbourhood {
    ring: Ring,
    socket: OwnedFd,
}

impl Neighbourhood {
    /// Opens it.
    ///
    /// # Errors
    /// Permission is missing, or the interface is gone.
    pub fn open(facts: &Facts) -> Result<Self, Fault> {
        let failed = |what| move |error| Fault::system(&facts.name, what, "CAP_NET_RAW", error);
        let socket = packet::socket(facts, Shown::Neighbours)?;
        let ring = Ring::of(&socket).map_err(failed("making the ring of an AF_PACKET socket"))?;
        packet::bind(&socket, facts)?;
        join_all(&socket, facts.index).map_err(failed("taking in multicast"))?;
        Ok(Self { ring, socket })
    }

    /// Appends to `into` what was said, at most `most` frames; returns how many. Where no frame of the arena is free it
    /// stays where it is.
    pub fn receive(&mut self, arena: &mut Arena, into: &mut Vec<Received>, most: usize) -> usize {
        let before = into.len();
        while into.len() - before < most && self.ring.has_more() {
            let Some(mut buffer) = arena.take(HEADROOM) else { break };
            let partial = self.ring.next(|heard| {
                let fits = buffer.resize(heard.len() as u32);
                debug_assert!(fits, "a place is smaller than a frame");
                arena.bytes_mut(&mut buffer).copy_from_slice(heard);
            });
            match partial {
                Some(partial) => into.push(Received { buffer, partial: Some(partial) }),
                None => arena.give(buffer),
            }
        }
        into.len() - before
    }

    /// Says something: a whole frame, from its Ethernet header on.
    ///
    /// # Errors
    /// The interface is down or gone, or has no room now.
    pub fn say(&mut self, frame: &[u8]) -> io::Result<()> {
        let socket = self.socket.as_raw_fd();
        // SAFETY: the bytes are read during the call alone.
        let sent = unsafe { libc::send(socket, frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for Neighbourhood {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Places that the kernel fills one after the other, and that are given back in the same order.
struct Ring {
    base: NonNull<u8>,
    next: usize,
}

// SAFETY: the mapping is owned, and reached through `&mut self` alone, but for a status, which is atomic.
unsafe impl Send for Ring {}

impl Ring {
    fn of(socket: &OwnedFd) -> io::Result<Self> {
        option::set(socket, SOL_PACKET, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as i32))?;
        let wanted = tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: (PLACES * PLACE / BLOCK) as u32,
            tp_frame_size: PLACE as u32,
            tp_frame_nr: PLACES as u32,
        };
        option::set(socket, SOL_PACKET, libc::PACKET_RX_RING, &wanted)?;
        // SAFETY: a new mapping, at an address that the kernel chooses, aliases nothing.
        let base = unsafe {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            mmap(core::ptr::null_mut(), PLACES * PLACE, protection, MapFlags::SHARED, socket, 0)?
        };
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(|| io::Error::other("mapped at zero"))?;
        Ok(Self { base, next: 0 })
    }

    fn place(&self) -> NonNull<u8> {
        // SAFETY: `next` is below `PLACES`, and so the place is in the mapping.
        unsafe { self.base.add(self.next * PLACE) }
    }

    /// The status of the next place, which its header begins with.
    fn status(&self) -> &AtomicU32 {
        // SAFETY: it is in the mapping, which lives as long as `self`, and aligned to a page's half.
        unsafe { self.place().cast::<AtomicU32>().as_ref() }
    }

    fn has_more(&self) -> bool {
        self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Hands out the bytes of the next place, which the kernel has filled, and gives it back; whether their checksum
    /// is still to be completed, and `None` where they are not all there.
    fn next(&mut self, take: impl FnOnce(&[u8])) -> Option<bool> {
        let status = self.status().load(Ordering::Acquire);
        // SAFETY: the place is in the mapping, and the kernel does not write it before it is given back.
        let place = unsafe { core::slice::from_raw_parts(self.place().as_ptr(), PLACE) };
        // SAFETY: a place begins with a header, which is plain data.
        let header = unsafe { place.as_ptr().cast::<tpacket2_hdr>().read() };
        let (from, length) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        let heard =
            place.get(from..from.saturating_add(length)).filter(|_| header.tp_len == header.tp_snaplen);
        let partial = heard.map(|bytes| {
            take(bytes);
            status & libc::TP_STATUS_CSUMNOTREADY != 0
        });
        self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % PLACES;
        partial
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `of`, and no reference into it outlives this.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), PLACES * PLACE) };
        debug_assert!(unmapped.is_ok());
    }
}

/// The device takes in all multicast, as long as the socket is open.
fn join_all(socket: &OwnedFd, index: u32) -> io::Result<()> {
    let wanted = libc::packet_mreq {
        mr_ifindex: index as i32,
        mr_type: libc::PACKET_MR_ALLMULTI as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    option::set(socket, SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &wanted)
}
