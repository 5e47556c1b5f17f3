//! An input of a switch: a queue for each channel, and when their heads may bid.

use super::flight::{Flights, NONE};
use super::schedulers::Channels;
use crate::time::{NEVER, Ticks};

/// An input of a switch.
#[derive(Clone, Debug)]
pub(super) struct Input<const V: usize> {
    /// When the transfer that was started last has ended.
    pub(super) free: Ticks,
    /// The link that leads here.
    pub(super) link: u32,
    /// The channels that have packets.
    heads: Channels,
    /// The channel that was sent last.
    sent: u8,
    /// Of the head of each channel: the port that it leaves by, what it takes, and when it may bid.
    outputs: [u8; V],
    credits: [u16; V],
    at: [Ticks; V],
    /// Of each channel the first packet, and the last.
    first: [u32; V],
    last: [u32; V],
}

/// What an idle input offers to an output.
pub(super) enum Offer {
    /// Nothing.
    Nothing,
    /// Heads for which there is no room.
    Blocked,
    /// The head of this channel.
    Head(usize),
}

impl<const V: usize> Input<V> {
    /// An empty input of a switch of `channels` channels, at the end of a link.
    pub(super) fn new(channels: usize, link: u32) -> Self {
        Self {
            free: 0,
            link,
            heads: 0,
            sent: channels as u8 - 1,
            outputs: [0; V],
            credits: [0; V],
            at: [NEVER; V],
            first: [NONE; V],
            last: [NONE; V],
        }
    }

    /// A packet is on its way here, with what is known of it; whether it is the head of its channel.
    #[inline(always)]
    pub(super) fn append(&mut self, flights: &mut Flights, id: u32) -> bool {
        let flight = flights.get(id);
        let channel = usize::from(flight.channel);
        let is_first = self.heads >> channel & 1 == 0;
        if is_first {
            self.heads |= 1 << channel;
            (self.outputs[channel], self.credits[channel]) = (flight.output, flight.credits);
            self.at[channel] = flight.at;
            self.first[channel] = id;
        } else {
            flights.get_mut(self.last[channel]).next = id;
        }
        self.last[channel] = id;
        is_first
    }

    /// Calls `bids` with the output of every head that may bid by `now`; when the next of the others may.
    #[inline(always)]
    pub(super) fn bids(&self, now: Ticks, mut bids: impl FnMut(usize)) -> Ticks {
        let (mut heads, mut next) = (self.heads, NEVER);
        while heads != 0 {
            let channel = heads.trailing_zeros() as usize;
            heads &= heads - 1;
            if self.at[channel] <= now {
                bids(usize::from(self.outputs[channel]));
            } else {
                next = next.min(self.at[channel]);
            }
        }
        next
    }

    /// When the first of all heads may bid.
    #[inline(always)]
    pub(super) fn next_bid(&self) -> Ticks {
        let (mut heads, mut next) = (self.heads, NEVER);
        while heads != 0 {
            next = next.min(self.at[heads.trailing_zeros() as usize]);
            heads &= heads - 1;
        }
        next
    }

    /// What it has for an output, of the channels in turn after the one that was sent last.
    #[inline(always)]
    pub(super) fn offer(&self, now: Ticks, output: usize, has_room: impl Fn(usize, u16) -> bool) -> Offer {
        let behind = Channels::MAX << self.sent << 1;
        let mut offer = Offer::Nothing;
        for mut turns in [self.heads & behind, self.heads & !behind] {
            while turns != 0 {
                let channel = turns.trailing_zeros() as usize;
                turns &= turns - 1;
                if usize::from(self.outputs[channel]) != output || self.at[channel] > now {
                    continue;
                }
                if has_room(channel, self.credits[channel]) {
                    return Offer::Head(channel);
                }
                offer = Offer::Blocked;
            }
        }
        offer
    }

    /// Takes the head of a channel.
    #[inline(always)]
    pub(super) fn take(&mut self, flights: &Flights, channel: usize) -> u32 {
        let id = self.first[channel];
        let next = flights.get(id).next;
        self.sent = channel as u8;
        self.first[channel] = next;
        if next == NONE {
            self.heads &= !(1 << channel);
        } else {
            let next = flights.get(next);
            (self.outputs[channel], self.credits[channel]) = (next.output, next.credits);
            self.at[channel] = next.at;
        }
        id
    }
}
