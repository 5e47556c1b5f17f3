//! The control loop of a daemon that steers, without its sockets and its sleep: what was counted goes to the policy, what
//! the policy decides goes to the programs.
//!
//! The policy is a dispatcher of weir-core, the same that a simulation runs. After each of its periods it learns what
//! the classes waited over the last window; where its rule is another one then, the programs get the decision. A policy
//! without a period never changes by itself.
//!
//! Nothing is lost when processors change. A new one gets its queue before requests are sent to it. One that is taken
//! away, or goes offline, gets no new requests, and its queue is closed once it has served what it had: what was still on
//! the way when the decision changed is in its queue a moment later, so that it is checked no sooner. The thread of a
//! processor that goes offline serves on another meanwhile, and stays there when its own is back: that queue is drained,
//! closed and made anew.
//!
//! | | |
//! |-|-|
//! | Source | Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, the control loop; the draining is ours |
//! | Work | O(processors) a period |
//! | Units | nanoseconds since the daemon began |
//! | Departs from the source | counters are never reset; the window may be longer than the period; a core that is taken away drains |

use std::collections::BTreeMap;
use std::io;

use weir_core::pool::{Delays, Measured, Rule};
use weir_core::spec::Spec;
use weir_core::units::{Instant, Nanos};

use super::config::{MOST_CLASSES, Processors, Steering};
use super::counts::{Counts, ProcessorCounts};
use super::decision::Decision;
use super::policy::{self, Policy};
use super::queue::Queue;
use super::threads::QueueThread;
use super::window::Window;

/// How often queues, threads and processors are checked where nothing is under way.
const LOOK: Nanos = Nanos::new(1_000_000_000);
/// How often while a queue drains, or its thread is not there yet.
const LOOK_SOON: Nanos = Nanos::new(50_000_000);

/// What the loop needs of the programs and of the machine; tests have another than the kernel's.
pub trait Steered {
    /// Makes the queue of a processor.
    ///
    /// # Errors
    /// The kernel refuses.
    fn open_queue(&mut self, processor: u32) -> io::Result<()>;
    /// Removes the queue of a processor, which has been drained.
    ///
    /// # Errors
    /// The kernel refuses.
    fn close_queue(&mut self, processor: u32) -> io::Result<()>;
    /// Puts a decision into force.
    ///
    /// # Errors
    /// The kernel refuses.
    fn decide(&mut self, decision: &Decision) -> io::Result<()>;
    /// What was counted.
    ///
    /// # Errors
    /// The kernel refuses.
    fn counts(&mut self) -> io::Result<Counts>;
    /// Of that what each class has waited, which is all that a period asks for.
    fn waited(&self) -> [Delays; MOST_CLASSES];
    /// Frames so far whose senders left the checksum to a device.
    fn left_to_device(&self) -> u64;
    /// The processors with the kernel threads that serve their queues, as far as they are there yet.
    fn threads(&self) -> Vec<QueueThread>;
    /// Gives one of these threads a real-time priority, or leaves it; returns in words how it is scheduled.
    fn schedule(&mut self, thread: u32, priority: Option<u8>) -> String;
    /// Whether one of these threads sleeps.
    fn sleeps(&self, thread: u32) -> bool;
    /// Whether one of these threads runs on its processor alone.
    fn is_at(&self, thread: u32, processor: u32) -> bool;
    /// The processors that are online.
    ///
    /// # Errors
    /// The system does not say.
    fn online(&self) -> io::Result<Processors>;
}

/// The loop.
pub struct Control<S> {
    pub(super) steered: S,
    /// The configuration in force.
    pub(super) steering: Steering,
    /// The processors that the policy was built for, by server.
    pub(super) servers: Processors,
    pub(super) policy: Policy,
    /// Those that have a queue, or had one.
    pub(super) queues: BTreeMap<u32, Queue>,
    pub(super) online: Processors,
    decision: Decision,
    window: Window,
    /// Changes of the decision.
    pub(super) changes: u64,
    /// How often the policy was called.
    pub(super) calls: u64,
    next_period: Option<Instant>,
    next_look: Instant,
}

impl<S: Steered> Control<S> {
    /// Opens the queues of these processors, and puts the first decision into force.
    ///
    /// # Errors
    /// The policy cannot be built for them, or the kernel refuses.
    pub fn start(steered: S, steering: Steering, servers: Processors, now: Instant) -> io::Result<Self> {
        let site = steering.site(servers.0.len());
        let (_, policy) = policy::build(&steering.policy.to_string(), &site).map_err(io::Error::other)?;
        let window = Window::new(steering.window);
        let online = steered.online()?;
        let mut control = Self {
            steered,
            steering,
            servers,
            policy,
            queues: BTreeMap::new(),
            online,
            decision: Decision::default(),
            window,
            changes: 0,
            calls: 0,
            next_period: None,
            next_look: now,
        };
        control.begin(now)?;
        Ok(control)
    }

    /// When it has something to do next.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        self.next_period.map_or(self.next_look, |period| period.min(self.next_look))
    }

    /// Does what is due.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn advance(&mut self, now: Instant) -> io::Result<()> {
        if self.next_period.is_some_and(|due| due <= now) {
            self.measure(now)?;
        }
        if self.next_look <= now {
            self.look(now)?;
        }
        Ok(())
    }

    /// Takes another policy, which begins anew; returns it as it is written.
    ///
    /// # Errors
    /// Why it is none that runs here; nothing has changed then.
    pub fn set_policy(&mut self, now: Instant, spec: &str) -> Result<Spec, String> {
        let (spec, policy) = policy::build(spec, &self.steering.site(self.servers.0.len()))?;
        self.policy = policy;
        self.steering.policy = spec.clone();
        self.begin(now).map_err(|error| format!("the kernel refuses the policy: {error}: try again"))?;
        Ok(spec)
    }

    /// Spreads requests over other processors; the policy begins anew. Those that are not among them any more drain.
    ///
    /// # Errors
    /// Why the policy cannot have them; nothing has changed then.
    pub fn set_processors(&mut self, now: Instant, servers: Processors) -> Result<(), String> {
        let spec = self.steering.policy.to_string();
        let (_, policy) = policy::build(&spec, &self.steering.site(servers.0.len()))?;
        self.policy = policy;
        self.servers = servers.clone();
        self.steering.processors = servers;
        self.begin(now).map_err(|error| format!("the kernel refuses the processors: {error}: try again"))
    }

    /// What was counted, with what is known of requests that nobody served.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn counts(&mut self) -> io::Result<Counts> {
        let mut counts = self.steered.counts()?;
        for each in &mut counts.processors {
            each.dropped += self.queues.get(&each.processor).map_or(0, |queue| queue.lost());
        }
        Ok(counts)
    }

    /// What the classes take of the list: the first place and how many.
    #[must_use]
    pub fn parts(&self) -> [[u32; 2]; MOST_CLASSES] {
        match self.policy.rule() {
            Some(Rule::Cycle { parts, .. }) => parts.map(|part| [part.first, part.count]),
            _ => [[0, self.servers.0.len() as u32]; MOST_CLASSES],
        }
    }

    /// The processors that new requests are sent to.
    #[must_use]
    pub fn in_use(&self) -> Vec<u32> {
        let servers = self.by_server();
        let mut used: Vec<u32> = match self.policy.rule() {
            Some(Rule::Cycle { places, parts, .. }) => {
                let of = |place: u32| places.get(place as usize).copied().flatten();
                let places = parts.iter().flat_map(|part| part.first..part.first + part.count);
                places
                    .filter_map(of)
                    .filter_map(|server| servers.get(server.0 as usize).copied().flatten())
                    .collect()
            }
            _ => servers.into_iter().flatten().collect(),
        };
        used.sort_unstable();
        used.dedup();
        used
    }

    /// A policy, or its processors, are new.
    fn begin(&mut self, now: Instant) -> io::Result<()> {
        self.open_queues();
        self.decide(now)?;
        self.window.restart(now, self.steered.waited());
        self.next_period = self.policy.period().map(|period| now + period);
        self.next_look = now;
        Ok(())
    }

    /// A period is over.
    fn measure(&mut self, now: Instant) -> io::Result<()> {
        let Some(period) = self.policy.period() else { return Ok(()) };
        let classes = self.window.advance(now, self.steered.waited());
        let classes = &classes[..self.steering.classes.names.len()];
        // How long the oldest has waited, and for how long processors served, no program tells; no policy that runs in the
        // kernel asks.
        let measured = Measured { classes, oldest: Nanos::new(0), busy: Nanos::new(0) };
        self.policy.control(now, &measured);
        self.calls += 1;
        self.decide(now)?;
        // Where it was late it does not catch up: the window says what came in between.
        let due = self.next_period.map_or(now, |due| due + period);
        self.next_period = Some(if due > now { due } else { now + period });
        Ok(())
    }

    /// Puts the decision of the policy's rule into force, if it is another one.
    fn decide(&mut self, now: Instant) -> io::Result<()> {
        let Some(rule) = self.policy.rule() else { return Ok(()) };
        let decision = Decision::of(&rule, &self.by_server());
        if decision != self.decision {
            self.steered.decide(&decision)?;
            self.decision = decision;
            self.changes += 1;
        }
        self.drain_others(now);
        Ok(())
    }

    /// The processor of each server that requests can be sent to.
    fn by_server(&self) -> Vec<Option<u32>> {
        let serves = |processor: &u32| {
            let takes = self.queues.get(processor).is_some_and(Queue::takes);
            (takes && self.online.0.contains(processor)).then_some(*processor)
        };
        self.servers.0.iter().map(serves).collect()
    }

    /// Makes the queues that are missing.
    fn open_queues(&mut self) {
        for &processor in self.servers.0.iter().filter(|processor| self.online.0.contains(processor)) {
            let queue = self.queues.entry(processor).or_default();
            if queue.is_open() {
                queue.keep();
                continue;
            }
            match self.steered.open_queue(processor) {
                Ok(()) => queue.open(),
                Err(error) => queue.refused(processor, &error),
            }
        }
    }

    /// Marks the queues that get no requests any more.
    fn drain_others(&mut self, now: Instant) {
        for (processor, queue) in &mut self.queues {
            if !(queue.takes() && self.servers.0.contains(processor) && self.online.0.contains(processor)) {
                queue.drain(now);
            }
        }
    }

    /// Checks processors, queues and threads.
    fn look(&mut self, now: Instant) -> io::Result<()> {
        let online = self.steered.online()?;
        if online != self.online {
            tell_of(&self.servers, &self.online, &online);
            self.online = online;
        }
        self.look_for_strays();
        self.open_queues();
        self.decide(now)?;
        self.look_at_threads();
        let counts = self.steered.counts()?;
        let mut busy = false;
        for each in &counts.processors {
            busy |= self.look_at_queue(now, each)?;
        }
        busy |= self.queues.values().any(Queue::is_unsettled);
        self.next_look = now + if busy { LOOK_SOON } else { LOOK };
        Ok(())
    }

    /// A processor that goes offline has its thread moved to another, where it stays; its queue is made anew.
    fn look_for_strays(&mut self) {
        for (processor, queue) in &mut self.queues {
            if queue.thread().is_some_and(|thread| !self.steered.is_at(thread, *processor)) {
                queue.goes_astray();
            }
        }
    }

    /// Schedules the threads that are new; they appear a moment after their queue.
    fn look_at_threads(&mut self) {
        if !self.queues.values().any(Queue::lacks_thread) {
            return;
        }
        for QueueThread { processor, process: thread } in self.steered.threads() {
            let Some(queue) = self.queues.get_mut(&processor).filter(|queue| queue.lacks_thread()) else {
                continue;
            };
            let priority = self.steered.schedule(thread, self.steering.priority.0);
            queue.has_thread(thread, priority);
        }
    }

    /// Closes the queue where it is drained, and returns whether that was so.
    fn look_at_queue(&mut self, now: Instant, counts: &ProcessorCounts) -> io::Result<bool> {
        let Some(queue) = self.queues.get_mut(&counts.processor) else { return Ok(false) };
        let sleeps = queue.thread().is_some_and(|thread| self.steered.sleeps(thread));
        queue.look(now, counts, sleeps);
        let is_drained = queue.is_drained(now);
        if is_drained {
            self.steered.close_queue(counts.processor)?;
            queue.close();
        }
        Ok(is_drained)
    }
}

/// Says which processors of the list went, and which came.
fn tell_of(servers: &Processors, before: &Processors, now: &Processors) {
    for processor in &servers.0 {
        match (before.0.contains(processor), now.0.contains(processor)) {
            (true, false) => {
                crate::daemon::log::notice(format_args!("processor {processor}: offline; others serve"))
            }
            (false, true) => {
                crate::daemon::log::notice(format_args!("processor {processor}: online, and serves again"))
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
