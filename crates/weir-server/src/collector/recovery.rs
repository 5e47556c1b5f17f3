//! How long after a burst the clients are served again: which attempts fail, window by window, from the end of the burst on.
//!
//! A window *fails* where more than half of the attempts that arrive in it do. A replication has *recovered* at the beginning of the
//! first ten windows in a row of which none fails, so that neither a lull is taken for the end nor a bad moment long after it for a
//! part of it. Where there are none, or where the end of the run fails (`tipped`), it has no time.
//!
//! | | |
//! |-|-|
//! | Source | this project; a state that outlasts its trigger: Bronson et al., *Metastable failures in distributed systems*, HotOS '21 |
//! | Reading | a time is known to a hundredth of what lies between burst and end |
//! | Work | O(1) an attempt |
//! | Memory | 100 windows |

use crate::model::ServerScenario;
use weir_core::units::Instant;

/// Windows from the end of the burst to the end of the run.
const WINDOWS: u64 = 100;
/// The number of attempts in a row that must not fail.
const QUIET: usize = 10;

/// What became of the attempts after a burst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recovery {
    /// When the burst ends.
    from: u64,
    length: u64,
    /// Attempts that were answered in time, and those that failed, by window.
    windows: Vec<[u64; 2]>,
}

impl Recovery {
    /// `None` where there is no burst, or clients do not try again.
    pub(super) fn new(server: &ServerScenario) -> Option<Self> {
        let (from, until) = (server.burst_ends()?.get(), server.stop.duration.get());
        Some(Self { from, length: (until - from).div_ceil(WINDOWS), windows: vec![[0; 2]; WINDOWS as usize] })
    }

    /// An attempt has ended that arrived then.
    #[inline]
    pub(super) fn ended(&mut self, arrived: Instant, has_failed: bool) {
        let Some(after) = arrived.get().checked_sub(self.from) else { return };
        if let Some(window) = self.windows.get_mut((after / self.length) as usize) {
            window[usize::from(has_failed)] += 1;
        }
    }

    /// How long it took, in nanoseconds from the end of the burst.
    pub(super) fn took(&self) -> Option<u64> {
        let is_quiet = |stretch: &[[u64; 2]]| stretch.iter().all(|window| window[1] <= window[0]);
        let first = self.windows.windows(QUIET).position(is_quiet)?;
        Some(first as u64 * self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_until_windows_in_a_row_do_not_fail() {
        let mut recovery = Recovery { from: 1_000, length: 10, windows: vec![[0; 2]; 100] };
        assert_eq!(recovery.took(), Some(0));
        for (at, has_failed) in [(990, true), (1_001, true), (1_035, true), (1_036, false), (1_047, true)] {
            recovery.ended(Instant::new(at), has_failed);
        }
        // One of two is not more than half.
        assert_eq!(recovery.took(), Some(50));
        [1_044, 1_045, 5_000].iter().for_each(|&at| recovery.ended(Instant::new(at), at == 5_000));
        assert_eq!(recovery.took(), Some(10));
        // One bad window long after it is no part of it; one in ten is.
        recovery.ended(Instant::new(1_700), true);
        assert_eq!(recovery.took(), Some(10));
        (0..100).step_by(10).for_each(|place| recovery.ended(Instant::new(1_000 + 10 * place), true));
        assert_eq!(recovery.took(), None);
    }
}
