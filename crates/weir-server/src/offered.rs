//! What is offered to the cores: moments of services, rates, loads.
//!
//! Units: nanoseconds, requests a nanosecond; a load is work that arrives over what all cores can do. Work O(classes).

use crate::collector::measured;
use crate::model::{Class, Open, ServerScenario, Service, Workload};
use weir_workload::Curve;
use weir_workload::duration::Law;

impl Service {
    /// The mean, in nanoseconds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Law(Law::Constant(time) | Law::Exponential(time)) => time.get() as f64,
            Self::Law(Law::Uniform(from, to)) => from.get() as f64 / 2.0 + to.get() as f64 / 2.0,
            Self::Sizes(sizes) => sizes.mean(),
            Self::Textbook(law) => law.mean().unwrap_or(f64::INFINITY),
        }
    }

    /// The mean of the square, in square nanoseconds; infinite where the law has none.
    #[must_use]
    pub fn second_moment(&self) -> f64 {
        let mean = self.mean();
        match self {
            Self::Law(Law::Constant(_)) => mean * mean,
            Self::Law(Law::Exponential(_)) => 2.0 * mean * mean,
            Self::Law(Law::Uniform(from, to)) => {
                let width = to.get() as f64 - from.get() as f64 + 1.0;
                mean * mean + (width * width - 1.0) / 12.0
            }
            Self::Sizes(sizes) => sizes.second_moment(),
            Self::Textbook(law) => law.second_moment().unwrap_or(f64::INFINITY),
        }
    }

    /// The time that all requests take, where it is always the same.
    #[must_use]
    pub fn constant(&self) -> Option<f64> {
        match self {
            Self::Law(Law::Constant(time)) => Some(time.get() as f64),
            Self::Law(Law::Uniform(from, to)) if from == to => Some(from.get() as f64),
            Self::Sizes(sizes) if sizes.support().1 == Some(sizes.support().0) => Some(sizes.mean()),
            _ => None,
        }
    }

    /// Whether it draws random numbers.
    #[must_use]
    pub fn is_random(&self) -> bool {
        match self {
            Self::Law(law) => law.is_random(),
            Self::Sizes(_) | Self::Textbook(_) => true,
        }
    }

    /// Whether it is exponential.
    #[must_use]
    pub fn is_exponential(&self) -> bool {
        matches!(self, Self::Law(Law::Exponential(_)))
    }
}

impl ServerScenario {
    /// Open-loop arrivals at one rate, where that is the workload.
    #[must_use]
    pub fn steady(&self) -> Option<&Open> {
        match &self.workload {
            Workload::Open(open)
                if open.burst.is_none()
                    && open.curve.is_none()
                    && open.levels.is_none_or(|levels| levels.count < 2) =>
            {
                Some(open)
            }
            _ => None,
        }
    }

    /// The curve that the rate of open-loop arrivals follows.
    #[must_use]
    pub fn curve(&self) -> Option<(&Open, &Curve)> {
        match &self.workload {
            Workload::Open(open) => open.curve.as_ref().map(|curve| (open, curve)),
            _ => None,
        }
    }

    /// Whether the measured time is a whole number of periods of its curve.
    #[must_use]
    pub fn measures_whole_periods(&self) -> bool {
        self.curve().is_some_and(|(_, curve)| curve.repeats_in(measured(self).span().get()))
    }

    /// Open-loop arrivals that have a rate in the long run: at one rate, or at those of a curve that repeats.
    fn lasting(&self) -> Option<&Open> {
        let repeats = || self.curve().filter(|(_, curve)| curve.period().is_some()).map(|(open, _)| open);
        self.steady().or_else(repeats)
    }

    /// The load in the long run.
    #[must_use]
    pub fn lasting_load(&self) -> Option<f64> {
        self.lasting().and_then(|open| self.load_of(open))
    }

    fn load_of(&self, open: &Open) -> Option<f64> {
        let computed = self.mean_work() / open.mean_gap / self.capacity();
        self.load.or(Some(computed)).filter(|load| load.is_finite())
    }

    /// Whether it is reported where a flow comes to another core than before.
    #[must_use]
    pub fn tells_cold(&self) -> bool {
        self.tells_cores()
    }

    /// The shares of the classes, which sum to 1.
    #[must_use]
    pub fn shares(&self) -> Vec<f64> {
        let all: f64 = self.classes.iter().map(|class| class.share).sum();
        self.classes.iter().map(|class| class.share / all).collect()
    }

    /// The mean service over all classes, in nanoseconds.
    #[must_use]
    pub fn mean_service(&self) -> f64 {
        self.over_classes(Service::mean)
    }

    /// The mean of the square of the service over all classes, in square nanoseconds.
    #[must_use]
    pub fn second_moment(&self) -> f64 {
        self.over_classes(Service::second_moment)
    }

    /// How many sub-requests a request has.
    #[must_use]
    pub fn parts(&self) -> u32 {
        self.fan_out.map_or(1, |fan_out| fan_out.to)
    }

    /// The work of a request, of all its sub-requests, in nanoseconds.
    #[must_use]
    pub fn mean_work(&self) -> f64 {
        self.mean_service() * f64::from(self.parts())
    }

    fn over_classes(&self, of: fn(&Service) -> f64) -> f64 {
        self.classes.iter().zip(self.shares()).map(|(class, share)| share * of(&class.service)).sum()
    }

    /// The load of open-loop arrivals at one rate.
    #[must_use]
    pub fn steady_load(&self) -> Option<f64> {
        self.steady().and_then(|open| self.load_of(open))
    }

    /// The part of the work that still comes where queues are long: all of it, but for requests that do not join then.
    #[must_use]
    pub fn joining(&self) -> f64 {
        let balks = |class: &Class| class.balk.map_or(0.0, |balk| balk.probability);
        let classes = self.classes.iter().zip(self.shares());
        let joins = classes.map(|(class, share)| share * class.service.mean() * (1.0 - balks(class)));
        joins.sum::<f64>() / self.mean_service()
    }

    /// The part of a receiver's time that open-loop arrivals take in the long run.
    #[must_use]
    pub fn receiver_load(&self) -> Option<f64> {
        let open = self.lasting()?;
        let receivers = f64::from(self.site.receivers);
        Some(self.costs.dispatch.get() as f64 / open.mean_gap / receivers).filter(|load| load.is_finite())
    }
}
