//! What a result says of a load that follows a curve, in the same words of every model.
//!
//! Source: the project's own. Work O(log points).

use super::Curve;
use weir_core::units::Nanos;
use weir_document::quantity::{Clock, Time};

/// Digits of the times that are known about.
const DIGITS: u32 = 3;

/// The time that is measured of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Where it begins.
    pub from: Nanos,
    /// Where it ends.
    pub until: Nanos,
    /// In what times are written.
    pub clock: Clock,
    /// Whether these are known only about, as where a run ends after a number of messages.
    pub is_about: bool,
}

impl Measured {
    fn time(&self, span: Nanos) -> Time {
        Time { span, clock: self.clock }
    }

    /// One that is known as well as where the measured time begins.
    fn end(&self, span: Nanos) -> Time {
        self.time(if self.is_about { about(span) } else { span })
    }

    fn span(&self) -> Nanos {
        Nanos::new(self.until.get().saturating_sub(self.from.get()))
    }

    fn if_about(&self, word: &'static str) -> &'static str {
        if self.is_about { word } else { "" }
    }
}

/// A time in few digits.
fn about(time: Nanos) -> Nanos {
    let digits = time.get().checked_ilog10().map_or(0, |digits| digits + 1);
    let step = 10_u64.pow(digits.saturating_sub(DIGITS));
    Nanos::new(time.get().saturating_add(step / 2) / step * step)
}

impl Curve {
    /// The load over all of it, where it is highest, and in the measured time; `load` is the mean.
    #[must_use]
    pub fn words_of_load(&self, load: f64, measured: &Measured) -> Option<String> {
        let [from, until] = [measured.from, measured.until].map(|end| self.before(end.get() as f64));
        let own = load * (until - from) / measured.span().get() as f64;
        let over = self.period().map_or("up to its last point".to_owned(), |period| {
            format!("over its period of {}", measured.time(Nanos::new(period)))
        });
        own.is_finite().then(|| {
            format!(
                "the rate follows workload.curve: the load is {load:.4} {over}, at most {:.4}, and {own:.4} in the measured \
                 time, {}from {} to {}",
                load * self.highest(),
                measured.if_about("about "),
                measured.end(measured.from),
                measured.end(measured.until)
            )
        })
    }

    /// That more than one period of it is measured, and the last one in part.
    #[must_use]
    pub fn words_of_part(&self, measured: &Measured) -> Option<String> {
        let (period, span) = (self.period()?, measured.span());
        (span.get() > period).then(|| {
            format!(
                "{}{} are measured, {:.2} periods of workload.curve: the part of the last one counts more often than the rest; \
                 measure whole periods of {}, or a part of one",
                measured.if_about("some "),
                measured.end(span),
                span.get() as f64 / period as f64,
                measured.time(Nanos::new(period))
            )
        })
    }
}
