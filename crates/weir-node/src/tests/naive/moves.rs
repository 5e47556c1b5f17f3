//! Rebalancing: who moves, and what goes with it.

use super::{Alarm, Mail, Naive, State};
use crate::record::Sink;
use weir_core::item::FlowId;
use weir_core::task::TaskDiscipline;
use weir_core::units::Instant;

impl Naive<'_> {
    pub(super) fn compare(&mut self) {
        let scenario = self.scenario;
        let mut busy = vec![0_u64; self.nodes.len()];
        for (one, asked) in self.processes.iter().zip(&scenario.processes) {
            busy[one.node] += if asked.system { 0 } else { one.recent };
        }
        let most = *busy.iter().max().expect("a node");
        let least = *busy.iter().min().expect("a node");
        let from = busy.iter().position(|&time| time == most).expect("a node");
        let to = busy.iter().position(|&time| time == least).expect("a node");
        let promised: u64 = (0..self.processes.len())
            .filter(|&number| {
                let one = &self.processes[number];
                (one.node == to || one.destination == Some(to)) && one.state != State::Ended
            })
            .map(|number| scenario.processes[number].declared.need.get())
            .sum();
        let mut best: Option<(u64, usize)> = None;
        for number in 0..self.processes.len() {
            let (one, asked) = (&self.processes[number], &scenario.processes[number]);
            let room = scenario.epoch.get().saturating_sub(promised);
            let fits = asked.declared.need.get() <= room;
            let runs = one.recent > 0 && one.recent < most - least;
            let free = asked.movable && !asked.system && one.destination.is_none();
            if one.node == from && one.state != State::Ended && fits && runs && free {
                let distance = (2 * one.recent).abs_diff(most - least);
                if best.is_none_or(|(other, _)| distance < other) {
                    best = Some((distance, number));
                }
            }
        }
        if let Some((_, number)) = best {
            self.processes[number].destination = Some(to);
        }
        self.processes.iter_mut().for_each(|one| one.recent = 0);
        self.move_waiting();
    }

    pub(super) fn move_waiting(&mut self) {
        for number in 0..self.processes.len() {
            let one = &mut self.processes[number];
            if !matches!(one.state, State::Event | State::Data | State::Sleeping) {
                continue;
            }
            let Some(to) = one.destination.take() else { continue };
            let (at, flow, from) = (Instant::new(self.now), FlowId(number as u32), one.node);
            let declared = self.scenario.processes[number].declared;
            self.charge(from);
            self.charge(to);
            if self.nodes[to].discipline.declare(at, flow, declared).is_err() {
                continue;
            }
            self.nodes[from].discipline.exit(at, flow);
            let one = &mut self.processes[number];
            one.node = to;
            one.left += self.scenario.balance.map_or(0, |balance| balance.cost.get());
            let owner = |event: usize| self.scenario.events[event].owner;
            let alarms = std::mem::take(&mut self.nodes[from].alarms);
            let (gone, kept): (Vec<_>, _) = alarms.into_iter().partition(|(_, _, alarm)| match alarm {
                Alarm::Wake(process) => *process == number,
                Alarm::Post(event) => owner(*event) == number,
            });
            self.nodes[from].alarms = kept;
            self.nodes[to].alarms.extend(gone);
            let mail = std::mem::take(&mut self.nodes[from].mail);
            let (gone, kept): (Vec<_>, _) = mail.into_iter().partition(|(_, _, mail)| match mail {
                Mail::Post(event) => owner(*event) == number,
                Mail::Given(process) => *process == number,
                Mail::Put(..) => false,
            });
            self.nodes[from].mail = kept;
            self.nodes[to].mail.extend(gone);
            self.trace.moved(number, to, at);
        }
    }
}
