//! The format pcap: a header, then records of one kind (draft-ietf-opsawg-pcap).
//!
//! Magic numbers of both byte orders, with microseconds or nanoseconds; version 2.4. The variant of Kuznetzov
//! and others with a magic number of their own are refused. The high half of the link type, which may tell
//! the length of the frame check sequence, is not part of the type.

use pcap_parser::pcap::{PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};

use crate::capture::{Found, Next, check_lengths};
use crate::clock::Clock;
use crate::error::{CaptureError, Fault};
use crate::frame::Link;
use crate::input::Input;

const HEADER: usize = 24;
const RECORD: usize = 16;
const MAGIC: [u32; 4] = [0xa1b2_c3d4, 0xa1b2_3c4d, 0xd4c3_b2a1, 0x4d3c_b2a1];

/// The records of a file.
pub(crate) struct Records {
    big_endian: bool,
    /// Fractions in a second.
    second: u32,
    clock: Clock,
    link: Link,
}

impl Records {
    /// Reads the header, of which the first four bytes are held.
    pub(crate) fn open(input: &mut Input<'_>) -> Result<Self, CaptureError> {
        let magic: [u8; 4] = input.record()[..4].try_into().unwrap_or_default();
        if !MAGIC.contains(&u32::from_le_bytes(magic)) {
            return Err(Fault::Magic(magic).at(0));
        }
        if !input.hold(HEADER)? {
            return Err(Fault::Header.at(0));
        }
        let (_, header) = parse_pcap_header(input.record()).map_err(|_| Fault::Magic(magic).at(0))?;
        Self::described(&header).map_err(|fault| fault.at(0))
    }

    fn described(header: &PcapHeader) -> Result<Self, Fault> {
        if (header.version_major, header.version_minor) != (2, 4) {
            return Err(Fault::Version(header.version_major, header.version_minor));
        }
        let (digits, second) =
            if header.is_nanosecond_precision() { (9, 1_000_000_000) } else { (6, 1_000_000) };
        let link = Link::new((header.network.0 as u32) & 0xffff)?;
        Ok(Self { big_endian: header.is_bigendian(), second, clock: Clock::new(digits, 0)?, link })
    }

    /// Reads the next record.
    pub(crate) fn next(&self, input: &mut Input<'_>) -> Result<Next, CaptureError> {
        input.begin();
        if !input.hold(RECORD)? {
            return Ok(if input.record().is_empty() { Next::End } else { Next::Cut });
        }
        let captured = self.number(&input.record()[8..12]);
        let packet = self.number(&input.record()[12..16]);
        check_lengths(captured, packet).map_err(|fault| fault.at(input.place()))?;
        if !input.hold(RECORD + captured as usize)? {
            return Ok(Next::Cut);
        }
        self.frame(input.record()).map(Next::Frame).map_err(|fault| fault.at(input.place()))
    }

    fn frame(&self, record: &[u8]) -> Result<Found, Fault> {
        let parse = if self.big_endian { parse_pcap_frame_be } else { parse_pcap_frame };
        // A record that is held whole, its length checked, has no other way to fail.
        let (_, frame) = parse(record).map_err(|_| Fault::Captured(record.len() as u32))?;
        if frame.ts_usec >= self.second {
            return Err(Fault::Fraction { found: frame.ts_usec, second: self.second });
        }
        let count = u64::from(frame.ts_sec) * u64::from(self.second) + u64::from(frame.ts_usec);
        Ok(Found {
            at: Some(self.clock.moment(count)),
            length: frame.origlen,
            link: self.link,
            bytes: RECORD..record.len(),
        })
    }

    fn number(&self, bytes: &[u8]) -> u32 {
        let bytes = bytes.try_into().unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}
