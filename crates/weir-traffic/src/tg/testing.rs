//! What the tests share: scripts, plans, logs in memory.

use std::io;
use std::sync::{Arc, Mutex};

use weir_core::units::Nanos;
use weir_tg::{RandomMode, Script};

use super::log::{Header, Kind, Reader, Record, Role, Stamps, Transport, Writer};
use super::plan::{Asked, Plan};
use crate::generator::testing::START;
use crate::generator::wall::WallTime;

pub(crate) const MILLISECOND: u64 = 1_000_000;

pub(crate) fn start() -> WallTime {
    WallTime::new(START).unwrap()
}

pub(crate) fn script(text: &str) -> Script {
    weir_tg::parse(text, "test.tg", &mut |_| Err(String::new())).unwrap()
}

pub(crate) fn plan(text: &str, scale: u32) -> Plan {
    Plan::new(script(text), Asked { random: RandomMode::Compatible, seed: 0, scale, tick: Nanos::new(0) })
        .unwrap()
}

/// A log in memory, which can be read when it is closed.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<Vec<u8>>>);

impl io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Memory {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

pub(crate) fn header(role: Role, transport: Transport, script: &str) -> Header {
    Header {
        weird: "0.0.0".to_owned(),
        host: "here".to_owned(),
        role,
        transport,
        clock: "CLOCK_REALTIME".to_owned(),
        stamps: Stamps::Process,
        start: start(),
        scale: 1,
        random: "compatible".to_owned(),
        seed: 0,
        promised_ns: MILLISECOND,
        script: self::script(script).to_string(),
    }
}

/// The bytes of a whole log with these records.
pub(crate) fn log(header: &Header, records: &[Record]) -> Vec<u8> {
    let memory = Memory::default();
    let mut writer = Writer::begin(memory.clone(), header).unwrap();
    records.iter().for_each(|record| writer.add(record).unwrap());
    writer.finish(records.last().map_or(0, |record| record.time)).unwrap();
    memory.bytes()
}

/// The records of a log that is whole.
pub(crate) fn records(bytes: &[u8]) -> Vec<Record> {
    let mut reader = Reader::new(bytes, "memory").unwrap();
    let records = reader.by_ref().collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(reader.ending(), Some(super::log::Ending::Whole));
    records
}

/// A packet that left or came in, `milliseconds` after the start; if it left, when it was due.
pub(crate) fn packet(kind: Kind, number: u32, milliseconds: i64, length: u32) -> Record {
    let time = milliseconds * 1_000_000;
    let other = if kind == Kind::Transmit { time } else { 0 };
    Record { number, length, other, ..Record::new(kind, time) }
}

/// Nothing but whole milliseconds.
pub(crate) fn milliseconds(span: Nanos) -> u64 {
    span.get() / MILLISECOND
}
