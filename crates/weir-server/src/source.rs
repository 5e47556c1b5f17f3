//! Where the requests of a server come from: in blocks, in order of arrival, the same for every discipline.
//!
//! | | |
//! |-|-|
//! | Time | whole nanoseconds; times between open-loop arrivals are drawn in parts of a nanosecond where they are short ([`times`]) |
//! | Random numbers | streams of their own for times (`Arrivals`, `Phases`), classes (`Lengths`), services, estimates, patience and further sub-requests (`Services` 0 to 3), flows (`Flows`); of closed-loop clients one stream each (`Thinking`) |
//! | Work | O(1) a request; block by block where all draws of a kind are alike |
//! | Services | at least 1 ns, but for those of a trace |

mod backoff;
mod balking;
pub(crate) mod clients;
mod estimate;
mod hash;
pub(crate) mod parts;
mod patience;
mod services;
mod times;

use std::sync::Arc;

use crate::model::{Class, Open, ServerScenario, Workload};
use times::OpenTimes;
use weir_lab::error::RunError;
use weir_lab::stream::{Purpose, Stream, StreamKey, below};
use weir_workload::requests::Requests;
use weir_workload::source::LengthTable;

pub(crate) use backoff::Backoff;
pub(crate) use balking::Balking;
pub(crate) use estimate::Estimate;
pub(crate) use parts::Parts;
pub(crate) use patience::{FOR_EVER, Patience};
pub(crate) use services::Services;

/// An error in a scenario.
pub(crate) fn refused(place: impl Into<String>, reason: impl Into<String>) -> RunError {
    RunError::Refused { place: place.into(), reason: reason.into() }
}

/// Draws a class by its share.
#[derive(Clone, Debug)]
pub(crate) struct Mix(LengthTable);

impl Mix {
    /// # Errors
    /// There is no class, or a share is no probability.
    pub(crate) fn new(classes: &[Class]) -> Result<Self, RunError> {
        let shares: Vec<(u32, f64)> = classes.iter().map(|class| (1, class.share)).collect();
        LengthTable::new(&shares).map(Self).map_err(|error| refused("classes", error.to_string()))
    }

    /// The class that 64 random bits name.
    #[inline(always)]
    pub(crate) fn class(&self, bits: u64) -> u16 {
        self.0.class(bits)
    }
}

/// The requests of one replication, but for those of closed-loop clients.
#[derive(Debug)]
pub(crate) struct Source {
    kind: Kind,
    patience: Option<Box<Patience>>,
    /// Nobody arrives from here on.
    until: u64,
}

#[derive(Debug)]
enum Kind {
    Open(Box<OpenSource>),
    Trace { requests: Arc<Requests>, next: usize },
}

impl Source {
    /// The source of a scenario; `None` for closed-loop clients, who wait for the server.
    ///
    /// # Errors
    /// The workload is senseless, or the clock cannot draw its times.
    pub(crate) fn new(scenario: &ServerScenario, replication: u32) -> Result<Option<Self>, RunError> {
        let kind = match &scenario.workload {
            Workload::Open(open) => Kind::Open(Box::new(OpenSource::new(scenario, open, replication)?)),
            Workload::Trace(requests) => {
                check_trace(requests, scenario.classes.len())?;
                Kind::Trace { requests: Arc::clone(requests), next: 0 }
            }
            Workload::Closed(_) => return Ok(None),
        };
        let patience = Patience::new(scenario, replication).map(Box::new);
        Ok(Some(Self { kind, patience, until: scenario.stop.duration.get() }))
    }

    /// Clears the block and appends up to `n` requests; returns how many; 0 only at the end.
    pub(crate) fn fill(&mut self, block: &mut Requests, n: usize) -> usize {
        block.clear();
        match &mut self.kind {
            Kind::Open(open) => open.fill(block, n),
            Kind::Trace { requests, next } => {
                let end = next.saturating_add(n).min(requests.len());
                block.extend(requests, *next..end);
                *next = end;
            }
        }
        if let Some(patience) = &mut self.patience {
            patience.fill(&block.class, &mut block.patience);
        }
        block.end_at(self.until);
        block.len()
    }
}

/// # Errors
/// Columns are not of one length, times decrease, or a class does not exist.
fn check_trace(requests: &Requests, classes: usize) -> Result<(), RunError> {
    let n = requests.len();
    let columns = [requests.class.len(), requests.flow.len(), requests.service.len()];
    if columns != [n; 3] {
        return Err(refused("trace", format!("it has {n} times, and columns of {columns:?}, must be equal")));
    }
    if let Some(place) = requests.at.windows(2).position(|pair| pair[0] > pair[1]) {
        let (this, next) = (requests.at[place], requests.at[place + 1]);
        let reason =
            format!("request {} arrives at {next}ns, after one at {this}ns: sort by time", place + 2);
        return Err(refused("trace", reason));
    }
    match requests.class.iter().find(|&&class| usize::from(class) >= classes) {
        Some(class) => {
            Err(refused("trace", format!("a request is of class {class}, must be below {classes}")))
        }
        None => Ok(()),
    }
}

/// Open-loop arrivals.
#[derive(Debug)]
struct OpenSource {
    times: OpenTimes,
    mix: Mix,
    services: Services,
    flows: u32,
    class_draws: Stream,
    service_draws: Stream,
    flow_draws: Stream,
    scratch: Vec<u64>,
}

impl OpenSource {
    fn new(scenario: &ServerScenario, open: &Open, replication: u32) -> Result<Self, RunError> {
        let of = |purpose, index| Stream::new(StreamKey { seed: scenario.seed, replication, purpose, index });
        let stream = |purpose| of(purpose, 0);
        Ok(Self {
            times: OpenTimes::new(open, scenario.stop.duration.get(), &of)?,
            mix: Mix::new(&scenario.classes)?,
            services: Services::new(&scenario.classes),
            flows: open.flows,
            class_draws: stream(Purpose::Lengths),
            service_draws: stream(Purpose::Services),
            flow_draws: stream(Purpose::Flows),
            scratch: Vec::new(),
        })
    }

    fn fill(&mut self, block: &mut Requests, n: usize) {
        let Self { mix, scratch, .. } = self;
        scratch.resize(n, 0);
        match mix.0.lengths() {
            [_] => block.class.resize(n, 0),
            _ => {
                self.class_draws.fill_u64(scratch);
                mix.0.classes(scratch, &mut block.class);
            }
        }
        self.services.fill(&block.class, &mut self.service_draws, &mut block.service);
        if self.flows > 1 {
            self.flow_draws.fill_u64(scratch);
            block.flow.extend(scratch.iter().map(|&bits| below(bits, u64::from(self.flows)) as u32));
        } else {
            block.flow.resize(n, 0);
        }
        block.at.resize(n, 0);
        self.times.fill(&mut block.at);
    }
}
