//! The Internet checksum: sums, updates, and what a sender has left to its device.
//!
//! A sender that leaves a transport checksum to its device writes the sum of the pseudo-header there and no more.
//! Between virtual devices nobody completes it. Where the kernel does not say so, a checksum that equals that sum is
//! taken for partial: one complete checksum in 65536 equals it as well, and is then computed anew with the same
//! result.
//!
//! | | |
//! |-|-|
//! | Source | RFC 1071; RFC 1624, equation 3; RFC 768 (a UDP checksum of zero); RFC 8200, section 8.1 |
//! | Work | O(1) for updates and detection, O(bytes) to complete |
//! | Units | words of 16 bits in the order of the network |

use super::frame::{ETHERNET, Ends, Packet, Part, TCP, UDP, word};

/// The sum of the words, not folded; an odd last byte counts as the upper half of a word.
#[inline]
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let sum: u64 = words.iter().map(|&word| u64::from(u32::from_be_bytes(word))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum + u64::from(u32::from_be_bytes(last))
}

/// The sum in 16 bits, with the carries added.
#[inline]
pub const fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// The checksum after one word has changed.
#[inline]
pub(super) const fn update(checksum: u16, before: u16, after: u16) -> u16 {
    !fold(!checksum as u64 + !before as u64 + after as u64)
}

/// Writes a word of a frame.
#[inline]
pub fn write(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Changes a word of the IPv4 header of a frame, and its checksum with it.
#[inline]
fn rewrite(frame: &mut [u8], at: usize, after: u16) {
    let (before, checksum) = (word(frame, at), word(frame, ETHERNET + 10));
    write(frame, at, after);
    write(frame, ETHERNET + 10, update(checksum, before, after));
}

/// One router more is passed; the time to live is not zero.
#[inline]
pub(super) fn decrement_ttl(frame: &mut [u8], packet: &Packet) {
    match packet.ends {
        Ends::V4 { .. } => rewrite(frame, ETHERNET + 8, word(frame, ETHERNET + 8).wrapping_sub(0x100)),
        Ends::V6 { .. } => frame[ETHERNET + 7] = packet.ttl.wrapping_sub(1),
    }
}

/// Congestion was experienced (RFC 3168): of an IP packet that can carry the mark.
pub(super) fn mark(frame: &mut [u8]) {
    match frame.get(ETHERNET).map(|first| first >> 4) {
        Some(4) => rewrite(frame, ETHERNET, word(frame, ETHERNET) | 3),
        Some(6) => frame[ETHERNET + 1] |= 0x30,
        _ => {}
    }
}

/// The differentiated services code point of an IP packet; of anything else 0.
pub(super) fn dscp(frame: &[u8]) -> u8 {
    let Some([first, second]) = frame.get(ETHERNET..ETHERNET + 2) else { return 0 };
    match first >> 4 {
        4 => second >> 2,
        6 => (first << 4 | second >> 4) >> 2,
        _ => 0,
    }
}

/// Gives an IP packet another differentiated services code point.
pub(super) fn set_dscp(frame: &mut [u8], dscp: u8) {
    let Some(first) = frame.get(ETHERNET..ETHERNET + 2).map(|bytes| word(bytes, 0)) else { return };
    let dscp = u16::from(dscp);
    match first >> 12 {
        4 => rewrite(frame, ETHERNET, first & 0xff03 | dscp << 2),
        6 => write(frame, ETHERNET, first & 0xf03f | dscp << 6),
        _ => {}
    }
}

/// The sum of the pseudo-header of a protocol's message of `length` bytes.
pub(super) fn pseudo(frame: &[u8], ends: Ends, protocol: u8, length: usize) -> u64 {
    let addresses = match ends {
        Ends::V4 { .. } => ETHERNET + 12..ETHERNET + 20,
        Ends::V6 { .. } => ETHERNET + 8..ETHERNET + 40,
    };
    sum(&frame[addresses]) + u64::from(protocol) + length as u64
}

/// What is known of a transport checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// It is complete, or there is none.
    Complete,
    /// It was left to the device; the frame has it at this place.
    Partial(usize),
    /// It was left to the device, of a protocol that is not known here.
    Unknown,
}

/// Where the checksum of a whole datagram stands in its frame.
#[inline]
fn place(packet: &Packet) -> Option<usize> {
    let offset = match (packet.part, packet.protocol) {
        (Part::Whole, UDP) => 6,
        (Part::Whole, TCP) => 16,
        _ => return None,
    };
    let inside = usize::from(packet.payload) + offset + 2 <= usize::from(packet.size);
    inside.then_some(ETHERNET + usize::from(packet.payload) + offset)
}

/// Whether the transport checksum was left to the device: by the kernel's word, or by its value.
#[inline]
pub(super) fn transport(frame: &[u8], packet: &Packet, said: Option<bool>) -> Transport {
    let place = place(packet);
    match (said, place) {
        (Some(false), _) | (None, None) => Transport::Complete,
        (Some(true), place) => place.map_or(Transport::Unknown, Transport::Partial),
        (None, Some(place)) => {
            let length = usize::from(packet.size - packet.payload);
            let pseudo = fold(pseudo(frame, packet.ends, packet.protocol, length));
            if word(frame, place) == pseudo { Transport::Partial(place) } else { Transport::Complete }
        }
    }
}

/// The checksum of a datagram as it should stand at `place`; never zero, which UDP takes for none.
fn whole(frame: &[u8], packet: &Packet, place: usize) -> u16 {
    let (from, to) = (ETHERNET + usize::from(packet.payload), ETHERNET + usize::from(packet.size));
    let pseudo = pseudo(frame, packet.ends, packet.protocol, to - from);
    // The field begins at an even place, so that what lies on either side sums up in words of its own.
    let without = sum(&frame[from..place]) + sum(&frame[place + 2..to]);
    let checksum = !fold(pseudo + without);
    if packet.protocol == UDP && checksum == 0 { 0xffff } else { checksum }
}

/// Writes the checksum that the sender has left out.
pub(super) fn complete(frame: &mut [u8], packet: &Packet, place: usize) {
    let checksum = whole(frame, packet, place);
    write(frame, place, checksum);
}

/// Whether the checksum at `place` is right after all.
pub(super) fn is_right(frame: &[u8], packet: &Packet, place: usize) -> bool {
    word(frame, place) == whole(frame, packet, place)
}

#[cfg(test)]
mod tests;
