//! Why a capture is refused, and at which byte.

use core::error::Error;
use core::fmt;

use crate::limits;

/// A capture that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureError {
    /// Where the record, block or header begins that is refused; of a compressed file, after unpacking.
    pub byte: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The file cannot be read, for the reason of the system or of gzip.
    Unreadable(String),
    /// There is no byte in the file.
    Empty,
    /// The file begins with these bytes, which begin neither pcap nor pcapng.
    Magic([u8; 4]),
    /// The file ends within its first header.
    Header,
    /// The version of the format, major and minor, is not one that is read.
    Version(u16, u16),
    /// The byte order of a section is written as this.
    ByteOrder([u8; 4]),
    /// The type of link is not one that is read.
    Link(u32),
    /// This many bytes were captured of a packet: more than [`limits::PACKET`].
    Captured(u32),
    /// The packet was this long: more than [`limits::PACKET`].
    Packet(u32),
    /// More bytes were captured of a packet than it had.
    Longer {
        /// The bytes captured.
        captured: u32,
        /// The length of the packet.
        packet: u32,
    },
    /// More bytes were captured of a packet than its block holds.
    Overrun {
        /// The bytes captured.
        captured: u32,
        /// The room for them.
        room: u32,
    },
    /// The fraction of a second is not below a second.
    Fraction {
        /// As it stands there.
        found: u32,
        /// How many make a second.
        second: u32,
    },
    /// The length of a block is below its least, above its most, or no multiple of 4.
    BlockLength {
        /// The type of the block.
        kind: u32,
        /// As it stands there.
        found: u32,
        /// The least length of a block of this type.
        least: u32,
        /// The most that is read.
        most: u32,
    },
    /// The two lengths of a block, before it and behind it, differ.
    BlockEnds(u32, u32),
    /// A block is not laid out as one of this type is.
    Block(u32),
    /// A packet came through an interface that no block before it describes.
    Interface {
        /// The number of the interface, from 0.
        found: u32,
        /// How many are described before.
        known: usize,
    },
    /// A section describes more than [`limits::INTERFACES`].
    Interfaces,
    /// The unit of times is written as this, finer than a number of 64 bits can count a second in.
    Resolution(u8),
    /// More than [`limits::IDLE_BLOCKS`] follow each other without a packet.
    Idle,
    /// Time goes back by this many nanoseconds: more than [`limits::STEP_BACK`].
    Back(u128),
    /// The packet came this many nanoseconds after the first: more than [`limits::SPAN`].
    Late(u128),
    /// There are more than [`limits::PACKETS`].
    Packets,
    /// There are more than [`limits::FLOWS`].
    Flows,
    /// No packet has both an IP header and a time.
    Nothing,
    /// What was read cannot be written, for the reason of the system.
    Unwritable(String),
}

impl Fault {
    /// This fault at a byte.
    pub(crate) const fn at(self, byte: u64) -> CaptureError {
        CaptureError { byte, fault: self }
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "check the file and its permissions; it may be damaged",
            Self::Unwritable(_) => "check the disk and the permissions of the folder",
            Self::Empty | Self::Header => "record it again: there is no packet in it",
            Self::Magic(_) | Self::Version(..) | Self::ByteOrder(_) => {
                "give a pcap or pcapng file; `editcap -F pcapng IN OUT` converts other formats"
            }
            Self::Link(_) => {
                "record on an Ethernet, loopback, raw IP or `any` interface, or take only the packets of one \
                 with `tshark -r IN -Y frame.interface_id==0 -w OUT`"
            }
            Self::Captured(_) | Self::Packet(_) | Self::Longer { .. } | Self::Overrun { .. } => {
                "the file is damaged from here on; `editcap -r IN OUT 1-N` keeps the N packets before"
            }
            Self::Fraction { .. } | Self::BlockLength { .. } | Self::BlockEnds(..) | Self::Block(_) => {
                "the file is damaged from here on; `editcap -r IN OUT 1-N` keeps the N packets before"
            }
            Self::Interface { .. } => {
                "the file is damaged, or was joined by hand; join captures with `mergecap -w OUT IN...`"
            }
            Self::Interfaces | Self::Idle => "rewrite it with `editcap IN OUT`",
            Self::Resolution(_) => "rewrite it with `editcap -F nsecpcap IN OUT`",
            Self::Back(_) => "put the packets in order with `reordercap IN OUT`",
            Self::Late(_) => "cut it with `editcap -A START -B STOP IN OUT`",
            Self::Packets => "cut it with `editcap -c 100000000 IN OUT`",
            Self::Flows => "cut it with `editcap -i 60 IN OUT` into minutes",
            Self::Nothing => "record IP traffic; frames without IP are not scheduled",
        }
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Unreadable(_) | Fault::Unwritable(_) | Fault::Empty | Fault::Nothing => {
                self.fault.fmt(out)
            }
            fault => write!(out, "byte {}: {fault}", self.byte),
        }
    }
}

impl Error for CaptureError {}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(reason) => write!(out, "cannot be read: {reason}"),
            Self::Unwritable(reason) => write!(out, "the schedule cannot be written: {reason}"),
            Self::Empty => out.write_str("is empty, must be a pcap or pcapng file"),
            Self::Nothing => out.write_str("no packet has both an IP header and a time"),
            Self::Header => out.write_str("the file ends within its first header"),
            Self::Magic(bytes) => {
                write!(out, "the file begins with {}, which is neither pcap nor pcapng", Hex(bytes))
            }
            Self::Version(major, minor) => {
                write!(out, "the version is {major}.{minor}, must be 2.4 of pcap, or 1.0 or 1.2 of pcapng")
            }
            Self::ByteOrder(bytes) => {
                write!(out, "the byte order of the section is {}, must be 1a2b3c4d or 4d3c2b1a", Hex(bytes))
            }
            Self::Link(kind) => write!(
                out,
                "the link type is {kind}, must be 0 or 108 (loopback), 1 (Ethernet), 101, 12, 14, 228 or 229 (IP), \
                 113 or 276 (Linux cooked)"
            ),
            other => other.number(out),
        }
    }
}

impl Fault {
    /// The faults that are a number out of bounds.
    fn number(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Captured(found) => write!(
                out,
                "the captured length of the packet is {found} bytes, must be at most {}",
                limits::PACKET
            ),
            Self::Packet(found) => {
                write!(out, "the length of the packet is {found} bytes, must be at most {}", limits::PACKET)
            }
            Self::Longer { captured, packet } => {
                write!(
                    out,
                    "the captured length is {captured} bytes, more than the {packet} bytes of the packet"
                )
            }
            Self::Overrun { captured, room } => {
                write!(
                    out,
                    "the captured length is {captured} bytes, more than the {room} bytes of room in the block"
                )
            }
            Self::Fraction { found, second } => {
                write!(out, "the fraction of the second is {found}, must be below {second}")
            }
            Self::BlockLength { kind, found, least, most } => write!(
                out,
                "the length of the block (type {kind}) is {found}, must be a multiple of 4 from {least} to {most}"
            ),
            Self::BlockEnds(first, last) => {
                write!(out, "the length of the block is {first} at its start and {last} at its end")
            }
            Self::Block(kind) => write!(out, "the block does not have the layout of type {kind}"),
            Self::Interface { found, known } => {
                write!(out, "the packet names interface {found}, but only {known} are described")
            }
            Self::Interfaces => {
                write!(out, "the section describes more than {} interfaces", limits::INTERFACES)
            }
            Self::Resolution(found) => write!(
                out,
                "the unit of times (if_tsresol) is {found}, must be at most 19 (10^-19 s), or from 128 to 191 (2^-63 s)"
            ),
            Self::Idle => write!(out, "{} blocks in a row hold no packet", limits::IDLE_BLOCKS),
            Self::Back(step) => {
                let most = Span(u128::from(limits::STEP_BACK));
                write!(out, "time goes back by {}, at most {most} can be corrected", Span(*step))
            }
            Self::Late(span) => {
                let most = Span(u128::from(limits::SPAN));
                write!(out, "the packet comes {} after the first, at most {most} are read", Span(*span))
            }
            Self::Packets => write!(out, "there are more than {} packets", limits::PACKETS),
            Self::Flows => write!(out, "there are more than {} flows", limits::FLOWS),
            _ => Ok(()),
        }
    }
}

/// Nanoseconds in the unit that suits them, rounded up, so that what is above a bound in whole units is shown so.
struct Span(u128);

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECOND: u128 = 1_000_000_000;
        const DAY: u128 = 86_400 * SECOND;
        let (unit, name) = match self.0 / DAY {
            0..2 => (SECOND, "s"),
            2..1_000 => (DAY, "days"),
            _ => (365 * DAY, "years"),
        };
        let thousandths = self.0.div_ceil(unit / 1_000);
        write!(out, "{} {name}", thousandths as f64 / 1_000.0)
    }
}

/// Bytes in hexadecimal, in the order of the file.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}
