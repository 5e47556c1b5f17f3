//! A second engine, as literal as can be: every step looks through all there is. It reads the same requests, and says of
//! them what the engine must say.

use std::collections::HashMap;

use super::Told;
use crate::engine::seeded;
use crate::job::Job;
use crate::model::{Retry, ServerScenario, Workload};
use crate::record::{Done, Sink};
use crate::source::clients::Clients;
use crate::source::{Backoff, Estimate, Source};
use weir_core::discipline::DropReason;
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::pool::{Delays, Measured, Placed, Pool, ReceiverId, ServerId};
use weir_core::registry;
use weir_core::units::{Instant, Nanos};
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::requests::Requests;

type Item = Message<Nanos>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Received { until: u64 },
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
    /// Its client waits no more.
    gave_up: bool,
}

/// When an attempt comes, which it is, its class, flow, service, what is known of it, and its patience.
type Due = (u64, (u64, u32), u16, u32, u64, u64, u64);

/// Clients that try again.
struct Again {
    retry: Retry,
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
    serves: u64,
    first: bool,
}

impl Serving {
    fn end(&self) -> u64 {
        self.begins + self.serves
    }
}

/// When a request arrives, its class, flow, service, what is known of it, and its patience.
type Known = (u64, u16, u32, u64, u64, u64);

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
    next_control: Option<u64>,
    last_control: u64,
    drops: Vec<(Item, DropReason)>,
    told: Told,
}

/// All requests that an open workload brings, with what is told of them.
fn all(scenario: &ServerScenario, replication: u32, source: &mut Source) -> Vec<Known> {
    let key = StreamKey { seed: scenario.seed, replication, purpose: Purpose::Services, index: 1 };
    let (mut draws, estimate) = (Stream::new(key), Estimate::new(scenario));
    let (mut block, mut all) = (Requests::default(), Vec::new());
    while source.fill(&mut block, 7) > 0 {
        for place in 0..block.len() {
            let (class, service) = (block.class[place], block.service[place]);
            let known = estimate.of(class, Nanos::new(service), &mut draws).get();
            let patience = block.patience.get(place).copied().unwrap_or(u64::MAX);
            all.push((block.at[place], class, block.flow[place], service, known, patience));
        }
    }
    all.reverse();
    all
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
            again: scenario.retry.map(|retry| Again {
                retry,
                backoff: Backoff::new(retry, scenario.seed, job.replication),
                fresh: 0,
                tokens: 0.0,
                due: Vec::new(),
            }),
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
            let timeout = self.scenario.classes[usize::from(request.class)].timeout;
            let timeout = timeout.map(|timeout| request.at + timeout.get());
            let waits = request.began.is_none() && request.leaves < u64::MAX;
            let at = timeout.into_iter().chain(waits.then(|| request.leaves + 1)).min()?;
            (request.place != Place::Gone && !request.gave_up).then_some((at, request.attempt, id))
        };
        self.requests.iter().enumerate().filter_map(of).min()
    }

    /// The client of a request gives up, and tries again where it may.
    fn gives_up(&mut self, now: u64, id: usize) {
        let (scenario, request) = (self.scenario, &mut self.requests[id]);
        let Some(again) = self.again.as_mut().filter(|_| !request.gave_up) else { return };
        request.gave_up = true;
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
            let end = self.serving.iter().map(|one| (one.end(), one.core)).min();
            let (arrival, delivery) = (self.next_arrival(), self.next_delivery());
            let gives_up = self.next_gives_up();
            let something = end.is_some() || arrival.is_some() || delivery.is_some();
            if !something && self.requests.iter().all(|request| request.place == Place::Gone) {
                return self.told;
            }
            let period = self.next_control.unwrap_or(u64::MAX);
            let control = self.pool.wakes_at().map_or(period, |alarm| period.min(alarm.get()));
            let offer = arrival.unwrap_or(u64::MAX).min(delivery.map_or(u64::MAX, |(at, _)| at));
            let offer = offer.min(gives_up.map_or(u64::MAX, |(at, ..)| at));
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
                let (_, class, flow, service, known, patience) = all.pop().expect("somebody arrives");
                (class, flow, service, known, patience)
            }
            Coming::Clients(clients) => {
                let (submitted, stream) = clients.submit().expect("somebody submits");
                let known = self.estimate.of(submitted.class, submitted.service, stream).get();
                (submitted.class, submitted.client, submitted.service.get(), known, u64::MAX)
            }
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
        let is_full = is_busy && self.scenario.ring.is_some_and(|ring| waiting >= u64::from(ring));
        let receiver = &mut self.receivers[number as usize];
        if !is_full {
            *receiver = now.max(*receiver) + costs.dispatch.get();
        }
        let until = *receiver + costs.hand_over.get();
        let place = if is_full { Place::Gone } else { Place::Received { until } };
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
            gave_up: false,
        });
        if is_full {
            self.told.dropped(class, Instant::new(now), Instant::new(now), DropReason::QueueFull);
            self.gives_up(now, self.requests.len() - 1);
            if let Coming::Clients(clients) = &mut self.coming {
                clients.over(flow, Instant::new(now), true);
            }
            return;
        }
        if until == now {
            self.deliver(now, self.requests.len() - 1);
        }
    }

    fn deliver(&mut self, now: u64, id: usize) {
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
        let placed = self.pool.enqueue(Instant::new(now), item, receiver, &mut self.drops);
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
            self.told.dropped(request.class, Instant::new(request.at), Instant::new(now), reason);
            if let Coming::Clients(clients) = &mut self.coming {
                clients.over(request.flow, Instant::new(now), true);
            }
            self.gives_up(now, item.id as usize);
        }
    }

    /// A core's grant ends: it is done, its quantum is used, or another preempts it.
    fn end(&mut self, now: u64, core: u32) {
        let place = self.serving.iter().position(|one| one.core == core).expect("it serves");
        let one = self.serving.remove(place);
        let overhead = Nanos::new(one.begins.min(now) - one.since);
        self.told.busy(core, Instant::new(one.since), Instant::new(now), overhead);
        assert!(one.since <= now && now <= one.end(), "a grant ends in its time");
        let used = now.saturating_sub(one.begins);
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
        self.wake(now);
    }

    fn done(&mut self, now: u64, core: u32, id: usize) {
        let request = &mut self.requests[id];
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
        if let Coming::Clients(clients) = &mut self.coming {
            clients.over(flow, Instant::new(now), false);
        }
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
            let serves = request.left.min(assigned.quantum.get().max(1));
            let item = assigned.item;
            self.serving.push(Serving { core, item, since: now, begins, serves, first });
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
