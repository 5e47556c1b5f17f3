//! The programs' decisions on the host: `bpf/steer/steer.h`, compiled for it, is held against weir-core, against another
//! parser, and against what the daemon holds its memory to be.

mod checksums;
#[path = "../../tests/all/host.rs"]
mod compiled;
mod decisions;
mod draw;
mod frames;
mod instructions;
mod places;

/// What the header says to commands, which `tests/steer/host.c` lists; sanitizers watch it.
fn said(commands: Vec<u8>) -> Vec<u8> {
    compiled::said("steer", "steer/host.c", commands)
}

/// What it says, as numbers.
fn numbers(commands: Vec<u8>) -> Vec<u32> {
    said(commands).as_chunks().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect()
}

/// A value as the programs have it in memory.
fn bytes<T>(value: &T) -> &[u8] {
    // SAFETY: called with structures of numbers that lie side by side, without anything between them.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(value).cast(), size_of::<T>()) }
}
