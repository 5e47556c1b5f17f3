//! Hierarchical token bucket: each class is promised a rate, and borrows what others leave, up to its ceiling.
//!
//! A class has two buckets, of its rate and of its ceiling. It is *green* while that of its rate has no debt, *yellow*
//! while only that of its ceiling has none, and *red* otherwise. A green class sends on its own account. A yellow one
//! sends on the account of the nearest green class above it, with no red one between; if there is none it waits, and so
//! does a red one. Who sends on an account that is lower in the tree goes first, then who has the lower priority number;
//! the others take turns by deficit round robin, with quanta in proportion to their rates. A packet is charged to the
//! ceilings of all classes above it, and to the rates from the lender on.
//!
//! | | |
//! |-|-|
//! | Source | Devera, *Hierarchical token bucket theory*, 2002, and tc-htb(8); Floyd and Van Jacobson, *Link-sharing and resource management models for packet networks*, IEEE/ACM Transactions on Networking 3(4), 1995 |
//! | Work per packet | O(classes x their depth), and that of the children |
//! | Units | rates: bits per second; `burst` and `quantum`: bytes |
//! | Memory | that of the children, which are made with the first packet of their class |
//! | Departs from the source | rates that add up to more than that of the class above are refused; the quantum follows from the rates alone; a class that is empty forfeits its deficit; there is no burst of the ceiling by itself |

mod config;

pub use config::{ClassConfig, Config, ConfigError, MAX_CLASSES, MAX_DEPTH, MAX_PRIORITY};

use super::bucket::Bucket;
use super::leaving::Leaving;
use crate::discipline::{Backlog, Discipline, Drops, Effort, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::registry;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Bytes, Instant, Rate};

use super::priority::Make;

/// What the listings say.
pub const INFO: Info = Info {
    name: "htb",
    kind: Kind::Wrapper,
    title: "hierarchical token bucket",
    rule: "gives each class its rate, and what is left over to those that want more, up to their ceilings",
    source: "Devera, Hierarchical token bucket theory, 2002; Floyd and Van Jacobson, Link-sharing and resource \
        management models for packet networks, IEEE/ACM Transactions on Networking 3(4), 1995",
    work: "O(classes x depth)",
    parameters: &[
        Parameter::required("discipline", Takes::Discipline(Role::Discipline))
            .listed("a discipline of packets")
            .meaning("what each class does with its packets"),
        Parameter::required("rate", Takes::Rate(Rate::new(1))).meaning("what all classes send together"),
        Parameter::required("classes", Takes::Text)
            .worded("rates, each with a ceiling or without, as in `2Mbit-10Mbit/5Mbit`")
            .meaning("what class 0, 1, ... is promised, and how much it sends at most; `rate` if not given"),
        Parameter::new("parents", Takes::Text, "root")
            .worded("`root` or the number of an earlier class, as in `root/root/0/0`")
            .meaning("whom class 0, 1, ... borrows from; the last stands for those that follow"),
        Parameter::new("priorities", Takes::Text, "0")
            .worded("whole numbers from 0 to 7, as in `0/1`")
            .meaning("who borrows first, 0 before 1; the last stands for those that follow"),
        Parameter::new("burst", Takes::Size(Bytes::ONE..=Bytes::new(1 << 40)), "15140B")
            .meaning("how much of its rate a class saves up at most"),
        Parameter::new("quantum", Takes::Size(Bytes::new(256)..=Bytes::new(1 << 30)), "1514B")
            .meaning("how much the class with the smallest rate sends in its turn"),
    ],
    example: "htb(fq_codel,rate=20Mbit,classes=5Mbit/5Mbit-10Mbit/10Mbit)",
};

/// Whether a class may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    /// On its own account.
    Green,
    /// On that of a class above it.
    Yellow,
    /// Not at all.
    Red,
}

/// A class, or the link, which is the last.
#[derive(Clone, Debug)]
struct Class<D> {
    rate: Bucket,
    ceiling: Bucket,
    parent: Option<usize>,
    priority: u8,
    /// How many classes there are between it and the lowest below it.
    height: usize,
    quantum: i64,
    /// What is left of its turn, by the height of the lender.
    deficits: [i64; MAX_DEPTH],
    /// Nothing while it has had no packet.
    child: Option<D>,
    /// Packets that wait in it.
    items: u64,
    /// The last decision in which it was asked and gave nothing.
    withheld: u64,
}

impl<D> Class<D> {
    fn new(of: ClassConfig, link: usize, burst: Bytes, quantum: i64) -> Self {
        Self {
            rate: Bucket::full(of.rate, burst),
            ceiling: Bucket::full(of.ceiling, burst),
            parent: Some(of.parent.unwrap_or(link)),
            priority: of.priority,
            height: 0,
            quantum,
            deficits: [0; MAX_DEPTH],
            child: None,
            items: 0,
            withheld: 0,
        }
    }

    #[inline]
    fn colour(&mut self, now: Instant) -> Colour {
        self.rate.settle(now);
        self.ceiling.settle(now);
        match (self.ceiling.is_solvent(), self.rate.is_solvent()) {
            (false, _) => Colour::Red,
            (true, true) => Colour::Green,
            (true, false) => Colour::Yellow,
        }
    }
}

/// Who may send now, and on whose account.
#[derive(Clone, Copy, Debug)]
struct Turn {
    lender: usize,
    /// Of the lender, and the priority of who sends: less goes first.
    rank: (usize, u8),
}

/// Hierarchical token bucket; `F` makes the discipline of a class.
#[derive(Clone, Debug)]
pub struct Htb<I: Item, D, F> {
    make: F,
    /// By number; the link is the last.
    classes: Vec<Class<D>>,
    /// The class of packets whose own has none, or others below it.
    rest: usize,
    /// Whose turn it is, by the height of the lender and the priority.
    turns: [[usize; MAX_PRIORITY as usize + 1]; MAX_DEPTH],
    backlog: Backlog<I::Cost>,
    decisions: u64,
    wake: Option<Instant>,
}

impl<I: Item<Cost = Bytes>, D: Discipline<I>, F: Fn(usize) -> D> Htb<I, D, F> {
    /// These classes; `make` makes the discipline of each by its number.
    ///
    /// # Errors
    /// As [`Config::check`].
    pub fn new(config: &Config, make: F) -> Result<Self, ConfigError> {
        config.check()?;
        let link = config.classes.len();
        let least = config.classes.iter().map(|class| class.rate.get()).min().unwrap_or(1);
        let quantum = |rate: Rate| {
            let share = u128::from(config.quantum.get()) * u128::from(rate.get()) / u128::from(least);
            i64::try_from(share).unwrap_or(i64::MAX >> 16).min(i64::MAX >> 16)
        };
        let mut classes: Vec<Class<D>> = config
            .classes
            .iter()
            .map(|&class| Class::new(class, link, config.burst, quantum(class.rate)))
            .collect();
        let of_link = ClassConfig { rate: config.rate, ceiling: config.rate, parent: None, priority: 0 };
        classes.push(Class { parent: None, ..Class::new(of_link, link, config.burst, 0) });
        // Each stands after the one above it, so that those below are known first.
        for at in (0..link).rev() {
            let (height, parent) = (classes[at].height, classes[at].parent.unwrap_or(link));
            classes[parent].height = classes[parent].height.max(height + 1);
        }
        let rest = (0..link).rfind(|&at| classes[at].height == 0).unwrap_or(0);
        let (turns, backlog) = ([[0; MAX_PRIORITY as usize + 1]; MAX_DEPTH], Backlog::default());
        Ok(Self { make, classes, rest, turns, backlog, decisions: 0, wake: None })
    }

    /// The class that an item waits in.
    #[inline]
    fn class(&self, item: &I) -> usize {
        let class = usize::from(item.class().0);
        let is_leaf = class + 1 < self.classes.len() && self.classes[class].height == 0;
        if is_leaf { class } else { self.rest }
    }

    /// Whether a class may send now, and on whose account; if not, the wake-up is put no later than when it may.
    fn turn(&mut self, now: Instant, leaf: usize) -> Option<Turn> {
        let mut at = Some(leaf);
        while let Some(class) = at {
            let this = &mut self.classes[class];
            let due = match this.colour(now) {
                Colour::Green => {
                    let rank = (this.height, self.classes[leaf].priority);
                    return Some(Turn { lender: class, rank });
                }
                Colour::Yellow => {
                    at = this.parent;
                    this.rate.solvent_at()
                }
                Colour::Red => {
                    at = None;
                    this.ceiling.solvent_at()
                }
            };
            self.wake = [self.wake, due].into_iter().flatten().min();
        }
        None
    }

    /// The least rank of those that may send now and have not withheld what they have.
    fn first_rank(&mut self, now: Instant) -> Option<(usize, u8)> {
        let mut first = None;
        self.wake = None;
        for leaf in 0..self.classes.len() - 1 {
            let class = &self.classes[leaf];
            if class.items > 0 && class.withheld != self.decisions {
                let rank = self.turn(now, leaf).map(|turn| turn.rank);
                first = [first, rank].into_iter().flatten().min();
            }
        }
        first
    }

    /// Of those of a rank the one whose turn it is, and its lender.
    fn whose_turn(&mut self, now: Instant, rank: (usize, u8)) -> Option<(usize, usize)> {
        let (height, priority) = (rank.0.min(MAX_DEPTH - 1), usize::from(rank.1));
        let leaves = self.classes.len() - 1;
        let mut at = self.turns[height][priority] % leaves;
        // Twice round at most would do if the quantum covered the debt of every packet; it need not.
        loop {
            let class = &self.classes[at];
            let is_ready = class.items > 0 && class.withheld != self.decisions;
            if is_ready && let Some(turn) = self.turn(now, at).filter(|turn| turn.rank == rank) {
                self.turns[height][priority] = at;
                let class = &mut self.classes[at];
                if class.deficits[height] > 0 {
                    return Some((at, turn.lender));
                }
                class.deficits[height] += class.quantum;
                if class.deficits[height] > 0 {
                    return Some((at, turn.lender));
                }
            }
            at = (at + 1) % leaves;
        }
    }

    /// Charges a packet that a class sends on the account of another; its turn ends once it is used up.
    fn charge_to(&mut self, leaf: usize, lender: usize, rank: (usize, u8), size: Bytes) {
        let (height, priority) = (rank.0.min(MAX_DEPTH - 1), usize::from(rank.1));
        let leaves = self.classes.len() - 1;
        let class = &mut self.classes[leaf];
        class.items -= 1;
        class.deficits[height] -= i64::try_from(size.get()).unwrap_or(i64::MAX >> 16).min(i64::MAX >> 16);
        if class.items == 0 {
            class.deficits = [0; MAX_DEPTH];
        }
        if class.deficits[height] <= 0 {
            self.turns[height][priority] = (leaf + 1) % leaves;
        }
        let (mut at, mut lends) = (Some(leaf), false);
        while let Some(class) = at {
            lends |= class == lender;
            let this = &mut self.classes[class];
            this.ceiling.owe(size);
            if lends {
                this.rate.owe(size);
            }
            at = this.parent;
        }
    }
}

impl<I: Item<Cost = Bytes> + Send + 'static> Htb<I, Box<dyn Discipline<I> + Send>, Make<I>> {
    /// As a spec names it.
    ///
    /// # Errors
    /// A discipline within is missing, unknown or refused, or what [`Config::check`] refuses.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let make = registry::packet_factory(&arguments.nested("discipline")?)?;
        let make: Make<I> = Box::new(move |_| make());
        Self::new(&Config::from_spec(arguments)?, make)
            .map_err(|error| arguments.error("classes", error.to_string()))
    }
}

/// What a class loses leaves the whole, too.
struct Lost<'a, I: Item> {
    items: &'a mut u64,
    leaving: Leaving<'a, I>,
}

impl<I: Item> Drops<I> for Lost<'_, I> {
    fn dropped(&mut self, item: I, reason: crate::discipline::DropReason) {
        *self.items -= 1;
        self.leaving.dropped(item, reason);
    }
}

impl<I: Item<Cost = Bytes>, D: Discipline<I>, F: Fn(usize) -> D> Discipline<I> for Htb<I, D, F> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let at = self.class(&item);
        self.backlog.add(item.cost());
        let class = &mut self.classes[at];
        class.items += 1;
        let child = class.child.get_or_insert_with(|| (self.make)(at));
        let leaving = Leaving { backlog: &mut self.backlog, drops };
        // The child's grant is closed as soon as it is made, so there is nobody to preempt.
        let _ = child.enqueue(now, item, &mut Lost { items: &mut class.items, leaving });
        Enqueued::Queued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.decisions += 1;
        while let Some(rank) = self.first_rank(now) {
            let Some((leaf, lender)) = self.whose_turn(now, rank) else { break };
            let class = &mut self.classes[leaf];
            let leaving = Leaving { backlog: &mut self.backlog, drops };
            let lost = &mut Lost { items: &mut class.items, leaving };
            let grant = class.child.as_mut().and_then(|child| {
                let grant = child.dequeue(now, gate, lost)?;
                // Its part ends here: it is told that the packet has been served.
                child.finish(now, &grant.item, grant.item.cost());
                Some(grant.item)
            });
            let Some(item) = grant else {
                class.withheld = self.decisions;
                continue;
            };
            let quantum = item.cost();
            self.backlog.remove(quantum);
            self.charge_to(leaf, lender, rank, quantum);
            self.wake = None;
            return Some(Grant { item, quantum });
        }
        let events = self.classes.iter().filter_map(|class| class.child.as_ref()?.next_event());
        let event = events.filter(|&at| at > now).min();
        self.wake = [self.wake, event].into_iter().flatten().min();
        None
    }

    fn next_event(&self) -> Option<Instant> {
        self.wake
    }

    fn backlog(&self) -> Backlog<Bytes> {
        self.backlog
    }

    fn effort(&self) -> Option<Effort> {
        self.classes.iter().filter_map(|class| class.child.as_ref()?.effort()).reduce(Effort::plus)
    }
}

#[cfg(test)]
mod tests;
