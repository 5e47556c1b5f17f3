//! An interface: what its sources generate enters its buffer, and goes out.

use core::ops::Range;

use super::context::Context;
use super::flight::Flight;
use super::hop::Codes;
use super::ring::Return;
use super::schedulers::Scheduler;
use super::sender::Sender;
use super::{NEVER, Ticks};
use crate::packet::Packet;
use crate::record::{Generation, Injection};
use crate::source::Source;

/// An interface.
#[derive(Clone, Debug)]
pub(super) struct Interface<const V: usize, T> {
    sender: Sender<V, T>,
    /// Where its sources begin among those of all interfaces, and how many there are.
    first: u32,
    channels: u32,
    /// When each of them generates its next packet, or has generated it.
    next: [Ticks; V],
}

impl<const V: usize, T> Interface<V, T> {
    /// With these sources.
    pub(super) fn new(sender: Sender<V, T>, sources: &[Source], host: u32) -> Self {
        let next = core::array::from_fn(|channel: usize| sources.get(channel).map_or(NEVER, Source::next_at));
        let channels = sources.len() as u32;
        Self { sender, first: host * channels, channels, next }
    }

    /// The places of its sources.
    #[inline(always)]
    pub(super) fn sources(&self) -> Range<usize> {
        self.first as usize..(self.first + self.channels) as usize
    }

    /// When the next packet is generated of those that are not waiting already.
    #[inline(always)]
    pub(super) fn next_generation(&self) -> Ticks {
        self.next.iter().fold(NEVER, |least, &next| least.min(next))
    }

    /// The same, after `now`.
    fn next_after(&self, now: Ticks) -> Ticks {
        self.next.iter().fold(NEVER, |least, &next| if next > now { least.min(next) } else { least })
    }

    /// Credits are on their way back; when the interface must be examined for them.
    #[inline(always)]
    pub(super) fn give_back(&mut self, back: Return, begin: Ticks) -> Ticks {
        if self.sender.give_back(back, begin) { back.at } else { NEVER }
    }

    /// An instant at which the link is free.
    #[inline(always)]
    pub(super) fn instant<S>(
        &mut self,
        context: &mut Context<'_, S>,
        codes: &Codes,
        sources: &mut [Source],
        now: Ticks,
    ) where
        S: Scheduler<V, State = T>,
    {
        if self.sender.free == now {
            // Space that is released now was not there before.
            self.take_in(context, codes, sources, now);
        }
        self.sender.settle_room(now);
        for (channel, source) in sources.iter_mut().enumerate() {
            while self.next[channel] <= now && self.enter(context, codes, source, channel, now) {}
        }
        if self.sender.waiting != 0 {
            context.ask(&mut self.sender, now);
        }
    }

    /// When it must be examined next, after it has been at `now`.
    #[inline(always)]
    pub(super) fn next_wake(&mut self, now: Ticks) -> Ticks {
        let free = self.sender.free;
        self.sender.blocked = self.sender.waiting != 0 && free <= now;
        match () {
            () if self.sender.blocked => self.sender.next_credit().min(self.next_after(now)),
            () if self.sender.waiting != 0 => free,
            () => self.next_generation().max(free),
        }
    }

    /// What has been generated before `now` enters, as far as there is room, when it was generated.
    #[inline(always)]
    fn take_in<S>(&mut self, context: &mut Context<'_, S>, codes: &Codes, sources: &mut [Source], now: Ticks)
    where
        S: Scheduler<V, State = T>,
    {
        if S::ORDERED {
            return self.take_in_ordered(context, codes, sources, now);
        }
        for (channel, source) in sources.iter_mut().enumerate() {
            while self.next[channel] < now {
                let at = self.next[channel];
                if !self.enter(context, codes, source, channel, at) {
                    break;
                }
            }
        }
    }

    /// The same, in the order of time, and of channels.
    #[inline(always)]
    fn take_in_ordered<S>(
        &mut self,
        context: &mut Context<'_, S>,
        codes: &Codes,
        sources: &mut [Source],
        now: Ticks,
    ) where
        S: Scheduler<V, State = T>,
    {
        let mut next = self.next;
        loop {
            let (mut at, mut channel) = (now, V);
            for (other, &next) in next.iter().enumerate() {
                (at, channel) = if next < at { (next, other) } else { (at, channel) };
            }
            if channel == V {
                return;
            }
            // What does not fit keeps those behind it.
            let entered = self.enter(context, codes, &mut sources[channel], channel, at);
            next[channel] = if entered { self.next[channel] } else { NEVER };
        }
    }

    /// The next packet of a source enters, if there is room.
    #[inline(always)]
    fn enter<S>(
        &mut self,
        context: &mut Context<'_, S>,
        codes: &Codes,
        source: &mut Source,
        channel: usize,
        now: Ticks,
    ) -> bool
    where
        S: Scheduler<V, State = T>,
    {
        let head = source.head();
        let credits = context.plan.unit.of_packet(head.size) as u16;
        if !self.sender.has_room(channel, credits) {
            return false;
        }
        self.sender.reserve(channel, credits);
        let (code, way) = (codes.hosts[head.destination as usize], codes.ways[head.way as usize]);
        let id = context.flights.insert(Flight::new(head, now, credits, code, way));
        context.tally.generated += 1;
        context.tally.injected += 1;
        context.sink.generated(&generation(head));
        let Packet { generated, source: from, channel: of, size, .. } = *head;
        context.sink.injected(&Injection { at: now, generated, source: from, channel: of, size });
        source.advance();
        self.next[channel] = source.next_at();
        self.sender.enqueue(&context.scheduler, &mut context.flights, id, now);
        true
    }

    /// Reports the packets that have entered since it was examined last, and those that were generated and still
    /// wait.
    pub(super) fn tell_of_the_rest<S>(
        &mut self,
        context: &mut Context<'_, S>,
        codes: &Codes,
        sources: &mut [Source],
    ) where
        S: Scheduler<V, State = T>,
    {
        self.take_in(context, codes, sources, context.plan.end);
        for source in sources {
            while source.next_at() != NEVER {
                context.sink.generated(&generation(source.head()));
                context.tally.generated += 1;
                source.advance();
            }
        }
    }
}

fn generation(packet: &Packet) -> Generation {
    let Packet { generated: at, source, channel, size, .. } = *packet;
    Generation { at, source, channel, size }
}
