//! The constants of a run, and whether the accelerated engine can keep what it counts on.

use super::hop::Hops;
use super::ring::END;
use super::schedulers::Bounds;
use super::{LARGE, Ticks, Wiring};
use crate::model::{FabricScenario, Routing, Size};
use crate::time::{CreditUnit, Pace, TICKS_PER_SECOND, ticks, timing};

/// The longest that anything may take, in ticks: the sum of all of it and a run stays below the end of what rings hold.
const LONGEST: Ticks = END / 8;

/// The constants of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// For the schedulers.
    pub(super) bounds: Bounds,
    /// Bytes on a link, and through a crossbar.
    pub(super) line: Pace,
    pub(super) crossbar: Pace,
    /// From the start on a link until the head may bid at the next switch.
    pub(super) bid: Ticks,
    /// From a byte on a link to the same at the other end.
    pub(super) propagation: Ticks,
    /// From the release of space in an input to the credit at the sender.
    pub(super) credit_return: Ticks,
    /// From the start of a transfer until the packet is before the scheduler.
    pub(super) behind: Ticks,
    /// The span in which switches and interfaces do not influence each other.
    pub(super) window: Ticks,
    /// The end of the replication.
    pub(super) end: Ticks,
    /// Packets in credits.
    pub(super) unit: CreditUnit,
    /// Buffers, for each channel, in credits.
    pub(super) interface_buffer: u16,
    pub(super) input_buffer: u16,
    pub(super) output_buffer: u16,
}

/// The smallest packet on the wire.
fn least_packet(fabric: &FabricScenario) -> u32 {
    let payload = |size: &Size| match size {
        Size::Constant(payload) => payload.get(),
        Size::Pareto(pareto) => pareto.minimum.get(),
        // What is left of a message can be a byte.
        Size::Messages(_) => 1,
    };
    let least = fabric.channels.iter().map(|channel| payload(&channel.size)).min().unwrap_or(1);
    u32::try_from(least.saturating_add(fabric.traffic.header.get())).unwrap_or(u32::MAX).max(1)
}

/// What a link carries up to the end, as disciplines count it: with the credits that packets begin.
fn carried(fabric: &FabricScenario, end: Ticks, line: Pace) -> u64 {
    let bytes = end as f64 / TICKS_PER_SECOND as f64 * line.bytes_per_second() + fabric.mtu.get() as f64;
    let packets = bytes / f64::from(least_packet(fabric));
    (bytes + packets * fabric.credit.get() as f64) as u64
}

impl Plan {
    /// Of a scenario; `None` where it is not for this engine.
    pub(super) fn new(fabric: &FabricScenario, wiring: &Wiring) -> Option<Self> {
        let channels = fabric.channels.len();
        if fabric.verify
            || fabric.routing == Routing::AdaptiveUp
            || wiring.ports() as usize > LARGE.ports
            || !(1..=LARGE.channels).contains(&channels)
            || Hops::new(wiring).is_none()
        {
            return None;
        }
        let (unit, timing) = (CreditUnit::new(fabric.credit), timing(fabric));
        let buffer = |size| u16::try_from(unit.of_buffer(size)).ok();
        let mtu = u32::try_from(fabric.mtu.get()).ok()?;
        let (bid, end) = (timing.head.checked_add(timing.before)?, ticks(fabric.stop.duration));
        let spans =
            [bid, end, timing.credit_return, timing.behind, timing.line.of(mtu), timing.crossbar.of(mtu)];
        if spans.into_iter().any(|span| span > LONGEST) {
            return None;
        }
        let shortest = timing.crossbar.of(least_packet(fabric));
        let window = bid.min(shortest + timing.credit_return);
        Some(Self {
            bounds: Bounds { channels, carried: carried(fabric, end, timing.line), unit },
            line: timing.line,
            crossbar: timing.crossbar,
            bid,
            propagation: timing.propagation,
            credit_return: timing.credit_return,
            behind: timing.behind,
            window,
            end,
            unit,
            interface_buffer: buffer(fabric.interface_buffer)?,
            input_buffer: buffer(fabric.switch.input_buffer)?,
            output_buffer: buffer(fabric.switch.output_buffer)?,
        })
    }

    /// Ports, and destinations and ways in digits; they exist.
    pub(super) fn hops(&self, wiring: &Wiring) -> Hops {
        Hops::new(wiring).unwrap_or_default()
    }
}
