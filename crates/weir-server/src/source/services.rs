//! How long requests are served, and other times that a law says.

use crate::model::{Class, Service};
use std::sync::Arc;
use weir_lab::stream::Stream;
use weir_workload::duration::Law;
use weir_workload::{ContinuousLaw, SizeSampler};

/// Draws the services of one class, or think times.
#[derive(Clone, Debug)]
pub(crate) enum Sampler {
    Law(Law),
    Sizes(SizeSampler),
    Textbook(Arc<ContinuousLaw>),
}

impl Sampler {
    pub(crate) fn new(service: &Service) -> Self {
        match service {
            Service::Law(law) => Self::Law(*law),
            Service::Sizes(sizes) => Self::Sizes(sizes.sampler()),
            Service::Textbook(law) => Self::Textbook(Arc::clone(law)),
        }
    }

    /// A time, which may be 0.
    #[inline]
    pub(crate) fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            Self::Law(law) => law.draw(stream).get(),
            Self::Sizes(sampler) => sampler.sample(stream.next_u64()),
            Self::Textbook(law) => law.draw_whole(stream),
        }
    }
}

/// The means of exponential times, in nanoseconds, where those of all classes are exponential.
#[derive(Clone, Debug)]
pub(super) enum Exponential {
    /// Of all classes.
    Same(f64),
    /// By class.
    Each(Vec<f64>),
}

impl Exponential {
    /// `None` where the times of a class have another law, or none.
    pub(super) fn new<'a>(samplers: impl Iterator<Item = Option<&'a Sampler>>) -> Option<Self> {
        let mean = |sampler: Option<&Sampler>| match sampler {
            Some(Sampler::Law(Law::Exponential(mean))) => Some(mean.get() as f64),
            _ => None,
        };
        let means: Vec<f64> = samplers.map(mean).collect::<Option<_>>()?;
        let first = *means.first()?;
        Some(if means.iter().all(|mean| *mean == first) { Self::Same(first) } else { Self::Each(means) })
    }

    /// Appends the times of requests of these classes, each drawn as one by one.
    pub(super) fn fill<'o>(
        &self,
        classes: &[u16],
        stream: &mut Stream,
        out: &'o mut Vec<u64>,
    ) -> &'o mut [u64] {
        let begin = out.len();
        out.resize(begin + classes.len(), 0);
        let appended = &mut out[begin..];
        match self {
            Self::Same(mean) => stream.fill_exponential(*mean, 0, appended),
            Self::Each(means) => stream.fill_exponentials(means, classes, appended),
        }
        appended
    }
}

/// Draws the services of all classes.
#[derive(Clone, Debug)]
pub(crate) struct Services {
    samplers: Vec<Sampler>,
    /// The services by class, where none is random.
    constant: Option<Vec<u64>>,
    /// Where all are exponential.
    exponential: Option<Exponential>,
}

impl Services {
    pub(crate) fn new(classes: &[Class]) -> Self {
        let constant = |class: &Class| match &class.service {
            Service::Law(Law::Constant(span)) => Some(span.get().max(1)),
            _ => None,
        };
        let samplers: Vec<_> = classes.iter().map(|class| Sampler::new(&class.service)).collect();
        let exponential = Exponential::new(samplers.iter().map(Some));
        Self { samplers, constant: classes.iter().map(constant).collect(), exponential }
    }

    /// The service of one request.
    #[inline]
    pub(crate) fn draw(&self, class: u16, stream: &mut Stream) -> u64 {
        self.samplers[usize::from(class)].draw(stream).max(1)
    }

    /// Appends the services of requests of these classes.
    pub(crate) fn fill(&self, classes: &[u16], stream: &mut Stream, out: &mut Vec<u64>) {
        match (&self.constant, &self.exponential) {
            (Some(constant), _) => out.extend(classes.iter().map(|&class| constant[usize::from(class)])),
            (None, Some(exponential)) => {
                let services = exponential.fill(classes, stream, out);
                services.iter_mut().for_each(|service| *service = (*service).max(1));
            }
            _ => out.extend(classes.iter().map(|&class| self.draw(class, stream))),
        }
    }
}
