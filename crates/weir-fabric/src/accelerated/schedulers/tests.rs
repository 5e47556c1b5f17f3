//! Each scheduler in lockstep with the discipline of its name: the same packets, the same gate, the same decisions.

use std::collections::VecDeque;

use super::*;
use crate::build::Lost;
use crate::packet::Handle;
use crate::time::{TICKS_PER_NANO, instant};
use weir_core::discipline::{Discipline, Effort, Gate};
use weir_core::registry::packet_discipline;
use weir_core::units::Bytes;
use weir_lab::stream::{Purpose, Stream, StreamKey};

const V: usize = 16;

/// Permits packets of up to this many credits, for each channel.
struct Credits([u16; V]);

impl Gate<Handle> for Credits {
    fn permits(&self, head: &Handle) -> bool {
        head.credits <= self.0[usize::from(head.channel)]
    }
}

/// A scheduler, with the queues that its engine would keep.
struct Lockstep {
    spec: Spec,
    channels: usize,
    unit: CreditUnit,
    seed: u32,
}

impl Visitor<V> for Lockstep {
    type Output = ();

    fn visit<S: Scheduler<V>>(self, scheduler: S) {
        let key = StreamKey { seed: 9, replication: 0, purpose: Purpose::Test, index: self.seed };
        let mut random = Stream::new(key);
        let mut below = |bound: u64| random.next_below(bound);
        let mut discipline = packet_discipline::<Handle>(&self.spec).expect("a discipline");
        let (mut state, mut effort) = (scheduler.state(), Effort::default());
        let mut queues: [VecDeque<(u16, u64)>; V] = core::array::from_fn(|_| VecDeque::new());
        let (mut now, mut id, mut lost) = (0, 0, Lost::default());
        for step in 0..4000 {
            now += below(400 * TICKS_PER_NANO);
            // Bursts, then times in which queues run empty.
            let packets = if step / 200 % 2 == 0 { below(3) } else { below(5) / 4 };
            for _ in 0..packets {
                let (channel, credits) = (below(self.channels as u64) as u8, 1 + below(32) as u16);
                let _ =
                    discipline.enqueue(instant(now), Handle::new(id, credits, channel, self.unit), &mut lost);
                let queue = &mut queues[usize::from(channel)];
                let stamp = scheduler.enqueue(&mut state, channel.into(), credits, queue.is_empty(), now);
                queue.push_back((credits, stamp));
                id += 1;
            }
            let closed = below(4) == 0;
            let gate = Credits(core::array::from_fn(|_| if closed { below(32) as u16 } else { 32 }));
            let expected = discipline.dequeue(instant(now), &gate, &mut lost).map(|grant| grant.item);
            let heads = core::array::from_fn(|channel| queues[channel].front().map_or(0, |&(size, _)| size));
            let bits =
                |is: &dyn Fn(usize) -> bool| (0..V).fold(0, |all, at| all | Channels::from(is(at)) << at);
            let waiting = bits(&|channel| !queues[channel].is_empty());
            let active = waiting & bits(&|channel| heads[channel] <= gate.0[channel]);
            let found = if waiting == 0 {
                scheduler.idle(&mut state);
                None
            } else {
                scheduler.pick(&mut state, Sight { waiting, active, heads: &heads }, &mut effort)
            };
            assert_eq!(found, expected.map(|handle| handle.channel.into()), "{} at step {step}", self.spec);
            if let Some(channel) = found {
                let sent = queues[channel].pop_front();
                assert_eq!(sent.map(|(size, _)| size), expected.map(|handle| handle.credits));
                scheduler.taken(&mut state, channel, queues[channel].front().copied());
            }
        }
        assert!(id > 2000 && lost.0.is_none());
        assert_eq!(effort, discipline.effort().unwrap_or_default(), "{}", self.spec);
    }
}

#[test]
fn every_scheduler_decides_as_its_discipline() {
    for channels in [1, 2, 5, 7, 8, 16] {
        for spec in crate::accelerated::tests::disciplines(channels) {
            for seed in 0..4 {
                let spec: Spec = spec.parse().expect("a spec");
                let unit = CreditUnit::new(Bytes::new([64, 16, 128, 100][seed as usize]));
                let lockstep = Lockstep { spec: spec.clone(), channels, unit, seed };
                let bounds = Bounds { channels, carried: 1, unit };
                assert!(visit::<V, _>(&spec, bounds, lockstep).is_some(), "{spec}");
            }
        }
    }
}

#[test]
fn what_has_no_compact_form_is_left_to_the_plain_engine() {
    let bounds = Bounds { channels: 3, carried: 1, unit: CreditUnit::new(Bytes::new(64)) };
    for spec in [
        "drr:quantum=2048B,limit=7pkt",
        "drr:flows=2",
        "sfq",
        "fifo:limit=100pkt",
        "table_basic:0/1/2,depth=1pkt",
    ] {
        assert!(!knows::<V>(&spec.parse().expect(spec), bounds), "{spec}");
    }
    let long = Bounds { carried: u64::MAX, ..bounds };
    assert!(!knows::<V>(&"scfq".parse().expect("a spec"), long));
    assert!(knows::<V>(&"drr".parse().expect("a spec"), long));
}
