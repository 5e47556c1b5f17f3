//! What routers and testbeds left behind: run directories, pinned links, namespaces.
//!
//! A run directory is stale where nobody holds its lock, a pinned link where its router is not alive, a namespace where
//! the process that its journal names is gone. What is not named in one of these places is never touched.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use super::Finding;
use crate::daemon::directory::{Life, RunDirectory, life};
use crate::io::pins::Pin;

const AREA: &str = "left behind";
const REMEDY: &str = "weird doctor --clean";
/// The journals of testbeds, next to the run directories.
const TESTBED: &str = "testbed";
/// Where namespaces have names.
const NAMES: &str = "/run/netns";
/// How the names of namespaces begin that are ours.
const PREFIX: &str = "weir-";

pub(super) fn examine(base: &Path, pins: &[Pin]) -> Vec<Finding> {
    let stale = stale(base).into_iter().map(|path| {
        let found = "a run directory whose daemon is gone";
        Finding::warn(AREA, path.display().to_string(), found, REMEDY)
    });
    let links = pins.iter().map(|pin| {
        let (what, interface) = (pin.path.display().to_string(), &pin.interface);
        match is_alive(base, &pin.owner) {
            true => Finding::ok(AREA, what, format!("the program at {interface}, in use by `{}`", pin.owner)),
            false if pin.behind => {
                let found = format!(
                    "the program behind the dispatcher of {interface}, whose daemon is gone: that of a router passes or drops \
                     all traffic, as `on_failure` said, that of steering goes on as it was"
                );
                Finding::warn(AREA, what, found, format!("{REMEDY}, or start the daemon again"))
            }
            false => {
                let found = format!(
                    "the program at {interface}, whose daemon is gone: that of a router drops all traffic there, that of \
                     steering goes on as it was"
                );
                Finding::warn(AREA, what, found, format!("{REMEDY}, or start the daemon again"))
            }
        }
    });
    let journals = journals(base).into_iter().filter(Journal::is_stale).map(|journal| {
        let names = journal.content.namespaces.join(", ");
        let found = format!("the journal of a testbed that is gone; namespaces: {names}");
        Finding::warn(AREA, journal.path.display().to_string(), found, REMEDY)
    });
    let mut findings: Vec<Finding> = stale.chain(links).chain(journals).collect();
    if findings.is_empty() {
        findings.push(Finding::ok(AREA, "routers and testbeds", "nothing"));
    }
    findings
}

/// Removes what nobody uses, and says what.
pub(super) fn clean(base: &Path, pins: &[Pin]) -> Vec<String> {
    let mut removed = Vec::new();
    for path in stale(base) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Whoever has the lock may remove it, and does so by letting it go.
        if RunDirectory::claim(base, &name).is_ok() && !path.exists() {
            removed.push(path.display().to_string());
        }
    }
    for pin in pins.iter().filter(|pin| !is_alive(base, &pin.owner)) {
        if pin.remove().is_ok() {
            removed.push(pin.path.display().to_string());
        }
    }
    for journal in journals(base).into_iter().filter(Journal::is_stale) {
        removed.extend(journal.content.own().filter(|name| remove_namespace(name)).map(str::to_owned));
        if fs::remove_file(&journal.path).is_ok() {
            removed.push(journal.path.display().to_string());
        }
    }
    removed
}

fn entries(path: &Path) -> impl Iterator<Item = PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter()
}

/// The run directories that nobody holds.
fn stale(base: &Path) -> Vec<PathBuf> {
    let is_ours = |path: &PathBuf| path.is_dir() && path.file_name().is_some_and(|name| name != TESTBED);
    // One that is empty was left by a daemon that had become another user, and is taken by the next.
    let is_used = |path: &PathBuf| entries(path).next().is_some();
    entries(base)
        .filter(is_ours)
        .filter(is_used)
        .filter(|path| matches!(life(path), Ok(Life::Stale)))
        .collect()
}

/// Whether a router runs, or may: a lock that cannot be opened is somebody's.
fn is_alive(base: &Path, router: &str) -> bool {
    !matches!(life(&base.join(router)), Ok(Life::Stale))
}

/// What a testbed writes before it makes anything.
#[derive(Deserialize)]
struct Content {
    process: i32,
    /// When the process began, in ticks since the machine did: another of the same number began later.
    began: Option<String>,
    namespaces: Vec<String>,
}

impl Content {
    /// The names that can be ours, and lead nowhere else.
    fn own(&self) -> impl Iterator<Item = &str> {
        let names = self.namespaces.iter().map(String::as_str);
        names.filter(|name| name.starts_with(PREFIX) && !name.contains('/'))
    }
}

struct Journal {
    path: PathBuf,
    content: Content,
}

impl Journal {
    fn is_stale(&self) -> bool {
        began(self.content.process) != self.content.began
    }
}

fn journals(base: &Path) -> Vec<Journal> {
    let read = |path: PathBuf| {
        let content = serde_json::from_str(&fs::read_to_string(&path).ok()?).ok()?;
        Some(Journal { path, content })
    };
    let is_json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    entries(&base.join(TESTBED)).filter(is_json).filter_map(read).collect()
}

/// When a process began, in ticks since the machine did; `None` where it is gone.
fn began(process: i32) -> Option<String> {
    let text = fs::read(format!("/proc/{process}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(str::to_owned)
}

/// Ends the processes of a namespace and takes its name away; `false` where there is none or it stays.
fn remove_namespace(name: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let path = Path::new(NAMES).join(name);
    let Ok(wanted) = fs::metadata(&path) else { return false };
    for process in entries(Path::new("/proc")) {
        let is_in = fs::metadata(process.join("ns/net")).is_ok_and(|its| its.ino() == wanted.ino());
        let number = process.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let (true, Some(pid)) = (is_in, number.and_then(Pid::from_raw)) {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    let _ = unmount(&path, UnmountFlags::DETACH);
    fs::remove_file(&path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(base: &Path, what: &str) -> bool {
        examine(base, &[]).iter().any(|finding| finding.what.ends_with(what) && finding.remedy.is_some())
    }

    #[test]
    fn stale_directories_are_found_and_removed_and_others_stay() {
        let base = tempfile::tempdir().expect("a directory");
        let alive = RunDirectory::claim(base.path(), "alive").expect("free");
        for name in ["dead", "foreign"] {
            fs::create_dir(base.path().join(name)).expect("made");
            fs::write(base.path().join(name).join("lock"), "1\n").expect("written");
        }
        fs::write(base.path().join("foreign/notes"), "").expect("written");
        assert!(found(base.path(), "/dead") && !found(base.path(), "/alive"));
        let removed = clean(base.path(), &[]);
        assert!(removed.iter().any(|what| what.ends_with("/dead")) && !base.path().join("dead").exists());
        // What somebody else put there stays, and so does what is in use.
        assert!(base.path().join("foreign/notes").exists() && alive.path().join("lock").exists());
        assert!(!removed.iter().any(|what| what.ends_with("/foreign") || what.ends_with("/alive")));
    }

    #[test]
    fn journals_of_processes_that_are_gone_are_found_and_removed() {
        let base = tempfile::tempdir().expect("a directory");
        let testbed = base.path().join(TESTBED);
        fs::create_dir(&testbed).expect("made");
        let own = std::process::id() as i32;
        let write = |name: &str, process: i32, began: Option<String>| {
            let began = serde_json::to_string(&began).expect("written");
            let namespaces = "[\"weir-0-nothing-here\", \"other\", \"weir-/../x\"]";
            let text = format!("{{\"process\":{process},\"began\":{began},\"namespaces\":{namespaces}}}");
            fs::write(testbed.join(name), text).expect("written");
        };
        write("alive.json", own, began(own));
        write("dead.json", own, Some("1".to_owned()));
        fs::write(testbed.join("garbage.json"), "{").expect("written");
        assert!(found(base.path(), "/dead.json") && !found(base.path(), "/alive.json"));
        assert!(clean(base.path(), &[]).iter().any(|what| what.ends_with("/dead.json")));
        let left: Vec<PathBuf> = entries(&testbed).collect();
        assert_eq!(left, [testbed.join("alive.json"), testbed.join("garbage.json")]);
        let content = Content {
            process: 1,
            began: None,
            namespaces: ["weir-1-a", "x", "weir-/y"].map(String::from).into(),
        };
        assert_eq!(content.own().collect::<Vec<_>>(), ["weir-1-a"]);
    }
}
