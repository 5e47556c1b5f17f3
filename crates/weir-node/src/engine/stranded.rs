//! Who waits, at the end of a run, for what never comes, while others still run.
//!
//! | | |
//! |-|-|
//! | Can still run | who is ready, runs or sleeps; who waits for what a timer or the switch holds; who waits for what somebody brings that can still run: the least such set |
//! | Brings | every event that is posted, and every queue that is fed, by a step that can be reached from where a process stands; loops that are counted may end at any time |
//! | Departure | a step that can be reached may never be, as behind a wait that never ends: who is named waits for ever, who is not may do so too |
//! | Work | O(steps of all programs + events + processes), once, at the end of a run |

use crate::engine::code::Step;
use crate::engine::objects::{Dual, Events};
use crate::engine::process::State;
use crate::engine::processor::Node;
use crate::engine::stuck::{NAMED, Words};
use crate::engine::switch::Message;
use crate::engine::timer::Alarm;
use crate::engine::world::NOBODY;

/// What a step brings others.
#[derive(Clone, Copy)]
enum Brings {
    Event(u32),
    Data(u32),
}

/// Who is known to be able to run, and what comes.
struct Search<'w> {
    words: Words<'w>,
    owners: &'w Events,
    duals: &'w [Dual],
    runs: Vec<bool>,
    /// Those of them whose programs were not yet examined.
    fresh: Vec<u32>,
    /// The steps that were examined.
    seen: Vec<bool>,
    events: Vec<bool>,
    queues: Vec<bool>,
}

impl Words<'_> {
    /// Who waits for ever, in words, each with the place of its node; takes what timers and switch still hold.
    #[cold]
    pub(super) fn stranded<D>(
        self,
        events: &Events,
        queues: &[Dual],
        nodes: &mut [Node<D>],
    ) -> Vec<(usize, String)> {
        let waiting = (0..self.processes.len() as u32).filter(|&process| self.is_waiting(process));
        if waiting.clone().next().is_none() {
            return Vec::new();
        }
        let mut search = Search::new(self, events, queues);
        search.take_what_is_under_way(nodes);
        while let Some(process) = search.fresh.pop() {
            search.brought(process).into_iter().for_each(|brings| search.comes(brings));
        }
        let stranded: Vec<u32> = waiting.filter(|&process| !search.runs[process as usize]).collect();
        search.in_words(&stranded)
    }

    fn is_waiting(self, process: u32) -> bool {
        matches!(self.processes[process as usize].state, State::WaitsForEvent | State::WaitsForData(_))
    }
}

impl<'w> Search<'w> {
    /// Begins with those that wait for nobody.
    fn new(words: Words<'w>, owners: &'w Events, duals: &'w [Dual]) -> Self {
        let mut search = Self {
            words,
            owners,
            duals,
            runs: vec![false; words.processes.len()],
            fresh: Vec::new(),
            seen: vec![false; words.programs.steps.len()],
            events: vec![false; owners.len()],
            queues: vec![false; duals.len()],
        };
        for (process, one) in (0..).zip(words.processes) {
            if matches!(one.state, State::Ready | State::Runs | State::Sleeps) {
                search.revive(process);
            }
        }
        search
    }

    fn revive(&mut self, process: u32) {
        if !std::mem::replace(&mut self.runs[process as usize], true) {
            self.fresh.push(process);
        }
    }

    fn take_what_is_under_way<D>(&mut self, nodes: &mut [Node<D>]) {
        for node in nodes {
            while let Some(alarm) = node.timer.take(u64::MAX) {
                match alarm {
                    Alarm::Wake(process) => self.revive(process),
                    Alarm::Post(event) => self.comes(Brings::Event(event)),
                }
            }
            while let Some(message) = node.inbox.take(u64::MAX) {
                match message {
                    Message::Post(event) => self.comes(Brings::Event(event)),
                    Message::Put { queue, .. } => self.comes(Brings::Data(queue)),
                    Message::Given(process) => self.revive(process),
                }
            }
        }
    }

    /// Revives who waits for it.
    fn comes(&mut self, brings: Brings) {
        match brings {
            Brings::Event(event) => {
                if !std::mem::replace(&mut self.events[event as usize], true) {
                    let owner = self.owners.owner(event);
                    let one = &self.words.processes[owner as usize];
                    if one.state == State::WaitsForEvent && self.words.programs.waits_for(one.step, event) {
                        self.revive(owner);
                    }
                }
            }
            Brings::Data(queue) => {
                if !std::mem::replace(&mut self.queues[queue as usize], true) {
                    self.duals[queue as usize].waiting.iter().for_each(|&process| self.revive(process));
                }
            }
        }
    }

    /// What a process may bring from where it stands; steps that were seen before are left out.
    fn brought(&mut self, process: u32) -> Vec<Brings> {
        let mut ahead = vec![self.words.processes[process as usize].step];
        let mut brought = Vec::new();
        while let Some(step) = ahead.pop() {
            if std::mem::replace(&mut self.seen[step as usize], true) {
                continue;
            }
            match self.words.programs.steps[step as usize] {
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

    fn in_words(&mut self, stranded: &[u32]) -> Vec<(usize, String)> {
        let (mut posts, mut feeds) = (vec![NOBODY; self.events.len()], vec![NOBODY; self.queues.len()]);
        for &process in stranded {
            for brings in self.brought(process) {
                let first = match brings {
                    Brings::Event(event) => &mut posts[event as usize],
                    Brings::Data(queue) => &mut feeds[queue as usize],
                };
                *first = (*first).min(process);
            }
        }
        let processes = self.words.processes;
        let told: Vec<u32> =
            stranded.iter().copied().filter(|&process| !processes[process as usize].system).collect();
        let node = |process: u32| processes[process as usize].node as usize;
        let words = |&process: &u32| (node(process), self.stranded_in_words(process, &posts, &feeds));
        let mut words: Vec<_> = told.iter().take(NAMED).map(words).collect();
        if let Some(&process) = told.get(NAMED) {
            let more = told.len() - NAMED;
            words.push((
                node(process),
                format!("{more} more wait for something that no process able to run can bring"),
            ));
        }
        words
    }

    /// What a process waits for, and who would bring it. `posts` and `feeds`: of each event and queue, the first of those
    /// who wait for ever that would.
    fn stranded_in_words(&self, process: u32, posts: &[u32], feeds: &[u32]) -> String {
        let Self { words, owners, .. } = self;
        let one = &words.processes[process as usize];
        let (why, would) = match (one.state, words.programs.steps[one.step as usize]) {
            (State::WaitsForData(queue), _) => {
                ("which no process that can still run puts there", feeds[queue as usize])
            }
            (_, Step::WaitOne { event }) => {
                ("which no process that can still run posts", posts[event as usize])
            }
            _ => {
                let own = owners.of(process).filter(|&event| words.programs.waits_for(one.step, event));
                let would = own.map(|event| posts[event as usize]).min();
                ("none of which is posted by a process that can still run", would.unwrap_or(NOBODY))
            }
        };
        let would = match would {
            NOBODY => String::new(),
            would if would == process => " (it would itself, but later)".to_owned(),
            would => format!(" (`{}` would, but waits for ever too)", words.name(would)),
        };
        format!("{}, {why}{would}", words.waits_in_words(process))
    }
}
