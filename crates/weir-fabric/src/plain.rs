//! The plain engine: one calendar with one entry for each thing that happens.
//!
//! It is what the semantics in [the crate](crate) say, word by word, and the oracle of any faster engine. At one
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
//! | Work | five entries a packet and switch, O(log(links)) each; a crossbar examines every head that waits |
//! | Memory | linear in ports times channels, and what their buffers hold; nothing for packets that wait outside |

mod calendar;
mod sender;
mod sending;
mod switching;
#[cfg(test)]
mod tests;

use weir_core::discipline::Discipline;

use crate::build::{self, Lost, Scheduler};
use crate::crossbar::Crossbars;
use crate::job::{Ended, Job, Tally};
use crate::model::FabricScenario;
use crate::packet::{Handle, Packet, Store};
use crate::record::{Delivery, Generation, Injection, Sink};
use crate::route::Router;
use crate::source::{Offer, Source};
use crate::time::{CreditUnit, NEVER, TICKS_PER_NANO, TICKS_PER_SECOND, Ticks, Timing, ticks, timing};
use crate::topology::{End, Wiring};
use crate::verify::Audit;
use weir_lab::control::Watch;
use weir_lab::error::RunError;

use calendar::{Calendar, Event, Marks};
pub(crate) use sender::Sender;

/// Instants between two checks of the watch.
const STEPS: u32 = 1 << 12;

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
    calendar: Calendar,
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
    /// Whether the end has passed: after it nothing is reported or counted.
    over: bool,
    sink: &'a mut S,
}

/// Runs a job.
///
/// # Errors
/// As [`crate::job::play`].
pub fn play<S: Sink + ?Sized>(
    fabric: &FabricScenario,
    job: Job,
    sink: &mut S,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    let wiring =
        Wiring::new(fabric.topology).map_err(|error| build::refused("fabric.topology", error.to_string()))?;
    let sources = Offer::new(fabric, &wiring, job.load)?.sources(job.replication)?;
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
            calendar: Calendar::default(),
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
            watch.passed(&mut told, self.calendar.next_at() / TICKS_PER_NANO);
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

    /// Reports the packets that were generated and still wait for their interfaces.
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

    /// Goes through some of the instants before `end`; whether there are no more.
    fn run_until(&mut self, end: Ticks) -> Result<bool, RunError> {
        for _ in 0..STEPS {
            let now = self.calendar.next_at();
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
        while let Some(event) = self.calendar.due(now) {
            self.happen(now, event);
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

    fn fail(&mut self, reason: String) {
        let place = format!("`{}`", self.fabric.disciplines[self.job.discipline]);
        self.failed.get_or_insert(build::refused(place, reason));
    }

    fn place(&self, link: u32) -> String {
        crate::verify::place(&self.wiring, link)
    }

    /// The link that leads into a port.
    fn link_into(&self, port: u32) -> u32 {
        match self.wiring.end(port) {
            End::Host(host) => host,
            End::Port(other) => self.wiring.hosts() + other,
            End::Nothing => u32::MAX,
        }
    }

    fn note_source(&mut self, source: u32) {
        let at = self.sources[source as usize].next_at();
        if at != NEVER && self.noted[source as usize] != at {
            self.noted[source as usize] = at;
            self.calendar.note(at, Event::Generated { source });
        }
    }

    fn happen(&mut self, now: Ticks, event: Event) {
        match event {
            Event::Generated { source } => self.interfaces.mark(source / u32::from(self.channels)),
            Event::Free { link, handle } => self.free(now, link, handle),
            Event::Bid { port, waiting } => {
                let link = self.link_into(port);
                if let Some(audit) = &mut self.audit {
                    audit.head_came(link, &waiting);
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
        let handle = Handle::new(self.store.insert(packet), credits, packet.channel, self.unit);
        if let Some(audit) = &mut self.audit {
            audit.entered(host, handle);
            audit.check_link(now, host, handle.channel, &self.senders[host as usize]);
        }
        self.queue(now, host, handle);
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
