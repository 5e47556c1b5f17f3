//! The run directory of a daemon: `/run/weir/NAME` with its lock and its control socket.
//!
//! The lock is held as long as the daemon lives, and the kernel takes it back when it is killed: whoever holds it owns
//! what else lies there, and may replace what a killed daemon left. The directory is closed to all but its owner until
//! the socket in it has its group and its mode.
//!
//! | | |
//! |-|-|
//! | Source | flock(2), unix(7) |
//! | Units | none |

use core::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown, fchown, lchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::user::User;

/// Names another directory than `/run/weir`, for tests.
pub const BASE_VARIABLE: &str = "WEIR_RUN_DIRECTORY";
/// How often the lock is taken anew where a daemon that ends removes it in between.
const TRIES: usize = 16;
/// How long those who only ask whether a daemon lives may keep one from starting; an asker needs microseconds.
const ASKED: Duration = Duration::from_secs(1);
/// Between two tries to take a lock that an asker holds.
const PAUSE: Duration = Duration::from_millis(1);

/// Why the directory or something in it cannot be used.
#[derive(Debug)]
pub enum RunError {
    /// A daemon of the same name is alive.
    Running {
        /// The router's name.
        name: String,
        /// Its process, as it wrote it.
        process: String,
    },
    /// The directory is of somebody else.
    Foreign(PathBuf),
    /// Others than its owner may write to the directory.
    Open {
        /// The directory.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// There is no such group.
    NoGroup(String),
    /// The system refused.
    System {
        /// What it was of.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running { name, process } => write!(
                f,
                "a daemon called `{name}` is running as process {process}: stop it with `weird ctl {name} stop`, \
                 or give this one another name"
            ),
            Self::Foreign(path) => write!(
                f,
                "{} is not a directory of this user: remove it, or name another (the router's name, {BASE_VARIABLE})",
                path.display()
            ),
            Self::Open { path, mode } => write!(
                f,
                "{0} is of mode {mode:04o}: whoever may write there could put a socket of his own in the daemon's place; \
                 run `chmod go-w {0}`, and look at what lies there",
                path.display()
            ),
            Self::NoGroup(group) => {
                write!(f, "group is \"{group}\", not a group of this system: see `getent group`")
            }
            Self::System { path, error } => {
                let remedy = match error.kind() {
                    io::ErrorKind::PermissionDenied => "run as root, or as the owner of that directory",
                    _ => "look at that path",
                };
                write!(f, "{}: {error}: {remedy}", path.display())
            }
        }
    }
}

impl std::error::Error for RunError {}

impl RunError {
    pub(crate) fn of(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |error| Self::System { path, error }
    }
}

/// The directory in which those of all daemons are.
#[must_use]
pub fn base() -> PathBuf {
    std::env::var_os(BASE_VARIABLE).map_or_else(|| PathBuf::from("/run/weir"), PathBuf::from)
}

/// Where the control socket of the router called `name` is.
#[must_use]
pub fn socket_of(base: &Path, name: &str) -> PathBuf {
    base.join(name).join("control")
}

/// What a run directory says of its daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// A daemon holds the lock; its process, as it wrote it.
    Alive(String),
    /// Nobody does.
    Stale,
}

/// Whether a daemon holds the lock in a run directory.
///
/// # Errors
/// The lock cannot be opened, other than that there is none.
pub fn life(directory: &Path) -> io::Result<Life> {
    let mut lock = match File::open(directory.join("lock")) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Life::Stale),
        Err(error) => return Err(error),
    };
    match flock(&lock, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(Life::Stale),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(Life::Alive(process_in(&mut lock))),
        Err(error) => Err(error.into()),
    }
}

/// The process that a lock names.
fn process_in(lock: &mut File) -> String {
    let mut text = String::new();
    let read = lock.take(16).read_to_string(&mut text);
    let known = read.is_ok() && !text.trim().is_empty() && text.trim().bytes().all(|b| b.is_ascii_digit());
    if known { text.trim().to_owned() } else { "unknown".to_owned() }
}

/// A run directory whose lock this process holds; dropped, it is removed with what is known to lie in it.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    name: String,
    // Held, not read: the lock goes with it.
    _lock: File,
}

impl RunDirectory {
    /// Takes the directory of the router called `name`, which a killed daemon may have left.
    ///
    /// # Errors
    /// A daemon of this name is alive, or the system refuses.
    pub fn claim(base: &Path, name: &str) -> Result<Self, RunError> {
        Self::claim_after(base, name, None)
    }

    /// The same; a daemon that had become `user` may have left it.
    ///
    /// # Errors
    /// As [`claim`](Self::claim).
    pub fn claim_after(base: &Path, name: &str, user: Option<User>) -> Result<Self, RunError> {
        let path = base.join(name);
        make_base(base)?;
        for _ in 0..TRIES {
            make_private(&path, user)?;
            if let Some(lock) = take_lock(&path, name)? {
                return Ok(Self { path, name: name.to_owned(), _lock: lock });
            }
        }
        let error = io::Error::other("the lock is removed again and again");
        Err(RunError::System { path, error })
    }

    /// Whether it could be claimed if the daemon that may have it ended.
    ///
    /// # Errors
    /// It is somebody else's, or open to others.
    pub fn check(base: &Path, name: &str, user: Option<User>) -> Result<(), RunError> {
        check_private(&base.join(name), user)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its control socket belongs; an old one is removed.
    pub(super) fn free_socket(&self) -> Result<PathBuf, RunError> {
        let socket = self.path.join("control");
        match fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RunError::of(&socket)(error)),
            _ => Ok(socket),
        }
    }

    /// Opens it to a group, when all in it is as it should be.
    pub(super) fn open_to(&self, group: Option<u32>) -> Result<(), RunError> {
        let failed = || RunError::of(&self.path);
        chown(&self.path, None, group).map_err(failed())?;
        fs::set_permissions(&self.path, Permissions::from_mode(0o750)).map_err(failed())
    }

    /// Gives all of it to a user, who may remove what lies in it, but not the directory.
    pub(super) fn hand_over(&self, user: User) -> Result<(), RunError> {
        for path in [self.path.join("control"), self.path.join("lock"), self.path.clone()] {
            lchown(&path, Some(user.uid), None).map_err(RunError::of(&path))?;
        }
        Ok(())
    }

    /// The router's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        // The lock last: until then nobody else makes anything here. What cannot be removed is found by `doctor`.
        for file in ["control", "lock"] {
            let _ = fs::remove_file(self.path.join(file));
        }
        let _ = fs::remove_dir(&self.path);
    }
}

fn make_base(base: &Path) -> Result<(), RunError> {
    let made = DirBuilder::new().recursive(true).mode(0o755).create(base);
    made.map_err(RunError::of(base))?;
    // A link to it is whose it is; where the link lies, only its owner may put one.
    let found = fs::metadata(base).map_err(RunError::of(base))?;
    let owners = [0, rustix::process::geteuid().as_raw()];
    if !owners.contains(&found.uid()) {
        return Err(RunError::Foreign(base.to_owned()));
    }
    // Where it is sticky, others cannot take away what is not theirs.
    if found.mode() & 0o1000 == 0 { closed_to_others(base, &found) } else { Ok(()) }
}

/// That nobody but the owner may write to a directory.
fn closed_to_others(path: &Path, found: &fs::Metadata) -> Result<(), RunError> {
    let mode = found.mode() & 0o7777;
    let is_closed = mode & 0o022 == 0;
    is_closed.then_some(()).ok_or_else(|| RunError::Open { path: path.to_owned(), mode })
}

/// The directory, closed to all but its owner; what `user` had is taken back once nobody holds its lock.
fn make_private(path: &Path, user: Option<User>) -> Result<(), RunError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_private(path, user),
        Err(error) => Err(RunError::of(path)(error)),
    }
}

/// Refuses a directory that is somebody else's or open to others. One that went away meanwhile, with the daemon that had it,
/// is not refused: whoever looks for its lock tries again.
fn check_private(path: &Path, user: Option<User>) -> Result<(), RunError> {
    // Of the path itself: what a link points to is not ours.
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RunError::of(path)(error)),
    };
    let owners = [Some(rustix::process::geteuid().as_raw()), user.map(|user| user.uid)];
    if !found.is_dir() || !owners.contains(&Some(found.uid())) {
        return Err(RunError::Foreign(path.to_owned()));
    }
    closed_to_others(path, &found)
}

/// The lock; `None` where whoever had it removed it before it was taken.
fn take_lock(directory: &Path, name: &str) -> Result<Option<File>, RunError> {
    let path = directory.join("lock");
    // In a directory that another user has, a link may lead to a file of ours, and a pipe would make us wait.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    let mut lock = match options.open(&path) {
        Ok(lock) => lock,
        // The directory went away with the daemon that had it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RunError::of(&path)(error)),
    };
    match lock_alone(&lock) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            return Err(RunError::Running { name: name.to_owned(), process: process_in(&mut lock) });
        }
        Err(error) => return Err(RunError::of(&path)(error.into())),
    }
    let held = lock.metadata().map_err(RunError::of(&path))?;
    if !held.is_file() || held.nlink() > 1 {
        return Err(RunError::Foreign(path));
    }
    let named = fs::symlink_metadata(&path);
    if !named.is_ok_and(|named| (named.dev(), named.ino()) == (held.dev(), held.ino())) {
        return Ok(None);
    }
    let own = rustix::process::geteuid().as_raw();
    let written = chown(directory, Some(own), None)
        .and_then(|()| fs::set_permissions(directory, Permissions::from_mode(0o700)))
        .and_then(|()| fchown(&lock, Some(own), None))
        .and_then(|()| lock.set_len(0))
        .and_then(|()| lock.write_all(format!("{}\n", std::process::id()).as_bytes()));
    written.map_err(RunError::of(&path))?;
    Ok(Some(lock))
}

/// Takes a lock for oneself alone; `WOULDBLOCK` where a daemon has it.
///
/// [`life`] shares the lock for an instant, which must not look like a daemon: whoever can share it too has found one who
/// asks, and tries again.
fn lock_alone(lock: &File) -> rustix::io::Result<()> {
    let end = Instant::now() + ASKED;
    loop {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < end => {}
            done => return done,
        }
        flock(lock, FlockOperation::NonBlockingLockShared)?;
        flock(lock, FlockOperation::Unlock)?;
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_daemon_of_a_name_at_a_time() {
        let base = tempfile::tempdir().expect("a directory");
        let mine = RunDirectory::claim(base.path(), "edge").expect("free");
        let process = std::process::id().to_string();
        assert_eq!(life(mine.path()).expect("read"), Life::Alive(process.clone()));
        let error = RunDirectory::claim(base.path(), "edge").expect_err("taken").to_string();
        assert!(
            error.starts_with(&format!("a daemon called `edge` is running as process {process}: ")),
            "{error}"
        );
        assert!(RunDirectory::claim(base.path(), "core").is_ok());
        drop(mine);
        assert_eq!(fs::read_dir(base.path()).expect("read").count(), 0);
        assert!(RunDirectory::claim(base.path(), "edge").is_ok());
    }

    #[test]
    fn a_directory_that_goes_while_it_is_claimed_is_made_anew() {
        let base = tempfile::tempdir().expect("a directory");
        // It was there, and the daemon that had it has removed it before it was examined.
        RunDirectory::check(base.path(), "edge", None).expect("to be tried again");
        assert!(matches!(take_lock(&base.path().join("edge"), "edge"), Ok(None)));
    }

    #[test]
    fn who_only_asks_keeps_no_daemon_from_starting() {
        let base = tempfile::tempdir().expect("a directory");
        let left = base.path().join("edge");
        fs::create_dir(&left).expect("made");
        fs::write(left.join("lock"), "999999999\n").expect("written");
        let asker = File::open(left.join("lock")).expect("open");
        flock(&asker, FlockOperation::NonBlockingLockShared).expect("free");
        let ends = thread::spawn(move || {
            thread::sleep(20 * PAUSE);
            drop(asker);
        });
        assert!(RunDirectory::claim(base.path(), "edge").is_ok());
        ends.join().expect("ended");
    }

    #[test]
    fn what_a_killed_daemon_left_is_taken_over() {
        let base = tempfile::tempdir().expect("a directory");
        let left = base.path().join("edge");
        fs::create_dir(&left).expect("made");
        fs::write(left.join("lock"), "999999999\n").expect("written");
        drop(std::os::unix::net::UnixListener::bind(left.join("control")).expect("bound"));
        assert_eq!(life(&left).expect("read"), Life::Stale);
        let mine = RunDirectory::claim(base.path(), "edge").expect("stale");
        assert!(!mine.free_socket().expect("removed").exists());
        assert_eq!(fs::metadata(mine.path()).expect("there").permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_others_may_write_to_is_refused() {
        let base = tempfile::tempdir().expect("a directory");
        let set = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
        };
        let edge = base.path().join("edge");
        fs::create_dir(&edge).expect("made");
        for (path, mode) in [(base.path(), 0o777), (base.path(), 0o775), (edge.as_path(), 0o777)] {
            set(path, mode);
            let error = RunDirectory::claim(base.path(), "edge").expect_err("open").to_string();
            let expected = format!("{} is of mode {mode:04o}: ", path.display());
            assert!(error.starts_with(&expected) && error.contains("`chmod go-w "), "{error}");
            set(path, 0o755);
        }
        set(base.path(), 0o1777);
        assert!(RunDirectory::claim(base.path(), "edge").is_ok());
    }

    #[test]
    fn what_another_user_left_is_taken_over_from_him_alone() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root gives files away");
            return;
        }
        let base = tempfile::tempdir().expect("a directory");
        let user = |uid| Some(User { uid, gid: uid });
        let edge = base.path().join("edge");
        let leave = || {
            let mine = RunDirectory::claim_after(base.path(), "edge", user(1000)).expect("free");
            fs::write(edge.join("control"), "").expect("written");
            mine.hand_over(User { uid: 1000, gid: 1000 }).expect("given");
            // As if it had been killed: all stays but the lock of the kernel.
            let left = base.path().join("left");
            fs::rename(&edge, &left).expect("moved");
            drop(mine);
            fs::rename(&left, &edge).expect("moved back");
        };
        leave();
        assert!(matches!(RunDirectory::claim(base.path(), "edge"), Err(RunError::Foreign(_))));
        let error = RunDirectory::claim_after(base.path(), "edge", user(1001)).expect_err("another's");
        assert!(matches!(error, RunError::Foreign(_)));
        let mine = RunDirectory::claim_after(base.path(), "edge", user(1000)).expect("left by him");
        assert_eq!(fs::metadata(&edge).expect("there").uid(), 0);
        drop(mine);
        leave();
        // What he puts there leads root nowhere.
        let precious = base.path().join("precious");
        fs::write(&precious, "precious").expect("written");
        fs::remove_file(edge.join("lock")).expect("removed");
        std::os::unix::fs::symlink(&precious, edge.join("lock")).expect("linked");
        assert!(RunDirectory::claim_after(base.path(), "edge", user(1000)).is_err());
        fs::remove_file(edge.join("lock")).expect("removed");
        fs::hard_link(&precious, edge.join("lock")).expect("linked");
        let error = RunDirectory::claim_after(base.path(), "edge", user(1000)).expect_err("a second name");
        assert!(matches!(error, RunError::Foreign(_)));
        assert_eq!(fs::read_to_string(&precious).expect("read"), "precious");
    }

    #[test]
    fn what_is_not_a_directory_of_this_user_is_left_alone() {
        let base = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink("/tmp", base.path().join("edge")).expect("linked");
        let error = RunDirectory::claim(base.path(), "edge").expect_err("a link");
        assert!(matches!(error, RunError::Foreign(_)) && base.path().join("edge").exists());
        fs::write(base.path().join("file"), "").expect("written");
        let error = RunDirectory::claim(&base.path().join("file"), "edge").expect_err("a file");
        assert!(error.to_string().contains("/file: "), "{error}");
    }
}
