//! Kendall's notation: a queue in one word, `M/M/3/10+M`.
//!
//! | field | written | default |
//! |-|-|-|
//! | arrivals | `M` Poisson, `M^X` in batches, `M^4` in batches of four, `D` equal gaps, `E_3` Erlang, `G` or `GI` general, `MAP`, `MMPP`, `M_t` | |
//! | service | `M` exponential, `D` constant, `E_3` Erlang, `G` general | |
//! | servers | a number, `inf` or `∞` | |
//! | places | the most customers present, those in service counted | `inf` |
//! | sources | how many customers there are at all | `inf` |
//! | discipline | `FCFS`, `LCFS`, `SIRO`, `PS`, `LCFS-PR`, `SJF`, `PSJF`, `SRPT`, `LAS` | `FCFS` |
//!
//! Places and sources may be empty, as in `M/M/3//50`. Patience follows a plus, `M/M/3+M`; a discipline follows a hyphen, `M/G/1-PS`, or is
//! the last field, `M/G/1/inf/inf/PS` or `M/G/1/PS`.
//!
//! Source: Kendall, *Annals of Mathematical Statistics* 24, 1953, for the first three fields; Lee 1966 and Taha 1968 for the others;
//! Baccelli and Hebuterne 1981 for patience. What is printed is read as the same queue.

mod read;

use core::fmt;

pub use read::NotationError;

/// The law of gaps, services or patience.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// `M`: exponential.
    Exponential,
    /// `D`: all alike.
    Constant,
    /// `E_k`: the sum of this many exponential times.
    Erlang(u32),
    /// `G`: any law.
    General,
}

/// How customers arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrivals {
    /// One by one, with independent gaps of one law; `M` is a Poisson process.
    Single(Law),
    /// `M^X`: a Poisson process of batches, of this many customers where a number is written.
    Batches(Option<u32>),
    /// `MAP` or `MMPP`: a rate that depends on a hidden phase.
    Modulated,
    /// `M_t`: a Poisson process whose rate depends on the time.
    Varying,
}

/// In which order customers are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// First come first served.
    Fcfs,
    /// Last come first served, without preemption.
    Lcfs,
    /// In random order.
    Siro,
    /// Processor sharing.
    Ps,
    /// Last come first served, with preemption; who was interrupted resumes.
    LcfsPr,
    /// Shortest job first, without preemption.
    Sjf,
    /// Shortest job first, with preemption.
    Psjf,
    /// Shortest remaining processing time first.
    Srpt,
    /// Least attained service first.
    Las,
}

impl Order {
    /// Every name that is understood; the first of each order is what is printed.
    const NAMES: [(&'static str, Self); 17] = [
        ("FCFS", Self::Fcfs),
        ("FIFO", Self::Fcfs),
        ("LCFS", Self::Lcfs),
        ("LIFO", Self::Lcfs),
        ("SIRO", Self::Siro),
        ("ROS", Self::Siro),
        ("PS", Self::Ps),
        ("LCFS-PR", Self::LcfsPr),
        ("LCFSPR", Self::LcfsPr),
        ("SJF", Self::Sjf),
        ("SPT", Self::Sjf),
        ("PSJF", Self::Psjf),
        ("SRPT", Self::Srpt),
        ("LAS", Self::Las),
        ("FB", Self::Las),
        ("LAST", Self::Las),
        ("SET", Self::Las),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, order)| *order)
    }
}

/// A queue in Kendall's notation.
///
/// ```
/// use weir_theory::Kendall;
/// let queue: Kendall = "M/M/3/10+M".parse()?;
/// assert_eq!((queue.servers, queue.places), (Some(3), Some(10)));
/// let error = "M/M/x".parse::<Kendall>().unwrap_err();
/// assert_eq!(error.at, 5);
/// # Ok::<(), weir_theory::NotationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kendall {
    /// How customers arrive.
    pub arrivals: Arrivals,
    /// The law of services.
    pub service: Law,
    /// How many servers, `None` without bound.
    pub servers: Option<u32>,
    /// The most customers present, `None` without bound; at least as many as servers.
    pub places: Option<u32>,
    /// How many customers there are at all, `None` without bound.
    pub sources: Option<u32>,
    /// The law of patience, `None` where it is endless.
    pub patience: Option<Law>,
    /// The order of service.
    pub order: Order,
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exponential => f.write_str("M"),
            Self::Constant => f.write_str("D"),
            Self::Erlang(phases) => write!(f, "E_{phases}"),
            Self::General => f.write_str("G"),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single(law) => law.fmt(f),
            Self::Batches(None) => f.write_str("M^X"),
            Self::Batches(Some(customers)) => write!(f, "M^{customers}"),
            Self::Modulated => f.write_str("MAP"),
            Self::Varying => f.write_str("M_t"),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, order)| order == self).map_or("FCFS", |(name, _)| name);
        f.write_str(name)
    }
}

impl fmt::Display for Kendall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/", self.arrivals, self.service)?;
        match self.servers {
            Some(servers) => write!(f, "{servers}")?,
            None => f.write_str("inf")?,
        }
        match (self.places, self.sources) {
            (None, None) => {}
            (Some(places), None) => write!(f, "/{places}")?,
            (None, Some(sources)) => write!(f, "//{sources}")?,
            (Some(places), Some(sources)) => write!(f, "/{places}/{sources}")?,
        }
        if let Some(law) = self.patience {
            write!(f, "+{law}")?;
        }
        if self.order == Order::Fcfs { Ok(()) } else { write!(f, "-{}", self.order) }
    }
}

#[cfg(test)]
mod tests;
