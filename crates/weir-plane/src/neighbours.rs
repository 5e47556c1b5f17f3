//! Who is next on the wire: the device addresses of routers and hosts.
//!
//! An address that is not known is asked for when the first packet to it joins a queue, three times, a second apart;
//! who does not answer is silent for three seconds, in which packets to it are let go at once. Packets that leave the
//! queue before the answer is there wait with the neighbour, at most [`MOST_WAITING`] of them: they were in the queue
//! in their turn, and what they took of the line is spent. What was learned is asked for again after a minute, and
//! serves on meanwhile.
//!
//! The table is as large as it was made, in sets of eight: a newcomer takes the place of a free, a silent, a pending
//! entry, or of the one that was used longest ago, in this order. So a scan of addresses displaces its own
//! questions first. What the configuration says is apart and stays.
//!
//! | | |
//! |-|-|
//! | Source | RFC 826; RFC 4861, sections 7.2 and 10 (three solicitations, a second apart); RFC 1122, section 2.3.2 |
//! | Work per packet | O(1): one hash, one set |
//! | Memory | 1024 entries of at most 96 bytes for each interface |
//! | Units | nanoseconds since the daemon began |
//! | Departs from the source | silence is remembered for 3 s; answers are believed for 60 s, with no probe by unicast |

use std::net::IpAddr;

use weir_core::packet::hash::Keyed;

use super::line::NEVER;
use super::parked::List;
use crate::config::{MacAddress, Neighbour};

/// Sets of the table.
const SETS: usize = 128;
/// Entries of a set.
const WAYS: usize = 8;
/// How often a neighbour is asked for.
const TRIES: u8 = 3;
/// Between two questions.
const RETRY: u64 = 1_000_000_000;
/// How long who did not answer is taken for silent.
const SILENCE: u64 = 3_000_000_000;
/// How long an answer is believed.
const BELIEVED: u64 = 60_000_000_000;
/// Timers fall due at multiples of this, so that the table is looked through at most ten times a second.
const TICK: u64 = 100_000_000;
/// The most packets that wait with one neighbour.
pub(super) const MOST_WAITING: u32 = 64;

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing.
    Free,
    /// It was asked for so often, and will be asked for again.
    Asked { tries: u8, again: u64 },
    /// It answered; from `until` on it is asked for again. After `tries` the next is at `again`.
    Known { mac: MacAddress, until: u64, tries: u8, again: u64 },
    /// It did not answer.
    Silent { until: u64 },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    address: IpAddr,
    state: State,
    /// Packets that wait for its answer.
    waiting: List,
    /// When it was last looked up.
    used: u64,
}

/// What a look for a neighbour found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Its address.
    Known(MacAddress),
    /// It has been asked for.
    Asked,
    /// It does not answer.
    Silent,
}

/// The answer to a look, and what is to be done besides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// What was found.
    pub(super) found: Found,
    /// Where: the next look there needs no hash.
    pub(super) slot: u32,
    /// Whether it is to be asked for now.
    pub(super) ask: bool,
    /// Packets of who had to make room.
    pub(super) displaced: List,
}

/// Packets that wait no longer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Freed {
    /// They waited for the neighbour that was heard.
    pub(super) waiting: List,
    /// They waited for one that had to make room.
    pub(super) displaced: List,
}

/// What falls due.
pub(super) enum Due {
    /// An address is to be asked for again.
    Ask(IpAddr),
    /// An address did not answer: packets that waited for it.
    GaveUp(List),
}

/// The neighbours of an interface.
pub(super) struct Neighbours {
    hash: Keyed,
    learned: Vec<Entry>,
    /// Those of the configuration, in order.
    fixed: Vec<Neighbour>,
    /// When the next of them falls due, or [`NEVER`].
    timer: u64,
}

/// The first tick at or after an instant.
fn tick(at: u64) -> u64 {
    at.div_ceil(TICK).saturating_mul(TICK)
}

impl Neighbours {
    /// Those that the configuration knows.
    pub(super) fn new(fixed: &[Neighbour], hash: Keyed) -> Self {
        let free =
            Entry { address: IpAddr::V4(0.into()), state: State::Free, waiting: List::default(), used: 0 };
        let mut neighbours = Self { hash, learned: vec![free; SETS * WAYS], fixed: Vec::new(), timer: NEVER };
        neighbours.set_fixed(fixed);
        neighbours
    }

    /// Takes those that a new configuration knows.
    pub(super) fn set_fixed(&mut self, fixed: &[Neighbour]) {
        self.fixed = fixed.to_vec();
        self.fixed.sort_unstable();
    }

    /// When the next timer falls due, or [`NEVER`].
    pub(super) fn timer(&self) -> u64 {
        self.timer
    }

    fn fixed(&self, address: IpAddr) -> Option<MacAddress> {
        let at = self.fixed.binary_search_by_key(&address, |fixed| fixed.address).ok()?;
        Some(self.fixed[at].mac)
    }

    #[inline]
    fn set_of(&self, address: IpAddr) -> usize {
        let hash = match address {
            IpAddr::V4(address) => self.hash.hash(&address.octets()),
            IpAddr::V6(address) => self.hash.hash(&address.octets()),
        };
        (hash as usize % SETS) * WAYS
    }

    /// Where an address is in the table.
    #[inline]
    fn find(&self, address: IpAddr) -> Option<usize> {
        let set = self.set_of(address);
        let is_it =
            |at: &usize| self.learned[*at].address == address && self.learned[*at].state != State::Free;
        (set..set + WAYS).find(is_it)
    }

    /// A place for a newcomer, with the packets of who had it.
    fn make_room(&mut self, address: IpAddr) -> (usize, List) {
        let set = self.set_of(address);
        let rank = |at: &usize| {
            let entry = &self.learned[*at];
            let worth = match entry.state {
                State::Free => 0,
                State::Silent { .. } => 1,
                State::Asked { .. } => 2,
                State::Known { .. } => 3,
            };
            (worth, entry.used)
        };
        let at = (set..set + WAYS).min_by_key(rank).unwrap_or(set);
        (at, core::mem::take(&mut self.learned[at].waiting))
    }

    /// Looks for a neighbour; who is not known is to be asked for. `slot` is where it was found before.
    #[inline]
    pub(super) fn look(&mut self, now: u64, address: IpAddr, slot: Option<u32>) -> Look {
        let at = slot.map(|slot| slot as usize).filter(|&at| {
            self.learned.get(at).is_some_and(|it| it.address == address && it.state != State::Free)
        });
        match at.or_else(|| self.find(address)) {
            Some(at) => self.look_at(now, at),
            None => self.meet(now, address),
        }
    }

    #[inline]
    fn look_at(&mut self, now: u64, at: usize) -> Look {
        let entry = &mut self.learned[at];
        entry.used = now;
        let (mut ask, mut found) = (false, Found::Asked);
        match &mut entry.state {
            State::Known { mac, until, tries, again } => {
                found = Found::Known(*mac);
                if *until <= now && *tries == 0 {
                    (ask, *tries, *again) = (true, 1, tick(now.saturating_add(RETRY)));
                    self.timer = self.timer.min(*again);
                }
            }
            State::Silent { until } if *until > now => found = Found::Silent,
            State::Silent { .. } | State::Free => {
                let again = tick(now.saturating_add(RETRY));
                entry.state = State::Asked { tries: 1, again };
                self.timer = self.timer.min(again);
                ask = true;
            }
            State::Asked { .. } => {}
        }
        Look { found, slot: at as u32, ask, displaced: List::default() }
    }

    /// An address that is not in the table.
    #[cold]
    fn meet(&mut self, now: u64, address: IpAddr) -> Look {
        if let Some(mac) = self.fixed(address) {
            return Look { found: Found::Known(mac), slot: u32::MAX, ask: false, displaced: List::default() };
        }
        let (at, displaced) = self.make_room(address);
        self.learned[at] = Entry { address, state: State::Free, waiting: List::default(), used: now };
        Look { displaced, ..self.look_at(now, at) }
    }

    /// The list of those who wait for a neighbour that was asked for, if there is room in it.
    pub(super) fn waiting(&mut self, slot: u32) -> Option<&mut List> {
        let entry = self.learned.get_mut(slot as usize)?;
        (entry.waiting.count < MOST_WAITING).then_some(&mut entry.waiting)
    }

    /// An address was heard with its device. Who was not asked for is learned if `learn`.
    pub(super) fn heard(&mut self, now: u64, speaker: Neighbour, learn: bool) -> Freed {
        let Neighbour { address, mac } = speaker;
        let is_device = mac.0[0] & 1 == 0 && mac != MacAddress::default();
        if !is_device || self.fixed(address).is_some() {
            return Freed::default();
        }
        let mut displaced = List::default();
        let at = match self.find(address) {
            Some(at) => at,
            None if learn => {
                let at;
                (at, displaced) = self.make_room(address);
                self.learned[at].used = now;
                at
            }
            None => return Freed::default(),
        };
        let entry = &mut self.learned[at];
        let until = now.saturating_add(BELIEVED);
        (entry.address, entry.state) = (address, State::Known { mac, until, tries: 0, again: NEVER });
        Freed { waiting: core::mem::take(&mut entry.waiting), displaced }
    }

    /// Does what has fallen due, one by one; to be called until it returns nothing.
    pub(super) fn expire(&mut self, now: u64, from: &mut usize) -> Option<Due> {
        if self.timer > now {
            return None;
        }
        while let Some(entry) = self.learned.get_mut(*from) {
            *from += 1;
            if let Some(due) = entry.expire(now) {
                return Some(due);
            }
        }
        self.timer = self.learned.iter().map(Entry::timer).min().unwrap_or(NEVER);
        None
    }
}

impl Entry {
    /// When its next question is due.
    fn timer(&self) -> u64 {
        match self.state {
            State::Asked { again, .. } => again,
            State::Known { tries: 1.., again, .. } => again,
            _ => NEVER,
        }
    }

    fn expire(&mut self, now: u64) -> Option<Due> {
        if self.timer() > now {
            return None;
        }
        let next = tick(now.saturating_add(RETRY));
        match &mut self.state {
            State::Asked { tries, again } | State::Known { tries, again, .. } if *tries < TRIES => {
                (*tries, *again) = (*tries + 1, next);
                Some(Due::Ask(self.address))
            }
            _ => {
                self.state = State::Silent { until: now.saturating_add(SILENCE) };
                Some(Due::GaveUp(core::mem::take(&mut self.waiting)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
