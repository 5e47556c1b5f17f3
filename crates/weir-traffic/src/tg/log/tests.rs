//! Logs written and read, cut and damaged.

use std::io;

use super::{Ending, Kind, Reader, Record, Role, Transport, Writer, record};
use crate::tg::testing::{header, log, packet, records};

const SCRIPT: &str = "on 1 udp 10.0.0.1.5 arrival 1 length 10";

fn some() -> Vec<Record> {
    let address = "10.1.2.3:65535".parse().unwrap();
    vec![
        Record { address, ..Record::new(Kind::Setup, -5) },
        packet(Kind::Transmit, 0, 1000, 10),
        Record { errno: 111, other: 1, ..packet(Kind::Error, 1, 2000, 10) },
        Record { address, ..packet(Kind::Receive, u32::MAX, 2001, 8192) },
        Record { number: 3, ..Record::new(Kind::Accept, record::FARTHEST) },
        Record::new(Kind::Teardown, -record::FARTHEST),
    ]
}

fn bytes() -> Vec<u8> {
    log(&header(Role::Source, Transport::Udp, SCRIPT), &some())
}

/// Reads all there is: how many records, and the error or the ending.
fn read(bytes: &[u8]) -> Result<(usize, Ending), String> {
    let mut reader = Reader::new(bytes, "x.log").map_err(|error| error.to_string())?;
    let mut count = 0;
    for record in reader.by_ref() {
        record.map_err(|error| error.to_string())?;
        count += 1;
    }
    assert!(reader.next().is_none());
    Ok((count, reader.ending().expect("an ending where there is no error")))
}

#[test]
fn what_is_written_is_read() {
    let bytes = bytes();
    assert_eq!(records(&bytes), some());
    let reader = Reader::new(&bytes[..], "x.log").unwrap();
    assert_eq!(*reader.header(), header(Role::Source, Transport::Udp, SCRIPT));
    assert_eq!(bytes.len() % 8, 0);
}

#[test]
fn many_records_pass_through_few_buffers() {
    let many: Vec<_> = (0..50_000).map(|number| packet(Kind::Transmit, number, number.into(), 1)).collect();
    assert_eq!(records(&log(&header(Role::Sink, Transport::Tcp, SCRIPT), &many)), many);
}

#[test]
fn a_log_cut_anywhere_is_read_up_to_its_last_whole_record_and_said_to_be_cut() {
    let bytes = bytes();
    let head = bytes.len() - 7 * record::SIZE;
    for length in 0..bytes.len() {
        let result = read(&bytes[..length]);
        if length < head {
            assert!(result.unwrap_err().starts_with("x.log: at byte "), "{length}");
        } else {
            let (whole, rest) = ((length - head) / record::SIZE, (length - head) % record::SIZE);
            assert_eq!(result, Ok((whole, Ending::Cut { rest })));
        }
    }
    assert_eq!(read(&bytes), Ok((6, Ending::Whole)));
}

#[test]
fn garbage_is_refused_with_its_place() {
    let good = bytes();
    let head = good.len() - 7 * record::SIZE;
    let refusal = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        read(&bytes).unwrap_err()
    };
    let starts = |error: String, with: &str| assert!(error.starts_with(&format!("x.log: {with}")), "{error}");
    starts(refusal(&|bytes| bytes[0] = b'w'), "at byte 0: it is not a log");
    starts(refusal(&|bytes| bytes[8] = 9), "at byte 8: the version of the log is 9, must be 1");
    starts(refusal(&|bytes| bytes[15] = 1), "at byte 12: its header has ");
    starts(refusal(&|bytes| bytes[16] = b'x'), "at byte 16: its header: ");
    starts(refusal(&|bytes| bytes[head + 30] = 77), &format!("at byte {head}: 77 is not a kind of record"));
    let second = head + record::SIZE;
    starts(refusal(&|bytes| bytes[second + 7] = 127), &format!("at byte {second}: a record's time is "));
    let end = good.len() - record::SIZE;
    starts(
        refusal(&|bytes| bytes[end + 8] = 5),
        &format!("at byte {end}: the log ends with 5 records, 6 are there"),
    );
    starts(refusal(&|bytes| bytes.push(0)), &format!("at byte {end}: something follows the end of the log"));
}

#[test]
fn a_writer_that_is_dropped_leaves_a_cut_log() {
    let memory = crate::tg::testing::Memory::default();
    let mut writer = Writer::begin(memory.clone(), &header(Role::Sink, Transport::Udp, SCRIPT)).unwrap();
    some().iter().for_each(|record| writer.add(record).unwrap());
    writer.flush().unwrap();
    drop(writer);
    assert_eq!(read(&memory.bytes()), Ok((6, Ending::Cut { rest: 0 })));
}

#[test]
fn a_disk_that_is_full_is_told() {
    struct Full(usize);
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = Writer::begin(Full(200_000), &header(Role::Sink, Transport::Udp, SCRIPT)).unwrap();
    let added = (0..2_000_000).try_for_each(|number| writer.add(&packet(Kind::Receive, number, 0, 0)));
    let error = added.and_then(|()| writer.finish(0)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn another_file_is_left_alone() {
    let folder = std::env::temp_dir().join(format!("weir-tg-log-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (other, own) = (folder.join("script.tg"), folder.join("x.log"));
    std::fs::write(&other, SCRIPT).unwrap();
    let header = header(Role::Sink, Transport::Udp, SCRIPT);
    assert!(Writer::create(&other, &header).is_err());
    assert_eq!(std::fs::read_to_string(&other).unwrap(), SCRIPT);
    for _ in 0..2 {
        Writer::create(&own, &header).unwrap().finish(0).unwrap();
    }
    assert_eq!(Reader::open(&own).unwrap().count(), 0);
    assert!(Reader::open(&folder).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}
