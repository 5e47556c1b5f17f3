//! `weird tg` as a program: what it prints, how it ends, and what its logs are after signals.

use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use weir_traffic::tg::log::{Ending, Reader};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("weird-tg-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A file with this text.
    fn with(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn weird(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weird"));
    command.current_dir(&folder.0).arg("tg").args(arguments).env_remove("COLUMNS");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn outcome(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = weird(folder, arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A script of a sink without an end, on a port that nobody uses.
fn sink(folder: &Folder) -> PathBuf {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    folder.with("sink.tg", &format!("on 1 udp 127.0.0.1.{port} server wait"))
}

/// Starts a sink, and returns when it says in its log that it is ready.
fn ready_sink(folder: &Folder) -> (Child, PathBuf) {
    sink(folder);
    let child = weird(folder, &["sink.tg", "--log", "sink.log", "--start", "now", "--json"]).spawn().unwrap();
    let log = folder.0.join("sink.log");
    while !Reader::open(&log).is_ok_and(|reader| reader.count() > 0) {
        std::thread::sleep(Duration::from_millis(5));
    }
    (child, log)
}

fn ending(log: &Path) -> Option<Ending> {
    let mut reader = Reader::open(log).unwrap();
    assert!(reader.by_ref().all(|record| record.is_ok()));
    reader.ending()
}

fn signal(child: &Child, number: i32) {
    // SAFETY: the child is our own and has not been waited for, so that its number is its own still.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), number) }, 0);
}

#[test]
fn signals_close_the_log() {
    for number in [libc::SIGINT, libc::SIGTERM] {
        let folder = Folder::new(&format!("signal-{number}"));
        let (child, log) = ready_sink(&folder);
        signal(&child, number);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(ending(&log), Some(Ending::Whole));
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&summary["role"], &summary["stopped"]), (&"sink".into(), &true.into()));
    }
}

#[test]
fn a_log_after_kill_9_is_readable_and_cut() {
    let folder = Folder::new("kill");
    let (mut child, log) = ready_sink(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(ending(&log), Some(Ending::Cut { rest: 0 }));
}

#[test]
fn a_run_and_its_report() {
    let folder = Folder::new("report");
    let (child, _) = ready_sink(&folder);
    let script = std::fs::read_to_string(folder.0.join("sink.tg")).unwrap();
    let source = script.replace("server wait", "log \"by-script.log\" arrival 0.02 length 100 packet 30");
    folder.with("source.tg", &source);
    let (code, out, _) =
        outcome(&folder, &["source.tg", "--start", "now", "--scale", "10", "--random", "compatible"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("sent        30pkt, 3kB of data"), "{out}");
    signal(&child, libc::SIGTERM);
    child.wait_with_output().unwrap();
    let logs = ["report", "by-script.log", "sink.log"];
    let (code, out, _) = outcome(&folder, &[&logs[..], &["--rate", "10Mbit", "--csv", "out.csv"]].concat());
    assert_eq!(code, Some(0));
    assert!(out.contains("packets   30 sent, 30 received"), "{out}");
    assert_eq!(std::fs::read_to_string(folder.0.join("out.csv")).unwrap().lines().count(), 2);
    let (_, out, _) = outcome(&folder, &[&logs[..], &["--json", "--interval", "20ms"]].concat());
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["pairs"][0]["all"]["received"], 30);
}

#[test]
fn bad_input_ends_with_2_and_says_where() {
    let folder = Folder::new("bad");
    sink(&folder);
    folder.with("bad.tg", "on 1 upd");
    folder.with("asks.tg", "on 1 udp 127.0.0.1.5 interactive wait");
    folder.with("far.tg", "on 1 udp 192.0.2.1.5 server wait");
    for (arguments, expected) in [
        (&["bad.tg"][..], "bad.tg:1:6: found `upd`"),
        (&["none.tg"], "none.tg:1:1: the file cannot be read"),
        (&["asks.tg"], "asks.tg: asks for responses"),
        (&["far.tg", "--start", "now"], "192.0.2.1:5 cannot be set up"),
        (&["sink.tg", "--start", "soon"], "--start soon is not a time"),
        (&["sink.tg", "--start", "2001-01-01T00:00:00Z"], "--start 2001-01-01T00:00:00Z is over"),
        (&["sink.tg", "--start", "now", "--log", "bad.tg"], "bad.tg: the log cannot be written"),
        (&["sink.tg", "--start", "now", "--cpu", "1023"], "--cpu is 1023"),
        (&["sink.tg", "--priority", "FIFO:0"], "from 1 to 99"),
        (&["sink.tg", "--scale", "0"], "--scale"),
        (&["report", "bad.tg", "bad.tg"], "bad.tg: at byte 0: it is not a log"),
        (&["report", "one.log"], ""),
        (&["report", "a", "b", "c"], "3 logs are named"),
        (&["report", "a", "b", "--interval", "5"], "5s or 500ms"),
        (&[], ""),
    ] {
        let (code, _, error) = outcome(&folder, arguments);
        assert_eq!(code, Some(2), "{arguments:?} {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert_eq!(std::fs::read_to_string(folder.0.join("bad.tg")).unwrap(), "on 1 upd");
}

#[test]
fn the_protocol_test_prints_what_would_be_sent() {
    let folder = Folder::new("prints");
    folder.with("test.tg", "on 15 test 127.0.0.1.5 at 10 arrival 0.5 length 99 packet 3");
    let (code, out, _) = outcome(&folder, &["test.tg", "--scale", "2"]);
    assert_eq!((code, &*out), (Some(0), "time_s,length_B\n5.250000000,99\n5.500000000,99\n5.750000000,99\n"));
}
