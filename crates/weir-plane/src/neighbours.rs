//! Who is next on the wire: the device addresses of routers and hosts.
//!
//! An address that is not known is asked for when the first packet to it joins a queue, three times, a second apart;
//! who does not answer is silent for three seconds, in which packets to it are let go at once. Packets that leave the
//! queue before the answer is there wait with the neighbour, the latest [`MOST_WAITING`] of them: they were in the queue
//! in their turn, and what they took of the line is spent. What was learned is believed as [`state`] says, and forgotten
//! when the device of the interface changes.
//!
//! The table is as large as the configuration says, in sets of eight: a newcomer takes the place of a free, a silent, a pending
//! entry, or of the one that was used longest ago, in this order. So a scan of addresses displaces its own
//! questions first. What the configuration says is apart and stays.
//!
//! | | |
//! |-|-|
//! | Source | RFC 826; RFC 4861, sections 7.2 and 7.3; RFC 1122, section 2.3.2; Linux, net/core/neighbour.c |
//! | Work per packet | O(1): one hash, one set; O(log entries) where a timer changes, by [`Alarms`] |
//! | Memory | of each entry of each interface at most 96 bytes, and 16 of its timer |
//! | Units | nanoseconds since the daemon began |
//! | Departs from the source | silence is remembered for 3 s |

use std::net::IpAddr;

use weir_core::alarms::Alarms;
use weir_core::packet::hash::Keyed;
use weir_core::units::Instant;

use super::discovery::Speaker;
use super::line::NEVER;
use super::parked::List;
use crate::config::{MacAddress, Neighbour};
use state::State;
pub(super) use state::{Due, Found};

mod state;

/// Entries of a set.
const WAYS: usize = 8;
/// The most packets that wait with one neighbour.
pub(super) const MOST_WAITING: u32 = 16;

#[derive(Clone, Copy, Debug)]
struct Entry {
    address: IpAddr,
    state: State,
    /// Packets that wait for its answer.
    waiting: List,
    /// When it was last looked up.
    used: u64,
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

/// The neighbours of an interface.
pub(super) struct Neighbours {
    hash: Keyed,
    learned: Vec<Entry>,
    /// Those of the configuration, in order.
    fixed: Vec<Neighbour>,
    /// When each entry has its next question or probe.
    alarms: Alarms,
}

const FREE: Entry = Entry {
    address: IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
    state: State::Free,
    waiting: List::EMPTY,
    used: 0,
};

impl Neighbours {
    /// Those that the configuration knows, and room for `most` others; at least a set of them.
    pub(super) fn new(fixed: &[Neighbour], most: u32, hash: Keyed) -> Self {
        let most = (most as usize).next_multiple_of(WAYS).max(WAYS);
        let (learned, alarms) = (vec![FREE; most], Alarms::new(most));
        let mut neighbours = Self { hash, learned, fixed: Vec::new(), alarms };
        neighbours.set_fixed(fixed);
        neighbours
    }

    /// How many there is room for, besides those of the configuration.
    pub(super) fn most(&self) -> usize {
        self.learned.len()
    }

    /// Takes those that a new configuration knows.
    pub(super) fn set_fixed(&mut self, fixed: &[Neighbour]) {
        self.fixed = fixed.to_vec();
        self.fixed.sort_unstable();
    }

    /// When the next timer falls due, or [`NEVER`].
    pub(super) fn timer(&self) -> u64 {
        self.alarms.earliest().map_or(NEVER, Instant::get)
    }

    /// The state of an entry has changed, and its timer may have with it.
    #[inline]
    fn settle(&mut self, at: usize, before: u64) {
        let timer = self.learned[at].state.timer();
        if timer != before {
            self.alarms.set(at, (timer != NEVER).then(|| Instant::new(timer)));
        }
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
        (hash % (self.learned.len() / WAYS) as u64) as usize * WAYS
    }

    /// Where an address is in the table.
    #[inline]
    fn find(&self, address: IpAddr) -> Option<usize> {
        let set = self.set_of(address);
        let is_it =
            |at: &usize| self.learned[*at].address == address && self.learned[*at].state != State::Free;
        (set..set + WAYS).find(is_it)
    }

    /// Makes an entry for a newcomer; its place, and the packets of who had it.
    fn make_room(&mut self, now: u64, address: IpAddr) -> (usize, List) {
        let set = self.set_of(address);
        let rank = |at: &usize| (self.learned[*at].state.worth(), self.learned[*at].used);
        let at = (set..set + WAYS).min_by_key(rank).unwrap_or(set);
        let before = core::mem::replace(&mut self.learned[at], Entry { address, used: now, ..FREE });
        self.settle(at, before.state.timer());
        (at, before.waiting)
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
        let before = entry.state.timer();
        let (found, ask) = entry.state.look(now);
        self.settle(at, before);
        Look { found, slot: at as u32, ask, displaced: List::default() }
    }

    /// An address that is not in the table.
    #[cold]
    fn meet(&mut self, now: u64, address: IpAddr) -> Look {
        if let Some(mac) = self.fixed(address) {
            return Look { found: Found::Known(mac), slot: u32::MAX, ask: false, displaced: List::default() };
        }
        let (at, displaced) = self.make_room(now, address);
        Look { displaced, ..self.look_at(now, at) }
    }

    /// Those whose device was learned.
    pub(super) fn known(&self) -> impl Iterator<Item = (IpAddr, MacAddress)> + '_ {
        self.learned.iter().filter_map(|entry| match entry.state {
            State::Known { mac, .. } => Some((entry.address, mac)),
            _ => None,
        })
    }

    /// The list of those who wait for a neighbour that was asked for.
    pub(super) fn waiting(&mut self, slot: u32) -> Option<&mut List> {
        self.learned.get_mut(slot as usize).map(|entry| &mut entry.waiting)
    }

    /// An address was heard. Who was not asked for is learned if `learn`.
    pub(super) fn heard(&mut self, now: u64, speaker: Speaker, learn: bool) -> Freed {
        let is_device = |mac: MacAddress| mac.0[0] & 1 == 0 && mac != MacAddress::default();
        if !speaker.mac.is_none_or(is_device) || self.fixed(speaker.address).is_some() {
            return Freed::default();
        }
        let mut displaced = List::default();
        let at = match self.find(speaker.address) {
            Some(at) => at,
            None if learn && speaker.mac.is_some() => {
                let at;
                (at, displaced) = self.make_room(now, speaker.address);
                at
            }
            None => return Freed::default(),
        };
        let entry = &mut self.learned[at];
        let before = entry.state.timer();
        entry.state.hear(now, &speaker);
        let is_known = matches!(entry.state, State::Known { .. });
        let waiting = if is_known { core::mem::take(&mut entry.waiting) } else { List::default() };
        self.settle(at, before);
        Freed { waiting, displaced }
    }

    /// Forgets all that was learned, from an entry on; returns the next list of packets that waited, until there is none.
    pub(super) fn forget(&mut self, from: &mut usize) -> Option<List> {
        while let Some(entry) = self.learned.get_mut(*from) {
            let before = core::mem::replace(entry, FREE);
            self.settle(*from, before.state.timer());
            *from += 1;
            if before.waiting.count > 0 {
                return Some(before.waiting);
            }
        }
        None
    }

    /// Does what has fallen due, one by one; to be called until it returns nothing.
    pub(super) fn expire(&mut self, now: u64) -> Option<(IpAddr, Due, List)> {
        let at = self.alarms.due(Instant::new(now))?;
        let entry = &mut self.learned[at];
        let before = entry.state.timer();
        let due = entry.state.expire(now)?;
        let is_over = matches!(due, Due::GaveUp);
        let given_up = if is_over { core::mem::take(&mut entry.waiting) } else { List::default() };
        let address = entry.address;
        self.settle(at, before);
        Some((address, due, given_up))
    }
}

#[cfg(test)]
mod tests;
