//! What documents say of workloads, and how it is checked: arrivals, loads, sizes, and the files of sizes.

use std::io::Read;
use std::path::PathBuf;

use crate::arrivals::renewal::checked;
use crate::arrivals::{batches, markov, superposed};
use crate::laws::written::{Counted as _, Lengths};
use crate::{Arrivals, CdfError, ContinuousLaw, MAX_LENGTH, Sizes, SizesError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::units::Bytes;
use weir_document::quantity::{Length, LengthUnit};
use weir_document::{Checked, Checker, Located, Refused};

/// The most messages of a burst, in the mean.
const MAX_BURST: f64 = 1e9;
/// The largest ratio of the rate in a burst to the mean rate.
const MAX_PEAK: f64 = 1e6;
/// The largest offered load that is taken for one.
const MAX_LOAD: f64 = 1e6;
/// The largest part of a mean that may lie beyond the lengths that can be, and is cut off.
const MOST_BEYOND: f64 = 1e-4;
/// The longest CDF file that is read.
const MAX_CDF_BYTES: u64 = 64 << 20;

crate::arrival_processes! {
    /// The process of arrivals.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[schemars(rename = "Arrivals")]
    pub enum ArrivalProcess {}
}

/// A Poisson process whose rate switches between two values, at exponential times.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursty {
    /// The rate during a burst over the mean rate, above 1.
    pub peak: Located<f64>,
    /// The mean number of messages of a burst.
    pub burst: Located<f64>,
    /// The rate between bursts over the mean rate, from 0 to below 1. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Located<f64>>,
}

/// Whether a CSV file has a header where a document does not say.
#[must_use]
pub fn default_header() -> bool {
    true
}

/// The checks of what documents say of workloads.
pub trait WorkloadChecks {
    /// The size of a packet.
    ///
    /// # Errors
    /// It is not one in bytes above 0.
    fn packet(&self, written: &Located<Length>) -> Checked<Bytes>;

    /// An offered load.
    ///
    /// # Errors
    /// It is out of bounds.
    fn load(&self, written: &Located<f64>) -> Checked<f64>;

    /// The process of arrivals.
    ///
    /// # Errors
    /// One of its ratios is out of bounds.
    fn arrivals(&self, written: &ArrivalProcess) -> Checked<Arrivals>;

    /// A length that a message can have.
    ///
    /// # Errors
    /// It is 0 or too large.
    fn length(&self, written: &Located<Length>) -> Checked<u64>;

    /// A distribution, or its refusal at the key that describes it.
    ///
    /// # Errors
    /// What the distribution refuses.
    fn sizes<T>(&self, at: &Located<T>, sizes: Result<Sizes, SizesError>) -> Checked<Sizes>;

    /// Refuses a length in another unit than the first.
    ///
    /// # Errors
    /// It is in another unit.
    fn same_unit(&self, first: &Located<Length>, other: &Located<Length>) -> Checked<()>;

    /// Lengths with their probabilities, and their unit.
    ///
    /// # Errors
    /// There is none; a length is out of bounds, in another unit or listed twice; or probabilities are none.
    fn mixture_of_lengths<T>(
        &self,
        at: &Located<T>,
        list: &[(Located<Length>, Located<f64>)],
    ) -> Checked<(Sizes, LengthUnit)>;

    /// A law of the textbooks as lengths, of at most so many units; the tail above that is cut off.
    ///
    /// # Errors
    /// More than 10^-4 of its mean lies beyond them.
    fn lengths_of_law<T>(&self, at: &Located<T>, law: &ContinuousLaw, counted: &Lengths) -> Checked<Sizes>;

    /// The sizes of a CDF file, in bytes.
    ///
    /// # Errors
    /// It cannot be read, or its content is refused.
    fn cdf(&mut self, file: &Located<PathBuf>) -> Checked<Sizes>;
}

impl WorkloadChecks for Checker<'_> {
    fn packet(&self, written: &Located<Length>) -> Checked<Bytes> {
        if written.value.unit != LengthUnit::Bytes || written.value.count == 0 {
            return self.refuse(written, "must be a size in bytes above 0", "write a size such as \"1460B\"");
        }
        Ok(Bytes::new(written.value.count))
    }

    fn load(&self, written: &Located<f64>) -> Result<f64, Refused> {
        if written.value > 0.0 && written.value <= MAX_LOAD {
            return Ok(written.value);
        }
        let reason = format!("must be a number above 0 and at most {MAX_LOAD}");
        self.refuse(written, reason, "write a load such as 0.95")
    }

    fn arrivals(&self, written: &ArrivalProcess) -> Result<Arrivals, Refused> {
        let bursty = match written {
            ArrivalProcess::Poisson => return Ok(Arrivals::Poisson),
            ArrivalProcess::Deterministic => return Ok(Arrivals::Deterministic),
            ArrivalProcess::Renewal(law) => return checked(self, law).map(Arrivals::Renewal),
            ArrivalProcess::Map(table) => return markov::of_map(self, table),
            ArrivalProcess::Mmpp(table) => return markov::of_mmpp(self, table),
            ArrivalProcess::Batches(table) => return batches::checked(self, table),
            ArrivalProcess::Superposition(parts) => return superposed::checked(self, parts),
            ArrivalProcess::Bursty(bursty) => bursty,
        };
        let peak = bursty.peak.value;
        if !(peak > 1.0 && peak <= MAX_PEAK) {
            let reason = format!("must be a number above 1 and at most {MAX_PEAK}");
            return self.refuse(&bursty.peak, reason, "write a ratio such as 3.0");
        }
        let remedy = "write a number of messages such as 20.0";
        let burst = self.within(&bursty.burst, 1.0, MAX_BURST, remedy)?;
        let quiet = bursty.quiet.as_ref().map_or(0.0, |quiet| quiet.value);
        match &bursty.quiet {
            Some(written) if !(0.0..1.0).contains(&quiet) => {
                self.refuse(written, "must be from 0 to below 1", "write a ratio such as 0.2")
            }
            _ => Ok(Arrivals::Bursty { peak, burst, quiet }),
        }
    }

    fn length(&self, written: &Located<Length>) -> Result<u64, Refused> {
        if (1..=u64::from(MAX_LENGTH)).contains(&written.value.count) {
            return Ok(written.value.count);
        }
        let reason = format!("must be from 1 to {MAX_LENGTH}");
        let remedy = match written.value.count {
            0 => "give every message a length",
            _ => "lower it, or use a larger unit",
        };
        self.refuse(written, reason, remedy)
    }

    fn sizes<T>(&self, at: &Located<T>, sizes: Result<Sizes, SizesError>) -> Result<Sizes, Refused> {
        sizes.or_else(|error| {
            let (reason, remedy) = reason_and_remedy(&error.to_string());
            self.refuse(at, format!("is refused: {reason}"), remedy)
        })
    }

    fn same_unit(&self, first: &Located<Length>, other: &Located<Length>) -> Checked<()> {
        if first.value.unit == other.value.unit {
            return Ok(());
        }
        let reason = format!("must be in `{}`, as the length before it is", first.value.unit.symbol());
        self.refuse(other, reason, "use one unit throughout")
    }

    fn mixture_of_lengths<T>(
        &self,
        at: &Located<T>,
        list: &[(Located<Length>, Located<f64>)],
    ) -> Checked<(Sizes, LengthUnit)> {
        let Some((first, _)) = list.first() else {
            return self.refuse(at, "must have at least one length", "write [[\"1pkt\", 1.0]]");
        };
        let mut pairs = Vec::new();
        for (length, probability) in list {
            self.same_unit(first, length)?;
            if !(0.0..=1.0).contains(&probability.value) {
                return self.refuse(
                    probability,
                    "must be a probability from 0 to 1",
                    "write one such as 0.9",
                );
            }
            if pairs.iter().any(|(other, _)| *other == length.value.count) {
                return self.refuse(length, "is listed twice", "add the two probabilities");
            }
            pairs.push((self.length(length)?, probability.value));
        }
        Ok((self.sizes(at, Sizes::list(&pairs))?, first.value.unit))
    }

    fn lengths_of_law<T>(&self, at: &Located<T>, law: &ContinuousLaw, counted: &Lengths) -> Checked<Sizes> {
        let most = counted.most();
        let beyond = law.survival(most as f64) * most as f64 / law.mean().unwrap_or(f64::INFINITY);
        if beyond > MOST_BEYOND {
            let most = counted.written(most);
            let reason = format!(
                "has at least {beyond:.1e} of its mean above {most}, must have at most {MOST_BEYOND:e} there"
            );
            return self.refuse(at, reason, "take `bounded_pareto`, or a law with a shorter tail");
        }
        self.sizes(at, Sizes::of_law(law, most))
    }

    fn cdf(&mut self, file: &Located<PathBuf>) -> Result<Sizes, Refused> {
        let name = self.files.path(&file.value).display().to_string();
        let mut bytes = Vec::new();
        let read = self.files.open(&file.value);
        read.and_then(|opened| opened.take(MAX_CDF_BYTES + 1).read_to_end(&mut bytes))
            .or_else(|error| self.unreadable(file, &error))?;
        if bytes.len() as u64 > MAX_CDF_BYTES {
            let reason = format!("must be a file of at most {MAX_CDF_BYTES} bytes");
            return self.refuse(file, reason, "thin out its points");
        }
        self.fingerprint.add(&bytes);
        let text = String::from_utf8(bytes)
            .map_err(|_| Refused::of_file(&name, "is not UTF-8 text", "save the table as plain CSV"))?;
        let sizes = Sizes::parse_cdf(&text, &name).map_err(|error| of_cdf(&error))?;
        match sizes.support().1 {
            Some(largest) if largest <= u64::from(MAX_LENGTH) => Ok(sizes),
            _ => {
                let reason = format!("must have no size above {MAX_LENGTH}B");
                self.refuse(file, reason, "cut the table off, or count a larger unit")
            }
        }
    }
}

/// The two parts of a refusal that is written as `what; remedy`.
#[must_use]
pub fn reason_and_remedy(text: &str) -> (String, String) {
    let parts = text.rsplit_once("; ").map(|(reason, remedy)| (reason.to_owned(), remedy.to_owned()));
    parts.unwrap_or_else(|| (text.to_owned(), "correct it".to_owned()))
}

fn of_cdf(error: &CdfError) -> Refused {
    let (reason, remedy) = reason_and_remedy(&error.fault.to_string());
    let mut refusal = Refused::of_file(&error.file, reason, remedy);
    refusal.line = (error.line > 0).then_some(error.line);
    refusal.key = error.column.map(str::to_owned);
    refusal
}
