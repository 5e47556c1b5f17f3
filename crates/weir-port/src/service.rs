//! How long the server is busy with each packet.

use weir_core::units::Nanos;
use weir_workload::source::ServiceSource;

/// Service times are drawn in blocks of this many packets.
const BLOCK: usize = 1024;

/// Service times drawn for the k-th packet accepted, whichever message it belongs to: the same for every
/// discipline, so that all that are work-conserving share the instants of acceptance.
pub struct Drawn<S> {
    source: S,
    mean: Nanos,
    block: Box<[u64; BLOCK]>,
    position: usize,
}

impl<S: ServiceSource> Drawn<S> {
    /// Draws from `source`, whose mean is `mean`.
    pub fn new(source: S, mean: Nanos) -> Self {
        Self { source, mean, block: Box::new([0; BLOCK]), position: BLOCK }
    }

    /// The mean service time of a packet.
    #[inline]
    pub fn mean(&self) -> Nanos {
        self.mean
    }

    /// The service time of the next packet accepted.
    #[inline]
    pub fn draw(&mut self) -> Nanos {
        if self.position == BLOCK {
            self.refill();
        }
        self.position += 1;
        Nanos::new(self.block[self.position - 1])
    }

    #[cold]
    fn refill(&mut self) {
        self.source.fill(&mut self.block[..]);
        self.position = 0;
    }
}
