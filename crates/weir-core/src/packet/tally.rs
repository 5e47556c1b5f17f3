//! The effort of decisions, counted in as few operations as a decision of a few nanoseconds can bear: most of them
//! examine one entry, and are counted by one addition.

use crate::discipline::Effort;

/// What has been examined so far.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    decisions: u64,
    /// Entries of a read. It stands between what is counted by itself and what is counted together: a load of both
    /// right after a store of one would wait for the store.
    at_once: u64,
    /// Examined beyond the first of each decision.
    more: u64,
    /// The most beyond the first of one decision.
    most_more: u64,
    /// Reads beyond the first of each decision, where one reads several.
    more_steps: u64,
}

impl Tally {
    /// Counts nothing so far; `at_once` entries, at least one, are read at once.
    pub(super) fn new(at_once: u16) -> Self {
        Self { decisions: 0, at_once: u64::from(at_once).max(1), more: 0, most_more: 0, more_steps: 0 }
    }

    /// A decision examined one.
    #[inline(always)]
    pub(super) fn one(&mut self) {
        self.decisions += 1;
    }

    /// Counts a decision that examined `examined` entries, at least one.
    #[inline(always)]
    pub(super) fn count(&mut self, examined: u64) {
        self.count_singly(examined);
        if self.at_once > 1 {
            self.more_steps += examined.saturating_sub(1) / self.at_once;
        }
    }

    /// The same where entries are always read one by one.
    #[inline(always)]
    pub(super) fn count_singly(&mut self, examined: u64) {
        self.decisions += 1;
        // The processor has just learnt which way this goes, from the search that examined them.
        if examined > 1 {
            self.more += examined - 1;
            self.most_more = self.most_more.max(examined - 1);
        }
    }

    /// The counts as they are reported.
    pub(super) fn effort(&self) -> Effort {
        let some = u64::from(self.decisions > 0);
        let more_steps = if self.at_once > 1 { self.more_steps } else { self.more };
        Effort {
            decisions: self.decisions,
            examined: self.decisions + self.more,
            most_examined: some + self.most_more,
            steps: self.decisions + more_steps,
            most_steps: some + self.most_more / self.at_once,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_what_would_have_been_counted() {
        for at_once in [0, 1, 2, 3, 64] {
            let (mut tally, mut effort) = (Tally::new(at_once), Effort::default());
            assert_eq!(tally.effort(), effort);
            for examined in (1_u64..200).chain([1, 64, 65]) {
                match (examined, at_once) {
                    (1, _) => tally.one(),
                    (_, 0 | 1) if examined.is_multiple_of(2) => tally.count_singly(examined),
                    _ => tally.count(examined),
                }
                effort.count(examined, at_once.into());
                assert_eq!(tally.effort(), effort);
            }
        }
    }
}
