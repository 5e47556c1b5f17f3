//! Events: written without allocation, read one by one.

use crate::number::{Malformed, Rest, put};

/// What a poll came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum After {
    /// The task waits.
    Waits = 0,
    /// It is runnable, and gave way of its own accord.
    Yields = 1,
    /// It is runnable, and gave way because it was asked to.
    GivesWay = 2,
    /// It is over.
    Ends = 3,
}

/// Something that happened on a worker. Times are nanoseconds since the executor began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task that waited became ready.
    Ready {
        /// The task.
        task: u32,
        /// When.
        at: u64,
    },
    /// A task was polled.
    Poll {
        /// The task.
        task: u32,
        /// The level of the queue on which it ran; `None` under a discipline without levels.
        level: Option<i8>,
        /// When the worker turned to it.
        from: u64,
        /// When it gave the worker back.
        until: u64,
        /// What it came to.
        after: After,
        /// How much of it the worker needed to come to the task, where that was measured.
        own: Option<u64>,
    },
}

const POLL: u8 = 1;
const SAME_TASK: u8 = 2;
const SAME_TIME: u8 = 4;
const AFTER: u8 = 3;
const NEW_LEVEL: u8 = 32;
const OWN: u8 = 64;
const NO_LEVEL: i8 = i8::MIN;
/// The most bytes of an event: its flags, its level, a task and three times.
const LONGEST: usize = 1 + 1 + 5 + 3 * 10;

/// What the next event is written relative to.
#[derive(Clone, Copy, Debug)]
struct Before {
    time: u64,
    task: u32,
    level: i8,
}

impl Before {
    const fn at(time: u64) -> Self {
        Self { time, task: 0, level: NO_LEVEL }
    }
}

/// Writes what a block of events holds.
#[derive(Debug)]
pub struct Encoder {
    before: Before,
    events: u64,
}

impl Encoder {
    /// Begins a block; whatever `bytes` held is thrown away.
    #[must_use]
    pub fn begin(bytes: &mut Vec<u8>, worker: u32, number: u64, at: u64, lost: u64) -> Self {
        bytes.clear();
        put(bytes, u64::from(worker));
        put(bytes, number);
        put(bytes, at);
        put(bytes, lost);
        Self { before: Before::at(at), events: 0 }
    }

    /// How many events it has written.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Whether one more event may need more room than `bytes` has.
    #[must_use]
    #[inline]
    pub fn is_full(bytes: &Vec<u8>) -> bool {
        bytes.len() + LONGEST > bytes.capacity()
    }

    /// Adds an event. One that is reported late is moved to the time of the event before.
    #[inline]
    pub fn put(&mut self, bytes: &mut Vec<u8>, event: Event) {
        let (task, at) = match event {
            Event::Ready { task, at } => (task, at),
            Event::Poll { task, until, .. } => (task, until),
        };
        let later = at.saturating_sub(self.before.time);
        let mut flags = if task == self.before.task { SAME_TASK } else { 0 };
        if later == 0 {
            flags |= SAME_TIME;
        }
        if let Event::Poll { after, level, own, .. } = event {
            let is_new = level.unwrap_or(NO_LEVEL) != self.before.level;
            flags |= POLL | (after as u8) << 3;
            flags |= if is_new { NEW_LEVEL } else { 0 } | if own.is_some() { OWN } else { 0 };
        }
        bytes.push(flags);
        if flags & SAME_TASK == 0 {
            put(bytes, u64::from(task));
        }
        if flags & SAME_TIME == 0 {
            put(bytes, later);
        }
        if let Event::Poll { level, from, until, own, .. } = event {
            put(bytes, until.saturating_sub(from));
            if flags & NEW_LEVEL != 0 {
                self.before.level = level.unwrap_or(NO_LEVEL);
                bytes.push(self.before.level as u8);
            }
            if let Some(own) = own {
                put(bytes, own);
            }
        }
        (self.before.task, self.before.time) = (task, self.before.time + later);
        self.events += 1;
    }
}

/// The beginning of a block of events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    pub(crate) worker: u32,
    pub(crate) number: u64,
    pub(crate) at: u64,
    pub(crate) lost: u64,
}

/// Reads what a block of events holds.
pub(crate) struct Decoder<'b> {
    rest: Rest<'b>,
    before: Before,
}

impl<'b> Decoder<'b> {
    pub(crate) fn begin(mut rest: Rest<'b>) -> Result<(Begin, Self), Malformed> {
        let (worker, number) = (rest.small()?, rest.number()?);
        let (at, lost) = (rest.number()?, rest.number()?);
        Ok((Begin { worker, number, at, lost }, Self { rest, before: Before::at(at) }))
    }

    /// The next event; `None` at the end of the block.
    pub(crate) fn next(&mut self) -> Result<Option<Event>, Malformed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let flags = self.rest.byte()?;
        if flags & SAME_TASK == 0 {
            self.before.task = self.rest.small()?;
        }
        if flags & SAME_TIME == 0 {
            let later = self.rest.number()?;
            self.before.time = self.before.time.checked_add(later).ok_or(Malformed)?;
        }
        let Before { task, time, .. } = self.before;
        match flags & POLL {
            0 if flags & !(SAME_TASK | SAME_TIME) == 0 => Ok(Some(Event::Ready { task, at: time })),
            POLL => self.poll(flags, task, time).map(Some),
            _ => Err(Malformed),
        }
    }

    fn poll(&mut self, flags: u8, task: u32, until: u64) -> Result<Event, Malformed> {
        let from = until.checked_sub(self.rest.number()?).ok_or(Malformed)?;
        if flags & NEW_LEVEL != 0 {
            self.before.level = self.rest.byte()? as i8;
        }
        let own = if flags & OWN == 0 { None } else { Some(self.rest.number()?) };
        let after = match flags >> 3 & AFTER {
            0 => After::Waits,
            1 => After::Yields,
            2 => After::GivesWay,
            _ => After::Ends,
        };
        let level = (self.before.level != NO_LEVEL).then_some(self.before.level);
        match flags & 0x80 {
            0 => Ok(Event::Poll { task, level, from, until, after, own }),
            _ => Err(Malformed),
        }
    }
}
