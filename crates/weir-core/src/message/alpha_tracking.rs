//! Alpha scheduling whose alpha tracks the load.
//!
//! Under light load a small alpha serves everybody well; under heavy load the short messages need a large
//! one. So the alpha of a message is taken from the backlog it finds at its insertion, and kept for good:
//!
//! ```text
//! alpha = min(high, max(low, weight * q))
//! ```
//!
//! where `q` is the units of cost (packets, in the port) not yet served of all messages before it, what
//! remains of the one being served included. There is neither smoothing nor hysteresis: the backlog of a
//! loaded queue moves little between two arrivals, and since a message keeps its alpha, later ones cannot
//! change the order of earlier ones. With costs in nanoseconds the weight is a number per nanosecond.
//!
//! What it buys (`docs/studies.md`): with the default weight, p99 within 12 % of the best fixed alpha's from
//! 50 to 98 % load, at a mean up to 74 % above shortest-first; a fixed alpha at the upper limit has the lower
//! mean at every load, and one of the same mean the lower p99.9 and maximum. A large weight undoes the
//! preference for short messages: those that find a long queue get the key of a long message.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, section 13 |
//! | Work per item | O(1) for small lengths while alpha stands at a limit, else O(log n) |
//! | Units | `low`, `high`: none; `weight`: per unit of cost; alpha has 16 fractional bits |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | the report leaves the formula open |

use super::alpha::{Assign, Coefficient, ConfigError, Decrementing, reason_of};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::Packets;

const ALPHA: Takes = Takes::Real(0.0..=Coefficient::LARGEST);

/// The parameter that counts units of cost.
pub const WEIGHT: Parameter =
    Parameter::new("weight", ALPHA, "0.1").meaning("how much alpha grows with each waiting unit of cost");

/// What the listings say.
pub const INFO: Info = Info {
    name: "alpha_tracking",
    kind: Kind::Message,
    title: "alpha scheduling, alpha set by the load",
    rule: "as `alpha`, where a message's alpha is weight * backlog at its arrival, within two limits",
    source: "Cherkasova and Rokicki, alpha report, section 13",
    work: "O(log n)",
    parameters: &[
        Parameter::new("low", ALPHA, "1").meaning("the alpha of a message that finds little waiting"),
        Parameter::new("high", ALPHA, "100")
            .meaning("the alpha of a message that finds much waiting, at least low"),
        WEIGHT,
    ],
    example: "alpha_tracking",
};

/// The limits of alpha and what it follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The least alpha.
    pub low: f64,
    /// The largest alpha.
    pub high: f64,
    /// Alpha for each waiting unit of cost.
    pub weight: f64,
}

impl Default for Config {
    /// The limits of the report, and the weight that `docs/studies.md` found best.
    fn default() -> Self {
        Self { low: 1.0, high: 100.0, weight: 0.1 }
    }
}

/// Takes alpha from the backlog.
#[derive(Clone, Copy, Debug)]
pub struct Track {
    low: u64,
    high: u64,
    weight: Coefficient,
}

impl Track {
    fn new(config: &Config) -> Result<Self, ConfigError> {
        let low = fractions(config.low)?;
        let high = fractions(config.high)?;
        if high < low {
            return Err(ConfigError::Limits { low: config.low, high: config.high });
        }
        fractions(config.weight)?;
        Ok(Self { low, high, weight: Coefficient::new(config.weight)? })
    }
}

/// `alpha` in units of 2^-16, which the bound of a finite alpha keeps below 2^46.
fn fractions(alpha: f64) -> Result<u64, ConfigError> {
    if alpha == f64::INFINITY {
        return Err(ConfigError::Alpha(alpha));
    }
    Ok(Coefficient::new(alpha)?.times(Packets::ONE) as u64)
}

impl<I: Item> Assign<I> for Track {
    type Kept = Coefficient;

    #[inline]
    fn assign(&self, _item: &I, waiting: I::Cost) -> Coefficient {
        let alpha = self.weight.times(waiting).clamp(self.low.into(), self.high.into());
        Coefficient::of_fractions(alpha as u64)
    }

    #[inline]
    fn coefficient(&self, _item: &I, kept: Coefficient) -> Coefficient {
        kept
    }
}

/// Alpha scheduling whose alpha tracks the load.
pub type AlphaTracking<I> = Decrementing<I, Track>;

impl<I: Item> Decrementing<I, Track> {
    /// An empty queue.
    ///
    /// # Errors
    /// A number is negative, none, or above [`Coefficient::LARGEST`], or the limits are in the wrong order.
    pub fn tracking(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self::new(Track::new(config)?))
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// As for [`Decrementing::tracking`].
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let config = Config {
            low: arguments.real("low")?,
            high: arguments.real("high")?,
            weight: arguments.real("weight")?,
        };
        Self::tracking(&config).map_err(|error| arguments.error("high", reason_of(&error)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::schedule;
    use super::*;
    use crate::item::Message;

    #[test]
    fn alpha_is_the_backlog_at_insertion() {
        // a finds nothing: 1 * 5. b finds 5: 5 * 3 = 15. c finds 8: 8 * 1 = 8.
        assert_eq!(schedule("alpha_tracking:weight=1", "a5 b3 c1"), "aaaaacbbb");
        assert_eq!(schedule("alpha:1", "a5 b3 c1"), "cbbbaaaaa");
        // What remains of the head counts: after two packets c finds 6, hence 6 + 2, before b with 15.
        assert_eq!(schedule("alpha_tracking:weight=1", "a5 b3 .. c1"), "aaaaacbbb");
    }

    #[test]
    fn alpha_keeps_within_its_limits() {
        assert_eq!(schedule("alpha_tracking(low=2,high=2)", "a5 . b3"), schedule("alpha:2", "a5 . b3"));
        assert_eq!(schedule("alpha_tracking(low=0,high=0)", "a5 . b3"), "aaaaabbb");
    }

    #[test]
    fn bad_limits_are_refused() {
        let error = |low, high, weight| {
            AlphaTracking::<Message>::tracking(&Config { low, high, weight }).map(drop).expect_err("refused")
        };
        assert_eq!(error(2.0, 1.0, 1.0), ConfigError::Limits { low: 2.0, high: 1.0 });
        assert_eq!(error(-1.0, 1.0, 1.0), ConfigError::Alpha(-1.0));
        assert_eq!(error(1.0, f64::INFINITY, 1.0), ConfigError::Alpha(f64::INFINITY));
        assert_eq!(error(1.0, 2.0, -0.5), ConfigError::Alpha(-0.5));
    }
}
