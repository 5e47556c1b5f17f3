//! Headers of the programs in `bpf/`, compiled for the host and watched by sanitizers.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a program of `tests/` says to an input, which includes the header of a folder of `bpf/`.
pub(crate) fn said(folder: &str, source: &str, input: Vec<u8>) -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = tempfile::tempdir().expect("a folder");
    let program = built.path().join("host");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=address,undefined"])
        .arg("-fno-sanitize-recover=all")
        .arg(format!("-I{}", here.join("../../bpf").join(folder).display()))
        .arg(here.join("tests").join(source))
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
    let mut pipe = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || pipe.write_all(&input).expect("it reads to the end"));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("written");
    assert!(output.status.success(), "{}", output.status);
    output.stdout
}
