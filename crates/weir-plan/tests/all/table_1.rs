//! Table 1 of the DTable report, to the last digit, and the latencies that follow from it.

use super::common::{TABLE_1, planned};
use weir_plan::Share;
use weir_plan::plan::ClassPlan;

fn percent(text: &str) -> Share {
    let parts: f64 = text.parse::<f64>().expect("a number") * 1e7;
    assert!((parts - parts.round()).abs() < 1e-6);
    Share::new(parts.round() as u64)
}

/// Name, phi, entries, their part, least and largest phi, entry weight, total, quantum; in percent and credits.
type Row = (&'static str, &'static str, u32, &'static str, &'static str, &'static str, u64, u64, u64);

const ROWS: [Row; 7] = [
    ("D2", "25", 32, "50", "25", "100", 32, 1024, 256),
    ("D4", "25", 16, "25", "12.5", "50", 64, 1024, 256),
    ("D8", "25", 8, "12.5", "6.25", "25", 128, 1024, 256),
    ("D16", "12.5", 4, "6.25", "3.125", "12.5", 128, 512, 128),
    ("D32", "6.25", 2, "3.125", "1.5625", "6.25", 128, 256, 64),
    ("D64", "3.125", 1, "1.5625", "0.78125", "3.125", 128, 128, 32),
    ("D64'", "3.125", 1, "1.5625", "0.78125", "3.125", 128, 128, 32),
];

#[test]
fn every_column() {
    let plan = planned(TABLE_1);
    for (class, row) in plan.classes.iter().zip(ROWS) {
        let (name, share, entries, part, minimum, maximum, weight, total, quantum) = row;
        assert_eq!(class.name, name);
        let shares = [class.share, class.entry_share, class.minimum_share, class.maximum_share];
        assert_eq!(shares, [share, part, minimum, maximum].map(percent), "{name}");
        assert_eq!((class.entries, class.distance), (entries, 64 / entries), "{name}");
        assert!(class.weights.iter().all(|each| each.get() == weight), "{name}");
        assert_eq!((class.weight.get(), class.quantum.get()), (total, quantum), "{name}");
        assert_eq!(class.forced, Share::new(0), "{name}");
    }
}

#[test]
fn totals() {
    let plan = planned(TABLE_1);
    let sum = |of: fn(&ClassPlan) -> Share| plan.classes.iter().map(|class| of(class).parts()).sum::<u64>();
    assert_eq!(Share::new(sum(|class| class.share)), Share::WHOLE);
    assert_eq!(Share::new(sum(|class| class.entry_share)), Share::WHOLE);
    assert_eq!(Share::new(sum(|class| class.minimum_share)), percent("50"));
    assert_eq!(Share::new(sum(|class| class.maximum_share)), percent("200"));
    assert_eq!(plan.classes.iter().map(|class| class.entries).sum::<u32>(), 64);
    assert_eq!((plan.weight.get(), plan.frame.get()), (4096, 1024));
    assert_eq!((plan.table.pool.get(), plan.table.largest_weight.get(), plan.table.free), (4096, 128, 0));
    assert!(plan.refused.is_empty() && plan.notes.is_empty());
}

#[test]
fn placement() {
    let plan = planned(TABLE_1);
    let places = |class: usize| -> Vec<usize> {
        (0..64).filter(|&at| plan.slots[at].is_some_and(|entry| entry.class == class)).collect()
    };
    for (class, (first, step)) in
        [(0, 2), (1, 4), (3, 8), (7, 16), (15, 32), (31, 64), (63, 64)].into_iter().enumerate()
    {
        assert_eq!(places(class), (first..64).step_by(step).collect::<Vec<_>>());
    }
}

/// Class, gap of the deficit table in credits and tenths of a microsecond, the same of deficit round robin.
const GAPS: [(u64, u64, u64, u64); 7] = [
    (128, 328, 768, 1966),
    (192, 492, 768, 1966),
    (384, 983, 768, 1966),
    (896, 2294, 896, 2294),
    (1920, 4915, 960, 2458),
    (3968, 10158, 992, 2540),
    (3968, 10158, 992, 2540),
];

#[test]
fn gaps_of_both_schedulers() {
    let plan = planned(TABLE_1);
    let tenths = |nanos: u64| (nanos + 50) / 100;
    for (class, row) in plan.classes.iter().zip(GAPS) {
        let (table, round) = (class.bounds.deficit_table, class.bounds.round_robin);
        let gaps =
            (table.gap.get(), tenths(table.gap_time.get()), round.gap.get(), tenths(round.gap_time.get()));
        assert_eq!(gaps, row, "{}", class.name);
    }
    // D16 waits for the same under both.
    let even = plan.classes[3].bounds;
    assert_eq!(even.deficit_table.gap, even.round_robin.gap);
}

#[test]
fn what_is_carried_counts_each_foreign_class_once() {
    let plan = planned(TABLE_1);
    let bounds = plan.classes[0].bounds;
    // Between two entries of D2 stands one other; each other class can carry 31 credits into a round.
    assert_eq!((bounds.deficit_table.carried.get(), bounds.deficit_table.total.get()), (31, 128 + 31 + 64));
    assert_eq!((bounds.round_robin.carried.get(), bounds.round_robin.total.get()), (6 * 31, 768 + 186 + 64));
    assert_eq!(bounds.deficit_table.latency.get(), 223 * 256);
}
