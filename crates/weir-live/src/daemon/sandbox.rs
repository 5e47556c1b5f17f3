//! What is left to a daemon once it runs: the system calls of a list, and writing where its own files are.
//!
//! Entered by the first thread after privileges are given up and before others are started, which inherit it. It is what
//! a fault in the reading of packets or requests would have to get out of: no program can be started, no file be
//! written but those that a daemon removes at its end, no namespace, module, key or other process be touched. A kernel
//! that has one half alone gives that; the operator is informed.
//!
//! | | |
//! |-|-|
//! | Source | seccomp(2), landlock(7) |
//! | Work | some hundred instructions of the kernel's a system call at most; none for a packet |

mod calls;
mod files;

use std::path::PathBuf;

use super::log;

/// What a daemon writes to while it runs.
#[derive(Clone, Debug)]
pub struct Files {
    /// The directories in which it makes, writes and removes what it likes.
    pub own: Vec<PathBuf>,
    /// Where its run directory lies, which it removes at the end.
    pub base: PathBuf,
}

/// Gives up, for good, all but this and the list of system calls.
pub fn enter(files: &Files) {
    match files::restrict(files) {
        Ok(true) => {
            let own: Vec<String> = files.own.iter().map(|path| path.display().to_string()).collect();
            log::info(format_args!("files: only {} may be written to (Landlock)", own.join(", ")));
        }
        Ok(false) => {
            log::notice(format_args!("files: this kernel has no Landlock, which would keep them from writes"))
        }
        Err(error) => {
            log::warning(format_args!("files: Landlock is refused: {error}; they are as the user's"))
        }
    }
    match calls::restrict() {
        Ok(count) => log::info(format_args!("system calls: {count} are let through (seccomp)")),
        Err(error) => {
            log::warning(format_args!("system calls: this kernel takes no list of them (seccomp): {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};
    use std::path::Path;
    use std::process::Command;
    use std::{fs, io};

    use super::*;

    /// Run by the test below in a process of its own: it cannot be undone. Its working directory is its own.
    #[test]
    #[ignore = "gives up most of what its process may do"]
    fn child() {
        let own = std::env::current_dir().expect("a directory");
        let base = own.parent().expect("a directory").to_owned();
        let refused = |done: io::Result<()>| match done {
            Ok(()) => "done".to_owned(),
            Err(error) => format!("{:?}", error.kind()),
        };
        rustix::thread::set_no_new_privs(true).expect("set");
        enter(&Files { own: vec![own.clone()], base: base.clone() });
        let thread = std::thread::spawn(move || {
            println!("program {}", refused(Command::new("/bin/true").status().map(drop)));
            println!("namespace {}", refused(unshare()));
            println!("socket {}", refused(UdpSocket::bind("127.0.0.1:0").map(drop)));
            println!("listen {}", refused(TcpListener::bind("127.0.0.1:0").map(drop)));
            println!("read {}", refused(fs::read("/proc/self/status").map(drop)));
            println!("own {}", refused(fs::write(own.join("mine"), "")));
            println!("other {}", refused(fs::write(base.join("other"), "")));
            println!("remove {}", refused(fs::remove_file(own.join("mine"))));
            println!("thread {}", std::thread::spawn(|| 7).join().is_ok());
        });
        thread.join().expect("ended");
    }

    fn unshare() -> io::Result<()> {
        // SAFETY: a plain system call; it is to fail.
        let done = unsafe { libc::unshare(libc::CLONE_NEWUTS) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Whether this kernel has Landlock, as it says itself.
    fn has_landlock() -> bool {
        // SAFETY: asks for the version of the interface, which takes no structure.
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, core::ptr::null::<u8>(), 0, 1) > 0 }
    }

    fn said(directory: &Path) -> String {
        let own = std::env::current_exe().expect("this program");
        let mut child = Command::new(own);
        child.args(["--exact", "daemon::sandbox::tests::child", "--ignored", "--nocapture"]);
        let output = child.current_dir(directory).output().expect("run");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[test]
    fn what_a_daemon_has_no_need_of_is_refused() {
        let base = tempfile::tempdir().expect("a directory");
        let own = base.path().join("edge");
        fs::create_dir(&own).expect("made");
        let text = said(&own);
        let always = [
            "program PermissionDenied",
            "namespace PermissionDenied",
            "socket done",
            "listen PermissionDenied",
            "read done",
            "own done",
            "remove done",
            "thread true",
        ];
        let written = if has_landlock() { "other PermissionDenied" } else { "other done" };
        for line in always.into_iter().chain([written]) {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
