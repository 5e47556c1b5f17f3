//! The scenario of the bus stop as it is written, and its checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::units::Nanos;
use weir_document::header::default_seed;
use weir_document::quantity::Time;
use weir_document::{Checked, Checker, Located, MAX_REPLICATIONS};
use weir_lab::scenario::{Compared, Read, Written};
use weir_lab::stream::LONGEST_MEAN;

use crate::BusStop;

/// The longest time that can be written: some ten years.
const LONGEST: Nanos = Nanos::new(300_000_000_000_000_000);
/// The most passengers of a replication.
const MOST: u64 = 10_000_000;

/// A scenario of the bus stop.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BusStopDocument {
    /// The version of this format: 1.
    weir: Located<u32>,
    /// The simulated place in which the disciplines act.
    model: Name,
    /// What the report is headed with.
    #[serde(default)]
    title: String,
    /// The seed of all random streams.
    #[serde(default = "default_seed")]
    seed: u64,
    /// The disciplines of messages to compare.
    disciplines: Located<Vec<Located<String>>>,
    /// The one from which the others' paired differences are taken; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<Located<String>>,
    /// The time from bus to bus.
    every: Located<Time>,
    /// The seats of a bus.
    seats: Located<u64>,
    /// The stops that a passenger may travel.
    stops: Located<u64>,
    /// The mean time between passengers.
    between: Located<Time>,
    /// The simulated time of a replication.
    duration: Located<Time>,
    /// Independent replications.
    replications: Located<u64>,
}

weir_lab::document!(BusStopDocument);

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Name {
    BusStop,
}

impl Read for BusStop {
    type Document = BusStopDocument;

    fn check(document: &mut BusStopDocument, checker: &mut Checker<'_>) -> Checked<Self> {
        checker.version(&document.weir)?;
        let read = |written: &Located<String>| checker.message_discipline(written);
        let disciplines = checker.each_once(&document.disciplines, "[\"fifo\", \"sf\"]", read)?;
        let every = checker.some_span(&document.every, LONGEST)?;
        let between = checker.some_span(&document.between, Nanos::new(LONGEST_MEAN as u64))?;
        let duration = checker.some_span(&document.duration, LONGEST)?;
        if duration < every || duration.get() / between.get() > MOST {
            let reason = format!("must let a bus come, every {every}, and at most {MOST} passengers");
            return checker.refuse(&document.duration, reason, "change it, or `every`, or `between`");
        }
        Ok(Self {
            title: document.title.clone(),
            seed: document.seed,
            reference: checker.reference(document.reference.as_ref(), &disciplines)?,
            disciplines,
            every,
            seats: checker.whole(&document.seats, 1, MOST)?,
            stops: checker.whole(&document.stops, 1, 1000)?,
            between,
            duration,
            replications: checker.whole(&document.replications, 1, MAX_REPLICATIONS)? as u32,
        })
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn replication_count(&self) -> u32 {
        self.replications
    }

    fn set_replications(document: &mut BusStopDocument, model: &mut Self, replications: u32) {
        model.replications = replications;
        document.replications.value = replications.into();
    }

    fn set_seed(document: &mut BusStopDocument, model: &mut Self, seed: u64) {
        (document.seed, model.seed) = (seed, seed);
    }

    fn written(document: &mut BusStopDocument) -> Written<'_> {
        Written { disciplines: &mut document.disciplines.value, reference: document.reference.as_mut() }
    }

    fn compared(&self) -> Compared<'_> {
        let disciplines = self.disciplines.iter().map(|discipline| &*discipline.name).collect();
        Compared { disciplines, reference: self.reference }
    }
}

impl BusStop {
    /// Why there are no means, where more passengers come than there are seats.
    pub(crate) fn unstable(&self) -> Option<String> {
        let load = self.every.get() as f64 / self.between.get() as f64 / self.seats as f64;
        let words = "passengers for each seat, not below 1: who waits waits without end; add seats or buses";
        (load >= 1.0).then(|| format!("there are {load:.3} {words}"))
    }
}
