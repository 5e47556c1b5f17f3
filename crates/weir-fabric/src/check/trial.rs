//! Disciplines are tried with the channels before anything runs: a fabric loses nothing, so each must serve every
//! channel, and lose nothing of what the buffers hold.
//!
//! The trial needs the registry alone, and no knowledge of any discipline.

use super::hardware::Hardware;
use crate::check::Check;
use weir_core::discipline::{Discipline, DropReason, Open};
use weir_core::item::{ClassId, FlowId, Packet};
use weir_core::registry;
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Instant, Nanos};
use weir_document::{Checked, Located};

/// The most packets of one trial.
const MOST: u64 = 65_536;
/// The time from a decision to the next: long enough for a queue that drops what has aged.
const STEP: Nanos = Nanos::new(1_000_000);

/// How often a discipline that waits is asked again.
const PATIENCE: u32 = 1000;

/// What is wrong with a discipline.
enum Fault {
    /// It does not serve the channel.
    Without(usize),
    /// It does not take the largest packets of the channel.
    TooSmall(usize),
    /// It drops packets of the channel where buffers are full.
    Drops(usize),
    /// It keeps packets for ever.
    Keeps,
}

/// `size` is what it costs, in whole credits.
fn packet(id: u64, channel: usize, size: Bytes) -> Packet {
    let (flow, class) = (FlowId(channel as u32), ClassId(channel as u16));
    Packet { id: id as u32, flow, class, size }
}

/// A discipline under trial.
struct Trial {
    discipline: Box<dyn Discipline<Packet> + Send>,
    drops: Vec<(Packet, DropReason)>,
    now: Instant,
}

impl Trial {
    /// Lets a packet in, and returns the channel of one that is dropped, and why.
    fn put(&mut self, packet: Packet) -> Option<(usize, DropReason)> {
        let _ = self.discipline.enqueue(self.now, packet, &mut self.drops);
        self.dropped()
    }

    /// Serves a packet, as soon as one may go; whether there was one.
    fn serve(&mut self) -> bool {
        for _ in 0..PATIENCE {
            if let Some(grant) = self.discipline.dequeue(self.now, &Open, &mut self.drops) {
                self.discipline.finish(self.now, &grant.item, grant.item.size);
                return true;
            }
            match self.discipline.next_event().filter(|&event| event > self.now) {
                Some(event) => self.now = event,
                None => return false,
            }
        }
        false
    }

    /// The channel of a packet that was dropped, and why.
    fn dropped(&self) -> Option<(usize, DropReason)> {
        self.drops.first().map(|&(packet, reason)| (packet.flow.0 as usize, reason))
    }

    /// Serves a packet of a channel that is alone.
    fn alone(&mut self, packet: Packet) -> Option<Fault> {
        let channel = packet.flow.0 as usize;
        let dropped = self.put(packet);
        let served = dropped.is_none() && self.serve();
        match dropped.or_else(|| self.dropped()) {
            Some((channel, DropReason::TooLarge)) => Some(Fault::TooSmall(channel)),
            Some((channel, DropReason::QueueFull)) => Some(Fault::Drops(channel)),
            Some(_) => Some(Fault::Without(channel)),
            None => (!served).then_some(Fault::Without(channel)),
        }
    }
}

/// Serves `channels` channels, first each alone with the largest packet, then all of them with `each` of the smallest;
/// `sizes` are what the two cost.
fn trial(spec: &Spec, channels: usize, (smallest, largest): (Bytes, Bytes), each: u64) -> Option<Fault> {
    // That it can be built was seen when it was read.
    let discipline = registry::packet_discipline::<Packet>(spec).ok()?;
    let mut trial = Trial { discipline, drops: Vec::new(), now: Instant::ZERO };
    for channel in 0..channels {
        if let Some(fault) = trial.alone(packet(0, channel, largest)) {
            return Some(fault);
        }
        // Here it sees that the channel is empty.
        trial.serve();
        trial.now += STEP;
    }
    let all = each * channels as u64;
    for number in 0..all {
        let channel = number as usize % channels;
        if let Some((channel, _)) = trial.put(packet(number, channel, smallest)) {
            return Some(Fault::Drops(channel));
        }
    }
    // First as fast as can be, then with time to age.
    for number in 0..all {
        let served = trial.serve();
        if let Some((channel, _)) = trial.dropped() {
            return Some(Fault::Drops(channel));
        }
        if !served {
            return Some(Fault::Keeps);
        }
        if number >= all / 2 {
            trial.now += STEP;
        }
    }
    None
}

impl Check<'_, '_> {
    /// Refuses a discipline that does not serve the channels as a fabric needs it.
    pub(super) fn tried(
        &self,
        written: &Located<String>,
        spec: &Spec,
        channels: &[&str],
        hardware: &Hardware,
    ) -> Checked<()> {
        let buffer = hardware.interface_buffer.max(hardware.switch.output_buffer);
        let held = (buffer.get() / hardware.credit.get()).clamp(1, (MOST / channels.len() as u64).max(1));
        let largest = Bytes::new(hardware.credits(hardware.mtu) * hardware.credit.get());
        let (reason, remedy) = match trial(spec, channels.len(), (hardware.credit, largest), held) {
            None => return Ok(()),
            Some(Fault::Without(channel)) => (
                format!("does not serve channel `{}`, which is its flow {channel}", channels[channel]),
                "give every channel an entry, in the order of the channels",
            ),
            Some(Fault::TooSmall(channel)) => (
                format!(
                    "does not take packets of {largest}, the largest in whole credits, which channel `{}` sends",
                    channels[channel]
                ),
                "raise its `mtu` to that, and the weights of its entries with it; or lower fabric.mtu",
            ),
            Some(Fault::Drops(channel)) => (
                format!(
                    "drops packets of channel `{}` where buffers are full, and a fabric loses none",
                    channels[channel]
                ),
                "raise its limits, or write a discipline without, such as \"drr:quantum=2048B\"",
            ),
            Some(Fault::Keeps) => (
                "keeps packets that it never sends".to_owned(),
                "write a discipline that serves all, such as \"drr:quantum=2048B\"",
            ),
        };
        self.refuse(written, reason, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Option<Fault> {
        trial(&text.parse().expect(text), 3, (Bytes::new(64), Bytes::new(2048)), 512)
    }

    #[test]
    fn queues_without_limits_pass() {
        for spec in [
            "fifo",
            "drr:quantum=2048B,weights=4/2/1",
            "scfq",
            "wfq",
            "wf2q_plus",
            "tbf(fifo,rate=1Mbit,burst=4096B)",
        ] {
            assert!(fault(spec).is_none(), "{spec}");
        }
    }

    #[test]
    fn limits_and_targets_do_not() {
        assert!(matches!(fault("fifo:limit=1000pkt"), Some(Fault::Drops(_))));
        assert!(matches!(fault("codel"), Some(Fault::Drops(_))));
        assert!(matches!(fault("drr:flows=2"), Some(Fault::Without(2))));
    }

    #[test]
    fn too_small_is_not_without_an_entry() {
        assert!(matches!(fault("dtable:0@32cr/1@32cr/2@32cr,mtu=1024B"), Some(Fault::TooSmall(0))));
        assert!(matches!(fault("tbf(fifo,rate=1Mbit,burst=1000B)"), Some(Fault::TooSmall(0))));
        assert!(matches!(fault("dtable:0@32cr/1@32cr"), Some(Fault::Without(2))));
        let small = "dtable:distances=2/4/4,weights=32cr,mtu=1024B";
        assert!(matches!(fault(small), Some(Fault::TooSmall(0))));
    }
}
