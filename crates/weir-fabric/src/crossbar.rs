//! The crossbars of all switches: what waits in the inputs, and who is next.
//!
//! Each idle output takes the next input in turn, after the one it took last, that is idle and has a head for it which
//! may go; of several channels of this input the next in turn, after the one that the input sent last.
//!
//! | | |
//! |-|-|
//! | Work | an examination of each head of the idle inputs of a switch, and again at those that are for an idle output |
//! | Memory | linear in ports times channels, and the packets that wait |

use std::collections::VecDeque;

use crate::packet::Handle;
use crate::time::Ticks;
use crate::topology::Wiring;

/// A packet in an input whose head may bid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) handle: Handle,
    /// When its tail has come.
    pub(crate) tail: Ticks,
    /// The port of its switch that it leaves by, once that is known; under adaptive routing the last it was to.
    pub(crate) output: Option<u32>,
}

/// A packet on its way from an input to an output; both are ports of all switches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) input: u32,
    pub(crate) output: u32,
    pub(crate) handle: Handle,
}

/// The inner side of a port.
#[derive(Clone, Debug)]
struct Port {
    /// For each channel what waits in the input.
    queues: Vec<VecDeque<Waiting>>,
    /// Channels with something in them, a bit each.
    heads: u64,
    /// The input sends this packet.
    sending: Option<Handle>,
    /// The channel that the input sent last.
    channel: u8,
    /// The output is being written.
    writing: bool,
    /// The input that the output took last.
    taken: u32,
    /// Idle inputs with a head for this output, a bit each; good for one filling.
    wanted: u128,
}

/// The crossbars of all switches.
pub(crate) struct Crossbars {
    /// Of a switch.
    ports: u32,
    channels: u8,
    all: Vec<Port>,
}

impl Crossbars {
    pub(crate) fn new(wiring: &Wiring, channels: u8) -> Self {
        let port = Port {
            queues: vec![VecDeque::new(); usize::from(channels)],
            heads: 0,
            sending: None,
            channel: channels - 1,
            writing: false,
            taken: wiring.ports() - 1,
            wanted: 0,
        };
        let all = vec![port; (wiring.switches() * wiring.ports()) as usize];
        Self { ports: wiring.ports(), channels, all }
    }

    /// A packet may bid at a port of all switches, as soon as it is the first of its channel.
    pub(crate) fn wait(&mut self, port: u32, waiting: Waiting) {
        let (port, channel) = (&mut self.all[port as usize], waiting.handle.channel);
        port.queues[usize::from(channel)].push_back(waiting);
        port.heads |= 1 << channel;
    }

    /// Gives every head of an idle input its output, where it has none yet or none is fixed, and sees which outputs are
    /// wanted. `output` gets the idle ones, a bit each.
    pub(crate) fn route(&mut self, switch: u32, fixed: bool, output: impl Fn(&Waiting, u128) -> u32) {
        let first = (switch * self.ports) as usize;
        let ports = &mut self.all[first..first + self.ports as usize];
        let mut idle = 0;
        for (number, port) in ports.iter_mut().enumerate() {
            port.wanted = 0;
            idle |= u128::from(!port.writing) << number;
        }
        for input in 0..ports.len() {
            let mut heads = if ports[input].sending.is_some() { 0 } else { ports[input].heads };
            while heads != 0 {
                let channel = heads.trailing_zeros() as usize;
                heads &= heads - 1;
                let Some(head) = ports[input].queues[channel].front_mut() else { continue };
                let to = head.output.filter(|_| fixed).unwrap_or_else(|| output(head, idle));
                head.output = Some(to);
                ports[to as usize].wanted |= 1 << input;
            }
        }
    }

    /// Starts the transfer to an output that is next, if there is one for which there is room: the input, a port of
    /// all switches, and the packet.
    pub(crate) fn next(
        &mut self,
        switch: u32,
        output: u32,
        room: impl Fn(Handle) -> bool,
    ) -> Option<(u32, Waiting)> {
        let first = switch * self.ports;
        let Port { writing, taken, wanted, .. } = self.all[(first + output) as usize];
        if writing || wanted == 0 {
            return None;
        }
        for turn in 1..=self.ports {
            let input = (taken + turn) % self.ports;
            if wanted >> input & 1 == 0 {
                continue;
            }
            if let Some(waiting) = self.take(first + input, output, &room) {
                let port = &mut self.all[(first + output) as usize];
                (port.writing, port.taken) = (true, input);
                return Some((first + input, waiting));
            }
        }
        None
    }

    /// Takes from an idle input the head that is next among those for an output that there is room for.
    fn take(&mut self, input: u32, output: u32, room: &impl Fn(Handle) -> bool) -> Option<Waiting> {
        let channels = self.channels;
        let port = &mut self.all[input as usize];
        if port.sending.is_some() {
            return None;
        }
        let mut turns = (1..=channels).map(|turn| (port.channel + turn) % channels);
        let goes = |&channel: &u8| {
            let head = port.queues[usize::from(channel)].front();
            head.is_some_and(|head| head.output == Some(output) && room(head.handle))
        };
        let channel = turns.find(goes)?;
        let queue = &mut port.queues[usize::from(channel)];
        let waiting = queue.pop_front()?;
        port.heads &= !(u64::from(queue.is_empty()) << channel);
        (port.sending, port.channel) = (Some(waiting.handle), channel);
        Some(waiting)
    }

    /// A transfer has ended.
    pub(crate) fn end(&mut self, transfer: Transfer) {
        self.all[transfer.input as usize].sending = None;
        self.all[transfer.output as usize].writing = false;
    }

    /// The credits that packets of a channel hold in an input, as they are counted in it.
    pub(crate) fn held(&self, port: u32, channel: u8) -> u32 {
        let port = &self.all[port as usize];
        let sending = port.sending.iter().filter(|handle| handle.channel == channel);
        let waiting = port.queues[usize::from(channel)].iter().map(|waiting| &waiting.handle);
        waiting.chain(sending).map(|handle| u32::from(handle.credits)).sum()
    }
}
