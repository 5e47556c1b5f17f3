//! The hosts of a tin, on one side of its flows: how many of its flows each keeps busy.
//!
//! | | |
//! |-|-|
//! | Source | Hoeiland-Joergensen, Taht and Morton, *Piece of CAKE*, 2018 |
//! | Work | O(1) |
//! | Memory | twelve bytes per place |
//! | Departs from the source | a host keeps its place as long as a queue of it is served, and not only while one is busy |

use super::sets::{Found, Sets};

/// What is known of a host.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    /// Queues that are served.
    queues: u32,
    /// Those of them that are busy.
    busy: u32,
}

/// The hosts.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    sets: Sets,
    hosts: Vec<Host>,
}

impl Hosts {
    /// Makes `places` places, a multiple of the ways of a set.
    pub(super) fn new(places: usize) -> Self {
        Self { sets: Sets::new(places), hosts: vec![Host::default(); places] }
    }

    /// A queue of the host of this tag is served from now on; its place.
    pub(super) fn join(&mut self, tag: u32) -> u32 {
        let at = match self.sets.find(tag, |at| self.hosts[at as usize].queues == 0) {
            Found::Known(at) => at,
            Found::Free(at) => {
                self.sets.take(at, tag);
                at
            }
            Found::Full => self.sets.home(tag),
        };
        self.hosts[at as usize].queues += 1;
        at
    }

    /// A queue of a host is empty, and was busy or not.
    pub(super) fn leave(&mut self, host: u32, was_busy: bool) {
        let host = &mut self.hosts[host as usize];
        host.queues -= 1;
        host.busy -= u32::from(was_busy);
    }

    /// A queue of a host is busy from now on.
    #[inline]
    pub(super) fn keep_busy(&mut self, host: u32) {
        self.hosts[host as usize].busy += 1;
    }

    /// How many busy queues a host has.
    #[inline]
    pub(super) fn busy(&self, host: u32) -> u32 {
        self.hosts[host as usize].busy
    }
}
