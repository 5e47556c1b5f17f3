//! What the quantities of a law are counted in: nanoseconds, or the one unit of its lengths.

use std::cell::Cell;

use weir_core::units::Nanos;
use weir_document::quantity::{Length, LengthUnit, Time};
use weir_document::{Checked, Checker, Located};

/// How quantities of a kind are counted, and how large they may be.
pub trait Counted<Q> {
    /// A quantity above 0.
    ///
    /// # Errors
    /// It is 0 or too large.
    fn some(&self, checker: &Checker<'_>, written: &Located<Q>) -> Checked<f64>;

    /// A quantity that may be 0.
    ///
    /// # Errors
    /// It is too large.
    fn any(&self, checker: &Checker<'_>, written: &Located<Q>) -> Checked<f64>;

    /// The largest mean.
    fn most(&self) -> u64;

    /// The unit.
    fn unit(&self) -> &'static str;

    /// A quantity as documents write it.
    fn written(&self, count: u64) -> String;

    /// A quantity that refusals give as an example.
    fn example(&self) -> &'static str;
}

/// Times in nanoseconds, of which this is the longest.
impl Counted<Time> for Nanos {
    fn some(&self, checker: &Checker<'_>, written: &Located<Time>) -> Checked<f64> {
        checker.some_span(written, *self).map(|span| span.get() as f64)
    }

    fn any(&self, checker: &Checker<'_>, written: &Located<Time>) -> Checked<f64> {
        checker.span(written, *self).map(|span| span.get() as f64)
    }

    fn most(&self) -> u64 {
        self.get()
    }

    fn unit(&self) -> &'static str {
        "ns"
    }

    fn written(&self, count: u64) -> String {
        Self::new(count).to_string()
    }

    fn example(&self) -> &'static str {
        "2ms"
    }
}

/// Lengths, all of one law in the same unit.
#[derive(Clone, Debug)]
pub struct Lengths {
    /// The largest.
    most: u64,
    /// The unit of the first that was read.
    unit: Cell<Option<LengthUnit>>,
}

impl Lengths {
    /// Lengths of at most so many units, whichever unit the law has.
    #[must_use]
    pub fn up_to(most: u64) -> Self {
        Self { most, unit: Cell::new(None) }
    }

    /// The unit of the lengths that were read; bytes before the first.
    #[must_use]
    pub fn unit_read(&self) -> LengthUnit {
        self.unit.get().unwrap_or(LengthUnit::Bytes)
    }

    fn within(&self, checker: &Checker<'_>, written: &Located<Length>, least: u64) -> Checked<f64> {
        let Length { count, unit } = written.value;
        if self.unit.get().is_some_and(|first| first != unit) {
            let reason = format!("must be in `{}`, as the length before it is", self.unit_read().symbol());
            return checker.refuse(written, reason, "use one unit throughout");
        }
        self.unit.set(Some(unit));
        if (least..=self.most).contains(&count) {
            return Ok(count as f64);
        }
        let reason = format!("must be from {least} to {}", self.written(self.most));
        let remedy = if count < least { "raise it" } else { "lower it" };
        checker.refuse(written, reason, remedy)
    }
}

impl Counted<Length> for Lengths {
    fn some(&self, checker: &Checker<'_>, written: &Located<Length>) -> Checked<f64> {
        self.within(checker, written, 1)
    }

    fn any(&self, checker: &Checker<'_>, written: &Located<Length>) -> Checked<f64> {
        self.within(checker, written, 0)
    }

    fn most(&self) -> u64 {
        self.most
    }

    fn unit(&self) -> &'static str {
        self.unit_read().symbol()
    }

    fn written(&self, count: u64) -> String {
        format!("{count}{}", self.unit_read().symbol())
    }

    fn example(&self) -> &'static str {
        match self.unit_read() {
            LengthUnit::Bytes => "20kB",
            LengthUnit::Packets => "20pkt",
            LengthUnit::Tokens => "20tok",
        }
    }
}
