//! Where each replication is kept.
//!
//! All logs of a folder are read, header by header; logs that others write are read on where they were left. Of several
//! records of one replication the finest counts, and of those the first that was met: their states are alike.
//!
//! A log whose writer has ended, as its lock says, is not read again, and is open only while there are few logs.
//!
//! Work: O(records) once, then O(new records + logs that are being written). Memory: some 60 bytes a replication; states stay
//! in their files.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::error::Error;
use crate::log::Written;
use crate::record::{self, HEAD, Head, Header};

/// How often new logs are looked for at most.
const LOOKED_EVERY: Duration = Duration::from_millis(50);
/// The most logs that are held open: a process may have some thousand files open, and a sweep that was often killed has more
/// logs.
const OPEN: usize = 100;

/// What a replication is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// What it depends on besides seed and number.
    pub content: u64,
    /// The seed.
    pub seed: u64,
    /// The number.
    pub replication: u32,
}

/// What is kept of a replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What it left.
    State,
    /// Why it cannot be played, as text.
    Failure,
}

impl Kind {
    /// As a record has it.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::State => 0,
            Self::Failure => 1,
        }
    }

    /// From a record.
    #[must_use]
    pub const fn of(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::State),
            1 => Some(Self::Failure),
            _ => None,
        }
    }
}

/// What states depend on besides their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Of the numbers: which state a key has.
    pub numbers: u32,
    /// Of the states: in which bytes it is kept.
    pub states: u32,
}

/// Where a state is.
#[derive(Clone, Copy, Debug)]
struct Place {
    log: u32,
    grain: u16,
    kind: Kind,
    length: u32,
    sum: u32,
    at: u64,
}

/// A log that is read.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    /// Nothing where it is opened for each reading.
    file: Option<File>,
    read: u64,
    writer: Writer,
}

/// Who writes a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    /// This process, which says what it wrote.
    Own,
    /// Another, as far as is known.
    Other,
    /// Nobody any more.
    Ended,
}

impl Log {
    /// Does something with the file.
    fn with<R>(&self, work: impl FnOnce(&File) -> io::Result<R>) -> Result<R, Error> {
        let done = match &self.file {
            Some(file) => work(file),
            None => File::open(&self.path).and_then(|file| work(&file)),
        };
        done.map_err(Error::at("read", &self.path))
    }

    /// Whether its writer has ended: it held a lock from before there was a first record.
    fn is_ended(&self) -> bool {
        let is_free = |file: &File| {
            let free = flock(file, FlockOperation::NonBlockingLockShared).is_ok();
            Ok(free && flock(file, FlockOperation::Unlock).is_ok())
        };
        self.with(is_free).unwrap_or(false)
    }
}

/// A log that is left alone, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// The log.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// The index.
#[derive(Debug)]
pub struct Index {
    folder: PathBuf,
    version: Version,
    logs: Vec<Log>,
    places: HashMap<Key, Place>,
    asides: Vec<Aside>,
    skipped: u64,
    /// When new logs were looked for.
    looked: Option<Instant>,
}

impl Index {
    /// Of the logs in a folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(folder: &Path, version: Version) -> Result<Self, Error> {
        let (logs, places, asides) = (Vec::new(), HashMap::new(), Vec::new());
        let mut index =
            Self { folder: folder.to_owned(), version, logs, places, asides, skipped: 0, looked: None };
        index.refresh()?;
        Ok(index)
    }

    /// Reads what was written since, new logs included.
    ///
    /// # Errors
    /// A log cannot be read.
    pub fn refresh(&mut self) -> Result<(), Error> {
        self.looked = Some(Instant::now());
        for path in logs(&self.folder).map_err(Error::at("read", &self.folder))? {
            if self.log(&path).is_none() && !self.asides.iter().any(|aside| aside.path == path) {
                self.meet(path, Writer::Other)?;
            }
        }
        for place in 0..self.logs.len() {
            let is_ended = self.logs[place].writer == Writer::Other && self.logs[place].is_ended();
            self.read_on(place)?;
            if is_ended {
                self.end(place);
            }
        }
        Ok(())
    }

    /// A log is all there is of it.
    fn end(&mut self, place: usize) {
        let log = &mut self.logs[place];
        log.writer = Writer::Ended;
        if place >= OPEN {
            log.file = None;
        }
    }

    /// As [`Self::refresh`], which is often asked: new logs are looked for now and then.
    ///
    /// # Errors
    /// A log cannot be read.
    pub fn glance(&mut self) -> Result<(), Error> {
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOKED_EVERY) {
            return self.refresh();
        }
        (0..self.logs.len()).try_for_each(|place| self.read_on(place))
    }

    /// This process has written a record.
    ///
    /// # Errors
    /// Its log cannot be read.
    pub fn wrote(&mut self, written: &Written) -> Result<(), Error> {
        if self.log(&written.path).is_none() {
            self.meet(written.path.clone(), Writer::Own)?;
        }
        if let Some(log) = self.log(&written.path) {
            self.add(log as u32, &written.header, written.at);
        }
        Ok(())
    }

    fn log(&self, path: &Path) -> Option<usize> {
        self.logs.iter().position(|log| log.path == path)
    }

    /// A log that was not known.
    fn meet(&mut self, path: PathBuf, writer: Writer) -> Result<(), Error> {
        let doing = || Error::at("read", &path);
        let file = File::open(&path).map_err(doing())?;
        let mut bytes = vec![0; HEAD as usize];
        let read = read_up_to(&file, &mut bytes).map_err(doing())?;
        let other = |reason: String| Aside { path: path.clone(), reason };
        match record::read_head(&bytes[..read]) {
            // It is read again when there is more of it.
            Head::Begun => {}
            Head::Of(version) if version == self.version => {
                self.logs.push(Log { path, file: Some(file), read: HEAD, writer });
            }
            Head::Of(Version { numbers, states }) => self.asides.push(other(format!(
                "is of version {numbers}.{states} of the numbers, this is {}.{}",
                self.version.numbers, self.version.states
            ))),
            Head::Other(layout) => self.asides.push(other(format!("is a log of layout {layout}"))),
            Head::Unknown => self.asides.push(other("is no log, or its beginning is damaged".to_owned())),
        }
        Ok(())
    }

    fn read_on(&mut self, place: usize) -> Result<(), Error> {
        let log = &mut self.logs[place];
        if log.writer != Writer::Other || log.with(File::metadata)?.len() <= log.read {
            return Ok(());
        }
        let found = log.with(|file| record::scan(file, log.read))?;
        (log.read, self.skipped) = (found.end, self.skipped + found.skipped);
        for (header, at) in found.records {
            self.add(place as u32, &header, at);
        }
        Ok(())
    }

    fn add(&mut self, log: u32, header: &Header, at: u64) {
        let Header { key, grain, kind, length, sum } = *header;
        let place = Place { log, grain, kind, length, sum, at };
        let held = self.places.entry(key).or_insert(place);
        if held.grain < grain {
            *held = place;
        }
    }

    /// Whether a replication is kept, at least so finely.
    #[must_use]
    pub fn holds(&self, key: &Key, grain: u16) -> bool {
        self.places.get(key).is_some_and(|place| place.grain >= grain || place.kind == Kind::Failure)
    }

    /// What is kept of a replication, at least so finely; nothing where that is damaged, which is then forgotten.
    ///
    /// # Errors
    /// Its log cannot be read.
    pub fn read(&mut self, key: &Key, grain: u16) -> Result<Option<(Kind, Vec<u8>)>, Error> {
        let Some(&Place { log, kind, length, sum, at, .. }) =
            self.places.get(key).filter(|_| self.holds(key, grain))
        else {
            return Ok(None);
        };
        let mut state = vec![0; length as usize];
        let is_whole = self.logs[log as usize].with(|file| match file.read_exact_at(&mut state, at) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => read.map(|()| crc32fast::hash(&state) == sum),
        })?;
        if !is_whole {
            self.places.remove(key);
            return Ok(None);
        }
        Ok(Some((kind, state)))
    }

    /// How many replications are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The logs that are left alone.
    #[must_use]
    pub fn asides(&self) -> &[Aside] {
        &self.asides
    }

    /// Bytes of all logs that belong to no record.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// All keys, in order.
    #[must_use]
    pub fn keys(&self) -> Vec<(Key, u16)> {
        let mut keys: Vec<_> = self.places.iter().map(|(key, place)| (*key, place.grain)).collect();
        keys.sort_unstable();
        keys
    }
}

/// The logs of a folder, by their names; none where there is no folder.
fn logs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut logs = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            logs.push(path);
        }
    }
    logs.sort_unstable();
    Ok(logs)
}

fn read_up_to(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(&mut bytes[read..], read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
