//! What is offered to the cores: moments of services, rates, loads.
//!
//! Units: nanoseconds, requests a nanosecond; a load is work that arrives over what all cores can do. Work O(classes).

use crate::model::{Open, ServerScenario, Service, Workload};
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
                if open.burst.is_none() && open.levels.is_none_or(|levels| levels.count < 2) =>
            {
                Some(open)
            }
            _ => None,
        }
    }

    /// Whether it is told where a flow comes to another core than before.
    #[must_use]
    pub fn tells_cold(&self) -> bool {
        self.measure.order || self.costs.cold.get() > 0
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

    fn over_classes(&self, of: fn(&Service) -> f64) -> f64 {
        self.classes.iter().zip(self.shares()).map(|(class, share)| share * of(&class.service)).sum()
    }

    /// The load of open-loop arrivals at one rate.
    #[must_use]
    pub fn steady_load(&self) -> Option<f64> {
        let open = self.steady()?;
        let computed = self.mean_service() / open.mean_gap / f64::from(self.site.servers);
        self.load.or(Some(computed)).filter(|load| load.is_finite())
    }

    /// The part of a receiver's time that open-loop arrivals at one rate take.
    #[must_use]
    pub fn receiver_load(&self) -> Option<f64> {
        let open = self.steady()?;
        let receivers = f64::from(self.site.receivers);
        Some(self.costs.dispatch.get() as f64 / open.mean_gap / receivers).filter(|load| load.is_finite())
    }
}
