//! Keys that the documents of all models have, and what they are where they are not written.

/// The seed where none is written.
#[must_use]
pub fn default_seed() -> u64 {
    1
}

/// Whether quantiles and distributions are measured where it is not written.
#[must_use]
pub fn default_tails() -> bool {
    true
}
