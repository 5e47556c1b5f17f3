//! What is counted while requests are sent and answered, by class and by the window in which a request was due.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(1) a request |
//! | Units | nanoseconds |
//! | Memory | 3 kB a class and window, made when a window begins |

use weir_core::units::Nanos;
use weir_gauge::spans::Spans;

use super::flights::Flight;

/// What became of the requests of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassTally {
    pub(super) sent: u64,
    pub(super) unsent: u64,
    pub(super) received: u64,
    pub(super) reordered: u64,
    pub(super) duplicates: u64,
    /// From when a request was due until its answer was received.
    pub(super) round_trips: Spans,
    /// From when the kernel took it, where that is known.
    pub(super) from_kernel: Spans,
}

impl ClassTally {
    pub(super) fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.unsent += other.unsent;
        self.received += other.received;
        self.reordered += other.reordered;
        self.duplicates += other.duplicates;
        self.round_trips.merge(&other.round_trips);
        self.from_kernel.merge(&other.from_kernel);
    }
}

/// A window.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowTally {
    pub(super) classes: Vec<ClassTally>,
    /// How late requests left.
    pub(super) lateness: Spans,
}

/// The windows that have begun.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    classes: usize,
    pub(super) windows: Vec<WindowTally>,
}

impl Tally {
    pub(super) const fn new(classes: usize) -> Self {
        Self { classes, windows: Vec::new() }
    }

    fn window(&mut self, window: u32) -> &mut WindowTally {
        let (at, classes) = (window as usize, self.classes);
        if at >= self.windows.len() {
            self.windows.resize_with(at + 1, || WindowTally {
                classes: vec![ClassTally::default(); classes],
                ..WindowTally::default()
            });
        }
        &mut self.windows[at]
    }

    /// A request was sent, so late.
    pub(super) fn sent(&mut self, window: u32, class: u8, late: Nanos) {
        let window = self.window(window);
        window.classes[usize::from(class)].sent += 1;
        window.lateness.add(late);
    }

    /// A request could not be sent.
    pub(super) fn unsent(&mut self, window: u32, class: u8) {
        self.window(window).classes[usize::from(class)].unsent += 1;
    }

    /// A request was answered.
    pub(super) fn received(&mut self, flight: &Flight, at: Nanos, is_reordered: bool) {
        let class = &mut self.window(flight.window).classes[usize::from(flight.class)];
        class.received += 1;
        class.reordered += u64::from(is_reordered);
        class.round_trips.add(Nanos::new(at.get().saturating_sub(flight.due.get())));
        if let Some(left) = flight.left {
            class.from_kernel.add(Nanos::new(at.get().saturating_sub(left.get())));
        }
    }

    /// A request was answered once more.
    pub(super) fn again(&mut self, flight: &Flight) {
        self.window(flight.window).classes[usize::from(flight.class)].duplicates += 1;
    }
}
