//! A link and the buffer before it: an interface, or an output of a switch.

use super::flight::{Flights, NONE};
use super::ring::{Return, Ring};
use super::schedulers::{Channels, Scheduler, Sight};
use crate::time::{NEVER, Ticks};
use weir_core::discipline::Effort;

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// This end-point.
    Host(u32),
    /// This port of all switches, as the engine counts them.
    Port(u32),
}

/// A link and the buffer before it.
#[derive(Clone, Debug)]
pub(super) struct Sender<const V: usize, T> {
    /// When the link has sent what was started last.
    pub(super) free: Ticks,
    /// When the first of the packets on their way through the switch is before the scheduler.
    pub(super) coming_at: Ticks,
    /// These packets, the first and the last.
    first_coming: u32,
    last_coming: u32,
    /// The channels that have packets before the scheduler.
    pub(super) waiting: Channels,
    /// Of those the ones whose heads the credits permit.
    open: Channels,
    /// Whether the link was free at the last look and nothing that waits could start.
    pub(super) blocked: bool,
    /// Whether credits never run out.
    endless: bool,
    /// What is given back to the room when the link is free.
    release: Option<Release>,
    /// Of each channel: credits of the head, credits of the next input, room in the buffer.
    heads: [u16; V],
    credits: [u16; V],
    room: [u16; V],
    /// Of each channel the first packet before the scheduler, and the last.
    first: [u32; V],
    last: [u32; V],
    state: T,
    /// Credits on their way back.
    ring: Ring,
    /// Where it leads to.
    pub(super) target: Target,
}

/// Room of a channel that is given back.
#[derive(Clone, Copy, Debug)]
struct Release {
    channel: u8,
    credits: u16,
}

impl<const V: usize, T> Sender<V, T> {
    /// An idle link with empty buffers of this room, to an input of this many credits.
    pub(super) fn new(state: T, target: Target, room: u16, credits: u16) -> Self {
        let endless = matches!(target, Target::Host(_));
        Self {
            free: 0,
            coming_at: NEVER,
            first_coming: NONE,
            last_coming: NONE,
            waiting: 0,
            open: 0,
            blocked: false,
            endless,
            release: None,
            heads: [0; V],
            credits: [if endless { u16::MAX } else { credits }; V],
            room: [room; V],
            first: [NONE; V],
            last: [NONE; V],
            state,
            ring: Ring::new(),
            target,
        }
    }

    /// Gives the room back that was held by what the link has sent by `now`.
    #[inline(always)]
    pub(super) fn settle_room(&mut self, now: Ticks) {
        if self.free <= now
            && let Some(release) = self.release.take()
        {
            self.room[usize::from(release.channel)] += release.credits;
        }
    }

    /// Whether there is room for `credits` credits.
    #[inline(always)]
    pub(super) fn has_room(&self, channel: usize, credits: u16) -> bool {
        self.room[channel] >= credits
    }

    /// Takes room.
    #[inline(always)]
    pub(super) fn reserve(&mut self, channel: usize, credits: u16) {
        self.room[channel] -= credits;
    }

    /// Takes the credits in that are back by `now`.
    #[cold]
    #[inline(never)]
    fn settle_credits(&mut self, now: Ticks) {
        while let Some(back) = self.ring.take(now) {
            let channel = usize::from(back.channel);
            self.credits[channel] += back.credits;
            self.look_at(channel);
        }
    }

    /// Credits are on their way back; whether somebody waits for them. Before `begin` there is no decision any more.
    #[inline(always)]
    pub(super) fn give_back(&mut self, back: Return, begin: Ticks) -> bool {
        if self.ring.is_full() {
            self.settle_credits(begin);
        }
        self.ring.push(back);
        self.blocked
    }

    /// When the next credits are back.
    #[inline(always)]
    pub(super) fn next_credit(&self) -> Ticks {
        self.ring.next_at()
    }

    /// Sees whether the credits permit the head of a channel.
    #[inline(always)]
    fn look_at(&mut self, channel: usize) {
        let is_open = self.heads[channel] <= self.credits[channel];
        self.open = self.open & !(1 << channel) | Channels::from(is_open) << channel;
    }

    /// A packet is on its way to the scheduler, behind all others.
    #[inline(always)]
    pub(super) fn expect(&mut self, flights: &mut Flights, id: u32, at: Ticks) {
        let flight = flights.get_mut(id);
        (flight.at, flight.next) = (at, NONE);
        if self.coming_at == NEVER {
            self.coming_at = at;
            self.first_coming = id;
        } else {
            flights.get_mut(self.last_coming).next = id;
        }
        self.last_coming = id;
    }

    /// Whether a packet that comes now is alone from here to the link's end.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0 && self.coming_at == NEVER
    }

    /// A packet is before the scheduler.
    #[inline(always)]
    pub(super) fn enqueue<S>(&mut self, scheduler: &S, flights: &mut Flights, id: u32, now: Ticks)
    where
        S: Scheduler<V, State = T>,
    {
        if self.waiting == 0 && now > self.free {
            scheduler.idle(&mut self.state);
        }
        let flight = flights.get_mut(id);
        let (channel, credits) = (usize::from(flight.channel), flight.credits);
        let is_first = self.waiting >> channel & 1 == 0;
        let stamp = scheduler.enqueue(&mut self.state, channel, credits, is_first, now);
        if S::STAMPED {
            flight.stamp = stamp;
        }
        flight.next = NONE;
        if is_first {
            self.waiting |= 1 << channel;
            self.first[channel] = id;
            self.heads[channel] = credits;
            self.look_at(channel);
        } else {
            flights.get_mut(self.last[channel]).next = id;
        }
        self.last[channel] = id;
    }

    /// What has come by `now` is before the scheduler.
    #[inline(always)]
    pub(super) fn settle_coming<S>(&mut self, scheduler: &S, flights: &mut Flights, now: Ticks)
    where
        S: Scheduler<V, State = T>,
    {
        while self.coming_at <= now {
            let (id, at) = (self.first_coming, self.coming_at);
            let next = flights.get(id).next;
            self.first_coming = next;
            self.coming_at = if next == NONE { NEVER } else { flights.get(next).at };
            self.enqueue(scheduler, flights, id, at);
        }
    }

    /// Asks for a packet to start now.
    #[inline(always)]
    pub(super) fn decide<S>(
        &mut self,
        scheduler: &S,
        flights: &Flights,
        effort: &mut Effort,
        now: Ticks,
    ) -> Option<u32>
    where
        S: Scheduler<V, State = T>,
    {
        if self.waiting & !self.open != 0 {
            self.settle_credits(now);
        }
        let sight = Sight { waiting: self.waiting, active: self.waiting & self.open, heads: &self.heads };
        let channel = scheduler.pick(&mut self.state, sight, effort)?;
        let id = self.first[channel];
        let next = flights.get(id).next;
        self.first[channel] = next;
        self.spend(channel, self.heads[channel]);
        if next == NONE {
            self.waiting &= !(1 << channel);
            scheduler.taken(&mut self.state, channel, None);
        } else {
            let next = flights.get(next);
            self.heads[channel] = next.credits;
            self.look_at(channel);
            scheduler.taken(&mut self.state, channel, Some((next.credits, next.stamp)));
        }
        Some(id)
    }

    #[inline(always)]
    fn spend(&mut self, channel: usize, credits: u16) {
        if !self.endless {
            self.credits[channel] -= credits;
        }
    }

    /// Starts a packet at `now`, when nothing else is before the scheduler or comes before; `false`, and nothing is
    /// done, if its channel lacks credits.
    #[inline(always)]
    pub(super) fn pass<S>(
        &mut self,
        scheduler: &S,
        effort: &mut Effort,
        channel: usize,
        credits: u16,
        now: Ticks,
    ) -> bool
    where
        S: Scheduler<V, State = T>,
    {
        if self.credits[channel] < credits {
            self.settle_credits(now);
            if self.credits[channel] < credits {
                return false;
            }
        }
        if now > self.free {
            scheduler.idle(&mut self.state);
        }
        scheduler.enqueue(&mut self.state, channel, credits, true, now);
        self.heads[channel] = credits;
        let only = 1 << channel;
        let sight = Sight { waiting: only, active: only, heads: &self.heads };
        let picked = scheduler.pick(&mut self.state, sight, effort);
        debug_assert_eq!(picked, Some(channel), "a scheduler that lets the link idle");
        scheduler.taken(&mut self.state, channel, None);
        self.spend(channel, credits);
        true
    }

    /// The link is occupied until `free` by a packet whose room is given back then.
    #[inline(always)]
    pub(super) fn occupy(&mut self, free: Ticks, channel: u8, credits: u16) {
        debug_assert!(self.release.is_none(), "room that was not given back");
        self.free = free;
        self.release = Some(Release { channel, credits });
    }
}
