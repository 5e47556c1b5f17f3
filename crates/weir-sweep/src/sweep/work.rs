//! What the threads of a sweep share: what is left, who takes it, and what became of it.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Play, Progress, Source, Sweep, held};
use crate::claims::Claims;
use crate::error::Error;
use crate::index::Kind;

/// How long nothing is done where all that is left is played by others.
const WAIT: Duration = Duration::from_millis(20);
/// How often the interval of a cell is checked: for whoever watches, of short cells not each.
const LOOKED_EVERY: Duration = Duration::from_millis(100);

/// A cell that is being played.
struct Active<C> {
    cell: C,
    place: usize,
    /// Replications that were not kept when it was made.
    missing: Vec<u32>,
    /// How many of these are kept now.
    done: AtomicUsize,
}

/// What a thread is to play.
enum Taken<C> {
    One(Arc<Active<C>>, u32),
    /// A cell is to be made.
    Make(usize),
    /// What is left may come to this thread later: others make a cell, or play what they may not finish.
    Wait,
    Nothing,
}

/// What is left to be given out.
struct Left<C> {
    /// The next cell to be made.
    next: usize,
    /// Cells that are being made.
    making: usize,
    /// Cells with the place of the next among their missing replications.
    cells: VecDeque<(Arc<Active<C>>, usize)>,
    /// What another process had claimed.
    later: VecDeque<(Arc<Active<C>>, u32)>,
}

/// What the threads of a sweep share.
pub(super) struct Work<'w, S: Source> {
    sweep: &'w Sweep,
    source: &'w S,
    claims: &'w Claims,
    cancel: &'w AtomicBool,
    /// Something failed.
    stop: AtomicBool,
    left: Mutex<Left<S::Cell>>,
    progress: Mutex<Progress>,
    failure: Mutex<Option<Error>>,
    /// When the interval of a cell was checked.
    looked: Mutex<Option<Instant>>,
    running: AtomicUsize,
}

/// One thread less, however it ends.
struct Running<'r>(&'r AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl<'w, S: Source> Work<'w, S> {
    /// Nothing is done yet; a number of threads will do it.
    pub(super) fn new(
        sweep: &'w Sweep,
        source: &'w S,
        claims: &'w Claims,
        threads: NonZeroUsize,
        cancel: &'w AtomicBool,
    ) -> Self {
        let left = Left { next: 0, making: 0, cells: VecDeque::new(), later: VecDeque::new() };
        Self {
            sweep,
            source,
            claims,
            cancel,
            stop: AtomicBool::new(false),
            left: Mutex::new(left),
            progress: Mutex::new(Progress::default()),
            failure: Mutex::new(None),
            looked: Mutex::new(None),
            running: AtomicUsize::new(threads.get()),
        }
    }

    /// Whether a thread is not done.
    pub(super) fn is_running(&self) -> bool {
        self.running.load(Ordering::Acquire) > 0
    }

    /// How far it is.
    pub(super) fn progress(&self) -> Progress {
        *held(&self.progress)
    }

    /// What went wrong first.
    pub(super) fn into_failure(self) -> Option<Error> {
        self.failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    /// Plays until nothing is left.
    pub(super) fn run(&self) {
        let _running = Running(&self.running);
        while !self.is_over() {
            let played = match self.take() {
                Taken::Nothing => return,
                Taken::Wait => {
                    std::thread::sleep(WAIT);
                    Ok(())
                }
                Taken::Make(place) => self.make(place),
                Taken::One(active, replication) => self.one(active, replication),
            };
            self.note(played);
        }
    }

    /// What went wrong first ends it.
    pub(super) fn note(&self, done: Result<(), Error>) {
        if let Err(failure) = done {
            held(&self.failure).get_or_insert(failure);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// The next replication that is not kept.
    fn take(&self) -> Taken<S::Cell> {
        let mut left = held(&self.left);
        if let Some((active, next)) = left.cells.front_mut() {
            let (active, replication) = (Arc::clone(active), active.missing[*next]);
            *next += 1;
            if *next >= active.missing.len() {
                left.cells.pop_front();
            }
            return Taken::One(active, replication);
        }
        if left.next < self.source.count() {
            left.next += 1;
            left.making += 1;
            return Taken::Make(left.next - 1);
        }
        match left.later.pop_front() {
            Some((active, replication)) => Taken::One(active, replication),
            None if left.making > 0 => Taken::Wait,
            None => Taken::Nothing,
        }
    }

    /// Makes a cell, and gives out what is not kept of it.
    fn make(&self, place: usize) -> Result<(), Error> {
        let made = self.source.cell(place);
        let missing: Option<Vec<u32>> = made.as_ref().map(|cell| {
            let index = held(&self.sweep.index);
            (0..cell.replications()).filter(|&at| !index.holds(&cell.key(at), cell.grain())).collect()
        });
        let mut left = held(&self.left);
        left.making -= 1;
        let Some((cell, missing)) = made.zip(missing) else {
            drop(left);
            held(&self.progress).cells += 1;
            return Ok(());
        };
        held(&self.progress).kept += u64::from(cell.replications()) - missing.len() as u64;
        let is_whole = missing.is_empty();
        let active = Arc::new(Active { cell, place, missing, done: AtomicUsize::new(0) });
        if !is_whole {
            left.cells.push_back((active, 0));
            return Ok(());
        }
        drop(left);
        self.finish(&active)
    }

    /// Plays one and keeps it, unless it is kept.
    fn one(&self, active: Arc<Active<S::Cell>>, replication: u32) -> Result<(), Error> {
        let cell = &active.cell;
        let (key, grain) = (cell.key(replication), cell.grain());
        if self.sweep.holds(&key, grain) {
            held(&self.progress).elsewhere += 1;
            return self.count(&active);
        }
        let Some(_claim) = self.claims.claim(&key)? else {
            held(&self.left).later.push_back((active, replication));
            std::thread::sleep(WAIT / 20);
            return held(&self.sweep.index).glance();
        };
        // Who had the claim before may have played it.
        held(&self.sweep.index).glance()?;
        if self.sweep.holds(&key, grain) {
            held(&self.progress).elsewhere += 1;
            return self.count(&active);
        }
        let (kind, state) = match cell.play(replication, self.cancel) {
            Ok(Some(state)) => (Kind::State, state),
            Ok(None) => return Ok(()),
            Err(reason) => (Kind::Failure, reason.into_bytes()),
        };
        self.sweep.keep(key, grain, kind, &state)?;
        {
            let mut progress = held(&self.progress);
            progress.played += 1;
            progress.failed += u64::from(kind == Kind::Failure);
        }
        self.count(&active)
    }

    /// One replication more is kept.
    fn count(&self, active: &Active<S::Cell>) -> Result<(), Error> {
        if active.done.fetch_add(1, Ordering::AcqRel) + 1 < active.missing.len() {
            return Ok(());
        }
        self.finish(active)
    }

    /// All replications of a cell are kept.
    fn finish(&self, active: &Active<S::Cell>) -> Result<(), Error> {
        let width = if self.is_looking() { self.width(active)? } else { None };
        let mut progress = held(&self.progress);
        progress.cells += 1;
        if let Some(width) = width.filter(|width| progress.widest.is_none_or(|(widest, _)| *width > widest)) {
            progress.widest = Some((width, active.place));
        }
        Ok(())
    }

    /// Whether it is time to check an interval.
    fn is_looking(&self) -> bool {
        let mut looked = held(&self.looked);
        let is_time = looked.is_none_or(|looked| looked.elapsed() >= LOOKED_EVERY);
        if is_time {
            *looked = Some(Instant::now());
        }
        is_time
    }

    /// How wide the interval of a cell is.
    fn width(&self, Active { cell, .. }: &Active<S::Cell>) -> Result<Option<f64>, Error> {
        let mut failure = None;
        let mut read = |replication| match self.sweep.read(&cell.key(replication), cell.grain()) {
            Ok(Some((Kind::State, state))) => Some(state),
            Ok(_) => None,
            Err(error) => {
                failure.get_or_insert(error);
                None
            }
        };
        let width = cell.width(&mut read);
        failure.map_or(Ok(width), Err)
    }
}
