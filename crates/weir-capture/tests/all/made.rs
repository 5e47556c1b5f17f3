//! Captures and frames made byte by byte.

use weir_capture::{CaptureError, Row, Summary};

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

pub(crate) use Order::{Big, Little};

impl Order {
    pub(crate) fn u16(self, value: u16) -> [u8; 2] {
        if self == Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub(crate) fn u32(self, value: u32) -> [u8; 4] {
        if self == Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub(crate) fn u64(self, value: u64) -> [u8; 8] {
        if self == Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }
}

/// The header of a pcap file.
pub(crate) fn pcap(order: Order, magic: u32, link: u32) -> Vec<u8> {
    let mut file = order.u32(magic).to_vec();
    file.extend(order.u16(2));
    file.extend(order.u16(4));
    for number in [0, 0, 65535, link] {
        file.extend(order.u32(number));
    }
    file
}

pub(crate) const MICRO: u32 = 0xa1b2_c3d4;
pub(crate) const NANO: u32 = 0xa1b2_3c4d;

/// A record of a pcap file, with lengths as given.
pub(crate) fn record_of(
    order: Order,
    (second, fraction): (u32, u32),
    captured: u32,
    length: u32,
    bytes: &[u8],
) -> Vec<u8> {
    let mut record = Vec::new();
    for number in [second, fraction, captured, length] {
        record.extend(order.u32(number));
    }
    record.extend(bytes);
    record
}

pub(crate) fn record(order: Order, at: (u32, u32), bytes: &[u8]) -> Vec<u8> {
    record_of(order, at, bytes.len() as u32, bytes.len() as u32, bytes)
}

/// A block of pcapng around a body, padded.
pub(crate) fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = order.u32(padded as u32 + 12);
    let mut block = order.u32(kind).to_vec();
    block.extend(length);
    block.extend(body);
    block.resize(8 + padded, 0);
    block.extend(length);
    block
}

pub(crate) fn section(order: Order) -> Vec<u8> {
    let mut body = order.u32(0x1a2b_3c4d).to_vec();
    body.extend(order.u16(1));
    body.extend(order.u16(0));
    body.extend(order.u64(u64::MAX));
    block(order, 0x0a0d_0d0a, &body)
}

/// An option of a block, padded.
pub(crate) fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let mut option = order.u16(code).to_vec();
    option.extend(order.u16(value.len() as u16));
    option.extend(value);
    option.resize(option.len().next_multiple_of(4), 0);
    option
}

/// An interface with its unit of time and its offset.
pub(crate) fn interface(order: Order, link: u16, resolution: Option<u8>, offset: Option<i64>) -> Vec<u8> {
    let mut body = order.u16(link).to_vec();
    body.extend([0, 0]);
    body.extend(order.u32(0));
    body.extend(option(order, 2, b"eth0"));
    if let Some(resolution) = resolution {
        body.extend(option(order, 9, &[resolution]));
    }
    if let Some(offset) = offset {
        body.extend(option(order, 14, &order.u64(offset as u64)));
    }
    body.extend([0; 4]);
    block(order, 1, &body)
}

/// An enhanced packet block, with lengths as given.
pub(crate) fn enhanced_of(
    order: Order,
    interface: u32,
    at: u64,
    captured: u32,
    length: u32,
    bytes: &[u8],
) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [interface, (at >> 32) as u32, at as u32, captured, length] {
        body.extend(order.u32(number));
    }
    body.extend(bytes);
    block(order, 6, &body)
}

pub(crate) fn enhanced(order: Order, interface: u32, at: u64, bytes: &[u8]) -> Vec<u8> {
    enhanced_of(order, interface, at, bytes.len() as u32, bytes.len() as u32, bytes)
}

/// The obsolete packet block.
pub(crate) fn obsolete(order: Order, interface: u16, at: u64, bytes: &[u8]) -> Vec<u8> {
    let mut body = order.u16(interface).to_vec();
    body.extend([0xff, 0xff]);
    for number in [(at >> 32) as u32, at as u32, bytes.len() as u32, bytes.len() as u32] {
        body.extend(order.u32(number));
    }
    body.extend(bytes);
    block(order, 2, &body)
}

pub(crate) fn simple(order: Order, bytes: &[u8]) -> Vec<u8> {
    let mut body = order.u32(bytes.len() as u32).to_vec();
    body.extend(bytes);
    block(order, 3, &body)
}

/// An IPv4 packet from one address of 10.0.0.0/24 to another.
pub(crate) fn ipv4(from: (u8, u16), to: (u8, u16), protocol: u8, dscp: u8, payload: usize) -> Vec<u8> {
    let total = 24 + payload;
    let mut packet =
        vec![0x45, dscp << 2, (total >> 8) as u8, total as u8, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    packet.extend([10, 0, 0, from.0, 10, 0, 0, to.0]);
    packet.extend(from.1.to_be_bytes());
    packet.extend(to.1.to_be_bytes());
    packet.resize(total, 0);
    packet
}

pub(crate) fn ipv6(from: (u8, u16), to: (u8, u16), protocol: u8, dscp: u8, payload: usize) -> Vec<u8> {
    let length = 4 + payload;
    let mut packet = vec![0x60 | dscp >> 2, dscp << 6, 0, 0, (length >> 8) as u8, length as u8, protocol, 64];
    for last in [from.0, to.0] {
        packet.extend([0xfd; 15]);
        packet.push(last);
    }
    packet.extend(from.1.to_be_bytes());
    packet.extend(to.1.to_be_bytes());
    packet.resize(40 + length, 0);
    packet
}

/// An Ethernet frame around a payload, with tags.
pub(crate) fn ethernet(kind: u16, tags: &[u16], payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    for tag in tags {
        frame.extend(0x8100_u16.to_be_bytes());
        frame.extend(tag.to_be_bytes());
    }
    frame.extend(kind.to_be_bytes());
    frame.extend(payload);
    frame
}

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;

/// A frame of TCP between two hosts, `payload` bytes behind the ports.
pub(crate) fn tcp(from: (u8, u16), to: (u8, u16), payload: usize) -> Vec<u8> {
    ethernet(IPV4, &[], &ipv4(from, to, 6, 0, payload))
}

/// Reads a file whole: its rows, and its summary or refusal.
pub(crate) fn read(file: &[u8]) -> (Vec<Row>, Result<Summary, CaptureError>) {
    let mut rows = Vec::new();
    let summary = weir_capture::read(file, 16, &mut |row| {
        rows.push(*row);
        Ok(())
    });
    (rows, summary)
}

/// Reads a file that is in order.
pub(crate) fn good(file: &[u8]) -> (Vec<Row>, Summary) {
    let (rows, summary) = read(file);
    (rows, summary.expect("in order"))
}

/// The times and sizes of rows.
pub(crate) fn timed(rows: &[Row]) -> Vec<(u64, u64)> {
    rows.iter().map(|row| (row.at.get(), row.size.get())).collect()
}

/// The flows and directions of rows: `0f 1f 0r`.
pub(crate) fn flows(rows: &[Row]) -> String {
    let words: Vec<String> =
        rows.iter().map(|row| format!("{}{}", row.flow, row.direction.letter())).collect();
    words.join(" ")
}
