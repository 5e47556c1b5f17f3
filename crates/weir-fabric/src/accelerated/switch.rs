//! A switch: its instants one after the other, each first what is due, then the crossbar, then the links.

use super::context::{Context, Returned};
use super::flight::Flights;
use super::hop::Hop;
use super::input::{Input, Offer};
use super::ring::Return;
use super::schedulers::Scheduler;
use super::sender::Sender;
use super::{NEVER, Ticks};

/// When the inputs and outputs of a switch must be examined next.
#[derive(Clone, Debug)]
struct Wakes<const P: usize> {
    inputs: [Ticks; P],
    outputs: [Ticks; P],
}

/// The next instant of a switch, and the inputs and outputs that are due then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) at: Ticks,
    inputs: u64,
    outputs: u64,
}

impl<const P: usize> Wakes<P> {
    /// Never.
    fn never() -> Self {
        Self { inputs: [NEVER; P], outputs: [NEVER; P] }
    }

    /// The next instant, and who is due then.
    #[inline(always)]
    fn due(&self) -> Due {
        let least = |wakes: &[Ticks; P]| wakes.iter().fold(NEVER, |least, &wake| least.min(wake));
        let at = least(&self.inputs).min(least(&self.outputs));
        Due { at, inputs: until(&self.inputs, at), outputs: until(&self.outputs, at) }
    }
}

/// Who wakes by `at`, a bit each.
#[inline(always)]
fn until<const P: usize>(wakes: &[Ticks; P], at: Ticks) -> u64 {
    // Eight flags at a time, a byte each, are gathered into eight bits by a product.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let eight = |wakes: &[Ticks]| {
        let mut flags = [0_u8; 8];
        for (place, flag) in flags.iter_mut().enumerate() {
            *flag = u8::from(wakes.get(place).is_some_and(|&wake| wake <= at));
        }
        u64::from_le_bytes(flags).wrapping_mul(GATHER) >> 56
    };
    wakes.chunks(8).enumerate().fold(0, |all, (part, wakes)| all | eight(wakes) << (8 * part))
}

/// The crossbar of a switch, as its outputs see it.
#[derive(Clone, Debug)]
struct Crossbar<const P: usize> {
    /// When the transfer to each output that was started last has ended.
    free: [Ticks; P],
    /// The inputs that have a head for each output and wait for it: idle, or busy and soon examined again.
    waiting: [u64; P],
    /// The input that each output took last.
    taken: [u8; P],
}

impl<const P: usize> Crossbar<P> {
    /// An idle one of `ports` ports.
    fn new(ports: u32) -> Self {
        Self { free: [0; P], waiting: [0; P], taken: [ports as u8 - 1; P] }
    }
}

/// A switch.
#[derive(Clone, Debug)]
pub(super) struct Switch<const P: usize, const V: usize, T> {
    wakes: Wakes<P>,
    crossbar: Crossbar<P>,
    inputs: [Input<V>; P],
    outputs: [Sender<V, T>; P],
    hop: Hop,
}

impl<const P: usize, const V: usize, T> Switch<P, V, T> {
    /// An idle one of `ports` ports that are joined to something.
    pub(super) fn new(ports: u32, hop: Hop, inputs: [Input<V>; P], outputs: [Sender<V, T>; P]) -> Self {
        Self { wakes: Wakes::never(), crossbar: Crossbar::new(ports), inputs, outputs, hop }
    }

    /// Its next instant.
    #[inline(always)]
    pub(super) fn due(&self) -> Due {
        self.wakes.due()
    }

    /// A packet is on its way to an input; when that must be examined for it.
    #[inline(always)]
    pub(super) fn arrive(&mut self, port: usize, flights: &mut Flights, id: u32) -> Ticks {
        let flight = flights.get_mut(id);
        flight.output = self.hop.port(flight.code, flight.way) as u8;
        let (bid, input) = (flight.at, &mut self.inputs[port]);
        if !input.append(flights, id) {
            return NEVER;
        }
        let wake = bid.max(input.free);
        self.wakes.inputs[port] = wake.min(self.wakes.inputs[port]);
        wake
    }

    /// Credits are on their way back to an output; when that must be examined for them.
    #[inline(always)]
    pub(super) fn give_back(&mut self, port: usize, back: Return, begin: Ticks) -> Ticks {
        if !self.outputs[port].give_back(back, begin) {
            return NEVER;
        }
        self.wakes.outputs[port] = back.at.min(self.wakes.outputs[port]);
        back.at
    }

    /// One instant.
    #[inline(always)]
    pub(super) fn instant<S>(&mut self, context: &mut Context<'_, S>, due: Due)
    where
        S: Scheduler<V, State = T>,
    {
        let Due { at: now, inputs, mut outputs } = due;
        // Outputs for which an input has become able to send, and those that have room or are idle again.
        let changed = self.bids(inputs, now) | outputs;
        let mut wanted = changed;
        while wanted != 0 {
            let output = wanted.trailing_zeros() as usize;
            wanted &= wanted - 1;
            if self.crossbar.waiting[output] != 0 {
                self.fill(context, output, now);
            }
        }
        while outputs != 0 {
            let output = outputs.trailing_zeros() as usize;
            outputs &= outputs - 1;
            Self::link(context, &mut self.outputs[output], now);
        }
        let mut changed = changed;
        while changed != 0 {
            let output = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            self.wakes.outputs[output] = self.next_wake(output, now);
        }
    }

    /// Puts the inputs that are due before the outputs that their heads are for; these outputs.
    #[inline(always)]
    fn bids(&mut self, mut due: u64, now: Ticks) -> u64 {
        let mut wanted = 0;
        while due != 0 {
            let port = due.trailing_zeros() as usize;
            due &= due - 1;
            let input = &self.inputs[port];
            if input.free > now {
                self.wakes.inputs[port] = input.free;
                continue;
            }
            let waiting = &mut self.crossbar.waiting;
            self.wakes.inputs[port] = input.bids(now, |output| {
                waiting[output] |= 1 << port;
                wanted |= 1 << output;
            });
        }
        wanted
    }

    /// Lets an output take the next of the inputs that wait for it.
    #[inline(always)]
    fn fill<S>(&mut self, context: &mut Context<'_, S>, output: usize, now: Ticks)
    where
        S: Scheduler<V, State = T>,
    {
        let (crossbar, sender) = (&mut self.crossbar, &mut self.outputs[output]);
        if crossbar.free[output] > now {
            return;
        }
        sender.settle_room(now);
        let waiting = crossbar.waiting[output];
        let behind = u64::MAX << crossbar.taken[output] << 1;
        for mut turns in [waiting & behind, waiting & !behind] {
            while turns != 0 {
                let port = turns.trailing_zeros() as usize;
                turns &= turns - 1;
                let input = &self.inputs[port];
                // A busy input is examined again when its transfer has ended.
                let offer = match input.free > now {
                    true => Offer::Nothing,
                    false => input.offer(now, output, |channel, credits| sender.has_room(channel, credits)),
                };
                match offer {
                    Offer::Nothing => crossbar.waiting[output] &= !(1 << port),
                    Offer::Blocked => {}
                    Offer::Head(channel) => {
                        crossbar.waiting[output] &= !(1 << port);
                        return self.transfer(context, port, output, channel, now);
                    }
                }
            }
        }
    }

    /// A transfer starts.
    #[inline(always)]
    fn transfer<S>(
        &mut self,
        context: &mut Context<'_, S>,
        port: usize,
        output: usize,
        channel: usize,
        now: Ticks,
    ) where
        S: Scheduler<V, State = T>,
    {
        let (input, sender) = (&mut self.inputs[port], &mut self.outputs[output]);
        let id = input.take(&context.flights, channel);
        let flight = context.flights.get(id);
        let credits = flight.credits;
        let end = (now + context.plan.crossbar.of(flight.size)).max(flight.tail);
        input.free = end;
        let next = input.next_bid();
        self.wakes.inputs[port] = if next == NEVER { NEVER } else { next.max(end) };
        (self.crossbar.free[output], self.crossbar.taken[output]) = (end, port as u8);
        let back = Return { at: end + context.plan.credit_return, credits, channel: channel as u8 };
        context.returns.push(Returned { link: input.link, back });
        let visible = now + context.plan.behind;
        sender.reserve(channel, credits);
        if sender.is_empty() && sender.free <= now && visible < context.plan.end {
            let effort = &mut context.tally.effort;
            if sender.pass(&context.scheduler, effort, channel, credits, visible) {
                return context.start(sender, id, visible);
            }
        }
        sender.expect(&mut context.flights, id, visible);
    }

    /// A free link asks its scheduler for what is before it.
    #[inline(always)]
    fn link<S>(context: &mut Context<'_, S>, sender: &mut Sender<V, T>, now: Ticks)
    where
        S: Scheduler<V, State = T>,
    {
        if sender.free > now {
            return;
        }
        sender.settle_room(now);
        sender.settle_coming(&context.scheduler, &mut context.flights, now);
        if sender.waiting != 0 {
            context.ask(sender, now);
        }
    }

    /// When an output must be examined next, after it has been at `now`.
    #[inline(always)]
    fn next_wake(&mut self, output: usize, now: Ticks) -> Ticks {
        let (crossbar, sender) = (&self.crossbar, &mut self.outputs[output]);
        let for_crossbar = match () {
            () if crossbar.waiting[output] == 0 => NEVER,
            () if crossbar.free[output] > now => crossbar.free[output],
            // There is no room, and none comes before the link is free; if it is, not before it has sent again.
            () if sender.free > now => sender.free,
            () => NEVER,
        };
        sender.blocked = sender.waiting != 0 && sender.free <= now;
        let for_link = match () {
            () if sender.blocked => sender.coming_at.min(sender.next_credit()),
            () if sender.waiting != 0 => sender.free,
            () if sender.coming_at == NEVER => NEVER,
            () => sender.coming_at.max(sender.free),
        };
        for_crossbar.min(for_link)
    }
}
