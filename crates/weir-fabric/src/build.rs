//! From the checked model to the parts of one replication: the schedulers of all links, and what refuses to run.
//!
//! A link is named by its sender: `0..hosts` are interfaces, `hosts + port` the outputs of switches. Random streams of a
//! discipline are keyed by the link.

use crate::job::Job;
use crate::model::FabricScenario;
use crate::packet::Handle;
use crate::time::CreditUnit;
use crate::topology::{self, Wiring};
use weir_core::discipline::{Discipline, DropReason, Drops, Open};
use weir_core::registry::{packet_discipline, with_seeds};
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Instant};
use weir_lab::error::RunError;
use weir_lab::stream::{Purpose, Stream, StreamKey};

/// The most virtual channels.
pub const MOST_CHANNELS: usize = 64;
/// The most credits of a packet.
const MOST_CREDITS: u64 = 65_535;
/// How often a discipline that holds a packet back is asked again before it counts as one that never serves it.
const PATIENCE: u32 = 1000;

/// A scheduler of a link.
pub type Scheduler = Box<dyn Discipline<Handle> + Send>;

/// Keeps the first packet that a discipline drops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lost(pub Option<(Handle, DropReason)>);

impl Drops<Handle> for Lost {
    fn dropped(&mut self, handle: Handle, reason: DropReason) {
        self.0.get_or_insert((handle, reason));
    }
}

/// The error where something of the scenario cannot be.
#[must_use]
pub fn refused(place: impl Into<String>, reason: impl Into<String>) -> RunError {
    RunError::Refused { place: place.into(), reason: reason.into() }
}

/// Why a discipline dropped a packet, in words.
#[must_use]
pub fn why(reason: DropReason) -> &'static str {
    match reason {
        DropReason::QueueFull => "its queue is full",
        DropReason::NotResumable => "it was given back",
        DropReason::TooLarge => "it is too large",
        DropReason::Unclassified => "its channel has no place",
        DropReason::Congestion => "its queue has waited for too long",
        DropReason::AlreadyReady => "its process is ready already",
        _ => "of its own accord",
    }
}

/// Refuses what cannot be simulated, before anything is.
///
/// # Errors
/// The topology, a buffer or a rate is out of its bounds, or a discipline does not serve every channel.
pub fn check(fabric: &FabricScenario) -> Result<(), RunError> {
    topology::check(fabric.topology).map_err(|error| refused("fabric.topology", error.to_string()))?;
    let hosts = Wiring::new(fabric.topology).map_or(0, |wiring| wiring.hosts());
    let channels = fabric.channels.len();
    if !(1..=MOST_CHANNELS).contains(&channels) {
        return Err(refused("channel", format!("there are {channels}, must be from 1 to {MOST_CHANNELS}")));
    }
    let (link, switch) = (&fabric.link, &fabric.switch);
    for (place, zero) in [
        ("fabric.link.rate", link.rate.get() == 0),
        ("fabric.link.coding", link.coding.0 == 0 || link.coding.1 == 0),
        ("fabric.switch.speed_up", switch.speed_up.1 == 0),
        ("fabric.credit", fabric.credit.get() == 0),
        ("fabric.mtu", fabric.mtu.get() == 0),
        ("traffic.flow_rate", fabric.traffic.flow_rate.get() == 0),
    ] {
        if zero {
            return Err(refused(place, "it is 0, must be above 0"));
        }
    }
    if switch.speed_up.0 < switch.speed_up.1 {
        let speed_up = f64::from(switch.speed_up.0) / f64::from(switch.speed_up.1);
        let reason = format!("it is {speed_up}, must be at least 1, or a link would run out of bytes");
        return Err(refused("fabric.switch.speed_up", reason));
    }
    if let Some(hot) = fabric.traffic.hot_spot.filter(|hot| hot.host >= hosts) {
        let reason = format!("host is {}, must be from 0 to {}", hot.host, hosts - 1);
        return Err(refused("traffic.hot_spot", reason));
    }
    check_buffers(fabric)?;
    fabric.specs.iter().try_for_each(|spec| check_discipline(fabric, spec))
}

fn check_buffers(fabric: &FabricScenario) -> Result<(), RunError> {
    let credits = fabric.mtu.get().div_ceil(fabric.credit.get());
    if credits > MOST_CREDITS {
        let reason = format!("it has {credits} credits, at most {MOST_CREDITS} are simulated");
        return Err(refused("fabric.mtu", reason));
    }
    for (place, buffer) in [
        ("fabric.switch.input_buffer", fabric.switch.input_buffer),
        ("fabric.switch.output_buffer", fabric.switch.output_buffer),
        ("fabric.interface_buffer", fabric.interface_buffer),
    ] {
        let least = Bytes::new(credits * fabric.credit.get());
        if buffer < least {
            let reason = format!("it is {buffer}, must be at least {least}, which the largest packet takes");
            return Err(refused(place, reason));
        }
    }
    Ok(())
}

/// A discipline must serve packets of every channel, the smallest and the largest.
fn check_discipline(fabric: &FabricScenario, spec: &Spec) -> Result<(), RunError> {
    let unit = CreditUnit::new(fabric.credit);
    let largest = unit.of_packet(fabric.mtu.get() as u32) as u16;
    for (channel, named) in fabric.channels.iter().enumerate() {
        for credits in [1, largest] {
            let mut scheduler = scheduler(spec)?;
            let handle = Handle::new(0, credits, channel as u8, unit);
            if let Err(reason) = serves(&mut *scheduler, handle) {
                let name = &named.name;
                let place = format!("`{spec}`");
                let reason = format!("it does not serve channel {channel}, `{name}`: {reason}");
                return Err(refused(place, reason));
            }
        }
    }
    Ok(())
}

/// Whether a packet that is put in comes out again.
fn serves(scheduler: &mut dyn Discipline<Handle>, handle: Handle) -> Result<(), String> {
    let (mut lost, mut now) = (Lost::default(), Instant::ZERO);
    let _ = scheduler.enqueue(now, handle, &mut lost);
    for _ in 0..PATIENCE {
        let grant = scheduler.dequeue(now, &Open, &mut lost);
        if let Some((handle, reason)) = lost.0 {
            return Err(format!("a packet of {} credits is dropped, {}", handle.credits, why(reason)));
        }
        if grant.is_some() {
            return Ok(());
        }
        match scheduler.next_event() {
            Some(event) if event > now => now = event,
            _ => break,
        }
    }
    Err(format!("a packet of {} credits is never sent, give the channel a part of the link", handle.credits))
}

fn scheduler(spec: &Spec) -> Result<Scheduler, RunError> {
    packet_discipline(spec).map_err(RunError::from)
}

/// The schedulers of all links.
///
/// # Errors
/// A discipline refuses its arguments.
pub fn schedulers(fabric: &FabricScenario, job: Job, links: u32) -> Result<Vec<Scheduler>, RunError> {
    let spec = &fabric.specs[job.discipline];
    let of = |index| {
        let purpose = Purpose::Decisions;
        let key = StreamKey { seed: fabric.seed, replication: job.replication, purpose, index };
        let mut seeds = Stream::new(key);
        scheduler(&with_seeds(spec, &mut || seeds.next_u64()))
    };
    (0..links).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{HotSpot, Topology};
    use crate::testing;

    fn error(change: impl Fn(&mut FabricScenario)) -> String {
        let mut fabric = testing::scenario();
        change(&mut fabric);
        check(&fabric).expect_err("refused").to_string()
    }

    #[test]
    fn the_fabric_of_the_document_is_simulated() {
        assert_eq!(check(&testing::scenario()), Ok(()));
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        for (found, expected) in [
            (
                error(|fabric| fabric.topology = Topology::Tree { arity: 4, levels: 20 }),
                "fabric.topology: levels is 20, must be from 1 to 7",
            ),
            (
                error(|fabric| fabric.switch.speed_up = (1, 2)),
                "fabric.switch.speed_up: it is 0.5, must be at least 1, or a link would run out of bytes",
            ),
            (
                error(|fabric| fabric.switch.input_buffer = Bytes::new(2000)),
                "fabric.switch.input_buffer: it is 2000B, must be at least 2048B, which the largest packet takes",
            ),
            (
                error(|fabric| fabric.traffic.hot_spot = Some(HotSpot { host: 64, share: 0.1 })),
                "traffic.hot_spot: host is 64, must be from 0 to 63",
            ),
            (error(|fabric| fabric.channels.clear()), "channel: there are 0, must be from 1 to 64"),
            (error(|fabric| fabric.credit = Bytes::new(0)), "fabric.credit: it is 0, must be above 0"),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_discipline_that_does_not_serve_a_channel_is_refused() {
        let of = |text: &str| {
            error(|fabric| {
                fabric.specs = vec![testing::DRR.parse().expect("a spec"), text.parse().expect(text)]
            })
        };
        let found = of("drr:quantum=2048B,flows=5");
        let expected = "`drr:quantum=2048B,flows=5`: it does not serve channel 5, `D64`: a packet of 1 credits is dropped";
        assert!(found.starts_with(expected), "{found}");
        let found = of("tbf(fifo,rate=1Mbit,burst=1000B)");
        assert!(found.contains("a packet of 32 credits is"), "{found}");
    }
}
