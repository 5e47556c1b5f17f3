//! The state of a worker that only its own thread sees: its tasks, its alarms, and who runs.
//!
//! No borrow is held while a future, a waker or a destructor of the program's runs: they may come back here.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Duration;

use crate::clock::Clock;
use crate::counters::{Counters, WorkerCounts};
use crate::dispatcher::{After, Decision, Dispatch, NOBODY};
use crate::header::Header;
use crate::join::{JoinError, Settle, Why};
use crate::observe::{Observe, Polled, Took};
use crate::report::{Report, Reports};
use crate::shared::Shared;
use crate::signal::NEVER;
use crate::slots::{Body, Slot, Slots, Work};
use crate::terms::Terms;
use crate::timers::{Alarm, AlarmId, Timers};
use crate::watch::Watch;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Local>>> = const { RefCell::new(None) };
}

/// See above.
pub(crate) struct Local {
    pub(crate) shared: Arc<Shared>,
    pub(crate) clock: Clock,
    dispatcher: RefCell<Box<dyn Dispatch>>,
    counters: RefCell<Counters>,
    /// A task outranks the one that is polled.
    outranked: Cell<bool>,
    timers: RefCell<Timers>,
    slots: RefCell<Slots>,
    /// The time, while the worker sees to what is due at one instant.
    instant: Cell<Option<u64>>,
    /// The task that is polled, and what tells it from all others.
    running: Cell<u32>,
    running_id: Cell<u64>,
    /// When the reactor has its turn, while tasks are ready.
    pub(crate) reactor_due: Cell<u64>,
    /// The thread is in the reactor: a task that becomes ready there wakes the worker.
    pub(crate) rests: Cell<bool>,
    pub(crate) watch: Option<Watch>,
    observer: Option<RefCell<Box<dyn Observe>>>,
    pub(crate) reports: Reports,
}

/// Runs `f` with the worker of this thread, if it is one.
pub(crate) fn with<T>(f: impl FnOnce(&Rc<Local>) -> T) -> Option<T> {
    CURRENT.try_with(|current| current.try_borrow().ok()?.as_ref().map(f)).ok().flatten()
}

/// Makes a task of this thread's worker ready; `false` if it is another's.
#[inline]
pub(crate) fn wake(header: &Arc<Header>) -> bool {
    let woken = CURRENT.try_with(|current| match current.try_borrow().as_deref() {
        Ok(Some(local)) if Arc::ptr_eq(&local.shared, &header.worker) => {
            local.ready(header.number());
            true
        }
        _ => false,
    });
    woken.unwrap_or(false)
}

/// While it lives, the thread is this worker.
pub(crate) struct Current;

impl Current {
    pub(crate) fn enter(local: &Rc<Local>) -> Self {
        crate::signal::Signal::install(Some(local.shared.signal));
        CURRENT.set(Some(Rc::clone(local)));
        Self
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        crate::signal::Signal::install(None);
        // What it held is dropped behind the borrow.
        drop(CURRENT.take());
    }
}

impl Local {
    pub(crate) fn new(
        shared: Arc<Shared>,
        clock: Clock,
        dispatcher: Box<dyn Dispatch>,
        watch: Option<Watch>,
        observer: Option<Box<dyn Observe>>,
        reports: Reports,
    ) -> Self {
        Self {
            timers: RefCell::new(Timers::of(shared.number)),
            shared,
            clock,
            dispatcher: RefCell::new(dispatcher),
            counters: RefCell::default(),
            outranked: Cell::new(false),
            slots: RefCell::new(Slots::default()),
            instant: Cell::new(None),
            running: Cell::new(NOBODY),
            running_id: Cell::new(0),
            reactor_due: Cell::new(NEVER),
            rests: Cell::new(false),
            watch,
            observer: observer.map(RefCell::new),
            reports,
        }
    }

    /// The time: that of the instant which the worker sees to, or of the clock.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.instant.get().unwrap_or_else(|| self.clock.now())
    }

    pub(crate) fn set_instant(&self, instant: Option<u64>) {
        self.instant.set(instant);
    }

    /// What tells the task that is polled from all others; `None` outside of polls.
    pub(crate) fn running_task(&self) -> Option<u64> {
        (self.running.get() != NOBODY).then(|| self.running_id.get())
    }

    /// When the task that is polled last became ready; now, outside of polls.
    pub(crate) fn ready_since(&self) -> u64 {
        let since = self.slots.borrow_mut().get_mut(self.running.get()).map(|slot| slot.ready_since);
        since.unwrap_or_else(|| self.now())
    }

    /// A task that waited becomes ready.
    #[inline]
    pub(crate) fn ready(&self, number: u32) {
        let now = self.now();
        let outranks = self.dispatcher.borrow_mut().wake(now, number);
        self.counters.borrow_mut().wakes += 1;
        if let Some(slot) = self.slots.borrow_mut().get_mut(number) {
            slot.ready_since = now;
        }
        self.observed(|observer| observer.ready(now, number));
        if self.running.get() == NOBODY {
            if self.rests.get() {
                self.shared.inbox.wake();
            }
        } else if outranks {
            self.outranked.set(true);
            self.shared.signal.ask();
        } else {
            self.renew_due();
        }
    }

    /// When the running task is to be asked to give way may have changed.
    fn renew_due(&self) {
        if self.running.get() != NOBODY {
            let due = self.due();
            if due != self.shared.signal.due() {
                self.shared.signal.set_due(due);
                self.asks_at(self.now(), due);
            }
        }
    }

    /// See [`Watch::asks_at`].
    #[inline]
    pub(crate) fn asks_at(&self, now: u64, due: u64) {
        if let Some(watch) = &self.watch {
            watch.asks_at(self.shared.signal, now, due);
        }
    }

    #[inline]
    fn due(&self) -> u64 {
        self.dispatcher.borrow_mut().due().min(self.timers.borrow().due()).min(self.reactor_due.get())
    }

    pub(crate) fn set_alarm(&self, at: u64, alarm: Alarm) -> AlarmId {
        let id = self.timers.borrow_mut().set(at, alarm);
        self.renew_due();
        id
    }

    pub(crate) fn reset_alarm(&self, id: AlarmId, waker: &Waker) -> bool {
        self.timers.borrow_mut().reset(id, waker)
    }

    pub(crate) fn call_off(&self, id: AlarmId) {
        // The waker is dropped behind the borrow.
        let alarm = self.timers.borrow_mut().call_off(id);
        drop(alarm);
    }

    /// The first alarm that is due.
    #[inline]
    pub(crate) fn take_alarm(&self, now: u64) -> Option<Alarm> {
        self.timers.borrow_mut().take(now)
    }

    /// Who is polled next; what is due then includes alarms.
    #[inline]
    pub(crate) fn next(&self, now: u64) -> Decision {
        let decision = self.dispatcher.borrow_mut().next(now);
        let reactor_due = if decision.task == NOBODY { NEVER } else { self.reactor_due.get() };
        Decision { due: decision.due.min(self.timers.borrow().due()).min(reactor_due), ..decision }
    }

    /// Whether the running task has a reason to give way at `now`.
    #[inline]
    pub(crate) fn is_asked(&self, now: u64) -> bool {
        self.shared.signal.due() <= now || self.outranked.get() || !self.shared.inbox.is_empty()
    }

    /// Admits a task, which waits. Its future is dropped if it is refused.
    pub(crate) fn admit(&self, terms: &Terms, header: &Arc<Header>, work: Work, outcome: Arc<dyn Settle>) {
        let (now, number) = (self.now(), self.slots.borrow_mut().reserve());
        let declared = self.dispatcher.borrow_mut().declare(now, number, terms.declared);
        match declared {
            Ok(over) => {
                if let Some(over) = over {
                    self.reports.tell(Report::Overcommitted { worker: self.shared.number, over });
                }
                self.shared.set_name(number, &terms.name);
                self.observed(|observer| observer.admitted(now, number, &terms.name, &terms.declared));
                header.is_admitted_as(number);
                self.counters.borrow_mut().spawned += 1;
                let waker = Waker::from(Arc::clone(header));
                let body = Body { work, header: Arc::clone(header), waker };
                let slot = Slot::new(body, outcome, Arc::clone(&terms.name), now);
                self.slots.borrow_mut().fill(number, slot);
            }
            Err(error) => {
                let _ = self.slots.borrow_mut().free(number);
                self.counters.borrow_mut().refused += 1;
                self.shared.tasks.fetch_sub(1, Ordering::SeqCst);
                header.notice.finish();
                self.reports.tell(Report::Refused { task: terms.name.to_string(), why: error });
                outcome.fail(JoinError::Refused(error));
            }
        }
    }

    /// The first wake-up of a task that was admitted: now, or when its terms say.
    pub(crate) fn start(&self, terms: &Terms, header: &Arc<Header>) {
        if header.notice.is_done() {
            return;
        }
        let waker = Waker::from(Arc::clone(header));
        match terms.starts_after {
            Duration::ZERO => waker.wake(),
            span => {
                let at = self.now().saturating_add(crate::terms::nanos(span).get());
                self.set_alarm(at, Alarm::Wake(waker));
            }
        }
    }

    /// Takes a task out for a poll.
    #[inline]
    pub(crate) fn take(&self, number: u32) -> Option<Body> {
        let body = self.slots.borrow_mut().get_mut(number)?.body.take()?;
        self.running.set(number);
        self.running_id.set(body.header.id);
        self.outranked.set(false);
        Some(body)
    }

    /// Puts a task back behind a poll.
    #[inline]
    pub(crate) fn put_back(&self, number: u32, body: Body, took: Took, after: After) {
        self.running.set(NOBODY);
        if let Some(slot) = self.slots.borrow_mut().get_mut(number) {
            slot.polled(body, took.span());
        }
        self.polled(number, took, after);
    }

    #[inline]
    fn polled(&self, number: u32, took: Took, after: After) {
        let mut dispatcher = self.dispatcher.borrow_mut();
        let Took { from, until, own } = took;
        let level = || dispatcher.level();
        self.observed(|observer| {
            observer.polled(Polled { task: number, level: level(), from, until, after, own });
        });
        let took = took.span();
        let mut counters = self.counters.borrow_mut();
        counters.polls += 1;
        if took > counters.longest_poll {
            counters.longest_poll = took;
            counters.longest_poll_of = self.shared.name(number);
        }
        dispatcher.polled(until, after);
    }

    /// The task that was taken out for a poll is over: it came to its end, panicked, or was aborted before.
    pub(crate) fn ends(&self, number: u32, header: &Header, took: Took, why: Why) {
        self.polled(number, took, After::Ends);
        self.running.set(NOBODY);
        let slot = self.slots.borrow_mut().free(number);
        let Some(slot) = slot else { return };
        header.notice.finish();
        match why {
            Why::Done => {}
            Why::Panicked(with) => {
                self.counters.borrow_mut().panicked += 1;
                let said = crate::join::said(&*with).to_owned();
                self.reports.tell(Report::Panicked { task: slot.name.to_string(), said });
                slot.outcome.fail(JoinError::Panicked(with));
            }
            Why::Aborted => {
                self.counters.borrow_mut().aborted += 1;
                slot.outcome.fail(JoinError::Aborted);
            }
        }
        // Whoever waits for the last one to end finds everything of it done.
        self.shared.tasks.fetch_sub(1, Ordering::SeqCst);
    }

    /// Drops every task, at the end of the worker; returns the names of those that had not ended.
    pub(crate) fn clear(&self) -> Vec<String> {
        let now = self.now();
        self.observed(|observer| observer.is_over(now));
        let mut names = Vec::new();
        let mut number = 0;
        while number < self.slots.borrow().len() {
            let slot = self.slots.borrow_mut().free(number);
            number += 1;
            if let Some(Slot { body, outcome, name, .. }) = slot {
                if let Some(body) = &body {
                    body.header.notice.finish();
                }
                names.push(name.to_string());
                // A destructor that panics does not keep the others.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || drop(body)));
                outcome.fail(JoinError::Aborted);
                self.shared.tasks.fetch_sub(1, Ordering::SeqCst);
            }
        }
        names
    }

    /// Lets whoever hears of what happens here know.
    #[inline]
    fn observed<T>(&self, f: impl FnOnce(&mut dyn Observe) -> T) -> Option<T> {
        self.observer.as_ref().map(|observer| f(&mut **observer.borrow_mut()))
    }

    /// The time at which the worker has come to a task, if it is to be measured.
    #[inline]
    pub(crate) fn reached(&self) -> Option<u64> {
        self.observed(|observer| observer.measures()).filter(|is| *is).map(|_| self.clock.now())
    }

    /// Nobody is ready at `now`.
    pub(crate) fn has_nobody(&self, now: u64) {
        self.observed(|observer| observer.rests(now));
    }

    /// What was counted so far.
    pub(crate) fn counts(&self) -> WorkerCounts {
        let now = self.now();
        let (dispatcher, counters) = (self.dispatcher.borrow(), self.counters.borrow());
        let decisions = dispatcher.decisions(now);
        let spans = |used: weir_core::task::Used| {
            [used.need, used.uncommitted, used.windfall].map(|part| Duration::from_nanos(part.get()))
        };
        let used = |number| dispatcher.used(number).map(spans);
        let tasks = self.slots.borrow().counts(used);
        WorkerCounts {
            worker: self.shared.number,
            elapsed: Duration::from_nanos(now),
            idle: Duration::from_nanos(decisions.idle),
            paths: decisions.paths,
            high_over_low: decisions.high_over_low,
            wakes: counters.wakes,
            polls: counters.polls,
            spawned: counters.spawned,
            refused: counters.refused,
            panicked: counters.panicked,
            aborted: counters.aborted,
            longest_poll: Duration::from_nanos(counters.longest_poll),
            longest_poll_of: counters.longest_poll_of.clone(),
            tasks,
        }
    }
}
