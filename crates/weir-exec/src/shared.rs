//! What of a worker other threads see.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::header::Header;
use crate::inbox::Inbox;
use crate::local::Local;
use crate::signal::Signal;
use crate::terms::Terms;

/// Admits a task.
pub(crate) type Spawn = Box<dyn FnOnce(&Local) -> (Terms, Arc<Header>) + Send>;

/// What is left for a worker.
pub(crate) enum Parcel {
    /// A task that waited is to be made ready.
    Woken(Arc<Header>),
    /// A task is to be admitted: makes its future on the worker.
    Spawn(Spawn),
    /// A look at what only the worker knows.
    Look(Box<dyn FnOnce(&Local) + Send>),
}

impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Woken(_) => "Woken",
            Self::Spawn(_) => "Spawn",
            Self::Look(_) => "Look",
        })
    }
}

/// See above.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) number: usize,
    pub(crate) signal: &'static Signal,
    pub(crate) inbox: Inbox<Parcel>,
    /// Tasks that were spawned and have not ended.
    pub(crate) tasks: AtomicUsize,
    /// The names of its tasks, by number; of a number that is free, the last one's.
    names: Mutex<Vec<Arc<str>>>,
    /// It takes no tasks any more, and stops once there are none, or at once.
    stops: AtomicBool,
    stops_at_once: AtomicBool,
}

impl Shared {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            number,
            signal: Signal::leaked(),
            inbox: Inbox::new(),
            tasks: AtomicUsize::new(0),
            names: Mutex::new(Vec::new()),
            stops: AtomicBool::new(false),
            stops_at_once: AtomicBool::new(false),
        }
    }

    fn names(&self) -> MutexGuard<'_, Vec<Arc<str>>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of a task.
    pub(crate) fn name(&self, number: u32) -> String {
        self.names().get(number as usize).map_or_else(String::new, |name| name.to_string())
    }

    pub(crate) fn set_name(&self, number: u32, name: &Arc<str>) {
        let mut names = self.names();
        let place = number as usize;
        if place >= names.len() {
            names.resize(place + 1, Arc::clone(name));
        }
        names[place] = Arc::clone(name);
    }

    /// Leaves something for the worker, which sees to it when its task gives way: it is asked to.
    pub(crate) fn leave(&self, parcel: Parcel) {
        self.inbox.leave(parcel);
        self.signal.ask();
    }

    pub(crate) fn stop(&self, at_once: bool) {
        self.stops.store(true, Ordering::SeqCst);
        if at_once {
            self.stops_at_once.store(true, Ordering::SeqCst);
        }
        self.leave(Parcel::Look(Box::new(|_| {})));
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stops.load(Ordering::SeqCst)
    }

    /// Whether it is to stop now.
    pub(crate) fn is_over(&self) -> bool {
        self.stops_at_once.load(Ordering::SeqCst)
            || self.is_stopping() && self.tasks.load(Ordering::SeqCst) == 0
    }
}
