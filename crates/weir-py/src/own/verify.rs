//! The conformance suite of core over a discipline that a spec names: `weir verify`.
//!
//! The parts of the suite run one after the other, on a thread of their own. A breach is a panic there; it is caught, and becomes
//! an error that names the part. What a class of Python raises is one too.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use pyo3::prelude::*;
use weir_core::conformance::{Promises, Sample, Trial, trials};
use weir_core::discipline::Discipline;
use weir_core::info::Kind;
use weir_core::item::{Message, Packet};
use weir_core::registry::{self, message_discipline, packet_discipline};
use weir_core::spec::{Spec, SpecError};
use weir_core::units::{Nanos, Packets};

use super::alone;
use crate::errors;
use crate::simulate::{Shared, wait};

/// Holds the discipline of a spec to the contract, and to what is promised of it; returns how many plans and sequences it stood.
///
/// # Errors
/// It breaks the contract or a promise, or nothing of that name orders messages or packets.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, spec: &str, promises: Vec<String>) -> PyResult<String> {
    let parsed: Spec = spec.parse().map_err(|error| errors::spec(&error))?;
    let promised = |name: &str| promises.iter().any(|promise| promise == name);
    let promises = Promises {
        work_conserving: promised("work_conserving"),
        flow_order: promised("flow_order"),
        resumable: promised("resumable"),
    };
    let shared = Shared::of(&[spec]);
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&shared);
    thread::spawn(move || {
        let suite = Suite { spec: &parsed, promises, shared: &theirs };
        // The thread that calls Python has ended before anybody hears of the result.
        let held = thread::scope(|scope| scope.spawn(|| suite.of_kind()).join());
        let _ = held.map(|held| sender.send(held.map(|trials| trials.to_string())));
    });
    wait(py, &Mutex::new(receiver), &shared, None)
}

struct Suite<'a> {
    spec: &'a Spec,
    promises: Promises,
    shared: &'a Shared,
}

impl Suite<'_> {
    fn of_kind(&self) -> PyResult<usize> {
        let kind = registry::info(&self.spec.name).map_err(|error| errors::spec(&error))?.kind;
        let spec = self.spec;
        match kind {
            Kind::Message | Kind::Wrapper => {
                message_discipline::<Message<Packets>>(spec).map_err(|error| errors::spec(&error))?;
                let packets = self.hold::<Message<Packets>, _>(|| message_discipline(spec))?;
                let times = self.hold::<Message<Nanos>, _>(|| message_discipline(spec))?;
                Ok(packets + times + self.hold::<Packet, _>(|| message_discipline(spec))?)
            }
            Kind::Packet => {
                packet_discipline::<Packet>(spec).map_err(|error| errors::spec(&error))?;
                self.hold::<Packet, _>(|| packet_discipline(spec))
            }
            Kind::Task | Kind::Dispatcher | Kind::Pool => {
                let message = format!("`{spec}` orders no messages and no packets, but is a {}", kind.name());
                let remedy = "`cargo test -p weir-core` holds those to their contracts".to_owned();
                Err(errors::config(message, remedy))
            }
        }
    }

    /// Runs the suite over items of one kind; says how many parts it has.
    fn hold<I: Sample, D: Discipline<I> + 'static>(
        &self,
        make: impl Fn() -> Result<D, SpecError>,
    ) -> PyResult<usize> {
        let made = || make().expect("it was made once");
        let mut held = 0;
        for trial in trials::<I>() {
            if self.shared.cancel.load(Ordering::Relaxed) {
                break;
            }
            self.held(&trial, || trial.run::<I, D>(made, self.promises))?;
            held += 1;
        }
        Ok(held)
    }

    fn held(&self, trial: &Trial, run: impl FnOnce()) -> PyResult<()> {
        let (ran, fault) = alone(&self.shared.faults, || quietly(run));
        let what = match (&fault, ran) {
            (Some(fault), _) => Python::attach(|py| fault.value(py).to_string()),
            (None, Err(panic)) => panic,
            (None, Ok(())) => return Ok(()),
        };
        let remedy = "help(weir.Discipline) has the contract; what is not promised is not asked for";
        let breach =
            errors::discipline(format!("`{}` breaks the contract in {trial}: {what}", self.spec), remedy);
        Python::attach(|py| breach.set_cause(py, fault));
        Err(breach)
    }
}

/// Runs something that may panic; the message of the panic is not printed, but returned.
fn quietly(run: impl FnOnce()) -> Result<(), String> {
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    let ran = catch_unwind(AssertUnwindSafe(run));
    set_hook(hook);
    ran.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    })
}
