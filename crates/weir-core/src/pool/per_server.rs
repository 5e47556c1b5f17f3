//! A dispatcher, and a queue for each server that a message discipline orders.
//!
//! A request joins a server when it arrives and stays there. The bound of the site holds for each queue: a request that
//! would be one more waiting than it allows is dropped; one that an idle server takes at once does not wait. The quantum
//! of a grant is the discipline's; where it covers all that the request is known to need, the request is served until it
//! is done, though it need more. What a server's open grant has been served is charged before each arrival there.
//!
//! Disciplines that take turns count them in units of cost, one by default: for packets that is a packet, here it
//! would be a nanosecond. So `quantum` says how long a turn is, and must be given where theirs is not.
//!
//! The work of a server, which dispatchers see, is the cost of what waits there and, of the request that is served, its
//! cost less the time since its grant began; both over the server's speed. A dispatcher that hears learns of each request that
//! comes to its server, and of each that leaves it.
//!
//! | | |
//! |-|-|
//! | Source | the usual form of dispatched queues; Harchol-Balter, *Performance Modeling and Design of Computer Systems*, 2013, chapter 24 |
//! | Needs to know | what the dispatcher and the discipline do |
//! | Work per request | O(1) more than these two |
//! | Units | cost: nanoseconds |
//! | Memory | a discipline and five words per server |
//! | Departs from the source | the bound of the queues |

use super::heard::{Ledger, Sent};
use super::terms::A_SECOND;
use super::{
    Apart, Assigned, Dispatcher, DispatcherVisitor, Heard, Measured, Placed, Pool, PoolVisitor, ReceiverId,
    ServerId, Servers, Site, Step, WHOLE, visit_dispatcher,
};
use crate::canonical::canonical;
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Effort, Enqueued, Grant, Open};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::message::fifo::{self, Fifo};
use crate::registry::{dispatcher, factory, message_discipline};
use crate::role::Role;
use crate::spec::{Spec, SpecError};
use crate::units::{Cost, Instant, Nanos, Speed};

/// The parameter of how long a turn is, here and in the disciplines that take turns.
const QUANTUM: &str = "quantum";

/// What the listings say.
pub const INFO: Info = Info {
    name: "per_server",
    kind: Kind::Pool,
    title: "a dispatcher with a queue at each server",
    rule: "a dispatcher sends each request to a server when it arrives; a message discipline orders each server's queue",
    source: "Harchol-Balter, Performance Modeling and Design of Computer Systems, 2013, chapter 24",
    work: "as the dispatcher and the discipline",
    parameters: &[
        Parameter::required("dispatcher", Takes::Discipline(Role::Dispatcher))
            .listed("a dispatcher")
            .meaning("sends a request to a server"),
        Parameter::new("discipline", Takes::Discipline(Role::Discipline), "fifo")
            .listed("a message discipline or a wrapper")
            .meaning("orders the queue of each server"),
        Parameter::new(QUANTUM, Takes::Span(Nanos::ONE..=A_SECOND), "none").or(&["none"]).meaning(
            "the turn of a discipline that takes turns (`rr`, `rr_head`, `las`, `ps`) and whose spec gives \
             none, or 1ns; `none`: the spec must give one",
        ),
    ],
    example: "per_server(rr,discipline=sf)",
};

/// A dispatcher that stands alone, over queues that are first in, first out.
pub(super) fn visit_over_fifo<I, V>(spec: &Spec, site: &Site, visitor: V) -> Result<V::Output, SpecError>
where
    I: Item<Cost = Nanos> + Copy + Send + 'static,
    V: PoolVisitor<I>,
{
    visit_dispatcher(spec, site, OverFifo { site, visitor })
}

/// What a spec of this name stands for. Queues that are first in, first out are those of [`visit_over_fifo`], all others
/// are in boxes.
pub(super) fn visit<I, V>(spec: &Spec, site: &Site, visitor: V) -> Result<V::Output, SpecError>
where
    I: Item<Cost = Nanos> + Copy + Send + 'static,
    V: PoolVisitor<I>,
{
    let arguments = Arguments::new(spec, &INFO)?;
    let sends = arguments.nested("dispatcher")?;
    let is_plain = |order: &&Spec| order.name == fifo::INFO.name && order.arguments.is_empty();
    let Some(order) = arguments.optional("discipline").filter(|order| !is_plain(order)) else {
        return visit_over_fifo(&sends, site, visitor);
    };
    // What is refused is refused as it is written.
    message_discipline::<I>(order)?;
    let order = &with_turns(&arguments, order)?;
    let queues = || site.server_ids().map(|_| message_discipline::<I>(order)).collect::<Result<Vec<_>, _>>();
    let make = || {
        let queues = queues()?;
        let pool = PerServer::new(dispatcher::<I>(&sends, site)?, queues, site.queue);
        Ok(pool.with_speeds(site.speeds.clone()))
    };
    Ok(visitor.visit(factory(make)?))
}

/// The spec of a discipline, with the quantum, in nanoseconds, for each in it that takes turns and has none of its own.
fn with_turns(arguments: &Arguments<'_>, order: &Spec) -> Result<Spec, SpecError> {
    let quantum = match arguments.word(QUANTUM)? {
        Some(_) => None,
        None => Some(arguments.span(QUANTUM)?),
    };
    let mut lacks = None;
    // In canonical form a turn of one unit, which stands where nothing is said, is not said.
    let told = tell_turns(&canonical(order)?, quantum.unwrap_or(Nanos::ONE), &mut lacks);
    let reason = match (quantum, lacks) {
        (None, None) | (Some(_), Some(_)) => return Ok(told),
        (None, Some(name)) => format!(
            "is missing, without it a turn of `{name}` is 1ns; write it as in \
             `per_server(rr,discipline={name},quantum=5us)`"
        ),
        (Some(quantum), None) => format!("is {quantum}, which `{order}` does not use; leave it out"),
    };
    Err(arguments.error(QUANTUM, reason))
}

/// The spec with this quantum wherever one lacks; `lacks` is the name of such a discipline.
fn tell_turns(spec: &Spec, quantum: Nanos, lacks: &mut Option<String>) -> Spec {
    let mut told = Role::Discipline.with_argument(
        spec,
        |takes| matches!(takes, Takes::Turn),
        &quantum.get().to_string(),
    );
    if told.arguments.len() > spec.arguments.len() {
        *lacks = Some(spec.name.clone());
    }
    for argument in &mut told.arguments {
        argument.value = tell_turns(&argument.value, quantum, lacks);
    }
    told
}

/// Puts queues that are first in, first out behind the dispatcher.
struct OverFifo<'a, V> {
    site: &'a Site,
    visitor: V,
}

impl<I: Item<Cost = Nanos> + Copy + Send + 'static, V: PoolVisitor<I>> DispatcherVisitor<I>
    for OverFifo<'_, V>
{
    type Output = V::Output;
    fn visit<D: Dispatcher<I> + Send + 'static>(self, make: impl Fn() -> D) -> V::Output {
        let Self { site, visitor } = self;
        let queues = || site.server_ids().map(|_| Fifo::new()).collect();
        visitor.visit(|| PerServer::new(make(), queues(), site.queue).with_speeds(site.speeds.clone()))
    }
}

/// What a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing: its queue is empty, or holds what has just come.
    Idle,
    /// Its grant is closed, it is about to be asked.
    Between,
    /// It serves.
    Busy,
}

/// What a dispatcher sees of a server, side by side for the cache.
#[derive(Clone, Copy, Debug)]
struct Load {
    waiting: u32,
    state: State,
    /// What those that wait need.
    cost: Nanos,
    /// When the one that is served is done, by what it is known to need.
    done: Instant,
}

/// What a dispatcher sees of all.
struct View<'a> {
    loads: &'a [Load],
    /// How fast each is; empty where all are alike.
    speeds: &'a [Speed],
    now: Instant,
}

impl Servers for View<'_> {
    #[inline]
    fn count(&self) -> u32 {
        self.loads.len() as u32
    }
    #[inline]
    fn length(&self, server: ServerId) -> u32 {
        self.loads.get(server.0 as usize).map_or(u32::MAX, Load::length)
    }
    #[inline]
    fn work(&self, server: ServerId) -> Nanos {
        let at = server.0 as usize;
        let time = |cost| self.speeds.get(at).map_or(cost, |speed| speed.time_of(cost));
        let of = |load: &Load| time(load.cost).plus(load.done.since(self.now));
        self.loads.get(at).map_or(WHOLE, of)
    }
}

impl Load {
    const NONE: Self = Self { waiting: 0, state: State::Idle, cost: Nanos::new(0), done: Instant::ZERO };

    #[inline]
    fn length(&self) -> u32 {
        self.waiting + u32::from(self.state == State::Busy)
    }

    /// Whether one more may wait, or is taken at once.
    #[inline]
    fn admits(&self, bound: u32) -> bool {
        self.waiting < bound || (self.waiting == 0 && self.state == State::Idle)
    }
}

/// The item that is served.
#[derive(Clone, Copy, Debug)]
struct Serving<I> {
    item: I,
    since: Instant,
    /// What the discipline has been charged for it.
    charged: Nanos,
}

#[derive(Clone, Debug)]
struct Server<I, Q> {
    queue: Q,
    serving: Option<Serving<I>>,
}

impl<I: Item<Cost = Nanos>, Q: Discipline<I>> Server<I, Q> {
    /// Charges what has been served by now.
    #[inline]
    fn charge(&mut self, now: Instant, speed: Option<&Speed>) {
        if let Some(serving) = &mut self.serving {
            let time = now.since(serving.since);
            let served = speed.map_or(time, |speed| speed.service_in(time));
            self.queue.charge(now, &serving.item, served.minus(serving.charged));
            serving.charged = served.max(serving.charged);
        }
    }

    /// The grant closes; what of `used` has not been charged yet.
    #[inline]
    fn close(&mut self, used: Nanos) -> Nanos {
        self.serving.take().map_or(used, |serving| used.minus(serving.charged))
    }
}

/// A dispatcher `D` over a queue `Q` for each server.
#[derive(Clone, Debug)]
pub struct PerServer<I, D, Q> {
    dispatcher: D,
    servers: Vec<Server<I, Q>>,
    loads: Vec<Load>,
    /// How fast each is; empty where all are alike.
    speeds: Vec<Speed>,
    /// How many may wait in one queue.
    bound: u32,
    backlog: Backlog<Nanos>,
    /// Who is there; empty unless the dispatcher hears of it.
    ledger: Ledger,
}

impl<I: Item<Cost = Nanos> + Copy, D: Dispatcher<I>, Q: Discipline<I>> PerServer<I, D, Q> {
    /// One server for each of these queues, which are empty; at most `bound` may wait in one.
    #[must_use]
    pub fn new(dispatcher: D, queues: Vec<Q>, bound: Option<u32>) -> Self {
        let loads = vec![Load::NONE; queues.len()];
        let servers = queues.into_iter().map(|queue| Server { queue, serving: None }).collect();
        let (backlog, ledger) = (Backlog::default(), Ledger::default());
        let (bound, speeds) = (bound.unwrap_or(u32::MAX), Vec::new());
        Self { dispatcher, servers, loads, speeds, bound, backlog, ledger }
    }

    /// The same with servers that are so fast, one for each, or empty where all are alike.
    #[must_use]
    pub fn with_speeds(mut self, speeds: Vec<Speed>) -> Self {
        self.speeds = speeds;
        self
    }

    /// Calls a queue, and notes what it drops where the dispatcher is to hear of it.
    #[inline]
    fn call<T>(
        &mut self,
        at: usize,
        drops: &mut dyn Drops<I>,
        call: impl FnOnce(&mut Q, &mut dyn Drops<I>) -> T,
    ) -> T {
        let queue = &mut self.servers[at].queue;
        match self.dispatcher.hears() {
            true => call(queue, &mut self.ledger.noting(drops)),
            false => call(queue, drops),
        }
    }

    /// Tells the dispatcher of what the queue of a server has dropped.
    #[inline]
    fn tell_dropped(&mut self, now: Instant, at: usize) {
        if self.dispatcher.hears() {
            while let Some(sent) = self.ledger.strike_dropped() {
                self.tell(now, at, sent, Step::Dropped);
            }
        }
    }

    fn tell(&mut self, now: Instant, at: usize, sent: Sent, step: Step) {
        let (server, length) = (ServerId(at as u32), self.loads[at].length());
        self.dispatcher.heard(now, &Heard { step, server, receiver: sent.receiver, length });
    }

    /// An item joins the queue of the server that it was sent to, or is dropped.
    #[inline]
    fn join(
        &mut self,
        now: Instant,
        item: I,
        receiver: ReceiverId,
        sent: Result<ServerId, DropReason>,
        drops: &mut dyn Drops<I>,
    ) -> Placed {
        let to = sent.and_then(|server| match self.loads.get(server.0 as usize) {
            Some(load) if load.admits(self.bound) => Ok(server),
            Some(_) => Err(DropReason::QueueFull),
            None => Err(DropReason::NoServer),
        });
        let to = match to {
            Ok(server) => server,
            Err(reason) => {
                drops.dropped(item, reason);
                return Placed::Queued;
            }
        };
        let at = to.0 as usize;
        self.servers[at].charge(now, self.speeds.get(at));
        let (id, sent) = (item.number(), Sent { at: now, receiver });
        if self.dispatcher.hears() {
            self.ledger.enter(id, sent);
        }
        let enqueued = self.call(at, drops, |queue, drops| queue.enqueue(now, item, drops));
        self.settle(at);
        if self.dispatcher.hears() {
            self.tell(now, at, sent, Step::Joined);
            self.tell_dropped(now, at);
        }
        match self.loads[at] {
            Load { state: State::Idle, waiting: 1.., .. } => Placed::Ask(to),
            Load { state: State::Busy, .. } if enqueued == Enqueued::Preempts => Placed::Preempts(to),
            _ => Placed::Queued,
        }
    }

    /// Notes what waits at a server after its queue has changed.
    #[inline]
    fn settle(&mut self, at: usize) {
        let (load, after) = (&mut self.loads[at], self.servers[at].queue.backlog());
        self.backlog.items = self.backlog.items + after.items - u64::from(load.waiting);
        self.backlog.cost = self.backlog.cost.minus(load.cost).plus(after.cost);
        (load.waiting, load.cost) = (after.items as u32, after.cost);
    }
}

impl<I: Item<Cost = Nanos> + Copy, D: Dispatcher<I>, Q: Discipline<I>> Pool<I> for PerServer<I, D, Q> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        let view = View { loads: &self.loads, speeds: &self.speeds, now };
        let sent = self.dispatcher.dispatch(now, &item, receiver, &view);
        self.join(now, item, receiver, sent, drops)
    }

    #[inline]
    fn enqueue_apart(
        &mut self,
        now: Instant,
        item: I,
        receiver: ReceiverId,
        apart: &mut Apart,
        drops: &mut dyn Drops<I>,
    ) -> Placed {
        let view = View { loads: &self.loads, speeds: &self.speeds, now };
        let sent = self.dispatcher.dispatch_apart(now, &item, receiver, &view, apart);
        if let Ok(server) = sent {
            apart.add(server);
        }
        self.join(now, item, receiver, sent, drops)
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, server: ServerId, drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        let at = server.0 as usize;
        self.servers.get(at)?;
        let grant = self.call(at, drops, |queue, drops| queue.dequeue(now, &Open, drops));
        self.servers[at].serving =
            grant.as_ref().map(|grant| Serving { item: grant.item, since: now, charged: Nanos::ZERO });
        let speed = self.speeds.get(at);
        let load = &mut self.loads[at];
        load.state = if grant.is_some() { State::Busy } else { State::Idle };
        let needs = grant.as_ref().map_or(Nanos::ZERO, |grant| grant.item.cost());
        let takes = speed.map_or(needs, |speed| speed.time_of(needs));
        load.done = Instant::new(now.get().saturating_add(takes.get()));
        self.settle(at);
        self.tell_dropped(now, at);
        let Grant { item, quantum } = grant?;
        let quantum = if quantum == needs { WHOLE } else { quantum };
        Some(Assigned { item, quantum, overhead: Nanos::ZERO })
    }

    #[inline]
    fn requeue(&mut self, now: Instant, server: ServerId, item: I, used: Nanos, drops: &mut dyn Drops<I>) {
        let at = server.0 as usize;
        let Some(one) = self.servers.get_mut(at) else { return drops.dropped(item, DropReason::NoServer) };
        let used = one.close(used);
        self.call(at, drops, |queue, drops| queue.requeue(now, item, used, drops));
        (self.loads[at].state, self.loads[at].done) = (State::Between, Instant::ZERO);
        self.settle(at);
        self.tell_dropped(now, at);
    }

    #[inline]
    fn finish(&mut self, now: Instant, server: ServerId, item: &I, used: Nanos) {
        let at = server.0 as usize;
        let Some(one) = self.servers.get_mut(at) else { return };
        let used = one.close(used);
        one.queue.finish(now, item, used);
        (self.loads[at].state, self.loads[at].done) = (State::Between, Instant::ZERO);
        self.settle(at);
        if self.dispatcher.hears()
            && let Some(sent) = self.ledger.strike(item.number())
        {
            self.tell(now, at, sent, Step::Left { response: now.since(sent.at) });
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog<Nanos> {
        self.backlog
    }

    fn length(&self, server: ServerId) -> Option<u32> {
        self.loads.get(server.0 as usize).map(Load::length)
    }

    fn period(&self) -> Option<Nanos> {
        self.dispatcher.period()
    }

    fn control(&mut self, now: Instant, measured: &Measured<'_>) {
        self.dispatcher.control(now, measured);
    }

    fn in_use(&self) -> Option<u32> {
        self.dispatcher.in_use()
    }

    fn moved(&self) -> u64 {
        self.dispatcher.redirected()
    }

    fn effort(&self) -> Option<Effort> {
        let efforts = self.servers.iter().map(|server| server.queue.effort());
        efforts.fold(None, |sum, one| Some(sum.unwrap_or_default().plus(one?)).or(sum))
    }
}

#[cfg(test)]
mod tests;
