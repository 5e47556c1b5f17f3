//! The bounds of what is read: whatever a file claims, memory stays below their sum.
//!
//! They lie far above what capture programs write: the largest packet of `tcpdump` and Wireshark is the one
//! here, and so is the largest block.

/// The most bytes captured of a packet, and the longest packet.
pub const PACKET: u32 = 256 << 10;
/// The longest block of pcapng that holds a packet or describes a section or an interface, options included.
pub const BLOCK: u32 = 1 << 20;
/// The longest block of pcapng that is passed over; it is not held.
pub const OTHER_BLOCK: u32 = 16 << 20;
/// The most blocks of pcapng in a row without a packet.
pub const IDLE_BLOCKS: u32 = 1 << 20;
/// The most interfaces of a section of pcapng.
pub const INTERFACES: usize = 1 << 12;
/// The most packets of a capture, whether they carry IP or not.
pub const PACKETS: u64 = 200_000_000;
/// The most flows of a capture.
pub const FLOWS: usize = 1_000_000;
/// The longest step back in time that is put right, in nanoseconds.
pub const STEP_BACK: u64 = 1_000_000_000;
/// The longest time from the first packet to the last, in nanoseconds: a year.
pub const SPAN: u64 = 366 * 86_400 * 1_000_000_000;
