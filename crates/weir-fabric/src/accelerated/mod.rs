//! The accelerated engine: switch after switch over windows of time, without a calendar of events.
//!
//! **Wakes.** An input, an output and an interface each have one time at which they must be examined next, and no
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
//! it, and credits only become more. So it is started at once, with that time. A delivery is reported at the start on
//! the last link.
//!
//! Equal to the plain engine, packet by packet: within one instant a switch sees everything that is due, then goes
//! through its outputs for the crossbar, then through its links.
//!
//! | | |
//! |-|-|
//! | Work | 1.7 wakes a packet and link, each of which examines the 16 wakes of a switch; no allocation |
//! | Memory | linear in ports times channels, and in the packets under way |
//! | Not for | adaptive routing, verification, more than 64 ports or 16 channels, disciplines without a compact form: the plain engine takes these |

mod context;
mod flight;
mod hop;
mod input;
mod interface;
mod plan;
mod ring;
mod schedulers;
mod sender;
mod switch;
#[cfg(test)]
pub(super) mod tests;

use context::{Arrival, Context, Returned};
use flight::Flights;
use hop::{Codes, Hop, Hops};
use input::Input;
use interface::Interface;
use plan::Plan;
use schedulers::Scheduler;
use sender::{Sender, Target};
use switch::{Due, Switch};

use crate::job::{Ended, Job, Tally};
use crate::model::FabricScenario;
use crate::record::{Delivery, Sink};
use crate::source::{Offer, Source};
use crate::time::{NEVER, TICKS_PER_NANO, Ticks};
use crate::topology::{End, Wiring};
use weir_core::spec::Spec;
use weir_lab::control::Watch;
use weir_lab::dispatch::{Level, Work};
use weir_lab::error::RunError;

/// Of a switch, at most.
struct Size {
    ports: usize,
    channels: usize,
}

/// The switches of most fabrics, and of the largest that are accelerated.
const SMALL: Size = Size { ports: 8, channels: 8 };
const LARGE: Size = Size { ports: 64, channels: 16 };
/// Windows between two checks of the watch.
const WINDOWS: u32 = 1 << 12;

/// Whether a discipline of a scenario is for this engine.
#[must_use]
pub fn takes(fabric: &FabricScenario, discipline: usize) -> bool {
    Wiring::new(fabric.topology).is_ok_and(|wiring| {
        let knows =
            |plan: Plan| schedulers::knows::<{ LARGE.channels }>(&fabric.specs[discipline], plan.bounds);
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
    let sources = Offer::new(fabric, &wiring, job.load)?.sources(job.replication)?;
    let start = Start { plan, wiring, sources, sink: &mut Told(sink), watch };
    Ok(run(&fabric.specs[job.discipline], start))
}

/// For no type of sink in particular, so that the engines are compiled here and nowhere else.
fn run(spec: &Spec, start: Start<'_>) -> Option<Ended> {
    let bounds = start.plan.bounds;
    let small = start.wiring.ports() as usize <= SMALL.ports && bounds.channels <= SMALL.channels;
    if small {
        schedulers::visit::<{ SMALL.channels }, _>(spec, bounds, OfPorts::<{ SMALL.ports }>(start))
    } else {
        schedulers::visit::<{ LARGE.channels }, _>(spec, bounds, OfPorts::<{ LARGE.ports }>(start))
    }
}

/// A sink of a known size, so that the engine is compiled once for all of them.
struct Told<'a, T: ?Sized>(&'a mut T);

impl<T: Sink + ?Sized> Sink for Told<'_, T> {
    fn generated(&mut self, generation: &crate::record::Generation) {
        self.0.generated(generation);
    }
    fn injected(&mut self, injection: &crate::record::Injection) {
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
        self.0.run_windows()
    }
}

/// A switch that has something to do.
#[derive(Clone, Copy, Debug)]
struct DueSwitch {
    switch: u32,
    due: Due,
}

/// One replication. A port of all switches has the number `switch * P + port`; a link is that of its interface or,
/// behind all of these, of its port.
struct Engine<'a, const P: usize, const V: usize, S: Scheduler<V>> {
    context: Context<'a, S>,
    codes: Codes,
    /// Those of an interface together.
    sources: Vec<Source>,
    interfaces: Vec<Interface<V, S::State>>,
    switches: Vec<Switch<P, V, S::State>>,
    /// When each interface, and each switch, must be examined next.
    host_wakes: Vec<Ticks>,
    switch_wakes: Vec<Ticks>,
    /// Those of a window that are due.
    due_hosts: Vec<u32>,
    due_switches: Vec<DueSwitch>,
    /// The window begins.
    begin: Ticks,
    level: Level,
}

impl<'a, const P: usize, const V: usize, S: Scheduler<V>> Engine<'a, P, V, S> {
    fn new(start: Start<'a>, scheduler: S) -> Self {
        let Start { plan, wiring, sources, sink, .. } = start;
        let Hops { switches: hops, codes } = plan.hops(&wiring);
        let hosts = wiring.hosts();
        // Ports are counted anew, P of them a switch.
        let port = |port: u32| {
            let (switch, port) = wiring.switch_and_port(port);
            switch * P as u32 + port
        };
        let sender = |target, room| Sender::new(scheduler.state(), target, room, plan.input_buffer);
        let output = |end: End| match end {
            End::Host(host) => sender(Target::Host(host), plan.output_buffer),
            End::Port(other) => sender(Target::Port(port(other)), plan.output_buffer),
            // Nothing is ever sent there.
            End::Nothing => sender(Target::Host(u32::MAX), plan.output_buffer),
        };
        let input = |end: End| match end {
            End::Host(host) => Input::new(plan.bounds.channels, host),
            End::Port(other) => Input::new(plan.bounds.channels, hosts + port(other)),
            End::Nothing => Input::new(plan.bounds.channels, u32::MAX),
        };
        let end = |switch: u32, port: usize| match port < wiring.ports() as usize {
            true => wiring.end(wiring.port(switch, port as u32)),
            false => End::Nothing,
        };
        let switch = |(number, hop): (u32, Hop)| {
            let inputs = core::array::from_fn(|port| input(end(number, port)));
            let outputs = core::array::from_fn(|port| output(end(number, port)));
            Switch::new(wiring.ports(), hop, inputs, outputs)
        };
        let interface = |host: u32| {
            let target = Target::Port(port(wiring.port_of_host(host)));
            let own = &sources[host as usize * plan.bounds.channels..][..plan.bounds.channels];
            Interface::new(sender(target, plan.interface_buffer), own, host)
        };
        let interfaces: Vec<Interface<V, S::State>> = (0..hosts).map(interface).collect();
        let switches: Vec<_> = (0..).zip(hops).map(switch).collect();
        Self {
            host_wakes: interfaces.iter().map(Interface::next_generation).collect(),
            switch_wakes: vec![NEVER; switches.len()],
            due_hosts: Vec::with_capacity(interfaces.len()),
            due_switches: Vec::with_capacity(switches.len()),
            sources,
            interfaces,
            switches,
            begin: 0,
            codes,
            // A copy for each level of the large form would be long to compile, and is not for speed.
            level: if P == SMALL.ports { Level::detect() } else { Level::Portable },
            context: Context {
                plan,
                scheduler,
                flights: Flights::default(),
                tally: Tally::default(),
                sink,
                arrivals: Vec::new(),
                returns: Vec::new(),
            },
        }
    }

    /// Runs to the end of the replication.
    fn run(mut self, watch: &Watch<'_>) -> Ended {
        let end = self.context.plan.end;
        let mut told = 0;
        while !self.level.run(Windows(&mut self)) {
            if watch.cancelled() {
                return Ended::Interrupted;
            }
            watch.passed(&mut told, self.begin / TICKS_PER_NANO);
        }
        watch.passed(&mut told, end / TICKS_PER_NANO);
        for interface in &mut self.interfaces {
            let sources = &mut self.sources[interface.sources()];
            interface.tell_of_the_rest(&mut self.context, &self.codes, sources);
        }
        Ended::Finished(self.context.tally)
    }

    /// Goes through some windows; whether there are no more.
    #[inline(always)]
    fn run_windows(&mut self) -> bool {
        for _ in 0..WINDOWS {
            let least = |wakes: &[Ticks]| wakes.iter().fold(NEVER, |least, &wake| least.min(wake));
            self.begin = least(&self.host_wakes).min(least(&self.switch_wakes));
            if self.begin >= self.context.plan.end {
                return true;
            }
            let until = (self.begin + self.context.plan.window).min(self.context.plan.end);
            self.run_interfaces(until);
            self.run_switches(until);
            self.exchange();
        }
        false
    }

    /// All instants of interfaces before `until`. When each is due next is found out when others have had their
    /// instants: a wide load right after a narrow store would wait for it.
    #[inline(always)]
    fn run_interfaces(&mut self, until: Ticks) {
        for (host, &wake) in (0..).zip(&self.host_wakes) {
            if wake < until {
                self.due_hosts.push(host);
            }
        }
        while !self.due_hosts.is_empty() {
            for &host in &self.due_hosts {
                let now = self.host_wakes[host as usize];
                let interface = &mut self.interfaces[host as usize];
                let sources = &mut self.sources[interface.sources()];
                interface.instant(&mut self.context, &self.codes, sources, now);
            }
            let mut left = 0;
            for at in 0..self.due_hosts.len() {
                let host = self.due_hosts[at];
                let wake = &mut self.host_wakes[host as usize];
                *wake = self.interfaces[host as usize].next_wake(*wake);
                self.due_hosts[left] = host;
                left += usize::from(*wake < until);
            }
            self.due_hosts.truncate(left);
        }
    }

    /// All instants of switches before `until`, likewise.
    #[inline(always)]
    fn run_switches(&mut self, until: Ticks) {
        for (switch, &wake) in (0..).zip(&self.switch_wakes) {
            if wake < until {
                let due = self.switches[switch as usize].due();
                self.due_switches.push(DueSwitch { switch, due });
            }
        }
        while !self.due_switches.is_empty() {
            for &DueSwitch { switch, due } in &self.due_switches {
                self.switches[switch as usize].instant(&mut self.context, due);
            }
            let mut left = 0;
            for at in 0..self.due_switches.len() {
                let switch = self.due_switches[at].switch;
                let due = self.switches[switch as usize].due();
                self.switch_wakes[switch as usize] = due.at;
                self.due_switches[left] = DueSwitch { switch, due };
                left += usize::from(due.at < until);
            }
            self.due_switches.truncate(left);
        }
    }

    /// What the window has left for others comes to them.
    #[inline(always)]
    fn exchange(&mut self) {
        let hosts = self.interfaces.len();
        for &Arrival { port, id } in &self.context.arrivals {
            let (switch, port) = (port as usize / P, port as usize % P);
            let wake = self.switches[switch].arrive(port, &mut self.context.flights, id);
            self.switch_wakes[switch] = wake.min(self.switch_wakes[switch]);
        }
        self.context.arrivals.clear();
        for &Returned { link, back } in &self.context.returns {
            if let Some(port) = (link as usize).checked_sub(hosts) {
                let (switch, port) = (port / P, port % P);
                let wake = self.switches[switch].give_back(port, back, self.begin);
                self.switch_wakes[switch] = wake.min(self.switch_wakes[switch]);
            } else {
                let host = link as usize;
                let wake = self.interfaces[host].give_back(back, self.begin);
                self.host_wakes[host] = wake.min(self.host_wakes[host]);
            }
        }
        self.context.returns.clear();
    }
}
