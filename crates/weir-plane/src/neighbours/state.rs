//! What is known of one neighbour, and for how long.
//!
//! ```text
//!            looked for            answer              30 s           looked for        5 s
//! nothing ------------> asked for -------> reachable -------> stale -----------> delay -----> probed
//!             3 questions, 1 s apart: silent    <--- answer ---   <--- answer ---   <--- answer --- 3 probes, 1 s apart:
//!                                                                                     asked for anew
//! ```
//!
//! A device address serves as long as it is not asked for anew. Only an answer to the router's own question makes a
//! neighbour reachable. What it says unasked (a gratuitous ARP, a question of its own, an unsolicited advertisement)
//! changes its address at once, and the next packet to it has that verified. Questions go to all, probes to the neighbour
//! alone.
//!
//! | | |
//! |-|-|
//! | Source | RFC 4861, sections 7.2.5, 7.3.2 and 10; Linux, net/core/neighbour.c (the states for ARP too; `base_reachable_time_ms`, `delay_first_probe_time`, `ucast_solicit`, `mcast_solicit`, `retrans_time_ms`) |
//! | Work | O(1) |
//! | Units | nanoseconds since the daemon began |
//! | Departs from the source | the reachable time is 30 s, not drawn from 15 to 45 s; a neighbour that ceases to answer probes is asked for at once, not at the next packet; a second answer counts also within a second of the first (`locktime`) |

use super::{MacAddress, NEVER, Speaker};

/// How often a neighbour is asked for, and how often it is probed.
const TRIES: u8 = 3;
/// Between two questions or probes.
const RETRY: u64 = 1_000_000_000;
/// How long who did not answer is taken for silent.
const SILENCE: u64 = 3_000_000_000;
/// How long an answer makes a neighbour reachable.
const REACHABLE: u64 = 30_000_000_000;
/// How long a stale one is used before it is probed.
const DELAY: u64 = 5_000_000_000;
/// Timers fall due at multiples of this, so that the router wakes for them at most ten times a second.
const TICK: u64 = 100_000_000;

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing.
    Free,
    /// It was asked for `tries` times, and will be asked for again.
    Asked { tries: u8, again: u64 },
    /// Its device.
    Known { mac: MacAddress, trust: Trust },
    /// It did not answer.
    Silent { until: u64 },
}

/// How far a device address is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// It answered.
    Reachable { until: u64 },
    /// Its answer is old, or it was not asked.
    Stale,
    /// It was used since: it is probed at `until`.
    Delay { until: u64 },
    /// It was probed `tries` times, and will be again.
    Probe { tries: u8, again: u64 },
}

/// What a look for a neighbour found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Found {
    /// Its address.
    Known(MacAddress),
    /// It has been asked for.
    Asked,
    /// It does not answer.
    Silent,
}

/// What falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Due {
    /// An address is to be asked for, at all.
    Ask,
    /// An address is to be asked for at the device that is known.
    Probe(MacAddress),
    /// An address did not answer.
    GaveUp,
}

/// The first tick that is this much later, or the one after it.
fn after(now: u64, span: u64) -> u64 {
    now.saturating_add(span).div_ceil(TICK).saturating_mul(TICK)
}

impl State {
    /// What a newcomer may not displace as long as there are others of less.
    pub(super) fn worth(&self) -> u8 {
        match self {
            Self::Free => 0,
            Self::Silent { .. } => 1,
            Self::Asked { .. } => 2,
            Self::Known { .. } => 3,
        }
    }

    /// A packet is for it: what is found, and whether it is to be asked for.
    #[inline]
    pub(super) fn look(&mut self, now: u64) -> (Found, bool) {
        match self {
            Self::Known { mac, trust } => {
                trust.used(now);
                (Found::Known(*mac), false)
            }
            Self::Silent { until } if *until > now => (Found::Silent, false),
            Self::Silent { .. } | Self::Free => {
                *self = Self::Asked { tries: 1, again: after(now, RETRY) };
                (Found::Asked, true)
            }
            Self::Asked { .. } => (Found::Asked, false),
        }
    }

    /// It was heard.
    pub(super) fn hear(&mut self, now: u64, speaker: &Speaker) {
        let said = if speaker.answers {
            Trust::Reachable { until: now.saturating_add(REACHABLE) }
        } else {
            Trust::Stale
        };
        match (&mut *self, speaker.mac) {
            (Self::Known { mac, trust }, heard) => {
                let is_another = heard.is_some_and(|heard| heard != *mac);
                if is_another && !speaker.overrides {
                    // Two of one address: who is known serves on until it is probed.
                    if matches!(trust, Trust::Reachable { .. }) {
                        *trust = Trust::Stale;
                    }
                    return;
                }
                *mac = heard.unwrap_or(*mac);
                if is_another || speaker.answers {
                    *trust = said;
                }
            }
            (_, Some(mac)) => *self = Self::Known { mac, trust: said },
            (_, None) => {}
        }
    }

    /// When its next question or probe is due.
    pub(super) fn timer(&self) -> u64 {
        match *self {
            Self::Asked { again, .. } | Self::Known { trust: Trust::Probe { again, .. }, .. } => again,
            Self::Known { trust: Trust::Delay { until }, .. } => until,
            _ => NEVER,
        }
    }

    /// Does what has fallen due, if anything.
    pub(super) fn expire(&mut self, now: u64) -> Option<Due> {
        if self.timer() > now {
            return None;
        }
        let again = after(now, RETRY);
        let tries_of = |tries: u8| (tries < TRIES).then_some(tries + 1);
        match self {
            Self::Known { mac, trust } => {
                let tries = if let Trust::Probe { tries, .. } = trust { tries_of(*tries) } else { Some(1) };
                if let Some(tries) = tries {
                    *trust = Trust::Probe { tries, again };
                    return Some(Due::Probe(*mac));
                }
                *self = Self::Asked { tries: 1, again };
                Some(Due::Ask)
            }
            Self::Asked { tries, .. } if *tries < TRIES => {
                *self = Self::Asked { tries: *tries + 1, again };
                Some(Due::Ask)
            }
            _ => {
                *self = Self::Silent { until: now.saturating_add(SILENCE) };
                Some(Due::GaveUp)
            }
        }
    }
}

impl Trust {
    /// A packet takes the address.
    #[inline]
    fn used(&mut self, now: u64) {
        let is_old = match *self {
            Self::Reachable { until } => until <= now,
            Self::Stale => true,
            Self::Delay { .. } | Self::Probe { .. } => false,
        };
        if is_old {
            *self = Self::Delay { until: after(now, DELAY) };
        }
    }
}
