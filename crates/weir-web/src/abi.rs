//! The functions that the module exports, and those that it needs of the page.
//!
//! Bytes go in through memory of the module that the page asks for, and fills; an answer is read at the address that a call
//! returns, for as long as [`weir_answer_length`] says, before the next call. A panic is handed over as text, and ends the module.

use std::cell::RefCell;

use crate::{Engine, Progress};

#[link(wasm_import_module = "weir")]
unsafe extern "C" {
    /// Learns how far a run is.
    fn progress(done: f64, total: f64);
    /// Learns why the module ends.
    fn panicked(text: *const u8, length: usize);
}

/// What is kept between calls.
#[derive(Default)]
struct State {
    engine: Engine,
    answer: String,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Makes the module say why it panics. Called once, first.
#[unsafe(no_mangle)]
pub extern "C" fn weir_begin() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        // SAFETY: the page reads so many bytes there, and nothing after the call.
        unsafe { panicked(text.as_ptr(), text.len()) }
    }));
}

/// Memory for so many bytes, which the page fills and hands over.
#[unsafe(no_mangle)]
pub extern "C" fn weir_allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Takes over what [`weir_allocate`] gave.
///
/// # Safety
/// `bytes` is what it returned for `length`, and is used no more.
unsafe fn taken(bytes: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: as the caller promises, it is a boxed slice of this length.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(bytes, length)) }.into_vec()
}

/// Takes a data file.
///
/// # Safety
/// Each pair is what [`weir_allocate`] returned and for how many bytes, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_take_file(name: *mut u8, name_length: usize, bytes: *mut u8, length: usize) {
    // SAFETY: as the caller promises.
    let (name, bytes) = unsafe { (taken(name, name_length), taken(bytes, length)) };
    let name = String::from_utf8_lossy(&name).into_owned();
    STATE.with_borrow_mut(|state| state.engine.take_file(name, bytes));
}

/// Answers a question; returns where the answer is.
///
/// # Safety
/// The pair is what [`weir_allocate`] returned and for how many bytes, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_call(question: *mut u8, length: usize) -> *const u8 {
    // SAFETY: as the caller promises.
    let question = unsafe { taken(question, length) };
    // SAFETY: the page takes two numbers, and does not call back.
    let tell: Progress<'_> = &mut |done, total| unsafe { progress(done as f64, total as f64) };
    STATE.with_borrow_mut(|state| {
        state.answer = state.engine.answer(&String::from_utf8_lossy(&question), tell);
        state.answer.as_ptr()
    })
}

/// How many bytes the last answer has.
#[unsafe(no_mangle)]
pub extern "C" fn weir_answer_length() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}
