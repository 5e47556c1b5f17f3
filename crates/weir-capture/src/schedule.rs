//! The schedule of a capture: when which packet of which flow passed, and how large it was.
//!
//! Times count from the first packet that is scheduled. Captures of several interfaces or queues have packets
//! a little out of order: a packet that is before the one above it takes the time of that one, and the
//! summary says how many did and by how much at most. Larger steps are refused, for a clock was set there or
//! two captures were put together.

use std::collections::BTreeMap;
use std::io::{self, Read};

use serde::Serialize;
use weir_core::units::{Bytes, Nanos};

use crate::capture::{Capture, Captured, Format};
use crate::clock::Moment;
use crate::error::{CaptureError, Fault};
use crate::flows::{Direction, Flow, Flows};
use crate::frame::{Frame, Packet};
use crate::limits;

/// Smaller numbers in the place of an EtherType are lengths, or address families of a loopback.
const ETHERTYPES: u16 = 0x600;

/// A packet of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When it passed, since the first.
    pub at: Nanos,
    /// Its bytes on the line.
    pub size: Bytes,
    /// The number of its flow.
    pub flow: u32,
    /// Its direction in the flow.
    pub direction: Direction,
    /// What its headers say.
    pub packet: Packet,
}

/// A summary of a capture: what it holds besides its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The format of the file.
    pub format: Format,
    /// Frames in the file.
    pub frames: u64,
    /// Packets in the schedule.
    pub packets: u64,
    /// Their bytes on the line.
    pub bytes: u64,
    /// Bytes of the largest.
    pub largest_frame: u32,
    /// The time of the last, since the first.
    pub span_ns: u64,
    /// Flows in the schedule.
    pub flows: u64,
    /// Those with the most bytes forward, the largest first.
    pub largest: Vec<Flow>,
    /// What is to be known of the file before its schedule is relied on.
    pub notes: Notes,
}

/// What was left out or put right; zero and empty in a capture that is in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Notes {
    /// Where the record begins within which the file ends; it is left out.
    pub cut_at_byte: Option<u64>,
    /// Frames without IP, left out: how many of each EtherType, in hexadecimal; `0x0000` where there is none.
    pub without_ip: BTreeMap<String, u64>,
    /// Frames whose addresses were not captured or are damaged, left out.
    pub unreadable: u64,
    /// Packets without a time, left out.
    pub without_time: u64,
    /// Packets whose time was before that of the packet above.
    pub stepped_back: u64,
    /// The longest of these steps, in nanoseconds.
    pub longest_step_ns: u64,
    /// Fragments: they are in the schedule, apart from the flow of their datagram's ports.
    pub fragments: u64,
}

/// Reads a capture: gives each packet to `take`, and returns a summary with the `largest` flows.
///
/// # Errors
/// The first record that is refused, or the first row that cannot be written.
pub fn read(
    source: impl Read,
    largest: usize,
    take: &mut dyn FnMut(&Row) -> io::Result<()>,
) -> Result<Summary, CaptureError> {
    let mut capture = Capture::open(source)?;
    let mut schedule = Schedule::default();
    while let Some(frame) = capture.next_frame()? {
        let byte = frame.byte;
        if let Some(row) = schedule.row(&frame).map_err(|fault| fault.at(byte))? {
            take(&row).map_err(|error| Fault::Unwritable(error.to_string().to_lowercase()).at(byte))?;
        }
    }
    schedule.finish(&capture, largest)
}

/// A schedule in the making.
#[derive(Default)]
struct Schedule {
    first: Option<Moment>,
    last: Nanos,
    packets: u64,
    bytes: u64,
    largest_frame: u32,
    flows: Flows,
    without_ip: BTreeMap<u16, u64>,
    notes: Notes,
}

impl Schedule {
    /// The row of a frame; `None` if it is left out.
    fn row(&mut self, frame: &Captured<'_>) -> Result<Option<Row>, Fault> {
        let packet = match Frame::read(frame.link, frame.bytes) {
            Frame::Ip(packet) => packet,
            Frame::Other(kind) => {
                let kind = if kind < ETHERTYPES { 0 } else { kind };
                *self.without_ip.entry(kind).or_default() += 1;
                return Ok(None);
            }
            Frame::Unreadable => {
                self.notes.unreadable += 1;
                return Ok(None);
            }
        };
        let Some(at) = frame.at else {
            self.notes.without_time += 1;
            return Ok(None);
        };
        let at = self.time(at)?;
        let size = Frame::on_the_line(frame.link, frame.length);
        let (flow, direction) = self.flows.add(&packet, at, size)?;
        self.last = at;
        self.packets += 1;
        self.bytes += u64::from(size);
        self.largest_frame = self.largest_frame.max(size);
        self.notes.fragments += u64::from(packet.fragment);
        Ok(Some(Row { at, size: Bytes::new(u64::from(size)), flow, direction, packet }))
    }

    /// The time since the first packet, never before that of the packet above.
    fn time(&mut self, at: Moment) -> Result<Nanos, Fault> {
        let first = *self.first.get_or_insert(at);
        let last = Moment::from(self.last.get());
        let since = at - first;
        if since < last {
            let step = (last - since).unsigned_abs();
            if step > u128::from(limits::STEP_BACK) {
                return Err(Fault::Back(step));
            }
            self.notes.stepped_back += 1;
            self.notes.longest_step_ns = self.notes.longest_step_ns.max(step as u64);
            return Ok(self.last);
        }
        let since = since.unsigned_abs();
        if since > u128::from(limits::SPAN) { Err(Fault::Late(since)) } else { Ok(Nanos::new(since as u64)) }
    }

    fn finish(self, capture: &Capture<'_>, largest: usize) -> Result<Summary, CaptureError> {
        if self.packets == 0 {
            return Err(Fault::Nothing.at(0));
        }
        let without_ip =
            self.without_ip.iter().map(|(kind, count)| (format!("0x{kind:04x}"), *count)).collect();
        Ok(Summary {
            format: capture.format(),
            frames: capture.packets(),
            packets: self.packets,
            bytes: self.bytes,
            largest_frame: self.largest_frame,
            span_ns: self.last.get(),
            flows: self.flows.len() as u64,
            largest: self.flows.largest(largest),
            notes: Notes { cut_at_byte: capture.cut(), without_ip, ..self.notes },
        })
    }
}
