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
//! | Work per packet | O(depth x log classes), and that of the children |
//! | Units | rates: bits per second; `burst` and `quantum`: bytes |
//! | Memory | that of the children, which are made with the first packet of their class |
//! | Departs from the source | rates that add up to more than that of the class above are refused; the quantum follows from the rates alone; a class that is empty forfeits its deficit; there is no burst of the ceiling by itself |

mod config;
mod tree;
mod turns;

pub use config::{ClassConfig, Config, ConfigError, MAX_CLASSES, MAX_DEPTH, MAX_PRIORITY};
use tree::Tree;

use super::leaving::Leaving;
use super::priority::Make;
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Effort, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::registry;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Bytes, Instant, Rate};

/// What the listings say.
pub const INFO: Info = Info {
    name: "htb",
    kind: Kind::Wrapper,
    title: "hierarchical token bucket",
    rule: "gives each class its rate, and what is left over to those that want more, up to their ceilings",
    source: "Devera, Hierarchical token bucket theory, 2002; Floyd and Van Jacobson, Link-sharing and resource \
        management models for packet networks, IEEE/ACM Transactions on Networking 3(4), 1995",
    work: "O(depth x log classes)",
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

/// What waits in a class that has none below it.
#[derive(Clone, Debug)]
struct Leaf<D> {
    /// Nothing while it has had no packet.
    child: Option<D>,
    /// Packets that wait in it.
    items: u64,
    /// It is among those whose turn may come.
    takes_turns: bool,
}

/// Hierarchical token bucket; `F` makes the discipline of a class.
#[derive(Clone, Debug)]
pub struct Htb<I: Item, D, F> {
    make: F,
    tree: Tree,
    leaves: Vec<Leaf<D>>,
    /// The class of packets whose own is none, or has others below it.
    rest: usize,
    /// The leaves that have given nothing in this decision, though packets wait in them.
    withheld: Vec<usize>,
    backlog: Backlog<I::Cost>,
    wake: Option<Instant>,
}

impl<I: Item<Cost = Bytes>, D: Discipline<I>, F: Fn(usize) -> D> Htb<I, D, F> {
    /// These classes; `make` makes the discipline of each by its number.
    ///
    /// # Errors
    /// As [`Config::check`].
    pub fn new(config: &Config, make: F) -> Result<Self, ConfigError> {
        config.check()?;
        let tree = Tree::new(config);
        let leaf = || Leaf { child: None, items: 0, takes_turns: false };
        let leaves: Vec<_> = config.classes.iter().map(|_| leaf()).collect();
        let (rest, withheld) = (tree.last_leaf(), Vec::with_capacity(leaves.len()));
        Ok(Self { make, tree, leaves, rest, withheld, backlog: Backlog::default(), wake: None })
    }

    /// The class that an item waits in.
    #[inline]
    fn class(&self, item: &I) -> usize {
        let class = usize::from(item.class().0);
        if self.tree.is_leaf(class) { class } else { self.rest }
    }

    /// Who has packets takes turns, and nobody else.
    #[inline]
    fn settle(&mut self, now: Instant, at: usize) {
        let Leaf { items, ref mut takes_turns, .. } = self.leaves[at];
        match (*takes_turns, items > 0) {
            (false, true) => self.tree.begins(now, at),
            (true, false) => self.tree.ends(at, true),
            _ => return,
        }
        *takes_turns = items > 0;
    }

    /// A packet of the leaf, if it gives one.
    fn take(&mut self, now: Instant, leaf: usize, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<I> {
        let Leaf { child, items, .. } = &mut self.leaves[leaf];
        let lost = &mut Lost { items, leaving: Leaving { backlog: &mut self.backlog, drops } };
        let child = child.as_mut()?;
        let item = child.dequeue(now, gate, lost)?.item;
        // Its part ends here: it learns that the packet has been served.
        child.finish(now, &item, item.cost());
        *items -= 1;
        self.backlog.remove(item.cost());
        Some(item)
    }

    /// Those that withheld what they have take turns again.
    fn readmit(&mut self, now: Instant) {
        while let Some(leaf) = self.withheld.pop() {
            self.settle(now, leaf);
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
    fn dropped(&mut self, item: I, reason: DropReason) {
        *self.items -= 1;
        self.leaving.dropped(item, reason);
    }
}

impl<I: Item<Cost = Bytes>, D: Discipline<I>, F: Fn(usize) -> D> Discipline<I> for Htb<I, D, F> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let at = self.class(&item);
        self.backlog.add(item.cost());
        let Leaf { child, items, .. } = &mut self.leaves[at];
        *items += 1;
        let child = child.get_or_insert_with(|| (self.make)(at));
        let leaving = Leaving { backlog: &mut self.backlog, drops };
        // The child's grant is closed as soon as it is made, so there is nobody to preempt.
        let _ = child.enqueue(now, item, &mut Lost { items, leaving });
        self.settle(now, at);
        Enqueued::Queued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.tree.see_to(now);
        let mut granted = None;
        self.wake = None;
        while let Some(turn) = self.tree.next() {
            let leaf = turn.leaf;
            if let Some(item) = self.take(now, leaf, gate, drops) {
                let quantum = item.cost();
                self.tree.sends(now, turn, quantum);
                self.settle(now, leaf);
                granted = Some(Grant { item, quantum });
                break;
            }
            // Until the decision is made it takes no turns; what waits in it keeps its deficit.
            self.tree.ends(leaf, self.leaves[leaf].items == 0);
            self.leaves[leaf].takes_turns = false;
            self.withheld.push(leaf);
        }
        if granted.is_none() {
            let children = self.withheld.iter().filter_map(|&leaf| self.leaves[leaf].child.as_ref());
            let event = children.filter_map(D::next_event).filter(|&at| at > now).min();
            self.wake = [self.tree.next_event(), event].into_iter().flatten().min();
        }
        self.readmit(now);
        granted
    }

    fn next_event(&self) -> Option<Instant> {
        self.wake
    }

    fn backlog(&self) -> Backlog<Bytes> {
        self.backlog
    }

    fn effort(&self) -> Option<Effort> {
        self.leaves.iter().filter_map(|leaf| leaf.child.as_ref()?.effort()).reduce(Effort::plus)
    }
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
