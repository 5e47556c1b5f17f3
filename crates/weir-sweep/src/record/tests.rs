use super::*;
use proptest::prelude::*;
use std::io::Write;

const VERSION: Version = Version { numbers: 3, states: 1 };

fn key(number: u32) -> Key {
    Key { content: 0x1234_5678_9abc_def0, seed: 7, replication: number }
}

/// A file that is gone when it is closed.
fn file(bytes: &[u8]) -> File {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("weir-record-{}-{number}", std::process::id()));
    let mut file = File::options().create_new(true).read(true).append(true).open(&path).expect("a file");
    std::fs::remove_file(path).expect("it was made");
    file.write_all(bytes).expect("room");
    file
}

/// A log of states, and where each record begins.
fn log(states: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
    let (mut log, mut begins) = (head(VERSION).to_vec(), Vec::new());
    for (number, state) in states.iter().enumerate() {
        begins.push(log.len());
        log.extend(record(key(number as u32), 1, Kind::State, state).1);
    }
    begins.push(log.len());
    (log, begins)
}

fn found(bytes: &[u8]) -> Vec<u32> {
    let found = scan(&file(bytes), HEAD).expect("it can be read");
    found.records.iter().map(|(header, _)| header.key.replication).collect()
}

#[test]
fn a_record_by_hand() {
    let (header, bytes) = record(key(5), 20, Kind::Failure, b"why");
    assert_eq!(bytes.len(), HEADER + 3);
    assert_eq!(&bytes[..8], b"\xffwr\n\x03\0\0\0");
    assert_eq!(&bytes[24..32], [5, 0, 0, 0, 20, 0, 1, 0]);
    let read = Header::read(bytes.first_chunk().expect("a header"));
    assert_eq!(read, Some(header));
    assert!(header.is_of(b"why") && !header.is_of(b"who") && !header.is_of(b"wh"));
}

#[test]
fn beginnings() {
    let own = head(VERSION);
    assert_eq!(read_head(&own), Head::Of(VERSION));
    assert!((0..own.len()).all(|length| read_head(&own[..length]) == Head::Begun));
    assert_eq!(read_head(b"\0\0\0\0"), Head::Unknown);
    let mut damaged = own;
    damaged[13] ^= 1;
    assert_eq!(read_head(&damaged), Head::Unknown);
    let mut other = own;
    other[8] = 9;
    let sum = crc32fast::hash(&other[..20]);
    other[20..].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(read_head(&other), Head::Other(9));
}

#[test]
fn a_cut_costs_the_record_that_it_goes_through() {
    let (log, begins) = log(&[vec![1; 100], vec![2; 50], vec![3; 10]]);
    for length in begins[0]..=log.len() {
        let whole = begins[1..].iter().filter(|&&end| end <= length).count() as u32;
        assert_eq!(found(&log[..length]), (0..whole).collect::<Vec<_>>(), "{length}");
    }
}

#[test]
fn damage_costs_the_records_that_it_touches() {
    // A state that looks like a record, as one kept inside another would.
    let inner = record(key(9), 1, Kind::State, b"inner").1;
    let (log, begins) = log(&[vec![1; 30], inner, vec![3; 10]]);
    for at in begins[0]..log.len() {
        let mut damaged = log.clone();
        damaged[at] ^= 0x20;
        let hit = begins.iter().rposition(|&begin| begin <= at).expect("one") as u32;
        let seen = found(&damaged);
        let others: Vec<u32> = (0..3).filter(|&number| number != hit).collect();
        assert!(others.iter().all(|other| seen.contains(other)), "{at}: {seen:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..600), cut in 0..600_usize) {
        let (mut log, _) = log(&[bytes.clone(), vec![4; 20]]);
        log.truncate(log.len().saturating_sub(cut % 40));
        let at = HEAD as usize + cut % (log.len() - HEAD as usize).max(1);
        drop(log.splice(at..at, bytes.iter().copied()));
        let found = scan(&file(&log), HEAD).expect("it can be read");
        prop_assert!(found.end <= log.len() as u64);
        for (header, place) in found.records {
            prop_assert!(place + u64::from(header.length) <= log.len() as u64);
        }
        let _ = read_head(&bytes);
    }

    #[test]
    fn what_is_written_is_found(states in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..99), 0..9)) {
        let (log, _) = log(&states);
        let found = scan(&file(&log), HEAD).expect("it can be read");
        prop_assert_eq!((found.end, found.skipped), (log.len() as u64, 0));
        for ((header, at), state) in found.records.iter().zip(&states) {
            prop_assert!(header.is_of(&log[*at as usize..][..state.len()]));
        }
        prop_assert_eq!(found.records.len(), states.len());
    }
}
