//! The accelerated engine: switch after switch over windows of time, without a calendar of events.
//!
//! **Wakes.** An input, an output and an interface each have one time at which they must be looked at next, and no
//! other entry anywhere. What follows from a start is known at once and written where it takes effect: a packet into
//! the queue of the next input, with the time at which it may bid; a credit into the ring of its sender; room and
//! idleness as a time at which they begin. Whoever needs them sees by the clock whether they hold. Somebody is woken
//! only if he waits for them.
//!
//! **Windows.** What one switch or interface does reaches another no earlier than the propagation, the header and half
//! of the latency later, or the shortest transfer and the return of its credit. In windows of the shorter of these spans
//! they do not influence each other, and each goes through its instants alone.
//!
//! **Fused starts.** A packet that goes through a crossbar to an output with nothing before the scheduler or on its way
//! there, an idle link and enough credits will start as soon as it is before the scheduler: nothing can come before
//! it, and credits only become more. So it is started at once, with that time. A delivery is told at the start on the
//! last link.
//!
//! Equal to the plain engine, packet by packet: within one instant a switch sees everything that is due, then goes
//! through its outputs for the crossbar, then through its links.
//!
//! | | |
//! |-|-|
//! | Work | 1.7 wakes a packet and link, of which each looks at the 16 wakes of a switch; no allocation |
//! | Memory | linear in ports times channels, and in the packets under way |
//! | Not for | adaptive routing, verification, more than 64 ports or 16 channels, disciplines without a compact form: the plain engine takes these |

mod flight;
mod hop;
mod input;
mod interface;
mod plan;
mod rings;
mod schedulers;
mod sender;
mod switch;
#[cfg(test)]
pub(super) mod tests;

use flight::Flights;
use hop::Hops;
use input::Input;
use interface::Interface;
use plan::Plan;
use rings::{Return, Rings};
use schedulers::Scheduler;
use sender::{Sender, Target};
use switch::{Crossbar, Due, Wakes};

use crate::engine::dispatch::{Level, Work};
use crate::fabric::job::{Ended, Job, Tally};
use crate::fabric::model::FabricScenario;
use crate::fabric::record::{Delivery, Sink};
use crate::fabric::source::{Offer, Source};
use crate::fabric::time::{NEVER, TICKS_PER_NANO, Ticks};
use crate::fabric::topology::{End, Wiring};
use crate::network::job::Watch;
use crate::port::run::RunError;

/// Ports and channels of most fabrics, and of the largest that are accelerated.
const SMALL: (usize, usize) = (8, 8);
const LARGE: (usize, usize) = (64, 16);
/// Windows between two looks at the outside.
const WINDOWS: u32 = 1 << 12;

/// Whether a discipline of a scenario is for this engine.
#[must_use]
pub fn takes(fabric: &FabricScenario, discipline: usize) -> bool {
    Wiring::new(fabric.topology).is_ok_and(|wiring| {
        let knows = |plan: Plan| schedulers::knows::<{ LARGE.1 }>(&fabric.specs[discipline], plan.bounds);
        Plan::new(fabric, &wiring).is_some_and(knows)
    })
}

/// Runs a job, of a scenario that has been checked; `None` where it is not for this engine.
///
/// # Errors
/// The traffic is more than what is simulated.
pub fn play<T: Sink + ?Sized>(
    fabric: &FabricScenario,
    job: Job,
    sink: &mut T,
    watch: &Watch<'_>,
) -> Result<Option<Ended>, RunError> {
    let Ok(wiring) = Wiring::new(fabric.topology) else { return Ok(None) };
    if !takes(fabric, job.discipline) {
        return Ok(None);
    }
    let Some(plan) = Plan::new(fabric, &wiring) else { return Ok(None) };
    let sources = Offer::new(fabric, &wiring, job.load)?.sources(job.replication);
    let (spec, bounds) = (&fabric.specs[job.discipline], plan.bounds);
    let small = wiring.ports() as usize <= SMALL.0 && bounds.channels <= SMALL.1;
    let start = Start { plan, wiring, sources, sink: &mut Told(sink), watch };
    Ok(if small {
        schedulers::visit::<{ SMALL.1 }, _>(spec, bounds, OfPorts::<{ SMALL.0 }>(start))
    } else {
        schedulers::visit::<{ LARGE.1 }, _>(spec, bounds, OfPorts::<{ LARGE.0 }>(start))
    })
}

/// A sink of a known size, so that the engine is compiled once for all of them.
struct Told<'a, T: ?Sized>(&'a mut T);

impl<T: Sink + ?Sized> Sink for Told<'_, T> {
    fn generated(&mut self, generation: &crate::fabric::record::Generation) {
        self.0.generated(generation);
    }
    fn injected(&mut self, injection: &crate::fabric::record::Injection) {
        self.0.injected(injection);
    }
    fn delivered(&mut self, delivery: &Delivery) {
        self.0.delivered(delivery);
    }
}

/// What a replication begins with.
struct Start<'a> {
    plan: Plan,
    wiring: Wiring,
    sources: Vec<Source>,
    sink: &'a mut dyn Sink,
    watch: &'a Watch<'a>,
}

/// For switches of up to `P` ports.
struct OfPorts<'a, const P: usize>(Start<'a>);

impl<const P: usize, const V: usize> schedulers::Visitor<V> for OfPorts<'_, P> {
    type Output = Ended;
    fn visit<S: Scheduler<V>>(self, scheduler: S) -> Ended {
        let watch = self.0.watch;
        Engine::<P, V, S>::new(self.0, scheduler).run(watch)
    }
}

/// Some windows of a replication.
struct Windows<'a, 'b, const P: usize, const V: usize, S: Scheduler<V>>(&'a mut Engine<'b, P, V, S>);

impl<const P: usize, const V: usize, S: Scheduler<V>> Work for Windows<'_, '_, P, V, S> {
    type Output = bool;
    #[inline(always)]
    fn run(self) -> bool {
        self.0.run_windows(self.0.plan.end)
    }
}

/// One replication. A port of all switches has the number `switch * P + port`; a link is that of its interface or,
/// behind all of these, of its port.
struct Engine<'a, const P: usize, const V: usize, S: Scheduler<V>> {
    plan: Plan,
    hops: Hops,
    scheduler: S,
    sources: Vec<Source>,
    interfaces: Vec<Interface<V>>,
    senders: Vec<Sender<V, S::State>>,
    inputs: Vec<Input<V>>,
    crossbars: Vec<Crossbar<P>>,
    wakes: Vec<Wakes<P>>,
    /// The least of the wakes of each switch.
    switches: Vec<Ticks>,
    /// The wakes of interfaces.
    hosts: Vec<Ticks>,
    rings: Rings,
    flights: Flights,
    /// Those of a window that are due.
    dues: Vec<Due>,
    due_hosts: Vec<u32>,
    /// The window begins.
    begin: Ticks,
    tally: Tally,
    level: Level,
    sink: &'a mut dyn Sink,
}

impl<'a, const P: usize, const V: usize, S: Scheduler<V>> Engine<'a, P, V, S> {
    fn new(start: Start<'a>, scheduler: S) -> Self {
        let Start { plan, wiring, sources, sink, .. } = start;
        let (hosts, switches) = (wiring.hosts() as usize, wiring.switches() as usize);
        // Ports are counted anew, P of them a switch.
        let port = |port: u32| {
            let (switch, port) = wiring.switch_and_port(port);
            switch * P as u32 + port
        };
        let ends = (0..switches * P).map(|at| match (at / P, at % P) {
            (switch, local) if local < wiring.ports() as usize => {
                wiring.end(wiring.port(switch as u32, local as u32))
            }
            _ => End::Nothing,
        });
        let ends: Vec<End> = ends.collect();
        let sender = |target, room| Sender::new(scheduler.state(), target, room, plan.input_buffer);
        let of_host =
            |host| sender(Target::Port(port(wiring.port_of_host(host))), plan.interface_buffer);
        let of_port = |end: &End| {
            let target = match *end {
                End::Host(host) => Target::Host(host),
                End::Port(other) => Target::Port(port(other)),
                // Nothing is ever sent there.
                End::Nothing => Target::Host(u32::MAX),
            };
            sender(target, plan.output_buffer)
        };
        let input = |end: &End| {
            let link = match *end {
                End::Host(host) => host,
                End::Port(other) => hosts as u32 + port(other),
                End::Nothing => u32::MAX,
            };
            Input::new(plan.bounds.channels, link)
        };
        let senders = (0..hosts as u32).map(of_host).chain(ends.iter().map(of_port)).collect();
        let interface = |host: usize| Interface::new(&sources[host * plan.bounds.channels..][..plan.bounds.channels]);
        let interfaces: Vec<Interface<V>> = (0..hosts).map(interface).collect();
        Self {
            hosts: interfaces.iter().map(Interface::next_generation).collect(),
            inputs: ends.iter().map(input).collect(),
            senders,
            interfaces,
            crossbars: vec![Crossbar::new(wiring.ports()); switches],
            wakes: vec![Wakes::never(); switches],
            switches: vec![NEVER; switches],
            rings: Rings::new(hosts + switches * P, plan.returns),
            flights: Flights::default(),
            dues: Vec::with_capacity(switches),
            due_hosts: Vec::with_capacity(hosts),
            begin: 0,
            tally: Tally::default(),
            // A copy for each level of the large form would be long to compile, and is not for speed.
            level: if P == SMALL.0 { Level::detect() } else { Level::Portable },
            hops: plan.hops(&wiring),
            plan,
            scheduler,
            sources,
            sink,
        }
    }

    /// Runs to the end of the replication.
    fn run(mut self, watch: &Watch<'_>) -> Ended {
        let end = self.plan.end;
        let mut told = 0;
        while !self.level.run(Windows(&mut self)) {
            if watch.cancelled() {
                return Ended::Interrupted;
            }
            watch.passed(&mut told, self.begin / TICKS_PER_NANO);
        }
        watch.passed(&mut told, end / TICKS_PER_NANO);
        self.tell_of_the_rest();
        Ended::Finished(self.tally)
    }

    /// Goes through some windows; whether there are no more.
    #[inline(always)]
    fn run_windows(&mut self, end: Ticks) -> bool {
        for _ in 0..WINDOWS {
            let least = |wakes: &[Ticks]| wakes.iter().fold(NEVER, |least, &wake| least.min(wake));
            self.begin = least(&self.hosts).min(least(&self.switches));
            if self.begin >= end {
                return true;
            }
            let until = self.begin.saturating_add(self.plan.window).min(end);
            self.interfaces(until);
            self.switches(until);
        }
        false
    }

    /// A packet starts on a link at `now`.
    #[inline(always)]
    fn start(&mut self, link: usize, id: u32, now: Ticks) {
        let flight = self.flights.get_mut(id);
        let free = now + self.plan.line.of(flight.size);
        let tail = free + self.plan.propagation;
        let sender = &mut self.senders[link];
        sender.occupy(free, flight.channel, flight.credits);
        self.tally.traversals += 1;
        match sender.target {
            Target::Host(host) => self.deliver(host, id, tail),
            Target::Port(port) => {
                let (port, bid) = (port as usize, now + self.plan.bid);
                let switch = port / P;
                (flight.at, flight.tail, flight.next) = (bid, tail, flight::NONE);
                flight.output = self.hops.switches[switch].port(flight.code, flight.way) as u8;
                let input = &mut self.inputs[port];
                if input.append(&mut self.flights, id) {
                    let wake = bid.max(input.free);
                    let at = &mut self.wakes[switch].inputs[port % P];
                    *at = wake.min(*at);
                    self.switches[switch] = wake.min(self.switches[switch]);
                }
            }
        }
    }

    /// Credits go back to a link.
    #[inline(always)]
    fn give_back(&mut self, link: usize, back: Return) {
        let sender = &mut self.senders[link];
        if self.rings.is_full(link) {
            sender.settle_credits(&mut self.rings, link, self.begin);
        }
        self.rings.push(link, back);
        if sender.blocked {
            match link.checked_sub(self.hosts.len()) {
                None => self.hosts[link] = back.at.min(self.hosts[link]),
                Some(port) => {
                    let (switch, port) = (port / P, port % P);
                    let at = &mut self.wakes[switch].outputs[port];
                    *at = back.at.min(*at);
                    self.switches[switch] = back.at.min(self.switches[switch]);
                }
            }
        }
    }

    /// The tail of a packet comes to its end-point.
    #[inline(always)]
    fn deliver(&mut self, host: u32, id: u32, delivered: Ticks) {
        self.flights.remove(id);
        if delivered >= self.plan.end {
            return;
        }
        self.tally.delivered += 1;
        let flight = self.flights.get(id);
        self.sink.delivered(&Delivery {
            generated: flight.generated,
            injected: flight.injected,
            delivered,
            source: flight.source.into(),
            destination: host,
            flow: flight.flow,
            sequence: flight.sequence,
            size: flight.size,
            channel: flight.channel,
            last: flight.last,
        });
    }
}
