//! Disciplines are tried with the channels before anything runs: a fabric loses nothing, so each must serve every
//! channel, keep whatever the buffers hold, and hold nothing back.
//!
//! The trial needs the registry alone, and no knowledge of any discipline.

use weir_core::discipline::{DropReason, Open};
use weir_core::item::{ClassId, FlowId, Packet};
use weir_core::registry;
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Instant, Nanos};

use super::super::check::{Checked, Checker};
use super::super::document::Located;
use super::hardware::Hardware;

/// What one credit costs a discipline.
const CREDIT: u64 = 64;
/// The most packets of one trial.
const MOST: u64 = 65_536;
/// The time from a decision to the next: long for a queue that holds its packets for a time.
const STEP: Nanos = Nanos::new(1_000_000);

/// What is wrong with a discipline.
enum Fault {
    /// It does not serve the channel, or does not take its packets.
    Without(usize),
    /// It drops packets of the channel where buffers are full.
    Drops(usize),
    /// It holds packets back while the link is free.
    Holds,
}

fn packet(id: u64, channel: usize, credits: u64) -> Packet {
    let (flow, class) = (FlowId(channel as u32), ClassId(channel as u16));
    Packet { id: id as u32, flow, class, size: Bytes::new(credits * CREDIT) }
}

/// Serves `channels` channels, first each alone with the largest packet, then all of them with `each` of the smallest.
fn trial(spec: &Spec, channels: usize, largest: u64, each: u64) -> Option<Fault> {
    // That it can be built was seen when it was read.
    let mut discipline = registry::packet_discipline::<Packet>(spec).ok()?;
    let mut drops: Vec<(Packet, DropReason)> = Vec::new();
    let mut now = Instant::ZERO;
    for channel in 0..channels {
        let item = packet(0, channel, largest);
        let _ = discipline.enqueue(now, item, &mut drops);
        match discipline.dequeue(now, &Open, &mut drops) {
            Some(grant) if drops.is_empty() => discipline.finish(now, &grant.item, grant.item.size),
            _ => return Some(Fault::Without(channel)),
        }
        discipline.dequeue(now, &Open, &mut drops);
        now += STEP;
    }
    for number in 0..each * channels as u64 {
        let channel = number as usize % channels;
        let _ = discipline.enqueue(now, packet(number, channel, 1), &mut drops);
    }
    // First as fast as can be, then with time to age.
    let all = each * channels as u64;
    for number in 0..all {
        if let Some((item, _)) = drops.first() {
            return Some(Fault::Drops(item.flow.0 as usize));
        }
        match discipline.dequeue(now, &Open, &mut drops) {
            Some(grant) => discipline.finish(now, &grant.item, grant.item.size),
            None if drops.is_empty() => return Some(Fault::Holds),
            None => {}
        }
        if number >= all / 2 {
            now += STEP;
        }
    }
    drops.first().map(|(item, _)| Fault::Drops(item.flow.0 as usize))
}

impl Checker<'_> {
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
        let (reason, remedy) = match trial(spec, channels.len(), hardware.credits(hardware.mtu), held) {
            None => return Ok(()),
            Some(Fault::Without(channel)) => (
                format!("does not serve channel `{}`, which is its flow {channel}", channels[channel]),
                "give every channel an entry, in the order of the channels",
            ),
            Some(Fault::Drops(channel)) => (
                format!(
                    "drops packets of channel `{}` where buffers are full, and a fabric loses none",
                    channels[channel]
                ),
                "raise its limits, or write a discipline without, such as \"drr:quantum=2048B\"",
            ),
            Some(Fault::Holds) => (
                "holds packets back while the link is free".to_owned(),
                "write a discipline that keeps the link busy, such as \"drr:quantum=2048B\"",
            ),
        };
        self.refuse(written, reason, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Option<Fault> {
        trial(&text.parse().expect(text), 3, 32, 512)
    }

    #[test]
    fn queues_without_limits_pass() {
        for spec in ["fifo", "drr:quantum=2048B,weights=4/2/1", "scfq", "wfq", "wf2q_plus"] {
            assert!(fault(spec).is_none(), "{spec}");
        }
    }

    #[test]
    fn limits_delays_and_targets_do_not() {
        assert!(matches!(fault("fifo:limit=1000pkt"), Some(Fault::Drops(_))));
        assert!(matches!(fault("codel"), Some(Fault::Drops(_))));
        assert!(matches!(fault("tbf(fifo,rate=1kbit,burst=4096B)"), Some(Fault::Holds | Fault::Without(_))));
    }
}
