//! The bounds hold: four schedulers, written as plainly as can be, under traffic that comes and goes.
//!
//! Time is counted in credits. Whoever waits first of its class is timed until its last byte has left.

use std::collections::VecDeque;

use super::common::{TABLE_1, asked, planned};
use weir_plan::bound::Bounds;
use weir_plan::{Form, Plan, emit};

/// A generator of numbers (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// What a scheduler sees: the size of each class's first packet.
type Heads = [Option<u64>];

trait Scheduler {
    fn decide(&mut self, heads: &Heads) -> Option<usize>;
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Deficit,
    Weighted,
    Basic,
}

/// The tables of the report, entry by entry.
struct Wheel {
    rule: Rule,
    table: Vec<(usize, u64)>,
    at: usize,
    serving: bool,
    left: u64,
    owed: Vec<u64>,
}

impl Wheel {
    fn new(plan: &Plan, rule: Rule) -> Self {
        let table: Vec<(usize, u64)> =
            plan.slots.iter().flatten().map(|entry| (entry.class, entry.weight.get())).collect();
        let at = table.len() - 1;
        Self { rule, table, at, serving: false, left: 0, owed: vec![0; plan.classes.len()] }
    }

    /// Whether the present entry goes on.
    fn goes_on(&mut self, heads: &Heads) -> bool {
        let class = self.table[self.at].0;
        match (self.rule, heads[class]) {
            (Rule::Weighted, Some(_)) => self.left > 0,
            (Rule::Deficit, Some(head)) if head <= self.left => true,
            (Rule::Deficit, head) => {
                self.owed[class] = if head.is_some() { self.left } else { 0 };
                false
            }
            _ => false,
        }
    }
}

impl Scheduler for Wheel {
    fn decide(&mut self, heads: &Heads) -> Option<usize> {
        self.serving = self.serving && self.goes_on(heads);
        if !self.serving {
            let size = self.table.len();
            let next = (1..=size).map(|step| (self.at + step) % size);
            self.at = next.clone().find(|&at| heads[self.table[at].0].is_some())?;
            let (class, weight) = self.table[self.at];
            self.serving = true;
            self.left = weight + if self.rule == Rule::Deficit { self.owed[class] } else { 0 };
        }
        let class = self.table[self.at].0;
        self.left = self.left.saturating_sub(heads[class]?);
        Some(class)
    }
}

/// Deficit round robin; who has packets anew joins at the end.
struct Round {
    quanta: Vec<u64>,
    deficits: Vec<u64>,
    list: VecDeque<usize>,
    begun: bool,
}

impl Scheduler for Round {
    fn decide(&mut self, heads: &Heads) -> Option<usize> {
        for class in (0..heads.len()).filter(|&class| heads[class].is_some()) {
            if !self.list.contains(&class) {
                self.list.push_back(class);
            }
        }
        loop {
            let class = *self.list.front()?;
            let Some(head) = heads[class] else {
                self.deficits[class] = 0;
                self.list.pop_front();
                self.begun = false;
                continue;
            };
            if !self.begun {
                self.deficits[class] += self.quanta[class];
                self.begun = true;
            }
            if head <= self.deficits[class] {
                self.deficits[class] -= head;
                return Some(class);
            }
            self.list.rotate_left(1);
            self.begun = false;
        }
    }
}

/// The longest that a first packet of each class took, over `packets` packets.
fn longest(
    (classes, mtu): (usize, u64),
    scheduler: &mut dyn Scheduler,
    numbers: &mut Numbers,
    packets: u32,
) -> Vec<u64> {
    let mut queues: Vec<VecDeque<u64>> = vec![VecDeque::new(); classes];
    let (mut now, mut first) = (0, vec![0; classes]);
    let mut longest = vec![0; classes];
    for _ in 0..packets {
        // Now and then one class waits for a time, while the others are kept busy.
        let idle = numbers.below(classes as u64 + 2) as usize;
        for class in 0..classes {
            if class == idle && numbers.below(4) > 0 {
                continue;
            }
            if queues[class].is_empty() {
                first[class] = now;
            }
            while queues[class].len() < 2 {
                queues[class].push_back(if numbers.below(2) == 0 { mtu } else { 1 + numbers.below(mtu) });
            }
        }
        let heads: Vec<Option<u64>> = queues.iter().map(|queue| queue.front().copied()).collect();
        let Some(class) = scheduler.decide(&heads) else { continue };
        let size = queues[class].pop_front().expect("it was named");
        longest[class] = longest[class].max(now + size - first[class]);
        // The next of the class is the first from now on, or comes during the transmission.
        first[class] = now;
        now += size;
        if queues[class].is_empty() && numbers.below(2) == 0 {
            queues[class].push_back(1 + numbers.below(mtu));
        }
    }
    longest
}

fn check(plan: &Plan, of: fn(&Bounds) -> u64, mut scheduler: impl Scheduler) {
    let mtu = plan.table.largest_weight.get() / u64::from(plan.table.w);
    let found = longest((plan.classes.len(), mtu), &mut scheduler, &mut Numbers(42), 200_000);
    for (class, longest) in plan.classes.iter().zip(found) {
        let bound = of(&class.bounds);
        assert!(longest <= bound, "{}: {longest} above {bound}", class.name);
        // And are not far off: more than half of the bound occurs.
        assert!(2 * longest > bound, "{}: {longest} far below {bound}", class.name);
    }
}

#[test]
fn no_first_packet_takes_longer_than_its_bound() {
    let plan = planned(TABLE_1);
    check(&plan, |bounds| bounds.deficit_table.total.get(), Wheel::new(&plan, Rule::Deficit));
    check(&plan, |bounds| bounds.weighted_table.total.get(), Wheel::new(&plan, Rule::Weighted));
    check(&plan, |bounds| bounds.basic_table.total.get(), Wheel::new(&plan, Rule::Basic));
    let quanta: Vec<u64> = plan.classes.iter().map(|class| class.quantum.get()).collect();
    let deficits = vec![0; quanta.len()];
    check(
        &plan,
        |bounds| bounds.round_robin.total.get(),
        Round { quanta, deficits, list: VecDeque::new(), begun: false },
    );
}

/// Numbers of a command, from behind a word up to another: `0:25 1:75` or `16896 2112`.
fn written(text: &str, from: &str, to: &str) -> Vec<u64> {
    let (_, rest) = text.rsplit_once(from).expect("it is written");
    let (numbers, _) = rest.split_once(to).expect("it ends");
    let number = |each: &str| each.rsplit(':').next().and_then(|number| number.parse().ok());
    numbers.split_whitespace().map(|each| number(each).expect("a number")).collect()
}

/// Finding B7: bounds are of what is written, percents and bytes of the command itself.
#[test]
fn b7_no_first_packet_takes_longer_with_what_is_written() {
    let seven = TABLE_1.replace("3.125%", "2.4%").replace("6.25%", "5.7%");
    for (form, mtu) in [(Form::Dcb, 32), (Form::TcEts, 33)] {
        let asked = asked(&format!("{seven}[target]\nform = \"{form}\"\n"));
        let plan = weir_plan::plan(&asked);
        assert!(plan.refused.is_empty(), "{:?}", plan.refused);
        let text = emit(&plan, form, &asked.target).expect("written").text;
        let quanta: Vec<u64> = match form {
            Form::Dcb => {
                let percents = written(&text, " tc-bw ", " prio-tc");
                assert_eq!(percents.iter().sum::<u64>(), 100);
                let percents = &percents[..plan.classes.len()];
                let unit = 32_u64.div_ceil(percents.iter().copied().min().expect("some"));
                percents.iter().map(|percent| percent * unit).collect()
            }
            _ => written(&text, " quanta ", " priomap").iter().map(|bytes| bytes / 64).collect(),
        };
        let deficits = vec![0; quanta.len()];
        let mut round = Round { quanta, deficits, list: VecDeque::new(), begun: false };
        let found = longest((plan.classes.len(), mtu), &mut round, &mut Numbers(42), 200_000);
        for (class, longest) in plan.classes.iter().zip(found) {
            let bound = class.bounds.round_robin.total.get();
            assert!(longest <= bound, "{form} {}: {longest} above {bound}", class.name);
            assert!(3 * longest > bound, "{form} {}: {longest} far below {bound}", class.name);
        }
    }
}
