//! A dispatcher of weir-core with what it reads: the core of `weir.Dispatcher`.
//!
//! It says which server a request joins, and counts what each has until it learns that a request is done. The queues of
//! the servers stay in Python. Sizes are whole numbers in a unit of the caller's; dispatchers see them as work.
//!
//! | | |
//! |-|-|
//! | Work | that of the dispatcher |
//! | Units | sizes: the caller's; times: nanoseconds of the caller's clock |
//! | Memory | two words a server |

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use weir_core::discipline::DropReason;
use weir_core::item::{ClassId, FlowId, Item};
use weir_core::pool::{self, Profile, ReceiverId, ServerId, Servers, Site};
use weir_core::registry;
use weir_core::spec::Spec;
use weir_core::units::{Instant, Nanos};

use crate::errors;

/// What a dispatcher sees of a request.
#[derive(Clone, Copy, Debug)]
struct Request {
    flow: FlowId,
    class: ClassId,
    size: Nanos,
}

impl Item for Request {
    type Cost = Nanos;
    fn flow(&self) -> FlowId {
        self.flow
    }
    fn class(&self) -> ClassId {
        self.class
    }
    fn cost(&self) -> Nanos {
        self.size
    }
}

/// What each server has.
struct Loads {
    lengths: Vec<u32>,
    work: Vec<u64>,
}

impl Servers for Loads {
    fn count(&self) -> u32 {
        self.lengths.len() as u32
    }
    fn length(&self, server: ServerId) -> u32 {
        self.lengths[server.0 as usize]
    }
    fn work(&self, server: ServerId) -> Nanos {
        Nanos::new(self.work[server.0 as usize])
    }
}

struct State {
    dispatcher: Box<dyn pool::Dispatcher<Request> + Send>,
    loads: Loads,
    clock: Instant,
}

/// A dispatcher over servers; see the module.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Dispatcher {
    state: Mutex<State>,
}

#[pymethods]
impl Dispatcher {
    #[new]
    fn new(spec: &str, servers: u32) -> PyResult<Self> {
        let parsed: Spec = spec.parse().map_err(|error| errors::spec(&error))?;
        let classes = vec![Profile { share: 1.0, service: Nanos::ONE }];
        let site = Site { servers, receivers: 1, classes, queue: None, speeds: Vec::new() };
        let dispatcher = registry::dispatcher::<Request>(&parsed, &site);
        let dispatcher = dispatcher.map_err(|error| errors::dispatcher(&error))?;
        if dispatcher.period().is_some() {
            let message =
                format!("`{spec}` measures delays every so often, which is for simulation and `weird steer`");
            return Err(errors::config(message, "take one such as rr, jsq or power_of_two".to_owned()));
        }
        if dispatcher.hears() {
            let message =
                format!("`{spec}` hears when and by whom requests are answered, which is for simulation");
            return Err(errors::config(message, "take one such as rr, jsq or power_of_two".to_owned()));
        }
        let none = servers as usize;
        let loads = Loads { lengths: vec![0; none], work: vec![0; none] };
        Ok(Self { state: Mutex::new(State { dispatcher, loads, clock: Instant::ZERO }) })
    }

    /// The server that a request joins, which has it from now on; `None` if it joins none.
    fn assign(&self, size: u64, flow: u32, class_: u16, now: u64) -> Option<u32> {
        let request = Request { flow: FlowId(flow), class: ClassId(class_), size: Nanos::new(size) };
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock = state.clock.max(Instant::new(now));
        let found: Result<ServerId, DropReason> =
            state.dispatcher.dispatch(state.clock, &request, ReceiverId(0), &state.loads);
        let server = found.ok()?;
        let place = server.0 as usize;
        state.loads.lengths[place] = state.loads.lengths[place].saturating_add(1);
        state.loads.work[place] = state.loads.work[place].saturating_add(size);
        Some(server.0)
    }

    /// A request of this size has left the server.
    fn done(&self, server: u32, size: u64) {
        let loads = &mut self.state.lock().unwrap_or_else(PoisonError::into_inner).loads;
        if let Some(length) = loads.lengths.get_mut(server as usize) {
            *length = length.saturating_sub(1);
            let work = &mut loads.work[server as usize];
            *work = work.saturating_sub(size);
        }
    }

    /// What each server has: the number of requests, and their sizes together.
    fn loads(&self) -> Vec<(u32, u64)> {
        let loads = &self.state.lock().unwrap_or_else(PoisonError::into_inner).loads;
        loads.lengths.iter().copied().zip(loads.work.iter().copied()).collect()
    }
}
