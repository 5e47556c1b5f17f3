//! Playing what is missing, on threads, and reading what is kept.
//!
//! Threads take replications one by one, cell by cell in the order of the cells; a cell is made when its first replication
//! is taken, so that memory does not grow with their number. What another process plays at the time is left for the end,
//! when either it is kept or the other process is gone.
//!
//! Work: that of the replications, some microseconds each for claim, record and write, and the making of each cell.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::claims::Claims;
use crate::error::Error;
use crate::index::{Aside, Index, Key, Kind, Version};
use crate::log::{Unsynced, Writer};

mod work;

use work::Work;

/// How often the progress of the sweep is reported.
const TOLD_EVERY: Duration = Duration::from_millis(5);
/// How often what was played is synchronised with the disk.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// A cell that can be played.
pub trait Play: Send + Sync {
    /// The key of a replication.
    fn key(&self, replication: u32) -> Key;

    /// How finely it is to be kept.
    fn grain(&self) -> u16;

    /// How many replications it has.
    fn replications(&self) -> u32;

    /// Plays one; nothing where it was broken off.
    ///
    /// # Errors
    /// Why it cannot be played, which is kept in its place.
    fn play(&self, replication: u32, cancel: &AtomicBool) -> Result<Option<Vec<u8>>, String>;

    /// How wide the interval is that is watched, once all replications are kept; `read` reads what each left.
    fn width(&self, _read: &mut dyn FnMut(u32) -> Option<Vec<u8>>) -> Option<f64> {
        None
    }
}

/// Cells, made one by one.
pub trait Source: Sync {
    /// A cell.
    type Cell: Play;

    /// How many there are.
    fn count(&self) -> usize;

    /// The cell at a place; nothing where it is refused.
    fn cell(&self, place: usize) -> Option<Self::Cell>;
}

/// How far a sweep is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Cells that are done: all their replications are kept, or they are refused.
    pub cells: u64,
    /// Replications that were there already.
    pub kept: u64,
    /// Replications that were played.
    pub played: u64,
    /// Of these, those that cannot be played.
    pub failed: u64,
    /// Replications that other processes played meanwhile.
    pub elsewhere: u64,
    /// The widest interval of those watched, and the place of its cell; of short cells some are checked, not each.
    pub widest: Option<(f64, usize)>,
}

/// A folder of a sweep.
#[derive(Debug)]
pub struct Sweep {
    index: Mutex<Index>,
    writer: Mutex<Writer>,
    folder: PathBuf,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sweep {
    /// Opens a folder, and reads what is kept in it; nothing is written before something is played.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(folder: &Path, version: Version) -> Result<Self, Error> {
        let logs = folder.join("log");
        let index = Index::open(&logs, version)?;
        let writer = Mutex::new(Writer::new(&logs, version));
        Ok(Self { index: Mutex::new(index), writer, folder: folder.to_owned() })
    }

    /// What to ask other processes by that play into the same folder; `alone` asks nobody.
    ///
    /// # Errors
    /// The folder cannot be written, or its file system has no locks.
    pub fn claims(&self, alone: bool) -> Result<Claims, Error> {
        Claims::new(&self.folder.join("claims"), alone)
    }

    /// Plays what is missing of all cells, and keeps it.
    ///
    /// # Errors
    /// What was played cannot be kept; all that was kept before is.
    pub fn play<S: Source>(
        &self,
        source: &S,
        claims: &Claims,
        threads: NonZeroUsize,
        cancel: &AtomicBool,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Progress, Error> {
        let work = Work::new(self, source, claims, threads, cancel);
        std::thread::scope(|scope| {
            for _ in 0..threads.get() {
                scope.spawn(|| work.run());
            }
            let mut synced = Instant::now();
            while work.is_running() {
                std::thread::sleep(TOLD_EVERY);
                tell(work.progress());
                if synced.elapsed() >= SYNC_EVERY {
                    // On this thread: those that play go on meanwhile.
                    work.note(self.sync());
                    synced = Instant::now();
                }
            }
        });
        let synced = self.sync();
        let progress = work.progress();
        tell(progress);
        match work.into_failure() {
            Some(failure) => Err(failure),
            None => synced.map(|()| progress),
        }
    }

    /// What is kept of a replication, at least so finely.
    ///
    /// # Errors
    /// Its log cannot be read.
    pub fn read(&self, key: &Key, grain: u16) -> Result<Option<(Kind, Vec<u8>)>, Error> {
        held(&self.index).read(key, grain)
    }

    /// Whether a replication is kept, at least so finely.
    #[must_use]
    pub fn holds(&self, key: &Key, grain: u16) -> bool {
        held(&self.index).holds(key, grain)
    }

    /// How many replications are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        held(&self.index).len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Logs that are left alone, and bytes of logs that belong to no record.
    #[must_use]
    pub fn passed_over(&self) -> (Vec<Aside>, u64) {
        let index = held(&self.index);
        (index.asides().to_vec(), index.skipped())
    }

    /// Reads what other processes have written since.
    ///
    /// # Errors
    /// A log cannot be read.
    pub fn refresh(&self) -> Result<(), Error> {
        held(&self.index).refresh()
    }

    /// Keeps what a replication left.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, key: Key, grain: u16, kind: Kind, state: &[u8]) -> Result<(), Error> {
        let written = held(&self.writer).append(key, grain, kind, state)?;
        held(&self.index).wrote(&written)
    }

    /// Keeps all that another folder keeps and this one does not; how many replications that are.
    ///
    /// # Errors
    /// One cannot be read, or the other cannot be written.
    pub fn merge(&self, other: &Self) -> Result<u64, Error> {
        let mut merged = 0;
        let keys = held(&other.index).keys();
        for (key, grain) in keys {
            if self.holds(&key, grain) {
                continue;
            }
            if let Some((kind, state)) = other.read(&key, grain)? {
                self.keep(key, grain, kind, &state)?;
                merged += 1;
            }
        }
        self.sync()?;
        Ok(merged)
    }

    /// Waits until all that was kept is on the disk; others may keep more meanwhile.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn sync(&self) -> Result<(), Error> {
        let unsynced = held(&self.writer).unsynced();
        unsynced.map_or(Ok(()), Unsynced::sync)
    }
}

#[cfg(test)]
mod tests;
