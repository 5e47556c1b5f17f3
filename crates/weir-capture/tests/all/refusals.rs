//! Files that lie, word by word, and files that do not end.

use std::io::{self, Read};

use super::made::*;
use weir_capture::{Fault, limits};

/// A refusal as it is shown: what and where, and what to do.
fn refusal(file: &[u8]) -> String {
    let (_, summary) = read(file);
    let error = summary.expect_err("must be refused");
    format!("{error}: {}", error.fault.remedy())
}

fn pcap_with(records: &[u8]) -> Vec<u8> {
    [pcap(Little, MICRO, 1), records.to_vec()].concat()
}

fn pcapng_with(order: Order, blocks: &[u8]) -> Vec<u8> {
    [section(order), interface(order, 1, None, None), blocks.to_vec()].concat()
}

/// A block with a changed word.
fn changed(mut block: Vec<u8>, place: usize, word: u32) -> Vec<u8> {
    block[place..place + 4].copy_from_slice(&word.to_le_bytes());
    block
}

const DAMAGED: &str = "the file is damaged from here on; `editcap -r IN OUT 1-N` keeps the N packets before";
const CONVERT: &str = "give a pcap or pcapng file; `editcap -F pcapng IN OUT` converts other formats";

#[test]
fn headers_that_are_none() {
    let whole = pcap(Little, MICRO, 1);
    let links = "0 or 108 (loopback), 1 (Ethernet), 101, 12, 14, 228 or 229 (IP), 113 or 276 (Linux cooked)";
    let record_on = "record on an Ethernet, loopback, raw IP or `any` interface, or take only the packets of one \
                     with `tshark -r IN -Y frame.interface_id==0 -w OUT`";
    let again = "record it again: there is no packet in it";
    let mut version = whole.clone();
    version[4] = 3;
    let mut section_version = section(Big);
    section_version[13] = 2;
    for (file, expected) in [
        (vec![], format!("is empty, must be a pcap or pcapng file: {again}")),
        (vec![0xd4, 0xc3], format!("byte 0: the file ends within its first header: {again}")),
        (whole[..23].to_vec(), format!("byte 0: the file ends within its first header: {again}")),
        (section(Little)[..27].to_vec(), format!("byte 0: the file ends within its first header: {again}")),
        (section(Little)[..6].to_vec(), format!("byte 0: the file ends within its first header: {again}")),
        (
            b"GET / HTTP/1.1".to_vec(),
            format!("byte 0: the file begins with 47455420, which is neither pcap nor pcapng: {CONVERT}"),
        ),
        (
            vec![0; 100],
            format!("byte 0: the file begins with 00000000, which is neither pcap nor pcapng: {CONVERT}"),
        ),
        (
            // The variant of Kuznetzov.
            vec![0x34, 0xcd, 0xb2, 0xa1],
            format!("byte 0: the file begins with 34cdb2a1, which is neither pcap nor pcapng: {CONVERT}"),
        ),
        (
            version,
            format!("byte 0: the version is 3.4, must be 2.4 of pcap, or 1.0 or 1.2 of pcapng: {CONVERT}"),
        ),
        (
            section_version,
            format!("byte 0: the version is 2.0, must be 2.4 of pcap, or 1.0 or 1.2 of pcapng: {CONVERT}"),
        ),
        (
            changed(section(Little), 8, 0x1234_5678),
            format!(
                "byte 0: the byte order of the section is 78563412, must be 1a2b3c4d or 4d3c2b1a: {CONVERT}"
            ),
        ),
        (pcap(Big, NANO, 127), format!("byte 0: the link type is 127, must be {links}: {record_on}")),
        (
            [section(Big), interface(Big, 189, None, None), enhanced(Big, 0, 0, &[0; 9])].concat(),
            format!("byte 60: the link type is 189, must be {links}: {record_on}"),
        ),
        (whole, format!("no packet has both an IP header and a time: {}", Fault::Nothing.remedy())),
        (
            pcapng_with(Big, &simple(Big, &tcp((1, 1), (2, 2), 0))),
            format!("no packet has both an IP header and a time: {}", Fault::Nothing.remedy()),
        ),
    ] {
        assert_eq!(refusal(&file), expected);
    }
}

#[test]
fn records_of_pcap_that_lie() {
    let good = record(Little, (1, 0), &tcp((1, 1), (2, 2), 0));
    let second = 24 + good.len();
    for (bad, expected) in [
        (
            record_of(Little, (1, 0), u32::MAX, u32::MAX, &[0; 60]),
            "the captured length of the packet is 4294967295 bytes, must be at most 262144".to_owned(),
        ),
        (
            record_of(Little, (1, 0), 262_145, 262_145, &[0; 60]),
            "the captured length of the packet is 262145 bytes, must be at most 262144".to_owned(),
        ),
        (
            record_of(Little, (1, 0), 60, u32::MAX, &[0; 60]),
            "the length of the packet is 4294967295 bytes, must be at most 262144".to_owned(),
        ),
        (
            record_of(Little, (1, 0), 60, 59, &[0; 60]),
            "the captured length is 60 bytes, more than the 59 bytes of the packet".to_owned(),
        ),
        (
            record(Little, (1, 1_000_000), &[0; 60]),
            "the fraction of the second is 1000000, must be below 1000000".to_owned(),
        ),
    ] {
        assert_eq!(
            refusal(&pcap_with(&[&good[..], &bad].concat())),
            format!("byte {second}: {expected}: {DAMAGED}")
        );
    }
}

#[test]
fn blocks_of_pcapng_that_lie() {
    let frame = tcp((1, 1), (2, 2), 2);
    let good = enhanced(Little, 0, 1_000_000, &frame);
    let third = 28 + 32 + good.len();
    let lengths = |kind: u32, found: u32, least: u32, most: u32| {
        format!(
            "the length of the block (type {kind}) is {found}, must be a multiple of 4 from {least} to {most}: {DAMAGED}"
        )
    };
    let mergecap = Fault::Interface { found: 0, known: 0 }.remedy();
    for (bad, expected) in [
        (changed(good.clone(), 4, 0), lengths(6, 0, 32, 1 << 20)),
        (changed(good.clone(), 4, 28), lengths(6, 28, 32, 1 << 20)),
        (changed(good.clone(), 4, 33), lengths(6, 33, 32, 1 << 20)),
        (changed(good.clone(), 4, u32::MAX - 3), lengths(6, u32::MAX - 3, 32, 1 << 20)),
        (changed(block(Little, 99, &[]), 4, 0), lengths(99, 0, 12, 16 << 20)),
        (changed(block(Little, 99, &[]), 4, u32::MAX - 3), lengths(99, u32::MAX - 3, 12, 16 << 20)),
        (changed(section(Little), 4, 12), lengths(0x0a0d_0d0a, 12, 28, 1 << 20)),
        (
            changed(good.clone(), good.len() - 4, 0),
            format!("the length of the block is {} at its start and 0 at its end: {DAMAGED}", good.len()),
        ),
        (
            changed(block(Little, 99, &[0; 8]), 16, 24),
            format!("the length of the block is 20 at its start and 24 at its end: {DAMAGED}"),
        ),
        (
            enhanced_of(Little, 0, 0, u32::MAX, u32::MAX, &frame),
            format!(
                "the captured length of the packet is 4294967295 bytes, must be at most 262144: {DAMAGED}"
            ),
        ),
        (
            enhanced_of(Little, 0, 0, 60, u32::MAX, &frame),
            format!("the length of the packet is 4294967295 bytes, must be at most 262144: {DAMAGED}"),
        ),
        (
            enhanced_of(Little, 0, 0, 45, 60, &frame),
            format!(
                "the captured length is 45 bytes, more than the 40 bytes of room in the block: {DAMAGED}"
            ),
        ),
        (
            enhanced_of(Little, 0, 0, 40, 39, &frame),
            format!("the captured length is 40 bytes, more than the 39 bytes of the packet: {DAMAGED}"),
        ),
        (
            changed(simple(Little, &frame), 8, 200),
            format!(
                "the captured length is 200 bytes, more than the 40 bytes of room in the block: {DAMAGED}"
            ),
        ),
        (
            changed(obsolete(Little, 0, 0, &frame), 20, 44),
            format!("the captured length is 44 bytes, more than the 40 bytes of the packet: {DAMAGED}"),
        ),
        (
            enhanced(Little, 1, 0, &frame),
            format!("the packet names interface 1, but only 1 are described: {mergecap}"),
        ),
        (
            interface(Little, 1, Some(20), None),
            format!(
                "the unit of times (if_tsresol) is 20, must be at most 19 (10^-19 s), or from 128 to 191 (2^-63 s): {}",
                Fault::Resolution(20).remedy()
            ),
        ),
    ] {
        let file = pcapng_with(Little, &[&good[..], &bad].concat());
        assert_eq!(refusal(&file), format!("byte {third}: {expected}"));
    }
}

#[test]
fn a_new_section_forgets_the_interfaces() {
    let frame = tcp((1, 1), (2, 2), 2);
    let file = pcapng_with(Little, &[section(Big), enhanced(Big, 0, 0, &frame)].concat());
    assert!(refusal(&file).contains("the packet names interface 0, but only 0 are described"));
}

#[test]
fn options_that_lie() {
    let described = |option: &[u8]| {
        let body = [&[1, 0, 0, 0, 0, 0, 0, 0][..], option].concat();
        [section(Little), block(Little, 1, &body), enhanced(Little, 0, 0, &tcp((1, 1), (2, 2), 2))].concat()
    };
    for option in [option(Little, 9, &[]), option(Little, 14, &[1, 2, 3, 4])] {
        assert!(
            refusal(&described(&option)).starts_with("byte 28: the block does not have the layout of type 1")
        );
    }
    // Longer than its block: not an option, so nothing that counts.
    assert_eq!(good(&described(&[9, 0, 0xff, 0xff, 1, 0, 0, 0])).0.len(), 1);
}

#[test]
fn time_that_jumps() {
    let at = |second| record(Little, (second, 0), &tcp((1, 1), (2, 2), 2));
    let second = 24 + at(0).len();
    assert_eq!(
        refusal(&pcap_with(&[at(5), at(3)].concat())),
        format!(
            "byte {second}: time goes back by 2 s, at most 1 s can be corrected: put the packets in order \
             with `reordercap IN OUT`"
        )
    );
    assert_eq!(
        refusal(&pcap_with(&[at(0), at(1_700_000_000)].concat())),
        format!(
            "byte {second}: the packet comes 53.907 years after the first, at most 366 days are \
             read: cut it with `editcap -A START -B STOP IN OUT`"
        )
    );
}

#[test]
fn a_row_that_cannot_be_written_ends_the_reading() {
    let file = pcap_with(&record(Little, (0, 0), &tcp((1, 1), (2, 2), 2)));
    let error = weir_capture::read(&file[..], 1, &mut |_| Err(io::Error::other("no space left")))
        .expect_err("cannot be written");
    assert_eq!(error.to_string(), "the schedule cannot be written: no space left");
}

/// What begins with some bytes and goes on with others for ever, counting what was asked for.
struct Endless {
    begin: io::Cursor<Vec<u8>>,
    again: Vec<u8>,
    place: usize,
    given: u64,
}

impl Endless {
    fn new(begin: Vec<u8>, again: Vec<u8>) -> Self {
        Self { begin: io::Cursor::new(begin), again, place: 0, given: 0 }
    }
}

impl Read for &mut Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = self.begin.read(buffer)?;
        while read < buffer.len() {
            let rest = &self.again[self.place..];
            let count = rest.len().min(buffer.len() - read);
            buffer[read..read + count].copy_from_slice(&rest[..count]);
            read += count;
            self.place = (self.place + count) % self.again.len();
        }
        self.given += read as u64;
        Ok(read)
    }
}

/// The fault of an endless file, and how far it was read.
fn endless(begin: Vec<u8>, again: Vec<u8>) -> (Fault, u64) {
    let mut file = Endless::new(begin, again);
    let error = weir_capture::read(&mut file, 1, &mut |_| Ok(())).expect_err("has no end");
    (error.fault, file.given)
}

#[test]
fn endless_blocks_come_to_an_end() {
    let (fault, given) = endless(pcapng_with(Little, &[]), block(Little, 99, &[]));
    assert_eq!(fault, Fault::Idle);
    assert!(given < 12 * u64::from(limits::IDLE_BLOCKS) + (1 << 20), "{given}");
    assert_eq!(endless(section(Big), section(Big)).0, Fault::Idle);
    let (fault, given) = endless(section(Big), interface(Big, 1, None, None));
    assert_eq!(fault, Fault::Interfaces);
    assert!(given < 1 << 20, "{given}");
}

#[test]
fn endless_zeros_are_no_blocks() {
    let (fault, given) = endless(pcapng_with(Little, &[]), vec![0; 4096]);
    assert_eq!(fault, Fault::BlockLength { kind: 0, found: 0, least: 12, most: limits::OTHER_BLOCK });
    assert!(given < 1 << 20, "{given}");
}

#[test]
fn flows_have_a_bound() {
    // Each record has another source.
    let mut flow = 0_u32;
    let next = move || {
        flow += 1;
        let mut packet = ipv4((1, flow as u16), (2, 9), 17, 0, 0);
        packet[14] = (flow >> 16) as u8;
        record(Little, (1, 0), &packet)
    };
    let file = Made { next, held: io::Cursor::new(pcap(Little, MICRO, 101)) };
    let error = weir_capture::read(file, 1, &mut |_| Ok(())).expect_err("has no end");
    assert_eq!(error.fault, Fault::Flows);
    assert_eq!((error.byte - 24) / 40, limits::FLOWS as u64);
}

/// A file that is made as it is read.
struct Made<F> {
    next: F,
    held: io::Cursor<Vec<u8>>,
}

impl<F: FnMut() -> Vec<u8>> Read for Made<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.held.read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        self.held = io::Cursor::new((self.next)());
        self.held.read(buffer)
    }
}
