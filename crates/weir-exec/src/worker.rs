//! The loop of a worker: sees to what is due, asks who is next, and polls it.
//!
//! The clock is read once a poll, at its end; what the worker itself does is charged to the task that it starts, as the
//! interrupts of the source are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use crate::dispatcher::{After, Decision, NOBODY};
use crate::header::Header;
use crate::inbox::Bed;
use crate::join::Why;
use crate::local::Local;
use crate::observe::Took;
use crate::shared::Parcel;
use crate::signal::NEVER;
use crate::slots::Body;

/// What a worker's turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The reactor's turn has come; tasks are ready.
    Reactor,
    /// Nobody is to run, and something is due then.
    Idle(u64),
    /// The worker is to stop.
    Over,
}

/// A worker.
pub(crate) struct Worker {
    pub(crate) local: Rc<Local>,
    taken: Vec<Parcel>,
}

impl Worker {
    pub(crate) fn new(local: Rc<Local>) -> Self {
        Self { local, taken: Vec::new() }
    }

    /// Polls tasks until nobody is ready, or, between two polls, it is somebody else's `turn`.
    pub(crate) fn turn(&mut self, turn: impl Fn(u64) -> bool) -> Turn {
        let mut now = self.local.clock.now();
        loop {
            if !self.see_to(now) {
                return Turn::Over;
            }
            let decision = self.local.next(now);
            self.local.set_instant(None);
            if decision.task == NOBODY {
                // A discipline may hold tasks back until its event.
                self.local.shared.signal.rests(decision.due);
                self.local.has_nobody(now);
                return Turn::Idle(decision.due);
            }
            if turn(now) {
                self.local.shared.signal.rests(NEVER);
                return Turn::Reactor;
            }
            now = self.poll(decision, now);
        }
    }

    /// Sees to all that is due at `now`; `false`: the worker is to stop.
    #[inline]
    fn see_to(&mut self, now: u64) -> bool {
        let local = &self.local;
        local.set_instant(Some(now));
        local.shared.signal.heed();
        while let Some(alarm) = local.take_alarm(now) {
            alarm.go_off();
        }
        if !local.shared.inbox.is_empty() && !self.read_inbox() {
            self.local.set_instant(None);
            return false;
        }
        true
    }

    /// Sees to what other threads have left. Tasks that were spawned together are admitted before any of them is ready.
    #[cold]
    fn read_inbox(&mut self) -> bool {
        let local = &self.local;
        local.shared.inbox.take(&mut self.taken);
        let mut started = Vec::new();
        for parcel in self.taken.drain(..) {
            match parcel {
                Parcel::Woken(header) if header.notice.is_done() => {}
                Parcel::Woken(header) => local.ready(header.number()),
                Parcel::Spawn(spawn) => started.push(spawn(local)),
                Parcel::Look(look) => look(local),
            }
        }
        for (terms, header) in started {
            local.start(&terms, &header);
        }
        !local.shared.is_over()
    }

    /// Polls a task, and returns when the poll was over.
    #[inline]
    fn poll(&self, decision: Decision, now: u64) -> u64 {
        let (local, Decision { task: number, due, slice_end }) = (&self.local, decision);
        let Some(Body { mut work, header, waker }) = local.take(number) else {
            unreachable!("the discipline starts a task that is not there");
        };
        if header.is_aborted() {
            let _ = catch_unwind(AssertUnwindSafe(move || drop(work)));
            return self.over(number, &header, now, None, Why::Aborted);
        }
        local.shared.signal.begins(number, now, due, slice_end);
        local.asks_at(now, due);
        header.notice.begin();
        let own = local.reached().map(|reached| reached.saturating_sub(now));
        let cx = &mut Context::from_waker(&waker);
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        let end = local.clock.now();
        match polled {
            Ok(Poll::Pending) => {
                let after = match header.notice.end() {
                    false => After::Waits,
                    true if local.is_asked(end) => After::GivesWay,
                    true => After::Yields,
                };
                let took = Took { from: now, until: end, own };
                local.put_back(number, Body { work, header, waker }, took, after);
                end
            }
            Ok(Poll::Ready(())) => {
                let _ = catch_unwind(AssertUnwindSafe(move || drop(work)));
                self.over(number, &header, now, own, Why::Done)
            }
            Err(panic) => {
                let _ = catch_unwind(AssertUnwindSafe(move || drop(work)));
                self.over(number, &header, now, own, Why::Panicked(panic))
            }
        }
    }

    #[cold]
    fn over(&self, number: u32, header: &Arc<Header>, from: u64, own: Option<u64>, why: Why) -> u64 {
        let end = self.local.clock.now();
        self.local.ends(number, header, Took { from, until: end, own }, why);
        if self.local.shared.is_stopping() {
            // It may have been the last one.
            self.local.shared.leave(Parcel::Look(Box::new(|_| {})));
        }
        end
    }

    /// Runs on a thread of its own, which parks where nobody is ready, once it has looked for work for `spin`.
    pub(crate) fn run(&mut self, spin: Duration) {
        let shared = Arc::clone(&self.local.shared);
        shared.inbox.lie(Bed::Thread(thread::current()));
        loop {
            let due = match self.turn(|_| false) {
                Turn::Over => return,
                Turn::Reactor => continue,
                Turn::Idle(due) => due,
            };
            if self.spins(spin, due) || !shared.inbox.falls_asleep() {
                continue;
            }
            match due {
                NEVER => thread::park(),
                due => thread::park_timeout(Duration::from_nanos(due.saturating_sub(self.local.clock.now()))),
            }
            shared.inbox.wakes_up();
        }
    }

    /// Looks for work for this long; returns `true` if there is some.
    fn spins(&self, spin: Duration, due: u64) -> bool {
        if spin.is_zero() {
            return false;
        }
        let clock = &self.local.clock;
        let until = clock.now().saturating_add(crate::terms::nanos(spin).get()).min(due);
        while self.local.shared.inbox.is_empty() {
            if clock.now() >= until {
                return until == due;
            }
            std::hint::spin_loop();
        }
        true
    }
}
