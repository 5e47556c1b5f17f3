//! How much of the start of every replication is left out.
//!
//! Given in time, it is converted to ticks by the offered load, where a rate follows a curve by its integral. Detected, it is what the MSER-5 rule drops
//! from a pilot: a replication of its own under FIFO, a tenth as long as the others. All replications and
//! disciplines leave out the same ticks, so that they stay comparable message by message.

use crate::build::{Layout, lanes, metrics};
use crate::collector::Plan;
use crate::gathered::CLOCK;
use crate::model::{Clock, PortScenario, Service, WarmUp};
use crate::rounds::{Grain, Rounds, Standing};
use crate::run::mean_length;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
use weir_document::NamedDiscipline;
use weir_lab::control::Control;
use weir_lab::error::RunError;
use weir_lab::stats::Batches;
use weir_lab::stats::mser::mser5;

/// The pilot's share of a replication.
const PILOT_SHARE: u64 = 10;
/// The longest pilot.
const LONGEST_PILOT: u64 = 1 << 23;
/// One part in this many of a warm-up is what it is rounded to, at most; on a curve it is finer.
const COARSE: u64 = 4;
const FINE: u64 = 1024;
/// The pilot's replication number, which no other replication has.
const PILOT: u32 = u32::MAX;

/// What is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarmUpTicks {
    /// Ticks of each replication.
    pub ticks: u64,
    /// The rule, in words.
    pub rule: String,
}

impl WarmUpTicks {
    /// The largest power of two that divides the warm-up: batches of that size begin where it ends.
    #[must_use]
    pub fn granularity(&self) -> u64 {
        if self.ticks == 0 { u64::MAX } else { 1 << self.ticks.trailing_zeros() }
    }
}

/// The warm-up of a scenario whose replications have `ticks` ticks each.
///
/// # Errors
/// The pilot cannot be built.
pub fn ticks(port: &PortScenario, ticks: u64, control: &Control<'_>) -> Result<WarmUpTicks, RunError> {
    match port.stop.warm_up {
        WarmUp::None => Ok(WarmUpTicks { ticks: 0, rule: "none".to_owned() }),
        WarmUp::Until(time) => {
            let warm_up = expected(port, time);
            let written = match port.clock {
                Clock::PacketServices => format!("{}u", time.get() as f64 / CLOCK),
                Clock::Seconds => time.to_string(),
            };
            if warm_up >= ticks {
                return Err(RunError::WarmUp { written, warm_up, ticks });
            }
            Ok(WarmUpTicks { ticks: warm_up, rule: format!("the ticks expected in {written}") })
        }
        WarmUp::Detected => detected(port, ticks, control),
    }
}

/// The ticks that are left out where the scenario says how many; none where they are detected.
#[must_use]
pub fn given(port: &PortScenario) -> u64 {
    match port.stop.warm_up {
        WarmUp::Until(time) => expected(port, time),
        WarmUp::None | WarmUp::Detected => 0,
    }
}

/// The ticks expected before a time, of which the server can do no more than fit; on a curve nearer to them, since there it
/// counts at which time the measured part begins.
fn expected(port: &PortScenario, time: Nanos) -> u64 {
    let per_tick = match port.service {
        Service::Packets(time) => time.mean().get() as f64,
        Service::Whole(_) => mean_length(port) * port.service.mean_per_unit(),
    };
    let (time, load) = (time.get() as f64, port.load.unwrap_or(1.0));
    let (passed, part) = match port.curve() {
        Some((open, _)) => (open.passed(time), FINE),
        None => (time, COARSE),
    };
    rounded(((passed * load).min(time) / per_tick).ceil() as u64, part)
}

/// Rounded up to a multiple of a large power of two, of about one in `part` ticks, so that batches of any engine begin there.
fn rounded(ticks: u64, part: u64) -> u64 {
    let grain = (ticks / part).max(1).next_power_of_two().min(1 << 16);
    ticks.div_ceil(grain) * grain
}

/// A detected warm-up leaves at least half of a replication; a shorter run counts in full, and says so.
fn within(ticks: u64, warm_up: u64, rule: String) -> WarmUpTicks {
    if warm_up <= ticks / 2 {
        return WarmUpTicks { ticks: warm_up, rule };
    }
    WarmUpTicks {
        ticks: 0,
        rule: format!("none: {warm_up} of {ticks} ticks would have been left out ({rule})"),
    }
}

fn detected(port: &PortScenario, ticks: u64, control: &Control<'_>) -> Result<WarmUpTicks, RunError> {
    let pilot = (ticks / PILOT_SHARE).clamp(1, LONGEST_PILOT);
    let means = pilot_means(port, pilot, control)?;
    Ok(match means.and_then(|(means, size)| Some((mser5(&means).ok()?, size))) {
        Some((batches, size)) => {
            let rule = format!("MSER-5 on a pilot of {pilot} ticks under fifo");
            within(ticks, rounded(batches as u64 * size, COARSE), rule)
        }
        None => {
            let rule = format!("a pilot of {pilot} ticks, in which MSER-5 found no steady state");
            within(ticks, rounded(pilot, COARSE), rule)
        }
    })
}

/// The batch means of the pilot and the ticks of a batch; `None` if some batch stays empty.
fn pilot_means(
    port: &PortScenario,
    ticks: u64,
    control: &Control<'_>,
) -> Result<Option<(Vec<f64>, u64)>, RunError> {
    let spec = Spec { name: "fifo".to_owned(), arguments: Vec::new() };
    let mut alone = port.clone();
    alone.measure.verify = false;
    alone.disciplines = vec![NamedDiscipline::new("fifo", spec)];
    let (metrics, classes) = (metrics(port), port.classes.len());
    let batch = (ticks / 512).max(1).next_power_of_two();
    let plan = Plan { batch, ..Plan::means(metrics, classes) };
    let placed = lanes(&alone, &Layout { plan, records: false }, PILOT)?;
    let grain = Grain { batch, records: false };
    let lanes = placed.into_iter().map(|lane| (0, lane)).collect();
    let mut rounds = Rounds::new(lanes, ticks, grain, control.threads);
    while rounds.advance(ticks, control.cancel) == Standing::Going {}
    let Some(running) = rounds.lanes.first_mut() else { return Ok(None) };
    let mut collectors = running.placed.lane.collectors();
    let Some(collector) = collectors.first_mut() else { return Ok(None) };
    Ok(means_of(&mut collector.batches, classes))
}

fn means_of(batches: &mut Batches, classes: usize) -> Option<(Vec<f64>, u64)> {
    let series: Vec<usize> = (0..classes).collect();
    while batches.means(&series).is_err() && batches.len() > 1 {
        batches.merge_neighbours();
    }
    let mut means = batches.means(&series).ok()?;
    // The last batch may still have been filling.
    means.pop();
    Some((means, batches.size()))
}

weir_lab::encode! {
    WarmUpTicks { ticks, rule }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    type Scenario = weir_lab::scenario::Scenario<crate::model::PortScenario>;

    fn of(warm_up: &str, load: f64) -> WarmUpTicks {
        let text = format!(
            "weir = 1\nmodel = \"port\"\ndisciplines = [\"sf\"]\n[workload]\nload = {load}\n\
             [stop]\nwarm_up = \"{warm_up}\"\n"
        );
        let scenario = Scenario::from_toml(&text, "test.toml", Path::new("")).expect("a valid scenario");
        let cancel = AtomicBool::new(false);
        let progress = &mut |_| ();
        let control = Control { threads: NonZeroUsize::MIN, cancel: &cancel, progress, records: None };
        ticks(&scenario.model, 1_000_000, &control).expect("a pilot")
    }

    #[test]
    fn a_given_time_becomes_the_ticks_expected_in_it() {
        assert_eq!(of("none", 0.5), WarmUpTicks { ticks: 0, rule: "none".to_owned() });
        // 0.5 x 1000 = 500 ticks, in steps of 128.
        assert_eq!(of("1000u", 0.5).ticks, 512);
        assert_eq!(of("1000u", 0.9).ticks, 1024);
        assert!(of("1000u", 0.5).rule.contains("1000"), "{}", of("1000u", 0.5).rule);
    }

    #[test]
    fn what_is_detected_is_less_than_the_pilot() {
        let detected = of("mser", 0.9);
        assert!(detected.ticks <= 131_072 && detected.rule.contains("100000 ticks"), "{detected:?}");
    }

    #[test]
    fn batches_of_a_power_of_two_begin_where_the_warm_up_ends() {
        for ticks in [0, 1, 5, 511, 512, 513, 100_000, 10_000_000, 123_456_789] {
            let rounded = rounded(ticks, COARSE);
            assert!(rounded >= ticks && rounded <= ticks + ticks / 2 + 1, "{ticks}: {rounded}");
            let warm_up = WarmUpTicks { ticks: rounded, rule: String::new() };
            assert!(rounded == 0 || rounded.is_multiple_of(warm_up.granularity()));
            assert!(rounded == 0 || warm_up.granularity() >= (ticks / 4).min(1 << 16), "{ticks}");
        }
        assert_eq!(rounded(123_456_789, COARSE) % (1 << 16), 0);
    }
}
