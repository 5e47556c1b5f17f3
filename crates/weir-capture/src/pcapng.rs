//! The format pcapng: blocks of many kinds, in sections (draft-ietf-opsawg-pcapng).
//!
//! A section has its own byte order and its own interfaces, each with its link type and its unit of time.
//! Packets are in enhanced, simple and (obsolete) packet blocks; all other blocks are passed over unread. The
//! length of a section is not gone by, nor is the length of the frame check sequence.
//!
//! The library lays out blocks and their options; what is not as the draft has it in its 0.17 is done here:
//! units of time that are powers of two, offsets of time in sections of the other byte order, and the obsolete
//! packet block.

use core::ops::Range;

use pcap_parser::pcapng as library;
use pcap_parser::pcapng::{EPB_MAGIC, IDB_MAGIC, OptionCode, PcapNGOption, SHB_MAGIC, SPB_MAGIC};

use crate::capture::{Found, Next, check_lengths};
use crate::clock::{Clock, Moment};
use crate::error::{CaptureError, Fault};
use crate::frame::Link;
use crate::input::Input;
use crate::limits;

/// The obsolete packet block.
const OPB_MAGIC: u32 = 2;
const BYTE_ORDER: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
/// The type of a block and its length.
const HEADER: usize = 8;
/// The length again, behind the block.
const TRAILER: usize = 4;
/// Times are in microseconds where the interface does not say otherwise.
const MICROSECONDS: u8 = 6;

/// The blocks of a file.
#[derive(Default)]
pub(crate) struct Blocks {
    /// Whether the first block is begun.
    begun: bool,
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Blocks since the last packet.
    idle: u32,
}

/// Where packets were captured.
#[derive(Clone, Copy)]
struct Interface {
    kind: u32,
    clock: Clock,
    /// The most bytes captured of a packet; 0 for all of it.
    most: u32,
}

/// The fields of a packet block.
struct Fields {
    interface: u32,
    at: Option<u64>,
    captured: u32,
    length: u32,
    /// Where the bytes begin in the block.
    begin: usize,
}

impl Blocks {
    /// Whether a file that begins like this is pcapng.
    pub(crate) fn begin(bytes: &[u8]) -> bool {
        bytes.starts_with(&SHB_MAGIC.to_le_bytes())
    }

    /// Reads the next block. The first bytes of the first one are held already.
    pub(crate) fn next(&mut self, input: &mut Input<'_>) -> Result<Next, CaptureError> {
        if self.begun {
            input.begin();
        }
        self.begun = true;
        self.block(input).map_err(|refused| match refused {
            Refused::Here(fault) => fault.at(input.place()),
            Refused::There(error) => error,
        })
    }

    fn block(&mut self, input: &mut Input<'_>) -> Result<Next, Refused> {
        if !input.hold(HEADER)? {
            let is_first = input.place() == 0;
            return if is_first { Err(Fault::Header.into()) } else { Ok(ended(input)) };
        }
        let kind = self.number(input, 0);
        if kind == SHB_MAGIC && !self.section(input)? {
            return if input.place() == 0 { Err(Fault::Header.into()) } else { Ok(Next::Cut) };
        }
        let length = self.number(input, 4);
        check_length(kind, length)?;
        let is_read = matches!(kind, SHB_MAGIC | IDB_MAGIC | EPB_MAGIC | SPB_MAGIC | OPB_MAGIC);
        let is_whole = if is_read { input.hold(length as usize)? } else { pass_over(input, length)? };
        if !is_whole {
            return if input.place() == 0 { Err(Fault::Header.into()) } else { Ok(Next::Cut) };
        }
        let behind = self.number(input, input.record().len() - TRAILER);
        if behind != length {
            return Err(Fault::BlockEnds(length, behind).into());
        }
        self.count(kind)?;
        self.content(kind, input.record()).map_err(Refused::Here)
    }

    /// Reads the byte order of a section; false if the file ends before.
    fn section(&mut self, input: &mut Input<'_>) -> Result<bool, Refused> {
        if !input.hold(HEADER + BYTE_ORDER.len())? {
            return Ok(false);
        }
        let order: [u8; 4] = input.record()[HEADER..].try_into().unwrap_or_default();
        let mut swapped = order;
        swapped.reverse();
        self.big_endian = order == BYTE_ORDER;
        if self.big_endian || swapped == BYTE_ORDER { Ok(true) } else { Err(Fault::ByteOrder(order).into()) }
    }

    /// Bounds the blocks between two packets.
    fn count(&mut self, kind: u32) -> Result<(), Fault> {
        let is_packet = matches!(kind, EPB_MAGIC | SPB_MAGIC | OPB_MAGIC);
        self.idle = if is_packet { 0 } else { self.idle + 1 };
        if self.idle > limits::IDLE_BLOCKS { Err(Fault::Idle) } else { Ok(()) }
    }

    fn content(&mut self, kind: u32, block: &[u8]) -> Result<Next, Fault> {
        match kind {
            SHB_MAGIC => self.begin_section(block),
            IDB_MAGIC => self.describe(block),
            EPB_MAGIC => self.enhanced(block).and_then(|fields| self.frame(&fields, block)),
            SPB_MAGIC => self.simple(block).and_then(|fields| self.frame(&fields, block)),
            OPB_MAGIC => self.frame(&self.obsolete(block), block),
            _ => Ok(Next::Other),
        }
    }

    fn begin_section(&mut self, block: &[u8]) -> Result<Next, Fault> {
        let (_, section) = library::parse_sectionheaderblock(block).map_err(|_| Fault::Block(SHB_MAGIC))?;
        if section.major_version != 1 || !matches!(section.minor_version, 0 | 2) {
            return Err(Fault::Version(section.major_version, section.minor_version));
        }
        self.interfaces.clear();
        Ok(Next::Other)
    }

    fn describe(&mut self, block: &[u8]) -> Result<Next, Fault> {
        let parse = if self.big_endian {
            library::parse_interfacedescriptionblock_be
        } else {
            library::parse_interfacedescriptionblock_le
        };
        let (_, described) = parse(block).map_err(|_| Fault::Block(IDB_MAGIC))?;
        if self.interfaces.len() == limits::INTERFACES {
            return Err(Fault::Interfaces);
        }
        let clock = self.clock(&described.options)?;
        let kind = described.linktype.0 as u32;
        self.interfaces.push(Interface { kind, clock, most: described.snaplen });
        Ok(Next::Other)
    }

    /// The first option of its kind counts.
    fn clock(&self, options: &[PcapNGOption<'_>]) -> Result<Clock, Fault> {
        let value = |code| options.iter().find(|option| option.code == code).map(PcapNGOption::value);
        let resolution = match value(OptionCode::IfTsresol) {
            None => MICROSECONDS,
            Some(value) => *value.first().ok_or(Fault::Block(IDB_MAGIC))?,
        };
        let offset = match value(OptionCode::IfTsoffset) {
            None => 0,
            Some(value) => {
                let bytes = value.try_into().map_err(|_| Fault::Block(IDB_MAGIC))?;
                if self.big_endian { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) }
            }
        };
        Clock::new(resolution, offset)
    }

    fn enhanced(&self, block: &[u8]) -> Result<Fields, Fault> {
        const BEGIN: usize = 28;
        // Before the library lays it out: it says no more than that it cannot.
        check_room(self.at(block, 20), self.at(block, 24), block.len() - BEGIN - TRAILER)?;
        let parse = if self.big_endian {
            library::parse_enhancedpacketblock_be
        } else {
            library::parse_enhancedpacketblock_le
        };
        let (_, packet) = parse(block).map_err(|_| Fault::Block(EPB_MAGIC))?;
        Ok(Fields {
            interface: packet.if_id,
            at: Some(u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low)),
            captured: packet.caplen,
            length: packet.origlen,
            begin: BEGIN,
        })
    }

    /// A simple packet came through the first interface, nobody knows when.
    fn simple(&self, block: &[u8]) -> Result<Fields, Fault> {
        const BEGIN: usize = 12;
        let room = block.len() - BEGIN - TRAILER;
        let length = self.at(block, HEADER);
        let most = match self.interfaces.first() {
            Some(Interface { most, .. }) if *most > 0 => *most,
            _ => u32::MAX,
        };
        check_room(length.min(most), length, room)?;
        Ok(Fields { interface: 0, at: None, captured: length.min(most), length, begin: BEGIN })
    }

    fn obsolete(&self, block: &[u8]) -> Fields {
        let interface = block[HEADER..HEADER + 2].try_into().unwrap_or_default();
        let interface =
            if self.big_endian { u16::from_be_bytes(interface) } else { u16::from_le_bytes(interface) };
        Fields {
            interface: u32::from(interface),
            at: Some(u64::from(self.at(block, 12)) << 32 | u64::from(self.at(block, 16))),
            captured: self.at(block, 20),
            length: self.at(block, 24),
            begin: 28,
        }
    }

    fn frame(&self, fields: &Fields, block: &[u8]) -> Result<Next, Fault> {
        let room = block.len() - fields.begin - TRAILER;
        check_room(fields.captured, fields.length, room)?;
        let known = self.interfaces.len();
        let unknown = Fault::Interface { found: fields.interface, known };
        let interface = self.interfaces.get(fields.interface as usize).ok_or(unknown)?;
        let at: Option<Moment> = fields.at.map(|count| interface.clock.moment(count));
        let bytes: Range<usize> = fields.begin..fields.begin + fields.captured as usize;
        Ok(Next::Frame(Found { at, length: fields.length, link: Link::new(interface.kind)?, bytes }))
    }

    fn number(&self, input: &Input<'_>, place: usize) -> u32 {
        self.at(input.record(), place)
    }

    /// The number at a place of a block that is known to reach so far.
    fn at(&self, block: &[u8], place: usize) -> u32 {
        let bytes = block.get(place..place + 4).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}

/// A refusal of the block that is held, or one that has its place.
enum Refused {
    Here(Fault),
    There(CaptureError),
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self::Here(fault)
    }
}

impl From<CaptureError> for Refused {
    fn from(error: CaptureError) -> Self {
        Self::There(error)
    }
}

fn ended(input: &Input<'_>) -> Next {
    if input.record().is_empty() { Next::End } else { Next::Cut }
}

/// Passes over all of a block but its header, which is held, and the length behind it, which is then held.
fn pass_over(input: &mut Input<'_>, length: u32) -> Result<bool, CaptureError> {
    let within = length as usize - HEADER - TRAILER;
    Ok(input.skip(within as u64)? && input.hold(HEADER + TRAILER)?)
}

fn check_length(kind: u32, found: u32) -> Result<(), Fault> {
    let (least, most) = match kind {
        SHB_MAGIC => (28, limits::BLOCK),
        IDB_MAGIC => (20, limits::BLOCK),
        EPB_MAGIC | OPB_MAGIC => (32, limits::BLOCK),
        SPB_MAGIC => (16, limits::BLOCK),
        _ => (12, limits::OTHER_BLOCK),
    };
    if (least..=most).contains(&found) && found.is_multiple_of(4) {
        Ok(())
    } else {
        Err(Fault::BlockLength { kind, found, least, most })
    }
}

fn check_room(captured: u32, length: u32, room: usize) -> Result<(), Fault> {
    check_lengths(captured, length)?;
    if captured as usize <= room { Ok(()) } else { Err(Fault::Overrun { captured, room: room as u32 }) }
}
