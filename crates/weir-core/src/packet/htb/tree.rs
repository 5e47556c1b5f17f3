//! The classes of a hierarchical token bucket: which may send, on whose account, and whose turn it is.
//!
//! A class with packets stands in a list of the class above while it borrows, and in the row of its height while it sends on
//! its own account. So what changes for one class concerns those above it alone, however many are below: who sends is found
//! on the way down from the lowest row.
//!
//! | | |
//! |-|-|
//! | Source | Devera, *Hierarchical token bucket theory*, 2002 |
//! | Work per packet | O(depth x log classes) |
//! | Units | rates: bits per second; quanta and deficits: bytes |
//! | Memory | some 700 bytes a class; no allocation after the start |

use super::config::{ClassConfig, Config, MAX_DEPTH, MAX_PRIORITY};
use super::turns::Turns;
use crate::alarms::Alarms;
use crate::packet::bucket::Bucket;
use crate::units::{Bytes, Instant, Rate};

/// How many priorities there are.
const PRIORITIES: usize = MAX_PRIORITY as usize + 1;
/// No quantum and no deficit is larger, so that sums of them stay in range.
const MOST: i64 = i64::MAX >> 16;

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
struct Class {
    rate: Bucket,
    ceiling: Bucket,
    /// As it was when something last changed; it is kept while packets wait in the class or below it.
    colour: Colour,
    parent: Option<usize>,
    /// Its place among those that borrow from the same.
    place: usize,
    priority: u8,
    /// How many classes there are between it and the lowest below it.
    height: usize,
    /// The priorities of packets that wait in it, or in those that borrow from it; a bit for each.
    waiting: u8,
    quantum: i64,
    /// What is left of its turn, by the height of the lender.
    deficits: [i64; MAX_DEPTH],
}

impl Class {
    fn new(of: ClassConfig, link: usize, burst: Bytes, quantum: i64) -> Self {
        Self {
            rate: Bucket::full(of.rate, burst),
            ceiling: Bucket::full(of.ceiling, burst),
            colour: Colour::Green,
            parent: Some(of.parent.unwrap_or(link)),
            place: 0,
            priority: of.priority,
            height: 0,
            waiting: 0,
            quantum,
            deficits: [0; MAX_DEPTH],
        }
    }

    /// Lets tokens accrue; the colour then, and when it will be another.
    #[inline]
    fn settle(&mut self, now: Instant) -> (Colour, Option<Instant>) {
        self.rate.settle(now);
        self.ceiling.settle(now);
        match (self.ceiling.is_solvent(), self.rate.is_solvent()) {
            (false, _) => (Colour::Red, self.ceiling.solvent_at()),
            (true, true) => (Colour::Green, None),
            (true, false) => (Colour::Yellow, self.rate.solvent_at()),
        }
    }
}

/// Who sends next, and on whose account.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) leaf: usize,
    lender: usize,
    /// The list that the leaf is in.
    list: usize,
}

/// See above.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// By number; the link is the last.
    classes: Vec<Class>,
    /// Who borrows from a class, by place.
    borrowers: Vec<Vec<usize>>,
    /// For each priority the turns of those that borrow from a class, by place; then those of each height that send on their
    /// own account, by number.
    turns: Vec<[Turns; PRIORITIES]>,
    /// The priorities of each row that are not empty.
    rows: [u8; MAX_DEPTH],
    /// When the classes that wait for tokens will have them.
    alarms: Alarms,
}

/// The numbers of the bits that are set.
fn bits(mut mask: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < PRIORITIES).then_some(bit)
    })
}

impl Tree {
    /// The classes of a configuration, which has been checked.
    pub(super) fn new(config: &Config) -> Self {
        let link = config.classes.len();
        let least = config.classes.iter().map(|class| class.rate.get()).min().unwrap_or(1);
        let quantum = |rate: Rate| {
            let share = u128::from(config.quantum.get()) * u128::from(rate.get()) / u128::from(least);
            i64::try_from(share).unwrap_or(MOST).min(MOST)
        };
        let class = |&of: &ClassConfig| Class::new(of, link, config.burst, quantum(of.rate));
        let mut classes: Vec<Class> = config.classes.iter().map(class).collect();
        let of_link = ClassConfig { rate: config.rate, ceiling: config.rate, parent: None, priority: 0 };
        classes.push(Class { parent: None, ..Class::new(of_link, link, config.burst, 0) });
        // Each stands after the one above it, so that those below are known first.
        for at in (0..link).rev() {
            let (height, parent) = (classes[at].height, classes[at].parent.unwrap_or(link));
            classes[parent].height = classes[parent].height.max(height + 1);
        }
        let mut borrowers = vec![Vec::new(); classes.len()];
        for (at, class) in classes.iter_mut().enumerate().take(link) {
            let family = &mut borrowers[class.parent.unwrap_or(link)];
            class.place = family.len();
            family.push(at);
        }
        let lists = borrowers.iter().map(Vec::len).chain([classes.len(); MAX_DEPTH]);
        let turns = lists.map(|places| core::array::from_fn(|_| Turns::new(places))).collect();
        let alarms = Alarms::new(classes.len());
        Self { classes, borrowers, turns, rows: [0; MAX_DEPTH], alarms }
    }

    /// Whether there is such a class, and none below it.
    #[inline]
    pub(super) fn is_leaf(&self, class: usize) -> bool {
        class + 1 < self.classes.len() && self.classes[class].height == 0
    }

    /// The last class that has none below it.
    pub(super) fn last_leaf(&self) -> usize {
        (0..self.classes.len()).rfind(|&class| self.is_leaf(class)).unwrap_or(0)
    }

    /// When a class that waits for tokens will have them.
    #[inline]
    pub(super) fn next_event(&self) -> Option<Instant> {
        self.alarms.earliest()
    }

    /// Sees to the tokens that classes have got by now.
    #[inline]
    pub(super) fn see_to(&mut self, now: Instant) {
        while let Some(class) = self.alarms.due(now) {
            self.recolour(now, class);
        }
    }

    /// A leaf has packets to send, and had none.
    #[inline]
    pub(super) fn begins(&mut self, now: Instant, leaf: usize) {
        let mask = 1 << self.classes[leaf].priority;
        let fresh = self.has(now, leaf, mask);
        self.enlist(now, leaf, fresh);
    }

    /// A leaf has no more packets to send now; `is_empty`: nor any other.
    #[inline]
    pub(super) fn ends(&mut self, leaf: usize, is_empty: bool) {
        let mask = 1 << self.classes[leaf].priority;
        self.delist(leaf, mask);
        self.has_no_more(leaf, mask);
        if is_empty {
            self.classes[leaf].deficits = [0; MAX_DEPTH];
        }
    }

    /// Packets of these priorities wait in a class, or below it; those of which none did.
    #[inline]
    fn has(&mut self, now: Instant, at: usize, mask: u8) -> u8 {
        let class = &mut self.classes[at];
        let (fresh, was_idle) = (mask & !class.waiting, class.waiting == 0);
        class.waiting |= mask;
        if was_idle {
            let (colour, due) = class.settle(now);
            class.colour = colour;
            self.alarms.set(at, due);
        }
        fresh
    }

    #[inline]
    fn has_no_more(&mut self, at: usize, mask: u8) {
        let class = &mut self.classes[at];
        class.waiting &= !mask;
        if class.waiting == 0 && class.colour != Colour::Green {
            self.alarms.set(at, None);
        }
    }

    /// The turns that a class with packets takes, and its place there.
    #[inline]
    fn list(&self, class: usize) -> Option<(usize, usize)> {
        let Class { colour, parent, place, height, .. } = self.classes[class];
        match colour {
            Colour::Green => Some((self.classes.len() + height, class)),
            Colour::Yellow => Some((parent?, place)),
            Colour::Red => None,
        }
    }

    /// Puts a class with packets of these priorities where it belongs, and those that it borrows from.
    #[inline]
    fn enlist(&mut self, now: Instant, class: usize, mask: u8) {
        let (mut at, mut mask) = (class, mask);
        while let Some((list, place)) = self.list(at).filter(|_| mask != 0) {
            bits(mask).for_each(|priority| self.turns[list][priority].join(place));
            if let Some(row) = list.checked_sub(self.classes.len()) {
                self.rows[row] |= mask;
                return;
            }
            (at, mask) = (list, self.has(now, list, mask));
        }
    }

    /// Takes a class with packets of these priorities from where it is, and those that have none without it.
    #[inline]
    fn delist(&mut self, class: usize, mask: u8) {
        let (mut at, mut mask) = (class, mask);
        while let Some((list, place)) = self.list(at).filter(|_| mask != 0) {
            let empty = bits(mask).filter(|&priority| self.turns[list][priority].leave(place));
            let empty = empty.fold(0, |empty, priority| empty | 1 << priority);
            if let Some(row) = list.checked_sub(self.classes.len()) {
                self.rows[row] &= !empty;
                return;
            }
            self.has_no_more(list, empty);
            (at, mask) = (list, empty);
        }
    }

    /// The tokens of a class with packets have changed.
    #[inline]
    fn recolour(&mut self, now: Instant, at: usize) {
        let (colour, due) = self.classes[at].settle(now);
        if colour != self.classes[at].colour {
            let mask = self.classes[at].waiting;
            self.delist(at, mask);
            self.classes[at].colour = colour;
            self.enlist(now, at, mask);
        }
        self.alarms.set(at, due);
    }

    /// Who sends next, if anybody may: of those on the lowest account the one of the first priority whose turn it is.
    pub(super) fn next(&mut self) -> Option<Turn> {
        let height = self.rows.iter().position(|row| *row != 0)?;
        let priority = self.rows[height].trailing_zeros() as usize;
        let row = self.classes.len() + height;
        let (mut list, mut lender) = (row, None);
        loop {
            let Some(place) = self.turns[list][priority].whose() else {
                // All in it have had their turn, and so has the class whose list it is.
                if list != row {
                    let above =
                        if lender == Some(list) { row } else { self.classes[list].parent.unwrap_or(row) };
                    self.turns[above][priority].over();
                }
                (list, lender) = (row, None);
                continue;
            };
            let at = self.borrowers.get(list).map_or(place, |borrowers| borrowers[place]);
            let lender_of = lender.unwrap_or(at);
            let class = &mut self.classes[at];
            if class.height > 0 {
                (list, lender) = (at, Some(lender_of));
                continue;
            }
            let deficit = &mut class.deficits[height];
            if *deficit <= 0 {
                *deficit += class.quantum;
            }
            if *deficit > 0 {
                return Some(Turn { leaf: at, lender: lender_of, list });
            }
            // A quantum need not cover the debt of a large packet.
            self.turns[list][priority].over();
        }
    }

    /// Charges a packet to whom it concerns; a turn ends once it is used up.
    pub(super) fn sends(&mut self, now: Instant, turn: Turn, size: Bytes) {
        let height = self.classes[turn.lender].height;
        let leaf = &mut self.classes[turn.leaf];
        leaf.deficits[height] -= i64::try_from(size.get()).unwrap_or(MOST).min(MOST);
        if leaf.deficits[height] <= 0 {
            self.turns[turn.list][usize::from(leaf.priority)].over();
        }
        let (mut above, mut lends) = (Some(turn.leaf), false);
        while let Some(at) = above {
            let class = &mut self.classes[at];
            let _ = class.settle(now);
            class.ceiling.owe(size);
            lends |= at == turn.lender;
            if lends {
                class.rate.owe(size);
            }
            above = class.parent;
            if class.waiting != 0 {
                self.recolour(now, at);
            }
        }
    }
}
