//! The classes of a trace: numbered as they appear while it is read, and by their values when it has been.
//!
//! | | |
//! |-|-|
//! | Work | O(1) a row; O(n log n) at the end, n classes |
//! | Memory | a name and an alpha for each class |

use std::cmp::Ordering;
use std::collections::HashMap;

use super::Trace;

/// The most classes of a trace.
pub(super) const MAX_CLASSES: usize = 1 << 16;

/// The classes that have appeared.
#[derive(Default)]
pub(super) struct Classes {
    numbers: HashMap<(String, u64), u16>,
    /// In order of appearance.
    found: Vec<Class>,
}

/// What a row says of its class.
struct Class {
    name: Option<String>,
    alpha: Option<f64>,
}

impl Class {
    /// Numbers in their order, then words in theirs, and by alpha where the names are equal.
    fn compare(&self, other: &Self) -> Ordering {
        let name = |class: &Self| class.name.clone().unwrap_or_default();
        let alpha = |class: &Self| class.alpha.unwrap_or_default();
        by_value(&name(self), &name(other)).then(alpha(self).total_cmp(&alpha(other)))
    }

    /// What it is called in a report.
    fn title(&self) -> String {
        match (&self.name, self.alpha) {
            (Some(name), Some(alpha)) => format!("{name}, alpha {alpha}"),
            (None, Some(alpha)) => format!("alpha {alpha}"),
            (name, None) => name.clone().unwrap_or_default(),
        }
    }

    /// What the file calls it.
    fn value(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.title())
    }
}

impl Classes {
    /// The number of the class of this name and alpha, in order of appearance; `None` where there are too many.
    pub(super) fn number(&mut self, name: Option<&str>, alpha: Option<f64>) -> Option<u16> {
        if name.is_none() && alpha.is_none() {
            return Some(0);
        }
        let key = (name.unwrap_or_default().to_owned(), alpha.map_or(0, f64::to_bits));
        if let Some(class) = self.numbers.get(&key) {
            return Some(*class);
        }
        let class = self.found.len();
        if class == MAX_CLASSES {
            return None;
        }
        self.numbers.insert(key, class as u16);
        self.found.push(Class { name: name.map(str::to_owned), alpha });
        Some(class as u16)
    }

    /// Gives a trace the names and alphas of its classes in the order of their values; returns, for each number so far,
    /// the place in that order.
    pub(super) fn name(self, trace: &mut Trace) -> Vec<u16> {
        let mut order: Vec<usize> = (0..self.found.len()).collect();
        order.sort_by(|&a, &b| self.found[a].compare(&self.found[b]));
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, &class)| places[class] = place);
        let sorted = || order.iter().map(|&class| &self.found[class]);
        trace.classes = sorted().map(Class::title).collect();
        trace.values = sorted().map(Class::value).collect();
        trace.alphas = sorted().filter_map(|class| class.alpha).collect();
        places
    }
}

fn by_value(name: &str, other: &str) -> Ordering {
    let number = |name: &str| name.parse::<f64>().ok().filter(|number| !number.is_nan());
    match (number(name), number(other)) {
        (Some(a), Some(b)) => a.total_cmp(&b).then_with(|| name.cmp(other)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => name.cmp(other),
    }
}
