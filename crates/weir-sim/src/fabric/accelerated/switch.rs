//! A switch: its instants one after the other, each first what is due, then the crossbar, then the links.

use super::input::Offer;
use super::rings::Return;
use super::schedulers::Scheduler;
use super::{Engine, NEVER, Ticks};

/// When the inputs and outputs of a switch must be looked at next.
#[derive(Clone, Debug)]
pub(super) struct Wakes<const P: usize> {
    pub(super) inputs: [Ticks; P],
    pub(super) outputs: [Ticks; P],
}

/// The next instant of a switch, and the inputs and outputs that are due then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    switch: usize,
    at: Ticks,
    inputs: u64,
    outputs: u64,
}

impl<const P: usize> Wakes<P> {
    /// Never.
    pub(super) fn never() -> Self {
        Self { inputs: [NEVER; P], outputs: [NEVER; P] }
    }

    /// The next instant, and who is due then.
    #[inline(always)]
    fn due(&self, switch: usize) -> Due {
        let least = |wakes: &[Ticks; P]| wakes.iter().fold(NEVER, |least, &wake| least.min(wake));
        let at = least(&self.inputs).min(least(&self.outputs));
        Due { switch, at, inputs: until(&self.inputs, at), outputs: until(&self.outputs, at) }
    }
}

/// Who wakes by `at`, a bit each.
#[inline(always)]
fn until<const P: usize>(wakes: &[Ticks; P], at: Ticks) -> u64 {
    // Eight flags at a time, a byte each, are gathered into eight bits by a product.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let eight = |wakes: &[Ticks]| {
        let mut flags = [0_u8; 8];
        for (flag, &wake) in flags.iter_mut().zip(wakes) {
            *flag = u8::from(wake <= at);
        }
        u64::from_le_bytes(flags).wrapping_mul(GATHER) >> 56
    };
    wakes.chunks(8).enumerate().fold(0, |all, (part, wakes)| all | eight(wakes) << (8 * part))
}

/// The crossbar of a switch, as its outputs see it.
#[derive(Clone, Debug)]
pub(super) struct Crossbar<const P: usize> {
    /// When the transfer to each output that was started last has ended.
    free: [Ticks; P],
    /// The inputs that have a head for each output and wait for it: idle, or busy and soon looked at again.
    waiting: [u64; P],
    /// The input that each output took last.
    taken: [u8; P],
}

impl<const P: usize> Crossbar<P> {
    /// Idle, of so many ports.
    pub(super) fn new(ports: u32) -> Self {
        Self { free: [0; P], waiting: [0; P], taken: [ports as u8 - 1; P] }
    }
}

impl<const P: usize, const V: usize, S: Scheduler<V>> Engine<'_, P, V, S> {
    /// All instants of all switches before `until`.
    ///
    /// The wakes of a switch are looked through some time after one of them was written, when others have had their
    /// instants: a wide load right after a narrow store would wait for it.
    #[inline(always)]
    pub(super) fn switches(&mut self, until: Ticks) {
        let mut dues = std::mem::take(&mut self.dues);
        for (switch, &wake) in self.switches.iter().enumerate() {
            if wake < until {
                dues.push(self.wakes[switch].due(switch));
            }
        }
        while !dues.is_empty() {
            for &due in &dues {
                self.instant(due);
            }
            let mut left = 0;
            for at in 0..dues.len() {
                let due = self.wakes[dues[at].switch].due(dues[at].switch);
                self.switches[due.switch] = due.at;
                dues[left] = due;
                left += usize::from(due.at < until);
            }
            dues.truncate(left);
        }
        self.dues = dues;
    }

    /// One instant of a switch.
    #[inline(always)]
    fn instant(&mut self, Due { switch, at: now, inputs, mut outputs }: Due) {
        // Outputs for which an input has become able to send, and those that have room or are idle again.
        let mut wanted = self.bids(switch, inputs, now) | outputs;
        let changed = wanted;
        while wanted != 0 {
            let output = wanted.trailing_zeros() as usize;
            wanted &= wanted - 1;
            if self.crossbars[switch].waiting[output] != 0 {
                self.fill(switch, output, now);
            }
        }
        while outputs != 0 {
            let output = outputs.trailing_zeros() as usize;
            outputs &= outputs - 1;
            self.link(self.hosts.len() + switch * P + output, now);
        }
        let mut changed = changed;
        while changed != 0 {
            let output = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            self.wakes[switch].outputs[output] = self.next_wake(switch, output, now);
        }
    }

    /// Puts the inputs that are due before the outputs that their heads are for; these outputs.
    #[inline(always)]
    fn bids(&mut self, switch: usize, mut due: u64, now: Ticks) -> u64 {
        let mut wanted = 0;
        while due != 0 {
            let port = due.trailing_zeros() as usize;
            due &= due - 1;
            let input = &self.inputs[switch * P + port];
            if input.free > now {
                self.wakes[switch].inputs[port] = input.free;
                continue;
            }
            let waiting = &mut self.crossbars[switch].waiting;
            self.wakes[switch].inputs[port] = input.bids(now, |output| {
                waiting[output] |= 1 << port;
                wanted |= 1 << output;
            });
        }
        wanted
    }

    /// Lets an output take the next of the inputs that wait for it.
    #[inline(always)]
    fn fill(&mut self, switch: usize, output: usize, now: Ticks) {
        let crossbar = &mut self.crossbars[switch];
        if crossbar.free[output] > now {
            return;
        }
        let sender = &mut self.senders[self.hosts.len() + switch * P + output];
        sender.settle_room(now);
        let waiting = crossbar.waiting[output];
        let behind = u64::MAX << crossbar.taken[output] << 1;
        for mut turns in [waiting & behind, waiting & !behind] {
            while turns != 0 {
                let port = turns.trailing_zeros() as usize;
                turns &= turns - 1;
                let input = &self.inputs[switch * P + port];
                // A busy input is looked at again when its transfer has ended.
                let offer = match input.free > now {
                    true => Offer::Nothing,
                    false => input.offer(now, output, |channel, credits| sender.has_room(channel, credits)),
                };
                match offer {
                    Offer::Nothing => crossbar.waiting[output] &= !(1 << port),
                    Offer::Blocked => {}
                    Offer::Head(channel) => {
                        crossbar.waiting[output] &= !(1 << port);
                        return self.transfer(switch, (port, output), channel, now);
                    }
                }
            }
        }
    }

    /// A transfer starts.
    #[inline(always)]
    fn transfer(&mut self, switch: usize, (port, output): (usize, usize), channel: usize, now: Ticks) {
        let input = &mut self.inputs[switch * P + port];
        let id = input.take(&self.flights, channel);
        let flight = self.flights.get(id);
        let credits = flight.credits;
        let end = (now + self.plan.crossbar.of(flight.size)).max(flight.tail);
        input.free = end;
        let next = input.next_bid();
        self.wakes[switch].inputs[port] = if next == NEVER { NEVER } else { next.max(end) };
        let crossbar = &mut self.crossbars[switch];
        (crossbar.free[output], crossbar.taken[output]) = (end, port as u8);
        let back = Return { at: end + self.plan.credit_return, credits, channel: channel as u8 };
        let from = input.link as usize;
        self.give_back(from, back);
        let link = self.hosts.len() + switch * P + output;
        let (visible, sender) = (now + self.plan.behind, &mut self.senders[link]);
        sender.reserve(channel, credits);
        if sender.is_empty() && sender.free <= now && visible < self.plan.end {
            let rings = (&mut self.rings, link);
            let effort = &mut self.tally.effort;
            if sender.pass(&self.scheduler, rings, effort, (channel, credits), visible) {
                return self.start(link, id, visible);
            }
        }
        sender.expect(&mut self.flights, id, visible);
    }

    /// A free link asks its scheduler for what is before it.
    #[inline(always)]
    fn link(&mut self, link: usize, now: Ticks) {
        let sender = &mut self.senders[link];
        if sender.free > now {
            return;
        }
        sender.settle_room(now);
        sender.settle_coming(&self.scheduler, &mut self.flights, now);
        if sender.waiting == 0 {
            return;
        }
        let rings = (&mut self.rings, link);
        let effort = &mut self.tally.effort;
        if let Some(id) = sender.decide(&self.scheduler, &self.flights, rings, effort, now) {
            self.start(link, id, now);
        }
    }

    /// When an output must be looked at next, after it has been at `now`.
    #[inline(always)]
    fn next_wake(&mut self, switch: usize, output: usize, now: Ticks) -> Ticks {
        let crossbar = &self.crossbars[switch];
        let link = self.hosts.len() + switch * P + output;
        let sender = &mut self.senders[link];
        let for_crossbar = match () {
            () if crossbar.waiting[output] == 0 => NEVER,
            () if crossbar.free[output] > now => crossbar.free[output],
            // There is no room, and none comes before the link is free; if it is, not before it has sent again.
            () if sender.free > now => sender.free,
            () => NEVER,
        };
        sender.blocked = sender.waiting != 0 && sender.free <= now;
        let for_link = match () {
            () if sender.blocked => sender.coming_at.min(self.rings.next_at(link)),
            () if sender.waiting != 0 => sender.free,
            () if sender.coming_at == NEVER => NEVER,
            () => sender.coming_at.max(sender.free),
        };
        for_crossbar.min(for_link)
    }
}
