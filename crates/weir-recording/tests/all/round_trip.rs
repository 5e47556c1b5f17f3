//! What is written reads the same, and becomes bursts.

use proptest::prelude::*;
use weir_recording::{After, Burst, Bursts, Encoder, Event, Kind, read, task};

use crate::samples::{add, begin, declared, events, whole};

#[test]
fn a_recording_reads_as_it_was_written() {
    let mut heard = Vec::new();
    let facts = read(&whole()[..], &mut |_, event, _| heard.push(event)).expect("it is whole");
    assert_eq!(heard, events());
    assert_eq!((facts.head.discipline.as_str(), facts.head.epoch), ("epoch(100ms)", 100_000_000));
    assert_eq!((facts.lost, facts.gaps, facts.until), (7, 1, 200_000_000));
    assert!(facts.is_whole && facts.damage.is_none());
    let told: Vec<_> = facts.tasks.iter().map(|task| (task.name.as_str(), task.declared)).collect();
    assert_eq!(told, [("control", declared()[0]), ("batch", declared()[1])]);
}

#[test]
fn polls_become_bursts() {
    let mut bursts = Bursts::up_to(1_000);
    let facts = read(&whole()[..], &mut |worker, event, _| bursts.hear(worker, event)).expect("it is whole");
    bursts.finish(facts.tasks.len());
    let [control, batch] = &bursts.tasks[..] else { panic!("two tasks") };
    assert_eq!(control.bursts.len(), 10);
    assert_eq!(control.bursts[0], Burst { wake: 1_000, run: 2_000_000, done: 2_001_000, given: [1, 0] });
    assert_eq!(control.bursts[1].wake, 9_001_000);
    let run = 10 * 8_000_000 + 499_000;
    assert_eq!(batch.bursts, [Burst { wake: 1_000, run, done: 100_500_000, given: [10, 1] }]);
    assert_eq!((batch.ended, control.ended, batch.longest_poll), (Some(100_500_000), None, 8_000_000));
    assert_eq!(bursts.costs.medians(), [Some(250), Some(250)]);
}

#[test]
fn a_wake_up_and_a_poll_of_a_microsecond_take_8_bytes() {
    let mut bytes = Vec::with_capacity(1 << 16);
    let mut encoder = Encoder::begin(&mut bytes, 0, 0, 0, 0);
    let before = bytes.len();
    for round in 0..1_000_u64 {
        let (task, from) = ((round % 100) as u32, round * 5_000);
        encoder.put(&mut bytes, Event::Ready { task, at: from });
        let until = from + 1_000;
        let poll = Event::Poll { task, level: Some(0), from, until, after: After::Waits, own: None };
        encoder.put(&mut bytes, poll);
    }
    assert!(bytes.len() - before <= 9_000, "{} bytes", bytes.len() - before);
}

fn event() -> impl Strategy<Value = (u32, u64, u64, Option<i8>, u8, Option<u64>)> {
    let level = prop_oneof![Just(None), (-127..=127_i8).prop_map(Some)];
    (0..3_u32, 0..1_u64 << 40, 0..1_u64 << 30, level, 0..5_u8, proptest::option::of(0..1_u64 << 20))
}

proptest! {
    #[test]
    fn any_events_read_as_they_were_written(made in proptest::collection::vec(event(), 0..200)) {
        let (mut at, mut written) = (0, Vec::new());
        for (task, later, took, level, kind, own) in made {
            at += later;
            let after = [After::Waits, After::Yields, After::GivesWay, After::Ends].get(usize::from(kind));
            let from = at.saturating_sub(took);
            written.push(match after {
                Some(&after) => Event::Poll { task, level, from, until: at, after, own },
                None => Event::Ready { task, at },
            });
        }
        let (mut file, mut held) = (begin(2), Vec::new());
        for number in 0..3 {
            task(&mut held, 1, number, 0, "t", &declared()[0]);
        }
        add(&mut file, Kind::Tasks, &held);
        let mut encoder = Encoder::begin(&mut held, 1, 0, 0, 0);
        for event in &written {
            encoder.put(&mut held, *event);
        }
        add(&mut file, Kind::Events, &held);
        let mut heard = Vec::new();
        let facts = read(&file[..], &mut |worker, event, _| heard.push((worker, event))).expect("whole blocks");
        prop_assert!(!facts.is_whole && facts.damage.is_none());
        prop_assert_eq!(heard, written.into_iter().map(|event| (1, event)).collect::<Vec<_>>());
    }
}
