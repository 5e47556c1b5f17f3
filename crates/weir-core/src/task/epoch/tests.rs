use super::*;
use crate::discipline::{CountDrops, Open};
use crate::spec::Spec;
use crate::task::Task;

fn make(spec: &str) -> Epoch<Task> {
    let spec: Spec = spec.parse().unwrap();
    Epoch::from_spec(&Arguments::new(&spec, &INFO).unwrap()).unwrap()
}

#[test]
fn a_process_alone_runs_on_its_normal_queue_until_all_time_is_owed_to_others() {
    let mut epoch = make("epoch:100ms");
    let ms = |count: u64| Nanos::new(count * 1_000_000);
    let process = |n| FlowId(n);
    let need = |need| Declared { need: ms(need), ..Declared::default() };
    epoch.declare(Instant::ZERO, process(0), need(30)).unwrap();
    epoch.declare(Instant::ZERO, process(1), need(60)).unwrap();
    let mut drops = CountDrops::default();
    let mut now = Instant::ZERO;
    let _ = epoch.enqueue(now, Task { process: process(0) }, &mut drops);
    // 30 ms of its need and 10 ms that nobody is promised on the normal queue, then windfall.
    for (level, expected) in [(1, 20), (1, 20), (-3, 20), (-3, 20)] {
        let grant = epoch.dequeue(now, &Open, &mut drops).unwrap();
        assert_eq!(epoch.level(process(0)), Some(level), "{now}");
        assert_eq!(grant.quantum, ms(expected), "{now}");
        now += grant.quantum;
        epoch.requeue(now, grant.item, grant.quantum, &mut drops);
        epoch.verify().unwrap();
    }
}
