//! Packets of IPv4 that are larger than the interface takes by which they leave: cut into fragments.
//!
//! Each fragment but the last has as many bytes as the interface takes, in multiples of eight. The first stays in the
//! frame of the packet, with its header; the others have a copy of it, without the options that are for the first alone.
//! A fragment is cut in the same way: its pieces take its place in the datagram. Where fewer than twice the frames are
//! free that are needed, the packet is dropped as a whole, since one fragment less makes the others useless; so is one of
//! more than [`MOST`] fragments, as a long header makes of a packet.
//!
//! | | |
//! |-|-|
//! | Source | RFC 791, sections 2.3 and 3.2; RFC 1812, section 5.2.6 |
//! | Work per packet | O(its bytes and its fragments) |
//! | Memory | a frame for each fragment |
//! | Units | bytes of IP |

use super::checksum::{self, fold, sum};
use super::discovery::HEADROOM;
use super::frame::{ETHERNET, Packet, word};
use super::snapshot::Reason;
use crate::arena::{Arena, Buffer, FRAME};

/// The most fragments of a packet, besides the first: the largest packet that a frame holds, at the least MTU of IPv4.
pub(super) const MOST: usize = FRAME as usize / 48;
/// The part of a header without options.
const FIXED: usize = 20;
/// The longest header.
const LONGEST: usize = 60;
/// The bits of the word that has the fragment's offset: more fragments follow; the offset, in units of eight bytes.
const MORE: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;
/// An option is copied into all fragments.
const COPIED: u8 = 0x80;
/// The options that are one byte: the end of all, and nothing.
const END: u8 = 0;
const NOTHING: u8 = 1;

/// A header of the fragments behind the first.
struct Header {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Header {
    /// That of a packet, with those of its options that all fragments have.
    fn of(packet: &[u8]) -> Self {
        let mut header = Self { bytes: [0; LONGEST], length: FIXED };
        header.bytes[..FIXED].copy_from_slice(&packet[..FIXED]);
        let mut options = &packet[FIXED..];
        while let [kind, rest @ ..] = options {
            let length = match (*kind, rest.first()) {
                (END, _) => break,
                (NOTHING, _) => 1,
                (_, Some(&length)) if length >= 2 => usize::from(length),
                // What follows cannot be read.
                _ => break,
            };
            let Some((option, rest)) = options.split_at_checked(length) else { break };
            if kind & COPIED != 0 {
                header.bytes[header.length..header.length + length].copy_from_slice(option);
                header.length += length;
            }
            options = rest;
        }
        header.length = header.length.next_multiple_of(4);
        header.bytes[0] = 0x40 | (header.length / 4) as u8;
        header
    }
}

/// How much data a fragment with a header of `header` bytes has at most: a multiple of eight.
fn room(mtu: usize, header: usize) -> usize {
    mtu.saturating_sub(header) & !7
}

/// Completes the header of a fragment: its length, its place and whether more follow, and the checksum.
fn place(ip: &mut [u8], header: usize, place: u16) {
    checksum::write(ip, 2, ip.len() as u16);
    checksum::write(ip, 6, place);
    checksum::write(ip, 10, 0);
    let sum = sum(&ip[..header]);
    checksum::write(ip, 10, !fold(sum));
}

/// Cuts a packet into fragments of at most `mtu` bytes: the first in its frame, the others are put behind `pieces`.
///
/// # Errors
/// Why the packet is to be dropped, of which nothing has changed then.
pub(super) fn cut(
    buffer: &mut Buffer,
    arena: &mut Arena,
    packet: &Packet,
    mtu: u32,
    pieces: &mut Vec<Buffer>,
) -> Result<(), Reason> {
    let (size, header, mtu) = (usize::from(packet.size), usize::from(packet.payload), mtu as usize);
    let mut whole = [0; FRAME as usize];
    whole[..ETHERNET + size].copy_from_slice(&arena.bytes(buffer)[..ETHERNET + size]);
    let (ethernet, ip) = whole[..ETHERNET + size].split_at(ETHERNET);
    let later = Header::of(&ip[..header]);
    let (first, each) = (room(mtu, header), room(mtu, later.length));
    if first == 0 {
        return Err(Reason::TooLarge);
    }
    let flags = word(ip, 6);
    let (begin, more) = (usize::from(flags & OFFSET), flags & MORE);
    let data = &ip[header..];
    if begin + data.len().div_ceil(8) > usize::from(OFFSET) + 1 {
        return Err(Reason::Malformed);
    }
    let behind = data.get(first..).unwrap_or_default();
    let count = behind.len().div_ceil(each);
    if count > MOST {
        return Err(Reason::TooLarge);
    }
    if 2 * count > arena.free() as usize {
        return Err(Reason::NoMemory);
    }
    for (number, part) in behind.chunks(each).enumerate() {
        let at = first + number * each;
        let more = if at + part.len() < data.len() { MORE } else { more };
        let Some(mut piece) = arena.take(HEADROOM) else { break };
        let fits = piece.resize((ETHERNET + later.length + part.len()) as u32);
        debug_assert!(fits, "a fragment is smaller than its packet");
        let frame = arena.bytes_mut(&mut piece);
        frame[..ETHERNET].copy_from_slice(ethernet);
        let ip = &mut frame[ETHERNET..];
        ip[..later.length].copy_from_slice(&later.bytes[..later.length]);
        ip[later.length..].copy_from_slice(part);
        place(ip, later.length, (begin + at / 8) as u16 | more);
        arena.copy_tags(buffer, &mut piece);
        pieces.push(piece);
    }
    let shrunk = buffer.resize((ETHERNET + header + first) as u32);
    debug_assert!(shrunk, "it is shorter than before");
    let ip = &mut arena.bytes_mut(buffer)[ETHERNET..];
    place(ip, header, begin as u16 | MORE);
    Ok(())
}

#[cfg(test)]
mod tests;
