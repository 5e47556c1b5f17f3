//! The programs' decisions on the host: `bpf/steer/steer.h`, compiled for it, is held against weir-core, against another
//! parser, and against what the daemon holds its memory to be.

mod decisions;
mod draw;
mod frames;
mod instructions;
mod places;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the header says to commands, which `tests/steer/host.c` lists; sanitizers watch it.
fn said(commands: Vec<u8>) -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("host");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=address,undefined"])
        .arg("-fno-sanitize-recover=all")
        .arg(format!("-I{}", here.join("../../bpf/steer").display()))
        .arg(here.join("tests/steer/host.c"))
        .arg("-o")
        .arg(&program)
        .status()
        .expect("a C compiler, as libbpf needs as well");
    assert!(compiled.success());
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it was just compiled");
    let mut input = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || input.write_all(&commands).expect("it reads to the end"));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("written");
    assert!(output.status.success(), "{}", output.status);
    output.stdout
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
