//! Conformance of the disciplines and of what nests in them, as specs name them.

use weir_core::conformance::{self, Burst};
use weir_core::discipline::Discipline;
use weir_core::item::{FlowId, Item, Packet};
use weir_core::registry::{message_discipline, packet_discipline, task_discipline};
use weir_core::task::{Declared, TaskDiscipline};
use weir_core::units::{Instant, Nanos};
fn make<I: Item + Send + 'static>(spec: &str) -> Box<dyn Discipline<I> + Send> {
    message_discipline(&spec.parse().unwrap()).unwrap()
}
conformance::suite!(fifo_limited, || make("fifo:limit=3pkt"), [work_conserving, resumable, flow_order]);
conformance::suite!(rr, || make("rr"), [work_conserving, resumable]);
conformance::suite!(rr3, || make("rr:3"), [work_conserving, resumable]);
conformance::suite!(rr_head, || make("rr_head"), [work_conserving, resumable]);
conformance::suite!(sf, || make("sf"), [work_conserving, resumable]);
conformance::suite!(alpha10, || make("alpha:10"), [work_conserving, resumable]);
conformance::suite!(alpha0, || make("alpha:0"), [work_conserving, resumable, flow_order]);
conformance::suite!(alphainf, || make("alpha:inf"), [work_conserving, resumable]);
conformance::suite!(alphar, || make("alpha:10,update=recalculate"), [work_conserving, resumable]);
conformance::suite!(tracking, || make("alpha_tracking"), [work_conserving, resumable]);
conformance::suite!(in_order, || make("in_order(alpha:10)"), [work_conserving, resumable, flow_order]);
conformance::suite!(
    in_order_r,
    || make("in_order(alpha(10,update=recalculate))"),
    [work_conserving, resumable, flow_order]
);
conformance::suite!(in_order_sjf, || make("in_order(sjf)"), [work_conserving, resumable, flow_order]);
conformance::suite!(in_order_psjf, || make("in_order(psjf)"), [work_conserving, resumable, flow_order]);
conformance::suite!(outstanding, || make("outstanding(alpha:10,limit=2)"), [work_conserving, resumable]);
conformance::suite!(outstanding_ps, || make("outstanding(ps,limit=2)"), [work_conserving, resumable]);
conformance::suite!(
    outstanding_ps1,
    || make("outstanding(ps,limit=1)"),
    [work_conserving, resumable, flow_order]
);

fn packets(spec: &str) -> Box<dyn Discipline<Packet> + Send> {
    packet_discipline(&spec.parse().unwrap()).unwrap()
}
conformance::suite!(drr_limited: [Packet], || packets("drr(2048B,depth=3pkt,limit=9pkt)"), [work_conserving, flow_order]);
conformance::suite!(wfq: [Packet], || packets("wfq(8Gbit,4/2/1)"), [work_conserving, flow_order]);
conformance::suite!(wfq_limited: [Packet], || packets("wfq(8Gbit,depth=3pkt,limit=9pkt)"), [work_conserving, flow_order]);
conformance::suite!(scfq: [Packet], || packets("scfq(4/2/1,by=class)"), [work_conserving, flow_order]);
conformance::suite!(scfq_limited: [Packet], || packets("scfq(depth=3pkt,limit=9pkt)"), [work_conserving, flow_order]);
conformance::suite!(wf2q_plus: [Packet], || packets("wf2q_plus(4/2/1,by=class)"), [work_conserving, flow_order]);
conformance::suite!(
    wf2q_plus_limited: [Packet],
    || packets("wf2q_plus(depth=3pkt,limit=9pkt)"),
    [work_conserving, flow_order]
);
conformance::suite!(fq: [Packet], || packets("fq:depth=20pkt"), [work_conserving, flow_order]);
conformance::suite!(
    fq_of_codel: [Packet],
    || packets("fq(codel(target=500ns,interval=5us,mtu=0B))"),
    [work_conserving, flow_order]
);
conformance::suite!(
    fq_codel: [Packet],
    || packets("fq_codel(flows=4,target=500ns,interval=5us,quantum=300B,limit=30pkt,drop_batch=4pkt)"),
    [work_conserving, flow_order]
);
conformance::suite!(
    fq_of_fq_codel: [Packet],
    || packets("fq(fq_codel(key=addresses,flows=2,target=500ns,interval=5us),by=class)"),
    [work_conserving, flow_order]
);
conformance::suite!(
    priority: [Packet],
    || packets("priority(fifo:limit=20pkt,bands=3)"),
    [work_conserving, flow_order]
);
conformance::suite!(
    priority_of_several: [Packet],
    || packets("priority(fq(codel:500ns),bands=2,last=priority(drr:500B,bands=4,last=sfq))"),
    [work_conserving, flow_order]
);
conformance::suite!(
    fq_of_shapers: [Packet],
    || packets("fq(tbf(codel:500ns,rate=1Gbit,burst=1514B))"),
    [flow_order]
);
conformance::suite!(
    tbf_of_sfq: [Packet],
    || packets("tbf(sfq:queues=9,rate=3Gbit,burst=3028B)"),
    [flow_order]
);
conformance::suite!(
    tbf_of_fq_of_codel: [Packet],
    || packets("tbf(fq(codel(500ns,5us)),rate=3Gbit,burst=3028B)"),
    [flow_order]
);
conformance::suite!(
    priority_of_shapers: [Packet],
    || packets("priority(tbf(fq(drr:500B),rate=1Gbit,burst=1514B),last=fq_codel(flows=16,target=500ns))"),
    [flow_order]
);
conformance::suite!(
    drr_leaving: [Packet],
    || packets("drr(700B,weights=3/2/1,by=class,depth=9pkt,stall=leave)"),
    [work_conserving, flow_order]
);
conformance::suite!(
    tbf_of_dtable: [Packet],
    || packets("tbf(dtable(distances=4/4/8/8/16/16/16/16,weights=32cr),rate=3Gbit,burst=3028B)"),
    [flow_order]
);
conformance::suite!(
    priority_of_tables: [Packet],
    || packets("priority(table_weighted(7@1cr/2@9cr/1@40cr/0@1cr,high=3@9cr),last=table_basic:4/5/4/6)"),
    [work_conserving, flow_order]
);
conformance::suite!(
    cake: [Packet],
    || packets("cake:rtt=10us,memlimit=9kB,queues=8"),
    [work_conserving, flow_order]
);
conformance::suite!(cake_shaping: [Packet], || packets("cake:rate=3Gbit,rtt=10us,overhead=38B,framing=atm"), [flow_order]);
conformance::suite!(tbf_of_cake: [Packet], || packets("tbf(cake:rtt=10us,rate=3Gbit,burst=3028B)"), [flow_order]);
conformance::suite!(
    priority_of_cakes: [Packet],
    || packets("priority(cake:rtt=10us,bands=2,last=cake(rate=2Gbit,memlimit=9kB))"),
    [flow_order]
);
conformance::suite!(
    htb_of_cake: [Packet],
    || packets("htb(cake:rtt=10us,rate=8Gbit,classes=1Gbit/2Gbit-4Gbit/3Gbit)"),
    [flow_order]
);

/// A discipline of tasks, half of whose processes ask for something: of all time, or a little more.
fn tasks(spec: &str) -> Box<dyn TaskDiscipline<Burst> + Send> {
    let mut discipline = task_discipline(&spec.parse().unwrap()).unwrap();
    let ms = |count: u64| Nanos::new(count * 1_000_000);
    for (process, need) in [10, 40, 5, 50].into_iter().enumerate() {
        let declared = Declared {
            priority: process as u8,
            need: ms(need),
            slice: [None, Some(ms(3))][process % 2],
            period: [None, Some(ms(90))][process / 2],
            weight: None,
        };
        let _ = discipline.declare(Instant::ZERO, FlowId(process as u32), declared).unwrap();
    }
    discipline
}
conformance::suite!(epoch: [Burst], || tasks("epoch"), [work_conserving, flow_order, resumable]);
conformance::suite!(
    epoch_short: [Burst],
    || tasks("epoch:50ms,slice=1ms,allocate=at_dispatch"),
    [work_conserving, flow_order, resumable]
);
conformance::suite!(priority_rr: [Burst], || tasks("priority_rr"), [work_conserving, flow_order, resumable]);
conformance::suite!(priority_rr_short: [Burst], || tasks("priority_rr:1ms"), [work_conserving, flow_order, resumable]);
conformance::suite!(share: [Burst], || tasks("share"), [work_conserving, flow_order, resumable]);
conformance::suite!(share_short: [Burst], || tasks("share:1ms"), [work_conserving, flow_order, resumable]);
conformance::suite!(stride: [Burst], || tasks("stride"), [work_conserving, flow_order, resumable]);
conformance::suite!(stride_short: [Burst], || tasks("stride:1ms"), [work_conserving, flow_order, resumable]);
conformance::suite!(eevdf: [Burst], || tasks("eevdf"), [work_conserving, flow_order, resumable]);
conformance::suite!(eevdf_short: [Burst], || tasks("eevdf:1ms,lag=zero"), [work_conserving, flow_order, resumable]);
conformance::suite!(cbs: [Burst], || tasks("cbs"), [flow_order, resumable]);
conformance::suite!(cbs_background: [Burst], || tasks("cbs:surplus=background,slice=1ms"), [work_conserving, flow_order, resumable]);
conformance::suite!(cbs_grub: [Burst], || tasks("cbs:reclaim=grub"), [flow_order, resumable]);
conformance::suite!(cbs_grub_background: [Burst], || tasks("cbs:reclaim=grub,surplus=background"), [work_conserving, flow_order, resumable]);
