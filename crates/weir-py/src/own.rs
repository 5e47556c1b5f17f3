//! Disciplines written in Python: their methods behind the contract of core.
//!
//! A class is added under a name ([`add_discipline`]); whatever reads specs finds it there. Each queue that an engine needs
//! is an object of the class. Its items are objects that the class gets from `enqueue` and gives back from `dequeue`;
//! nothing it returns is trusted. What it raises, or breaks of the contract, is a fault: the run ends, and raises it. Until
//! the engine looks whether it is to end, what waits is served without the class.
//!
//! | | |
//! |-|-|
//! | Work | a call of Python for each operation that the class has, and one object an item |
//! | Units | times in seconds, sizes in the unit of the item |
//! | Departs from the contract | the class knows no gate: what it chose and may not be sent is held until it may |

use std::collections::VecDeque;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use weir_core::added::{self, Boxed, Handle, Maker};
use weir_core::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant};
use weir_core::info::{Info, Kind};
use weir_core::item::Item as _;
use weir_core::units::{Cost, Instant};

use crate::errors;

mod fault;
pub(crate) mod verify;

pub(crate) use fault::{Fault, Watch, alone, apart, faults_of, faults_of_all, in_words};
use fault::{attached, beginning, guarded, raised};

/// An item as a discipline written in Python has it.
#[pyclass(module = "weir._weir")]
pub(crate) struct Item {
    slot: usize,
    /// Whose it is.
    #[pyo3(get)]
    flow: u32,
    /// What kind it is.
    #[pyo3(get)]
    class_: u16,
    /// What is still to be served of it, in its own unit.
    #[pyo3(get)]
    size: u64,
    /// When it arrived, in seconds.
    #[pyo3(get)]
    arrival: f64,
}

#[pymethods]
impl Item {
    fn __repr__(&self) -> String {
        let Self { flow, class_, size, arrival, .. } = self;
        format!("<weir.Item of size {size}, flow {flow}, class {class_}, arrived at {arrival} s>")
    }
}

/// Adds a class of Python under a name, in place of one that was added under it before.
///
/// # Errors
/// The name cannot be used.
#[pyfunction]
#[pyo3(signature = (name, title, packets, class_, /))]
pub(crate) fn add_discipline(name: &str, title: &str, packets: bool, class_: Py<PyAny>) -> PyResult<()> {
    let info = described(name, title, if packets { Kind::Packet } else { Kind::Message });
    let fault = Arc::new(Fault::new(info.name));
    let (class, held) = (Arc::new(class_), Arc::clone(&fault));
    let maker = if packets {
        Maker::Packet(Arc::new(move |_| Ok(Own::boxed(info.name, &class, &held))))
    } else {
        Maker::Message(Arc::new(move |_| Ok(Own::boxed(info.name, &class, &held))))
    };
    added::add(info, maker)
        .map_err(|error| errors::config(error.to_string(), "rename the class".to_owned()))?;
    fault.enter();
    Ok(())
}

/// Takes away a class that was added; whether there was one.
#[pyfunction]
#[pyo3(signature = (name, /))]
pub(crate) fn remove_discipline(name: &str) -> bool {
    added::remove(name)
}

/// A description that stays for as long as the process: listings hold references to them.
fn described(name: &str, title: &str, kind: Kind) -> &'static Info {
    let leaked = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let name = leaked(name);
    Box::leak(Box::new(Info {
        name,
        kind,
        title: leaked(title),
        rule: "as its class says",
        source: "a class of Python",
        work: "that of its class, in Python: slow",
        parameters: &[],
        example: name,
    }))
}

/// The methods of one object.
struct Methods {
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
    charge: Option<Py<PyAny>>,
    requeue: Option<Py<PyAny>>,
    finish: Option<Py<PyAny>>,
    next_event: Option<Py<PyAny>>,
}

impl Methods {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let method = |name: &str| object.getattr_opt(name).map(|found| found.map(Bound::unbind));
        let needed =
            |name: &str| method(name)?.ok_or_else(|| PyTypeError::new_err(format!("no method `{name}`")));
        Ok(Self {
            enqueue: needed("enqueue")?,
            dequeue: needed("dequeue")?,
            charge: method("charge")?,
            requeue: method("requeue")?,
            finish: method("finish")?,
            next_event: method("next_event")?,
        })
    }
}

/// What `dequeue` has granted: the handle, its object, and for how much.
type Granted<C> = (Handle<C>, Py<Item>, C);

/// One queue of a class of Python.
struct Own<C: Cost> {
    name: &'static str,
    /// Nothing where the class could not be called, which is a fault.
    methods: Option<Methods>,
    /// By slot: what waits.
    waiting: Vec<Option<(Handle<C>, Py<Item>)>>,
    /// What `dequeue` returned and the gate does not permit yet; it counts as waiting.
    chosen: Option<(Handle<C>, Py<Item>, C)>,
    /// The object of the item of the open grant.
    open: Option<Py<Item>>,
    /// After a fault: what waits, to be served without the class.
    after: Option<VecDeque<Handle<C>>>,
    backlog: Backlog<C>,
    fault: Arc<Fault>,
}

impl<C: Cost> Own<C> {
    fn boxed(name: &'static str, class: &Py<PyAny>, fault: &Arc<Fault>) -> Boxed<C> {
        let fault = fault.or_apart();
        let made = attached(|py| {
            Methods::of(&class.bind(py).call0()?).map_err(|error| raised(py, name, "__init__", error, &fault))
        });
        let methods = made.map_err(|error| fault.set(error)).ok();
        let (waiting, backlog) = (Vec::new(), Backlog::default());
        Box::new(Self { name, methods, waiting, chosen: None, open: None, after: None, backlog, fault })
    }

    /// Puts an item among those that wait.
    fn wait(&mut self, handle: Handle<C>, object: Py<Item>) {
        let slot = handle.slot() as usize;
        if slot >= self.waiting.len() {
            self.waiting.resize_with(slot + 1, || None);
        }
        self.backlog.add(handle.cost());
        self.waiting[slot] = Some((handle, object));
    }

    /// The item that `dequeue` returned, and for how much it is to be served.
    fn granted(&mut self, returned: &Bound<'_, PyAny>) -> PyResult<Option<Granted<C>>> {
        if returned.is_none() {
            return Ok(None);
        }
        let (object, quantum) = match returned.cast::<PyTuple>() {
            Ok(pair) => {
                let pair = pair.extract::<(Bound<'_, PyAny>, u64)>();
                let (object, quantum) = pair.map_err(|_| self.no_item(returned))?;
                (object, Some(quantum))
            }
            Err(_) => (returned.clone(), None),
        };
        let item = object.cast::<Item>().map_err(|_| self.no_item(&object))?;
        let slot = item.borrow().slot;
        let waits = |held: &&mut Option<(Handle<C>, Py<Item>)>| {
            held.as_ref().is_some_and(|(_, object)| object.is(item))
        };
        let Some(held) = self.waiting.get_mut(slot).filter(waits) else {
            let message =
                format!("`{}.dequeue` returned {}, which does not wait", self.name, beginning(item));
            let remedy = "return each item once: take it out of the lists of the class";
            return Err(errors::discipline(message, remedy));
        };
        let most = held.as_ref().map_or(C::ZERO, |(handle, _)| handle.cost());
        let granted = quantum.map_or(most, C::of);
        if granted > most || granted == C::ZERO && most > C::ZERO {
            let message = format!("`{}.dequeue` granted {granted} of {}", self.name, beginning(item));
            let remedy = "grant from 1 to the size of the item, or return the item alone";
            return Err(errors::discipline(message, remedy));
        }
        Ok(held.take().map(|(handle, object)| (handle, object, granted)))
    }

    /// Asks the class who is next.
    fn ask(&mut self, now: Instant) -> Option<(Handle<C>, Py<Item>, C)> {
        self.call("dequeue", |own, py| {
            let returned = own.methods().dequeue.call1(py, (seconds(now),))?;
            let granted = own.granted(returned.bind(py))?;
            if granted.is_none() {
                own.assert_asks_again(py, now)?;
            }
            Ok(granted)
        })
        .flatten()
    }

    fn no_item(&self, returned: &Bound<'_, PyAny>) -> PyErr {
        let message = format!("`{}.dequeue` returned {}, which is no item", self.name, beginning(returned));
        errors::discipline(
            message,
            "return an item that `enqueue` was given, or it with a whole number to serve, or None",
        )
    }

    /// A fault where items wait, none is served, and nothing says when one will be.
    fn assert_asks_again(&self, py: Python<'_>, now: Instant) -> PyResult<()> {
        let next = self.next(py)?;
        if self.backlog.is_empty() || next.is_some_and(|next| instant(next) > now) {
            return Ok(());
        }
        let when = next.map_or("names no time".to_owned(), |next| format!("says {next} s, which has come"));
        let (name, items) = (self.name, self.backlog.items);
        let wait = if items == 1 { "1 item waits".to_owned() } else { format!("{items} items wait") };
        let message = format!(
            "`{name}.dequeue` returned None at {} s while {wait}, and `next_event` {when}",
            seconds(now)
        );
        Err(errors::discipline(
            message,
            "return one of them, or say by `next_event` at which second to ask again",
        ))
    }

    fn next(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        match self.methods.as_ref().and_then(|methods| methods.next_event.as_ref()) {
            Some(next_event) => next_event.call0(py)?.extract(py),
            None => Ok(None),
        }
    }

    /// Calls a method, unless there was a fault; an error becomes one.
    fn call<R>(
        &mut self,
        method: &str,
        work: impl FnOnce(&mut Self, Python<'_>) -> PyResult<R>,
    ) -> Option<R> {
        if self.methods.is_none() || self.after.is_some() || self.fault.is_set() {
            return None;
        }
        let fault = Arc::clone(&self.fault);
        let result = guarded(&fault, self.name, method, |py| work(self, py));
        result.map_err(|error| self.fault.set(error)).ok()
    }

    /// What waits, to be served without the class; nothing while there is no fault.
    fn without_class(&mut self) -> Option<&mut VecDeque<Handle<C>>> {
        if self.after.is_none() && (self.methods.is_none() || self.fault.is_set()) {
            let waiting = self.waiting.drain(..).flatten().map(|(handle, _)| handle);
            self.after = Some(waiting.chain(self.chosen.take().map(|(handle, ..)| handle)).collect());
        }
        self.after.as_mut()
    }

    fn methods(&self) -> &Methods {
        self.methods.as_ref().expect("looked at before")
    }
}

fn seconds(now: Instant) -> f64 {
    now.get() as f64 / 1e9
}

/// Rounded up, so that who asks again at that time is not too early. A time that is none is now.
fn instant(seconds: f64) -> Instant {
    Instant::new((seconds.clamp(0.0, 1e10) * 1e9).ceil() as u64)
}

impl<C: Cost> Discipline<Handle<C>> for Own<C> {
    fn enqueue(&mut self, now: Instant, handle: Handle<C>, _drops: &mut dyn Drops<Handle<C>>) -> Enqueued {
        let item = Item {
            slot: handle.slot() as usize,
            flow: handle.flow().0,
            class_: handle.class().0,
            size: handle.cost().count(),
            arrival: seconds(now),
        };
        let (is_open, cost) = (self.open.is_some(), handle.cost());
        let mut handle = Some(handle);
        let preempts = self.call("enqueue", |own, py| {
            let object = Py::new(py, item)?;
            own.wait(handle.take().expect("taken once"), object.clone_ref(py));
            own.methods().enqueue.call1(py, (seconds(now), object))?.is_truthy(py)
        });
        if let (Some(after), Some(handle)) = (self.without_class(), handle) {
            after.push_back(handle);
            self.backlog.add(cost);
        }
        if preempts == Some(true) && is_open { Enqueued::Preempts } else { Enqueued::Queued }
    }

    fn dequeue(
        &mut self,
        now: Instant,
        gate: &dyn Gate<Handle<C>>,
        _drops: &mut dyn Drops<Handle<C>>,
    ) -> Option<Grant<Handle<C>>> {
        if self.backlog.is_empty() {
            return None;
        }
        if self.chosen.is_none() {
            self.chosen = self.ask(now);
        }
        if let Some(after) = self.without_class() {
            let item = gate.permits(after.front()?).then(|| after.pop_front())??;
            self.backlog.remove(item.cost());
            return Some(Grant { quantum: item.cost(), item });
        }
        let (item, object, quantum) = self.chosen.take_if(|(handle, ..)| gate.permits(handle))?;
        self.backlog.remove(item.cost());
        self.open = Some(object);
        Some(Grant { item, quantum })
    }

    fn charge(&mut self, now: Instant, _item: &Handle<C>, used: C) {
        if self.methods.as_ref().is_none_or(|methods| methods.charge.is_none()) {
            return;
        }
        self.call("charge", |own, py| match (&own.methods().charge, &own.open) {
            (Some(charge), Some(open)) => {
                charge.call1(py, (seconds(now), open.clone_ref(py), used.count())).map(drop)
            }
            _ => Ok(()),
        });
    }

    fn requeue(&mut self, now: Instant, item: Handle<C>, used: C, drops: &mut dyn Drops<Handle<C>>) {
        let open = self.open.take();
        if self.methods.as_ref().is_none_or(|methods| methods.requeue.is_none()) {
            return drops.dropped(item, DropReason::NotResumable);
        }
        let mut item = Some(item);
        self.call("requeue", |own, py| {
            // Without a grant to end, nothing is given back.
            let Some(object) = open else { return Ok(()) };
            let item = item.take().expect("taken once");
            object.borrow_mut(py).size = item.cost().count();
            own.wait(item, object.clone_ref(py));
            let requeue = own.methods().requeue.as_ref().expect("looked at before");
            requeue.call1(py, (seconds(now), object, used.count())).map(drop)
        });
        if let Some(item) = item {
            drops.dropped(item, DropReason::NotResumable);
        }
    }

    fn finish(&mut self, now: Instant, _item: &Handle<C>, used: C) {
        let open = self.open.take();
        if self.methods.as_ref().is_none_or(|methods| methods.finish.is_none()) {
            return;
        }
        self.call("finish", |own, py| match (&own.methods().finish, open) {
            (Some(finish), Some(object)) => finish.call1(py, (seconds(now), object, used.count())).map(drop),
            _ => Ok(()),
        });
    }

    fn next_event(&self) -> Option<Instant> {
        self.methods.as_ref()?.next_event.as_ref()?;
        if self.after.is_some() || self.fault.is_set() {
            return None;
        }
        let next = guarded(&self.fault, self.name, "next_event", |py| self.next(py));
        next.map_err(|error| self.fault.set(error)).ok().flatten().map(instant)
    }

    fn backlog(&self) -> Backlog<C> {
        self.backlog
    }
}
