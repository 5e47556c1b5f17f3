//! The name that was meant: the nearest of those that are known.
//!
//! | | |
//! |-|-|
//! | Source | optimal string alignment: the edits of Levenshtein 1966, and a swap of neighbours as one edit (Damerau 1964), no part edited twice |
//! | Work | O(length of the name * length of the other) for each known name, both at most 40 characters |
//! | Units | single-character edits |

/// Longer names, in characters, are far from everything.
const LONGEST: usize = 40;

/// The name in `known` that is nearest to `name`, if it is near enough to be meant: at most two edits away, of a
/// name of four characters or fewer one. Of names equally near it is the first in the alphabet.
///
/// ```
/// use weir_core::nearest::nearest;
///
/// assert_eq!(nearest("alpah", ["alpha", "fifo"]), Some("alpha"));
/// assert_eq!(nearest("beta", ["alpha", "fifo"]), None);
/// ```
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = if name.chars().count() < 5 { 1 } else { 2 };
    let edits = known.into_iter().map(|other| (distance(name, other), other));
    edits.filter(|(edits, _)| *edits <= limit).min().map(|(_, other)| other)
}

/// The number of edits between two names.
fn distance(a: &str, b: &str) -> usize {
    // The length in bytes bounds the work before anything is allocated: a character has at most four of them.
    if a.len() > 4 * LONGEST || b.len() > 4 * LONGEST {
        return usize::MAX;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 { i + j } else { edits(&rows, &a, &b, i, j) };
        }
    }
    rows[a.len()][b.len()]
}

/// The edits between the first `i` characters of `a` and the first `j` of `b`, from those of shorter beginnings.
fn edits(rows: &[Vec<usize>], a: &[char], b: &[char], i: usize, j: usize) -> usize {
    let substituted = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
    let best = substituted.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
    let is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
    if is_swapped { best.min(rows[i - 2][j - 2] + 1) } else { best }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_letters_is_one_edit() {
        assert_eq!(nearest("laod", ["load", "gap"]), Some("load"));
        assert_eq!(nearest("lengths_of", ["load", "lengths"]), None);
        assert_eq!(nearest("lenghts", ["load", "lengths"]), Some("lengths"));
        assert_eq!(nearest("latecny", ["latency", "name"]), Some("latency"));
    }

    #[test]
    fn names_near_enough_are_found() {
        assert_eq!(nearest("shara", ["share", "name"]), Some("share"));
        assert_eq!(nearest("colour", ["latency", "name"]), None);
        // Two edits would make any short name of any other.
        assert_eq!(nearest("ab", ["rr", "sf"]), None);
        assert_eq!(nearest("b", ["s", "a", "r"]), Some("a"));
    }

    #[test]
    fn distances_by_hand() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("ca", "abc", 3),
            ("é", "e", 1),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }

    #[test]
    fn long_names_are_far_from_everything() {
        let long = "a".repeat(41);
        assert_eq!(nearest(&long, [long.as_str()]), None);
        assert_eq!(distance(&"é".repeat(40), &"é".repeat(40)), 0);
    }
}
