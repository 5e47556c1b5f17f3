//! Laws of times by name, which programs name where they could say a span.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::LONGEST;
use super::program::MARKS;
use crate::check::Check;
use crate::document::DurationLaw;
use weir_core::units::Nanos;
use weir_document::{Checked, Located};
use weir_lab::stream::LONGEST_MEAN;
use weir_workload::duration::{AnyLaw, Law};

/// The laws of a scenario by their names.
pub(super) type Laws = BTreeMap<String, AnyLaw>;

/// Words that begin a law in a program itself.
const OF_PROGRAMS: [&str; 2] = ["exponential", "uniform"];

impl Check<'_, '_> {
    /// The laws of the table `law`.
    pub(super) fn laws(&self, written: &BTreeMap<String, Located<DurationLaw>>) -> Checked<Laws> {
        written.iter().map(|(name, law)| self.named_law(name, law)).collect()
    }

    fn named_law(&self, name: &str, written: &Located<DurationLaw>) -> Checked<(String, AnyLaw)> {
        let is_apart = |c: char| c.is_whitespace() || c == '#' || MARKS.contains(&c);
        let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !name.contains(is_apart);
        if !is_word {
            let reason = format!(
                "has the name `{name}`, must have one word that begins with a letter, without brackets"
            );
            return self.refuse(written, reason, "write a name such as `work`");
        }
        if OF_PROGRAMS.contains(&name) {
            let reason = format!("has the name `{name}`, which programs use for a law of their own");
            return self.refuse(written, reason, "give it another name");
        }
        Ok((name.to_owned(), self.duration_law(&written.value)?))
    }

    fn duration_law(&self, law: &DurationLaw) -> Checked<AnyLaw> {
        let longest_mean = LONGEST.min(Nanos::new(LONGEST_MEAN as u64));
        match law {
            DurationLaw::Exponential(mean) => {
                self.some_span(mean, longest_mean).map(|mean| Law::Exponential(mean).into())
            }
            DurationLaw::Uniform(first, last) => {
                let (from, until) = (self.span(first, LONGEST)?, self.span(last, LONGEST)?);
                if from > until {
                    let reason = format!("must be at least the first, which is {from}");
                    return self.refuse(last, reason, "swap the two");
                }
                Ok(Law::Uniform(from, until).into())
            }
            law => {
                let law = law.textbook(self, &longest_mean);
                law.unwrap_or_else(|| unreachable!("it is a law of a span"))
                    .map(Arc::new)
                    .map(AnyLaw::Textbook)
            }
        }
    }
}
