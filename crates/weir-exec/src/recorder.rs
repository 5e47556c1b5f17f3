//! Records what happens on a worker, in the format of `weir-recording`, without waiting for the file.
//!
//! A worker writes into one of a few buffers allocated at the beginning. A full one, or one of a quarter of a
//! second, goes to the thread that writes the file (`recording`), and comes back empty. Where that thread cannot keep up and
//! no buffer is left, events are left out and counted; tasks are kept until they can be handed over.
//!
//! Every 64th poll it is measured how long the worker needs to come to the task: decision, timers and inbox.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use weir_core::task::Declared;
use weir_recording::{Encoder, Event, Kind, MOST_TASKS};

use crate::dispatcher::After;
use crate::observe::{Observe, Polled};

/// Buffers of a worker, and their size in bytes.
pub(crate) const BUFFERS: usize = 8;
pub(crate) const BUFFER: usize = 1 << 16;
/// The age in nanoseconds at which a buffer is handed over though it is not full; and where the worker is to sleep.
const OLD: u64 = 250_000_000;
const OLD_AT_REST: u64 = 50_000_000;
/// One poll in this many is measured.
const MEASURED: u32 = 64;
/// Bytes of tasks that are kept while they cannot be handed over; those that are admitted later are left out.
const MOST_KEPT: usize = 1 << 22;
/// The number of a task that is left out.
const LEFT_OUT: u32 = u32::MAX;

/// What goes to the thread that writes.
pub(crate) enum Block {
    /// What a block holds, and whether its buffer is to come back.
    Full { kind: Kind, worker: u32, bytes: Vec<u8> },
    /// A worker has stopped.
    Over { worker: u32, at: u64, lost: u64 },
}

/// See above.
pub(crate) struct Recorder {
    worker: u32,
    /// The most tasks that are recorded.
    most: u32,
    /// The number in the recording of each task, by its number here.
    numbers: Vec<u32>,
    recorded: u32,
    tasks: Vec<u8>,
    bytes: Vec<u8>,
    encoder: Encoder,
    began: u64,
    blocks: u64,
    lost: u64,
    polls: u32,
    full: SyncSender<Block>,
    empty: Receiver<Vec<u8>>,
}

impl Recorder {
    /// Records one of a number of workers: hands blocks over to `full`, and takes buffers from `empty`, of which there is one.
    pub(crate) fn new(
        worker: usize,
        workers: usize,
        full: SyncSender<Block>,
        empty: Receiver<Vec<u8>>,
    ) -> Self {
        let mut bytes = empty.try_recv().unwrap_or_default();
        Self {
            worker: worker as u32,
            most: (MOST_TASKS / workers.max(1)) as u32,
            numbers: Vec::new(),
            recorded: 0,
            tasks: Vec::new(),
            encoder: Encoder::begin(&mut bytes, worker as u32, 0, 0, 0),
            bytes,
            began: 0,
            blocks: 0,
            lost: 0,
            polls: 0,
            full,
            empty,
        }
    }

    #[inline]
    fn put(&mut self, now: u64, task: u32, event: impl FnOnce(u32) -> Event) {
        let number = self.numbers[task as usize];
        if number == LEFT_OUT {
            self.lost += 1;
            return;
        }
        self.encoder.put(&mut self.bytes, event(number));
        if Encoder::is_full(&self.bytes) || now.saturating_sub(self.began) > OLD {
            self.hand_over(now);
        }
    }

    /// Hands over what was written, or leaves it out where that is not possible; and begins another block.
    #[cold]
    fn hand_over(&mut self, now: u64) {
        match self.empty.try_recv().ok().filter(|_| self.hand_over_tasks()) {
            Some(next) => {
                let bytes = std::mem::replace(&mut self.bytes, next);
                match self.send(Kind::Events, bytes) {
                    Ok(()) => {
                        self.blocks += 1;
                        self.lost = 0;
                    }
                    Err(bytes) => {
                        self.bytes = bytes;
                        self.lost += self.encoder.events();
                    }
                }
            }
            None => self.lost += self.encoder.events(),
        }
        self.encoder = Encoder::begin(&mut self.bytes, self.worker, self.blocks, now, self.lost);
        self.began = now;
    }

    /// Hands over the tasks that events name; `false`: they stay.
    fn hand_over_tasks(&mut self) -> bool {
        if self.tasks.is_empty() {
            return true;
        }
        let tasks = std::mem::take(&mut self.tasks);
        match self.send(Kind::Tasks, tasks) {
            Ok(()) => true,
            Err(bytes) => {
                self.tasks = bytes;
                false
            }
        }
    }

    fn send(&self, kind: Kind, bytes: Vec<u8>) -> Result<(), Vec<u8>> {
        match self.full.try_send(Block::Full { kind, worker: self.worker, bytes }) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(block) | TrySendError::Disconnected(block)) => match block {
                Block::Full { bytes, .. } => Err(bytes),
                Block::Over { .. } => Err(Vec::new()),
            },
        }
    }
}

impl Observe for Recorder {
    fn admitted(&mut self, now: u64, task: u32, name: &str, declared: &Declared) {
        let place = task as usize;
        if place >= self.numbers.len() {
            self.numbers.resize(place + 1, LEFT_OUT);
        }
        if self.recorded == self.most || self.tasks.len() > MOST_KEPT {
            self.numbers[place] = LEFT_OUT;
            return;
        }
        self.numbers[place] = self.recorded;
        weir_recording::task(&mut self.tasks, self.worker, self.recorded, now, name, declared);
        self.recorded += 1;
    }

    #[inline]
    fn ready(&mut self, now: u64, task: u32) {
        self.put(now, task, |task| Event::Ready { task, at: now });
    }

    #[inline]
    fn polled(&mut self, polled: Polled) {
        let Polled { level, from, until, own, .. } = polled;
        let after = match polled.after {
            After::Waits => weir_recording::After::Waits,
            After::Yields => weir_recording::After::Yields,
            After::GivesWay => weir_recording::After::GivesWay,
            After::Ends => weir_recording::After::Ends,
        };
        self.put(until, polled.task, |task| Event::Poll { task, level, from, until, after, own });
    }

    #[inline]
    fn measures(&mut self) -> bool {
        self.polls = (self.polls + 1) % MEASURED;
        self.polls == 0
    }

    fn rests(&mut self, now: u64) {
        if self.encoder.events() > 0 && now.saturating_sub(self.began) > OLD_AT_REST {
            self.hand_over(now);
        }
    }

    fn is_over(&mut self, now: u64) {
        if self.encoder.events() > 0 {
            self.hand_over(now);
        }
        let _ = self.hand_over_tasks();
        // Waits for the writer, which always comes: the run is over.
        let _ = self.full.send(Block::Over { worker: self.worker, at: now, lost: self.lost });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    fn polled(task: u32, from: u64, until: u64) -> Polled {
        Polled { task, level: None, from, until, after: After::Waits, own: None }
    }

    #[test]
    fn without_an_empty_buffer_events_are_left_out_and_counted_and_tasks_are_kept() {
        let (full, blocks) = sync_channel(16);
        let (give, empty) = sync_channel(1);
        give.try_send(Vec::with_capacity(BUFFER)).unwrap();
        let mut recorder = Recorder::new(0, 1, full, empty);
        recorder.admitted(0, 0, "a", &Declared::default());
        recorder.polled(polled(0, 0, 10));
        recorder.hand_over(10);
        assert!(blocks.try_recv().is_err(), "no buffer has come back");
        recorder.polled(polled(0, 20, 30));
        give.try_send(Vec::with_capacity(BUFFER)).unwrap();
        recorder.is_over(30);
        drop(recorder);
        let told: Vec<_> = blocks.iter().collect();
        let [Block::Full { kind: Kind::Tasks, .. }, Block::Full { kind: Kind::Events, bytes, .. }, over] =
            &told[..]
        else {
            panic!("must be the task, one event and the end");
        };
        assert_eq!(bytes[..4], [0, 0, 10, 1], "worker, block, time, and one event that was lost before");
        assert!(matches!(over, Block::Over { worker: 0, at: 30, lost: 0 }));
    }

    #[test]
    fn a_number_that_is_used_again_is_another_task() {
        let (full, blocks) = sync_channel(16);
        let (give, empty) = sync_channel(2);
        give.try_send(Vec::with_capacity(BUFFER)).unwrap();
        give.try_send(Vec::with_capacity(BUFFER)).unwrap();
        let mut recorder = Recorder::new(0, 1, full, empty);
        for at in [0, 100] {
            recorder.admitted(at, 0, "a", &Declared::default());
            recorder.polled(polled(0, at, at + 10));
        }
        recorder.is_over(110);
        drop(recorder);
        let mut file = weir_recording::MAGIC.to_vec();
        file.push(weir_recording::VERSION);
        let head = weir_recording::head("epoch", 100, 1);
        let whole =
            [Block::Full { kind: Kind::Head, worker: 0, bytes: head }].into_iter().chain(blocks.iter());
        for block in whole {
            if let Block::Full { kind, bytes, .. } = block {
                file.extend(weir_recording::frame(kind, &bytes));
                file.extend(bytes);
            }
        }
        let mut of = Vec::new();
        let facts = weir_recording::read(&file[..], &mut |_, event, _| match event {
            Event::Ready { task, .. } | Event::Poll { task, .. } => of.push(task),
        });
        assert_eq!(facts.unwrap().tasks.len(), 2);
        assert_eq!(of, [0, 1]);
    }
}
