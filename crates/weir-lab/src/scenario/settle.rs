//! Scenarios that run for as long as it takes: what a document says of that, and the same scenario with a longer run.
//!
//! A longer scenario is read from the same text with one key of `stop` changed, so that it is the scenario that a user would
//! write for that length, byte for byte.
//!
//! Source: the project's own. Work: that of reading a scenario.

use toml::{Table, Value};
use weir_document::{Located, Refused, Source};

use super::{Read, Scenario};

/// How many times as long a run may become where nothing else is said.
pub const LIMIT: u64 = 64;
/// The most that may be said.
const MOST: u64 = 1_000_000;
/// The keys, below `stop`.
const KEYS: [&str; 2] = ["settle", "settle_limit"];

/// What a document says of runs that are as long as it takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settle {
    /// Whether they are.
    pub asked: bool,
    /// How many times as long they may become.
    pub limit: Option<u64>,
}

impl Settle {
    /// As the two keys of `stop` say it.
    #[must_use]
    pub fn new(asked: bool, limit: Option<&Located<u64>>) -> Self {
        Self { asked, limit: limit.map(|limit| limit.value) }
    }
}

/// A key of `stop` with the value that makes a run longer.
#[derive(Clone, Debug, PartialEq)]
pub struct Longer {
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub value: Value,
    /// The length of the run in words.
    pub words: String,
}

impl Longer {
    /// A run of `count` of what a key counts.
    #[must_use]
    pub fn counted(key: &'static str, count: u64) -> Self {
        let value = Value::Integer(i64::try_from(count).unwrap_or(i64::MAX));
        Self { key, value, words: format!("{} {key}", grouped(count)) }
    }

    /// A run whose replications last this long.
    #[must_use]
    pub fn lasting(duration: weir_core::units::Nanos) -> Self {
        let words = format!("{duration} in each replication");
        Self { key: "duration", value: Value::String(duration.to_string()), words }
    }
}

/// A number with a comma between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let places = digits.chars().enumerate();
    let spaced = |(at, digit): (usize, char)| {
        let comma = (at > 0 && (digits.len() - at).is_multiple_of(3)).then_some(',');
        comma.into_iter().chain([digit])
    };
    places.flat_map(spaced).collect()
}

impl<M: Read> Scenario<M> {
    /// How many times as long a run may become, where it is to be as long as it takes.
    #[must_use]
    pub fn settle_limit(&self) -> Option<u64> {
        self.limit
    }

    /// The same, to be run for as long as it takes.
    ///
    /// # Errors
    /// No key makes its runs longer.
    pub fn settling(mut self) -> Result<Self, Refused> {
        if let Err(reason) = self.model.longer(&self.document, 2) {
            let refused = Refused::of_file(&self.frame.file, reason, "leave out `--settle`");
            return Err(refused.key("stop.settle"));
        }
        self.limit = Some(M::settle(&self.document).limit.unwrap_or(LIMIT));
        Ok(self)
    }

    /// The same, to be run for as long as it takes where the document says so.
    pub(super) fn asked_to_settle(mut self, source: &Source<'_>) -> Result<Self, Refused> {
        let Settle { asked, limit } = M::settle(&self.document);
        if let Some(limit) = limit.filter(|limit| !(2..=MOST).contains(limit)) {
            let remedy = if limit < 2 { "raise it" } else { "lower it" };
            return Err(source.refuse_key(&["stop", KEYS[1]], format!("must be from 2 to {MOST}"), remedy));
        }
        if asked {
            self.model
                .longer(&self.document, 2)
                .map_err(|reason| source.refuse_key(&["stop", KEYS[0]], reason, "remove it"))?;
            self.limit = Some(limit.unwrap_or(LIMIT));
        }
        Ok(self)
    }

    /// The same with a run of `times` times its length, which is not to be made longer; with that length in words.
    ///
    /// # Errors
    /// Such a run is more than is simulated.
    pub fn longer(&self, times: u64) -> Result<(Self, String), Refused> {
        let refused = |reason: String| Refused::of_file(&self.frame.file, reason, "shorten the run");
        let longer = self.model.longer(&self.document, times).map_err(|reason| refused(reason.to_owned()))?;
        let mut root: Table =
            self.text.parse().map_err(|error: toml::de::Error| refused(error.message().to_owned()))?;
        let stop = root.entry("stop").or_insert_with(|| Value::Table(Table::new()));
        let stop = stop.as_table_mut().ok_or_else(|| refused("`stop` is no table".to_owned()))?;
        KEYS.iter().for_each(|key| drop(stop.remove(*key)));
        if times > 1 {
            stop.insert(longer.key.to_owned(), longer.value);
        }
        if stop.is_empty() {
            root.remove("stop");
        }
        // A refusal has a place in the text as it was written only.
        let read = Self::from_toml(&root.to_string(), &self.frame.file, self.files.clone()).map_err(
            |mut refusal| {
                (refusal.line, refusal.column) = (None, None);
                refusal
            },
        )?;
        let read = match self.seed {
            Some(seed) => read.with_seed(seed)?,
            None => read,
        };
        Ok((read, longer.words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::units::Nanos;

    #[test]
    fn lengths_in_words() {
        let words = [7, 999, 1_000, 800_000, 1_234_567].map(|count| Longer::counted("packets", count).words);
        assert_eq!(
            words,
            ["7 packets", "999 packets", "1,000 packets", "800,000 packets", "1,234,567 packets"]
        );
        let lasting = Longer::lasting(Nanos::new(1_500_000_000));
        assert_eq!(
            (lasting.words.as_str(), lasting.value.as_str()),
            ("1500ms in each replication", Some("1500ms"))
        );
    }
}
