//! No input makes a discipline panic or lose an item: zero and huge costs, charges beyond the cost, huge
//! flows and classes, calls without an open grant, engines that cannot interrupt.

use proptest::prelude::*;
use weir_core::discipline::{CountDrops, Discipline, Open};
use weir_core::item::{ClassId, FlowId, Message, Packet};
use weir_core::registry::{TASK, message_discipline, packet_discipline, task_discipline};
use weir_core::task::{Declared, Task};
use weir_core::units::{Bytes, Instant, Nanos, Weight};

const SPECS: [&str; 13] = [
    "fifo",
    "fifo:limit=3pkt",
    "rr",
    "rr_head:3",
    "sf",
    "alpha:10",
    "alpha:1000000000",
    "alpha(0.001,classes=0/inf/1e6)",
    "alpha(5,update=recalculate,classes=0/inf/1e6)",
    "alpha_tracking:weight=1000000000",
    "in_order(alpha(10,classes=0/inf))",
    "in_order(alpha(10,update=recalculate))",
    "outstanding(in_order(sf),limit=2)",
];

const PACKET_SPECS: [&str; 17] = [
    "fifo:limit=5pkt",
    "drr:quantum=1B,stall=leave",
    "table_basic:0/1/-/2,limit=9pkt",
    "table_weighted:0@0cr/1@1cr/2@255cr,high=2@1cr/0@3cr,high_limit=1,by=class",
    "dtable:0@65535cr/-/2@65535cr/1@65535cr,mtu=4194240B,stall=keep",
    "tbf(dtable(0@1cr/1@2cr/2@1cr,mtu=64B),rate=1bit,burst=90B)",
    "codel:target=1ns,interval=1ns,mtu=0B,limit=9pkt",
    "fq",
    "fq(codel:1ns,limit=20pkt,flows=2)",
    "fq_codel:limit=9pkt,flows=2,quantum=1B",
    "fq_codel:memory_limit=1048576MiB,quantum=1B,target=1ns,interval=1ns,mtu=0B",
    "cake:memlimit=1048576MiB,rtt=1ns,queues=8",
    "cake:memlimit=1B,diffserv=precedence,fairness=flowblind",
    "tbf(cake(memlimit=900B,fairness=hosts),rate=1bit,burst=90B)",
    "priority(fifo,bands=2)",
    "priority(fq(codel:1ns),bands=16,last=fq_codel:limit=3pkt)",
    "tbf(priority(fq_codel:limit=9pkt),rate=1bit,burst=90B)",
];

const TASK_SPECS: [&str; 6] = [
    "epoch:1ms,min_slice=1ns,preempt_left=0ns,allocate=at_dispatch,admit=refuse",
    "priority_rr:86400s",
    "eevdf:1us,lag=zero",
    "cbs:1us,reclaim=grub,admit=allow",
    "cbs:86400s,surplus=background,slice=1us",
    "cbs:3ms,reclaim=grub,surplus=background,admit=refuse",
];

#[derive(Clone, Copy, Debug)]
enum Call {
    Enqueue { cost: u64, flow: u32, class: u16 },
    Dequeue,
    Charge(u64),
    Requeue { cost: u64, used: u64 },
    Finish(u64),
    Stray { cost: u64, used: u64 },
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let cost = || prop_oneof![Just(0), 1_u64..100, Just(1 << 40), Just(u64::MAX), any::<u64>()];
    let flow = prop_oneof![0_u32..3, Just(u32::MAX)];
    let class = prop_oneof![0_u16..4, Just(u16::MAX)];
    let call = prop_oneof![
        4 => (cost(), flow, class).prop_map(|(cost, flow, class)| Call::Enqueue { cost, flow, class }),
        4 => Just(Call::Dequeue),
        2 => cost().prop_map(Call::Charge),
        2 => (cost(), cost()).prop_map(|(cost, used)| Call::Requeue { cost, used }),
        2 => cost().prop_map(Call::Finish),
        1 => (cost(), cost()).prop_map(|(cost, used)| Call::Stray { cost, used }),
    ];
    prop::collection::vec(call, 0..150)
}

fn message(id: usize, cost: u64, flow: u32, class: u16) -> Message<Nanos> {
    Message { id: id as u32, flow: FlowId(flow), class: ClassId(class), remaining: Nanos::new(cost) }
}

/// Drives one discipline; as many must leave, or be dropped, as have come.
fn drive(spec: &str, calls: &[Call]) {
    let mut discipline = message_discipline(&spec.parse().expect(spec)).expect(spec);
    let (now, drops) = (Instant::ZERO, &mut CountDrops(0));
    let (mut open, mut present) = (None, 0_u64);
    for (id, call) in calls.iter().enumerate() {
        let waiting = present - drops.0;
        match (*call, open) {
            (Call::Enqueue { cost, flow, class }, _) => {
                // Whether it preempts is ignored on purpose.
                let _ = discipline.enqueue(now, message(id, cost, flow, class), drops);
                present += 1;
            }
            (Call::Dequeue, None) => {
                open = discipline.dequeue(now, &Open, drops).map(|grant| grant.item);
                assert!(open.is_some() || waiting == 0, "{spec}: nothing granted of {waiting}");
            }
            (Call::Charge(used), Some(item)) => discipline.charge(now, &item, Nanos::new(used)),
            (Call::Requeue { cost, used }, Some(item)) => {
                let rest = Message { remaining: Nanos::new(cost), ..item };
                discipline.requeue(now, rest, Nanos::new(used), drops);
                open = None;
            }
            (Call::Finish(used), Some(item)) => {
                discipline.finish(now, &item, Nanos::new(used));
                (open, present) = (None, present - 1);
            }
            (Call::Stray { cost, used }, None) => {
                let stray = message(id, cost, 9, 9);
                discipline.charge(now, &stray, Nanos::new(used));
                discipline.finish(now, &stray, Nanos::new(used));
                discipline.requeue(now, stray, Nanos::new(used), drops);
                present += 1;
            }
            _ => {}
        }
        assert_eq!(discipline.backlog().items + u64::from(open.is_some()), present - drops.0, "{spec}");
    }
}

/// Drives one discipline of packets, each call a microsecond later; as many must leave as have come.
fn drive_packets(spec: &str, calls: &[Call]) {
    let mut discipline = packet_discipline(&spec.parse().expect(spec)).expect(spec);
    let drops = &mut CountDrops(0);
    let packet = |id: usize, cost, flow, class| Packet {
        id: id as u32,
        flow: FlowId(flow),
        class: ClassId(class),
        size: Bytes::new(cost),
    };
    let (mut open, mut come, mut served) = (None, 0_u64, 0_u64);
    for (id, call) in calls.iter().enumerate() {
        let now = Instant::new(id as u64 * 1_000);
        match (*call, open) {
            (Call::Enqueue { cost, flow, class }, _) => {
                let _ = discipline.enqueue(now, packet(id, cost, flow, class), drops);
                come += 1;
            }
            (Call::Dequeue, None) => open = discipline.dequeue(now, &Open, drops).map(|grant| grant.item),
            (Call::Charge(used), Some(item)) => discipline.charge(now, &item, Bytes::new(used)),
            (Call::Requeue { cost, used }, Some(item)) => {
                discipline.requeue(now, Packet { size: Bytes::new(cost), ..item }, Bytes::new(used), drops);
                open = None;
            }
            (Call::Finish(used), Some(item)) => {
                discipline.finish(now, &item, Bytes::new(used));
                (open, served) = (None, served + 1);
            }
            (Call::Stray { cost, used }, None) => {
                let stray = packet(id, cost, 9, 9);
                discipline.charge(now, &stray, Bytes::new(used));
                discipline.finish(now, &stray, Bytes::new(used));
                discipline.requeue(now, stray, Bytes::new(used), drops);
                come += 1;
            }
            _ => {}
        }
        let present = discipline.backlog().items + u64::from(open.is_some());
        assert_eq!(present + served + drops.0, come, "{spec}");
    }
}

/// Drives one discipline of tasks, each call a millisecond later, and declares what it can; as many must leave as come.
fn drive_tasks(spec: &str, calls: &[Call]) {
    let mut discipline = task_discipline::<Task>(&spec.parse().expect(spec)).expect(spec);
    let drops = &mut CountDrops(0);
    let (mut open, mut come, mut served) = (None, 0_u64, 0_u64);
    for (id, call) in calls.iter().enumerate() {
        let now = Instant::new(id as u64 * 1_000_000);
        match (*call, open) {
            (Call::Enqueue { cost, flow, class }, _) => {
                let _ = discipline.declare(now, FlowId(flow), declared(cost, class));
                let _ = discipline.enqueue(now, Task { process: FlowId(flow) }, drops);
                come += 1;
            }
            (Call::Dequeue, None) => open = discipline.dequeue(now, &Open, drops).map(|grant| grant.item),
            (Call::Charge(used), Some(item)) => discipline.charge(now, &item, Nanos::new(used)),
            (Call::Requeue { used, .. }, Some(item)) => {
                discipline.requeue(now, item, Nanos::new(used), drops);
                open = None;
            }
            (Call::Finish(used), Some(item)) => {
                discipline.finish(now, &item, Nanos::new(used));
                (open, served) = (None, served + 1);
                discipline.exit(now, item.process);
            }
            (Call::Stray { used, .. }, None) => {
                let stray = Task { process: FlowId(9) };
                discipline.charge(now, &stray, Nanos::new(used));
                discipline.finish(now, &stray, Nanos::new(used));
                discipline.requeue(now, stray, Nanos::new(used), drops);
                come += 1;
            }
            (Call::Charge(process), None) => discipline.exit(now, FlowId(process as u32)),
            _ => {}
        }
        assert_eq!(discipline.verify(), Ok(()), "{spec}");
        let present = discipline.backlog().items + u64::from(open.is_some());
        assert_eq!(present + served + drops.0, come, "{spec}");
    }
}

/// Anything, of which little is refused.
fn declared(cost: u64, class: u16) -> Declared {
    let span = |factor: u64| Nanos::new(cost.wrapping_mul(factor));
    Declared {
        priority: (class % 5) as u8,
        need: Nanos::new(cost.wrapping_mul(3) % 50_000_000),
        slice: class.is_multiple_of(3).then(|| span(5)),
        period: class.is_multiple_of(2).then(|| span(7)),
        weight: (class % 4 == 1).then(|| Weight::new(cost)),
    }
}

proptest! {
    #[test]
    fn no_task_panics_or_is_lost(calls in calls()) {
        for info in TASK {
            drive_tasks(info.example, &calls);
        }
        for spec in TASK_SPECS {
            drive_tasks(spec, &calls);
        }
    }

    #[test]
    fn no_packet_panics_or_is_lost(calls in calls()) {
        for spec in PACKET_SPECS {
            drive_packets(spec, &calls);
        }
    }

    #[test]
    fn no_input_panics_or_loses_an_item(calls in calls()) {
        for spec in SPECS {
            drive(spec, &calls);
        }
    }
}
