//! Arithmetic over what a queue knows of an item, compiled once and evaluated for each key.
//!
//! The program is in postfix form, so that evaluation is one pass with a stack of fixed depth, and nothing allocates.
//!
//! | | |
//! |-|-|
//! | Source | Aho, Lam, Sethi and Ullman, *Compilers*, 2007, section 2.3 (infix to postfix by recursive descent) |
//! | Work | compiling O(length); evaluating O(operations), at most [`MOST_STEPS`] |
//! | Units | sizes as the item's cost, times in seconds |
//! | Floating point | each key comes from whole numbers by operations that IEEE 754 rounds alike everywhere; nothing is summed over items |

mod parser;

use core::fmt;

/// The most numbers, names and operations.
pub const MOST_STEPS: usize = 128;
/// The deepest stack, and the deepest nesting.
const DEPTH: usize = 16;

/// What an expression may ask of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Size,
    Remaining,
    Served,
    Arrival,
    Waited,
    Clock,
    Class,
    Flow,
    Weight,
}

/// The names as they are written.
const NAMES: [(&str, Name); 9] = [
    ("size", Name::Size),
    ("remaining", Name::Remaining),
    ("served", Name::Served),
    ("arrival", Name::Arrival),
    ("waited", Name::Waited),
    ("clock", Name::Clock),
    ("class", Name::Class),
    ("flow", Name::Flow),
    ("weight", Name::Weight),
];

/// The values of the names, for one item at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Values {
    pub(super) size: f64,
    pub(super) remaining: f64,
    pub(super) arrival: f64,
    pub(super) waited: f64,
    pub(super) clock: f64,
    pub(super) class: f64,
    pub(super) flow: f64,
    pub(super) weight: f64,
}

impl Values {
    fn get(&self, name: Name) -> f64 {
        match name {
            Name::Size => self.size,
            Name::Remaining => self.remaining,
            Name::Served => self.size - self.remaining,
            Name::Arrival => self.arrival,
            Name::Waited => self.waited,
            Name::Clock => self.clock,
            Name::Class => self.class,
            Name::Flow => self.flow,
            Name::Weight => self.weight,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Number(f64),
    Name(Name),
    Negate,
    Two(Operation),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Least,
    Most,
}

impl Operation {
    fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            Self::Least => left.min(right),
            Self::Most => left.max(right),
        }
    }
}

/// Why an expression was refused: where, counted in bytes from its start, and the rest of the sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    at: usize,
    reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.reason)
    }
}

/// A compiled expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    steps: Vec<Step>,
    stays: bool,
}

impl Expression {
    /// Compiles a text.
    ///
    /// # Errors
    /// It is no expression, is longer than [`MOST_STEPS`], or nests too deeply.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let steps = parser::steps(text)?;
        if depth(&steps) > DEPTH {
            let reason = format!("nests deeper than {DEPTH}: write it with fewer parentheses");
            return Err(Fault { at: text.len(), reason });
        }
        let stays = rate(&steps).is_some();
        Ok(Self { steps: if stays { since_zero(steps) } else { steps }, stays })
    }

    /// Whether the order of two waiting items never changes while they wait: `waited` is not in it, or all keys grow with
    /// it at one rate.
    #[must_use]
    pub fn stays(&self) -> bool {
        self.stays
    }

    /// Its value; not a number where it has none, as of 0/0.
    #[inline]
    pub(super) fn value(&self, values: &Values) -> f64 {
        let mut stack = [0.0; DEPTH + 1];
        let mut top = 0;
        for step in &self.steps {
            match *step {
                Step::Number(number) => {
                    stack[top] = number;
                    top += 1;
                }
                Step::Name(name) => {
                    stack[top] = values.get(name);
                    top += 1;
                }
                Step::Negate => stack[top - 1] = -stack[top - 1],
                Step::Two(operation) => {
                    top -= 1;
                    stack[top - 1] = operation.of(stack[top - 1], stack[top]);
                }
            }
        }
        stack[0]
    }
}

/// The deepest stack that the steps need.
fn depth(steps: &[Step]) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for step in steps {
        match step {
            Step::Number(_) | Step::Name(_) => now += 1,
            Step::Negate => {}
            Step::Two(_) => now -= 1,
        }
        most = most.max(now);
    }
    most
}

/// The same order, of keys that all move at one rate: each is what it would have been at time zero.
fn since_zero(steps: Vec<Step>) -> Vec<Step> {
    let mut at_zero = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Name(Name::Waited) => at_zero.extend([Step::Name(Name::Arrival), Step::Negate]),
            step => at_zero.push(step),
        }
    }
    at_zero
}

/// How a part of an expression depends on the time that has been waited.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// By how much it grows in a second, where that is the same for all items.
    rate: Option<f64>,
    /// Its value, where it is a number.
    number: Option<f64>,
}

impl Part {
    const STILL: Self = Self { rate: Some(0.0), number: None };

    fn two(operation: Operation, left: Self, right: Self) -> Self {
        let number = left.number.zip(right.number).map(|(left, right)| operation.of(left, right));
        let rates = left.rate.zip(right.rate);
        let both_still = rates.filter(|rates| *rates == (0.0, 0.0)).map(|_| 0.0);
        let scaled = |number: Option<f64>, rate: Option<f64>| Some(number? * rate?);
        let rate = match operation {
            Operation::Add => rates.map(|(left, right)| left + right),
            Operation::Subtract => rates.map(|(left, right)| left - right),
            Operation::Multiply => {
                both_still.or(scaled(left.number, right.rate)).or(scaled(right.number, left.rate))
            }
            Operation::Divide => both_still.or(scaled(right.number.map(f64::recip), left.rate)),
            Operation::Least | Operation::Most => {
                rates.filter(|(left, right)| left == right).map(|(rate, _)| rate)
            }
        };
        Self { rate, number }
    }
}

/// By how much every key grows in a second; nothing where that differs from item to item.
fn rate(steps: &[Step]) -> Option<f64> {
    let mut stack: Vec<Part> = Vec::new();
    for step in steps {
        let part = match *step {
            Step::Number(number) => Part { number: Some(number), ..Part::STILL },
            Step::Name(Name::Waited) => Part { rate: Some(1.0), number: None },
            Step::Name(_) => Part::STILL,
            Step::Negate => {
                let part = stack.pop()?;
                Part { rate: part.rate.map(|rate| -rate), number: part.number.map(|number| -number) }
            }
            Step::Two(operation) => {
                let right = stack.pop()?;
                Part::two(operation, stack.pop()?, right)
            }
        };
        stack.push(part);
    }
    stack.pop()?.rate.filter(|rate| rate.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: Values = Values {
        size: 6.0,
        remaining: 4.0,
        arrival: 10.0,
        waited: 3.0,
        clock: 100.0,
        class: 2.0,
        flow: 7.0,
        weight: 0.5,
    };

    fn of(text: &str) -> f64 {
        Expression::read(text).expect(text).value(&ITEM)
    }

    fn refused(text: &str) -> String {
        Expression::read(text).expect_err(text).to_string()
    }

    #[test]
    fn arithmetic_binds_as_usual() {
        for (text, value) in [
            ("size", 6.0),
            ("1+2*3", 7.0),
            ("(1+2)*3", 9.0),
            ("8-2-1", 5.0),
            ("8/2/2", 2.0),
            ("-size*2", -12.0),
            ("2*-size", -12.0),
            ("1e2+.5", 100.5),
            ("1e-1*10", 1.0),
            ("min(size, remaining, 5)", 4.0),
            ("max(size,class)-min(1,2)", 5.0),
            ("served + arrival", 12.0),
            ("clock + class*flow*weight", 107.0),
        ] {
            assert_eq!(of(text), value, "{text}");
        }
        assert!(of("0/0").is_nan() && of("1/0") == f64::INFINITY);
    }

    #[test]
    fn keys_that_grow_alike_stand_still() {
        for (text, stays) in [
            ("size", true),
            ("size-2*waited", true),
            ("(size-waited)/4+3*(1+2)*waited", true),
            ("max(size-waited,arrival-waited)", true),
            ("-waited/size", false),
            ("waited*weight", false),
            ("max(size-waited,0)", false),
            ("size/(waited+1)", false),
        ] {
            assert_eq!(Expression::read(text).expect(text).stays(), stays, "{text}");
        }
        // What stands still is the key at time zero: 6 - 2 (3 - 13).
        assert_eq!(of("size-2*waited"), 6.0 + 2.0 * 10.0);
    }

    #[test]
    fn a_refusal_says_where() {
        assert_eq!(refused(""), "at byte 0: a number or a name is missing at the end");
        assert_eq!(refused("size+"), "at byte 5: a number or a name is missing at the end");
        assert_eq!(refused("size)"), "at byte 4: `)` is no operator: write +, -, * or / between two values");
        assert_eq!(refused("2 size"), "at byte 2: `s` is no operator: write +, -, * or / between two values");
        assert_eq!(refused("(size"), "at byte 5: `)` is missing");
        assert_eq!(refused("min(size)"), "at byte 8: `,` is missing");
        assert_eq!(refused("1e999"), "at byte 0: `1e999` is no finite number, write one such as 0.5 or 1e6");
        assert_eq!(refused("2x"), "at byte 0: `2x` is no finite number, write one such as 0.5 or 1e6");
        assert!(refused("sise").starts_with("at byte 0: `sise` is no name, use one of size, remaining"));
        assert!(refused(&"(".repeat(40)).contains("nests deeper than 16"));
        assert!(refused(&format!("1{}", "+1".repeat(MOST_STEPS))).contains("more than 128"));
        assert!(refused("é").contains("missing before `é`"));
    }
}
