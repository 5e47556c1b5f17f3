//! What requests are to be sent: how many a second, when, of which classes, over how many flows.
//!
//! | | |
//! |-|-|
//! | Source | this project; windows of a growing rate as in Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024 |
//! | Units | requests a second; nanoseconds; bytes of the user's data |

use core::fmt;
use std::net::SocketAddr;

use weir_core::units::Nanos;
use weir_document::Refused;
use weir_document::quantity::{Clock, Time};

use super::payload::HEAD;
use crate::generator::batch;

/// The highest rate, in requests a second: those of a burst are then never closer than their gap.
const FASTEST: f64 = 10e6;
/// The lowest rate, in requests a second: one a day.
const SLOWEST: f64 = 1e-5;
const MOST_WINDOWS: u32 = 1000;
const MOST_CLASSES: usize = 16;
const MOST_FLOWS: u16 = 4096;
const SHORTEST_WINDOW: Nanos = Nanos::new(1_000_000);
const LONGEST_WINDOW: Nanos = Nanos::new(86_400_000_000_000);
const LONGEST_PATIENCE: Nanos = Nanos::new(60_000_000_000);
/// The longest name of a class, in characters.
const LONGEST_NAME: usize = 16;
/// By how much the shares of the classes may differ from 1.
const ROUNDING: f64 = 1e-6;

/// When requests are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// As a Poisson process.
    Poisson,
    /// In equal gaps.
    Constant,
    /// Back to back at the begin of each period, as many as the rate gives for it.
    Bursts(Nanos),
}

impl Arrivals {
    /// Reads `poisson`, `constant` or `bursts:2300us`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "poisson" => Some(Self::Poisson),
            "constant" => Some(Self::Constant),
            _ => {
                let period = Time::parse(text.strip_prefix("bursts:")?)?;
                (period.clock == Clock::Seconds && period.span > Nanos::new(0))
                    .then_some(Self::Bursts(period.span))
            }
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisson => f.write_str("poisson"),
            Self::Constant => f.write_str("constant"),
            Self::Bursts(period) => write!(f, "bursts:{period}"),
        }
    }
}

/// Requests of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// What it is called.
    pub name: String,
    /// What the server reads in its requests.
    pub data: u32,
    /// Its share of all requests.
    pub share: f64,
}

impl Class {
    /// Reads `short:data=1,share=0.9`; without a share it is 1.
    ///
    /// # Errors
    /// Something else is written, as a sentence with what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, fields) = text.split_once(':').unwrap_or((text, ""));
        let is_plain = |each: char| each.is_ascii_alphanumeric() || each == '_' || each == '-';
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
            return Err(format!("write a name of at most {LONGEST_NAME} letters, digits, `_` and `-` first"));
        }
        let mut class = Self { name: name.to_owned(), data: 0, share: 1.0 };
        for field in fields.split(',').filter(|field| !field.is_empty()) {
            match field.split_once('=') {
                Some(("data", value)) => {
                    class.data = value.parse().map_err(|_| {
                        format!("data is {value}: write a whole number from 0 to {}", u32::MAX)
                    })?;
                }
                Some(("share", value)) => {
                    let share = value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
                    class.share = share.ok_or(format!("share is {value}: write a fraction from 0 to 1"))?;
                }
                _ => return Err(format!("`{field}` is not known: write as in short:data=1,share=0.9")),
            }
        }
        Ok(class)
    }
}

/// What requests are to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Who answers.
    pub target: SocketAddr,
    /// Requests a second in the first window.
    pub rate: f64,
    /// When they are due.
    pub arrivals: Arrivals,
    /// How many windows there are.
    pub windows: u32,
    /// How long each is.
    pub window: Nanos,
    /// By which factor the rate of a window is that of the one before.
    pub growth: f64,
    /// The classes.
    pub classes: Vec<Class>,
    /// Over how many sockets, each with a port of its own, requests are spread.
    pub flows: u16,
    /// The data of a request, in bytes.
    pub size: u32,
    /// What all random numbers depend on.
    pub seed: u64,
    /// How long an answer is waited for.
    pub patience: Nanos,
}

impl Plan {
    /// Requests a second in a window.
    #[must_use]
    pub fn rate_of(&self, window: u32) -> f64 {
        self.rate * self.growth.powi(window.cast_signed())
    }

    /// The plan, if all of it can be done.
    ///
    /// # Errors
    /// What cannot, with the option that says so.
    pub fn checked(self) -> Result<Self, Refused> {
        self.check_target()?;
        self.check_windows()?;
        self.check_rates()?;
        self.check_classes()?;
        within("--flows", self.flows, 1, MOST_FLOWS, "")?;
        within("--size", self.size, HEAD as u32, batch::LONGEST as u32, "B")?;
        spans("--patience", self.patience, Nanos::new(1), LONGEST_PATIENCE)?;
        Ok(self)
    }

    fn check_target(&self) -> Result<(), Refused> {
        let address = self.target.ip();
        let reason = if address.is_unspecified() || address.is_multicast() {
            "is not the address of one host"
        } else if self.target.port() == 0 {
            "has no port"
        } else {
            return Ok(());
        };
        let remedy = "write an address and a port, such as 10.0.0.2:9000 or [fd00::2]:9000";
        Err(refused("ADDRESS:PORT", &self.target.to_string(), reason, remedy))
    }

    fn check_windows(&self) -> Result<(), Refused> {
        within("--windows", self.windows, 1, MOST_WINDOWS, "")?;
        spans("--window", self.window, SHORTEST_WINDOW, LONGEST_WINDOW)?;
        match self.arrivals {
            Arrivals::Bursts(period) if period > self.window => {
                let reason = format!("must not be longer than a window, {}", self.window);
                let remedy = "write a shorter period, or longer windows";
                Err(refused("--arrivals", &self.arrivals.to_string(), reason, remedy))
            }
            _ => Ok(()),
        }
    }

    /// The rates of the first and the last window are the extremes.
    fn check_rates(&self) -> Result<(), Refused> {
        if !(self.growth > 0.0 && self.growth.is_finite()) {
            let remedy = "write a factor such as 2";
            return Err(refused("--growth", &self.growth.to_string(), "must be above 0", remedy));
        }
        let in_range = |rate: f64| (SLOWEST..=FASTEST).contains(&rate);
        if !in_range(self.rate) {
            let reason = "must be from 0.00001/s to 10M/s";
            return Err(refused("--rate", &format!("{}/s", self.rate), reason, "write a rate such as 20k/s"));
        }
        let last = self.rate_of(self.windows.saturating_sub(1));
        if !in_range(last) {
            let reason =
                format!("which makes {last:.3e}/s of the last window, must be from 0.00001/s to 10M/s");
            let remedy = "write a smaller factor, a lower --rate or fewer --windows";
            return Err(refused("--growth", &self.growth.to_string(), reason, remedy));
        }
        Ok(())
    }

    fn check_classes(&self) -> Result<(), Refused> {
        let count = self.classes.len();
        within("classes", count as u32, 1, MOST_CLASSES as u32, "")?;
        for (index, class) in self.classes.iter().enumerate() {
            if self.classes[..index].iter().any(|other| other.name == class.name) {
                return Err(refused(
                    "--class",
                    &class.name,
                    "is named twice",
                    "give each class its own name",
                ));
            }
        }
        let sum: f64 = self.classes.iter().map(|class| class.share).sum();
        if (sum - 1.0).abs() <= ROUNDING {
            return Ok(());
        }
        let reason = "the sum of all shares, must be 1";
        let remedy = "write shares such as 0.9 and 0.1";
        Err(refused("--class", &format!("{sum}"), reason, remedy))
    }
}

fn refused(key: &str, value: &str, reason: impl Into<String>, remedy: &str) -> Refused {
    Refused::of_file("weird load", reason, remedy).key(key).value(value)
}

/// Refuses a number outside of its bounds.
fn within<N: PartialOrd + fmt::Display>(
    key: &str,
    value: N,
    least: N,
    most: N,
    unit: &str,
) -> Result<(), Refused> {
    if value >= least && value <= most {
        return Ok(());
    }
    let reason = format!("must be from {least}{unit} to {most}{unit}");
    Err(refused(key, &format!("{value}{unit}"), reason, "write a number within these bounds"))
}

fn spans(key: &str, value: Nanos, least: Nanos, most: Nanos) -> Result<(), Refused> {
    within(key, value, least, most, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::tests::plan;

    #[test]
    fn arrivals_and_classes_are_read() {
        for text in ["poisson", "constant", "bursts:2300us"] {
            assert_eq!(Arrivals::parse(text).map(|arrivals| arrivals.to_string()), Some(text.to_owned()));
        }
        for text in ["", "bursts", "bursts:", "bursts:0s", "bursts:5", "bursts:2u", "Poisson"] {
            assert_eq!(Arrivals::parse(text), None, "{text}");
        }
        let class = |name: &str, data, share| Ok(Class { name: name.to_owned(), data, share });
        assert_eq!(Class::parse("short:data=1,share=0.9"), class("short", 1, 0.9));
        assert_eq!(Class::parse("all"), class("all", 0, 1.0));
        for text in
            ["", ":data=1", "a b", "a:data=-1", "a:data=4294967296", "a:share=nan", "a:share=2", "a:b=1"]
        {
            assert!(Class::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_its_option() {
        assert_eq!(plan().checked(), Ok(plan()));
        let half = Class { share: 0.5, ..plan().classes[0].clone() };
        for (bad, message) in [
            (Plan { target: "0.0.0.0:9".parse().unwrap(), ..plan() }, "ADDRESS:PORT 0.0.0.0:9 is not"),
            (Plan { target: "[ff02::1]:9".parse().unwrap(), ..plan() }, "ADDRESS:PORT [ff02::1]:9 is not"),
            (Plan { target: "10.0.0.1:0".parse().unwrap(), ..plan() }, "has no port"),
            (Plan { rate: 0.0, ..plan() }, "--rate is 0/s, must be from"),
            (Plan { rate: f64::NAN, ..plan() }, "--rate is NaN/s"),
            (Plan { rate: 1e6, windows: 6, growth: 2.0, ..plan() }, "--growth is 2, which makes 3.200e7/s"),
            (Plan { growth: -1.0, ..plan() }, "--growth is -1, must be above 0"),
            (Plan { growth: f64::INFINITY, ..plan() }, "--growth is inf"),
            (Plan { windows: 0, ..plan() }, "--windows is 0, must be from 1 to 1000"),
            (Plan { window: Nanos::new(1), ..plan() }, "--window is 1ns, must be from 1ms to 86400s"),
            (Plan { arrivals: Arrivals::Bursts(Nanos::new(1 << 40)), ..plan() }, "longer than a window"),
            (Plan { flows: 0, ..plan() }, "--flows is 0, must be from 1 to 4096"),
            (Plan { size: 19, ..plan() }, "--size is 19B, must be from 20B to 65507B"),
            (Plan { patience: Nanos::new(1 << 40), ..plan() }, "--patience is"),
            (Plan { classes: vec![half.clone()], ..plan() }, "--class is 0.5, the sum of all shares"),
            (Plan { classes: vec![half.clone(), half], ..plan() }, "is named twice"),
            (Plan { classes: Vec::new(), ..plan() }, "classes is 0, must be from 1 to 16"),
        ] {
            let refused = bad.checked().unwrap_err().to_string();
            assert!(refused.contains(message), "{refused}");
        }
    }
}
