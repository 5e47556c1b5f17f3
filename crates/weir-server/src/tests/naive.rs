//! A second engine, as literal as can be: every step looks through all there is. It reads the same requests, and says of
//! them what the engine must say.

mod parts;

mod circuit;
mod speeds;

use std::collections::HashMap;

use circuit::Circuit;

use super::Told;
use crate::engine::seeded;
use crate::job::Job;
use crate::model::{Deadline, Hopeless, Retry, ServerScenario, Workload};
use crate::record::{Done, Lost, Sink, Unserved};
use crate::source::clients::Clients;
use crate::source::parts::{From, Needs};
use crate::source::{Backoff, Balking, Estimate, Parts, Patience, Source};
use parts::{Drawn, PartOf, Wholes};
use weir_core::discipline::DropReason;
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::pool::{Apart, Delays, Measured, Placed, Pool, ReceiverId, ServerId};
use weir_core::registry;
use weir_core::units::{Instant, Nanos};
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::requests::Requests;

type Item = Message<Nanos>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// A sub-request whose turn to be sent has not come.
    Unsent,
    Received {
        until: u64,
    },
    Waiting,
    Served,
    Gone,
}

struct Request {
    at: u64,
    class: u16,
    flow: u32,
    service: u64,
    known: u64,
    /// When it leaves, if its service has not begun by then.
    leaves: u64,
    left: u64,
    began: Option<u64>,
    cold: bool,
    /// Its place among those that came before the discipline.
    delivered: usize,
    place: Place,
    /// The number of the request among those that came by themselves, and that of the attempt, from 1.
    attempt: (u64, u32),
    /// In which state of the circuit breaker it was sent.
    sent_in: u32,
    /// Its client waits no more.
    gave_up: bool,
    /// The request that splits where this one comes before the discipline.
    carries: Option<usize>,
    /// What it is a part of.
    part: Option<PartOf>,
}

/// When an attempt comes, which it is, its class, flow, service, what is known of it, and its patience.
type Due = (u64, (u64, u32), u16, u32, u64, u64, u64);

/// Clients, and whether they try again.
struct Again {
    retry: Retry,
    circuit: Option<Circuit>,
    backoff: Backoff,
    fresh: u64,
    tokens: f64,
    due: Vec<Due>,
}

struct Serving {
    core: u32,
    item: Item,
    since: u64,
    begins: u64,
    end: u64,
    first: bool,
}

/// When a request arrives, its class, flow, service, what is known of it, its patience, and what it is made of.
type Known = (u64, u16, u32, u64, u64, u64, Drawn);

/// Everything that arrives, or the clients who will.
enum Coming {
    Known(Vec<Known>),
    Clients(Box<Clients>),
}

pub(super) struct Naive<'a> {
    scenario: &'a ServerScenario,
    pool: Box<dyn Pool<Item> + Send>,
    estimate: Estimate,
    coming: Coming,
    requests: Vec<Request>,
    serving: Vec<Serving>,
    /// Until when each receiver is busy.
    receivers: Vec<u64>,
    delivered: usize,
    core_of_flow: HashMap<u32, u32>,
    /// Flow and place of requests that have ended.
    ended: Vec<(u32, usize)>,
    /// When services began first, of which class, how long after arrival.
    begun: Vec<(u64, u16, u64)>,
    again: Option<Again>,
    balking: Option<Balking>,
    /// Of clients.
    patience: Option<Patience>,
    /// Requests that came, whatever became of them.
    came: u64,
    wholes: Option<Wholes>,
    /// Cores whose service was stopped, and that are not asked yet.
    stopped: Vec<u32>,
    next_control: Option<u64>,
    last_control: u64,
    drops: Vec<(Item, DropReason)>,
    told: Told,
}

/// All requests that an open workload brings, with what is known of them.
fn all(scenario: &ServerScenario, replication: u32, source: &mut Source) -> Vec<Known> {
    let key = StreamKey { seed: scenario.seed, replication, purpose: Purpose::Services, index: 1 };
    let (mut draws, estimate) = (Stream::new(key), Estimate::new(scenario));
    let mut parts = scenario.fan_out.map(|fan_out| Parts::new(scenario, fan_out, replication));
    let (mut block, mut all) = (Requests::default(), Vec::new());
    while source.fill(&mut block, 7) > 0 {
        for place in 0..block.len() {
            let (class, service) = (block.class[place], block.service[place]);
            let known = estimate.of(class, Nanos::new(service), &mut draws).get();
            let patience = block.patience.get(place).copied().unwrap_or(u64::MAX);
            let drawn = parts.as_mut().map(|parts| {
                let first = Needs { service: Nanos::new(service), known: Nanos::new(known) };
                parts.draw(class, first, &estimate, From::Source(&mut draws));
                Drawn::of(parts)
            });
            let drawn = drawn.unwrap_or_default();
            all.push((block.at[place], class, block.flow[place], service, known, patience, drawn));
        }
    }
    all.reverse();
    all
}

/// The clients of a scenario.
fn again(scenario: &ServerScenario, replication: u32) -> Again {
    let once = Retry { attempts: 1, backoff: Nanos::ZERO, factor: 1.0, jitter: 0.0, budget: None };
    let retry = scenario.retry.unwrap_or(once);
    let circuit = |rule| Circuit { rule, state: (0, 0, 0), sent: 0, ended: Vec::new() };
    Again {
        retry,
        circuit: scenario.breaker.map(circuit),
        backoff: Backoff::new(retry, scenario.seed, replication),
        fresh: 0,
        tokens: 0.0,
        due: Vec::new(),
    }
}

impl<'a> Naive<'a> {
    pub(super) fn run(scenario: &'a ServerScenario, job: Job) -> Told {
        let spec = seeded(scenario, job).expect("known");
        let pool = registry::pool::<Item>(&spec, &scenario.site).expect("valid");
        let coming = match (Source::new(scenario, job.replication).expect("valid"), &scenario.workload) {
            (Some(mut source), _) => Coming::Known(all(scenario, job.replication, &mut source)),
            (None, Workload::Closed(closed)) => {
                let clients = Clients::new(scenario, closed, job.replication).expect("valid");
                Coming::Clients(Box::new(clients))
            }
            (None, _) => unreachable!("only clients have no source"),
        };
        let next_control = pool.period().map(Nanos::get);
        let mut told = Told::default();
        told.in_use(Instant::ZERO, pool.in_use().unwrap_or(scenario.site.servers));
        let naive = Self {
            scenario,
            pool,
            estimate: Estimate::new(scenario),
            coming,
            requests: Vec::new(),
            serving: Vec::new(),
            receivers: vec![0; scenario.site.receivers as usize],
            delivered: 0,
            core_of_flow: HashMap::new(),
            ended: Vec::new(),
            begun: Vec::new(),
            again: scenario.tells_clients().then(|| again(scenario, job.replication)),
            patience: Patience::new(scenario, job.replication),
            balking: Balking::new(scenario, job.replication),
            came: 0,
            wholes: Wholes::new(scenario, job.replication),
            stopped: Vec::new(),
            next_control,
            last_control: 0,
            drops: Vec::new(),
            told,
        };
        naive.play()
    }

    fn next_arrival(&self) -> Option<u64> {
        let due = self.again.iter().flat_map(|again| again.due.iter().map(|due| due.0)).min();
        self.next_fresh().into_iter().chain(due).min()
    }

    fn next_fresh(&self) -> Option<u64> {
        match &self.coming {
            Coming::Known(all) => all.last().map(|request| request.0),
            Coming::Clients(clients) => clients.next_at().map(Instant::get),
        }
    }

    /// Who gives up next, and when; of equal times the earlier request and attempt.
    fn next_gives_up(&self) -> Option<(u64, (u64, u32), usize)> {
        self.again.as_ref()?;
        let of = |(id, request): (usize, &Request)| {
            let timeout = self.scenario.classes[usize::from(request.class)].in_time();
            let timeout = timeout.map(|timeout| request.at + timeout.get());
            let waits = request.began.is_none() && request.leaves < u64::MAX;
            let at = timeout.into_iter().chain(waits.then(|| request.leaves + 1)).min()?;
            (request.place != Place::Gone && !request.gave_up).then_some((at, request.attempt, id))
        };
        self.requests.iter().enumerate().filter_map(of).min()
    }

    /// The client of a request gives up.
    fn gives_up(&mut self, now: u64, id: usize) {
        let request = &mut self.requests[id];
        let Some(again) = self.again.as_mut().filter(|_| !request.gave_up) else { return };
        request.gave_up = true;
        if let Some(circuit) = &mut again.circuit {
            circuit.ended(now, request.sent_in, true);
        }
        self.tries_again(now, id);
    }

    /// The client of a request tries again where it may, or thinks on.
    fn tries_again(&mut self, now: u64, id: usize) {
        let due = self.again.as_ref().map_or(0, |again| again.due.len());
        self.backs_off(now, id);
        if self.again.as_ref().is_some_and(|again| again.due.len() == due) {
            self.over(now, id, true);
        }
    }

    /// A request is over as its client sees it.
    fn over(&mut self, now: u64, id: usize, dropped: bool) {
        if let Coming::Clients(clients) = &mut self.coming {
            clients.over(self.requests[id].flow, Instant::new(now), dropped);
        }
    }

    fn backs_off(&mut self, now: u64, id: usize) {
        let (scenario, request) = (self.scenario, &mut self.requests[id]);
        let Some(again) = self.again.as_mut() else { return };
        let (number, attempt) = request.attempt;
        if attempt == again.retry.attempts {
            return;
        }
        if again.retry.budget.is_some() {
            if again.tokens < 1.0 {
                return;
            }
            again.tokens -= 1.0;
        }
        let at = now + again.backoff.before(number, attempt).get();
        let patience = if request.leaves == u64::MAX { u64::MAX } else { request.leaves - request.at };
        let (class, flow, service, known) = (request.class, request.flow, request.service, request.known);
        if at < scenario.stop.duration.get() {
            again.due.push((at, (number, attempt + 1), class, flow, service, known, patience));
        }
    }

    /// Who comes from a receiver next: of equal times who arrived first.
    fn next_delivery(&self) -> Option<(u64, usize)> {
        let until = |(id, request): (usize, &Request)| match request.place {
            Place::Received { until } => Some((until, id)),
            _ => None,
        };
        self.requests.iter().enumerate().filter_map(until).min()
    }

    fn play(mut self) -> Told {
        loop {
            let end = self.serving.iter().map(|one| (one.end, one.core)).min();
            let (arrival, delivery) = (self.next_arrival(), self.next_delivery());
            let (gives_up, timer) = (self.next_gives_up(), self.next_timer());
            let something = end.is_some() || arrival.is_some() || delivery.is_some();
            if !something && self.requests.iter().all(|request| request.place == Place::Gone) {
                return self.told;
            }
            let period = self.next_control.unwrap_or(u64::MAX);
            let control = self.pool.wakes_at().map_or(period, |alarm| period.min(alarm.get()));
            let offer = arrival.unwrap_or(u64::MAX).min(delivery.map_or(u64::MAX, |(at, _)| at));
            let offer = offer.min(gives_up.map_or(u64::MAX, |(at, ..)| at));
            let offer = offer.min(timer.map_or(u64::MAX, |(at, _)| at));
            let now = match end {
                Some((at, core)) if at <= control && at <= offer => {
                    self.end(at, core);
                    at
                }
                _ if control <= offer => {
                    match control == period {
                        true => self.control(control),
                        false => self.wake(control),
                    }
                    control
                }
                _ if gives_up.is_some_and(|(at, ..)| at == offer) => {
                    self.gives_up(offer, gives_up.expect("somebody does").2);
                    offer
                }
                _ if timer.is_some_and(|(at, _)| at == offer) => {
                    self.send_again(offer, timer.expect("somebody waits").1);
                    offer
                }
                _ if arrival == Some(offer) => {
                    self.arrive(offer);
                    offer
                }
                _ => {
                    self.deliver(offer, delivery.expect("somebody comes").1);
                    offer
                }
            };
            let in_use = self.pool.in_use().unwrap_or(self.scenario.site.servers);
            if self.told.in_use.last().is_none_or(|&(_, before)| before != in_use) {
                self.told.in_use(Instant::new(now), in_use);
            }
        }
    }

    fn arrive(&mut self, now: u64) {
        let is_fresh = self.next_fresh() == Some(now);
        let mut attempt = (0, 1);
        if let Some(again) = self.again.as_mut().filter(|_| is_fresh) {
            attempt = (again.fresh, 1);
            again.fresh += 1;
            again.tokens = (again.tokens + again.retry.budget.unwrap_or(0.0)).min(100.0);
        }
        let mut drawn = Drawn::default();
        let (class, flow, service, known, patience) = match &mut self.coming {
            _ if !is_fresh => {
                let due = &mut self.again.as_mut().expect("somebody tries again").due;
                let first = (0..due.len()).min_by_key(|&place| (due[place].0, due[place].1)).expect("one");
                let (_, number, class, flow, service, known, patience) = due.remove(first);
                attempt = number;
                self.told.retried(class, Instant::new(now), Nanos::new(service));
                (class, flow, service, known, patience)
            }
            Coming::Known(all) => {
                let (_, class, flow, service, known, patience, made_of) =
                    all.pop().expect("somebody arrives");
                drawn = made_of;
                (class, flow, service, known, patience)
            }
            Coming::Clients(clients) => {
                let (submitted, stream) = clients.submit().expect("somebody submits");
                let known = self.estimate.of(submitted.class, submitted.service, stream);
                let patience = self.patience.as_ref();
                let patience = patience.map_or(u64::MAX, |patience| patience.of(submitted.class, stream));
                if let Some(wholes) = &mut self.wholes {
                    let first = Needs { service: submitted.service, known };
                    wholes.parts.draw(submitted.class, first, &self.estimate, From::Client(stream));
                    drawn = Drawn::of(&wholes.parts);
                }
                (submitted.class, submitted.client, submitted.service.get(), known.get(), patience)
            }
        };
        self.came += 1;
        let waiting = self.requests.iter().filter(|request| request.place == Place::Waiting).count() as u64;
        if self.balking.as_ref().is_some_and(|one| one.balks(class, waiting, self.came)) {
            let (now, service) = (Instant::new(now), Nanos::new(service));
            let why = Unserved::Balked;
            self.told.lost(&Lost { why, class, arrived: now, now, service, left: service });
            if let Coming::Clients(clients) = &mut self.coming {
                clients.over(flow, now, true);
            }
            return;
        }
        let sent_in = match self.again.as_mut().and_then(|again| again.circuit.as_mut()) {
            Some(circuit) => circuit.sends(now),
            None => Some(0),
        };
        let costs = self.scenario.costs;
        let number = flow % self.scenario.site.receivers;
        let waits = |request: &&Request| match request.place {
            Place::Received { until } => {
                let begins = until - costs.hand_over.get() - costs.dispatch.get();
                request.flow % self.scenario.site.receivers == number && begins > now
            }
            _ => false,
        };
        // Somebody is seen to until its dispatch is over.
        let is_busy = costs.dispatch.get() > 0 && self.receivers[number as usize] > now;
        let waiting = self.requests.iter().filter(waits).count() as u64;
        let is_full =
            sent_in.is_some() && is_busy && self.scenario.ring.is_some_and(|ring| waiting >= u64::from(ring));
        let receiver = &mut self.receivers[number as usize];
        if !is_full && sent_in.is_some() {
            *receiver = now.max(*receiver) + costs.dispatch.get();
        }
        let until = *receiver + costs.hand_over.get();
        let place = if is_full || sent_in.is_none() { Place::Gone } else { Place::Received { until } };
        let carries = self.wholes.as_mut().filter(|_| !is_full);
        let carries = carries.map(|wholes| wholes.arrives(now, class, flow, patience, drawn));
        self.requests.push(Request {
            at: now,
            class,
            flow,
            service,
            known,
            leaves: now.saturating_add(patience),
            left: service,
            began: None,
            cold: false,
            delivered: 0,
            place,
            attempt,
            sent_in: sent_in.unwrap_or(u32::MAX),
            gave_up: sent_in.is_none(),
            carries,
            part: None,
        });
        let id = self.requests.len() - 1;
        if sent_in.is_none() {
            let (why, arrived, service) = (Unserved::Refused, Instant::new(now), Nanos::new(service));
            self.told.lost(&Lost { why, class, arrived, now: arrived, service, left: service });
            return self.tries_again(now, id);
        }
        if is_full {
            self.told.dropped(class, Instant::new(now), Instant::new(now), DropReason::QueueFull);
            self.leaves(now, id);
            return;
        }
        if until == now {
            self.deliver(now, self.requests.len() - 1);
        }
    }

    fn deliver(&mut self, now: u64, id: usize) {
        match self.requests[id].carries {
            Some(whole) => {
                self.requests[id].place = Place::Gone;
                self.split(now, whole);
            }
            None => self.offer(now, id, None),
        }
    }

    /// A request comes before the discipline, or a part of one.
    fn offer(&mut self, now: u64, id: usize, apart: Option<&mut Apart>) {
        self.delivered += 1;
        let request = &mut self.requests[id];
        request.delivered = self.delivered;
        request.place = Place::Waiting;
        let item = Message {
            id: id as u32,
            flow: FlowId(request.flow),
            class: ClassId(request.class),
            remaining: Nanos::new(request.known),
        };
        let receiver = ReceiverId(request.flow % self.scenario.site.receivers);
        let (instant, drops) = (Instant::new(now), &mut self.drops);
        let placed = match apart {
            Some(apart) => self.pool.enqueue_apart(instant, item, receiver, apart, drops),
            None => self.pool.enqueue(instant, item, receiver, drops),
        };
        self.drop_all(now);
        match placed {
            Placed::Queued => {}
            Placed::Ask(server) => self.ask(now, server.0),
            Placed::Preempts(server) => self.end(now, server.0),
        }
    }

    fn drop_all(&mut self, now: u64) {
        for (item, reason) in std::mem::take(&mut self.drops) {
            let request = &mut self.requests[item.id as usize];
            assert_eq!(request.place, Place::Waiting, "only who waits is dropped");
            request.place = Place::Gone;
            if request.part.is_some() {
                self.part_dropped(now, item.id as usize, reason);
                continue;
            }
            self.told.dropped(request.class, Instant::new(request.at), Instant::new(now), reason);
            self.leaves(now, item.id as usize);
        }
    }

    /// A request is dropped.
    fn leaves(&mut self, now: u64, id: usize) {
        match self.again.is_some() {
            true => self.gives_up(now, id),
            false => self.over(now, id, true),
        }
    }

    /// A core's grant ends: it is done, its quantum is used, or another preempts it.
    fn end(&mut self, now: u64, core: u32) {
        let place = self.serving.iter().position(|one| one.core == core).expect("it serves");
        let one = self.serving.remove(place);
        let time = now.saturating_sub(one.begins);
        let used = self.done_within(core, one.begins, now).min(self.requests[one.item.id as usize].left);
        let overhead = Nanos::new(one.begins.min(now) - one.since + time - used);
        self.told.busy(core, Instant::new(one.since), Instant::new(now), overhead);
        assert!(one.since <= now && now <= one.end, "a grant ends in its time");
        let request = &mut self.requests[one.item.id as usize];
        request.left -= used;
        let (instant, server) = (Instant::new(now), ServerId(core));
        if request.left == 0 && now >= one.begins {
            self.pool.finish(instant, server, &one.item, Nanos::new(used));
            self.done(now, core, one.item.id as usize);
        } else {
            if one.first && one.begins > now {
                request.began = None;
                let begun = (one.begins, request.class, one.begins - request.at);
                let place = self.begun.iter().position(|&other| other == begun).expect("it was to begin");
                self.begun.remove(place);
                if request.leaves < now {
                    self.gives_up(now, one.item.id as usize);
                }
            }
            if self.deadline(one.item.id as usize, Hopeless::During).is_some_and(|until| until <= now) {
                self.misses(now, one.item.id as usize);
                self.pool.finish(instant, server, &one.item, Nanos::new(used));
                self.ask(now, core);
                return self.wake(now);
            }
            let request = &mut self.requests[one.item.id as usize];
            request.place = Place::Waiting;
            let remaining = Nanos::new(one.item.remaining.get().saturating_sub(used));
            self.pool.requeue(
                instant,
                server,
                Item { remaining, ..one.item },
                Nanos::new(used),
                &mut self.drops,
            );
            self.drop_all(now);
        }
        self.ask(now, core);
        for core in std::mem::take(&mut self.stopped) {
            self.ask(now, core);
        }
        self.wake(now);
    }

    /// Until when the answer to a request must be there, where the server drops it in this way.
    fn deadline(&self, id: usize, drop: Hopeless) -> Option<u64> {
        let request = &self.requests[id];
        let deadline = self.scenario.classes[usize::from(request.class)].deadline;
        let deadline = deadline.filter(|deadline: &Deadline| deadline.drop == drop);
        deadline.map(|deadline| request.at + deadline.within.get())
    }

    /// A request is dropped for its deadline.
    fn misses(&mut self, now: u64, id: usize) {
        let request = &mut self.requests[id];
        request.place = Place::Gone;
        let &mut Request { class, at, service, left, .. } = request;
        let (arrived, now_) = (Instant::new(at), Instant::new(now));
        let (service, left) = (Nanos::new(service), Nanos::new(left));
        self.told.lost(&Lost { why: Unserved::Missed, class, arrived, now: now_, service, left });
        self.gives_up(now, id);
    }

    fn done(&mut self, now: u64, core: u32, id: usize) {
        let request = &mut self.requests[id];
        if request.part.is_some() {
            return self.part_done(now, core, id);
        }
        request.place = Place::Gone;
        let (flow, delivered) = (request.flow, request.delivered);
        let later = |&(other, place): &(u32, usize)| other == flow && place > delivered;
        let reordered = self.scenario.measure.order && self.ended.iter().any(later);
        self.ended.push((flow, delivered));
        self.told.done(&Done {
            arrived: Instant::new(request.at),
            began: Instant::new(request.began.expect("it was served")),
            ended: Instant::new(now),
            service: Nanos::new(request.service),
            class: request.class,
            flow,
            server: core,
            reordered,
            cold: request.cold,
        });
        if request.gave_up {
            return;
        }
        request.gave_up = true;
        if let Some(circuit) = self.again.as_mut().and_then(|again| again.circuit.as_mut()) {
            circuit.ended(now, request.sent_in, false);
        }
        self.over(now, id, false);
    }

    fn wake(&mut self, now: u64) {
        while let Some(server) = self.pool.wake(Instant::new(now)) {
            self.ask(now, server.0);
        }
    }

    fn ask(&mut self, now: u64, core: u32) {
        assert!(self.serving.iter().all(|one| one.core != core), "only idle cores are asked");
        let assigned = self.pool.dequeue(Instant::new(now), ServerId(core), &mut self.drops);
        if let Some(assigned) = assigned {
            let request = &mut self.requests[assigned.item.id as usize];
            assert_eq!(request.place, Place::Waiting, "only who waits is granted");
            if request.part.is_some() && self.part_leaves(now, core, &assigned.item) {
                return self.ask(now, core);
            }
            let request = &mut self.requests[assigned.item.id as usize];
            if request.began.is_none() && request.leaves < now {
                request.place = Place::Gone;
                let (class, at, leaves, service) =
                    (request.class, request.at, request.leaves, request.service);
                self.told.abandoned(class, Instant::new(at), Instant::new(leaves), Nanos::new(service));
                self.gives_up(now, assigned.item.id as usize);
                self.pool.finish(Instant::new(now), ServerId(core), &assigned.item, Nanos::ZERO);
                self.drop_all(now);
                return self.ask(now, core);
            }
            let (is_new, left) = (request.began.is_none(), request.left);
            let id = assigned.item.id as usize;
            let speed = u64::from(self.scenario.site.speed(ServerId(core)).millionths());
            let ends = now + assigned.overhead.get() + (left * 1_000_000).div_ceil(speed);
            let is_hopeless = self.deadline(id, Hopeless::Before).is_some_and(|until| is_new && ends > until);
            let is_over = self.deadline(id, Hopeless::During).is_some_and(|until| now >= until);
            if is_hopeless || is_over {
                self.misses(now, id);
                self.pool.finish(Instant::new(now), ServerId(core), &assigned.item, Nanos::ZERO);
                self.drop_all(now);
                return self.ask(now, core);
            }
            let cut = self.deadline(id, Hopeless::During).unwrap_or(u64::MAX);
            let request = &mut self.requests[id];
            let before = self.core_of_flow.insert(request.flow, core);
            let cold = self.scenario.tells_cores() && before.is_some_and(|before| before != core);
            let cost = if cold { self.scenario.costs.cold.get() } else { 0 };
            let begins = now + assigned.overhead.get() + cost;
            let first = request.began.is_none();
            if first {
                (request.began, request.cold) = (Some(begins), cold);
                self.begun.push((begins, request.class, begins - request.at));
            }
            request.place = Place::Served;
            let left = request.left;
            // Each grant does a nanosecond of service at least, but where its core stands still.
            let least = match self.speed(core, begins) {
                0 => 1,
                speed => 1_000_000_u128.div_ceil(speed) as u64,
            };
            let most = assigned.quantum.get().max(least);
            let serves = self.takes(core, begins, left).min(most);
            let item = assigned.item;
            let end = cut.min(begins + serves);
            self.serving.push(Serving { core, item, since: now, begins, end, first });
        }
        self.drop_all(now);
    }

    fn control(&mut self, now: u64) {
        let mut classes = vec![Delays::default(); self.scenario.classes.len()];
        for &(_, class, delay) in self.begun.iter().filter(|begun| begun.0 <= now) {
            let class = &mut classes[usize::from(class)];
            class.requests += 1;
            class.delay = Nanos::new(class.delay.get() + delay);
        }
        // What begins at this instant, but after this control, is counted by the next.
        self.begun.retain(|&(at, ..)| at > now);
        let waits = |request: &&Request| request.place == Place::Waiting && request.began.is_none();
        let oldest = self.requests.iter().filter(waits).min_by_key(|request| request.delivered);
        let oldest = Nanos::new(oldest.map_or(0, |request| now - request.at));
        let from = self.last_control;
        let within = |since: u64, until: u64| until.min(now).saturating_sub(since.max(from));
        let over: u64 = self.told.busy.iter().map(|&(_, since, until, _)| within(since, until)).sum();
        let open: u64 = self.serving.iter().map(|one| within(one.since, now)).sum();
        let measured = Measured { classes: &classes, oldest, busy: Nanos::new(over + open) };
        self.pool.control(Instant::new(now), &measured);
        self.last_control = now;
        self.next_control = Some(now + self.pool.period().expect("it has one").get().max(1));
        self.wake(now);
    }
}
