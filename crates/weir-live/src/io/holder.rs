//! Who has claimed an interface: the processes behind the names of [`Claim`](super::link::Claim).
//!
//! Any user may bind a name of the abstract namespace, and so keep a daemon from an interface. Who does is found by the
//! inode of the socket, in the network namespace of the thread.
//!
//! | | |
//! |-|-|
//! | Source | unix(7), proc(5): `net/unix`, `PID/fd`, `PID/status` |
//! | Work | O(sockets of the namespace + open files of all processes), when a claim fails and for `weird doctor` |

use core::fmt;
use std::fs;
use std::path::Path;

use weir_document::shorten;

/// How the names of claims begin, after the zero byte that `/proc` shows as `@`.
pub(crate) const PREFIX: &str = "weir/interface/";

/// A process that has an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub process: u32,
    /// Its user, by number.
    pub user: u32,
    /// How it was started.
    pub command: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { process, user, command } = self;
        write!(f, "process {process} of user {user} (`{command}`)")
    }
}

/// A claim that somebody holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The interface.
    pub interface: String,
    /// Who holds it; nobody where `/proc` does not show the process, as one of another container.
    pub holder: Option<Holder>,
}

/// The claims of the network namespace of this thread.
#[must_use]
pub fn held() -> Vec<Held> {
    let table = fs::read_to_string("/proc/thread-self/net/unix").unwrap_or_default();
    let claims = table.lines().filter_map(claim);
    claims.map(|(inode, interface)| Held { interface: interface.to_owned(), holder: holder(inode) }).collect()
}

/// Who has this interface.
#[must_use]
pub(super) fn of(interface: &str) -> Option<Holder> {
    held().into_iter().find(|held| held.interface == interface)?.holder
}

/// The inode and the interface of a line of `net/unix` that is a claim.
fn claim(line: &str) -> Option<(&str, &str)> {
    let (before, name) = line.split_once(" @")?;
    Some((before.split_whitespace().nth(6)?, name.strip_prefix(PREFIX)?))
}

/// The first process that has a socket open.
fn holder(inode: &str) -> Option<Holder> {
    let wanted = format!("socket:[{inode}]");
    let has = |process: &Path| {
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|target| target.as_os_str() == wanted.as_str())
    };
    let processes = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
    let mut numbered = processes.filter_map(|path| {
        let number = path.file_name()?.to_str()?.parse().ok()?;
        Some((number, path))
    });
    let (process, path) = numbered.find(|(_, path)| has(path))?;
    Some(Holder { process, user: user(&path)?, command: command(&path) })
}

/// The effective user of a process. The owner of its files in `/proc` would be root where it may not be traced.
fn user(process: &Path) -> Option<u32> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(1)?.parse().ok()
}

/// The words by which a process was started, or its name where it has none; nothing in it moves a terminal.
fn command(process: &Path) -> String {
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    let name = || fs::read(process.join("comm")).unwrap_or_default();
    let text = if words.is_empty() { name() } else { words };
    let text = String::from_utf8_lossy(&text).replace('\0', " ");
    shorten(&text.trim().escape_debug().to_string())
}

#[cfg(test)]
mod tests {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    use super::*;

    #[test]
    fn the_holder_of_a_name_is_found() {
        let interface = format!("try{}", std::process::id());
        assert_eq!(of(&interface), None);
        let name = SocketAddr::from_abstract_name(format!("{PREFIX}{interface}")).expect("a name");
        let socket = UnixDatagram::bind_addr(&name).expect("free");
        let holder = of(&interface).expect("held here");
        assert_eq!(holder.process, std::process::id());
        assert_eq!(holder.user, rustix::process::geteuid().as_raw());
        assert!(!holder.command.is_empty() && holder.to_string().starts_with("process "), "{holder}");
        drop(socket);
        assert_eq!(of(&interface), None);
    }

    #[test]
    fn other_sockets_are_no_claims() {
        let line = "0000000000000000: 00000002 00000000 00000000 0002 01 26711 @weir/interface/eth0";
        assert_eq!(claim(line), Some(("26711", "eth0")));
        for line in
            ["Num RefCount Protocol", "0: 2 0 0 2 01 1 @weir/other", "0: 2 0 0 2 01 1 /run/weir/interface/e"]
        {
            assert_eq!(claim(line), None);
        }
    }
}
