//! What the engines of the server run: the checked scenario.

mod fan_out;

use crate::record::Unserved;
pub use fan_out::{After, Cancel, Draws, FanOut, Hedge};
use std::sync::Arc;
use weir_core::pool::Site;
use weir_core::registry::with_seeds;
use weir_core::spec::{Argument, Spec};
use weir_core::units::{Nanos, Speed};
use weir_workload::duration::Law;
use weir_workload::requests::Requests;
use weir_workload::{Arrivals, ContinuousLaw, Curve, Sizes};

/// A scenario of the server.
#[derive(Clone, Debug)]
pub struct ServerScenario {
    /// What the report is headed with.
    pub title: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// The disciplines, by their specs as written: dispatchers and pool disciplines.
    pub disciplines: Vec<String>,
    /// The same, parsed.
    pub specs: Vec<Spec>,
    /// The one from which paired differences are taken.
    pub reference: usize,
    /// The cores, receivers, bound of a queue, and what is known of the classes: what disciplines are built for.
    pub site: Site,
    /// The classes, by their number.
    pub classes: Vec<Class>,
    /// Who arrives when.
    pub workload: Workload,
    /// Whether clients try again, and how.
    pub retry: Option<Retry>,
    /// Whether clients stop sending where most attempts fail, and how.
    pub breaker: Option<Breaker>,
    /// When cores are slower than they are otherwise, or stand still; those of one core do not overlap.
    pub faults: Vec<Fault>,
    /// To how many cores a request goes, and when to one more.
    pub fan_out: Option<FanOut>,
    /// What disciplines know of the service time of a request.
    pub known: Known,
    /// What lies between arrival and service.
    pub costs: Costs,
    /// How many requests may wait for a receiver, the one it sees to not counted; `None` for any number.
    pub ring: Option<u32>,
    /// The load, where it is known: work that arrives over what all cores can do.
    pub load: Option<f64>,
    /// When a replication ends and what of it counts.
    pub stop: Stop,
    /// What is measured.
    pub measure: Measure,
}

impl ServerScenario {
    /// Whether it is reported which requests were served by cores other than the one of their flow before.
    #[must_use]
    pub fn tells_cores(&self) -> bool {
        // The data of a flow whose requests go to several cores are at no core.
        self.fan_out.is_none() && (self.measure.order || self.costs.cold.get() > 0)
    }

    /// Whether each core does a nanosecond of service in a nanosecond, always.
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.site.speeds.is_empty() && self.faults.is_empty()
    }

    /// How many cores of a speed of 1 would do as much, faults left out.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        capacity(self.site.servers, &self.site.speeds)
    }

    /// Whether requests of a class leave where their service does not begin in time.
    #[must_use]
    pub fn has_patience(&self) -> bool {
        self.classes.iter().any(|class| class.patience.is_some())
    }

    /// Whether an answer to a request of a class may come too late to be useful.
    #[must_use]
    pub fn has_timeout(&self) -> bool {
        self.classes.iter().any(|class| class.in_time().is_some())
    }

    /// Whether requests of a class have a deadline of which the server knows.
    #[must_use]
    pub fn has_deadline(&self) -> bool {
        self.classes.iter().any(|class| class.deadline.is_some())
    }

    /// Whether requests of a class do not join where they find many waiting.
    #[must_use]
    pub fn has_balking(&self) -> bool {
        self.classes.iter().any(|class| class.balk.is_some())
    }

    /// Whether it must be known of every attempt when its client gives up on it: where clients try again, share a circuit
    /// breaker, or think on when they have given up.
    #[must_use]
    pub fn tells_clients(&self) -> bool {
        let gives_up = self.has_patience() || self.has_timeout();
        let is_closed = matches!(self.workload, Workload::Closed(_));
        self.retry.is_some() || self.breaker.is_some() || is_closed && gives_up
    }

    /// When the burst ends after which it is reported how long it took to recover; `None` where there is none, or clients do not
    /// try again.
    #[must_use]
    pub fn burst_ends(&self) -> Option<Nanos> {
        let (Workload::Open(Open { burst: Some(burst), .. }), Some(_)) = (&self.workload, self.retry) else {
            return None;
        };
        let ends = Nanos::new(burst.at.get().saturating_add(burst.lasts.get()));
        (ends < self.stop.duration).then_some(ends)
    }

    /// Whether requests are lost for a reason.
    #[must_use]
    pub fn may_lose(&self, why: Unserved) -> bool {
        match why {
            Unserved::Balked => self.has_balking(),
            Unserved::Missed => self.has_deadline(),
            Unserved::Refused => self.breaker.is_some(),
        }
    }

    /// Whether second copies may be sent.
    #[must_use]
    pub fn hedges(&self) -> bool {
        self.fan_out.is_some_and(|fan_out| fan_out.hedge.is_some())
    }

    /// Whether sub-requests may be cancelled.
    #[must_use]
    pub fn cancels(&self) -> bool {
        self.fan_out.is_some_and(|fan_out| fan_out.cancels())
    }

    /// Whether cores may do what is useless: a client has given up, or there are enough answers.
    #[must_use]
    pub fn may_waste(&self) -> bool {
        self.has_timeout() || self.fan_out.is_some_and(|fan_out| fan_out.has_spares())
    }

    /// Whether no request waits for ever, so that queues are bounded whatever arrives.
    #[must_use]
    pub fn all_leave(&self) -> bool {
        let leaves = |class: &Class| class.patience.is_some() || class.deadline.is_some();
        self.classes.iter().all(|class| leaves(class) || class.share == 0.0)
    }

    /// Whether anything is random: not where a trace is replayed, services and patience are known as they are, and no
    /// discipline draws.
    /// One that breaks ties takes a seed in any case, and draws only where `ties` is `random`.
    #[must_use]
    pub fn is_random(&self) -> bool {
        !matches!(self.workload, Workload::Trace(_))
            || matches!(self.known, Known::Within(_))
            || self.classes.iter().any(|class| class.patience.as_ref().is_some_and(Service::is_random))
            || self.specs.iter().any(draws)
    }
}

/// How many cores of a speed of 1 would do as much as these.
pub(crate) fn capacity(cores: u32, speeds: &[Speed]) -> f64 {
    match speeds {
        [] => f64::from(cores),
        _ => {
            let millionths: u64 = speeds.iter().map(|speed| u64::from(speed.millionths())).sum();
            millionths as f64 / f64::from(Speed::ONE.millionths())
        }
    }
}

/// Whether a discipline draws random numbers.
fn draws(spec: &Spec) -> bool {
    let mut seeds = 0;
    drop(with_seeds(spec, &mut || {
        seeds += 1;
        0
    }));
    seeds > idle_seeds(spec)
}

/// How many seeds are given to what breaks ties without drawing.
fn idle_seeds(spec: &Spec) -> usize {
    let breaks_ties = matches!(spec.name.as_str(), "jsq" | "least_work");
    let is_random = |argument: &Argument| argument.value.name == "random";
    let is_given = |argument: &Argument| argument.key.as_deref() == Some("seed");
    let is_idle =
        breaks_ties && !spec.arguments.iter().any(|argument| is_random(argument) || is_given(argument));
    let inner: usize = spec.arguments.iter().map(|argument| idle_seeds(&argument.value)).sum();
    usize::from(is_idle) + inner
}

/// A class of requests.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Its share of all requests; what a trace has, where there is one.
    pub share: f64,
    /// How long its requests are served.
    pub service: Service,
    /// A slowdown that is not to be exceeded, where one is asked for.
    pub slo: Option<f64>,
    /// How long its requests wait for their service to begin, before they leave; `None`: for ever.
    pub patience: Option<Service>,
    /// How long its clients wait for the answer before they give up; `None`: for ever. The server does not know.
    pub timeout: Option<Nanos>,
    /// By when the answer must be there, and what the server, which knows, does about it; `None`: there is no such time.
    pub deadline: Option<Deadline>,
    /// Where its requests do not join; `None`: they always do.
    pub balk: Option<Balk>,
}

impl Class {
    /// How long after its arrival the answer to a request is useful: the timeout or the deadline, whichever is sooner.
    #[must_use]
    pub fn in_time(&self) -> Option<Nanos> {
        let deadline = self.deadline.map(|deadline| deadline.within);
        self.timeout.into_iter().chain(deadline).min()
    }
}

/// A time by which the answer must be there, of which the server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// From arrival.
    pub within: Nanos,
    /// Which requests the server drops for it.
    pub drop: Hopeless,
}

/// Which requests are dropped for their deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hopeless {
    /// Those that would end late if their service began now, at the speed of the core, and nothing came between: before it
    /// begins.
    Before,
    /// Those whose deadline has come: where they wait when their turn comes, where they are served at once.
    During,
}

/// Requests that do not join where they find many waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balk {
    /// The number that wait at least, in all queues together.
    pub at: u64,
    /// The probability with which a request does not join then.
    pub probability: f64,
}

/// Clients that try again where an attempt fails: it is refused, leaves the queue, or is not answered in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// The most attempts a request may have, the first included.
    pub attempts: u32,
    /// From the end of the first attempt to the second.
    pub backoff: Nanos,
    /// By what it is multiplied after every further attempt.
    pub factor: f64,
    /// The part of it that is random, evenly, and taken away: from 0 to 1.
    pub jitter: f64,
    /// How many further attempts there may be for each request that comes by itself; `None`: any number.
    pub budget: Option<f64>,
}

/// A circuit breaker that all clients share: where too many attempts fail, none is sent for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breaker {
    /// It opens where this part of the attempts that ended in the window has failed.
    pub failures: f64,
    /// How far back attempts count, by when they ended.
    pub window: Nanos,
    /// It does not open while fewer attempts have ended in the window.
    pub least: u64,
    /// How long it stays open.
    pub open: Nanos,
    /// How many attempts are let through then, whose outcome decides.
    pub probes: u64,
}

/// A core is slower for a while, or stands still: what it has to do waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Whose it is.
    pub core: u32,
    /// When it begins, from the beginning of the run.
    pub at: Nanos,
    /// How long it lasts.
    pub lasts: Nanos,
    /// By what its speed is multiplied meanwhile, at most 1.
    pub speed: Speed,
}

/// How long requests are served or wait, or clients think.
#[derive(Clone, Debug)]
pub enum Service {
    /// A law of its own.
    Law(Law),
    /// A distribution of whole nanoseconds.
    Sizes(Arc<Sizes>),
    /// A law of the textbooks, in nanoseconds; it has a mean, and draws are rounded to whole nanoseconds.
    Textbook(Arc<ContinuousLaw>),
}

impl From<Law> for Service {
    fn from(law: Law) -> Self {
        Self::Law(law)
    }
}

/// Who arrives when.
#[derive(Clone, Debug)]
pub enum Workload {
    /// Whatever happens to those before.
    Open(Open),
    /// Clients that each have one request at a time.
    Closed(Closed),
    /// Requests with their own times.
    Trace(Arc<Requests>),
}

/// Open-loop arrivals.
#[derive(Clone, Debug)]
pub struct Open {
    /// The process in time.
    pub process: Process,
    /// The mean time between arrivals, in nanoseconds; of the first level, where there are several, and outside of a burst.
    pub mean_gap: f64,
    /// How the rate grows.
    pub levels: Option<Levels>,
    /// For how long it is another; not with levels.
    pub burst: Option<Burst>,
    /// How it follows the time, over its mean; not with levels or a burst.
    pub curve: Option<Curve>,
    /// How many flows there are; each request is of one of them, at random.
    pub flows: u32,
}

impl Open {
    /// How the rate follows the time, over that of `mean_gap`; `None` where it stays.
    #[must_use]
    pub fn changes(&self) -> Option<Curve> {
        let curve = || self.curve.clone();
        self.levels
            .map(Levels::steps)
            .or(self.burst.map(Burst::steps))
            .map_or_else(curve, |steps| Curve::steps(&steps))
    }
}

/// The process of open-loop arrivals.
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// A process of the workload.
    Arrivals(Arrivals),
    /// All requests of a period at its beginning: as many as the rate brings in one period, rounded down with the rest
    /// carried over, `spacing` apart.
    Trains {
        /// The period.
        every: Nanos,
        /// The time between requests of a train.
        spacing: Nanos,
    },
}

/// A rate that is multiplied again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// How long each level lasts.
    pub every: Nanos,
    /// How many levels there are, the first included; the last goes on.
    pub count: u32,
    /// By what the rate is multiplied.
    pub factor: f64,
}

impl Levels {
    /// Where each level begins, in nanoseconds, with its rate over that of the first.
    fn steps(self) -> Vec<(u64, f64)> {
        let step = |last: &(u64, f64)| Some((last.0.saturating_add(self.every.get()), last.1 * self.factor));
        std::iter::successors(Some((0, 1.0)), step).take(self.count as usize).collect()
    }
}

/// A rate that is another for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// When it begins, from the beginning of the run.
    pub at: Nanos,
    /// How long it lasts.
    pub lasts: Nanos,
    /// By what the rate is multiplied meanwhile.
    pub factor: f64,
}

impl Burst {
    /// As [`Levels::steps`].
    fn steps(self) -> Vec<(u64, f64)> {
        let begin = self.at.get();
        vec![(0, 1.0), (begin, self.factor), (begin.saturating_add(self.lasts.get()), 1.0)]
    }
}

/// Closed-loop clients.
#[derive(Clone, Debug)]
pub struct Closed {
    /// How many; each is a flow.
    pub clients: u32,
    /// From the end of a request to the next.
    pub think: Service,
}

impl Closed {
    /// Whether the next request comes as soon as the one before is over, always.
    #[must_use]
    pub fn is_without_thinking(&self) -> bool {
        matches!(self.think, Service::Law(Law::Constant(span)) if span.get() == 0)
    }
}

/// What disciplines know of the service time of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// All of it.
    Exact,
    /// The mean of its class.
    ClassMean,
    /// The service time, multiplied by a number between `1 / factor` and `factor`, evenly in its logarithm.
    Within(f64),
}

/// What lies between arrival and service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// What a receiver spends on each request.
    pub dispatch: Nanos,
    /// From there to the discipline.
    pub hand_over: Nanos,
    /// What a core spends more where the flow was last served elsewhere.
    pub cold: Nanos,
}

/// When a replication ends and what of it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Requests that arrive before this do not count.
    pub warm_up: Nanos,
    /// Nobody arrives from here on.
    pub duration: Nanos,
    /// Independent replications.
    pub replications: u32,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Quantiles and distributions.
    pub tails: bool,
    /// Reordering within flows, and how often these go to another core.
    pub order: bool,
    /// The length of a window.
    pub window: Option<Nanos>,
    /// Whether queue, utilisation, shares and quantiles of each window are kept.
    pub over_time: bool,
    /// Whether the books are checked as the run goes.
    pub verify: bool,
}

#[cfg(test)]
mod tests {
    use super::draws;
    use weir_core::spec::Spec;

    /// Finding A5: what draws nothing gives the same replication again and again.
    #[test]
    fn a5_ties_draw_only_where_they_are_random() {
        let draws = |spec: &str| draws(&spec.parse::<Spec>().expect("a spec"));
        for random in ["random", "jsq:ties=random", "per_server(jsq(ties=random),discipline=sf)"] {
            assert!(draws(random), "{random}");
        }
        for certain in ["rr", "jsq", "least_work:seed=3", "cfcfs", "per_server(jsq,discipline=sf)"] {
            assert!(!draws(certain), "{certain}");
        }
    }
}
