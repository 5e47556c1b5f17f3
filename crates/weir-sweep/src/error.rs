//! What goes wrong with a folder, in the words of its user.

use std::io;
use std::path::{Path, PathBuf};

/// Why a sweep cannot go on.
#[derive(Debug)]
pub struct Error {
    /// What was being done.
    pub doing: &'static str,
    /// To what.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

impl Error {
    /// While doing this to that.
    pub fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self { doing, path, source }
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self.source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                "make room and give the same command again: what was finished is kept"
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                "name a folder that may be written, with `--out`"
            }
            io::ErrorKind::Unsupported => {
                "its file system has no locks: use a local folder for each machine, as `--shard` does, or `--alone` where \
                 no other process writes there"
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => "name another folder with `--out`",
            _ => {
                "check the folder and its file system, and give the same command again: what was finished is kept"
            }
        }
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { doing, path, source } = self;
        // As the system says it, without its number.
        let words = source.to_string();
        let words = words.split(" (os error").next().unwrap_or_default().to_lowercase();
        write!(f, "{}: cannot be {doing}: {words}", path.display())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
