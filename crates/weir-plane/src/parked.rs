//! The frames that wait in the router, with what is known of each: a table by the number of the frame.
//!
//! Disciplines hold [`Handle`]s, which name the frame; the frame itself stays here until it leaves. Lists of frames
//! (a delay line, who waits for a neighbour) are chains through the table, so that they need no memory of their own
//! and are all bounded together by the number of frames.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(1) |
//! | Memory | [`Entry`], 96 bytes at most, for each frame of the arena |
//! | Units | nanoseconds since the daemon began; bytes of IP |

use std::net::{IpAddr, Ipv4Addr};

use weir_core::item::{Addresses, ClassId, Dscp, FlowId, Item};
use weir_core::units::Bytes;

use super::classify::Label;
use super::frame::Packet;
use super::tally::Whose;
use crate::arena::Buffer;

/// No frame.
pub(super) const NONE: u32 = u32::MAX;
/// It can carry a congestion mark (RFC 3168).
const CAPABLE: u8 = 1;
/// It is to carry one.
const MARKED: u8 = 2;

/// What a discipline holds of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    /// Its frame.
    pub(super) frame: u32,
    label: Label,
    size: u16,
    dscp: Dscp,
    marks: u8,
}

impl Handle {
    /// Of the packet in a frame.
    #[inline]
    pub(super) fn new(frame: u32, label: Label, packet: &Packet) -> Self {
        let marks = if packet.ecn == 0 { 0 } else { CAPABLE };
        Self { frame, label, size: packet.size, dscp: Dscp::new(packet.dscp), marks }
    }

    /// Whether the discipline has marked it.
    pub(super) fn is_marked(&self) -> bool {
        self.marks & MARKED != 0
    }
}

impl Item for Handle {
    type Cost = Bytes;

    #[inline]
    fn flow(&self) -> FlowId {
        self.label.flow
    }

    #[inline]
    fn class(&self) -> ClassId {
        self.label.class
    }

    #[inline]
    fn cost(&self) -> Bytes {
        Bytes::new(self.size.into())
    }

    #[inline]
    fn addresses(&self) -> Addresses {
        self.label.addresses
    }

    #[inline]
    fn dscp(&self) -> Dscp {
        self.dscp
    }

    #[inline]
    fn mark(&mut self) -> bool {
        let capable = self.marks & CAPABLE != 0;
        self.marks |= if capable { MARKED } else { 0 };
        capable
    }
}

/// Where a packet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// Not in the router.
    #[default]
    Nowhere,
    /// With the discipline of an interface.
    Queued,
    /// Granted by it: on the line, behind it, or waiting for a neighbour.
    Granted,
    /// Handed to the device.
    Left,
}

/// What is known of a packet in the router.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its frame.
    buffer: Option<Buffer>,
    /// The next of the list that it is in.
    next: u32,
    /// Who began to wait for a neighbour of the same interface before it and after it.
    pub(super) older: u32,
    pub(super) newer: u32,
    /// When it arrived.
    pub(super) arrived: u64,
    /// How many arrived before it.
    pub(super) sequence: u64,
    /// When it is due at the device.
    pub(super) release: u64,
    /// The next router, or its destination.
    pub(super) hop: IpAddr,
    /// Where the next router was last found in the table of neighbours.
    pub(super) slot: u32,
    /// Its length.
    pub(super) size: u16,
    /// Whose it is, as it is counted.
    pub(super) whose: Whose,
    /// The interface that it leaves by.
    pub(super) egress: u16,
    /// Where it is.
    pub(super) place: Place,
}

/// A packet that joins the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer {
    /// When it arrived.
    pub(super) arrived: u64,
    /// The next router, or its destination.
    pub(super) hop: IpAddr,
    /// Where it was found in the table of neighbours.
    pub(super) slot: u32,
    /// Its length.
    pub(super) size: u16,
    /// Whose it is, as it is counted.
    pub(super) whose: Whose,
    /// The interface that it leaves by.
    pub(super) egress: u16,
}

/// A list of frames, first in, first out.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    first: u32,
    last: u32,
    /// How many they are.
    pub(super) count: u32,
}

impl List {
    /// No frame.
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE, count: 0 };
}

impl Default for List {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl List {
    /// The first frame.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        (self.count > 0).then_some(self.first)
    }
}

/// The table.
#[derive(Debug)]
pub(super) struct Parked {
    entries: Vec<Entry>,
    /// How many have arrived.
    arrived: u64,
}

impl Parked {
    /// An empty table for `frames` frames.
    pub(super) fn new(frames: u32) -> Self {
        let entry = || Entry {
            buffer: None,
            next: NONE,
            older: NONE,
            newer: NONE,
            arrived: 0,
            sequence: 0,
            release: 0,
            hop: Ipv4Addr::UNSPECIFIED.into(),
            slot: 0,
            size: 0,
            whose: Whose::default(),
            egress: 0,
            place: Place::Nowhere,
        };
        Self { entries: (0..frames).map(|_| entry()).collect(), arrived: 0 }
    }

    /// A packet joins it, queued.
    ///
    /// # Errors
    /// The frame is of another, larger arena; it comes back.
    #[inline]
    pub(super) fn put(&mut self, buffer: Buffer, newcomer: Newcomer) -> Result<u32, Buffer> {
        let frame = buffer.frame();
        let Some(entry) = self.entries.get_mut(frame as usize) else { return Err(buffer) };
        let Newcomer { arrived, hop, slot, size, whose, egress } = newcomer;
        let (sequence, place) = (self.arrived, Place::Queued);
        let buffer = Some(buffer);
        *entry = Entry {
            buffer,
            next: NONE,
            older: NONE,
            newer: NONE,
            arrived,
            sequence,
            release: 0,
            hop,
            slot,
            size,
            whose,
            egress,
            place,
        };
        self.arrived += 1;
        Ok(frame)
    }

    /// What is known of a packet.
    #[inline]
    pub(super) fn entry(&self, frame: u32) -> &Entry {
        &self.entries[frame as usize]
    }

    /// The same, to change.
    #[inline]
    pub(super) fn entry_mut(&mut self, frame: u32) -> &mut Entry {
        &mut self.entries[frame as usize]
    }

    /// The packet's frame.
    pub(super) fn buffer(&self, frame: u32) -> Option<&Buffer> {
        self.entries[frame as usize].buffer.as_ref()
    }

    /// How many frames it is for.
    pub(super) fn frames(&self) -> u32 {
        self.entries.len() as u32
    }

    /// The packet's frame, to be written.
    #[inline]
    pub(super) fn buffer_mut(&mut self, frame: u32) -> Option<&mut Buffer> {
        self.entries[frame as usize].buffer.as_mut()
    }

    /// The packet is handed to the device.
    #[inline]
    pub(super) fn leave(&mut self, frame: u32) -> Option<Buffer> {
        let entry = &mut self.entries[frame as usize];
        entry.place = Place::Left;
        entry.buffer.take()
    }

    /// The entry of a frame that something else is in from now on; what it was, if it had been handed to the device.
    pub(super) fn forget(&mut self, frame: u32) -> Option<&Entry> {
        let entry = self.entries.get_mut(frame as usize)?;
        let had_left = entry.place == Place::Left;
        entry.place = Place::Nowhere;
        had_left.then_some(entry)
    }

    /// The packet is given up.
    #[inline]
    pub(super) fn take(&mut self, frame: u32) -> Option<Buffer> {
        let entry = &mut self.entries[frame as usize];
        entry.place = Place::Nowhere;
        entry.buffer.take()
    }

    /// All that are in the router, with their frames.
    pub(super) fn present(&self) -> impl Iterator<Item = (u32, &Entry)> {
        (0..).zip(&self.entries).filter(|(_, entry)| entry.buffer.is_some())
    }

    /// All entries, also those of packets that have left, until their frames are used again.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut()
    }

    /// Puts a frame at the end of a list.
    #[inline]
    pub(super) fn push(&mut self, list: &mut List, frame: u32) {
        self.entries[frame as usize].next = NONE;
        match self.entries.get_mut(list.last as usize) {
            Some(last) => last.next = frame,
            None => list.first = frame,
        }
        list.last = frame;
        list.count += 1;
    }

    /// Takes the first frame of a list.
    #[inline]
    pub(super) fn pop(&mut self, list: &mut List) -> Option<u32> {
        let frame = list.first()?;
        list.first = self.entries[frame as usize].next;
        list.count -= 1;
        if list.count == 0 {
            *list = List::default();
        }
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use weir_core::random::Random;

    use super::*;
    use crate::arena::Arena;
    use std::collections::VecDeque;

    #[test]
    fn a_handle_is_small_and_an_entry_bounded() {
        assert_eq!(size_of::<Handle>(), 24);
        assert!(size_of::<Entry>() <= 96, "{}", size_of::<Entry>());
    }

    #[test]
    fn lists_are_queues_that_share_the_table() {
        let mut parked = Parked::new(64);
        let (mut lists, mut expected) = ([List::default(); 3], [const { VecDeque::new() }; 3]);
        let mut random = Random::new(1);
        let mut free: Vec<u32> = (0..64).collect();
        for _ in 0..5_000 {
            let at = random.below(3) as usize;
            match free.pop() {
                Some(frame) if random.one_in(2) => {
                    parked.push(&mut lists[at], frame);
                    expected[at].push_back(frame);
                }
                frame => {
                    free.extend(frame);
                    let taken = parked.pop(&mut lists[at]);
                    assert_eq!(taken, expected[at].pop_front());
                    free.extend(taken);
                }
            }
            assert_eq!(lists[at].count as usize, expected[at].len());
        }
    }

    #[test]
    fn a_frame_of_another_arena_comes_back() {
        let mut arena = Arena::new(2).expect("two pages");
        let mut parked = Parked::new(1);
        let newcomer = Newcomer {
            arrived: 0,
            hop: Ipv4Addr::LOCALHOST.into(),
            slot: 0,
            size: 1,
            whose: Whose::default(),
            egress: 0,
        };
        let (first, second) = (arena.take(0).expect("free"), arena.take(0).expect("free"));
        assert_eq!(parked.put(first, newcomer), Ok(0));
        assert_eq!(parked.put(second, newcomer).map_err(|buffer| buffer.frame()), Err(1));
        assert_eq!(parked.present().count(), 1);
        assert!(parked.take(0).is_some() && parked.take(0).is_none());
    }
}
