//! CUBIC: a window that is a cubic function of the time since it was last reduced.
//!
//! | | |
//! |-|-|
//! | Source | RFC 9438: window function 4.2, Reno-friendly region 4.3, increase 4.4 and 4.5, decrease 4.6, fast convergence 4.7, timeout 4.8 |
//! | Window | `C (t - K)^3 + W_max` packets, t in seconds, `K = cbrt((W_max - W_epoch) / C)`, C = 0.4 |
//! | Decrease | to 0.7 of the window |
//! | Work per acknowledgement | O(1), floating point |
//! | Slow start | ends by [`super::slow_start`] (4.10) |
//! | Left out | undoing a spurious reduction (4.9) |

use weir_core::units::{Instant, Nanos};

/// How steep the function is, in packets per cubed second.
const STEEPNESS: f64 = 0.4;
/// What is kept of the window at a reduction.
pub(super) const KEPT: f64 = 0.7;
/// Growth of the estimate of Reno's window, in packets a round trip, below the window of the latest reduction.
const FRIENDLY: f64 = 3.0 * (1.0 - KEPT) / (1.0 + KEPT);

/// The state of CUBIC.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    /// The window before the latest reduction, which the function comes back to; 0 where there was none.
    plateau: f64,
    /// The same before fast convergence.
    prior: f64,
    epoch: Option<Epoch>,
}

/// A time of congestion avoidance.
#[derive(Clone, Debug)]
struct Epoch {
    began: Instant,
    /// When the function reaches the plateau, in seconds.
    inflection: f64,
    /// What Reno's window would be.
    friendly: f64,
}

impl Cubic {
    /// The window after an acknowledgement of `acked` packets in congestion avoidance.
    pub(super) fn grown(&mut self, window: f64, acked: f64, now: Instant, round_trip: Nanos) -> f64 {
        let (plateau, prior) = (&mut self.plateau, self.prior);
        let epoch = self.epoch.get_or_insert_with(|| {
            *plateau = plateau.max(window);
            Epoch { began: now, inflection: libm::cbrt((*plateau - window) / STEEPNESS), friendly: window }
        });
        let rate = if epoch.friendly >= prior { 1.0 } else { FRIENDLY };
        epoch.friendly += rate * acked / window;
        let elapsed = now.since(epoch.began).seconds();
        let at = |time: f64| STEEPNESS * (time - epoch.inflection).powi(3) + *plateau;
        if at(elapsed) < epoch.friendly {
            return window.max(epoch.friendly);
        }
        let target = at(elapsed + round_trip.seconds()).clamp(window, 1.5 * window);
        window + (target - window) / window * acked
    }

    /// The window was reduced from this.
    pub(super) fn reduced(&mut self, window: f64) {
        // A window that did not come back to the plateau makes room for others.
        self.plateau = if window < self.plateau { window * (1.0 + KEPT) / 2.0 } else { window };
        self.prior = window;
        self.epoch = None;
    }

    /// The timer has run out: what comes next begins at its plateau.
    pub(super) fn timed_out(&mut self) {
        self.plateau = 0.0;
        self.epoch = None;
    }
}
