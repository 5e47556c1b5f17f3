//! Replications of the port as units of work: played one by one, kept as bytes, gathered into a result.
//!
//! The warm-up is found once, before any replication; each carries it. How many sections of histograms a replication has
//! depends on how many replications there are (`SECTIONS` of them have at least that many together): one that was kept in
//! more sections than a result needs is merged, pair by pair, to what it would have collected itself.

use std::sync::atomic::AtomicBool;

use weir_lab::encode::{self, Encode};
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::replicated::{Kept, Replicated, alone, prepared};

use crate::collector::{Collector, Plan};
use crate::gathered::{Left, SECTIONS};
use crate::model::PortScenario;
use crate::outcome::Outcome;
use crate::report;
use crate::run::{Session, left, nothing, plan, ticks_per_replication};
use crate::warmup::{self, WarmUpTicks};

impl Replicated for PortScenario {
    type Outcome = Outcome;

    fn is_played(&self) -> bool {
        self.statement.is_none()
    }

    fn grain(&self) -> u16 {
        SECTIONS.div_ceil(self.stop.replications as usize) as u16
    }

    fn prepare(&self, cancel: &AtomicBool) -> Result<Vec<u8>, RunError> {
        let mut silent = |_| ();
        let warm_up = warmup::ticks(self, ticks_per_replication(self), &alone(cancel, &mut silent))?;
        Ok(encode::bytes(&warm_up))
    }

    fn play(&self, found: &[u8], replication: u32, cancel: &AtomicBool) -> Result<Option<Vec<u8>>, RunError> {
        let warm_up: WarmUpTicks = prepared(found)?;
        let ticks = ticks_per_replication(self);
        let plan = plan(self, ticks, &warm_up);
        let mut silent = |_| ();
        let mut control = alone(cancel, &mut silent);
        let mut session = Session::new(self, &plan, ticks, replication..replication + 1, &control)?;
        if session.run(&mut control)? {
            return Ok(None);
        }
        let lanes = &mut session.rounds.lanes;
        lanes.iter_mut().for_each(|running| running.placed.lane.finish());
        let mut state = encode::bytes(&warm_up);
        write(&left(lanes, Collector::hand_over), &mut state);
        Ok(Some(state))
    }

    fn gather(&self, frame: &Frame, kept: &mut dyn Iterator<Item = Kept>) -> Result<Outcome, RunError> {
        if self.statement.is_some() {
            return Ok(report::statement(self, frame));
        }
        let mut made: Option<(WarmUpTicks, Plan)> = None;
        let (mut gathered, mut finished) = (Vec::new(), 0);
        for (replication, state) in kept {
            let stranger = || RunError::Stranger { replication };
            let from = &mut &state[..];
            let warm_up = WarmUpTicks::decode(from).ok_or_else(stranger)?;
            let (first, plan) = made.get_or_insert_with(|| {
                let plan = plan(self, ticks_per_replication(self), &warm_up);
                gathered = nothing(self, &plan);
                (warm_up.clone(), plan)
            });
            let is_of = *first == warm_up && replication < self.stop.replications;
            let read =
                read(plan, from).filter(|read| is_of && from.is_empty() && read.len() == gathered.len());
            read.ok_or_else(stranger)?
                .into_iter()
                .for_each(|left| gathered[left.place].add(replication, left));
            finished += 1;
        }
        let (warm_up, _) = made.unwrap_or_else(|| {
            let none = WarmUpTicks { ticks: 0, rule: "none".to_owned() };
            let plan = plan(self, ticks_per_replication(self), &none);
            gathered = nothing(self, &plan);
            (none, plan)
        });
        let interrupted = finished < self.stop.replications;
        Ok(report::outcome(self, frame, &gathered, report::Ending { warm_up, interrupted, precision: None }))
    }
}

fn write(left: &[Left], into: &mut Vec<u8>) {
    left.len().encode(into);
    for Left { place, engine, collector, state, audited, windows } in left {
        place.encode(into);
        engine.encode(into);
        collector.encode(into);
        state.encode(into);
        audited.encode(into);
        windows.encode(into);
    }
}

/// What each discipline left, at a place of its own.
fn read(plan: &Plan, from: &mut &[u8]) -> Option<Vec<Left>> {
    let count = usize::decode(from)?.min(from.len());
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(Left {
            place: usize::decode(from)?,
            engine: Encode::decode(from)?,
            collector: Collector::decode(plan, from)?,
            state: Encode::decode(from)?,
            audited: Encode::decode(from)?,
            windows: Encode::decode(from)?,
        });
    }
    // No engine serves what has not arrived.
    if all.iter().any(|left| left.state.flow.served > left.state.flow.arrived) {
        return None;
    }
    let mut seen = vec![false; all.len()];
    let each_once = all.iter().all(|left| match seen.get_mut(left.place) {
        Some(seen) => !std::mem::replace(seen, true),
        None => false,
    });
    each_once.then_some(all)
}
