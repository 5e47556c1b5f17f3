//! The memory of all frames: one piece cut into frames of equal size, each of which is a page.
//!
//! It is the umem of AF_XDP sockets, which all share it, and where AF_PACKET sockets read into and write from: a frame
//! stays where it came in until it has left, and only its handle moves. A [`Buffer`] is that handle: it cannot be
//! copied, so that whoever has one is the only one who touches its frame; what is given to the kernel is given up
//! ([`Buffer::into_raw`]) and comes back by number.
//!
//! Several threads share it by parts ([`Arena::split`]): each takes free frames of its own part and touches any frame whose
//! buffer it has. A buffer goes to another part by [`Arena::lend`] and [`Arena::adopt`]; a frame that is given back elsewhere
//! than at its own part goes home as a [`Stray`].
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/networking/af_xdp.rst |
//! | Work | O(1) to take and give back; no allocation after [`Arena::new`] |
//! | Memory | `frames * FRAME` bytes, touched at once, and 12 bytes a frame in addition; this is the cap |
//! | Units | bytes |

use core::ops::Range;
use core::ptr::NonNull;
use core::slice;
use std::sync::Arc;

use weir_core::units::Instant;

use crate::config::vlan::{TAG, Vlan};
use crate::dropped::{Dropped, Record};
use crate::snapshot::Reason;

/// The bytes of one frame: a page, so that frames never cross one.
pub const FRAME: u32 = 4096;
/// The longest packet that a frame takes: what the kernel keeps free at its beginning is left out.
pub const LONGEST: u32 = FRAME - 256;

/// The largest IP packet that a frame takes, behind the header of Ethernet.
pub const MOST_MTU: u32 = LONGEST - 14;
/// The addresses that an Ethernet frame begins with.
const ADDRESSES: usize = 12;

/// What a router of `workers` workers keeps for a frame: the frame, and some bytes more here, in each socket and in each plane.
#[must_use]
pub const fn cost(workers: u32) -> u64 {
    FRAME as u64 + 128 * workers as u64
}

/// VLAN tags that were taken off a frame, which lie before its first byte in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tags {
    /// None.
    #[default]
    None,
    /// One.
    One,
    /// Two.
    Two,
}

impl Tags {
    /// Those of a VLAN.
    pub(crate) const fn of(vlan: Vlan) -> Self {
        if vlan.outer.is_some() { Self::Two } else { Self::One }
    }

    const fn length(self) -> u16 {
        self as u16 * TAG as u16
    }
}

/// One frame with the bytes of it that are in use; not to be copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Buffer {
    frame: u32,
    offset: u16,
    length: u16,
    tags: Tags,
}

impl Buffer {
    /// The bytes in use.
    #[must_use]
    #[inline]
    pub fn length(&self) -> u32 {
        u32::from(self.length)
    }

    /// The number of its frame: who keeps something about frames keeps it in that place.
    #[must_use]
    #[inline]
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// Gives it up, as to the kernel: where its bytes begin in the arena, and how many they are.
    #[must_use]
    #[inline]
    pub fn into_raw(self) -> (u64, u32) {
        (u64::from(self.frame) * u64::from(FRAME) + u64::from(self.offset), u32::from(self.length))
    }

    /// The bytes in use begin `by` later, or earlier; `false` and unchanged where the frame ends there.
    #[inline]
    pub fn shift(&mut self, by: i16) -> bool {
        let offset = i32::from(self.offset) + i32::from(by);
        let length = i32::from(self.length) - i32::from(by);
        let fits = offset >= 0 && length >= 0 && offset + length <= FRAME as i32;
        if fits {
            (self.offset, self.length) = (offset as u16, length as u16);
        }
        fits
    }

    /// Sets how many bytes are in use from its beginning; `false` and unchanged where the frame ends before.
    #[inline]
    pub fn resize(&mut self, length: u32) -> bool {
        let fits = length <= FRAME - u32::from(self.offset);
        if fits {
            self.length = length as u16;
        }
        fits
    }
}

/// A frame where it lies.
#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; FRAME as usize]);

/// The pages.
#[derive(Debug)]
struct Memory {
    base: NonNull<u8>,
    frames: u32,
}

// SAFETY: the memory is owned; what reaches into it is a buffer, of which there is one for each frame.
unsafe impl Send for Memory {}
// SAFETY: as above: nothing is reached through `&Memory` alone.
unsafe impl Sync for Memory {}

/// A frame that was given back at another part of the memory than its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Stray(u32);

/// The memory of all frames, or one of the parts that it was split into.
#[derive(Debug)]
pub struct Arena {
    memory: Arc<Memory>,
    /// The frames that come home to this part.
    own: Range<u32>,
    /// Those that nobody has.
    free: Vec<u32>,
    /// Whether somebody has it at this part: catches a frame that comes back twice.
    out: Vec<bool>,
    /// Frames of other parts that were given back here.
    strays: Vec<u32>,
    /// What was in frames whose packets were dropped.
    dropped: Record,
}

impl Arena {
    /// An arena of `frames` frames, all free; `None` where the system has not that much memory, or `frames` is zero.
    #[must_use]
    pub fn new(frames: u32) -> Option<Self> {
        let count = frames as usize;
        let mut pages = Vec::new();
        pages.try_reserve_exact(count).ok().filter(|()| count > 0)?;
        pages.resize(count, Page([0; FRAME as usize]));
        // Behind a bare pointer: what the kernel writes to meanwhile must not be borrowed.
        let base = NonNull::from(Box::leak(pages.into_boxed_slice())).cast();
        Some(Self::part(Arc::new(Memory { base, frames }), 0..frames))
    }

    fn part(memory: Arc<Memory>, own: Range<u32>) -> Self {
        let others = (memory.frames - own.end + own.start) as usize;
        Self {
            free: own.clone().rev().collect(),
            out: vec![false; memory.frames as usize],
            strays: Vec::with_capacity(others),
            dropped: Record::default(),
            own,
            memory,
        }
    }

    /// The same memory for `parts` threads: a part for each, all of the same size but for one frame.
    ///
    /// # Panics
    /// Somebody has a frame of it, or there are fewer frames than parts.
    #[must_use]
    pub fn split(self, parts: u32) -> Vec<Self> {
        let frames = self.frames();
        assert!(
            self.free() == frames && (1..=frames).contains(&parts),
            "all frames are free, one for each part"
        );
        let edge = |at: u32| (u64::from(frames) * u64::from(at) / u64::from(parts)) as u32;
        (0..parts).map(|at| Self::part(Arc::clone(&self.memory), edge(at)..edge(at + 1))).collect()
    }

    /// How many frames there are, of all parts.
    #[must_use]
    #[inline]
    pub fn frames(&self) -> u32 {
        self.memory.frames
    }

    /// How many of this part nobody has.
    #[must_use]
    #[inline]
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// Where it begins and how many bytes it has: what the kernel must know of a umem.
    #[must_use]
    pub fn region(&self) -> (NonNull<u8>, usize) {
        (self.memory.base, self.frames() as usize * FRAME as usize)
    }

    /// A free frame, with no bytes in use, beginning behind `headroom`; `None` where none is free.
    #[inline]
    pub fn take(&mut self, headroom: u16) -> Option<Buffer> {
        debug_assert!(u32::from(headroom) <= FRAME);
        let frame = self.free.pop()?;
        self.out[frame as usize] = true;
        Some(Buffer { frame, offset: headroom, length: 0, tags: Tags::None })
    }

    /// A frame that the kernel gives back, by any place in it: the opposite of [`Buffer::into_raw`]. `None` for a
    /// place outside, for a frame that nobody had, and for bytes that leave the frame.
    #[inline]
    pub fn from_raw(&self, address: u64, length: u32) -> Option<Buffer> {
        let frame = u32::try_from(address / u64::from(FRAME)).ok()?;
        let offset = (address % u64::from(FRAME)) as u16;
        let known = *self.out.get(frame as usize)?;
        (known && length <= FRAME - u32::from(offset)).then_some(Buffer {
            frame,
            offset,
            length: length as u16,
            tags: Tags::None,
        })
    }

    /// The time of the turn that begins.
    #[inline]
    pub(crate) fn set_now(&mut self, now: Instant) {
        self.dropped.set_now(now);
    }

    /// The packet of a frame is dropped; the frame itself is still to be given back.
    #[cold]
    pub(crate) fn note(&mut self, buffer: &Buffer, interface: usize, reason: Reason) {
        let frame = (self.bytes(buffer), self.tags(buffer));
        let dropped = Dropped::new(self.dropped.now(), frame, interface, reason);
        self.dropped.note(dropped);
    }

    /// The packets that were dropped last.
    #[must_use]
    pub fn dropped(&self) -> &Record {
        &self.dropped
    }

    /// Takes a frame back.
    #[inline]
    pub fn give(&mut self, buffer: Buffer) {
        debug_assert!(self.out[buffer.frame as usize], "frame {} came back twice", buffer.frame);
        self.out[buffer.frame as usize] = false;
        if self.own.contains(&buffer.frame) {
            self.free.push(buffer.frame);
        } else {
            self.strays.push(buffer.frame);
        }
    }

    /// A buffer of this part goes to another.
    #[inline]
    pub fn lend(&mut self, buffer: &Buffer) {
        self.out[buffer.frame as usize] = false;
    }

    /// A buffer has come from another part.
    #[inline]
    pub fn adopt(&mut self, buffer: &Buffer) {
        self.out[buffer.frame as usize] = true;
    }

    /// A frame of another part that was given back here, with the place of the part among those of [`Self::split`].
    #[inline]
    pub fn stray(&mut self, parts: u32) -> Option<(usize, Stray)> {
        let frame = self.strays.pop()?;
        let home = (u64::from(frame) * u64::from(parts) + u64::from(parts) - 1) / u64::from(self.frames());
        Some((home as usize, Stray(frame)))
    }

    /// A frame of this part comes home.
    #[inline]
    pub fn come_home(&mut self, Stray(frame): Stray) {
        debug_assert!(self.own.contains(&frame), "frame {frame} is of another part");
        self.free.push(frame);
    }

    /// The bytes in use.
    #[must_use]
    #[inline]
    pub fn bytes(&self, buffer: &Buffer) -> &[u8] {
        let (at, length) = self.place(buffer);
        // SAFETY: within the memory, as the bounds of a buffer are checked where it is made and changed; whoever has
        // the buffer is the only one who has its frame.
        unsafe { slice::from_raw_parts(self.memory.base.as_ptr().add(at), length) }
    }

    /// The bytes in use, to be written.
    #[must_use]
    #[inline]
    pub fn bytes_mut(&mut self, buffer: &mut Buffer) -> &mut [u8] {
        let (at, length) = self.place(buffer);
        // SAFETY: as in `bytes`; the exclusive borrows of arena and buffer make this the only reference.
        unsafe { slice::from_raw_parts_mut(self.memory.base.as_ptr().add(at), length) }
    }

    /// Takes VLAN tags off a frame, which are behind its addresses.
    pub(crate) fn take_tags_off(&mut self, buffer: &mut Buffer, tags: Tags) {
        let length = usize::from(tags.length());
        let bytes = self.bytes_mut(buffer);
        // The tags change places with the addresses.
        bytes[..ADDRESSES + length].rotate_right(length);
        let fits = buffer.shift(tags.length() as i16);
        debug_assert!(fits, "they were in the frame");
        buffer.tags = tags;
    }

    /// The tags that were taken off a frame.
    #[must_use]
    #[inline]
    pub(crate) fn tags(&self, buffer: &Buffer) -> &[u8] {
        if buffer.tags == Tags::None {
            return &[];
        }
        self.bytes(&before(buffer, buffer.tags))
    }

    /// A frame that was made of another is as if it had come in with the same tags.
    pub(crate) fn copy_tags(&mut self, from: &Buffer, to: &mut Buffer) {
        let mut tags = [0; 2 * TAG];
        let length = usize::from(from.tags.length());
        if length > 0 && to.offset >= from.tags.length() {
            tags[..length].copy_from_slice(self.tags(from));
            to.tags = from.tags;
            self.bytes_mut(&mut before(to, from.tags)).copy_from_slice(&tags[..length]);
        }
    }

    /// Puts tags behind the addresses of a frame, in place of those that were taken off; `false` and unchanged where
    /// there is no room before it.
    pub(crate) fn put_tags_on(&mut self, buffer: &mut Buffer, tags: &[u8]) -> bool {
        if !buffer.shift(-(tags.len() as i16)) {
            return false;
        }
        buffer.tags = Tags::None;
        let bytes = self.bytes_mut(buffer);
        bytes.copy_within(tags.len()..tags.len() + ADDRESSES, 0);
        bytes[ADDRESSES..ADDRESSES + tags.len()].copy_from_slice(tags);
        true
    }

    fn place(&self, buffer: &Buffer) -> (usize, usize) {
        // A buffer of another, larger arena would lie outside.
        assert!(buffer.frame < self.frames(), "frame {} is not of this arena", buffer.frame);
        (buffer.frame as usize * FRAME as usize + usize::from(buffer.offset), usize::from(buffer.length))
    }
}

/// The memory before a frame in which its tags are.
fn before(buffer: &Buffer, tags: Tags) -> Buffer {
    let length = tags.length();
    Buffer { frame: buffer.frame, offset: buffer.offset.saturating_sub(length), length, tags: Tags::None }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let pages = NonNull::slice_from_raw_parts(self.base.cast::<Page>(), self.frames as usize);
        // SAFETY: the box was leaked in `Arena::new`, with as many pages, and no reference into it outlives the last part.
        drop(unsafe { Box::from_raw(pages.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_written_and_given_back() {
        let mut arena = Arena::new(2).expect("two pages");
        let mut first = arena.take(256).expect("free");
        assert!(first.resize(4) && !first.resize(FRAME) && !first.resize(u32::MAX));
        arena.bytes_mut(&mut first).copy_from_slice(b"weir");
        let second = arena.take(0).expect("free");
        assert_eq!((arena.take(0), arena.free()), (None, 0));
        assert!(first.shift(1) && !first.shift(-300));
        assert_eq!(arena.bytes(&first), b"eir");
        let (address, length) = first.into_raw();
        let first = arena.from_raw(address, length).expect("it is out");
        arena.give(first);
        arena.give(second);
        assert_eq!(arena.from_raw(address, length), None);
        assert_eq!(arena.free(), 2);
    }

    #[test]
    fn each_part_has_its_frames_and_strays_come_home() {
        for (frames, parts) in [(1, 1), (7, 3), (64, 5), (1000, 16)] {
            let mut arenas = Arena::new(frames).expect("memory").split(parts);
            assert_eq!(arenas.iter().map(Arena::free).sum::<u32>(), frames);
            let first = &mut arenas[0];
            let mut lent: Vec<Buffer> = core::iter::from_fn(|| first.take(0)).collect();
            lent.iter().for_each(|buffer| first.lend(buffer));
            assert_eq!(first.from_raw(0, 1), None, "it is no longer here");
            let last = arenas.last_mut().expect("one");
            while let Some(mut buffer) = last.take(0) {
                assert!(buffer.resize(1));
                last.bytes_mut(&mut buffer)[0] = 7;
                lent.push(buffer);
            }
            for buffer in lent.drain(..) {
                last.adopt(&buffer);
                last.give(buffer);
            }
            while let Some((home, stray)) = arenas[parts as usize - 1].stray(parts) {
                assert_eq!(home, 0);
                arenas[home].come_home(stray);
            }
            assert_eq!(arenas.iter().map(Arena::free).sum::<u32>(), frames);
        }
    }

    #[test]
    fn every_frame_knows_its_part() {
        let parts = 7;
        let mut arenas = Arena::new(1003).expect("memory").split(parts);
        for at in 0..parts as usize {
            let buffers: Vec<Buffer> = core::iter::from_fn(|| arenas[at].take(0)).collect();
            let other = (at + 1) % parts as usize;
            for buffer in buffers {
                arenas[at].lend(&buffer);
                arenas[other].adopt(&buffer);
                arenas[other].give(buffer);
            }
            while let Some((home, stray)) = arenas[other].stray(parts) {
                assert_eq!(home, at);
                arenas[home].come_home(stray);
            }
        }
    }

    #[test]
    fn what_the_kernel_cannot_have_is_refused() {
        let mut arena = Arena::new(1).expect("a page");
        let (address, _) = arena.take(0).expect("free").into_raw();
        assert_eq!(arena.from_raw(u64::MAX, 1), None);
        assert_eq!(arena.from_raw(u64::from(FRAME), 1), None);
        assert_eq!(arena.from_raw(address + 1, FRAME), None);
        assert_eq!(arena.from_raw(address + 1, u32::MAX), None);
        assert!(arena.from_raw(address + 1, FRAME - 1).is_some());
        assert!(Arena::new(0).is_none());
    }
}
