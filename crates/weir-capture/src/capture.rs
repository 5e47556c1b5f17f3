//! A capture: frames in the order of the file, whichever of the formats it has.

use std::io::Read;

use serde::Serialize;

use crate::clock::Moment;
use crate::error::{CaptureError, Fault};
use crate::frame::Link;
use crate::input::Input;
use crate::limits;
use crate::pcap::Records;
use crate::pcapng::Blocks;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The format of `tcpdump`.
    Pcap,
    /// The format of Wireshark.
    Pcapng,
}

/// A captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured<'a> {
    /// Where its record or block begins in the file.
    pub byte: u64,
    /// When, in nanoseconds since 1970; a simple packet block of pcapng does not say.
    pub at: Option<Moment>,
    /// The bytes of the frame as it was, in the reckoning of its link.
    pub length: u32,
    /// What begins it.
    pub link: Link,
    /// What was captured of it.
    pub bytes: &'a [u8],
}

/// A capture that is being read.
pub struct Capture<'r> {
    input: Input<'r>,
    reader: Reader,
    packets: u64,
    cut: Option<u64>,
}

enum Reader {
    Records(Records),
    Blocks(Blocks),
}

/// What the next record or block held.
pub(crate) enum Next {
    /// A frame; see [`Found`].
    Frame(Found),
    /// Something else; ask again.
    Other,
    /// The file ends before it.
    End,
    /// The file ends within it.
    Cut,
}

/// A frame within the record that is held.
pub(crate) struct Found {
    pub(crate) at: Option<Moment>,
    pub(crate) length: u32,
    pub(crate) link: Link,
    /// Where its bytes begin and end in the record.
    pub(crate) bytes: core::ops::Range<usize>,
}

impl<'r> Capture<'r> {
    /// Reads the beginning of a file.
    ///
    /// # Errors
    /// A file that is neither pcap nor pcapng, or of a version that is not read.
    pub fn open(source: impl Read + 'r) -> Result<Self, CaptureError> {
        let mut input = Input::new(source)?;
        if !input.hold(4)? {
            let fault = if input.record().is_empty() { Fault::Empty } else { Fault::Header };
            return Err(fault.at(0));
        }
        let reader = if Blocks::begin(input.record()) {
            Reader::Blocks(Blocks::default())
        } else {
            Reader::Records(Records::open(&mut input)?)
        };
        Ok(Self { input, reader, packets: 0, cut: None })
    }

    /// The format of the file.
    #[must_use]
    pub const fn format(&self) -> Format {
        match self.reader {
            Reader::Records(_) => Format::Pcap,
            Reader::Blocks(_) => Format::Pcapng,
        }
    }

    /// The next frame; `None` at the end.
    ///
    /// # Errors
    /// The first record or block that is refused. Nothing can be read behind it.
    pub fn next_frame(&mut self) -> Result<Option<Captured<'_>>, CaptureError> {
        let found = loop {
            let next = match &mut self.reader {
                Reader::Records(records) => records.next(&mut self.input)?,
                Reader::Blocks(blocks) => blocks.next(&mut self.input)?,
            };
            match next {
                Next::Frame(found) => break found,
                Next::Other => {}
                Next::End => return Ok(None),
                Next::Cut => {
                    self.cut = Some(self.input.place());
                    return Ok(None);
                }
            }
        };
        self.packets += 1;
        let byte = self.input.place();
        if self.packets > limits::PACKETS {
            return Err(Fault::Packets.at(byte));
        }
        let Found { at, length, link, bytes } = found;
        let bytes = self.input.record().get(bytes).unwrap_or_default();
        Ok(Some(Captured { byte, at, length, link, bytes }))
    }

    /// How many frames were read.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Where the record or block begins within which the file ends, if it does.
    #[must_use]
    pub const fn cut(&self) -> Option<u64> {
        self.cut
    }
}

/// Checks the two lengths that a record has for its packet.
pub(crate) const fn check_lengths(captured: u32, packet: u32) -> Result<(), Fault> {
    if captured > limits::PACKET {
        return Err(Fault::Captured(captured));
    }
    if packet > limits::PACKET {
        return Err(Fault::Packet(packet));
    }
    if captured > packet {
        return Err(Fault::Longer { captured, packet });
    }
    Ok(())
}
