//! A replication from its first event to its last.

use super::arrivals::{Arrivals, Receivers};
use super::control::Control;
use super::cores::{Cores, End, LATEST, Open};
use super::fan_out::FanOut;
use super::flows::Flows;
use super::grants::gone;
use super::leaving::deadlines;
use super::pace::Pace;
use super::requests::{MOST, Slot, Slots};
use super::retries::Retries;
use super::{Request, flows};
use crate::job::{Ended, Job, Left};
use crate::model::{Deadline, ServerScenario};
use crate::record::{Came, Fate, Sink, Unserved};
use crate::source::Balking;
use weir_core::discipline::DropReason;
use weir_core::item::{ClassId, FlowId};
use weir_core::pool::{Placed, Pool, ReceiverId, ServerId};
use weir_core::units::Instant;
use weir_lab::control::Watch;
use weir_lab::error::RunError;

/// The number of events after which the engine asks whether to break the run off.
const PATIENCE: u32 = 1 << 16;
/// The number of controls that may pass in which nothing else happens, before it is taken that nothing ever will.
const MOST_CONTROLS: u32 = 100_000;

/// A replication that runs.
pub(super) struct Engine<'a, D, S> {
    pub(super) scenario: &'a ServerScenario,
    /// As the scenario calls it.
    pub(super) discipline: &'a str,
    pub(super) pool: D,
    pub(super) sink: &'a mut S,
    pub(super) arrivals: Arrivals,
    pub(super) receivers: Option<Receivers>,
    pub(super) slots: Slots,
    pub(super) cores: Cores,
    pub(super) flows: Flows,
    pub(super) control: Option<Control>,
    pub(super) retries: Option<Retries>,
    /// How fast cores are, where they are not all alike.
    pub(super) pace: Option<Box<Pace>>,
    pub(super) fan_out: Option<FanOut>,
    /// Cores whose service was stopped, and that are not asked yet.
    pub(super) stopped: Vec<u32>,
    /// Whether requests may leave before their turn comes.
    pub(super) may_leave: bool,
    /// By class; empty where there are none.
    pub(super) deadlines: Vec<Option<Deadline>>,
    pub(super) balking: Option<Balking>,
    /// What the discipline has dropped in the call before.
    pub(super) drops: Vec<(Request, DropReason)>,
    in_use: u32,
    /// Controls since something else happened.
    pub(super) controls: u32,
    pub(super) left: Left,
    pub(super) failure: Option<RunError>,
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
        sink.in_use(Instant::ZERO, in_use);
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
            retries: Retries::new(scenario, job.replication),
            pace: Pace::new(scenario).map(Box::new),
            fan_out: FanOut::new(scenario, job.replication),
            stopped: Vec::new(),
            may_leave: scenario.has_patience() || scenario.has_deadline() || scenario.fan_out.is_some(),
            deadlines: deadlines(scenario),
            balking: Balking::new(scenario, job.replication),
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
        let (mut told, mut patience, mut now) = (0, PATIENCE, Instant::ZERO);
        while let Some(next) = self.event() {
            now = next;
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                watch.passed(&mut told, now.get());
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
    fn event(&mut self) -> Option<Instant> {
        let End { at: end, core } = self.cores.first();
        let (arrival, gives_up) = match &mut self.retries {
            Some(retries) => {
                let gives_up = retries.next_gives_up(self.slots.held());
                (self.arrivals.next_at().min(retries.next_due()), gives_up)
            }
            None => {
                let again = self.fan_out.as_mut().map_or(Instant::NEVER, FanOut::next_timer);
                (self.arrivals.next_at(), again)
            }
        };
        let delivery = self.receivers.as_ref().map_or(Instant::NEVER, Receivers::next_at);
        let control = self.control.as_ref().map_or(Instant::NEVER, |control| control.next_at);
        let offer = arrival.min(delivery).min(gives_up);
        let now = if end <= control && end <= offer {
            if end == LATEST {
                return self.nothing_left();
            }
            self.end_of_service(end, core);
            end
        } else if control <= offer {
            if end == LATEST && offer == Instant::NEVER && self.stands_still() {
                return self.nothing_left();
            }
            self.control(control);
            control
        } else {
            match (gives_up <= offer, arrival <= delivery) {
                (true, _) => self.gives_up(gives_up),
                (_, true) => self.arrival(arrival),
                _ => self.delivery(delivery),
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
    fn nothing_left(&mut self) -> Option<Instant> {
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
    fn arrival(&mut self, now: Instant) {
        if self.retries.is_some() {
            return self.attempt(now);
        }
        if self.fan_out.is_some() {
            return self.arrival_of_parts(now);
        }
        let Some(request) = self.arrivals.take() else { return };
        self.left.offered += 1;
        if self.balking.is_some() && self.balks(now, &request, 1) {
            return;
        }
        let receiver = self.receiver(request.flow);
        if self.is_full(now, receiver) {
            return self.drop_at_receiver(now, &request, 1);
        }
        let Some(slot) = self.slots.keep(request) else { return self.too_many() };
        if self.sink.follows() {
            self.sink.came(slot, self.coming(1));
        }
        self.receive(now, slot, receiver);
    }

    /// As [`Self::arrival`], where it is known what clients do: of a request that comes by itself, or of an attempt that is
    /// due.
    #[inline(never)]
    fn attempt(&mut self, now: Instant) {
        let Some(retries) = &mut self.retries else { return };
        let is_first = self.arrivals.next_at() <= now;
        let next = match is_first {
            true => self.arrivals.take().zip(Some(retries.first())),
            false => retries.take(),
        };
        let Some((request, attempt)) = next else { return };
        if !is_first {
            self.sink.retried(request.class, request.arrived, request.service);
        }
        self.left.offered += 1;
        if self.balking.is_some() && self.balks(now, &request, attempt.number) {
            return;
        }
        let sent = self.retries.as_mut().and_then(|retries| retries.sends(now, attempt));
        let Some(attempt) = sent else {
            self.lost(now, Unserved::Refused, &request);
            if self.sink.follows() {
                let refused = gone(&request, now, None, Fate::Unserved(Unserved::Refused));
                self.sink.turned_away(self.coming(attempt.number), &refused);
            }
            return self.tries_again(now, attempt, &request);
        };
        let receiver = self.receiver(request.flow);
        if self.is_full(now, receiver) {
            self.drop_at_receiver(now, &request, attempt.number);
            return self.has_failed(now, attempt, &request);
        }
        let Some(slot) = self.slots.keep(request) else { return self.too_many() };
        if self.sink.follows() {
            self.sink.came(slot, self.coming(attempt.number));
        }
        if let Some(retries) = &mut self.retries {
            retries.keep(slot, attempt, &request);
        }
        self.receive(now, slot, receiver);
    }

    /// The attempt that has just come.
    pub(super) fn coming(&self, attempt: u32) -> Came {
        Came::whole(self.left.offered - 1, attempt)
    }

    /// Whether the ring of a receiver is full.
    #[inline]
    pub(super) fn is_full(&self, now: Instant, receiver: u32) -> bool {
        self.receivers.as_ref().is_some_and(|receivers| receivers.is_full(now, receiver))
    }

    /// A request is there.
    #[inline]
    fn receive(&mut self, now: Instant, slot: u32, receiver: u32) {
        match &mut self.receivers {
            Some(receivers) => receivers.receive(now, slot, receiver),
            None => self.enqueue(now, slot),
        }
    }

    /// The ring of its receiver is full.
    #[cold]
    pub(super) fn drop_at_receiver(&mut self, now: Instant, request: &Slot, attempt: u32) {
        self.left.dropped += 1;
        self.sink.dropped(request.class, request.arrived, now, DropReason::QueueFull);
        if self.sink.follows() {
            self.sink.turned_away(self.coming(attempt), &gone(request, now, None, Fate::Dropped));
        }
        if self.retries.is_none() {
            self.arrivals.over(request.flow, now, true);
        }
    }

    #[cold]
    pub(super) fn too_many(&mut self) {
        self.overloaded(format!("more than {MOST} requests wait"));
    }

    #[cold]
    pub(super) fn overloaded(&mut self, reason: String) {
        let disciplines = self.discipline.to_owned();
        self.failure.get_or_insert(RunError::Overloaded { disciplines, reason });
    }

    /// A request comes from its receiver.
    fn delivery(&mut self, now: Instant) {
        match self.receivers.as_mut().and_then(Receivers::deliver) {
            Some(id) if self.fan_out.is_some() => self.split(now, id),
            Some(slot) => self.enqueue(now, slot),
            None => {}
        }
    }

    #[inline]
    pub(super) fn receiver(&self, flow: u32) -> u32 {
        match self.scenario.site.receivers {
            1 => 0,
            receivers => flow % receivers,
        }
    }

    /// A request comes before the discipline.
    #[inline]
    fn enqueue(&mut self, now: Instant, slot: u32) {
        let (item, receiver) = self.comes(slot);
        let placed = self.pool.enqueue(now, item, receiver, &mut self.drops);
        self.forget_dropped(now);
        self.act(now, placed);
    }

    /// What the discipline sees of a request that comes before it.
    #[inline]
    pub(super) fn comes(&mut self, slot: u32) -> (Request, ReceiverId) {
        let request = *self.slots.deliver(slot);
        if self.control.is_some() {
            self.slots.line_up(slot);
        }
        let item = Request {
            id: slot,
            flow: FlowId(request.flow),
            class: ClassId(request.class),
            remaining: request.known,
        };
        (item, ReceiverId(self.receiver(request.flow)))
    }

    /// Does what the discipline asks for, now that a request has come before it.
    #[inline]
    pub(super) fn act(&mut self, now: Instant, placed: Placed) {
        match placed {
            Placed::Queued => {}
            Placed::Ask(ServerId(core)) => self.ask_idle(now, core),
            Placed::Preempts(ServerId(core)) => self.preempt(now, core),
        }
    }

    /// A period of the discipline's control ends, or the time has come at which it wanted to be asked whom it wakes.
    fn control(&mut self, now: Instant) {
        if self.control.as_ref().is_some_and(|control| control.ends(now)) {
            self.end_of_period(now);
        }
        self.wake(now);
        let alarm = self.pool.wakes_at();
        if alarm.is_some_and(|alarm| alarm <= now) {
            return self.violated(now, "it has an alarm at a time that has passed".to_owned());
        }
        if let Some(control) = &mut self.control {
            control.set_alarm(alarm);
        }
    }

    fn end_of_period(&mut self, now: Instant) {
        let Some(control) = &mut self.control else { return };
        let late = |grant: &&Open| grant.first && grant.begins > now;
        for grant in self.cores.open.iter().flatten().filter(late) {
            control.put_off(self.slots.of(grant.item.id));
        }
        let open = self.cores.open.iter().flatten();
        let measured = control.measured(now, open, self.slots.oldest());
        self.pool.control(now, &measured);
        control.turn();
    }
}
