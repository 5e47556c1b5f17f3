//! Lindley's recursion over a block, and the tick of each of its messages.

use super::Timeline;
use weir_lab::dispatch::Work;

/// Parts of a block whose searches run side by side.
const PARTS: usize = 4;

/// Settles the messages from the `from`-th of the window on, whose first packet is the `fresh`-th.
pub(super) struct Settle<'a> {
    pub(super) timeline: &'a mut Timeline,
    pub(super) from: usize,
    pub(super) fresh: usize,
}

impl Work for Settle<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { timeline, from, fresh } = self;
        let accepted = timeline.accepted;
        timeline.settle(from, fresh);
        timeline.find_ticks(from);
        timeline.sample(from, accepted);
    }
}

impl Timeline {
    /// Turns the fresh service times into the work before each packet, then into acceptance instants:
    /// Lindley's recursion, message by message.
    #[inline(always)]
    fn settle(&mut self, from: usize, fresh: usize) {
        let end = self.filled;
        let mut total = self.total_work;
        for slot in &mut self.instants[fresh..end] {
            let service = *slot;
            *slot = total;
            total += service;
        }
        self.total_work = total;
        let mut settled = fresh;
        for i in from..self.messages.at.len() {
            let tick = self.messages.last_tick[i] + 1 - u64::from(self.messages.length[i]);
            let first = (tick - self.first_instant) as usize;
            let begin = self.instants[first] + self.idle;
            if begin < self.messages.at[i] {
                self.shift(settled, first);
                settled = first;
                self.idle += self.messages.at[i] - begin;
                self.pauses.push((tick, self.idle));
            }
        }
        self.shift(settled, end);
    }

    /// Adds the idle time to the work before these packets.
    #[inline(always)]
    fn shift(&mut self, from: usize, to: usize) {
        for slot in &mut self.instants[from..to] {
            *slot += self.idle;
        }
    }

    /// Finds the tick of each message from the `from`-th of the window on. Each search goes on from the
    /// message before; several parts of the block take turns, so that none waits for the other.
    #[inline(always)]
    fn find_ticks(&mut self, from: usize) {
        let count = self.messages.at.len() - from;
        self.messages.tick.resize(from + count, 0);
        let part = count / PARTS;
        let mut tick = [self.accepted; PARTS];
        if part > 0 {
            for (n, tick) in tick.iter_mut().enumerate().skip(1) {
                let later = &self.instants[(self.accepted - self.first_instant) as usize..self.filled];
                let at = self.messages.at[from + n * part - 1];
                *tick += later.partition_point(|&accepted| accepted <= at) as u64;
                *tick = (*tick).min(self.messages.last_tick[from + n * part - 1]);
            }
        }
        for step in 0..part {
            for (n, tick) in tick.iter_mut().enumerate() {
                *tick = self.find_tick(from + n * part + step, *tick);
            }
        }
        for i in from + PARTS * part..from + count {
            tick[PARTS - 1] = self.find_tick(i, tick[PARTS - 1]);
        }
        self.accepted = self.messages.tick.last().copied().unwrap_or(0).max(self.accepted);
    }

    /// The ticks gone when the `i`-th message of the window arrives, at least `from`.
    #[inline(always)]
    fn find_tick(&mut self, i: usize, from: u64) -> u64 {
        let first_tick = self.messages.last_tick[i] + 1 - u64::from(self.messages.length[i]);
        let tick = self.accepted_by(from, first_tick, self.messages.at[i]);
        self.messages.tick[i] = tick;
        tick
    }

    /// Reads the queue up to the last message drawn.
    #[inline(always)]
    fn sample(&mut self, from: usize, accepted: u64) {
        let mut accepted = accepted;
        for i in from..self.messages.at.len() {
            if self.next_sample < self.messages.at[i] {
                let arrived = self.messages.last_tick[i] + 1 - u64::from(self.messages.length[i]);
                self.sample_until(self.messages.at[i], accepted, arrived);
            }
            accepted = self.messages.tick[i];
        }
        self.last_at = self.messages.at.last().copied().unwrap_or(self.last_at);
    }
}
