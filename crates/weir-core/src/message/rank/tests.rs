use super::*;
use crate::conformance::{self, Promises, Sample};
use crate::item::{Message, Packet};
use crate::message::schedule::schedule;
use crate::registry::message_discipline;

fn config(key: &str) -> Config {
    Config { key: Expression::read(key).expect(key), preempt: false, weights: vec![1.0], window: 1024 }
}

fn rank<I: Item>(key: &str) -> Rank<I> {
    Rank::new(config(key))
}

conformance::suite!(conforms_where_keys_stand, || rank("arrival+3*size"), [work_conserving, resumable]);
conformance::suite!(conforms_where_keys_move, || rank("-waited/size"), [work_conserving, resumable]);
conformance::suite!(
    conforms_with_preemption,
    || Rank::new(Config { preempt: true, ..config("remaining-waited/(1+served)") }),
    [work_conserving, resumable]
);

#[test]
fn the_least_key_is_next_and_ties_by_arrival() {
    assert_eq!(schedule("rank:size", "a3 b1 c2 d1"), "bdccaaa");
    assert_eq!(schedule("rank:-size", "a3 b1 c2 d1"), "aaaccbd");
    assert_eq!(schedule("rank:class", "a2#1 b1#1 c2#0"), "ccaab");
    assert_eq!(schedule("rank:1e6*class + size", "a3#1 b1#1 c2#0"), "ccbaaa");
    assert_eq!(schedule("rank:size/weight,weights=1/10", "a3 b9#1 c1"), "bbbbbbbbbcaaa");
}

#[test]
fn a_newcomer_preempts_where_it_may() {
    assert_eq!(schedule("rank:remaining", "a3 . b1"), "aaab");
    assert_eq!(schedule("rank:remaining,preempt=yes", "a3 . b1"), "abaa");
    // One packet of `a` is left, as many as `b` has, and `a` came first.
    assert_eq!(schedule("rank:remaining,preempt=yes", "a3 . . b1"), "aaab");
    assert_eq!(schedule("rank:size,preempt=yes", "a3 . . b1"), "aaba");
}

#[test]
fn a_key_that_is_no_number_comes_last() {
    assert_eq!(schedule("rank:class/class", "a1#0 b1#1 c1#0 d1#1"), "bdac");
}

/// Runs the same random messages through two specs, and expects the same schedule.
fn alike(one: &str, other: &str) {
    let mut random = conformance::Random::new(7);
    for _ in 0..200 {
        let mut script = String::new();
        for letter in b'a'..=b'z' {
            script += &format!(
                "{}{}/{}#{} ",
                char::from(letter),
                1 + random.below(9),
                random.below(3),
                random.below(2)
            );
            script += &". ".repeat(random.below(8) as usize);
        }
        assert_eq!(schedule(one, &script), schedule(other, &script), "{script}");
    }
}

#[test]
fn named_disciplines_are_expressions() {
    alike("rank:arrival", "fifo");
    alike("rank:size", "sjf");
    alike("rank:size,preempt=yes", "psjf");
    alike("rank:remaining,preempt=yes", "sf");
    alike("rank:10*remaining + clock,preempt=yes", "alpha:10");
}

/// A list, of which every key is evaluated at every decision by another way: `-waited/size`, among the longest waiting.
struct Oracle<I> {
    list: Vec<(u64, Instant, u64, I)>,
    window: usize,
    arrived: u64,
    open: Option<(u64, Instant, u64)>,
}

impl<I: Sample> Discipline<I> for Oracle<I> {
    fn enqueue(&mut self, now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        self.arrived += 1;
        self.list.push((self.arrived, now, item.cost().count(), item));
        Enqueued::Queued
    }
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.list.sort_by_key(|entry| entry.0);
        let key = |entry: &(u64, Instant, u64, I)| {
            -(now.get() as f64 / 1e9 - entry.1.get() as f64 / 1e9) / entry.2 as f64
        };
        let mut best: Option<usize> = None;
        for place in 0..self.list.len().min(self.window) {
            let lesser = |best: usize| match (key(&self.list[place]), key(&self.list[best])) {
                (one, other) if one.is_nan() || other.is_nan() => other.is_nan() && !one.is_nan(),
                (one, other) => one < other,
            };
            best = Some(best.map_or(place, |best| if lesser(best) { place } else { best }));
        }
        let best = best.filter(|&best| gate.permits(&self.list[best].3))?;
        let (number, arrival, size, item) = self.list.remove(best);
        self.open = Some((number, arrival, size));
        Some(Grant { item, quantum: item.cost() })
    }
    fn requeue(&mut self, now: Instant, item: I, _used: I::Cost, _drops: &mut dyn Drops<I>) {
        let open = self.open.take().unwrap_or((u64::MAX, now, item.cost().count()));
        self.list.push((open.0, open.1, open.2, item));
    }
    fn finish(&mut self, _now: Instant, _item: &I, _used: I::Cost) {
        self.open = None;
    }
    fn backlog(&self) -> Backlog<I::Cost> {
        conformance::backlog_of(self.list.iter().map(|entry| &entry.3))
    }
}

#[test]
fn moving_keys_agree_with_a_searched_list() {
    let promises = Promises { work_conserving: true, flow_order: false, resumable: true };
    for window in [1, 3, 1024] {
        let rank = || Rank::new(Config { window, ..config("-waited/size") });
        let oracle = || Oracle { list: Vec::new(), window, arrived: 0, open: None };
        conformance::agree::<Message, _, _>(rank, oracle, promises);
        let rank = || Rank::new(Config { window, ..config("-waited/size") });
        let oracle = || Oracle { list: Vec::new(), window, arrived: 0, open: None };
        conformance::agree::<Packet, _, _>(rank, oracle, promises);
    }
}

#[test]
fn refusals_say_where() {
    let refused = |spec: &str| {
        let made = message_discipline::<Message>(&spec.parse().expect(spec));
        made.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(refused("rank"), "`rank`: key is missing, write it as in `rank:arrival+3*size`");
    assert_eq!(
        refused("rank:size+"),
        "`rank`: key is `size+`, at byte 5: a number or a name is missing at the end"
    );
    assert_eq!(refused("rank:max(size)"), "`rank`: key is `max(size)`, at byte 8: `,` is missing");
    assert!(refused("rank:max(size=1,2)").contains("key is `max(size=1,2)`, at byte 8: `,` is missing"));
    assert!(refused("rank:size,weights=0").contains("each a positive number"));
    assert!(refused("rank:size,window=0").contains("from 1 to 1048576"));
    assert!(refused("rank:length").contains("`length` is no name, use one of size, remaining"));
}

#[test]
fn floating_point_keys_are_ordered_as_numbers_are() {
    let values = [f64::NEG_INFINITY, -1e300, -1.5, -0.0, 1e-300, 1.0, f64::MAX, f64::INFINITY];
    assert!(values.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
    assert_eq!(ordered(-0.0), ordered(0.0));
    assert_eq!(ordered(f64::NAN), u64::MAX);
}
