//! The plain engine: one calendar with one entry for each thing that happens.
//!
//! It is what the semantics in [`crate::fabric`] say, word by word, and the oracle of any faster engine. At one
//! instant it goes through four phases: everything that is due, in any order; the interfaces, which take packets in;
//! the crossbars; the links. What a phase starts has its first effect at a later instant.
//!
//! | entry | when | then |
//! |-|-|-|
//! | generated | the next packet of a source | its interface takes packets in |
//! | free | a link has sent a packet | its space is released, its interface or crossbar goes on, the link asks |
//! | bid | a head may bid | its crossbar goes on |
//! | through | a transfer has ended | input, output and space are free, the credit returns; its crossbar goes on |
//! | visible | a packet is before the scheduler of an output | the link asks |
//! | credit | a credit is back at the sender | the link asks |
//! | wake | a discipline changes by itself | the link asks |
//! | delivered | a tail came to an end-point | the packet is gone |
//!
//! | | |
//! |-|-|
//! | Work | five entries a packet and switch, O(log(links)) each; a crossbar looks at every head that waits |
//! | Memory | linear in ports times channels, and what their buffers hold; nothing for packets that wait outside |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_core::discipline::{Discipline, Gate, Grant};
use weir_core::units::Bytes;

use crate::fabric::build::{self, Lost, Scheduler};
use crate::fabric::crossbar::{Crossbars, Transfer, Waiting};
use crate::fabric::job::{Ended, Job, Tally};
use crate::fabric::model::{FabricScenario, Routing};
use crate::fabric::packet::{Handle, Packet, Store};
use crate::fabric::record::{Delivery, Generation, Injection, Sink};
use crate::fabric::route::Router;
use crate::fabric::source::{Offer, Source};
use crate::fabric::time::{
    CreditUnit, NEVER, TICKS_PER_NANO, TICKS_PER_SECOND, Ticks, Timing, instant, nanos, ticks, timing,
};
use crate::fabric::topology::{End, Wiring};
use crate::fabric::verify::Audit;
use crate::network::job::Watch;
use crate::port::run::RunError;

/// Instants between two looks at the outside.
const STEPS: u32 = 1 << 12;

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    Generated { source: u32 },
    Free { link: u32, handle: Handle },
    Bid { port: u32, waiting: Waiting },
    Through(Transfer),
    Visible { link: u32, handle: Handle },
    Credit { link: u32, channel: u8, credits: u16 },
    Wake { link: u32 },
    Delivered { host: u32, handle: Handle },
}

/// An entry of the calendar; of those of one instant the first noted comes first.
struct Entry {
    at: Ticks,
    serial: u64,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.serial) == (other.at, other.serial)
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.serial).cmp(&(other.at, other.serial))
    }
}

/// Numbers to be looked at in the next phase, each once.
#[derive(Default)]
struct Marks {
    list: Vec<u32>,
    marked: Vec<bool>,
}

impl Marks {
    fn new(count: u32) -> Self {
        Self { list: Vec::new(), marked: vec![false; count as usize] }
    }

    fn mark(&mut self, number: u32) {
        if !std::mem::replace(&mut self.marked[number as usize], true) {
            self.list.push(number);
        }
    }

    fn next(&mut self) -> Option<u32> {
        let number = self.list.pop()?;
        self.marked[number as usize] = false;
        Some(number)
    }
}

/// A link and the buffer before it: an interface, or an output of a switch.
pub(crate) struct Sender {
    scheduler: Scheduler,
    to: End,
    busy: bool,
    /// For each channel the credits that it has of the next input.
    pub(crate) credits: Vec<u32>,
    /// For each channel the room in the buffer, in credits.
    pub(crate) room: Vec<u32>,
    /// When its discipline is woken.
    wakes: Ticks,
}

/// Permits packets whose credits the channel has.
struct Credits<'a>(&'a [u32]);

impl Gate<Handle> for Credits<'_> {
    fn permits(&self, head: &Handle) -> bool {
        self.0[usize::from(head.channel)] >= u32::from(head.credits)
    }
}

/// A gate that is always closed.
struct Closed;

impl Gate<Handle> for Closed {
    fn permits(&self, _head: &Handle) -> bool {
        false
    }
}

/// One replication.
pub(crate) struct Plain<'a, S: ?Sized> {
    fabric: &'a FabricScenario,
    job: Job,
    wiring: Wiring,
    router: Router,
    timing: Timing,
    unit: CreditUnit,
    channels: u8,
    sources: Vec<Source>,
    /// When each source is in the calendar.
    noted: Vec<Ticks>,
    store: Store,
    senders: Vec<Sender>,
    crossbars: Crossbars,
    calendar: BinaryHeap<Reverse<Entry>>,
    serial: u64,
    /// Interfaces that take packets in.
    interfaces: Marks,
    /// Switches that fill their crossbars.
    switches: Marks,
    /// Links that ask.
    links: Marks,
    lost: Lost,
    /// The first thing that went wrong.
    failed: Option<RunError>,
    audit: Option<Box<Audit>>,
    tally: Tally,
    /// After the end nothing is told or counted.
    over: bool,
    sink: &'a mut S,
}

/// Runs a job.
///
/// # Errors
/// As [`crate::fabric::job::play`].
pub fn play<S: Sink + ?Sized>(
    fabric: &FabricScenario,
    job: Job,
    sink: &mut S,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    let wiring =
        Wiring::new(fabric.topology).map_err(|error| build::refused("fabric.topology", error.to_string()))?;
    let sources = Offer::new(fabric, &wiring, job.load)?.sources(job.replication);
    Plain::new(fabric, job, wiring, sources, sink)?.run(watch)
}

impl<'a, S: Sink + ?Sized> Plain<'a, S> {
    pub(crate) fn new(
        fabric: &'a FabricScenario,
        job: Job,
        wiring: Wiring,
        sources: Vec<Source>,
        sink: &'a mut S,
    ) -> Result<Self, RunError> {
        let (unit, channels) = (CreditUnit::new(fabric.credit), fabric.channels.len());
        let (hosts, ports) = (wiring.hosts(), wiring.switches() * wiring.ports());
        let sizes = [fabric.interface_buffer, fabric.switch.output_buffer, fabric.switch.input_buffer];
        let [interface, output, input] = sizes.map(|buffer| unit.of_buffer(buffer));
        let sender = |(link, scheduler): (u32, Scheduler)| {
            let (to, room) = match link.checked_sub(hosts) {
                None => (End::Port(wiring.port_of_host(link)), interface),
                Some(port) => (wiring.end(port), output),
            };
            // An end-point consumes at once: its credits never run out.
            let credits = if matches!(to, End::Host(_)) { u32::MAX } else { input };
            let [credits, room] = [credits, room].map(|of| vec![of; channels]);
            Sender { scheduler, to, busy: false, credits, room, wakes: NEVER }
        };
        let schedulers = build::schedulers(fabric, job, hosts + ports)?;
        let mut plain = Self {
            fabric,
            job,
            router: Router::new(&wiring),
            timing: timing(fabric),
            unit,
            channels: channels as u8,
            noted: vec![NEVER; sources.len()],
            sources,
            store: Store::default(),
            senders: (0..).zip(schedulers).map(sender).collect(),
            crossbars: Crossbars::new(&wiring, channels as u8),
            calendar: BinaryHeap::new(),
            serial: 0,
            interfaces: Marks::new(hosts),
            switches: Marks::new(wiring.switches()),
            links: Marks::new(hosts + ports),
            lost: Lost::default(),
            failed: None,
            audit: fabric.verify.then(|| Box::new(Audit::new(fabric, &wiring))),
            tally: Tally::default(),
            over: false,
            wiring,
            sink,
        };
        (0..plain.sources.len() as u32).for_each(|source| plain.note_source(source));
        Ok(plain)
    }

    /// Runs to the end of the replication, and with verification until nothing is left.
    pub(crate) fn run(mut self, watch: &Watch<'_>) -> Result<Ended, RunError> {
        let end = ticks(self.fabric.stop.duration);
        let mut told = 0;
        while !self.run_until(end)? {
            if watch.cancelled() {
                return Ok(Ended::Interrupted);
            }
            watch.passed(&mut told, self.next_at() / TICKS_PER_NANO);
        }
        watch.passed(&mut told, end / TICKS_PER_NANO);
        let efforts = self.senders.iter().filter_map(|sender| sender.scheduler.effort());
        self.tally.effort = efforts.fold(Default::default(), |sum, one| one.plus(sum));
        self.tell_of_the_rest();
        self.over = true;
        if self.audit.is_some() && !self.drain(end, watch)? {
            return Ok(Ended::Interrupted);
        }
        self.tally.checked = self.audit.as_ref().map_or(0, |audit| audit.checked());
        Ok(Ended::Finished(self.tally))
    }

    /// Tells of the packets that were generated and still wait for their interfaces.
    fn tell_of_the_rest(&mut self) {
        for source in &self.sources {
            let mut rest = source.clone();
            while rest.next_at() != NEVER {
                self.sink.generated(&generation(rest.head()));
                self.tally.generated += 1;
                rest.advance();
            }
        }
    }

    /// Goes on after the end until every packet has arrived; whether it was not broken off.
    fn drain(&mut self, end: Ticks, watch: &Watch<'_>) -> Result<bool, RunError> {
        let patience = end.saturating_mul(10).saturating_add(10 * TICKS_PER_SECOND);
        while !self.run_until(patience)? {
            if watch.cancelled() {
                return Ok(false);
            }
            if self.store.is_empty() && self.sources.iter().all(|source| source.next_at() == NEVER) {
                break;
            }
        }
        let waiting = self.sources.iter().filter(|source| source.next_at() != NEVER).count();
        if let Some(audit) = &self.audit {
            audit.check_drained(self.store.len(), waiting, &self.wiring)?;
        }
        Ok(true)
    }

    fn next_at(&self) -> Ticks {
        self.calendar.peek().map_or(NEVER, |Reverse(entry)| entry.at)
    }

    /// Goes through some of the instants before `end`; whether there are no more.
    fn run_until(&mut self, end: Ticks) -> Result<bool, RunError> {
        for _ in 0..STEPS {
            let now = self.next_at();
            if now >= end {
                return Ok(true);
            }
            self.step(now);
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if let Some(audit) = &mut self.audit {
                audit.outcome()?;
            }
        }
        Ok(false)
    }

    /// Goes through one instant.
    fn step(&mut self, now: Ticks) {
        while self.next_at() == now {
            let Some(Reverse(entry)) = self.calendar.pop() else { break };
            self.happen(now, entry.event);
        }
        while let Some(host) = self.interfaces.next() {
            self.take_in(now, host);
        }
        while let Some(switch) = self.switches.next() {
            self.fill(now, switch);
        }
        while let Some(link) = self.links.next() {
            self.ask(now, link);
        }
    }

    fn note(&mut self, at: Ticks, event: Event) {
        self.serial += 1;
        self.calendar.push(Reverse(Entry { at, serial: self.serial, event }));
    }

    fn note_source(&mut self, source: u32) {
        let at = self.sources[source as usize].next_at();
        if at != NEVER && self.noted[source as usize] != at {
            self.noted[source as usize] = at;
            self.note(at, Event::Generated { source });
        }
    }

    fn happen(&mut self, now: Ticks, event: Event) {
        match event {
            Event::Generated { source } => self.interfaces.mark(source / u32::from(self.channels)),
            Event::Free { link, handle } => self.free(now, link, handle),
            Event::Bid { port, waiting } => {
                let link = self.link_into(port);
                if let Some(audit) = &mut self.audit {
                    audit.head_came(now, link, &waiting);
                    audit.check_link(now, link, waiting.handle.channel, &self.senders[link as usize]);
                }
                self.crossbars.wait(port, waiting);
                self.switches.mark(self.wiring.switch_and_port(port).0);
            }
            Event::Through(transfer) => self.through(now, transfer),
            Event::Visible { link, handle } => self.queue(now, link, handle),
            Event::Credit { link, channel, credits } => {
                let sender = &mut self.senders[link as usize];
                sender.credits[usize::from(channel)] += u32::from(credits);
                if let Some(audit) = &mut self.audit {
                    audit.credit_came(link, channel, credits);
                    audit.check_link(now, link, channel, sender);
                }
                self.links.mark(link);
            }
            Event::Wake { link } => self.wake(now, link),
            Event::Delivered { host, handle } => self.deliver(now, host, handle),
        }
    }

    /// The link that leads into a port.
    fn link_into(&self, port: u32) -> u32 {
        match self.wiring.end(port) {
            End::Host(host) => host,
            End::Port(other) => self.wiring.hosts() + other,
            End::Nothing => u32::MAX,
        }
    }

    /// A link has sent a packet.
    fn free(&mut self, now: Ticks, link: u32, handle: Handle) {
        let sender = &mut self.senders[link as usize];
        sender.busy = false;
        sender.room[usize::from(handle.channel)] += u32::from(handle.credits);
        if let Some(audit) = &mut self.audit {
            audit.left(link, handle);
            audit.check_link(now, link, handle.channel, sender);
        }
        self.links.mark(link);
        match link.checked_sub(self.wiring.hosts()) {
            None => self.interfaces.mark(link),
            Some(port) => self.switches.mark(self.wiring.switch_and_port(port).0),
        }
    }

    /// An interface takes in what has been generated and has room, channel by channel.
    fn take_in(&mut self, now: Ticks, host: u32) {
        for channel in 0..self.channels {
            let source = host * u32::from(self.channels) + u32::from(channel);
            loop {
                let head = self.sources[source as usize].head();
                let credits = self.unit.of_packet(head.size);
                let room = &mut self.senders[host as usize].room[usize::from(channel)];
                if head.generated > now || *room < credits {
                    break;
                }
                *room -= credits;
                let packet = Packet { injected: now, ..*head };
                self.sources[source as usize].advance();
                self.inject(now, host, packet, credits as u16);
            }
            if self.sources[source as usize].next_at() > now {
                self.note_source(source);
            }
        }
    }

    fn inject(&mut self, now: Ticks, host: u32, packet: Packet, credits: u16) {
        if !self.over {
            self.tally.generated += 1;
            self.tally.injected += 1;
            self.sink.generated(&generation(&packet));
            let Packet { generated, injected: at, source, channel, size, .. } = packet;
            self.sink.injected(&Injection { at, generated, source, channel, size });
        }
        let handle = Handle { id: self.store.insert(packet), credits, channel: packet.channel };
        if let Some(audit) = &mut self.audit {
            audit.entered(host, handle);
            audit.check_link(now, host, handle.channel, &self.senders[host as usize]);
        }
        self.queue(now, host, handle);
    }

    /// A packet is before the scheduler of a link.
    fn queue(&mut self, now: Ticks, link: u32, handle: Handle) {
        let sender = &mut self.senders[link as usize];
        // A link cannot be interrupted, so there is nobody to preempt.
        let _ = sender.scheduler.enqueue(instant(now), handle, &mut self.lost);
        self.links.mark(link);
        self.after_call(now, link);
    }

    /// Sees whether the discipline of a link dropped anything, and when it is woken.
    fn after_call(&mut self, now: Ticks, link: u32) {
        if let Some((handle, reason)) = self.lost.0.take() {
            let reason = format!(
                "it drops a packet of channel {} at {} at {} ns, {}: the fabric is lossless, take away its limits",
                handle.channel,
                self.place(link),
                nanos(now),
                build::why(reason),
            );
            self.fail(reason);
        }
        let sender = &mut self.senders[link as usize];
        let event = sender.scheduler.next_event().map_or(NEVER, |at| at.get().saturating_mul(TICKS_PER_NANO));
        if event > now && event < sender.wakes {
            sender.wakes = event;
            self.note(event, Event::Wake { link });
        }
    }

    fn fail(&mut self, reason: String) {
        let place = format!("`{}`", self.fabric.disciplines[self.job.discipline]);
        self.failed.get_or_insert(build::refused(place, reason));
    }

    fn place(&self, link: u32) -> String {
        crate::fabric::verify::place(&self.wiring, link)
    }

    /// The discipline of a link changes by itself. Where the link sends it is asked behind a closed gate.
    fn wake(&mut self, now: Ticks, link: u32) {
        let sender = &mut self.senders[link as usize];
        if sender.wakes != now {
            return;
        }
        sender.wakes = NEVER;
        self.links.mark(link);
        if sender.busy {
            let at = instant(now);
            if let Some(Grant { item, .. }) = sender.scheduler.dequeue(at, &Closed, &mut self.lost) {
                sender.scheduler.requeue(at, item, Bytes::new(0), &mut self.lost);
            }
            self.after_call(now, link);
        }
    }

    /// A free link asks its discipline, and starts what that grants.
    fn ask(&mut self, now: Ticks, link: u32) {
        let Sender { scheduler, busy, credits, .. } = &mut self.senders[link as usize];
        if *busy {
            return;
        }
        let grant = scheduler.dequeue(instant(now), &Credits(credits), &mut self.lost);
        if let Some(Grant { item, quantum }) = grant {
            scheduler.finish(instant(now), &item, quantum);
            self.send(now, link, item);
        }
        self.after_call(now, link);
    }

    /// A packet starts on a link.
    fn send(&mut self, now: Ticks, link: u32, handle: Handle) {
        let size = self.store.get(handle.id).size;
        let (end, channel) = (now + self.timing.line.of(size), usize::from(handle.channel));
        let sender = &mut self.senders[link as usize];
        sender.busy = true;
        let to = sender.to;
        self.note(end, Event::Free { link, handle });
        let tail = end + self.timing.propagation;
        match to {
            End::Port(port) => {
                let credits = &mut self.senders[link as usize].credits[channel];
                let Some(left) = credits.checked_sub(handle.credits.into()) else {
                    let (credits, place) = (*credits, self.place(link));
                    let reason = format!(
                        "it sends a packet of {} credits at {place} at {} ns, where its channel has {credits}: \
                         it asks no gate, take another",
                        handle.credits,
                        nanos(now),
                    );
                    return self.fail(reason);
                };
                *credits = left;
                let waiting = Waiting { handle, tail, output: None };
                self.note(now + self.timing.head + self.timing.before, Event::Bid { port, waiting });
            }
            End::Host(host) => self.note(tail, Event::Delivered { host, handle }),
            End::Nothing => self.fail(format!("it sends at {}, which leads nowhere", self.place(link))),
        }
        self.tally.traversals += u64::from(!self.over);
        if let Some(audit) = &mut self.audit {
            audit.started((now, end), link, handle);
            audit.check_link(now, link, handle.channel, &self.senders[link as usize]);
        }
    }

    /// A switch fills its crossbar; where heads choose anew, until nothing more starts.
    fn fill(&mut self, now: Ticks, switch: u32) {
        while self.fill_once(now, switch) && self.fabric.routing == Routing::AdaptiveUp {}
    }

    /// A switch goes through its outputs; whether anything started.
    fn fill_once(&mut self, now: Ticks, switch: u32) -> bool {
        let outputs = self.wiring.hosts() + switch * self.wiring.ports();
        let (router, store, senders) = (&self.router, &self.store, &self.senders);
        let fixed = self.fabric.routing != Routing::AdaptiveUp;
        self.crossbars.route(switch, fixed, |waiting, idle| {
            let (packet, handle) = (store.get(waiting.handle.id), waiting.handle);
            if fixed {
                return router.port(switch, packet.destination, packet.way);
            }
            let room = |port: u32| {
                let room = senders[(outputs + port) as usize].room[usize::from(handle.channel)];
                let goes = idle >> port & 1 == 1 && room >= u32::from(handle.credits);
                goes.then_some(room)
            };
            most_room(router, switch, packet.destination, room)
        });
        let mut started = false;
        for output in 0..self.wiring.ports() {
            let link = outputs + output;
            let room = |handle: Handle| {
                self.senders[link as usize].room[usize::from(handle.channel)] >= u32::from(handle.credits)
            };
            if let Some((input, waiting)) = self.crossbars.next(switch, output, room) {
                self.transfer(now, input, link, &waiting);
                started = true;
            }
        }
        started
    }

    /// A transfer starts, from an input to the buffer before a link.
    fn transfer(&mut self, now: Ticks, input: u32, link: u32, waiting: &Waiting) {
        let handle = waiting.handle;
        let size = self.store.get(handle.id).size;
        let end = (now + self.timing.crossbar.of(size)).max(waiting.tail);
        let sender = &mut self.senders[link as usize];
        sender.room[usize::from(handle.channel)] -= u32::from(handle.credits);
        if let Some(audit) = &mut self.audit {
            audit.entered(link, handle);
            audit.transferred((now, end), link, size, waiting);
            audit.check_link(now, link, handle.channel, sender);
        }
        let output = link - self.wiring.hosts();
        self.note(end, Event::Through(Transfer { input, output, handle }));
        self.note(now + self.timing.behind, Event::Visible { link, handle });
    }

    /// A transfer has ended.
    fn through(&mut self, now: Ticks, transfer: Transfer) {
        let Transfer { input, handle, .. } = transfer;
        self.crossbars.end(transfer);
        self.switches.mark(self.wiring.switch_and_port(input).0);
        let link = self.link_into(input);
        let (channel, credits) = (handle.channel, handle.credits);
        self.note(now + self.timing.credit_return, Event::Credit { link, channel, credits });
        if let Some(audit) = &mut self.audit {
            audit.released(link, handle);
            audit.check_link(now, link, channel, &self.senders[link as usize]);
            audit.check_input(now, link, channel, self.crossbars.held(input, channel));
        }
    }

    /// The tail of a packet came to its end-point.
    fn deliver(&mut self, now: Ticks, host: u32, handle: Handle) {
        let packet = self.store.remove(handle.id);
        if let Some(audit) = &mut self.audit {
            audit.delivered(now, host, &packet);
        }
        if self.over {
            return;
        }
        self.tally.delivered += 1;
        let Packet { generated, injected, source, destination, flow, sequence, size, channel, last, .. } =
            packet;
        self.sink.delivered(&Delivery {
            generated,
            injected,
            delivered: now,
            source,
            destination,
            flow,
            sequence,
            size,
            channel,
            last,
        });
    }
}

fn generation(packet: &Packet) -> Generation {
    let Packet { generated: at, source, channel, size, .. } = *packet;
    Generation { at, source, channel, size }
}

/// The port down, or the upper one with the most room, of those that have any; of equals the first from that of
/// deterministic routing on.
fn most_room(router: &Router, switch: u32, destination: u32, room: impl Fn(u32) -> Option<u32>) -> u32 {
    if let Some(port) = router.down(switch, destination) {
        return port;
    }
    let (up, own) = (router.up(), router.port(switch, destination, router.way(destination)));
    let mut best = own;
    for port in (own..up.end).chain(up.start..own) {
        if room(port) > room(best) {
            best = port;
        }
    }
    best
}

#[cfg(test)]
mod tests;
