//! The subscribers of an access network, from a file of comma-separated values: what each is promised, how much it sends
//! at most, which addresses it has, and in which group it is.
//!
//! ```text
//! name,address,rate,ceiling,group
//! mast-1,,100Mbit,100Mbit,
//! anna,10.1.0.2 2001:db8:1::/56,2Mbit,20Mbit,mast-1
//! ```
//!
//! A line without an address is a group, such as an access point, which other lines name. An interface shares its rate by
//! the classes of a [hierarchical token bucket](weir_core::packet::htb): the groups first, each after the one that it is
//! in, then the subscribers in the order of the file, and last the class of all other packets ([`OTHERS`]). A group that
//! has promised more than it has keeps its promises in part: each in proportion ([`Table::shares`]).
//!
//! | | |
//! |-|-|
//! | Source | this project; RFC 4180 for the lines, without quoted fields |
//! | Work | O(lines log lines), once |
//! | Memory | some 150 bytes a line |
//! | Units | bits per second |
//! | Departs from the source | columns in any order; a byte order mark, blanks around fields and empty lines are passed over |

mod read;
#[cfg(test)]
mod tests;

use core::cmp::Ordering;

use ipnet::IpNet;
use weir_core::packet::htb::{self, ClassConfig, Config};
use weir_core::spec::{Argument, Spec};
use weir_core::units::{Bytes, Rate};

use crate::{Checked, Refused};

/// The class of packets that no subscriber has; a line of this name, without an address, says what it may send.
pub const OTHERS: &str = "others";
/// The most lines: a class each, and one for all others.
pub const MOST: usize = htb::MAX_CLASSES - 1;
/// The longest file, in bytes.
pub const LONGEST: u64 = 16 << 20;
/// The least and the highest rate.
pub const RATES: (Rate, Rate) = (Rate::new(1_000), Rate::new(1_000_000_000_000));
/// How much of its rate a class saves up, as `htb` has it where nobody says.
const BURST: Bytes = Bytes::new(15_140);
/// How much the class with the smallest rate sends in its turn, likewise.
const QUANTUM: Bytes = Bytes::new(1_514);
/// The part of an interface that others are promised, where no line says.
const OF_LINK: u64 = 100;

/// What a class is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Subscribers borrow from it.
    Group,
    /// It has addresses.
    Subscriber,
    /// All other packets are of it.
    Others,
}

/// A class, as its line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What it is promised; `None`: a hundredth of the interface.
    pub rate: Option<Rate>,
    /// What it sends at most; `None`: as much as its group, or the interface.
    pub ceiling: Option<Rate>,
    /// The group that it is in, which stands before it.
    pub group: Option<u16>,
}

/// The classes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    file: String,
    classes: Vec<Class>,
    prefixes: Vec<(IpNet, u16)>,
    /// The classes by their names, in order.
    by_name: Vec<u16>,
}

/// More is promised than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overbooked {
    /// By which group; `None`: by the interface.
    pub group: Option<u16>,
    /// What is promised.
    pub promised: Rate,
    /// What there is.
    pub rate: Rate,
}

impl Table {
    /// The file, as it was named.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The classes by number, the others last.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The prefixes of all subscribers with their classes; no two are equal.
    #[must_use]
    pub fn prefixes(&self) -> &[(IpNet, u16)] {
        &self.prefixes
    }

    /// The class of packets that no subscriber has.
    #[must_use]
    pub fn others(&self) -> u16 {
        (self.classes.len() - 1) as u16
    }

    /// How many subscribers there are.
    #[must_use]
    pub fn subscribers(&self) -> usize {
        self.classes.iter().filter(|class| class.kind == Kind::Subscriber).count()
    }

    /// The class of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u16> {
        let name_of = |&class: &u16| self.name(class).cmp(name);
        self.by_name.binary_search_by(name_of).ok().map(|place| self.by_name[place])
    }

    fn name(&self, class: u16) -> &str {
        &self.classes[usize::from(class)].name
    }

    /// For each class of another table the class of the same name here, if there is one: O(classes).
    #[must_use]
    pub fn successors_of(&self, old: &Self) -> Vec<Option<u16>> {
        let mut same = vec![None; old.classes.len()];
        let (mut mine, mut theirs) = (0, 0);
        while let (Some(&new), Some(&was)) = (self.by_name.get(mine), old.by_name.get(theirs)) {
            match self.name(new).cmp(old.name(was)) {
                Ordering::Less => mine += 1,
                Ordering::Greater => theirs += 1,
                Ordering::Equal => {
                    same[usize::from(was)] = Some(new);
                    (mine, theirs) = (mine + 1, theirs + 1);
                }
            }
        }
        same
    }

    /// What each class is promised of an interface of this rate, and how much it sends at most; and who has promised more
    /// than it has. Promises that cannot be kept are cut, all of one group in the same proportion; ceilings are not.
    ///
    /// # Errors
    /// A group has so little that some in it would be promised nothing.
    pub fn shares(&self, link: Rate) -> Checked<(Config, Vec<Overbooked>)> {
        let last = self.classes.len();
        let rate_of = |class: &Class| class.rate.unwrap_or(Rate::new(link.get() / OF_LINK));
        let (mut promised, mut written) = (vec![0_u64; last + 1], vec![0_u64; last + 1]);
        for class in &self.classes {
            let group = class.group.map_or(last, usize::from);
            promised[group] = promised[group].saturating_add(rate_of(class).get());
            written[group] = written[group].saturating_add(class.rate.map_or(0, Rate::get));
        }
        let mut classes: Vec<ClassConfig> = Vec::with_capacity(last);
        for class in &self.classes {
            let parent = class.group.map(usize::from);
            let above = parent.map_or((link, link), |group| (classes[group].rate, classes[group].ceiling));
            let rate = cut(rate_of(class), above.0, promised[parent.unwrap_or(last)]);
            if rate.get() == 0 {
                return Err(self.starved(class, above.0));
            }
            let ceiling = class.ceiling.unwrap_or(above.1).max(rate);
            classes.push(ClassConfig { rate, ceiling, parent, priority: 0 });
        }
        let rates = self.classes.iter().map(rate_of).chain([link]).zip(written);
        let over = rates.enumerate().filter(|(_, (rate, promised))| *promised > rate.get());
        let over = over.map(|(at, (rate, promised))| Overbooked {
            group: (at < last).then_some(at as u16),
            promised: Rate::new(promised),
            rate,
        });
        Ok((Config { rate: link, classes, burst: BURST, quantum: QUANTUM }, over.collect()))
    }

    /// The same as the spec of a discipline, with this one in each class: for tables that are not large.
    ///
    /// # Errors
    /// As of [`Self::shares`].
    pub fn spec(&self, link: Rate, each: &Spec) -> Checked<Spec> {
        let (config, _) = self.shares(link)?;
        let list = |text: &dyn Fn(&ClassConfig) -> String| {
            config.classes.iter().map(text).collect::<Vec<_>>().join("/")
        };
        let classes = list(&|class| format!("{}-{}", class.rate, class.ceiling));
        let parents = list(&|class| class.parent.map_or("root".to_owned(), |parent| parent.to_string()));
        let [rate, classes, parents] = [
            Argument::new("rate", &link.to_string()),
            Argument::new("classes", &classes),
            Argument::new("parents", &parents),
        ];
        let each = Argument { key: None, value: each.clone() };
        Ok(Spec { name: htb::INFO.name.to_owned(), arguments: vec![each, rate, classes, parents] })
    }

    fn starved(&self, class: &Class, rate: Rate) -> Refused {
        let whose = class.group.map_or("the interface", |group| self.name(group));
        let reason = format!("is promised less than 1bit of the {rate} that `{whose}` has");
        Refused::of_file(&self.file, reason, "raise that rate, or divide the group")
            .key("name")
            .value(format!("`{}`", class.name))
    }

    /// Who has promised more than it has, a line each.
    #[must_use]
    pub fn advice(&self, over: &[Overbooked]) -> Vec<String> {
        const MOST_LINES: usize = 8;
        let line = |of: &Overbooked| {
            let whose =
                of.group.map_or("the interface".to_owned(), |group| format!("group `{}`", self.name(group)));
            let (promised, rate) = (of.promised, of.rate);
            let each = 100.0 * rate.get() as f64 / promised.get() as f64;
            format!(
                "{}: {whose} has {rate} and promises {promised}: each is promised {each:.0} % of its rate",
                self.file
            )
        };
        let mut lines: Vec<String> = over.iter().take(MOST_LINES).map(line).collect();
        if over.len() > MOST_LINES {
            lines.push(format!(
                "{}: {} more groups promise more than they have",
                self.file,
                over.len() - MOST_LINES
            ));
        }
        lines
    }
}

/// What is left of a rate where a part of another is promised.
fn cut(rate: Rate, of: Rate, promised: u64) -> Rate {
    if promised <= of.get() {
        return rate;
    }
    let part = u128::from(rate.get()) * u128::from(of.get()) / u128::from(promised);
    Rate::new(u64::try_from(part).unwrap_or(u64::MAX))
}
