//! Who waits, at the end of a run, for what never comes, while others still run.
//!
//! | | |
//! |-|-|
//! | Can still run | who is ready, runs or sleeps; who waits for what a timer or the switch holds; who waits for what somebody brings that can still run: the least such set |
//! | Brings | every event that is posted, and every queue that is fed, by a step that can be reached from where a process stands; loops that are counted may end at any time |
//! | Departure | a step that can be reached may never be, as behind a wait that never ends: who is named waits for ever, who is not may do so too |
//! | Work | O(steps of all programs + events + processes), once, at the end of a run |

use crate::engine::code::Step;
use crate::engine::processor::Node;
use crate::engine::switch::Message;
use crate::engine::timer::Alarm;
use crate::engine::world::{NOBODY, State, World};
use crate::record::Sink;

/// So many processes are named at most.
const NAMED: usize = 10;

/// What a step brings others.
#[derive(Clone, Copy)]
enum Brings {
    Event(u32),
    Data(u32),
}

/// Who is known to be able to run, and what comes.
struct Search {
    runs: Vec<bool>,
    /// Of these, whose programs were not yet looked at.
    fresh: Vec<u32>,
    /// The steps that were looked at.
    seen: Vec<bool>,
    events: Vec<bool>,
    queues: Vec<bool>,
}

impl Search {
    fn revive(&mut self, process: u32) {
        if !std::mem::replace(&mut self.runs[process as usize], true) {
            self.fresh.push(process);
        }
    }
}

impl<S: Sink, const V: bool> World<'_, S, V> {
    /// Who waits for ever, in words, each with the place of its node; takes what timers and switch still hold.
    #[cold]
    pub(super) fn stranded<D>(&self, nodes: &mut [Node<D>]) -> Vec<(usize, String)> {
        let waiting = (0..self.processes.len() as u32).filter(|&process| self.is_waiting(process));
        if waiting.clone().next().is_none() {
            return Vec::new();
        }
        let mut search = self.search();
        self.what_is_under_way(nodes, &mut search);
        while let Some(process) = search.fresh.pop() {
            for brings in self.brought(process, &mut search.seen) {
                self.comes(brings, &mut search);
            }
        }
        let stranded: Vec<u32> = waiting.filter(|&process| !search.runs[process as usize]).collect();
        self.in_words(&stranded, &mut search.seen)
    }

    /// Who is ready at the end and has been neither waiting nor asleep since `from`, the system's left out: the places
    /// of node and process.
    #[cold]
    pub(super) fn ready_since(&self, from: u64) -> Vec<(usize, usize)> {
        let processes = self.processes.iter().enumerate();
        let ready = processes.filter(|(_, one)| one.state == State::Ready && !one.system && one.woke <= from);
        ready.map(|(place, one)| (one.node as usize, place)).collect()
    }

    fn is_waiting(&self, process: u32) -> bool {
        matches!(self.processes[process as usize].state, State::WaitsForEvent | State::WaitsForData(_))
    }

    /// Begins with those that wait for nobody.
    fn search(&self) -> Search {
        let mut search = Search {
            runs: vec![false; self.processes.len()],
            fresh: Vec::new(),
            seen: vec![false; self.programs.steps.len()],
            events: vec![false; self.events.len()],
            queues: vec![false; self.queues.len()],
        };
        for (process, one) in (0..).zip(&self.processes) {
            if matches!(one.state, State::Ready | State::Runs | State::Sleeps) {
                search.revive(process);
            }
        }
        search
    }

    fn what_is_under_way<D>(&self, nodes: &mut [Node<D>], search: &mut Search) {
        for node in nodes {
            while let Some(alarm) = node.timer.take(u64::MAX) {
                match alarm {
                    Alarm::Wake(process) => search.revive(process),
                    Alarm::Post(event) => self.comes(Brings::Event(event), search),
                }
            }
            while let Some(message) = node.inbox.take(u64::MAX) {
                match message {
                    Message::Post(event) => self.comes(Brings::Event(event), search),
                    Message::Put { queue, .. } => self.comes(Brings::Data(queue), search),
                    Message::Given(process) => search.revive(process),
                }
            }
        }
    }

    /// Revives who waits for it.
    fn comes(&self, brings: Brings, search: &mut Search) {
        match brings {
            Brings::Event(event) => {
                if !std::mem::replace(&mut search.events[event as usize], true) {
                    let owner = self.events[event as usize].owner;
                    let one = &self.processes[owner as usize];
                    if one.state == State::WaitsForEvent && self.waits_for(one.step, event) {
                        search.revive(owner);
                    }
                }
            }
            Brings::Data(queue) => {
                if !std::mem::replace(&mut search.queues[queue as usize], true) {
                    self.queues[queue as usize].waiting.iter().for_each(|&process| search.revive(process));
                }
            }
        }
    }

    /// What a process may bring from where it stands; steps that were seen before are left out.
    fn brought(&self, process: u32, seen: &mut [bool]) -> Vec<Brings> {
        let mut ahead = vec![self.processes[process as usize].step];
        let mut brought = Vec::new();
        while let Some(step) = ahead.pop() {
            if std::mem::replace(&mut seen[step as usize], true) {
                continue;
            }
            match self.programs.steps[step as usize] {
                Step::Exit => continue,
                Step::Jump { to } => {
                    ahead.push(to);
                    continue;
                }
                Step::Again { to, .. } => ahead.push(to),
                Step::Post { event } | Step::PostAfter { event, .. } => brought.push(Brings::Event(event)),
                Step::Enqueue { queue } => brought.push(Brings::Data(queue)),
                _ => {}
            }
            ahead.push(step + 1);
        }
        brought
    }

    fn in_words(&self, stranded: &[u32], seen: &mut [bool]) -> Vec<(usize, String)> {
        let (mut posts, mut feeds) = (vec![NOBODY; self.events.len()], vec![NOBODY; self.queues.len()]);
        for &process in stranded {
            for brings in self.brought(process, seen) {
                let first = match brings {
                    Brings::Event(event) => &mut posts[event as usize],
                    Brings::Data(queue) => &mut feeds[queue as usize],
                };
                *first = (*first).min(process);
            }
        }
        let told: Vec<u32> =
            stranded.iter().copied().filter(|&process| !self.processes[process as usize].system).collect();
        let node = |process: u32| self.processes[process as usize].node as usize;
        let words = |&process: &u32| (node(process), self.stranded_in_words(process, &posts, &feeds));
        let mut words: Vec<_> = told.iter().take(NAMED).map(words).collect();
        if let Some(&process) = told.get(NAMED) {
            let more = told.len() - NAMED;
            words.push((node(process), format!("{more} more wait for what nobody who can still run brings")));
        }
        words
    }

    /// What a process waits for, and who would bring it. `posts` and `feeds`: of each event and queue, the first of those
    /// who wait for ever that would.
    fn stranded_in_words(&self, process: u32, posts: &[u32], feeds: &[u32]) -> String {
        let one = &self.processes[process as usize];
        let (why, would) = match (one.state, self.programs.steps[one.step as usize]) {
            (State::WaitsForData(queue), _) => {
                ("where nobody who can still run puts any", feeds[queue as usize])
            }
            (_, Step::WaitOne { event }) => ("which nobody who can still run posts", posts[event as usize]),
            _ => {
                let own = (0..)
                    .zip(&self.events)
                    .filter(|(event, other)| other.owner == process && self.waits_for(one.step, *event));
                let would = own.map(|(event, _): (u32, _)| posts[event as usize]).min();
                ("none of which anybody who can still run posts", would.unwrap_or(NOBODY))
            }
        };
        let would = match would {
            NOBODY => String::new(),
            would if would == process => " (it would itself, but later)".to_owned(),
            would => format!(" (`{}` would, but waits for ever too)", self.name(would)),
        };
        format!("{}, {why}{would}", self.waits_in_words(process))
    }
}
