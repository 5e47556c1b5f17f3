//! Reads a recording as a stream: its events one after the other, then what it holds.

use std::io::Read;

use weir_core::task::Declared;

use crate::block::{FRAME, Kind, LARGEST, sum};
use crate::events::{Decoder, Event};
use crate::fault::{Fault, RecordingError};
use crate::number::{Malformed, Rest};
use crate::task::{self, Terms};
use crate::{MAGIC, VERSION};

/// The most tasks that are read.
pub const MOST_TASKS: usize = 1_000_000;
/// The most workers.
const MOST_WORKERS: u32 = 4096;
const LONGEST_SPEC: usize = 4096;
/// The latest time, thirty years: sums of a few do not overflow.
const LATEST: u64 = 1_000_000_000_000_000_000;

/// What the whole recording is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The discipline of each worker, as written.
    pub discipline: String,
    /// Its epoch, or period, in nanoseconds; 0: it has none.
    pub epoch: u64,
    /// How many workers there are.
    pub workers: u32,
}

/// What a recording holds besides its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// What it is about.
    pub head: Head,
    /// All tasks, in the order in which they stand in the file; events name them by their place here.
    pub tasks: Vec<Terms>,
    /// How many events there are.
    pub events: u64,
    /// Events that the writer left out, because it could not keep up.
    pub lost: u64,
    /// In how many places.
    pub gaps: u64,
    /// The last time that the file names.
    pub until: u64,
    /// Whether the run ended in order; otherwise the program was killed, or runs still.
    pub is_whole: bool,
    /// From where on the file is damaged, if it is: nothing is read from there.
    pub damage: Option<RecordingError>,
}

/// Who hears events: the worker, and the event, in which tasks are named by their place in [`Facts::tasks`].
pub type Hear<'h> = &'h mut dyn FnMut(u32, Event, &Terms);

struct Reader<'h> {
    facts: Facts,
    /// The place of each task, by worker and number.
    places: Vec<Vec<u32>>,
    /// Of each worker the number of the next block.
    next: Vec<u64>,
    hear: Hear<'h>,
}

/// Reads a recording. What follows damage is not read, and the facts say so.
///
/// # Errors
/// Nothing of it can be read: it is empty, no recording, of another version, or damaged before its first block is over.
pub fn read(mut source: impl Read, hear: Hear<'_>) -> Result<Facts, RecordingError> {
    let at = |byte| move |fault| RecordingError { byte, fault };
    check_magic(&mut source).map_err(at(0))?;
    let start = (MAGIC.len() + 1) as u64;
    let mut held = Vec::new();
    let first = match block(&mut source, &mut held) {
        Ok(Some(Kind::Head)) => self::head(&mut Rest(&held)).map_err(Fault::from),
        Ok(Some(_)) => Err(Fault::Head),
        Ok(None) => Err(Fault::Truncated),
        Err(fault) => Err(fault),
    };
    let head = first.map_err(at(start))?;
    let workers = head.workers as usize;
    let facts = Facts { head, ..Facts::default() };
    let mut reader = Reader { facts, places: vec![Vec::new(); workers], next: vec![0; workers], hear };
    let mut byte = start + (FRAME + held.len()) as u64;
    loop {
        let read = match block(&mut source, &mut held) {
            Ok(None) => break,
            Ok(Some(kind)) => reader.take(kind, &held),
            Err(fault) => Err(fault),
        };
        if let Err(fault) = read {
            reader.facts.damage = Some(RecordingError { byte, fault });
            break;
        }
        byte += (FRAME + held.len()) as u64;
    }
    Ok(reader.facts)
}

fn check_magic(source: &mut impl Read) -> Result<(), Fault> {
    let mut start = Vec::new();
    source.by_ref().take(MAGIC.len() as u64 + 1).read_to_end(&mut start)?;
    match start.strip_prefix(MAGIC) {
        Some([VERSION]) => Ok(()),
        Some([version]) => Err(Fault::Version(*version)),
        Some(_) => Err(Fault::Truncated),
        None if start.is_empty() => Err(Fault::Empty),
        None => Err(Fault::Foreign),
    }
}

/// Reads the next block; `None` where the file ends.
fn block(source: &mut impl Read, held: &mut Vec<u8>) -> Result<Option<Kind>, Fault> {
    held.clear();
    source.by_ref().take(FRAME as u64).read_to_end(held)?;
    let frame: [u8; FRAME] = match held.len() {
        0 => return Ok(None),
        _ => held[..].try_into().map_err(|_| Fault::Truncated)?,
    };
    let word =
        |from: usize| u32::from_le_bytes([frame[from], frame[from + 1], frame[from + 2], frame[from + 3]]);
    let (length, expected) = (word(1) as usize, word(5));
    let kind = Kind::of(frame[0]).filter(|_| length <= LARGEST).ok_or(Fault::Block)?;
    held.clear();
    source.by_ref().take(length as u64).read_to_end(held)?;
    if held.len() < length {
        return Err(Fault::Truncated);
    }
    if sum(frame[0], held) != expected {
        return Err(Fault::Sum);
    }
    Ok(Some(kind))
}

impl From<Malformed> for Fault {
    fn from(Malformed: Malformed) -> Self {
        Self::Malformed
    }
}

fn head(rest: &mut Rest<'_>) -> Result<Head, Malformed> {
    let discipline = rest.text(LONGEST_SPEC)?.to_owned();
    let (epoch, workers) = (rest.number()?, rest.small()?);
    if !(1..=MOST_WORKERS).contains(&workers) || epoch > LATEST || !rest.is_empty() {
        return Err(Malformed);
    }
    Ok(Head { discipline, epoch, workers })
}

impl Reader<'_> {
    fn take(&mut self, kind: Kind, held: &[u8]) -> Result<(), Fault> {
        if self.facts.is_whole {
            // Nothing comes behind the end.
            return Err(Fault::Block);
        }
        match kind {
            Kind::Head => Err(Fault::Head),
            Kind::Tasks => self.tasks(Rest(held)),
            Kind::Events => self.events(Rest(held)),
            Kind::End => self.end(Rest(held)),
        }
    }

    fn tasks(&mut self, mut rest: Rest<'_>) -> Result<(), Fault> {
        let worker = rest.small()?;
        let places = self.places.get_mut(worker as usize).ok_or(Fault::Unknown)?;
        while !rest.is_empty() {
            let terms = task::read(&mut rest, worker)?;
            if terms.task as usize != places.len() {
                return Err(Fault::Unknown);
            }
            check(&terms)?;
            if self.facts.tasks.len() == MOST_TASKS {
                return Err(Fault::Tasks(MOST_TASKS));
            }
            places.push(self.facts.tasks.len() as u32);
            self.facts.until = self.facts.until.max(terms.admitted);
            self.facts.tasks.push(terms);
        }
        Ok(())
    }

    fn events(&mut self, rest: Rest<'_>) -> Result<(), Fault> {
        let (begin, mut events) = Decoder::begin(rest)?;
        let worker = begin.worker as usize;
        if worker >= self.places.len() {
            return Err(Fault::Unknown);
        }
        if begin.number != self.next[worker] || begin.at > LATEST {
            return Err(Fault::Malformed);
        }
        self.next[worker] += 1;
        self.lost(begin.lost);
        while let Some(event) = events.next()? {
            let (task, at) = match event {
                Event::Ready { task, at } => (task, at),
                Event::Poll { task, until, .. } => (task, until),
            };
            let place = *self.places[worker].get(task as usize).ok_or(Fault::Unknown)?;
            if at > LATEST {
                return Err(Fault::Malformed);
            }
            self.facts.events += 1;
            self.facts.until = self.facts.until.max(at);
            let event = match event {
                Event::Ready { at, .. } => Event::Ready { task: place, at },
                Event::Poll { level, from, until, after, own, .. } => {
                    Event::Poll { task: place, level, from, until, after, own }
                }
            };
            (self.hear)(begin.worker, event, &self.facts.tasks[place as usize]);
        }
        Ok(())
    }

    fn lost(&mut self, lost: u64) {
        self.facts.lost = self.facts.lost.saturating_add(lost);
        self.facts.gaps += u64::from(lost > 0);
    }

    fn end(&mut self, mut rest: Rest<'_>) -> Result<(), Fault> {
        let at = rest.number()?;
        if at > LATEST {
            return Err(Fault::Malformed);
        }
        for _ in 0..self.places.len() {
            let lost = rest.number()?;
            self.lost(lost);
        }
        if !rest.is_empty() {
            return Err(Fault::Malformed);
        }
        self.facts.until = self.facts.until.max(at);
        self.facts.is_whole = true;
        Ok(())
    }
}

/// Refuses times that no executor writes.
fn check(terms: &Terms) -> Result<(), Fault> {
    let Declared { need, slice, period, .. } = terms.declared;
    let spans = [Some(need), slice, period].into_iter().flatten();
    match terms.admitted <= LATEST && spans.into_iter().all(|span| span.get() <= LATEST) {
        true => Ok(()),
        false => Err(Fault::Malformed),
    }
}
