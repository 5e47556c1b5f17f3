//! A router goes from one process to the next, and no packet is lost.
//!
//! The next process asks for the links of the programs of this one, and puts its own programs into them: from then on what
//! comes in goes by the kernel to sockets of the next (AF_PACKET), as the queues still have those of this one. Then it asks
//! for what there is: this process takes in what is left in its sockets, stands still, and says what waits, who its
//! neighbours are and what it has counted. When it is asked to stop it ends, and leaves programs and pins where they are. The
//! next one goes on with what waits, and opens the queues as soon as they are free.
//!
//! What goes wrong in between leaves this process in charge: it puts its programs back, and goes on.
//!
//! | | |
//! |-|-|
//! | Source | this project; Linux, Documentation/bpf/ (links are updated at once) |
//! | Work | O(frames), once; all workers stand still meanwhile |
//! | Units | nanoseconds since the daemon began |

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

use weir_core::units::{Instant, Nanos};
use weir_plane::estate::Estate;

use super::log;
use super::requests;
use super::run::Still;

/// How long another process may take from one request to the next, in nanoseconds.
const PATIENCE: u64 = 3_000_000_000;
/// How long nothing comes in any more before all has, in nanoseconds: what a program has let through is on its way no longer.
const SILENCE: u64 = 2_000_000;
/// The longest that is waited for that, in nanoseconds.
const LONGEST_SILENCE: u64 = 50_000_000;
/// Between two looks for what is asked while it stands still.
const PAUSE: Duration = Duration::from_millis(1);

/// How far a succession is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Succession {
    /// Nobody has asked.
    #[default]
    None,
    /// Another process has the numbers of the links, and may do with them what it wants until then.
    Announced(Instant),
    /// Another process has what there is.
    Done,
}

impl Still<'_> {
    /// The links of the programs, by device.
    pub(super) fn links(&mut self) -> BTreeMap<String, Option<u32>> {
        self.parts.succession = Succession::Announced(self.parts.clock.now() + Nanos::new(PATIENCE));
        let names: Vec<String> = self.parts.router.devices().into_iter().map(str::to_owned).collect();
        let link = |(place, name)| (name, self.server(place).seat_mut(place).link());
        names.into_iter().enumerate().map(link).collect()
    }

    /// What there is, for another process; nothing where none has announced itself.
    pub(super) fn hand_over(&mut self) -> Option<Estate> {
        if !matches!(self.parts.succession, Succession::Announced(_)) {
            return None;
        }
        self.take_in();
        let now = self.parts.clock.now();
        let counted = self.snapshot();
        let devices = self.parts.router.device_places();
        let interfaces = (0..devices.len())
            .map(|at| {
                let worker = self.server(devices[at]);
                worker.plane.bequeath(now, at, &worker.arena)
            })
            .collect();
        self.parts.succession = Succession::Done;
        Some(Estate { counted, interfaces })
    }

    /// Takes in what its sockets still have, until there is no more.
    fn take_in(&mut self) {
        let began = self.parts.clock.now();
        let mut last = began;
        loop {
            let now = self.parts.clock.now();
            let mut any = false;
            self.workers.iter_mut().for_each(|worker| any |= worker.take_in(now));
            if any {
                last = now;
            }
            if now >= last + Nanos::new(SILENCE) || now >= began + Nanos::new(LONGEST_SILENCE) {
                return;
            }
        }
    }

    /// Stands still after all was handed over, until it is asked to stop, or puts its programs back and goes on.
    pub(super) fn stand_by(&mut self) {
        let until = self.parts.clock.now() + Nanos::new(PATIENCE);
        while self.parts.succession == Succession::Done {
            let unsent = self.workers.iter_mut().fold(false, |any, worker| any | worker.flush());
            if self.parts.ended.load(Ordering::Relaxed) && !unsent {
                return;
            }
            match self.parts.inbox.try_next() {
                Some(command) => requests::answer(self, command),
                None => sleep(PAUSE),
            }
            if self.parts.clock.now() >= until {
                self.return_to_links();
            }
        }
    }

    /// Nobody has taken it over after all.
    pub(super) fn return_to_links(&mut self) {
        self.parts.succession = Succession::None;
        log::warning(format_args!(
            "another process was to take this router over, and has not done so in {}s: this one goes on",
            PATIENCE / 1_000_000_000
        ));
        for place in 0..self.devices() {
            self.server(place).seat_mut(place).return_to_link();
        }
    }
}
