//! Lanes and service levels as text, for findings.

use std::collections::BTreeSet;

/// The most items of a list in a finding.
const MAX_LISTED: usize = 8;

/// Numbers as text, the first of them.
fn listed(numbers: impl IntoIterator<Item = u32>) -> String {
    let numbers: BTreeSet<u32> = numbers.into_iter().collect();
    let text: Vec<String> = numbers.iter().take(MAX_LISTED).map(u32::to_string).collect();
    let more = numbers.len().saturating_sub(MAX_LISTED);
    let text = text.join(", ");
    if more > 0 { format!("{text} and {more} more") } else { text }
}

/// Lanes as text: `lane 4`, `lanes 4, 5`.
pub(super) fn lanes_listed(numbers: impl IntoIterator<Item = u32>) -> String {
    let text = listed(numbers);
    if text.contains(' ') { format!("lanes {text}") } else { format!("lane {text}") }
}

/// Service levels as text.
pub(super) fn levels_listed(numbers: impl IntoIterator<Item = u32>) -> String {
    let text = listed(numbers);
    if text.contains(' ') { format!("service levels {text}") } else { format!("service level {text}") }
}
