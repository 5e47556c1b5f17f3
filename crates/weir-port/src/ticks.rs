//! What the clock of an engine counts: nanoseconds, or picoseconds where messages are served whole on a fast link.
//!
//! A byte takes 20 ps at 400 Gbit/s, and a message of a few bytes less than a nanosecond. Where a byte takes no whole
//! number of nanoseconds, and less than `SLOWEST` of them, arrivals, services and turns are counted in picoseconds;
//! a slower link keeps the longer clock, since rounding to a nanosecond changes a service by less than 5 in 10,000. A
//! run that would not fit into the shorter clock (106 days) keeps the longer one too.
//!
//! | | |
//! |-|-|
//! | Work | none in an engine: its input is in ticks |
//! | Units | nanoseconds and ticks of the clock |
//! | Error | a service is rounded to half a tick; an arrival too, without adding up |

use crate::model::{Service, WholeTime};
use weir_core::info::Takes;
use weir_core::message::alpha_tracking;
use weir_core::role::Role;
use weir_core::spec::{Argument, Spec};
use weir_core::units::Nanos;
use weir_lab::stream::LONGEST_MEAN;
use weir_workload::Curve;

/// Nanoseconds that a byte takes at least, where nanoseconds are fine enough.
const SLOWEST: f64 = 1000.0;
/// How far the clock of one replication may go: half of what it can hold.
pub(crate) const LONGEST: f64 = 9.2e18;

/// How many ticks of the clock a nanosecond has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks(u32);

impl Ticks {
    /// Nanoseconds.
    pub const NANOSECONDS: Self = Self(1);
    /// Picoseconds.
    pub const PICOSECONDS: Self = Self(1000);

    /// The finest that a service is given, however long the run.
    #[must_use]
    pub fn finest(service: Service) -> Self {
        let per_byte = service.mean_per_unit();
        match service {
            Service::Whole(WholeTime::Rate(_)) if per_byte < SLOWEST && per_byte.fract() != 0.0 => {
                Self::PICOSECONDS
            }
            Service::Whole(_) | Service::Packets(_) => Self::NANOSECONDS,
        }
    }

    /// Those of a run that goes to `end` and draws times of `longest` in the mean, both in nanoseconds.
    #[must_use]
    pub fn of(service: Service, end: f64, longest: f64) -> Self {
        let finest = Self::finest(service);
        let fits = finest.of_nanoseconds(end) <= LONGEST && finest.of_nanoseconds(longest) <= LONGEST_MEAN;
        if fits { finest } else { Self::NANOSECONDS }
    }

    /// The shortest mean time that can be drawn, in nanoseconds.
    #[must_use]
    pub fn shortest_mean(self) -> f64 {
        1.0 / f64::from(self.0)
    }

    /// What a tick is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        if self.0 == Self::NANOSECONDS.0 { "nanosecond" } else { "picosecond" }
    }

    /// The unit of work that is served.
    #[must_use]
    pub(crate) const fn of_work(self) -> &'static str {
        if self.0 == Self::NANOSECONDS.0 { "ns of work" } else { "ps of work" }
    }

    /// A number of nanoseconds in ticks: not rounded.
    #[must_use]
    pub fn of_nanoseconds(self, nanoseconds: f64) -> f64 {
        nanoseconds * f64::from(self.0)
    }

    /// A curve whose times are ticks.
    #[must_use]
    pub fn of_curve(self, curve: &Curve) -> Curve {
        curve.in_parts(self.0)
    }

    /// A span of time in ticks.
    #[must_use]
    pub fn of_span(self, span: Nanos) -> Nanos {
        Nanos::new(span.get().saturating_mul(u64::from(self.0)))
    }

    /// The spec of a discipline whose costs are ticks: turns, which are written in nanoseconds, and what a tick of work
    /// is worth.
    #[must_use]
    pub fn of_spec(self, spec: &Spec) -> Spec {
        let mut told = spec.clone();
        if self == Self::NANOSECONDS {
            return told;
        }
        if spec.name == alpha_tracking::INFO.name {
            self.weigh(&mut told);
            return told;
        }
        for place in 0..spec.arguments.len() {
            let parameter = Role::Discipline.parameter_at(spec, place);
            let value = &mut told.arguments[place].value;
            match value.name.parse::<u64>() {
                Ok(turn) if parameter.is_some_and(|one| matches!(one.takes, Takes::Turn)) => {
                    value.name = turn.saturating_mul(u64::from(self.0)).to_string();
                }
                _ => *value = self.of_spec(value),
            }
        }
        told
    }

    /// Has a tick of backlog weigh as much of a nanosecond's weight as it is of a nanosecond.
    fn weigh(self, spec: &mut Spec) {
        let is_weight = |place: &usize| {
            let parameter = Role::Discipline.parameter_at(spec, *place);
            parameter.is_some_and(|one| one.name == alpha_tracking::WEIGHT.name)
        };
        let place = (0..spec.arguments.len()).find(is_weight);
        let given = place.map(|place| spec.arguments[place].value.name.as_str());
        let given = given.or(alpha_tracking::WEIGHT.default).and_then(|text| text.parse::<f64>().ok());
        let weight = given.unwrap_or_default() / f64::from(self.0);
        let argument = Argument::new(alpha_tracking::WEIGHT.name, &weight.to_string());
        match place {
            Some(place) => spec.arguments[place].value = argument.value,
            None => spec.arguments.push(argument),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::units::Rate;

    fn rate(bits: u64) -> Service {
        Service::Whole(WholeTime::Rate(Rate::new(bits)))
    }

    /// Finding A7: what is served in whole nanoseconds keeps them; a fast link counts picoseconds.
    #[test]
    fn a7_fast_links_count_picoseconds() {
        for (gbit, expected) in [(1, Ticks::NANOSECONDS), (8, Ticks::NANOSECONDS), (10, Ticks::PICOSECONDS)] {
            assert_eq!(Ticks::finest(rate(gbit * 1_000_000_000)), expected, "{gbit}");
        }
        assert_eq!(Ticks::finest(rate(400_000_000_000)), Ticks::PICOSECONDS);
        assert_eq!(Ticks::finest(rate(3_000_000)), Ticks::NANOSECONDS);
        assert_eq!(Ticks::finest(Service::Whole(WholeTime::PerToken(Nanos::new(3)))), Ticks::NANOSECONDS);
        let of = |end, longest| Ticks::of(rate(10_000_000_000), end, longest);
        assert_eq!(of(9.0e15, 1e3), Ticks::PICOSECONDS);
        assert_eq!((of(9.5e15, 1e3), of(1e3, 1e11)), (Ticks::NANOSECONDS, Ticks::NANOSECONDS));
    }

    #[test]
    fn turns_and_weights_follow_the_clock() {
        let of = |text: &str| Ticks::PICOSECONDS.of_spec(&text.parse().expect(text)).to_string();
        for (written, expected) in [
            ("fifo", "fifo"),
            ("alpha:10", "alpha:10"),
            ("rr:500", "rr:500000"),
            ("las:quantum=7", "las:quantum=7000"),
            ("outstanding(ps:20,limit=4)", "outstanding(ps:20000,limit=4)"),
            ("alpha_tracking", "alpha_tracking:weight=0.0001"),
            ("in_order(alpha_tracking(weight=2,high=50))", "in_order(alpha_tracking(weight=0.002,high=50))"),
        ] {
            assert_eq!(of(written), expected);
        }
        assert_eq!(Ticks::NANOSECONDS.of_spec(&"rr:5".parse().expect("a spec")).to_string(), "rr:5");
    }
}
