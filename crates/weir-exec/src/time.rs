//! Sleeping, and what happens at regular times.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::local;
use crate::terms::nanos;
use crate::timers::{Alarm, AlarmId};

/// A moment on the clock of an executor: the time since it began, suspensions left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub(crate) u64);

impl Moment {
    /// The time from `earlier` until this; nothing if that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// This much later.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span).get()))
    }

    /// The time since the executor began.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

/// What is used outside of a worker has none to ask.
pub(crate) fn here<T>(what: &str, f: impl FnOnce(&local::Local) -> T) -> T {
    match local::with(|local| f(local)) {
        Some(found) => found,
        None => panic!("{what} works only in tasks of weir-exec: this thread is not one of its workers"),
    }
}

/// The time, on the clock of this worker's executor.
///
/// # Panics
/// The thread is no worker.
#[must_use]
pub fn now() -> Moment {
    Moment(here("now()", local::Local::now))
}

/// When this task last became ready behind a wait, or was started: what it did since then is one response, and up to its
/// first poll it waited for the processor.
///
/// # Panics
/// The thread is no worker.
#[must_use]
pub fn ready_since() -> Moment {
    Moment(here("ready_since()", local::Local::ready_since))
}

/// Waits for this span; gives way also where that is nothing.
pub fn sleep(span: Duration) -> Sleep {
    Sleep { until: Until::After(nanos(span).get()), alarm: None }
}

/// Waits until then; goes on at once where that has passed.
pub fn sleep_until(moment: Moment) -> Sleep {
    Sleep { until: Until::At(moment.0), alarm: None }
}

#[derive(Clone, Copy, Debug)]
enum Until {
    After(u64),
    At(u64),
}

/// See [`sleep`]. Its worker is the one that first polls it; tasks do not move.
#[must_use = "futures do nothing unless they are awaited"]
#[derive(Debug)]
pub struct Sleep {
    until: Until,
    alarm: Option<AlarmId>,
}

impl Future for Sleep {
    type Output = ();

    /// # Panics
    /// The thread is no worker.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        here("sleep()", |local| match self.alarm {
            Some(alarm) if local.reset_alarm(alarm, cx.waker()) => Poll::Pending,
            Some(_) => {
                self.alarm = None;
                self.until = Until::At(0);
                Poll::Ready(())
            }
            None => {
                let at = match self.until {
                    Until::After(span) => local.now().saturating_add(span),
                    Until::At(at) if at <= local.now() => return Poll::Ready(()),
                    Until::At(at) => at,
                };
                self.alarm = Some(local.set_alarm(at, Alarm::Wake(cx.waker().clone())));
                Poll::Pending
            }
        })
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(alarm) = self.alarm {
            local::with(|local| local.call_off(alarm));
        }
    }
}

/// Regular times, `period` apart. A time that has passed while the task was busy is left out and counted: nothing is
/// caught up in a burst.
#[derive(Debug)]
pub struct Every {
    period: u64,
    next: u64,
    missed: u64,
}

/// A period of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPeriod;

impl fmt::Display for NoPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the period is 0ns, must be above 0ns")
    }
}

impl std::error::Error for NoPeriod {}

/// Regular times from now on; the first is one period from now.
///
/// # Errors
/// The period is nothing.
///
/// # Panics
/// The thread is no worker.
pub fn every(period: Duration) -> Result<Every, NoPeriod> {
    let period = nanos(period).get();
    if period == 0 {
        return Err(NoPeriod);
    }
    Ok(Every { period, next: now().0.saturating_add(period), missed: 0 })
}

impl Every {
    /// Waits for the next time, and returns when it was due.
    ///
    /// # Panics
    /// The thread is no worker.
    pub async fn tick(&mut self) -> Moment {
        let late = now().0.saturating_sub(self.next);
        let missed = late / self.period;
        self.missed += missed;
        self.next = self.next.saturating_add(missed * self.period);
        let due = Moment(self.next);
        sleep_until(due).await;
        self.next = self.next.saturating_add(self.period);
        due
    }

    /// How many times were left out so far.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed
    }
}
