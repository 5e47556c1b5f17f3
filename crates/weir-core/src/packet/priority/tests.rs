//! Schedules by hand, and the bands against a list that is searched.

use super::*;
use crate::conformance::{self, Promises, Sample};
use crate::discipline::{CountDrops, Open};
use crate::item::{ClassId, FlowId, Message, Packet};
use crate::packet::codel::{Codel, Law};
use crate::packet::fifo::Fifo;
use crate::packet::tbf::Tbf;
use crate::units::{Cost, Nanos, Packets, Rate};

fn priority<I: Item, D: Discipline<I>, F: Fn(usize) -> D>(bands: usize, make: F) -> Priority<I, D, F> {
    Priority::new(bands, make).expect("valid")
}

fn fifo<I: Item>(_band: usize) -> Fifo<I> {
    Fifo::new()
}

fn codel<I: Item>(_band: usize) -> Codel<I> {
    let law = Law { target: Nanos::new(200), interval: Nanos::new(2_000), ..Law::new(I::Cost::of(2)) };
    Codel::new(law, Packets::new(8)).expect("valid")
}

/// Each band is faster than the one before.
fn shaped<I: Item<Cost = Bytes>>(band: usize) -> Tbf<I, Fifo<I>> {
    Tbf::new(Fifo::new(), Rate::new((band as u64 + 1) * 1_000_000_000), Bytes::new(1514)).expect("valid")
}

conformance::suite!(conforms, || priority(3, fifo), [work_conserving, flow_order, resumable]);
conformance::suite!(conforms_with_one_band, || priority(1, fifo), [work_conserving, flow_order, resumable]);
conformance::suite!(conforms_around_codel, || priority(4, codel), [work_conserving, flow_order]);
conformance::suite!(conforms_around_shapers: [Packet], || priority(3, shaped), [flow_order]);
conformance::suite!(
    conforms_around_itself,
    || priority(2, |_| priority(4, fifo)),
    [work_conserving, flow_order, resumable]
);

fn packet(id: u32, class: u16, size: u64) -> Packet {
    Packet { id, flow: FlowId(0), class: ClassId(class), size: Bytes::new(size) }
}

fn named(spec: &str) -> Box<dyn Discipline<Packet> + Send> {
    registry::packet_discipline(&spec.parse().expect(spec)).expect(spec)
}

/// Enqueues packets of these classes, named in this order, and serves them all.
fn order(discipline: &mut dyn Discipline<Packet>, classes: &[u16]) -> Vec<u32> {
    let drops = &mut CountDrops::default();
    for (id, &class) in (0..).zip(classes) {
        assert_eq!(discipline.enqueue(Instant::ZERO, packet(id, class, 100), drops), Enqueued::Queued);
    }
    let next = || discipline.dequeue(Instant::ZERO, &Open, drops).map(|grant| grant.item.id);
    std::iter::from_fn(next).collect()
}

#[test]
fn lower_classes_go_first_and_those_beyond_share_the_last_band() {
    let classes = [2, 9, 1, 0, u16::MAX, 2, 0];
    assert_eq!(order(&mut *named("priority:fifo"), &classes), [3, 6, 2, 0, 1, 4, 5]);
    assert_eq!(order(&mut *named("priority(fifo,bands=1)"), &classes), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_last_band_may_have_another_discipline() {
    // Class 0 first; 1 and 2 by bands of their own within; the classes beyond as the inner last band.
    let spec = "priority(fifo,bands=2,last=priority(fifo,bands=4))";
    assert_eq!(order(&mut *named(spec), &[9, 3, 2, 1, 0]), [4, 3, 2, 0, 1]);
    // In the last band flows take turns, here one flow of two classes: no difference.
    assert_eq!(order(&mut *named("priority(fifo,last=fq,bands=2)"), &[1, 2, 0]), [2, 0, 1]);
}

#[test]
fn a_band_that_withholds_lets_the_next_be_served() {
    // Class 0 has 8 Mbit/s, one byte in a microsecond, and a bucket of one packet.
    let spec = "priority(tbf(fifo,rate=8Mbit,burst=1000B),bands=2,last=fifo)";
    let mut discipline = named(spec);
    let drops = &mut CountDrops::default();
    for (id, class) in [(0, 0), (1, 0), (2, 1)] {
        let _ = discipline.enqueue(Instant::ZERO, packet(id, class, 1000), drops);
    }
    let mut left = Vec::new();
    let mut now = Instant::ZERO;
    while !discipline.backlog().is_empty() {
        match discipline.dequeue(now, &Open, drops) {
            Some(grant) => left.push((grant.item.id, now.get())),
            None => now = discipline.next_event().expect("a packet is held"),
        }
    }
    assert_eq!(left, [(0, 0), (2, 0), (1, 1_000_000)]);
    assert_eq!(discipline.next_event(), None);
}

/// The waiting packet of the lowest band, the first come of them, that the gate permits in its band's order.
struct Searched<I> {
    list: Vec<I>,
    bands: u16,
}

impl<I: Sample> Discipline<I> for Searched<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        self.list.push(item);
        Enqueued::Queued
    }

    fn dequeue(&mut self, _: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
        for band in 0..self.bands {
            let head = self.list.iter().position(|item| item.class().0.min(self.bands - 1) == band);
            if let Some(at) = head.filter(|&at| gate.permits(&self.list[at])) {
                let item = self.list.remove(at);
                return Some(Grant { item, quantum: item.cost() });
            }
        }
        None
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        conformance::backlog_of(self.list.iter())
    }
}

#[test]
fn agrees_with_a_searched_list() {
    let promises = Promises { work_conserving: true, flow_order: true, resumable: false };
    for bands in [1, 3, 8] {
        let searched = || Searched { list: Vec::new(), bands };
        conformance::agree::<Packet, _, _>(|| priority(bands.into(), fifo), searched, promises);
        let searched = || Searched { list: Vec::new(), bands };
        conformance::agree::<Message, _, _>(|| priority(bands.into(), fifo), searched, promises);
    }
}

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let bands = "`priority`: bands is `17`, must be a whole number from 1 to 16";
    assert_eq!(refused("priority(fifo,bands=17)"), bands);
    assert_eq!(Priority::<Packet, _, _>::new(0, fifo).err(), Some(ConfigError::Bands(0)));
    assert!(refused("priority").starts_with("`priority`: discipline is missing"));
    assert!(refused("priority(fifo,last=fq_kodel)").contains("did you mean `fq_codel`?"));
    assert!(refused("priority(drr:quantum=0B)").starts_with("`drr`: quantum is `0B`"));
    // Sixteen bands in each of eight levels are made as packets come.
    let mut deep = "fifo".to_owned();
    for _ in 0..7 {
        deep = format!("priority({deep},bands=16)");
    }
    assert_eq!(refused(&deep), "");
}
