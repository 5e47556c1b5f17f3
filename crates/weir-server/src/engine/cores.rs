//! The cores: the grant that is open at each, and which ends first.
//!
//! Ends are kept in a tournament (Knuth, *The Art of Computer Programming* 3, section 5.4.1): a complete tree whose leaves
//! are the cores and whose nodes hold the earliest end below them. A change goes from a leaf to the root, without a branch.
//! Time and core share one word, so that of equal times the lowest core wins.

use super::Request;
use weir_core::pool::MAX_SERVERS;
use weir_core::units::{Instant, Nanos};

/// Binary digits of a core's number.
const DIGITS: u32 = MAX_SERVERS.ilog2();
/// An end that never comes: beyond all times.
pub(crate) const LATEST: Instant = Instant::new(u64::MAX >> DIGITS);

/// An open grant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// Who is served, as the discipline named it.
    pub(super) item: Request,
    /// When the core was given it.
    pub(super) since: Instant,
    /// When its service begins, overheads over.
    pub(super) begins: Instant,
    /// How long it serves if nothing comes between.
    pub(super) serves: Nanos,
    /// Whether it is the first that serves the request.
    pub(super) first: bool,
}

/// The end of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    /// When it ends.
    pub(super) at: Instant,
    /// Whose it is.
    pub(super) core: u32,
}

/// All cores.
#[derive(Debug)]
pub(super) struct Cores {
    pub(super) open: Vec<Option<Open>>,
    /// The node `i` is over `2i` and `2i + 1`; leaves are the last half.
    earliest: Vec<u64>,
    leaves: usize,
}

impl Cores {
    pub(super) fn new(cores: u32) -> Self {
        let leaves = cores.next_power_of_two() as usize;
        Self { open: vec![None; cores as usize], earliest: vec![u64::MAX; 2 * leaves], leaves }
    }

    /// The first end of a grant; [`LATEST`] where none is open.
    #[inline]
    pub(super) fn first(&self) -> End {
        let first = self.earliest[1];
        End { at: Instant::new(first >> DIGITS), core: (first as u32) & (MAX_SERVERS - 1) }
    }

    /// A core's grant ends then, which is before [`LATEST`].
    #[inline]
    pub(super) fn ends(&mut self, core: u32, at: Instant) {
        self.set(core, at.get() << DIGITS | u64::from(core));
    }

    /// A core is idle.
    #[inline]
    pub(super) fn idle(&mut self, core: u32) {
        self.set(core, u64::MAX);
    }

    #[inline]
    fn set(&mut self, core: u32, end: u64) {
        let mut node = self.leaves + core as usize;
        let mut earliest = end;
        self.earliest[node] = end;
        while node > 1 {
            earliest = earliest.min(self.earliest[node ^ 1]);
            node >>= 1;
            self.earliest[node] = earliest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_end_is_that_of_a_search() {
        for count in [1, 2, 3, 8, 13, 1024_u32] {
            let mut cores = Cores::new(count);
            let mut ends = vec![None; count as usize];
            let mut state = 7_u64;
            for _ in 0..2000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let (core, at) = ((state >> 33) as u32 % count, Instant::new(state >> 58));
                if at.get() % 3 == 0 {
                    cores.idle(core);
                    ends[core as usize] = None;
                } else {
                    cores.ends(core, at);
                    ends[core as usize] = Some(at);
                }
                let searched =
                    (0..count).filter_map(|core| ends[core as usize].map(|at| End { at, core })).min();
                let first = cores.first();
                assert_eq!((first.at != LATEST).then_some(first), searched);
            }
        }
    }
}
