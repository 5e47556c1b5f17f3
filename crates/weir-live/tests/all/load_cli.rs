//! `weird load` as a program: what it prints and writes, and how it ends.

use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn weird(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weird"));
    command.current_dir(folder).arg("load").args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn outcome(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = weird(folder, arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A server that answers for as long as the process runs.
fn echo() -> String {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = server.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut buffer = [0; 2048];
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            let _ = server.send_to(&buffer[..length], from);
        }
    });
    at
}

#[test]
fn a_run_prints_its_figures_and_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let asked =
        ["--rate", "1k/s", "--windows", "2", "--window", "50ms", "--growth", "2", "--out", "out.json"];
    let classes = ["--class", "short:data=1,share=0.9", "--class", "long:data=10,share=0.1"];
    let (code, out, error) = outcome(folder.path(), &[&[&*echo()], &asked[..], &classes].concat());
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("\nround trips from when requests were due\n") && out.contains("poisson"), "{out}");
    let written = std::fs::read(folder.path().join("out.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(report["windows"][1]["rate_per_s"], 2000.0);
    assert_eq!(report["windows"][0]["classes"][1]["name"], "long");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_signal_ends_it_with_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let target = echo();
    let child =
        weird(folder.path(), &[&target, "--rate", "500/s", "--window", "1000s", "--json"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    // SAFETY: the child is our own and has not been waited for, so that its number is its own still.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), libc::SIGINT) }, 0);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["stopped"], true);
    assert!(report["windows"][0]["classes"][0]["received"].as_u64() > Some(0));
}

#[test]
fn nobody_there_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let target = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let asked = ["--rate", "200/s", "--window", "50ms", "--patience", "50ms"];
    let (code, out, error) = outcome(folder.path(), &[&[&*target], &asked[..]].concat());
    assert_eq!(code, Some(1), "{out}");
    assert!(error.contains("none of") && error.contains("was answered: see whether"), "{error}");
    assert!(out.contains("Connection refused"), "{out}");
}

#[test]
fn bad_input_ends_with_2_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["10.0.0.1", "--rate", "1/s"][..], "ADDRESS:PORT 10.0.0.1 is not an address with a port"),
        (&["localhost:9000", "--rate", "1/s"], "names are not looked up"),
        (&["127.0.0.1:9", "--rate", "20000"], "write a rate with its unit"),
        (&["127.0.0.1:9", "--rate", "1/s", "--size", "64"], "write a size with its unit"),
        (&["127.0.0.1:9", "--rate", "1/s", "--size", "19B"], "--size is 19B, must be from 20B to 65507B"),
        (&["127.0.0.1:9", "--rate", "1/s", "--window", "5"], "write a time with its unit"),
        (&["127.0.0.1:9", "--rate", "1/s", "--arrivals", "bursts:5"], "write poisson, constant, or a period"),
        (
            &["127.0.0.1:9", "--rate", "1/s", "--class", "a:share=2"],
            "share is 2: write a fraction from 0 to 1",
        ),
        (
            &["127.0.0.1:9", "--rate", "1/s", "--class", "a:share=0.5"],
            "--class is 0.5, the sum of all shares",
        ),
        (&["127.0.0.1:9", "--rate", "0/s"], "--rate is 0/s, must be from"),
        (
            &["127.0.0.1:9", "--rate", "1/s", "--out", "none/out.json"],
            "none/out.json: the file cannot be written",
        ),
        (&["127.0.0.1:9", "--rate", "1/s", "--cpu", "1023"], "weird load: --cpu is 1023"),
        (&["127.0.0.1:9", "--rate", "1/s", "--priority", "FIFO:100"], "from 1 to 99"),
        (&["127.0.0.1:9"], "--rate"),
        (&[], "ADDRESS:PORT"),
    ] {
        let (code, _, error) = outcome(folder.path(), arguments);
        assert_eq!(code, Some(2), "{arguments:?} {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}
