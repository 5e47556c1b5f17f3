//! The classes of a hierarchical token bucket: what they are promised, whom they borrow from, and what is refused.
//!
//! | | |
//! |-|-|
//! | Source | tc-htb(8) |
//! | Work | O(classes), once |
//! | Units | rates: bits per second; `burst` and `quantum`: bytes |

use core::fmt;

use crate::info::{Arguments, parse_rate};
use crate::spec::SpecError;
use crate::units::{Bytes, Rate};

/// The most classes there can be: a packet names its class in 16 bits.
pub const MAX_CLASSES: usize = 1 << 16;
/// The most classes above one another, as in Linux.
pub const MAX_DEPTH: usize = 8;
/// The largest number of a priority.
pub const MAX_PRIORITY: u8 = 7;

/// Who borrows from a class, and how much it may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassConfig {
    /// What it is promised.
    pub rate: Rate,
    /// What it sends at most.
    pub ceiling: Rate,
    /// Whom it borrows from; `None`: the link.
    pub parent: Option<usize>,
    /// From 0, who borrows first, to [`MAX_PRIORITY`].
    pub priority: u8,
}

/// The classes of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What they send together.
    pub rate: Rate,
    /// By number; each after the one that it borrows from.
    pub classes: Vec<ClassConfig>,
    /// How much of its rate a class saves up.
    pub burst: Bytes,
    /// How much the class with the smallest rate sends in its turn.
    pub quantum: Bytes,
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no class, or there are more than [`MAX_CLASSES`].
    Classes(usize),
    /// A class, or the link, is promised nothing.
    Rate(Option<usize>),
    /// A class sends at most less than it is promised.
    Ceiling(usize, Rate, Rate),
    /// A class borrows from one that does not stand before it.
    Parent(usize, usize),
    /// There are more than [`MAX_DEPTH`] classes above one another.
    Depth(usize),
    /// A priority is above [`MAX_PRIORITY`].
    Priority(usize, u8),
    /// Those who borrow from a class (`None`: the link) are promised more than it has.
    Promised(Option<usize>, Rate, Rate),
    /// A class saves up nothing, or sends nothing in its turn.
    Size(&'static str),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = |class: Option<usize>| match class {
            Some(class) => format!("class {class}"),
            None => "the link".to_owned(),
        };
        match *self {
            Self::Classes(classes) => {
                write!(f, "there are {classes} classes, must be from 1 to {MAX_CLASSES}")
            }
            Self::Rate(class) => write!(f, "the rate of {} is 0bit, must be at least 1bit", whose(class)),
            Self::Ceiling(class, ceiling, rate) => {
                write!(f, "the ceiling of class {class} is {ceiling}, must be at least its rate, {rate}")
            }
            Self::Parent(class, parent) => {
                write!(f, "class {class} borrows from {parent}, must be `root` or a class before it")
            }
            Self::Depth(class) => {
                write!(
                    f,
                    "class {class} has more than {MAX_DEPTH} classes above it: borrow from a higher one"
                )
            }
            Self::Priority(class, priority) => {
                write!(f, "the priority of class {class} is {priority}, must be from 0 to {MAX_PRIORITY}")
            }
            Self::Promised(class, promised, rate) => {
                let whose = whose(class);
                write!(f, "{promised} are promised to those who borrow from {whose}, must be at most {rate}")
            }
            Self::Size(name) => write!(f, "{name} is 0B, must be at least 1B"),
        }
    }
}

impl core::error::Error for ConfigError {}

impl Config {
    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is missing, or no such list or quantity.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let rate = arguments.rate("rate")?;
        let class = |text: &str| {
            let (promised, ceiling) = text.split_once('-').unwrap_or((text, ""));
            let promised = parse_rate(promised)?;
            let ceiling = if ceiling.is_empty() { rate.max(promised) } else { parse_rate(ceiling)? };
            Some(ClassConfig { rate: promised, ceiling, parent: None, priority: 0 })
        };
        let list = |text: &str| text.split('/').map(class).collect::<Option<Vec<_>>>();
        let mut classes = arguments.read("classes", list)?;
        let parents = arguments.read("parents", |text| {
            let parent = |text: &str| match text {
                "root" => Some(None),
                number => number.parse().ok().map(Some),
            };
            text.split('/').map(parent).collect::<Option<Vec<Option<usize>>>>()
        })?;
        let priorities = arguments.read("priorities", |text| {
            text.split('/').map(|text| text.parse().ok()).collect::<Option<Vec<u8>>>()
        })?;
        for (at, class) in classes.iter_mut().enumerate() {
            class.parent = *parents.get(at).or(parents.last()).unwrap_or(&None);
            class.priority = *priorities.get(at).or(priorities.last()).unwrap_or(&0);
        }
        Ok(Self { rate, classes, burst: arguments.size("burst")?, quantum: arguments.size("quantum")? })
    }

    /// Refuses what [`ConfigError`] names.
    ///
    /// # Errors
    /// As it says.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(1..=MAX_CLASSES).contains(&self.classes.len()) {
            return Err(ConfigError::Classes(self.classes.len()));
        }
        if self.rate.get() == 0 {
            return Err(ConfigError::Rate(None));
        }
        for (name, size) in [("burst", self.burst), ("quantum", self.quantum)] {
            if size.get() == 0 {
                return Err(ConfigError::Size(name));
            }
        }
        let mut depths = Vec::with_capacity(self.classes.len());
        for (at, class) in self.classes.iter().enumerate() {
            depths.push(self.check_class(at, class, &depths)?);
        }
        self.check_promises()
    }

    /// Checks one class; how many are above it.
    fn check_class(&self, at: usize, class: &ClassConfig, depths: &[usize]) -> Result<usize, ConfigError> {
        if class.rate.get() == 0 {
            return Err(ConfigError::Rate(Some(at)));
        }
        if class.ceiling < class.rate {
            return Err(ConfigError::Ceiling(at, class.ceiling, class.rate));
        }
        if class.priority > MAX_PRIORITY {
            return Err(ConfigError::Priority(at, class.priority));
        }
        let depth = match class.parent {
            None => 1,
            Some(parent) => 1 + depths.get(parent).ok_or(ConfigError::Parent(at, parent))?,
        };
        if depth < MAX_DEPTH { Ok(depth) } else { Err(ConfigError::Depth(at)) }
    }

    /// Checks that nobody is promised what there is not.
    fn check_promises(&self) -> Result<(), ConfigError> {
        let link = self.classes.len();
        let mut promised = vec![0_u64; link + 1];
        for class in &self.classes {
            let lender = &mut promised[class.parent.unwrap_or(link)];
            *lender = lender.saturating_add(class.rate.get());
        }
        let rates = self.classes.iter().map(|class| class.rate).chain([self.rate]);
        for (lender, (rate, promised)) in rates.zip(promised).enumerate() {
            if promised > rate.get() {
                let lender = (lender < link).then_some(lender);
                return Err(ConfigError::Promised(lender, Rate::new(promised), rate));
            }
        }
        Ok(())
    }
}
