//! The log that a process writes: records in one file of its own, whole or not there.
//!
//! A record is handed to the system in one piece as soon as its replication is finished, so that a process that is killed
//! loses none; whoever plays has the file synchronised with the disk every second, and at the end, while others write on. Where a record does not fit on the disk
//! what there is of it is cut off again. The file is made with the first record: who plays nothing leaves nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FlockOperation, flock};

use crate::error::Error;
use crate::index::{Key, Kind, Version};
use crate::record::{self, Header};

/// The most logs of a folder.
const MOST: u32 = 1_000_000;

/// A log that is written.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    version: Version,
    open: Option<Open>,
}

/// A record that was written.
#[derive(Debug)]
pub struct Written {
    /// In which log.
    pub path: PathBuf,
    /// Its header.
    pub header: Header,
    /// Where its state begins.
    pub at: u64,
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: Arc<File>,
    length: u64,
    is_synced: bool,
}

/// What is to be synchronised with the disk: without it, a log goes on being written.
#[derive(Debug)]
pub struct Unsynced {
    path: PathBuf,
    file: Arc<File>,
}

impl Unsynced {
    /// Waits until it is on the disk.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn sync(self) -> Result<(), Error> {
        self.file.sync_data().map_err(Error::at("written", &self.path))
    }
}

impl Writer {
    /// Into a folder; there is no file yet.
    #[must_use]
    pub fn new(folder: &Path, version: Version) -> Self {
        Self { folder: folder.to_owned(), version, open: None }
    }

    /// Keeps what a replication left.
    ///
    /// # Errors
    /// It cannot be written; nothing of it is left.
    pub fn append(&mut self, key: Key, grain: u16, kind: Kind, state: &[u8]) -> Result<Written, Error> {
        let (header, record) = record::record(key, grain, kind, state);
        let open = match &mut self.open {
            Some(open) => open,
            None => self.open.insert(create(&self.folder, self.version)?),
        };
        if let Err(error) = (&*open.file).write_all(&record) {
            // A part of a record would be skipped by whoever reads it; without it the next one follows at once.
            let _ = open.file.set_len(open.length);
            return Err(Error::at("written", &open.path)(error));
        }
        let at = open.length + record::HEADER as u64;
        let written = Written { path: open.path.clone(), header, at };
        open.length += record.len() as u64;
        open.is_synced = false;
        Ok(written)
    }

    /// What was written since this was asked last, if anything was.
    #[must_use]
    pub fn unsynced(&mut self) -> Option<Unsynced> {
        let open = self.open.as_mut().filter(|open| !open.is_synced)?;
        open.is_synced = true;
        Some(Unsynced { path: open.path.clone(), file: Arc::clone(&open.file) })
    }
}

/// Makes the next log of a folder.
fn create(folder: &Path, version: Version) -> Result<Open, Error> {
    std::fs::create_dir_all(folder).map_err(Error::at("made", folder))?;
    for number in 1..=MOST {
        let path = folder.join(format!("{number:04}.log"));
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(file) => return begin(folder, path, file, version),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::at("made", &path)(error)),
        }
    }
    let full = io::Error::other(format!("{MOST} logs are there already"));
    Err(Error::at("written", folder)(full))
}

fn begin(folder: &Path, path: PathBuf, mut file: File, version: Version) -> Result<Open, Error> {
    // Held while this process lives; where there are no locks nobody asks for it.
    let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
    let head = record::head(version);
    let begun = file.write_all(&head).and_then(|()| file.sync_data());
    // That the file is there must be on the disk too.
    let begun = begun.and_then(|()| File::open(folder)?.sync_all());
    if let Err(error) = begun {
        let _ = std::fs::remove_file(&path);
        return Err(Error::at("written", &path)(error));
    }
    Ok(Open { path, file: Arc::new(file), length: head.len() as u64, is_synced: true })
}
