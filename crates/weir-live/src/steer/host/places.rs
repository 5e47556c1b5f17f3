//! Sizes and places of what the programs and the daemon share, and the buckets of spans.

use core::mem::offset_of;

use weir_core::units::Nanos;
use weir_gauge::spans::{BUCKETS, Spans};

use super::super::decision::Decision;
use super::super::layout::{Counted, Delays, Queue, Receiver, Rules, Served, Setup};
use super::numbers;

#[test]
fn what_is_shared_lies_where_the_programs_have_it() {
    let [key, parts, list] = Decision::PLACES_OF;
    let here = [
        size_of::<Setup>(),
        offset_of!(Setup, ports),
        offset_of!(Setup, flow_key),
        offset_of!(Setup, iterations),
        size_of::<Decision>(),
        key,
        parts,
        list,
        size_of::<Rules>(),
        offset_of!(Rules, active),
        offset_of!(Rules, generic),
        size_of::<Receiver>(),
        size_of::<Queue>(),
        offset_of!(Queue, dropped),
        size_of::<Served>(),
        offset_of!(Served, completed),
        size_of::<Counted>(),
        offset_of!(Counted, queues),
        offset_of!(Counted, served),
        size_of::<Delays>(),
        offset_of!(Delays, longest),
        offset_of!(Delays, spans),
    ];
    assert_eq!(numbers(vec![b'Z']), here.map(|place| place as u32));
}

#[test]
fn spans_are_counted_in_the_same_buckets() {
    let powers = (0..64).map(|power| 1_u64 << power);
    let spans = powers
        .flat_map(|power| [power - 1, power, power + power / 4, power + power / 2, power + power / 4 * 3]);
    let spans = spans.chain([u64::MAX]).collect::<Vec<_>>();
    let commands = spans.iter().flat_map(|span| [&b"B"[..], &span.to_ne_bytes()].concat()).collect();
    let buckets = numbers(commands);
    assert_eq!(buckets.len(), spans.len());
    for (span, bucket) in spans.into_iter().zip(buckets) {
        let mut here = Spans::default();
        let nanos = Nanos::new(span);
        here.add(nanos);
        let mut there = [0; BUCKETS];
        there[bucket as usize] = 1;
        assert_eq!(here.snapshot(), Spans::of(nanos, nanos, there).snapshot(), "{span}");
    }
}
