//! From the document to how large messages are, in the unit that the service counts, and to the classes
//! into which the report divides them.

use super::{Check, Serving};
use crate::document::{self, ClassesBy, PortDocument};
use weir_core::units::Bytes;
use weir_document::quantity::LengthUnit;
use weir_document::{Checked, Located};
use weir_workload::document::WorkloadChecks;
use weir_workload::laws::written::Lengths;
use weir_workload::{MAX_LENGTH, MessageClasses, Sizes, Trace};

/// The most lengths that make a class each.
pub(super) const MAX_LENGTH_CLASSES: u64 = 100;
/// The most classes that a trace names, with their alphas.
const MAX_TRACE_CLASSES: usize = 64;
impl Check<'_, '_> {
    /// The distribution of lengths, in the unit that the service counts.
    pub(super) fn lengths(
        &mut self,
        workload: &Located<document::Workload>,
        serving: Serving,
    ) -> Checked<Sizes> {
        let Some(written) = &workload.value.lengths else {
            self.packet_for(workload, LengthUnit::Packets, &workload.value, serving)?;
            return Ok(Sizes::alpha_report());
        };
        self.lengths_in(written, &workload.value, serving)
    }

    /// A distribution of lengths that is written, in the unit that the service counts.
    pub(super) fn lengths_in(
        &mut self,
        written: &Located<document::Lengths>,
        workload: &document::Workload,
        serving: Serving,
    ) -> Checked<Sizes> {
        let (sizes, unit) = match &written.value {
            document::Lengths::Report => (Sizes::alpha_report(), LengthUnit::Packets),
            document::Lengths::Constant(length) => {
                (self.sizes(written, Sizes::constant(self.length(length)?))?, length.value.unit)
            }
            document::Lengths::Uniform(first, last) => {
                self.same_unit(first, last)?;
                let sizes = Sizes::uniform(self.length(first)?, self.length(last)?);
                (self.sizes(written, sizes)?, first.value.unit)
            }
            document::Lengths::Exponential(mean) => {
                (self.sizes(written, Sizes::exponential(self.length(mean)? as f64))?, mean.value.unit)
            }
            document::Lengths::Mixture(list) => self.mixture_of_lengths(written, list)?,
            document::Lengths::Cdf(file) => (self.cdf(file)?, LengthUnit::Bytes),
            law => {
                let counted = Lengths::up_to(MAX_LENGTH.into());
                let law = law.textbook(self, &counted);
                let law = law.unwrap_or_else(|| unreachable!("the laws of lengths alone are above"))?;
                (self.lengths_of_law(written, &law, &counted)?, counted.unit_read())
            }
        };
        match self.packet_for(written, unit, workload, serving)? {
            Some(packet) => self.sizes(written, sizes.in_packets(packet.get())),
            None => Ok(sizes),
        }
    }

    /// The size of the packets into which lengths in `unit` are divided; `None` where the service counts
    /// the same unit. Any other pair is refused at `at`.
    pub(super) fn packet_for<T>(
        &self,
        at: &Located<T>,
        unit: LengthUnit,
        workload: &document::Workload,
        serving: Serving,
    ) -> Checked<Option<Bytes>> {
        let packet = match &workload.packet {
            Some(packet) if unit != LengthUnit::Bytes => {
                return self.refuse(packet, "has no effect where lengths are not in bytes", "remove it");
            }
            packet => packet.as_ref().map(|packet| self.packet(packet)).transpose()?,
        };
        let counted = if packet.is_some() { LengthUnit::Packets } else { unit };
        if counted == serving.unit {
            return Ok(packet);
        }
        let reason = format!(
            "has lengths in `{}`, where the service counts `{}`",
            unit.symbol(),
            serving.unit.symbol()
        );
        let remedy = match (unit, serving.unit) {
            (LengthUnit::Bytes, LengthUnit::Packets) => "add, for example, workload.packet = \"1460B\"",
            (LengthUnit::Bytes, _) => "give the service a `rate`",
            (LengthUnit::Tokens, _) => "give the service a time `per_token`",
            (LengthUnit::Packets, _) => "give the service a time by `packet`",
        };
        self.refuse(at, reason, remedy)
    }

    /// The classes of messages whose lengths follow `lengths`.
    pub(super) fn classes_of_sizes(
        &self,
        document: &PortDocument,
        lengths: &Sizes,
    ) -> Checked<MessageClasses> {
        let by_length = MessageClasses::by_length(lengths, MAX_LENGTH_CLASSES);
        match &document.measure.classes {
            None => Ok(by_length.unwrap_or_else(|| MessageClasses::by_decile(lengths))),
            Some(written) => match (written.value, by_length) {
                (ClassesBy::Decile, _) => Ok(MessageClasses::by_decile(lengths)),
                (ClassesBy::Length, Some(classes)) => Ok(classes),
                (ClassesBy::Length, None) => {
                    let reason = format!("needs at most {MAX_LENGTH_CLASSES} different lengths");
                    self.refuse(written, reason, "write `classes = \"decile\"`")
                }
                (ClassesBy::Group, _) => {
                    let reason = "needs groups of applications, `workload.closed.group`";
                    self.refuse(written, reason, "write `classes = \"length\"` or \"decile\"")
                }
                (ClassesBy::Trace, _) => {
                    let reason = "needs a trace with a column of classes or of alphas";
                    self.refuse(written, reason, "write `classes = \"length\"` or \"decile\"")
                }
            },
        }
    }

    /// Refuses a trace with too many classes: each would have next to no messages, and yet figures of its own.
    fn few_classes(&self, document: &PortDocument, classes: &MessageClasses) -> Checked<()> {
        if classes.len() <= MAX_TRACE_CLASSES {
            return Ok(());
        }
        let trace = document.workload.value.trace.as_ref().expect("called for a trace alone");
        let (what, remedy) = named_by(classes);
        let reason = format!("has {} {what}, must have at most {MAX_TRACE_CLASSES}", classes.len());
        self.refuse(&trace.value.file, reason, remedy)
    }

    /// The classes of the messages of a trace.
    pub(super) fn classes_of_trace(&self, document: &PortDocument, trace: &Trace) -> Checked<MessageClasses> {
        let written = document.measure.classes.as_ref();
        let named = trace.class_names().map(|names| MessageClasses::Named {
            names: names.to_vec(),
            alphas: trace.alphas().map(<[f64]>::to_vec),
        });
        match (written.map(|written| written.value), named) {
            (None | Some(ClassesBy::Trace), Some(named)) => {
                self.few_classes(document, &named)?;
                Ok(named)
            }
            (Some(_), Some(_)) if trace.alphas().is_some() => {
                let reason = "must be `trace`, since messages carry their alpha by their class";
                let at = written.expect("matched as present");
                self.refuse(at, reason, "remove it, or rename the column of alphas")
            }
            _ => {
                let observed: Vec<u64> = trace.lengths().iter().map(|length| u64::from(*length)).collect();
                let at = document.workload.value.trace.as_ref().expect("called for a trace alone");
                self.classes_of_sizes(document, &self.sizes(at, Sizes::observed(&observed))?)
            }
        }
    }
}

/// What makes the classes of a trace, and how to make fewer.
fn named_by(classes: &MessageClasses) -> (&'static str, &'static str) {
    match classes {
        MessageClasses::Named { alphas: Some(_), .. } => {
            ("pairs of class and alpha", "round its column of alphas, or name fewer classes")
        }
        _ => ("classes", "name fewer, or write `classes = \"decile\"` in [measure]"),
    }
}
