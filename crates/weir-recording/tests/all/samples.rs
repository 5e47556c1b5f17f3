//! Recordings for tests.

use weir_core::task::Declared;
use weir_core::units::{Nanos, Weight};
use weir_recording::{After, Encoder, Event, Kind, MAGIC, VERSION, end, frame, head, task};

pub(crate) fn add(file: &mut Vec<u8>, kind: Kind, held: &[u8]) {
    file.extend(frame(kind, held));
    file.extend(held);
}

pub(crate) fn begin(workers: u32) -> Vec<u8> {
    let mut file = [&MAGIC[..], &[VERSION]].concat();
    add(&mut file, Kind::Head, &head("epoch(100ms)", 100_000_000, workers));
    file
}

pub(crate) fn declared() -> [Declared; 2] {
    let control = Declared { need: Nanos::new(20_000_000), priority: 2, ..Declared::default() };
    let batch = Declared {
        slice: Some(Nanos::new(5_000_000)),
        period: Some(Nanos::new(1)),
        weight: Some(Weight::new(300)),
        ..Declared::default()
    };
    [control, batch]
}

/// Wakes task 0 ten times while task 1 computes.
pub(crate) fn events() -> Vec<Event> {
    let poll = |task, from, until, after| Event::Poll {
        task,
        level: Some(if task == 0 { 0 } else { -1 }),
        from,
        until,
        after,
        own: (from % 3 == 0).then_some(250),
    };
    let mut events = vec![Event::Ready { task: 0, at: 1_000 }, Event::Ready { task: 1, at: 1_000 }];
    for round in 0..10 {
        let at = 1_000 + round * 10_000_000;
        events.push(poll(0, at, at + 2_000_000, After::Waits));
        events.push(Event::Ready { task: 0, at: at + 9_000_000 });
        events.push(poll(1, at + 2_000_000, at + 10_000_000, After::GivesWay));
    }
    events.push(poll(1, 100_001_000, 100_500_000, After::Ends));
    events
}

/// A recording in two blocks of events, with 7 lost between them.
pub(crate) fn whole() -> Vec<u8> {
    let mut file = begin(1);
    let mut held = Vec::new();
    for (number, (name, declared)) in ["control", "batch"].iter().zip(declared()).enumerate() {
        task(&mut held, 0, number as u32, 500, name, &declared);
    }
    add(&mut file, Kind::Tasks, &held);
    let events = events();
    for (number, part) in events.chunks(20).enumerate() {
        let lost = if number == 1 { 7 } else { 0 };
        let mut encoder = Encoder::begin(&mut held, 0, number as u64, 1_000, lost);
        for event in part {
            encoder.put(&mut held, *event);
        }
        assert_eq!(encoder.events(), part.len() as u64);
        add(&mut file, Kind::Events, &held);
    }
    add(&mut file, Kind::End, &end(200_000_000, &[0]));
    file
}
