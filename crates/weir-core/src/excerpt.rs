//! Texts of others as errors repeat them: on one line, of bounded length, without control characters.

/// The longest text repeated in an error, in characters.
const LONGEST: usize = 60;

/// The first line of the text, or its beginning, without control characters.
///
/// ```
/// use weir_core::excerpt::shorten;
///
/// assert_eq!(shorten("10\u{8}ms"), "10?ms");
/// assert_eq!(shorten(&"9".repeat(400)), format!("{}...", "9".repeat(60)));
/// ```
#[must_use]
pub fn shorten(text: &str) -> String {
    beginning(text, LONGEST)
}

/// As [`shorten`], up to a length in characters.
#[must_use]
pub fn beginning(text: &str, most: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut characters = line.chars().map(|each| if each.is_control() { '?' } else { each });
    let short: String = characters.by_ref().take(most).collect();
    let is_cut = characters.next().is_some() || line.len() < text.len();
    if is_cut { format!("{short}...") } else { short }
}
