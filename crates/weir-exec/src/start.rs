//! A worker's thread from its start to its end: its processor, its priority, its reactor.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::clock::{Clock, Monotonic};
use crate::dispatcher::Dispatch;
use crate::error::BuildError;
use crate::executor::Reactor;
use crate::local::{Current, Local};
use crate::observe::Observe;
use crate::recording::Ends;
use crate::report::Reports;
use crate::stack::Target;
use crate::watch::{Watch, Watched, sleep_exactly};
use crate::worker::Worker;

/// What a worker is started with.
pub(crate) struct Setting {
    pub(crate) one: Arc<Watched>,
    pub(crate) dispatcher: Box<dyn Dispatch + Send>,
    pub(crate) clock: Arc<Monotonic>,
    pub(crate) watch: Watch,
    pub(crate) reports: Reports,
    /// The place of its processor among those that the program may use.
    pub(crate) processor: Option<usize>,
    pub(crate) real_time: Option<u8>,
    pub(crate) spin: Duration,
    pub(crate) reactor: Reactor,
    pub(crate) reactor_every: Duration,
    /// What its recorder is made from, and how many workers there are.
    pub(crate) record: Option<(Ends, usize)>,
    /// Hears once whether the worker runs.
    pub(crate) started: Sender<Result<(), BuildError>>,
}

/// Runs a worker until it is stopped; returns the names of the tasks that had not ended.
pub(crate) fn run(setting: Setting) -> Vec<String> {
    let Setting { one, dispatcher, clock, watch, reports, .. } = setting;
    sleep_exactly();
    if let Err(error) = prepare(setting.processor, setting.real_time) {
        let _ = setting.started.send(Err(error));
        return Vec::new();
    }
    let _ = one.thread.set(Target::current());
    let clock = Clock::Monotonic(clock);
    let shared = Arc::clone(&one.shared);
    let number = shared.number;
    let observer = setting.record.map(|(ends, workers)| {
        let recorder: Box<dyn Observe> = Box::new(ends.recorder(number, workers));
        recorder
    });
    let local = Rc::new(Local::new(shared, clock, dispatcher, Some(watch), observer, reports));
    let _current = Current::enter(&local);
    let mut worker = Worker::new(Rc::clone(&local));
    match setting.reactor {
        Reactor::None => {
            let _ = setting.started.send(Ok(()));
            worker.run(setting.spin);
        }
        #[cfg(feature = "tokio")]
        Reactor::Tokio => crate::reactor::run(&mut worker, setting.reactor_every, &setting.started),
    }
    local.clear()
}

fn prepare(processor: Option<usize>, priority: Option<u8>) -> Result<(), BuildError> {
    if let Some(place) = processor {
        let what = format!("worker {place} on a processor of its own");
        bind(place).map_err(|error| BuildError::System { what, error })?;
    }
    if let Some(priority) = priority {
        if !(1..=98).contains(&priority) {
            let what = format!("priority {priority} of SCHED_FIFO");
            let error = io::Error::other("must be from 1 to 98: the timer thread is one above");
            return Err(BuildError::System { what, error });
        }
        let what = format!("priority {priority} of SCHED_FIFO, which takes CAP_SYS_NICE or RLIMIT_RTPRIO");
        real_time(priority).map_err(|error| BuildError::System { what, error })?;
    }
    Ok(())
}

/// Binds this thread to the processor at a place among those that it may use.
#[cfg(target_os = "linux")]
fn bind(place: usize) -> io::Result<()> {
    // SAFETY: the sets are whole, and outlive the calls; 0 is the calling thread.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = std::mem::size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut usable = (0..libc::CPU_SETSIZE as usize).filter(|&number| libc::CPU_ISSET(number, &allowed));
        let Some(number) = usable.nth(place) else {
            return Err(io::Error::other("the program may use fewer processors than it did"));
        };
        let mut own: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(number, &mut own);
        match libc::sched_setaffinity(0, size, &raw const own) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn bind(_: usize) -> io::Result<()> {
    Err(io::Error::other("works on Linux only: turn it off with `pinned(false)`"))
}

/// Gives this thread a real-time priority, which what it starts does not inherit.
#[cfg(target_os = "linux")]
pub(crate) fn real_time(priority: u8) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: i32::from(priority) };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the structure is whole and outlives the call; 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn real_time(_: u8) -> io::Result<()> {
    Err(io::Error::other("works on Linux only"))
}
