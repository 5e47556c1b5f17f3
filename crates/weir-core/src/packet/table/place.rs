//! Where the entries of a flow go, so that they are exactly as far apart as its distance says.
//!
//! Flows are placed in the order of their distances, the shortest first. Each takes the next positions of the
//! bit-reversed sequence, as many as its distance needs. What came before took a multiple of that many, so that these
//! positions agree in their last bits and run through all of the others: they are exactly a distance apart. Whatever is
//! free admits the smallest distance that its number allows.
//!
//! | | |
//! |-|-|
//! | Source | Alfaro, Sánchez and Duato, *QoS in InfiniBand subnetworks*, IEEE TPDS 15(9), 2004: filling in by bit reversal |
//! | Work | O(entries + flows log flows) |
//! | Departs from the source | all flows are placed at once, sorted; the source fills in one request after the other |

use super::{MAX_ENTRIES, TableError};

/// The flow of each entry, of a table of `entries`, where flow `i` has every `distances[i]`-th; `None` is free.
///
/// # Errors
/// The number of entries or a distance is no power of two or too large, there is no distance, or there is no room.
pub fn place(distances: &[usize], entries: usize) -> Result<Vec<Option<u16>>, TableError> {
    if !entries.is_power_of_two() || entries > MAX_ENTRIES {
        return Err(TableError::Entries(entries));
    }
    if distances.is_empty() {
        return Err(TableError::Empty);
    }
    let fits = |&distance: &usize| distance.is_power_of_two() && distance <= entries;
    if let Some(flow) = distances.iter().position(|distance| !fits(distance)) {
        return Err(TableError::Distance { flow, distance: distances[flow], entries });
    }
    let needed = distances.iter().map(|distance| entries / distance).sum();
    if needed > entries {
        return Err(TableError::Full { needed, entries });
    }
    let mut flows: Vec<usize> = (0..distances.len()).collect();
    flows.sort_by_key(|&flow| distances[flow]);
    let mut table = vec![None; entries];
    let turns = flows.into_iter().flat_map(|flow| core::iter::repeat_n(flow, entries / distances[flow]));
    for (turn, flow) in turns.enumerate() {
        table[reversed(turn, entries)] = Some(flow as u16);
    }
    Ok(table)
}

/// `turn` with its bits in the opposite order, as one of `entries`, a power of two.
fn reversed(turn: usize, entries: usize) -> usize {
    // Shifting in two steps: a table of one entry has no bit at all.
    turn.reverse_bits() >> 1 >> (usize::BITS - 1 - entries.trailing_zeros())
}
