//! Faults of disciplines written in Python: what they raise, how a call that does not end is ended, and the threads on which
//! they are called.
//!
//! Engines run on threads that Python did not start. Such a thread keeps its state of the interpreter from call to call, since
//! making one would take longer than the call; between calls it is detached, so that others run.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyException, PyTimeoutError};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::errors;

/// How often in a row a waiting thread may see the same call, at ten times a second.
const PATIENCE: u32 = 100;
/// The same, once the run is to end.
const PATIENCE_AT_END: u32 = 10;

/// The fault of a class, where it has one, and the call of it that goes on.
pub(crate) struct Fault {
    name: &'static str,
    has: AtomicBool,
    error: Mutex<Option<PyErr>>,
    /// How many calls have begun and ended: odd in the middle of one.
    calls: AtomicU64,
    /// The thread of the last call, as Python names it.
    thread: AtomicU64,
    interrupted: AtomicBool,
}

impl Fault {
    pub(super) fn new(name: &'static str) -> Self {
        let (calls, thread) = (AtomicU64::new(0), AtomicU64::new(0));
        Self {
            name,
            has: AtomicBool::new(false),
            error: Mutex::new(None),
            calls,
            thread,
            interrupted: AtomicBool::new(false),
        }
    }

    /// Makes it that of its class.
    pub(super) fn enter(self: Arc<Self>) {
        FAULTS.lock().unwrap_or_else(PoisonError::into_inner).insert(self.name, self);
    }

    /// It, or that of what is made apart on this thread.
    pub(super) fn or_apart(self: &Arc<Self>) -> Arc<Self> {
        APART.with_borrow(|apart| apart.clone()).unwrap_or_else(|| Arc::clone(self))
    }

    /// The first fault is the one that counts.
    pub(super) fn set(&self, error: PyErr) {
        self.held().get_or_insert(error);
        self.has.store(true, Ordering::Relaxed);
    }

    fn held(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.has.load(Ordering::Relaxed)
    }

    /// The fault, which stays.
    pub(crate) fn error(&self, py: Python<'_>) -> PyResult<()> {
        match &*self.held() {
            Some(error) => Err(error.clone_ref(py)),
            None => Ok(()),
        }
    }

    fn take(&self) -> Option<PyErr> {
        self.has.store(false, Ordering::Relaxed);
        self.interrupted.store(false, Ordering::Relaxed);
        self.held().take()
    }

    /// The call that goes on, by its number.
    fn call(&self) -> Option<u64> {
        Some(self.calls.load(Ordering::Relaxed)).filter(|calls| calls % 2 == 1)
    }

    /// Has the method that runs raise `TimeoutError` where it is.
    fn interrupt(&self, py: Python<'_>) {
        self.interrupted.store(true, Ordering::Relaxed);
        let thread = self.thread.load(Ordering::Relaxed);
        let error = py.get_type::<PyTimeoutError>();
        // SAFETY: this thread is attached, and the exception is borrowed for the call; of a thread that has ended nothing is done.
        let _ = unsafe { ffi::PyThreadState_SetAsyncExc(thread as _, error.as_ptr()) };
    }
}

/// The faults of all classes, by the names of their disciplines.
static FAULTS: LazyLock<Mutex<HashMap<&'static str, Arc<Fault>>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// Where the faults of what is made on this thread go, in place of those of the class.
    static APART: RefCell<Option<Arc<Fault>>> = const { RefCell::new(None) };
}

/// Makes something with these disciplines whose faults are its own, if one of them is of Python.
pub(crate) fn apart<R>(spec: &str, make: impl FnOnce() -> R) -> (R, Option<Arc<Fault>>) {
    let fault = faults_of(&[spec]).first().map(|fault| Arc::new(Fault::new(fault.name)));
    APART.set(fault.clone());
    let made = make();
    APART.set(None);
    (made, fault)
}

/// The faults that a run of these disciplines may meet; none where all are of weir.
pub(crate) fn faults_of(disciplines: &[&str]) -> Vec<Arc<Fault>> {
    let all = FAULTS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_word = |each: char| each.is_ascii_alphanumeric() || each == '_';
    let words = disciplines.iter().flat_map(|spec| spec.split(move |each| !is_word(each)));
    words.filter_map(|word| all.get(word).cloned()).collect()
}

/// The faults of all classes that were added, for whoever watches runs of disciplines that it does not know.
pub(crate) fn faults_of_all() -> Vec<Arc<Fault>> {
    FAULTS.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
}

/// One run at a time is of disciplines of Python, which serves one at a time anyway: their faults are its own.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs something alone, if faults may come; returns the first that came.
pub(crate) fn alone<R>(faults: &[Arc<Fault>], run: impl FnOnce() -> R) -> (R, Option<PyErr>) {
    let _alone = (!faults.is_empty()).then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner));
    faults.iter().for_each(|fault| drop(fault.take()));
    let ran = run();
    (ran, faults.iter().find_map(|fault| fault.take()))
}

/// Watches the calls of a run from the thread that waits for it: one that takes too long is interrupted.
pub(crate) struct Watch<'a> {
    faults: &'a [Arc<Fault>],
    /// Of each: the call that was seen last, and how often in a row.
    seen: Vec<(Option<u64>, u32)>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(faults: &'a [Arc<Fault>]) -> Self {
        Self { faults, seen: vec![(None, 0); faults.len()] }
    }

    /// Looks once, some ten times a second. Says whether the run is to end, because of a fault.
    ///
    /// # Errors
    /// A method could not be interrupted; its thread is left to itself.
    pub(crate) fn look(&mut self, py: Python<'_>, is_ending: bool) -> PyResult<bool> {
        let patience = if is_ending { PATIENCE_AT_END } else { PATIENCE };
        for (fault, (seen, times)) in self.faults.iter().zip(&mut self.seen) {
            let call = fault.call();
            *times = if call.is_some() && call == *seen { *times + 1 } else { 0 };
            *seen = call;
            if *times >= patience {
                fault.interrupt(py);
            }
            if *times >= patience + PATIENCE_AT_END {
                let message =
                    format!("`{}` did not return in time, and could not be interrupted", fault.name);
                return Err(errors::discipline(
                    message,
                    "end this process: a thread of it is still in that method",
                ));
            }
        }
        Ok(self.faults.iter().any(|fault| fault.is_set()))
    }
}

/// A fault as a reason why there is no result: what, and what to do.
pub(crate) fn in_words(error: &PyErr) -> String {
    Python::attach(|py| {
        let remedy =
            error.value(py).getattr("remedy").ok().and_then(|remedy| remedy.extract::<String>().ok());
        let what = error.value(py).to_string();
        remedy.map_or_else(|| what.clone(), |remedy| format!("{what}; {remedy}"))
    })
}

/// Calls a method of a class, with what a waiting thread needs to interrupt it.
pub(super) fn guarded<R>(
    fault: &Fault,
    name: &str,
    method: &str,
    work: impl FnOnce(Python<'_>) -> PyResult<R>,
) -> PyResult<R> {
    attached(|py| {
        fault.thread.store(THREAD.get(), Ordering::Relaxed);
        fault.calls.fetch_add(1, Ordering::Relaxed);
        let result = work(py);
        fault.calls.fetch_add(1, Ordering::Relaxed);
        result.map_err(|error| raised(py, name, method, error, fault))
    })
}

/// What a class raised, as the cause of an error that says where; what is no `Exception`, such as Ctrl-C, stays as it is.
pub(super) fn raised(py: Python<'_>, name: &str, method: &str, error: PyErr, fault: &Fault) -> PyErr {
    if errors::is_discipline(py, &error) || !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let late = fault.interrupted.load(Ordering::Relaxed) && error.is_instance_of::<PyTimeoutError>(py);
    let place = place(py, &error).map_or_else(String::new, |place| format!(" ({place})"));
    let outer = if late {
        let message = format!("`{name}.{method}` did not return in time, and was interrupted{place}");
        errors::discipline(
            message,
            "see what it waits for: a call may take 10 s, and 1 s once the run is to end",
        )
    } else {
        let message = format!("`{name}.{method}` raised {}{place}", beginning(error.value(py)));
        errors::discipline(message, "mend the class; from Python, the error has its traceback as its cause")
    };
    outer.set_cause(py, Some(error));
    outer
}

/// File and line where an error was raised.
fn place(py: Python<'_>, error: &PyErr) -> Option<String> {
    let mut last = error.traceback(py)?.into_any();
    while let Some(next) = last.getattr("tb_next").ok().filter(|next| !next.is_none()) {
        last = next;
    }
    let code = last.getattr("tb_frame").and_then(|frame| frame.getattr("f_code")).ok()?;
    let (file, line) = (code.getattr("co_filename").ok()?, last.getattr("tb_lineno").ok()?);
    Some(format!("{file}:{line}"))
}

pub(super) fn beginning(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string().chars().take(120).collect())
}

/// Attaches this thread to the interpreter for a call.
pub(super) fn attached<R>(work: impl FnOnce(Python<'_>) -> R) -> R {
    KEPT.with_borrow_mut(|kept| {
        kept.get_or_insert_with(Kept::new);
    });
    Python::attach(|py| {
        if THREAD.get() == 0 {
            let named = py.import("threading").and_then(|threading| threading.call_method0("get_ident"));
            THREAD.set(named.and_then(|thread| thread.extract()).unwrap_or(0));
        }
        work(py)
    })
}

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
    /// This thread, as Python names it.
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

/// The state of a thread that the interpreter did not start; nothing for one that has a state of its own, be it detached.
struct Kept(Option<(ffi::PyGILState_STATE, *mut ffi::PyThreadState)>);

impl Kept {
    fn new() -> Self {
        // SAFETY: it reads what this thread has, and may be called whether it is attached or not.
        if !unsafe { ffi::PyGILState_GetThisThreadState() }.is_null() {
            return Self(None);
        }
        // SAFETY: the interpreter runs, since it has called this module. The state is released on this thread, by `drop`.
        let state = unsafe { ffi::PyGILState_Ensure() };
        // SAFETY: the thread is attached, and is attached again before the state is released.
        Self(Some((state, unsafe { ffi::PyEval_SaveThread() })))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let Some((state, thread)) = self.0.take() else { return };
        // SAFETY: both are of this thread, which is detached between calls. Whoever started the run waits for this thread to end,
        // so the interpreter still runs.
        unsafe {
            ffi::PyEval_RestoreThread(thread);
            ffi::PyGILState_Release(state);
        }
    }
}
