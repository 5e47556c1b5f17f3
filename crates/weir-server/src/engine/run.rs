//! A replication from its first event to its last.

use weir_core::discipline::DropReason;
use weir_core::item::{ClassId, FlowId};
use weir_core::pool::{Assigned, Placed, Pool, ReceiverId, ServerId};
use weir_core::units::{Instant, Nanos};

use crate::job::{Ended, Job, Left};
use crate::model::ServerScenario;
use crate::record::{Done, Sink};
use weir_lab::control::Watch;
use weir_lab::error::RunError;

use super::arrivals::{Arrivals, NEVER, Receivers};
use super::control::Control;
use super::cores::{Cores, LATEST, Open};
use super::flows::Flows;
use super::requests::{MOST, NOT_YET, Slot, Slots, State};
use super::{Request, flows};

/// After so many events it is asked whether the run is to be broken off.
const PATIENCE: u32 = 1 << 16;
/// So many controls may pass in which nothing else happens, before it is said that nothing ever will.
const MOST_CONTROLS: u32 = 100_000;

/// A replication that runs.
pub(super) struct Engine<'a, D, S> {
    scenario: &'a ServerScenario,
    /// As the scenario calls it.
    pub(super) discipline: &'a str,
    pub(super) pool: D,
    sink: &'a mut S,
    arrivals: Arrivals,
    receivers: Option<Receivers>,
    pub(super) slots: Slots,
    pub(super) cores: Cores,
    flows: Flows,
    control: Option<Control>,
    /// What the discipline has dropped in the call before.
    drops: Vec<(Request, DropReason)>,
    in_use: u32,
    /// Controls since something else happened.
    controls: u32,
    pub(super) left: Left,
    pub(super) failure: Option<RunError>,
}

fn at(time: u64) -> Instant {
    Instant::new(time)
}

impl<'a, D: Pool<Request>, S: Sink> Engine<'a, D, S> {
    /// # Errors
    /// The workload is refused.
    pub(super) fn new(
        scenario: &'a ServerScenario,
        job: Job,
        pool: D,
        sink: &'a mut S,
    ) -> Result<Self, RunError> {
        let control = pool.period().map(|period| Control::new(period, scenario.classes.len()));
        let in_use = pool.in_use().unwrap_or(scenario.site.servers);
        sink.in_use(0, in_use);
        Ok(Self {
            scenario,
            discipline: scenario.disciplines.get(job.discipline).map_or("", String::as_str),
            pool,
            sink,
            arrivals: Arrivals::new(scenario, job.replication)?,
            receivers: Receivers::new(scenario),
            slots: Slots::new(),
            cores: Cores::new(scenario.site.servers),
            flows: Flows::new(flows(scenario), scenario.measure.order, scenario.tells_cores()),
            control,
            drops: Vec::new(),
            in_use,
            controls: 0,
            left: Left::default(),
            failure: None,
        })
    }

    /// # Errors
    /// The discipline violates its contract or leaves requests waiting for ever, or the clock ends.
    pub(super) fn run(mut self, watch: &Watch<'_>) -> Result<Ended, RunError> {
        let (mut told, mut patience, mut now) = (0, PATIENCE, 0);
        while let Some(next) = self.event() {
            now = next;
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                watch.passed(&mut told, now);
                if watch.cancelled() {
                    return Ok(Ended::Interrupted);
                }
            }
        }
        watch.passed(&mut told, u64::MAX);
        self.left.moved = self.pool.moved();
        if self.scenario.measure.verify {
            self.audit_end(now);
        }
        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok(Ended::Finished(self.left)),
        }
    }

    /// Does what happens next; when that is, or `None` at the end.
    #[inline]
    fn event(&mut self) -> Option<u64> {
        let (end, core) = self.cores.first();
        let arrival = self.arrivals.next_at();
        let delivery = self.receivers.as_ref().map_or(NEVER, Receivers::next_at);
        let control = self.control.as_ref().map_or(NEVER, |control| control.next_at);
        let offer = arrival.min(delivery);
        let now = if end <= control && end <= offer {
            if end == LATEST {
                return self.nothing_left();
            }
            self.end_of_service(end, core);
            end
        } else if control <= offer {
            if end == LATEST && offer == NEVER && self.stands_still() {
                return self.nothing_left();
            }
            self.control(control);
            control
        } else {
            match arrival <= delivery {
                true => self.arrival(arrival),
                false => self.delivery(delivery),
            }
            self.controls = 0;
            offer
        };
        if let Some(in_use) = self.pool.in_use()
            && in_use != self.in_use
        {
            self.in_use = in_use;
            self.sink.in_use(now, in_use);
        }
        if self.scenario.measure.verify {
            self.audit(now);
        }
        Some(now)
    }

    /// Whether only controls are to come, and have for long.
    fn stands_still(&mut self) -> bool {
        self.controls += 1;
        self.slots.held() == 0 || self.controls > MOST_CONTROLS
    }

    /// The end of the run; an error where requests are still there.
    #[cold]
    fn nothing_left(&mut self) -> Option<u64> {
        let held = self.slots.held();
        if held > 0 {
            self.failure = Some(RunError::Stuck {
                place: format!("`{}` at {}ns", self.discipline, self.left.last),
                reason: format!("{held} requests wait, and no core will ever be given them"),
                remedy: "give every class a core that may serve it".to_owned(),
            });
        }
        None
    }

    /// A request arrives: at its receiver, or at once before the discipline.
    #[inline]
    fn arrival(&mut self, now: u64) {
        let Some(request) = self.arrivals.take() else { return };
        self.left.offered += 1;
        let Some(slot) = self.slots.keep(request) else { return self.too_many() };
        let receiver = self.receiver(request.flow);
        match &mut self.receivers {
            Some(receivers) => receivers.receive(now, slot, receiver),
            None => self.enqueue(now, slot),
        }
    }

    #[cold]
    fn too_many(&mut self) {
        self.overloaded(format!("more than {MOST} requests wait"));
    }

    #[cold]
    fn overloaded(&mut self, reason: String) {
        let disciplines = self.discipline.to_owned();
        self.failure.get_or_insert(RunError::Overloaded { disciplines, reason });
    }

    /// A request comes from its receiver.
    fn delivery(&mut self, now: u64) {
        if let Some(slot) = self.receivers.as_mut().and_then(Receivers::deliver) {
            self.enqueue(now, slot);
        }
    }

    #[inline]
    fn receiver(&self, flow: u32) -> u32 {
        match self.scenario.site.receivers {
            1 => 0,
            receivers => flow % receivers,
        }
    }

    /// A request comes before the discipline.
    #[inline]
    fn enqueue(&mut self, now: u64, slot: u32) {
        let request = *self.slots.deliver(slot);
        if self.control.is_some() {
            self.slots.line_up(slot);
        }
        let item = Request {
            id: slot,
            flow: FlowId(request.flow),
            class: ClassId(request.class),
            remaining: Nanos::new(request.known),
        };
        let receiver = ReceiverId(self.receiver(request.flow));
        let placed = self.pool.enqueue(at(now), item, receiver, &mut self.drops);
        self.forget_dropped(now);
        match placed {
            Placed::Queued => {}
            Placed::Ask(ServerId(core)) => self.ask_idle(now, core),
            Placed::Preempts(ServerId(core)) => self.preempt(now, core),
        }
    }

    fn preempt(&mut self, now: u64, core: u32) {
        let Some(&Some(grant)) = self.cores.open.get(core as usize) else {
            return self.violated(now, format!("it preempts core {core}, which serves nobody"));
        };
        self.close(now, core, now.saturating_sub(grant.begins));
        self.ask(now, core);
        self.wake(now);
    }

    /// The first grant that ends does.
    #[inline]
    fn end_of_service(&mut self, now: u64, core: u32) {
        let Some(grant) = self.cores.open[core as usize] else { return };
        self.close(now, core, grant.serves);
        self.ask(now, core);
        self.wake(now);
    }

    /// A grant ends, in which its request was served `used`.
    #[inline]
    fn close(&mut self, now: u64, core: u32, used: u64) {
        let Some(mut grant) = self.cores.open[core as usize].take() else { return };
        let busy = now - grant.since;
        let overhead = (grant.begins - grant.since).min(busy);
        self.sink.busy(core, grant.since, now, overhead);
        let slot = grant.item.id;
        let request = self.slots.of(slot);
        request.left -= used;
        if let Some(control) = &mut self.control {
            control.was_busy(busy);
            if grant.first && grant.begins > now {
                control.begins_not(request);
                self.slots.line_up(slot);
            }
        }
        let request = self.slots.of(slot);
        if grant.begins > now && grant.first {
            request.began = NOT_YET;
        }
        if request.left == 0 && grant.begins <= now {
            self.pool.finish(at(now), ServerId(core), &grant.item, Nanos::new(used));
            self.done(now, core, slot);
        } else {
            self.left.preemptions += 1;
            request.state = State::Waiting;
            self.slots.waiting += 1;
            let remaining = grant.item.remaining.get().saturating_sub(used);
            grant.item.remaining = Nanos::new(remaining);
            self.pool.requeue(at(now), ServerId(core), grant.item, Nanos::new(used), &mut self.drops);
            self.forget_dropped(now);
        }
    }

    /// A request is done.
    #[inline]
    fn done(&mut self, now: u64, core: u32, slot: u32) {
        let request = self.slots.let_go(slot);
        self.left.done += 1;
        self.left.last = now;
        let reordered = self.flows.end(request.flow, request.number);
        self.sink.done(&Done {
            arrived: request.arrived,
            began: request.began,
            ended: now,
            service: request.service,
            class: request.class,
            flow: request.flow,
            server: core,
            reordered,
            cold: request.cold,
        });
        self.arrivals.over(request.flow, now, false);
    }

    /// Asks those that the discipline wakes, one after the other.
    #[inline]
    fn wake(&mut self, now: u64) {
        // Each may be woken for nothing once; more is a discipline that comes to no end.
        let mut patience = 4 * self.cores.open.len();
        while let Some(ServerId(core)) = self.pool.wake(at(now)) {
            self.ask_idle(now, core);
            patience -= 1;
            if patience == 0 || self.failure.is_some() {
                return self.violated(now, format!("it wakes core {core} again and again"));
            }
        }
    }

    /// Asks what an idle core does next.
    #[inline]
    fn ask_idle(&mut self, now: u64, core: u32) {
        match self.cores.open.get(core as usize) {
            Some(None) => self.ask(now, core),
            Some(Some(_)) => self.violated(now, format!("it has core {core} asked, which is busy")),
            None => self.violated(now, format!("it has core {core} asked, which does not exist")),
        }
    }

    /// Asks what a core without a grant does next.
    #[inline]
    fn ask(&mut self, now: u64, core: u32) {
        match self.pool.dequeue(at(now), ServerId(core), &mut self.drops) {
            Some(assigned) => self.begin(now, core, &assigned),
            None => self.cores.idle(core),
        }
        self.forget_dropped(now);
    }

    /// A core is given a request.
    #[inline]
    fn begin(&mut self, now: u64, core: u32, assigned: &Assigned<Request>) {
        let slot = assigned.item.id;
        let waits = |request: &&mut Slot| request.state == State::Waiting;
        let Some(request) = self.slots.get(slot).filter(waits) else {
            return self.violated(now, format!("it grants request {slot}, which does not wait"));
        };
        let cold = self.flows.serve(request.flow, core);
        let cost = if cold { self.scenario.costs.cold.get() } else { 0 };
        let begins = now.saturating_add(assigned.overhead.get()).saturating_add(cost);
        let serves = request.left.min(assigned.quantum.get().max(1));
        let end = begins.saturating_add(serves);
        request.state = State::Served;
        let first = request.began == NOT_YET;
        if first {
            (request.began, request.cold) = (begins, cold);
            if let Some(control) = &mut self.control {
                control.begins(request);
                self.slots.step_out(slot);
            }
        }
        self.slots.waiting -= 1;
        self.left.decisions += 1;
        self.controls = 0;
        self.cores.open[core as usize] =
            Some(Open { item: assigned.item, since: now, begins, serves, first });
        match end < LATEST {
            true => self.cores.ends(core, end),
            false => self.overloaded(format!("a service would end after {LATEST}ns, where the clock ends")),
        }
    }

    /// Forgets what the discipline has dropped in a call.
    #[inline]
    fn forget_dropped(&mut self, now: u64) {
        if !self.drops.is_empty() {
            self.drop_all(now);
        }
    }

    #[cold]
    fn drop_all(&mut self, now: u64) {
        let mut drops = std::mem::take(&mut self.drops);
        for (item, reason) in drops.drain(..) {
            let Some(State::Waiting) = self.slots.get(item.id).map(|request| request.state) else {
                self.violated(now, format!("it drops request {}, which does not wait", item.id));
                continue;
            };
            self.slots.waiting -= 1;
            let request = self.slots.let_go(item.id);
            if self.control.is_some() && request.began == NOT_YET {
                self.slots.step_out(item.id);
            }
            self.left.dropped += 1;
            self.sink.dropped(request.class, request.arrived, now, reason);
            self.arrivals.over(request.flow, now, true);
        }
        self.drops = drops;
    }

    /// A period of the discipline's control ends, or the time has come at which it wanted to be asked whom it wakes.
    fn control(&mut self, now: u64) {
        if self.control.as_ref().is_some_and(|control| control.ends(now)) {
            self.end_of_period(now);
        }
        self.wake(now);
        let alarm = self.pool.wakes_at();
        if alarm.is_some_and(|alarm| alarm.get() <= now) {
            return self.violated(now, "it has an alarm at a time that has passed".to_owned());
        }
        if let Some(control) = &mut self.control {
            control.set_alarm(alarm);
        }
    }

    fn end_of_period(&mut self, now: u64) {
        let Some(control) = &mut self.control else { return };
        let late = |grant: &&Open| grant.first && grant.begins > now;
        for grant in self.cores.open.iter().flatten().filter(late) {
            control.put_off(self.slots.of(grant.item.id));
        }
        let open = self.cores.open.iter().flatten();
        let measured = control.measured(now, open, self.slots.oldest());
        self.pool.control(at(now), &measured);
        control.turn();
    }
}
