//! How a window grows without loss and how far it is reduced by one: Reno and CUBIC.
//!
//! | | |
//! |-|-|
//! | Source | RFC 5681, section 3.1 (Reno); RFC 9438 ([`super::cubic`]) |
//! | Reno | one packet more a round trip, counted by what is acknowledged, of the whole packets of a window; half of what is on its way |
//! | Units | packets |

use super::cubic::{self, Cubic};
use crate::model::Congestion;
use weir_core::units::{Instant, Nanos};

/// A window is never reduced to less than this, in packets; a timeout starts from one.
const SMALLEST: f64 = 2.0;

/// A congestion control.
#[derive(Clone, Debug)]
pub enum Control {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic(Cubic),
}

impl Control {
    /// A control at the beginning of a transfer.
    #[must_use]
    pub fn new(congestion: Congestion) -> Self {
        match congestion {
            Congestion::Reno => Self::Reno,
            Congestion::Cubic => Self::Cubic(Cubic::default()),
        }
    }

    /// The window after an acknowledgement of `acked` packets in congestion avoidance.
    pub(super) fn grown(&mut self, window: f64, acked: f64, now: Instant, round_trip: Nanos) -> f64 {
        match self {
            Self::Reno => window + (acked / window.floor()).min(1.0),
            Self::Cubic(cubic) => cubic.grown(window, acked, now, round_trip),
        }
    }

    /// The threshold of slow start after a loss or a mark, with this many packets on their way.
    pub(super) fn reduced(&mut self, flight: f64) -> f64 {
        let kept = match self {
            Self::Reno => 0.5,
            Self::Cubic(cubic) => {
                cubic.reduced(flight);
                cubic::KEPT
            }
        };
        (flight * kept).max(SMALLEST)
    }

    /// The timer has run out; [`Control::reduced`] was called before.
    pub(super) fn timed_out(&mut self) {
        if let Self::Cubic(cubic) = self {
            cubic.timed_out();
        }
    }
}
