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

/// The means by class, in nanoseconds, where all times are exponential.
pub(super) fn means<'a>(samplers: impl Iterator<Item = Option<&'a Sampler>>) -> Option<Vec<f64>> {
    let mean = |sampler: Option<&Sampler>| match sampler {
        Some(Sampler::Law(Law::Exponential(mean))) => Some(mean.get() as f64),
        _ => None,
    };
    samplers.map(mean).collect()
}

/// Draws the services of all classes.
#[derive(Clone, Debug)]
pub(crate) struct Services {
    samplers: Vec<Sampler>,
    /// The services by class, where none is random.
    constant: Option<Vec<u64>>,
    /// Their means, where all are exponential.
    means: Option<Vec<f64>>,
}

impl Services {
    pub(crate) fn new(classes: &[Class]) -> Self {
        let constant = |class: &Class| match &class.service {
            Service::Law(Law::Constant(span)) => Some(span.get().max(1)),
            _ => None,
        };
        let samplers: Vec<_> = classes.iter().map(|class| Sampler::new(&class.service)).collect();
        let means = means(samplers.iter().map(Some));
        Self { samplers, constant: classes.iter().map(constant).collect(), means }
    }

    /// The service of one request.
    #[inline]
    pub(crate) fn draw(&self, class: u16, stream: &mut Stream) -> u64 {
        self.samplers[usize::from(class)].draw(stream).max(1)
    }

    /// Appends the services of requests of these classes.
    pub(crate) fn fill(&self, classes: &[u16], stream: &mut Stream, out: &mut Vec<u64>) {
        match (&self.constant, &self.means) {
            (Some(constant), _) => out.extend(classes.iter().map(|&class| constant[usize::from(class)])),
            (None, Some(means)) => {
                let begin = out.len();
                out.resize(begin + classes.len(), 0);
                stream.fill_exponentials(means, classes, &mut out[begin..]);
                out[begin..].iter_mut().for_each(|service| *service = (*service).max(1));
            }
            _ => out.extend(classes.iter().map(|&class| self.draw(class, stream))),
        }
    }
}
