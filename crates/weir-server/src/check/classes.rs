//! The classes of requests: their names, shares, service times, and the slowdowns that are asked for.

use super::LONGEST_SERVICE;
use crate::check::Check;
use crate::document::ClassTable;
use crate::document::span::{ServiceLaw, ServiceTime};
use crate::model::{Class, Service};
use std::collections::HashSet;
use std::sync::Arc;
use weir_core::pool::{MAX_CLASSES, Profile};
use weir_core::units::Nanos;
use weir_document::quantity::Time;
use weir_document::{Checked, Located};
use weir_workload::document::WorkloadChecks;
use weir_workload::duration::Law;
use weir_workload::laws::LawError;
use weir_workload::{ContinuousLaw, Sizes};

/// How far the shares may be from a sum of 1; within it they are scaled.
pub(super) const SUM_TOLERANCE: f64 = 1e-6;
/// The largest slowdown that can be asked for.
pub(super) const LARGEST_SLO: f64 = 1e9;

/// The mean service time of all requests, in nanoseconds.
pub(super) fn mean_of_all(classes: &[Class]) -> f64 {
    classes.iter().map(|class| class.share * class.service.mean()).sum()
}

/// What disciplines know of the classes; no mean is 0, as none of theirs may be.
pub(super) fn profiles(classes: &[Class]) -> Vec<Profile> {
    let of = |class: &Class| Profile {
        share: class.share,
        service: Nanos::new((class.service.mean().round() as u64).max(1)),
    };
    classes.iter().map(of).collect()
}

/// The times of a mixture of nothing else.
fn only_times(list: &[(Located<ServiceTime>, Located<f64>)]) -> Option<Vec<(Located<Time>, Located<f64>)>> {
    let time = |(part, p): &(Located<ServiceTime>, Located<f64>)| match part.value {
        ServiceTime::Constant(time) => Some((Located { value: time, span: part.span.clone() }, p.clone())),
        ServiceTime::Law(_) => None,
    };
    list.iter().map(time).collect()
}

impl Check<'_, '_> {
    /// The names of the classes, no two the same.
    pub(super) fn class_names(&self, list: &Located<Vec<Located<ClassTable>>>) -> Checked<Vec<String>> {
        if list.value.is_empty() {
            return self.refuse(list, "must have a class", "add a table `[[class]]` with a `name`");
        }
        if list.value.len() > MAX_CLASSES {
            let reason = format!("has {} classes, must have at most {MAX_CLASSES}", list.value.len());
            return self.refuse(list, reason, "put several into one");
        }
        let mut names = HashSet::new();
        for class in &list.value {
            let written = &class.value.name;
            if !names.insert(self.own_name(written)?) {
                return self.refuse(written, "is the name of another class", "give each its own name");
            }
        }
        Ok(list.value.iter().map(|class| class.value.name.value.clone()).collect())
    }

    /// The classes, where there is no trace that has their shares and service times.
    pub(super) fn request_classes(
        &self,
        list: &Located<Vec<Located<ClassTable>>>,
        names: Vec<String>,
    ) -> Checked<Vec<Class>> {
        let shares = self.shares(list)?;
        let mut classes = Vec::with_capacity(names.len());
        for ((class, name), share) in list.value.iter().zip(names).zip(shares) {
            let Some(service) = &class.value.service else {
                let reason = "must have a `service`";
                return self.refuse(&class.value.name, reason, "add, for example, `service = \"1us\"`");
            };
            let service = self.service(service)?;
            let (slo, patience) = (self.slo(class.value.slo.as_ref())?, self.patience(&class.value)?);
            let timeout = self.timeout(&class.value)?;
            classes.push(Class { name, share, service, slo, patience, timeout, deadline: None, balk: None });
        }
        Ok(classes)
    }

    /// The shares, which sum to 1; one class may have what the others leave.
    fn shares(&self, list: &Located<Vec<Located<ClassTable>>>) -> Checked<Vec<f64>> {
        let mut open = None;
        let mut sum = 0.0;
        for class in &list.value {
            match &class.value.share {
                Some(share) if share.value >= 0.0 && share.value <= 1.0 => sum += share.value,
                Some(share) => {
                    let reason = "must be a number from 0 to 1";
                    return self.refuse(share, reason, "write a share such as 0.995");
                }
                None if open.is_some() => {
                    let reason = "is the second class without a `share`, only one may have the rest";
                    return self.refuse(&class.value.name, reason, "give it a share");
                }
                None => open = Some(&class.value.name),
            }
        }
        let rest = 1.0 - sum;
        if let Some(name) = open.filter(|_| rest <= SUM_TOLERANCE) {
            let reason = format!("has no `share`, and the others leave nothing: they sum to {sum}");
            return self.refuse(
                name,
                reason,
                "lower a share of the others, or write `share = 0.0` if none is meant",
            );
        }
        let last = list.value.iter().rev().find_map(|class| class.value.share.as_ref());
        if let (None, Some(last)) = (open, last.filter(|_| rest.abs() > SUM_TOLERANCE)) {
            let reason =
                format!("makes a sum of {sum} with those before, must make 1 within {SUM_TOLERANCE}");
            return self.refuse(last, reason, "correct a share, or leave one out, which has the rest");
        }
        let all = if open.is_some() { 1.0 } else { sum };
        let share =
            |class: &Located<ClassTable>| class.value.share.as_ref().map_or(rest, |share| share.value);
        Ok(list.value.iter().map(|class| share(class) / all).collect())
    }

    pub(super) fn slo(&self, written: Option<&Located<f64>>) -> Checked<Option<f64>> {
        match written {
            Some(slo) if !(slo.value > 1.0 && slo.value <= LARGEST_SLO) => {
                let reason = format!("must be a slowdown above 1 and at most {LARGEST_SLO}");
                self.refuse(slo, reason, "write a slowdown such as 10.0")
            }
            written => Ok(written.map(|slo| slo.value)),
        }
    }

    /// How long requests of a class wait for their service to begin.
    pub(super) fn patience(&self, class: &ClassTable) -> Checked<Option<Service>> {
        class.patience.as_ref().map(|written| self.service(written)).transpose()
    }

    /// How long clients of a class wait for the answer.
    pub(super) fn timeout(&self, class: &ClassTable) -> Checked<Option<Nanos>> {
        class.timeout.as_ref().map(|written| self.some_span(written, LONGEST_SERVICE)).transpose()
    }

    /// How long requests are served or wait, which is above 0.
    fn service(&self, written: &Located<ServiceTime>) -> Checked<Service> {
        self.law_of_time(written, true)
    }

    /// How long a client thinks, which may be nothing.
    pub(super) fn think(&self, written: &Located<ServiceTime>) -> Checked<Service> {
        self.law_of_time(written, false)
    }

    fn law_of_time(&self, written: &Located<ServiceTime>, some: bool) -> Checked<Service> {
        let textbook = |law: Checked<ContinuousLaw>| law.map(Arc::new).map(Service::Textbook);
        match &written.value {
            ServiceTime::Law(ServiceLaw::Mixture(list)) => match only_times(list) {
                Some(times) => self.mixed_times(written, &times),
                None => textbook(self.mixed_laws(written, list)),
            },
            _ => match self.span_law(written, some)? {
                Some(law) => Ok(Service::Law(law)),
                None => textbook(self.textbook(written)),
            },
        }
    }

    /// A law of a span of time in whole nanoseconds; `some` where it is above 0. `None` where it is a law of another kind.
    fn span_law(&self, written: &Located<ServiceTime>, some: bool) -> Checked<Option<Law>> {
        let span = |time: &Located<Time>| match some {
            true => self.some_span(time, LONGEST_SERVICE),
            false => self.span(time, LONGEST_SERVICE),
        };
        let law = match &written.value {
            ServiceTime::Constant(time) => {
                span(&Located { value: *time, span: written.span.clone() }).map(Law::Constant)?
            }
            ServiceTime::Law(ServiceLaw::Exponential(mean)) => {
                self.some_span(mean, LONGEST_SERVICE).map(Law::Exponential)?
            }
            ServiceTime::Law(ServiceLaw::Uniform(first, last)) => {
                let (from, until) = (span(first)?, span(last)?);
                if from > until {
                    let reason = format!("must be at least the first, which is {from}");
                    return self.refuse(last, reason, "swap the two");
                }
                Law::Uniform(from, until)
            }
            ServiceTime::Law(_) => return Ok(None),
        };
        Ok(Some(law))
    }

    /// A law of the textbooks.
    fn textbook(&self, written: &Located<ServiceTime>) -> Checked<ContinuousLaw> {
        if let Some(law) = self.span_law(written, true)? {
            return self.plain_law(written, law);
        }
        let law = match &written.value {
            ServiceTime::Law(law) => law,
            ServiceTime::Constant(_) => unreachable!("it is a law of a span"),
        };
        if let ServiceLaw::Mixture(list) = law {
            return self.mixed_laws(written, list);
        }
        law.textbook(self, &LONGEST_SERVICE).unwrap_or_else(|| unreachable!("it is a law of a span"))
    }

    /// A constant, an exponential or a uniform law as a part of a mixture.
    fn plain_law(&self, written: &Located<ServiceTime>, law: Law) -> Checked<ContinuousLaw> {
        let made = match law {
            Law::Exponential(mean) => ContinuousLaw::exponential(mean.get() as f64),
            Law::Uniform(from, to) if from < to => ContinuousLaw::uniform(from.get() as f64, to.get() as f64),
            Law::Constant(time) | Law::Uniform(time, _) => ContinuousLaw::deterministic(time.get() as f64),
        };
        self.made(written, made)
    }

    fn mixed_laws(
        &self,
        written: &Located<ServiceTime>,
        list: &[(Located<ServiceTime>, Located<f64>)],
    ) -> Checked<ContinuousLaw> {
        let part = |(law, p): &(Located<ServiceTime>, Located<f64>)| {
            if !(0.0..=1.0).contains(&p.value) {
                return self.refuse(p, "must be a probability from 0 to 1", "write one such as 0.9");
            }
            Ok((p.value, self.textbook(law)?))
        };
        let parts = list.iter().map(part).collect::<Checked<Vec<_>>>()?;
        self.made(written, ContinuousLaw::mixture(parts))
    }

    fn made<T>(&self, at: &Located<T>, law: Result<ContinuousLaw, LawError>) -> Checked<ContinuousLaw> {
        law.or_else(|error| {
            let LawError { parameter, value, bound, remedy } = error;
            self.refuse(at, format!("is refused: {parameter} is {value}, must be {bound}"), remedy)
        })
    }

    fn mixed_times(
        &self,
        written: &Located<ServiceTime>,
        list: &[(Located<Time>, Located<f64>)],
    ) -> Checked<Service> {
        let mut pairs: Vec<(u64, f64)> = Vec::with_capacity(list.len());
        for (time, probability) in list {
            let span = self.some_span(time, LONGEST_SERVICE)?.get();
            if !(0.0..=1.0).contains(&probability.value) {
                let reason = "must be a probability from 0 to 1";
                return self.refuse(probability, reason, "write one such as 0.9");
            }
            if pairs.iter().any(|(other, _)| *other == span) {
                return self.refuse(time, "is listed twice", "add the two probabilities");
            }
            pairs.push((span, probability.value));
        }
        self.sizes(written, Sizes::list(&pairs)).map(|sizes| Service::Sizes(Arc::new(sizes)))
    }
}
